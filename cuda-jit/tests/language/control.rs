//! Branches, loops, jumps and ranges.

use super::differ;
use cuda_jit::device::{block_dim, block_idx, grid, grid_dim, grid_size, thread_idx};
use cuda_jit::kernel;

#[kernel]
fn collatz(x: &[u32], out: &mut [u32]) {
    let mut i = grid::<1>();
    while i < out.len() {
        let mut n = x[i] as u64;
        let mut steps = 0;
        let reached = loop {
            if n == 1 {
                break steps;
            }
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        };
        out[i] = reached;
        i += grid_size::<1>();
    }
}

#[test]
fn loops_and_strides() {
    let x: Vec<u32> = (1..100).collect();
    let steps = differ!(collatz, (2, 16), [&x[..]], vec![0u32; 99]);
    assert_eq!(steps[26], 111);
}

#[kernel]
fn bytes(text: &[u8], out: &mut [u8]) {
    for (i, byte) in text.iter().enumerate() {
        out[i] = match *byte {
            b'a'..=b'z' => *byte - b'a' + b'A',
            b' ' | b'\n' => b'_',
            ..b'0' => b'\xff',
            other => other,
        };
    }
}

#[test]
fn bytes_are_numbers() {
    let upper = differ!(bytes, (1, 1), [&b"a z\n9-Q"[..]], vec![0u8; 7]);
    assert_eq!(upper, *b"A_Z_9\xffQ");
}

#[kernel]
fn ranges(from: i8, to: i8, step: usize, out: &mut [i32]) {
    let mut at = 0;
    for v in from..to {
        out[at] = v as i32;
        at += 1;
    }
    for v in from..=to {
        out[at] = v as i32 + 1000;
        at += 1;
    }
    for v in (from..to).rev() {
        out[at] = v as i32 + 2000;
        at += 1;
    }
    for v in (from..=to).rev().step_by(step) {
        out[at] = v as i32 + 3000;
        at += 1;
    }
    for v in (from..to).step_by(step) {
        out[at] = v as i32 + 4000;
        at += 1;
    }
    for v in (from..=to).step_by(step) {
        out[at] = v as i32 + 5000;
        at += 1;
    }
    out[at] = at as i32;
}

#[test]
fn ranges_end_where_rusts_do() {
    for (from, to) in [(0, 5), (5, 0), (3, 3), (-128, -128), (127, 127), (-128, 127), (-1, 1), (120, 127)] {
        for step in [1, 2, 3, 100, 255, 1000] {
            differ!(ranges, (1, 1), [from, to, step], vec![-1i32; 1600]);
        }
    }
}

#[kernel]
fn unsigned_steps(from: usize, to: usize, low: u16, high: u16, step: usize, out: &mut [u64]) {
    let mut at = 0;
    for v in (from..to).step_by(step) {
        out[at] = v as u64;
        at += 1;
    }
    for v in (from..=to).step_by(step) {
        out[at] = v as u64 ^ 1000;
        at += 1;
    }
    for v in (low..high).step_by(step) {
        out[at] = v as u64 + 2000;
        at += 1;
    }
    for v in (low..high).rev().step_by(step) {
        out[at] = v as u64 + 3000;
        at += 1;
    }
    out[at] = at as u64;
}

#[test]
fn unsigned_steps_end_where_rusts_do() {
    let wide = [(0, 10), (usize::MAX - 9, usize::MAX), (5, 5), (1 << 63, (1 << 63) + 7), (0, 0)];
    let narrow = [(0, 10), (u16::MAX - 9, u16::MAX), (9, 3), (1, 2), (0, u16::MAX / 4096)];
    for ((from, to), (low, high)) in wide.into_iter().zip(narrow) {
        for step in [1, 2, 7, 65_536, 65_537, 1 << 32, 1 << 63, usize::MAX] {
            differ!(unsigned_steps, (1, 1), [from, to, low, high, step], vec![7u64; 100]);
        }
    }
}

#[kernel]
fn jumps(out: &mut [u32]) {
    let i = grid::<1>();
    let mut count = 0u32;
    'outer: for a in 0..10u32 {
        for b in 0..10u32 {
            if b == i as u32 {
                continue 'outer;
            }
            if a * b > 20 {
                break 'outer;
            }
            if b % 3 == 2 {
                continue;
            }
            count += a + b;
        }
        count += 1000;
    }
    let found = 'block: {
        if count > 2000 {
            break 'block 1;
        }
        if count > 1000 {
            break 'block 2;
        }
        3
    };
    let mut rest = count;
    while let Some(digit) = if rest > 0 { Some(rest % 10) } else { None } {
        rest /= 10;
        if digit == 0 {
            continue;
        }
        count += digit;
    }
    if i == 3 {
        out[i] = 77;
        return;
    }
    out[i] = count * 10 + found;
}

