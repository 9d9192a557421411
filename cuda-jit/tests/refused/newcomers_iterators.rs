//! Loops, iterators and generic functions as somebody writes them who knows Rust and Numba: each mistake gives one error.

use cuda_jit::{device, kernel};

#[kernel]
fn break_value(x: &[f32], out: &mut [usize]) {
    let found = for i in 0..x.len() {
        if x[i] > 1.0 {
            break i;
        }
    };
    out[0] = 1;
}

#[kernel]
fn collected(x: &[f32], out: &mut [f32]) {
    let v = x.iter().map(|v| v * 2.0).collect::<Vec<f32>>();
    out[0] = v[0];
}

#[kernel]
fn too_few(x: &[f32], out: &mut [f32]) {
    out[0] = f32::max(x[0]);
}

#[kernel]
fn float_order(x: &[f32], out: &mut [f32]) {
    out[0] = std::cmp::max(x[0], 1.0);
}

#[device]
fn squared<T>(x: T) -> T {
    x * x
}

#[kernel]
fn without_bound(x: &[f32], out: &mut [f32]) {
    out[0] = squared(x[0]);
}

struct Point {
    x: f32,
    y: f32,
}

#[kernel]
fn without_derive(x: &[f32], out: &mut [f32]) {
    let point = Point { x: x[0], y: x[1] };
    out[0] = point.x + point.y;
}

fn main() {}
