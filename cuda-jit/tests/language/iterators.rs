//! Iterators in kernels: adaptors and consumers, against the same functions on the host.

use super::{context, differ, on_device, on_host};
use cuda_jit::device::grid;
use cuda_jit::{Num, device, f16, kernel};
use ndarray::{Array2, Array3, ArrayView2, ArrayView3, ArrayViewMut2, Axis};
use num_complex::Complex;
use std::cmp::Ordering;

#[kernel]
fn reductions(x: &[f32], y: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i != 0 || out.len() < 16 {
        return;
    }
    out[0] = x.iter().sum();
    out[1] = x.iter().zip(y).map(|(a, b)| a * b).sum::<f32>();
    out[2] = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    out[3] = x.iter().product();
    out[4] = x.iter().filter(|v| **v > 0.0).count() as f32;
    out[5] = if x.iter().any(|v| *v < 0.0) { 1.0 } else { 2.0 };
    out[6] = if x.iter().all(|&v| v < 100.0) { 1.0 } else { 2.0 };
    let mean = x.iter().sum::<f32>() / x.len() as f32;
    out[7] = x.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / x.len() as f32;
    out[8] = x.iter().position(|&v| v == 3.0).unwrap_or(99) as f32;
    out[9] = *x.iter().max_by(|a, b| a.total_cmp(b)).unwrap();
    out[10] = x.iter().copied().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
    out[11] = x.iter().enumerate().map(|(k, v)| k as f32 * v).sum();
    out[12] = x.iter().rev().skip(1).step_by(2).take(2).sum();
    out[13] = x.iter().chain(y).take_while(|v| **v != 9.0).sum();
    out[14] = x.iter().find(|v| **v > 1.5).copied().unwrap_or(-1.0);
    out[15] = (0..x.len()).rev().map(|k| x[k] - y[k]).sum();
}

#[test]
fn reductions_of_slices() {
    differ!(reductions, (1, 2), [&[1.0, -2.0, 3.0, 4.5][..], &[2.0, 9.0, 1.0, 0.5][..]], vec![0f32; 16]);
}

#[kernel]
fn loops(x: &[u32], n: u32, y: &mut [u32]) {
    for (v, w) in x.iter().zip(y.iter_mut()) {
        *w += v * 2;
    }
    for (k, pair) in x.windows(2).enumerate().rev() {
        y[k] += pair[1] - pair[0];
    }
    for chunk in x.chunks(3) {
        y[chunk.len()] += chunk.iter().sum::<u32>();
    }
    for (k, v) in (10..).step_by(5).zip(y.iter_mut().skip(1)) {
        *v += k;
    }
    for v in y.iter_mut().rev().take(2) {
        *v ^= 1;
    }
    let mut count = 0;
    for k in (0..n).filter(|k| k % 3 == 1).map(|k| k * k) {
        if k > 50 {
            break;
        }
        if k == 16 {
            continue;
        }
        count += k;
    }
    y[0] += count;
    let mut it = x.iter().copied().skip_while(|v| *v < 3);
    while let Some(v) = it.next() {
        if v == 7 {
            break;
        }
        y[1] += v;
    }
    y[1] += it.map(|v| 1000 * v).sum::<u32>();
    y[2] += x
        .iter()
        .scan(1, |state, v| {
            *state *= 2;
            if *v == 8 { None } else { Some(*state + v) }
        })
        .last()
        .unwrap_or(0);
    y[3] += x.iter().map_while(|&v| if v < 8 { Some(v + 1) } else { None }).sum::<u32>();
    y[4] += x.iter().filter_map(|&v| v.checked_sub(4)).max().unwrap_or(77);
    y[5] += x.iter().copied().reduce(|a, b| a * 3 + b).unwrap() + x.iter().min().unwrap();
    let mut seen = 0;
    x.iter().inspect(|v| seen += **v).nth(2);
    y[6] += seen + x.iter().skip(1).step_by(3).count() as u32;
    let best = (0u8..=255).max_by_key(|k| (k % 7, 255 - k)).unwrap();
    y[7] += best as u32 + x.iter().enumerate().min_by_key(|(_, v)| v.abs_diff(6)).unwrap().0 as u32;
    x.iter().for_each(|v| y[(*v % 8) as usize] += 1);
    y[0] += (0..=n).rev().step_by(2).skip(1).zip(1u32..).map(|(a, b)| a * b).sum::<u32>();
    y[1] += x.iter().find_map(|v| if v % 4 == 3 { Some(v * 5) } else { None }).unwrap_or(3);
    for v in [2, 3].into_iter().chain([5u32]).rev() {
        y[2] = y[2] * 2 + v;
    }
    y[3] += x.iter().map(|v| if *v > 2 { 1 } else { 0 }).fold(0, |a: u32, b: u32| a * 2 + b);
}

