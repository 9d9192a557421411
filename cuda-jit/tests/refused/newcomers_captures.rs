//! Unsupported captures of a launch's closure: one error each.
use cuda_jit::{device_fn, kernel};

#[kernel]
fn map<F: Fn(f32) -> f32>(f: F, out: &mut [f32]) {
    out[0] = f(out[0]);
}

#[derive(Clone, Copy)]
struct Plain {
    a: f32,
}

fn vector(weights: Vec<f32>, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    map::launch((1, 32), device_fn!(|v: f32| v * weights[0]), &mut out)
}

fn structure(p: Plain, mut out: Vec<f32>) -> cuda_jit::Result<()> {
    map::launch((1, 32), device_fn!(|v: f32| v * p.a), &mut out)
}

fn main() {}
