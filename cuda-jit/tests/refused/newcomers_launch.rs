//! Beginners' mistakes at launches.
use cuda_jit::{device_fn, kernel};
use cuda_mem::DeviceArray;
use ndarray::{Array2, ArrayView2, Ix1};

#[kernel]
fn add(x: &[f32], n: u32, out: &mut [f32]) {
    out[0] = x[0] + n as f32;
}

#[kernel]
fn rows(x: ArrayView2<f32>, out: &mut [f32]) {
    out[0] = x[[0, 0]];
}

#[kernel]
fn map<F: Fn(f32) -> f32>(f: F, out: &mut [f32]) {
    out[0] = f(out[0]);
}

fn by_value(x: Vec<f32>, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    add::launch((1, 32), x, 3, &mut out)
}

fn other_numbers(x: Vec<f64>, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    add::launch((1, 32), &x, 3, &mut out)
}

fn not_mutable(x: Vec<f32>, out: Vec<f32>) -> cuda_jit::Result<()> {
    add::launch((1, 32), &x, 3, &out)
}

fn too_few(x: Vec<f32>) -> cuda_jit::Result<()> {
    add::launch((1, 32), &x, 3)
}

fn too_many(x: Vec<f32>, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    add::launch((1, 32), &x, 3, &mut out, 4)
}

fn wide_number(x: Vec<f32>, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    add::launch((1, 32), &x, x.len(), &mut out)
}

fn host_view(x: Array2<f32>, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    rows::launch((1, 32), &x, &mut out)
}

fn fewer_dimensions(x: DeviceArray<f32, Ix1>, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    rows::launch((1, 32), &x, &mut out)
}

fn fractional_grid(x: Vec<f32>, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    add::launch((1.5, 32), &x, 3, &mut out)
}

fn bare_closure(k: f32, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    map::launch((1, 32), |v: f32| v * k, &mut out)
}

fn pair_of_counts(x: Vec<f32>, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    add::forall((1, 32), &x, 3, &mut out)
}

fn untyped_closure(mut out: Vec<f32>) -> cuda_jit::Result<()> {
    map::launch((1, 32), device_fn!(|v| v * 2.0), &mut out)
}

fn indexed(mut x: DeviceArray<f32, Ix1>) -> f32 {
    x[0] = 1.0;
    x[1]
}

fn main() {
    let (x, mut out) = (vec![1.0], vec![0.0]);
    add::launch((1, 32), &x, 3, &mut out);
}
