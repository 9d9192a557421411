//! Patterns, loops over elements, slices of slices, methods of slices, views, `Option` and integers, enums.

use super::{context, differ, on_device, on_host};
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};

#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceType)]
#[repr(i8)]
enum Direction {
    North = -1,
    East = 4,
    South,
    West = 100,
}

#[derive(Clone, Copy, DeviceType)]
struct Step {
    to: Direction,
    by: Option<u32>,
    last: bool,
}

#[device]
fn turned(direction: Direction) -> Direction {
    match direction {
        Direction::North => Direction::East,
        Direction::East => Direction::South,
        Direction::South => Direction::West,
        Direction::West => Direction::North,
    }
}

#[kernel]
fn enums(start: Direction, step: Step, out: &mut [i32]) {
    let i = grid::<1>();
    if i >= out.len() {
        return;
    }
    let mut direction = start;
    for _ in 0..i {
        direction = turned(direction);
    }
    out[i] = direction as i32 * 2 + direction as u8 as i32;
    if direction == Direction::West || direction != start {
        out[i] += 1000;
    }
    let steps = [step, Step { to: Direction::West, by: None, ..step }];
    match steps[i % 2] {
        Step { to: Direction::West, by: Some(n), .. } => out[i] += n as i32,
        Step { by: None, last, .. } if last => out[i] -= 7,
        Step { to, by, last: _ } => out[i] += to as i32 + by.unwrap_or(3) as i32,
    }
}

#[test]
fn enums_are_values() {
    let step = |by, last| Step { to: Direction::East, by, last };
    for (by, last) in [(Some(5), false), (None, true), (None, false)] {
        let mut out = on_device(&[0i32; 6]);
        enums::launch((1, 6), Direction::South, step(by, last), &mut out).unwrap();
        let mut host = vec![0; 6];
        cuda_jit::host::for_each_thread((1, 6), || enums(Direction::South, step(by, last), &mut host));
        assert_eq!(on_host(&out), host);
    }
}

#[kernel]
fn patterns(x: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    if i >= out.len() {
        return;
    }
    let n @ 0.. = x[i] else {
        out[i] = -1;
        return;
    };
    let class = match (n, i) {
        (small @ 0..=3, _) => small * 10,
        (4 | 5, at) | (_, at @ 5) => at as i32,
        (n, ..) if n % 2 == 0 => n,
        (.., at) => -(at as i32),
    };
    let window = match x {
        [] => 0,
        [only] => *only,
        [first, .., last] if first > last => first - last,
        [first, rest @ ..] => first + rest.len() as i32,
    };
    let [a, b, c] = [n, class, window];
    let array = [a, b, c, 4];
    let [head, middle @ .., tail] = array;
    let ((p, q), r) = ((head, tail), &middle);
    let (mut s, ref t) = (p, r);
    s += t[0] + t[1];
    let some = Some((s, q));
    let bonus = if let Some((v, w)) = some
        && v > w
        && let Some(last) = x.last()
    {
        v - w + *last
    } else {
        1
    };
    out[i] = s + q + bonus;
}

#[device]
fn weighted((a, b): (i32, i32), &[weight, ..]: &[i32; 3], _: bool) -> i32 {
    a * weight + b
}

#[kernel]
fn taken_apart([first, _, last]: [i32; 3], (mut by, (shift, _)): (i32, (i32, u8)), out: &mut [i32]) {
    let i = grid::<1>();
    if i < out.len() {
        by += 1;
        out[i] = weighted((first * by, shift), &[last, 0, 0], true) - i as i32;
    }
}

#[test]
fn parameters_are_patterns() {
    let mut out = on_device(&[0; 4]);
    taken_apart::launch((1, 8), [3, 100, 5], (1, (7, 9)), &mut out).unwrap();
    assert_eq!(on_host(&out), [37, 36, 35, 34]);
}

#[test]
fn patterns_of_every_kind() {
    for x in [&[0, 7, 2, 9, -4, 12, 6][..], &[3, 3, 3, 3, 3, 3, 30], &[9, 0, 0, 8, 0, 5, -1]] {
        differ!(patterns, (1, 8), [x], vec![0i32; 7]);
    }
}

#[kernel]
fn elements(x: &[f32], y: &mut [f32]) {
    let mut table = [1.0f32, 2.0, 3.0];
    for v in table.iter_mut() {
        *v *= 2.0;
    }
    for (k, v) in table.iter().enumerate() {
        y[k] += *v;
    }
    for v in table {
        y[0] += v;
    }
    for v in &mut table {
        *v += 1.0;
    }
    'outer: for (k, pair) in x.chunks_exact(2).enumerate() {
        for &v in pair {
            if v > 100.0 {
                break 'outer;
            }
            if v < 0.0 {
                continue;
            }
            y[1] += v * table[k % 3];
        }
    }
    for (k, v) in x.iter().copied().rev().enumerate() {
        y[2] += v * k as f32;
    }
    for chunk in y.chunks_exact_mut(2) {
        chunk.swap(0, 1);
    }
    for i in 250..=u8::MAX {
        y[3] += i as f32;
    }
    for _ in &x[..0] {
        y[0] = -1.0;
    }
}

