//! The methods of slices and arrays against the standard library's, with closures that count their calls.

use super::{differ, on_device, on_host};
use cuda_jit::{DeviceType, device, kernel};

/// Slices of every small length, with some equal numbers.
fn examples() -> impl Iterator<Item = Vec<u32>> {
    let mut state = 7u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u32 % 9
    };
    (0..12).map(move |length| (0..length).map(|_| next()).collect())
}

/// Runs a kernel on each example, unsorted and sorted, with numbers about as large as its length.
macro_rules! all_differ {
    ($kernel:ident, $length:expr) => {
        for x in examples() {
            for n in 0..x.len() + 2 {
                differ!($kernel, (1, 1), [&x[..], n], vec![0u32; $length]);
                let mut sorted = x.clone();
                sorted.sort_unstable();
                differ!($kernel, (1, 1), [&sorted[..], n], vec![0u32; $length]);
            }
        }
    };
}

#[kernel]
fn parts(x: &[u32], n: usize, out: &mut [u32]) {
    let of = |part: &[u32]| part.iter().fold(part.len() as u32 + 1, |all, v| all.wrapping_mul(10).wrapping_add(*v));
    out[0] = x.is_empty() as u32;
    out[1] = x.first().map_or(99, |v| *v);
    out[2] = x.last().map_or(99, |v| *v);
    out[3] = x.get(n).map_or(99, |v| *v);
    out[4] = x.split_first().map_or(99, |(first, rest)| of(rest) ^ first);
    out[5] = x.split_last().map_or(99, |(last, rest)| of(rest) ^ last);
    out[6] = x.split_at_checked(n).map_or(99, |(left, right)| of(left) ^ (of(right) << 3));
    if n <= x.len() {
        let (left, right) = x.split_at(n);
        out[7] = of(left) ^ (of(right) << 3);
    }
    out[8] = <[u32]>::first(x).is_some() as u32 + <[u32]>::len(x) as u32;
    for (k, first) in x.chunks(3).map(<[u32]>::first).enumerate() {
        out[9 + k] = *first.unwrap();
    }
}

#[test]
fn parts_of_slices() {
    all_differ!(parts, 13);
}

#[kernel]
fn parts_written(x: &[u32], n: usize, out: &mut [u32]) {
    let length = x.len();
    out[..length].copy_from_slice(x);
    let y = &mut out[..length];
    if let Some(v) = y.first_mut() {
        *v += 10;
    }
    if let Some(v) = y.last_mut() {
        *v += 20;
    }
    if let Some(v) = y.get_mut(n) {
        *v += 40;
    }
    if let Some((first, rest)) = y.split_first_mut() {
        *first += rest.len() as u32 * 80;
        if let Some(v) = rest.first_mut() {
            *v += *first;
        }
    }
    if let Some((last, rest)) = y.split_last_mut() {
        *last += rest.len() as u32 * 160;
        for v in rest {
            *v += *last;
        }
    }
    if n <= length {
        let (left, right) = y.split_at_mut(n);
        for (a, b) in left.iter_mut().zip(right) {
            let held = *a;
            *a = *b * 3;
            *b = held;
        }
    }
    if let Some((left, right)) = y.split_at_mut_checked(n / 2) {
        left.fill(n as u32);
        right.reverse();
    }
}

#[test]
fn parts_of_slices_that_are_written() {
    all_differ!(parts_written, 12);
}

/// Equal to anything not less: the order of operands is visible.
#[derive(Clone, Copy, DeviceType)]
#[operators(PartialEq)]
struct AtMost(u32);

#[device]
impl PartialEq for AtMost {
    fn eq(&self, other: &Self) -> bool {
        self.0 <= other.0
    }
}

#[kernel]
fn found(x: &[u32], n: usize, out: &mut [u32]) {
    out[0] = x.contains(&(n as u32)) as u32;
    out[1] = x.starts_with(&[1, 2]) as u32 + x.starts_with(&x[..n.min(x.len())]) as u32 * 2;
    out[2] = x.ends_with(&[1, 2]) as u32 + x.ends_with(&x[n.min(x.len())..]) as u32 * 2;
    out[3] = x.starts_with(&[]) as u32 + x.ends_with(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) as u32 * 2;
    if x.len() > 2 {
        let bounds = [AtMost(x[0]), AtMost(x[1]), AtMost(x[2])];
        let least = AtMost(n as u32);
        out[4] = bounds.contains(&least) as u32;
        out[5] = bounds.starts_with(&[least]) as u32;
        out[6] = bounds.ends_with(&[least, least]) as u32;
        out[7] = [[x[0], x[1]], [x[1], x[2]]].contains(&[n as u32, x[2]]) as u32;
    }
}

#[test]
fn elements_that_are_found() {
    all_differ!(found, 8);
}