#[test]
fn loops_over_adapted_iterators() {
    let x: [&[u32]; 3] = [&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], &[5, 9, 12], &[3, 3, 3, 8]];
    for x in x {
        for n in [0, 1, 20] {
            differ!(loops, (1, 1), [x, n], vec![1u32; 9]);
        }
    }
}

#[kernel]
fn dot_by_iterator(x: &[f32], y: &[f32], out: &mut [f32]) {
    out[0] = x.iter().zip(y).map(|(a, b)| a * b).sum::<f32>();
}

#[kernel]
fn dot_by_hand(x: &[f32], y: &[f32], out: &mut [f32]) {
    let mut sum = -0.0;
    for i in 0..x.len().min(y.len()) {
        sum += x[i] * y[i];
    }
    out[0] = sum;
}

#[kernel]
fn count_by_iterator(x: &[u32], n: u32, out: &mut [u32]) {
    out[0] = x.iter().filter(|v| **v > n).map(|v| v * 2).sum();
}

#[kernel]
fn count_by_hand(x: &[u32], n: u32, out: &mut [u32]) {
    let mut sum = 0;
    for i in 0..x.len() {
        if x[i] > n {
            sum += x[i] * 2;
        }
    }
    out[0] = sum;
}

/// The number of each instruction in a kernel's PTX.
pub(super) fn instructions(ptx: &str) -> std::collections::BTreeMap<&str, usize> {
    let mut found = std::collections::BTreeMap::new();
    let lines = ptx.lines().map(str::trim).filter(|line| line.ends_with(';') && !line.starts_with('.'));
    for line in lines {
        let line = if line.starts_with('@') { line.split_once(' ').map_or(line, |(_, rest)| rest) } else { line };
        *found.entry(line.split_whitespace().next().unwrap_or_default()).or_default() += 1;
    }
    found
}

#[test]
fn chains_are_the_loops_that_one_would_write() {
    let pairs = [
        [dot_by_iterator::compile_ptx((9, 0)), dot_by_hand::compile_ptx((9, 0))],
        [count_by_iterator::compile_ptx((9, 0)), count_by_hand::compile_ptx((9, 0))],
    ];
    for pair in pairs {
        let [chain, hand] = pair.map(|ptx| ptx.expect("it compiles"));
        let [count, by_hand] = [&chain, &hand].map(|ptx| instructions(ptx).values().sum::<usize>());
        assert_eq!(count, by_hand, "{chain}\n{hand}");
    }
}

#[kernel]
fn views(a: ArrayView2<'_, i32>, c: ArrayView3<'_, i32>, mut b: ArrayViewMut2<'_, i32>, out: &mut [i32]) {
    if grid::<1>() > 0 {
        return;
    }
    for (i, row) in a.rows().into_iter().enumerate() {
        out[i] = row.iter().sum();
    }
    for (column, v) in a.columns().into_iter().zip(out.iter_mut().skip(3)) {
        *v = column.iter().rev().fold(0, |all, v| all * 10 + v);
    }
    for ((i, j), v) in b.indexed_iter() {
        out[8] += v * (i * 10 + j) as i32;
    }
    for v in b.iter_mut() {
        *v += 1;
    }
    for mut row in b.rows_mut() {
        row[0] *= 2;
    }
    out[9] = b.iter().zip(&a).map(|(b, a)| b * a).sum::<i32>() + b.iter().skip(2).step_by(3).sum::<i32>();
    for (k, plane) in c.outer_iter().enumerate() {
        out[10] += plane.iter().max().unwrap() * (k as i32 + 1);
    }
    for plane in c.axis_iter(Axis(2)).rev() {
        out[11] = out[11] * 3 + plane[[1, 0]] + plane.nrows() as i32 * plane.ncols() as i32;
    }
    out[12] = a.row(1).iter().enumerate().map(|(k, v)| k as i32 * v).sum();
    out[13] = c.iter().take(5).sum::<i32>() + (&a).into_iter().filter(|v| **v % 2 == 0).count() as i32;
}