#[test]
fn loops_over_elements() {
    differ!(elements, (1, 1), [&[1.0, 2.0, -3.0, 4.0, 5.0, 600.0, 7.0][..]], vec![0f32; 5]);
    differ!(elements, (1, 1), [&[][..]], vec![0f32; 4]);
}

#[kernel]
fn slices(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i != 0 || x.len() < 5 {
        return;
    }
    let part = &x[1..4];
    let (low, high) = part.split_at(1);
    out[0] = part.len() as u32 + low[0] * 10 + high[1] * 100 + x[2..][0] + x[..=2].len() as u32;
    out[1] =
        *part.first().unwrap() + *part.last().unwrap() + x.get(77).copied().unwrap_or(9) + *x.get(1).expect("there");
    if let Some(v) = out.get_mut(2) {
        *v = 5;
    }
    let (left, right) = out.split_at_mut(3);
    right[..2].fill(8);
    left.swap(0, 1);
    right[2..4].copy_from_slice(&x[..2]);
    out[7] = if part.is_empty() || x.get(5).is_some() { 1 } else { 2 } + x.first().is_none() as u32;
    let mut a = [1u32, 2];
    let mut b = [3u32, 4];
    core::mem::swap(&mut a, &mut b);
    let old = core::mem::replace(&mut a[0], 50);
    let mut n = 7;
    out[8] = a[0] + b[1] * 1000 + old + std::mem::take(&mut n) + n;
    fn_like(&mut out[9..], &a);
}

#[device]
fn fn_like(to: &mut [u32], from: &[u32]) {
    to[0] = from[0] + from[1];
}

#[test]
fn slices_of_slices() {
    differ!(slices, (1, 2), [&[1, 2, 3, 4, 5][..]], vec![0u32; 10]);
    differ!(slices, (1, 2), [&[1, 2, 3, 4, 5, 6][..]], vec![0u32; 10]);
}

#[kernel]
fn cut(x: &[u32], from: u32, to: u32, out: &mut [u32]) {
    out[0] = x[from as usize..to as usize].len() as u32;
}