#[test]
fn labels_and_early_returns() {
    differ!(jumps, (1, 8), [], vec![0u32; 8]);
}

#[kernel]
fn values(x: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    let a = if x[i] > 0 {
        1
    } else if x[i] < 0 {
        -1
    } else {
        0
    };
    let b = {
        let square = x[i] * x[i];
        square + 1
    };
    let (c, (d, _)) = (
        a + b,
        (
            match i {
                0 => b,
                1 | 2 => -b,
                _ => 0,
            },
            true,
        ),
    );
    let e = (if i % 2 == 0 { 5 } else { 6 }) + d;
    out[i] = c * 3 + e + if let (1.., 0..=2) = (a, i) { 100 } else { 0 };
}

#[test]
fn expressions_have_values() {
    differ!(values, (1, 5), [&[5, -3, 0, 9, -9][..]], vec![0i32; 5]);
}

#[kernel]
fn places(out: &mut [usize]) {
    let (x, y, z) = grid::<3>();
    let (width, height, _) = grid_size::<3>();
    let at = (z * height + y) * width + x;
    let t = thread_idx();
    out[at] = (((t.x * 10 + t.y) * 10 + t.z) * 10 + block_idx().x) * 10 + block_idx().y + block_idx().z;
    out[at] = out[at] * 1000 + (block_dim().x + block_dim().y + block_dim().z) * 10 + grid_dim().x * grid_dim().y;
}

/// `usize` is `u64` on the device.
#[test]
fn three_dimensions() {
    differ!(places, ((2, 3, 2), (4, 2, 3)), [], vec![0usize; 8 * 6 * 6]);
}

#[kernel(unchecked)]
fn trusting(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i];
    }
}

#[kernel]
fn unchecked_elements(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() && i < x.len() {
        // SAFETY: the condition says that `i` is within `x`.
        let value = unsafe { *x.get_unchecked(i) };
        // SAFETY: the condition says that `i` is within `out`.
        unsafe { *out.get_unchecked_mut(i) = value * 2.0 };
    }
}

#[test]
fn checks_can_be_left_out() {
    let x = super::on_device(&[1.0f32, 2.0]);
    let mut out = super::on_device(&[0f32; 2]);
    // SAFETY: both slices have two elements.
    unsafe { trusting::launch((1, 32), &x, &mut out) }.unwrap();
    assert_eq!(super::on_host(&out), [1.0, 2.0]);
    let kir = cuda_jit::kir_of::<trusting>().unwrap();
    assert!(kir.sites.is_empty(), "{kir}");
    differ!(unchecked_elements, (1, 32), [&[1.0f32, 2.0][..]], vec![0f32; 2]);
    assert!(cuda_jit::kir_of::<unchecked_elements>().unwrap().sites.is_empty());
}

#[kernel]
fn unchecked_references(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let mut held = [1.0, 2.0, 3.0];
    // SAFETY: the slice has an element for each of three threads.
    let read = unsafe { x.get_unchecked(i) };
    // SAFETY: this slice has an element for each of three threads too.
    let written = unsafe { out.get_unchecked_mut(i) };
    *written = *read + 1.0;
    // SAFETY: the array has three elements.
    let kept = unsafe { held.get_unchecked_mut(i) };
    *kept += *read;
    // SAFETY: the condition above says that `at`, which is `i`, is within the slice of three elements.
    *written += Some(i).map_or(0.0, |at| unsafe { *x.get_unchecked(at) }) * held[i];
}

#[test]
fn unchecked_elements_are_borrowed() {
    differ!(unchecked_references, (1, 3), [&[1.0f32, 2.0, 5.0][..]], vec![0f32; 3]);
}

#[kernel]
fn left_with_receivers(x: &[i64], out: &mut [i64]) {
    let i = grid::<1>();
    if i >= out.len() {
        return;
    }
    out[i] = ('a: {
        if x[i] < 0 {
            break 'a -x[i];
        }
        x[i]
    })
    .wrapping_pow(2u32);
    let huge = ('b: {
        let far = x[i] as f64 * 1e300;
        if far > 0.0 {
            break 'b far * 1e300;
        }
        break 'b 0.0;
    })
    .is_infinite();
    let mut turns = 0u32;
    let doubled = (loop {
        turns += 1;
        match turns {
            3 => break x[i] as i8,
            _ => {}
        }
    })
    .leading_zeros();
    out[i] += huge as i64 * 1000 + doubled as i64;
}

#[test]
fn break_values_have_methods() {
    differ!(left_with_receivers, (1, 8), [&[-3i64, 0, 1, 7, -128][..]], vec![0i64; 5]);
}