#[kernel]
fn searched(x: &[u32], n: usize, out: &mut [u32]) {
    let wanted = n as u32;
    let mut calls = 0;
    out[0] = x.partition_point(|v| {
        calls += 1;
        *v < wanted
    }) as u32;
    out[1] = calls;
    let of = |found: Result<usize, usize>| match found {
        Ok(at) => at as u32 + 100,
        Err(at) => at as u32,
    };
    let found = x.binary_search_by(|v| {
        calls += 1;
        v.cmp(&wanted)
    });
    out[2] = of(found) + of(x.binary_search(&wanted)) * 200;
    out[3] = calls;
    out[10] = of(x.binary_search_by_key(&(wanted / 2), |v| {
        calls += 1;
        v / 2
    }));
    out[4] = x.is_sorted() as u32;
    out[5] = x.is_sorted_by(|a, b| {
        calls += 1;
        a <= b
    }) as u32;
    out[6] = calls;
    out[7] = x.is_sorted_by_key(|v| {
        calls += 1;
        wanted.wrapping_sub(*v)
    }) as u32;
    out[8] = calls;
    let floats = [1.0, f32::NAN, 3.0, x.len() as f32];
    out[9] = floats.is_sorted() as u32 + floats[2..].is_sorted() as u32 * 2 + floats[1..2].is_sorted() as u32 * 4;
}

#[test]
fn slices_that_are_searched() {
    all_differ!(searched, 11);
}

#[kernel]
fn filled(x: &[u32], n: usize, out: &mut [u32]) {
    let length = x.len();
    out[..length].copy_from_slice(x);
    out[..length].reverse();
    if n <= length {
        out[..length].rotate_left(n);
        out[n..length].rotate_right((length - n) / 2);
    }
    if n < length {
        out[..length].swap(n, length / 2);
    }
    let mut calls = 0;
    let mut pairs = [(0u8, [0u32; 2]); 5];
    pairs[1..].fill_with(|| {
        calls += 1;
        (calls as u8, [calls, n as u32])
    });
    pairs.swap(0, n.min(4));
    pairs[2..4].fill((9, [length as u32; 2]));
    pairs.reverse();
    for (k, (a, [b, c])) in pairs.iter().enumerate() {
        out[12 + k] = *a as u32 * 10_000 + b * 100 + c;
    }
    let mapped = pairs.map(|(a, [b, _])| {
        calls += 1;
        (b as f32 / 4.0, calls, a)
    });
    for (k, (a, b, c)) in mapped.into_iter().enumerate() {
        out[17 + k] = a.to_bits() ^ (b << 8) ^ c as u32;
    }
    let rows = [1, 2, 3u32].map(|v| [v, v * v, n as u32]).map(|row| row.map(u64::from));
    out[22] = rows[2][1] as u32 + rows[1][2] as u32 * 100;
    out[23] = calls + [n; 0].map(|v| v as u32).len() as u32;
}

#[test]
fn slices_that_are_filled() {
    all_differ!(filled, 24);
}

#[kernel]
fn ordered(x: &[u32], n: usize, out: &mut [u32]) {
    let length = x.len();
    out[..length].copy_from_slice(x);
    match n % 3 {
        0 => out[..length].sort_unstable(),
        1 => out[..length].sort_unstable_by(|a, b| b.cmp(a)),
        _ => out[..length].sort_unstable_by_key(|v| (v % 3, *v)),
    }
    let mut few = [(length as u8, -1.5f32), (3, 0.5), (n as u8, 7.0), (1, 2.0), (3, 0.25)];
    few.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
    few[1..].sort_unstable_by_key(|pair| (pair.0, (pair.1 * 4.0) as i32));
    for (k, (a, b)) in few.iter().enumerate() {
        out[12 + k] = *a as u32 ^ b.to_bits();
    }
}

#[test]
fn slices_that_are_sorted() {
    all_differ!(ordered, 17);
}

#[kernel(unchecked)]
fn unchecked_swap(x: &mut [u32], a: usize, b: usize) {
    x.swap(a, b);
}

#[test]
fn unchecked_kernels_swap_without_checks() {
    let mut x = on_device(&[1, 2, 3]);
    // SAFETY: the array has three elements, and both indices are less than three.
    unsafe { unchecked_swap::launch((1, 1), &mut x, 0, 2) }.unwrap();
    assert_eq!(on_host(&x), [3, 2, 1]);
    let ptx = unchecked_swap::compile_ptx((9, 0)).unwrap();
    assert!(!ptx.contains("setp"), "{ptx}");
}

#[kernel]
fn failing(x: &mut [u32], mode: u32, n: usize) {
    match mode {
        0 => x.swap(0, n),
        1 => x[1..].swap(n, 0),
        2 => x.copy_from_slice(&[1, 2]),
        3 => _ = x.split_at(n),
        4 => x.split_at_mut(n).1.fill(3),
        5 => x.rotate_left(n),
        _ => x.rotate_right(n),
    }
}

#[test]
fn panics_of_slices() {
    if !super::in_child_process("language::slices::panics_of_slices") {
        return;
    }
    let says = [
        "index out of bounds: the len is 3 but the index is 5",
        "index out of bounds: the len is 2 but the index is 5",
        "copy_from_slice: source slice length (2) does not match destination slice length (3)",
        "mid > len: 5 > 3",
        "mid > len: 5 > 3",
        "a slice of length 3 cannot be rotated by 5",
        "a slice of length 3 cannot be rotated by 5",
    ];
    for (mode, message) in (0..).zip(says) {
        failing::launch((1, 1), &mut on_device(&[1, 2, 3]), mode, 5).unwrap();
        let Err(cuda_driver::Error::KernelPanic(panic)) = super::context().synchronize() else { panic!("{message}") };
        assert_eq!(panic.message, message);
        let first = line!() - 28;
        assert_eq!(panic.line, first + mode, "{}:{}", panic.file, panic.line);
    }
}
