//! Reductions of views and slices: ndarray's own, and a Rust equivalent of each of NumPy's.

use super::{context, differ, on_device, on_host};
use cuda_jit::kernel;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, s};

#[kernel]
fn of_floats(x: ArrayView2<'_, f64>, line: ArrayView1<'_, f64>, out: &mut [f64]) {
    out[0] = x.sum();
    out[1] = x.product();
    out[2] = x.mean().unwrap_or(-1.0);
    out[3] = x.var(0.0);
    out[4] = x.std(1.0);
    out[5] = line.dot(&x.row(0)) + x.column(1).dot(&x.column(0));
    out[6] = x.slice(s![..;-1, 1..;2]).sum();
    out[7] = x.slice(s![0..0, ..]).mean().is_none() as i32 as f64 + x.slice(s![0..0, ..]).sum();
    out[8] = x.slice(s![0..0, ..]).product() + x.t().mean().unwrap();
    out[9] = line.var(1.0) + line.mean().unwrap();
}

#[test]
fn floats_of_views() {
    // integers, whose sums are exact in every order
    let x = Array2::from_shape_fn((3, 4), |(i, j)| ((i * 7 + j * 5) % 9) as f64 - 2.0);
    let line = Array1::from_iter([1.5, -2.0, 0.25, 3.0]);
    let (dx, dl) = (cuda_mem::to_device(&context(), &x).unwrap(), cuda_mem::to_device(&context(), &line).unwrap());
    let (mut device, mut host) = (on_device(&[0.0; 10]), vec![0.0; 10]);
    of_floats::launch((1, 1), &dx, &dl, &mut device).unwrap();
    of_floats(x.view(), line.view(), &mut host);
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&on_host(&device)), bits(&host), "{host:?}");
}

#[kernel]
fn of_integers(x: ArrayView2<'_, i32>, small: ArrayView1<'_, u8>, out: &mut [i32]) {
    out[0] = x.sum();
    out[1] = x.slice(s![..2, 1..3]).product();
    out[2] = x.mean().unwrap();
    out[3] = x.row(1).dot(&x.row(0));
    out[4] = small.mean().unwrap() as i32 + small.sum() as i32 * 1000;
}

#[test]
fn integers_of_views() {
    let x = Array2::from_shape_fn((3, 4), |(i, j)| (i * 7 + j * 5) as i32 - 9);
    let small = Array1::from_iter([3u8, 9, 7]);
    let (dx, ds) = (cuda_mem::to_device(&context(), &x).unwrap(), cuda_mem::to_device(&context(), &small).unwrap());
    let (mut device, mut host) = (on_device(&[0; 5]), vec![0; 5]);
    of_integers::launch((1, 1), &dx, &ds, &mut device).unwrap();
    of_integers(x.view(), small.view(), &mut host);
    assert_eq!(on_host(&device), host);
}

#[kernel]
fn wrong(mode: u32, x: ArrayView1<'_, f32>, small: ArrayView1<'_, i8>, out: &mut [f32]) {
    match mode {
        0 => out[0] = x.var(-1.0),
        1 => out[0] = x.std(3.5),
        2 => out[0] = small.mean().unwrap() as f32,
        _ => out[0] = small.slice(s![..0]).mean().unwrap() as f32,
    }
}

#[test]
fn panics_of_statistics() {
    if !super::in_child_process("language::statistics::panics_of_statistics") {
        return;
    }
    let x = on_device(&[1.0, 2.0, 4.0f32]);
    let small = on_device(&[0i8; 200]);
    let says = [
        "`ddof` is negative, or more than the 3 elements of the view",
        "`ddof` is negative, or more than the 3 elements of the view",
        "a view of 200 elements has no mean: its numbers do not reach 200",
        "called `Option::unwrap()` on a `None` value",
    ];
    for (mode, message) in (0..).zip(says) {
        wrong::launch((1, 1), mode, &x, &small, &mut on_device(&[0.0])).unwrap();
        let error = context().synchronize().unwrap_err().to_string();
        assert!(error.contains(message), "{mode}: {error}");
    }
}

/// Each of the functions that Numba has in kernels, in the order of the book's table.
#[kernel]
fn of_numpy(x: &[f32], out: &mut [f32]) {
    let a = ArrayView1::from(x);
    out[0] = a.sum();
    out[1] = a.product();
    out[2] = a.mean().unwrap();
    out[3] = a.var(0.0);
    out[4] = a.std(0.0);
    out[5] = x.iter().copied().min_by(f32::total_cmp).unwrap();
    out[6] = x.iter().copied().max_by(f32::total_cmp).unwrap();
    out[7] = x.iter().all(|v| *v != 0.0) as i32 as f32;
    out[8] = x.iter().any(|v| *v != 0.0) as i32 as f32;
    out[9] = x.iter().filter(|v| **v != 0.0).count() as f32;
    out[10] = x.iter().copied().fold(f32::INFINITY, f32::min);
    out[11] = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    out[12] = x.iter().filter(|v| !v.is_nan()).sum();
    out[13] = x.iter().filter(|v| !v.is_nan()).product();
    let count = x.iter().filter(|v| !v.is_nan()).count();
    out[14] = out[12] / count as f32;
    let (mut mean, mut squares, mut seen) = (0.0, 0.0, 0.0);
    for v in x.iter().filter(|v| !v.is_nan()) {
        seen += 1.0;
        let delta = v - mean;
        mean += delta / seen;
        squares += delta * (v - mean);
    }
    out[15] = (squares / seen).sqrt();
    out[16] = x.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 as f32;
    out[17] = x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 as f32;
}

#[test]
fn each_of_numpys_reductions_has_a_form() {
    let told = differ!(of_numpy, (1, 1), [&[2.0, 0.0, 5.0, 1.0][..]], vec![0f32; 18]);
    let std = 3.5f32.sqrt();
    let known = [8.0, 0.0, 2.0, 3.5, std, 0.0, 5.0, 0.0, 1.0, 3.0, 0.0, 5.0, 8.0, 0.0, 2.0, std, 1.0, 2.0];
    assert_eq!(told, known);
    let told = differ!(of_numpy, (1, 1), [&[2.0, f32::NAN, 5.0][..]], vec![0f32; 18]);
    assert_eq!(told[10..16], [2.0, 5.0, 7.0, 10.0, 3.5, 1.5]);
    assert!(told[..5].iter().all(|v| v.is_nan()) && told[6].is_nan());
}