#[test]
fn iterators_of_views() {
    let a = Array2::from_shape_fn((3, 4), |(i, j)| (i * 4 + j) as i32 % 7);
    let c = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 50 + j * 20 + k * 13) as i32 % 31);
    let mut b = Array2::from_shape_fn((3, 4), |(i, j)| (i + j) as i32);
    let mut out = vec![0; 14];
    let (da, dc) = (cuda_mem::to_device(&context(), &a).unwrap(), cuda_mem::to_device(&context(), &c).unwrap());
    let (mut db, mut dout) = (cuda_mem::to_device(&context(), &b).unwrap(), on_device(&out));
    views::launch((1, 2), &da, &dc, &mut db, &mut dout).unwrap();
    cuda_jit::host::for_each_thread((1, 2), || views(a.view(), c.view(), b.view_mut(), &mut out));
    assert_eq!(on_host(&dout), out);
    assert_eq!(db.copy_to_host().unwrap(), b);
    assert!(out.iter().enumerate().all(|(k, v)| k == 7 || *v != 0), "{out:?}");
}

/// The number further from zero.
#[device]
fn further(a: i32, b: i32) -> i32 {
    if b.abs() > a.abs() { b } else { a }
}

#[device]
fn is_odd(v: &i32) -> bool {
    v % 2 != 0
}

/// Folds the numbers that satisfy a predicate.
#[device]
fn of_taken<T: Num, P: Fn(&T) -> bool, F: Fn(T, T) -> T>(x: &[T], takes: P, makes: F) -> T {
    x.iter().filter(|v| takes(v)).copied().fold(T::ZERO, makes)
}

#[kernel]
fn functions(x: &[i32], z: &[Complex<f32>], h: &[f16], out: &mut [i32]) {
    out[0] = x.iter().copied().fold(0, further);
    out[1] = x.iter().copied().filter(is_odd).count() as i32;
    out[2] = of_taken(x, |v| is_odd_or(v), |a, b| a * 2 + b);
    let least = |a: &&i32, b: &&i32| a.abs().cmp(&b.abs()).then(a.cmp(b)).reverse();
    out[3] = *x.iter().max_by(least).unwrap();
    out[4] = x.iter().copied().map(i32::abs).max().unwrap();
    let sum: Complex<f32> = z.iter().sum();
    let product = z.iter().copied().product::<Complex<f32>>();
    out[5] = (sum.re + 10.0 * sum.im) as i32;
    out[6] = (product.re + 10.0 * product.im) as i32;
    out[7] = f32::from(h.iter().sum::<f16>()) as i32;
    out[8] = match 3.cmp(&x[0]) {
        Ordering::Less => 1,
        Ordering::Equal => 2,
        Ordering::Greater => 3,
    };
    out[9] = (x[0], 1.5f32).partial_cmp(&(x[0], f32::NAN)).is_none() as i32;
    out[10] = 0.0f32.total_cmp(&-0.0).is_gt() as i32 + f64::NAN.total_cmp(&1.0).is_ge() as i32 * 2;
    out[11] = x.iter().map(|v| *v as f32).min_by(f32::total_cmp).unwrap() as i32;
}

#[device]
fn is_odd_or(v: &i32) -> bool {
    is_odd(v) || *v == 4
}

#[test]
fn functions_and_closures_of_iterators() {
    let x = [3, -8, 4, 7, -7, 1, 0];
    let z = [Complex::new(1.0, 2.0), Complex::new(-3.0, 0.5)];
    let h = [1.5, 2.25, 1000.0].map(f16::from_f32);
    let mut host = vec![0; 12];
    functions(&x, &z, &h, &mut host);
    let mut out = on_device(&[0; 12]);
    functions::launch((1, 1), &on_device(&x), &on_device(&z), &on_device(&h), &mut out).unwrap();
    assert_eq!(on_host(&out), host);
}

#[kernel]
fn searched(x: &[u32], n: u32, out: &mut [u32]) {
    let mut pairs = [[1, n], [n, 3], [5, 7]];
    pairs.reverse();
    out[0] = x.contains(&n) as u32 + pairs.contains(&[n, 3]) as u32 * 2 + x[..0].contains(&1) as u32 * 4;
    out[1] = pairs[0][0] * 10 + pairs[2][0];
    out[2..].reverse();
    out[2] += 1;
}

#[test]
fn slices_are_searched_and_reversed() {
    for n in [3, 4, 9] {
        differ!(searched, (1, 1), [&[4, 9, 3][..], n], vec![0u32, 1, 2, 3, 4]);
    }
}