#[test]
fn subslices_out_of_bounds_panic() {
    if !super::in_child_process("language::shapes::subslices_out_of_bounds_panic") {
        return;
    }
    let (x, mut out) = (on_device(&[1u32, 2, 3]), on_device(&[0u32]));
    cut::launch((1, 1), &x, 1, 3, &mut out).unwrap();
    assert_eq!(on_host(&out), [2]);
    for (from, to, message) in [
        (2, 1, "slice index starts at 2 but ends at 1"),
        (0, 4, "range end index 4 out of range for slice of length 3"),
    ] {
        cut::launch((1, 1), &x, from, to, &mut out).unwrap();
        let error = context().synchronize().unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[kernel]
fn views(x: ArrayView2<'_, f32>, weights: ArrayView1<'_, f32>, mut out: ArrayViewMut2<'_, f32>) {
    let (i, j) = grid::<2>();
    if i < x.nrows() && j < x.ncols() {
        let (row, column) = (x.row(i), x.column(j));
        let shape = x.shape();
        out[[i, j]] = row[j] * column[i] + row.len() as f32 + column.len() as f32 * weights[j] + shape[1] as f32;
        if let Some(v) = x.get([i + 1, j]) {
            out[[i, j]] += *v;
        }
        let mut own = out.row_mut(i);
        own[j] += x.view().dim().0 as f32;
    }
}

#[test]
fn views_give_rows_and_columns() {
    let x = ndarray::Array2::from_shape_fn((3, 4), |(i, j)| (10 * i + j) as f32);
    let weights = ndarray::arr1(&[1.0f32, 2.0, 3.0, 4.0]);
    let mut host = ndarray::Array2::zeros((3, 4));
    let (dx, dw) = (cuda_mem::to_device(&context(), &x).unwrap(), cuda_mem::to_device(&context(), &weights).unwrap());
    let mut out = cuda_mem::to_device(&context(), &host).unwrap();
    let config = ((1, 1), (4, 4));
    views::launch(config, &dx, &dw, &mut out).unwrap();
    cuda_jit::host::for_each_thread(config, || views(x.view(), weights.view(), host.view_mut()));
    assert_eq!(out.copy_to_host().unwrap(), host);
}

macro_rules! integers {
    ($($name:ident: $ty:ty),*) => { $(
        #[kernel]
        fn $name(x: &[$ty], out: &mut [i64]) {
            let i = grid::<1>();
            let n = x.len();
            if i >= n * n {
                return;
            }
            let (a, b) = (x[i / n], x[i % n]);
            let mut sum = 0i64;
            sum = sum.wrapping_mul(3).wrapping_add(a.checked_add(b).unwrap_or(1) as i64);
            sum = sum.wrapping_mul(3).wrapping_add(a.checked_sub(b).unwrap_or(2) as i64);
            sum = sum.wrapping_mul(3).wrapping_add(a.checked_mul(b).unwrap_or(3) as i64);
            sum = sum.wrapping_mul(3).wrapping_add(a.checked_div(b).unwrap_or(4) as i64);
            sum = sum.wrapping_mul(3).wrapping_add(a.checked_rem(b).unwrap_or(5) as i64);
            sum = sum.wrapping_mul(3).wrapping_add(a.checked_neg().unwrap_or(6) as i64);
            sum = sum.wrapping_mul(3).wrapping_add(a.checked_shl(b as u32 % 70).unwrap_or(7) as i64);
            sum = sum.wrapping_mul(3).wrapping_add(a.checked_shr(b as u32 % 70).unwrap_or(7) as i64);
            sum = sum.wrapping_mul(3).wrapping_add(a.saturating_mul(b) as i64);
            let (value, over) = a.overflowing_add(b);
            sum = sum.wrapping_mul(3).wrapping_add(value as i64).wrapping_add(over as i64);
            let (value, over) = a.overflowing_sub(b);
            sum = sum.wrapping_mul(3).wrapping_add(value as i64).wrapping_add(over as i64);
            let (value, over) = a.overflowing_mul(b);
            sum = sum.wrapping_mul(3).wrapping_add(value as i64).wrapping_add(over as i64);
            let (value, over) = a.overflowing_neg();
            sum = sum.wrapping_mul(3).wrapping_add(value as i64).wrapping_add(over as i64);
            sum = sum.wrapping_mul(3).wrapping_add(a.wrapping_pow(b as u32 % 9) as i64);
            if b != 0 {
                sum = sum.wrapping_mul(3).wrapping_add(a.wrapping_div(b) as i64).wrapping_add(a.wrapping_rem(b) as i64);
                if let Some(_) = a.checked_div(b) {
                    sum = sum.wrapping_mul(3).wrapping_add(a.div_euclid(b) as i64).wrapping_sub(a.rem_euclid(b) as i64);
                }
            }
            if a > 0 {
                sum = sum.wrapping_mul(3).wrapping_add(a.ilog2() as i64);
            }
            out[i] = sum;
        }
    )* };
}

integers! { of_i8: i8, of_u8: u8, of_i32: i32, of_u32: u32, of_i64: i64, of_u16: u16 }

#[test]
fn integers_report_overflow() {
    differ!(of_i8, (1, 64), [&[0, 1, -1, 2, i8::MIN, i8::MAX, 7, -13][..]], vec![0i64; 64]);
    differ!(of_u8, (1, 64), [&[0, 1, 2, 3, 128, 255, 16, 77][..]], vec![0i64; 64]);
    differ!(of_i32, (1, 64), [&[0, 1, -1, 2, i32::MIN, i32::MAX, 65536, -46341][..]], vec![0i64; 64]);
    differ!(of_u32, (1, 64), [&[0, 1, 2, 3, 65535, u32::MAX, 65536, 1 << 31][..]], vec![0i64; 64]);
    differ!(of_i64, (1, 64), [&[0, 1, -1, 2, i64::MIN, i64::MAX, 1 << 32, -3037000500][..]], vec![0i64; 64]);
    differ!(of_u16, (1, 64), [&[0, 1, 2, 255, 256, 65535, 32768, 181][..]], vec![0i64; 64]);
}

#[kernel(checked)]
fn power(x: u32, n: u32, out: &mut [u32]) {
    out[0] = x.pow(n);
}

#[test]
fn powers_overflow_as_they_must() {
    if !super::in_child_process("language::shapes::powers_overflow_as_they_must") {
        return;
    }
    let mut out = on_device(&[0u32]);
    power::launch((1, 1), 3, 20, &mut out).unwrap();
    assert_eq!(on_host(&out), [3u32.pow(20)]);
    power::launch((1, 1), 3, 21, &mut out).unwrap();
    assert!(context().synchronize().unwrap_err().to_string().contains("multiplication overflows"));
}

#[kernel]
fn odds_and_ends(x: &[f32], out: &mut [u32]) {
    const TABLE: [u32; 4] = [1, 10, 100, 1000];
    static OFFSET: u32 = 7;
    let i = grid::<1>();
    if i >= out.len() {
        return;
    }
    let found = 'search: {
        for (k, &v) in x.iter().enumerate() {
            if v > i as f32 {
                break 'search k;
            }
        }
        x.len()
    };
    let mut left = Some(i);
    let mut turns = 0;
    while let Some(n) = left {
        left = if n > 1 { Some(n / 2) } else { None };
        turns += 1;
    }
    let bits = f32::from_bits(x[i % 3].to_bits() + 1);
    out[i] = TABLE[found % 4] + OFFSET + turns + const { 3 * 4 } + u32::from(bits > x[i % 3]) * 5000;
    out[i] += (found as u32).pow(2) + 5u32.next_power_of_two() + i32::from(-3i8).unsigned_abs();
}

#[test]
fn blocks_consts_and_bits() {
    differ!(odds_and_ends, (1, 8), [&[0.5, 1.5, 4.5][..]], vec![0u32; 8]);
}
