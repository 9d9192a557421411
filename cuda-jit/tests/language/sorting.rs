//! Slices and arrays that are sorted, reversed, destructured and visited, against the host.

use super::{context, differ, on_device, on_host};
use cuda_jit::{device, kernel};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

/// `sort_unstable` at each length: plain, by a comparison, by a key.
#[kernel]
fn sorted(x: &[i32], out: &mut [i32]) {
    out.copy_from_slice(x);
    out.sort_unstable();
    let mut local = [(0u8, 0i32); 24];
    for (k, pair) in local.iter_mut().enumerate() {
        *pair = ((x[k % x.len()] % 7) as u8, x[(k * 5) % x.len()]);
    }
    local[..20].sort_unstable();
    let mut floats = [0.0f32; 9];
    for (k, v) in floats.iter_mut().enumerate() {
        *v = x[k % x.len()] as f32 / 3.0 - 1.0;
    }
    floats[2] = f32::NAN;
    floats.sort_unstable_by(f32::total_cmp);
    let mut keyed = [0, 1, 2, 3, 4, 5, 6, 7];
    keyed.sort_unstable_by_key(|k| (*k as i32 * 5 % 8, 1u8));
    let (mut k, length) = (0, out.len());
    for (a, b) in local {
        out[k % length] = out[k % length].wrapping_mul(31).wrapping_add(b * 3 + a as i32);
        k += 1;
    }
    for (a, b) in keyed.iter().zip(&floats) {
        out[k % length] = out[k % length].wrapping_mul(31).wrapping_add(*a + (*b).to_bits() as i32);
        k += 1;
    }
}

#[test]
fn sorting() {
    let mut state = 3u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as i32 % 50 + 50
    };
    for length in [1, 2, 3, 4, 7, 16, 33, 100] {
        let x: Vec<i32> = (0..length).map(|_| next()).collect();
        differ!(sorted, (1, 1), [&x[..]], vec![0i32; length]);
    }
}

#[kernel]
fn only_sorted(x: &[i32], backwards: u32, out: &mut [i32]) {
    out.copy_from_slice(x);
    match backwards {
        0 => out.sort_unstable(),
        _ => out.sort_unstable_by(|a, b| b.cmp(a)),
    }
}

#[test]
fn any_order_is_sorted() {
    // all sequences of this length, with equal elements
    for code in 0..4u32.pow(5) {
        let x: Vec<i32> = (0..5).map(|place| (code / 4u32.pow(place) % 4) as i32).collect();
        let mut host = x.clone();
        only_sorted(&x, code % 2, &mut host);
        let (dx, mut device) = (on_device(&x), on_device(&x));
        only_sorted::launch((1, 1), &dx, code % 2, &mut device).unwrap();
        assert_eq!(on_host(&device), host);
    }
}

#[kernel]
fn taken(x: &[u32], n: usize, out: &mut [u32]) {
    if let Some((first, rest)) = x.split_first() {
        out[0] = first * 100 + rest.len() as u32 + rest.iter().sum::<u32>();
    }
    if let Some((last, rest)) = x.split_last() {
        out[1] = last * 100 + rest.len() as u32;
    }
    out[2] = x.starts_with(&x[..n.min(x.len())]) as u32
        + x.starts_with(&[4, 9]) as u32 * 2
        + x.ends_with(&[3]) as u32 * 4
        + x.ends_with(&[0, 0, 0, 0, 0, 0]) as u32 * 8
        + x.is_sorted() as u32 * 16
        + x[..0].is_sorted() as u32 * 32
        + x.starts_with(&[]) as u32 * 64;
    out[3] = x.partition_point(|v| *v > 3) as u32 * 10 + x[..0].partition_point(|_| true) as u32;
    let mut ring = [1u32, 2, 3, 4, 5, 6];
    ring.rotate_left(n);
    out[4] = ring.iter().fold(0, |all, v| all * 10 + v);
    ring[1..].rotate_right(n);
    out[5] = ring.iter().fold(0, |all, v| all * 10 + v);
    if let Some((last, rest)) = ring.split_last_mut() {
        *last += 5;
        rest[0] = 7;
    }
    if let Some((first, _)) = ring.split_first_mut() {
        *first += 1;
    }
    let mut next = 0;
    ring[2..4].fill_with(|| {
        next += 3;
        next
    });
    out[6] = ring.iter().fold(0, |all, v| all * 10 + v);
    let squares = ring.map(|v| (v * v) as f32 + 0.5);
    out[7] = squares.iter().sum::<f32>() as u32 + ring.map(u32::count_ones)[1];
    out[8..].rotate_left(1);
}

#[test]
fn slices_are_destructured_and_reversed() {
    for n in 0..5 {
        for x in [&[4, 9, 3][..], &[3], &[9, 8, 7, 3, 2], &[1, 2, 2, 5]] {
            differ!(taken, (1, 1), [x, n], vec![0u32, 0, 0, 0, 0, 0, 0, 0, 11, 12, 13]);
        }
    }
}

#[device]
fn larger(a: i32, b: &i32) -> i32 {
    if *b > a { *b } else { a }
}

#[kernel]
fn visited(x: ArrayView2<'_, i32>, n: i32, mut a: ArrayViewMut2<'_, i32>) {
    let most = x.fold(0, larger);
    let weighed = x.slice(s![.., 1..]).fold((0, 1i64), |(sum, product), v| (sum + v * n, product * 3 + *v as i64));
    a.mapv_inplace(|v| v * 2 + n);
    a.row_mut(0).map_inplace(|v| *v += most);
    a.zip_mut_with(&x, |a, b| *a -= b);
    a.slice_mut(s![1.., ..]).zip_mut_with(&x.row(2), |a, b| *a += *b * 100);
    let mut sum = 0;
    x.column(1).for_each(|v| sum += *v);
    a[[1, 1]] = sum + weighed.0;
    a[[2, 2]] = weighed.1 as i32;
}

#[test]
fn views_are_visited() {
    let x = Array2::from_shape_fn((3, 4), |(i, j)| (i * 7 + j * 5) as i32 % 11);
    let mut host = Array2::from_shape_fn((3, 4), |(i, j)| (i + j) as i32);
    let (dx, mut device) =
        (cuda_mem::to_device(&context(), &x).unwrap(), cuda_mem::to_device(&context(), &host).unwrap());
    visited::launch((1, 1), &dx, 3, &mut device).unwrap();
    visited(x.view(), 3, host.view_mut());
    assert_eq!(device.copy_to_host().unwrap(), host);
}

#[kernel]
fn wrong(mode: u32, x: &mut [u32]) {
    match mode {
        0 => x.rotate_left(4),
        _ => x[1..].rotate_right(3),
    }
}

#[test]
fn panics_of_rotation() {
    if !super::in_child_process("language::sorting::panics_of_rotation") {
        return;
    }
    let says = ["a slice of length 3 cannot be rotated by 4", "a slice of length 2 cannot be rotated by 3"];
    for (mode, message) in (0..).zip(says) {
        wrong::launch((1, 1), mode, &mut on_device(&[1, 2, 3])).unwrap();
        let error = context().synchronize().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