/// The last of equal items is the maximum, the first the minimum; an inclusive range has one more item.
#[kernel]
fn ends(x: &[u32], n: u32, out: &mut [u32]) {
    let least = x.iter().enumerate().min_by_key(|(_, v)| **v % 3);
    let most = x.iter().enumerate().max_by_key(|(_, v)| **v % 3);
    if let (Some((first, _)), Some((last, _))) = (least, most) {
        out[0] = first as u32;
        out[1] = last as u32;
    }
    for (k, v) in (1..=n).zip(x.iter()) {
        out[2] += k * 100 + v;
    }
    for (k, v) in (1..=n).rev().enumerate() {
        out[3] += k as u32 * v;
    }
    out[4] = (3..=n).zip(1..=u32::MAX).count() as u32;
}

#[test]
fn ties_and_included_ends_are_rusts() {
    differ!(ends, (1, 1), [&[4u32, 3, 5, 8, 6, 7, 11, 9][..], 5u32], vec![0u32; 5]);
}

#[kernel(checked)]
fn wrong(mode: u32, x: &[u8], n: usize, out: &mut [u8]) {
    match mode {
        0 => out[0] = x.iter().sum(),
        1 => out[0] = x.chunks(n).count() as u8,
        2 => out[0] = x.windows(n).count() as u8,
        3 => out[0] = x.iter().step_by(n).count() as u8,
        _ => out[0] = *x[1..1].iter().max().unwrap(),
    }
}

#[test]
fn panics_of_iterators() {
    if !super::in_child_process("language::iterators::panics_of_iterators") {
        return;
    }
    let x = on_device(&[100u8, 100, 100]);
    let says = [
        "addition overflows",
        "chunk size must be non-zero",
        "window size must be non-zero",
        "assertion failed: step != 0",
        "called `Option::unwrap()` on a `None` value",
    ];
    for (mode, message) in (0..).zip(says) {
        wrong::launch((1, 1), mode, &x, 0, &mut on_device(&[0])).unwrap();
        let error = context().synchronize().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[device]
fn above(x: &[f32], limit: f32) -> f32 {
    x.iter().filter(|v| **v > limit).count() as f32
}

#[kernel]
fn consumers_in_casts(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    out[i] = {
        if i == 1 {
            out[i] = 1.0;
        }
        x.iter().position(|v| *v < 0.0).map_or(0, |k| k) as f32 + above(x, i as f32)
    };
}

#[test]
fn a_consumer_begins_the_value_of_a_block() {
    differ!(consumers_in_casts, (1, 3), [&[1.5f32, -2.25, 77.0][..]], vec![0f32; 3]);
}

#[kernel]
fn rows_of_a_local_array(x: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    let mut a = [[x[i], 2], [3, 4], [5, x[0]]];
    for v in a.iter_mut().flatten() {
        *v = v.wrapping_add(1);
    }
    let mut sum = 0i32;
    for v in a.iter().flatten() {
        sum = sum.wrapping_mul(3).wrapping_add(*v);
    }
    let mut rest = a.iter().flatten();
    sum = sum.wrapping_add(*rest.next().unwrap()).wrapping_add(*rest.nth(1).unwrap()) + rest.count() as i32;
    let back = a.iter().flatten().rev().fold(0i32, |all, v| all.wrapping_mul(5).wrapping_add(*v));
    out[i] = sum.wrapping_add(back).wrapping_add(a.into_iter().flatten().fold(1, |all, v| all ^ v));
}

#[test]
fn rows_of_a_local_array_are_flattened() {
    differ!(rows_of_a_local_array, (1, 4), [&[7i32, -2, i32::MAX, i32::MIN][..]], vec![0i32; 4]);
}

#[kernel]
fn clones(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (k, a) = (x[i] as i64, [x[i] as i64, 4, 7]);
    let mapped = x.iter().map(|v| *v as i64 ^ k);
    let again = mapped.clone();
    out[i] = mapped.take(3).sum::<i64>() + 5 * again.skip(2).take(1).sum::<i64>();
    let mut rest = a.into_iter().peekable();
    rest.next();
    let mut copy = rest.clone();
    let chained = a.iter().chain(&a[1..]).filter(|v| **v > 3);
    let mut round = chained.clone().cycle();
    out[i] += *copy.peek().unwrap() + 3 * copy.sum::<i64>() + rest.sum::<i64>() + chained.count() as i64;
    out[i] += 7 * round.nth(5).copied().unwrap_or(9);
    let mut steps = (0..9i64).step_by(2).scan(k, |all, v| {
        *all += v;
        Some(*all)
    });
    steps.next();
    out[i] += steps.clone().last().unwrap() - 3 * steps.sum::<i64>();
}

#[test]
fn a_clone_of_an_iterator_is_independent() {
    differ!(clones, (1, 6), [&[7i32, -2, 5, 1 << 20, 0, 3][..]], vec![0i64; 6]);
}
