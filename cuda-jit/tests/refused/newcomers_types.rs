//! Beginners' mistakes with the types of positions, numbers and arrays: one error each.
use cuda_jit::device::{atomic_add, grid, shared, shfl_down_sync};
use cuda_jit::{Num, kernel};
use ndarray::ArrayView2;

#[kernel]
fn positions(out: &mut [f32]) {
    let i: i32 = grid::<1>();
    let (x, y) = grid::<1>();
    out[y] = 1.0;
}

#[kernel]
fn numbers(x: &[f32], n: u32, out: &mut [f32]) {
    out[0] = x[0] + 1;
    out[1] = x[1] ^ 2;
    out[2] = x[2].pow(2.0);
    out[3] = n * 2.0;
    if x[3] {
        out[3] = 1.0;
    }
}

#[kernel]
fn generic_root<T: Num>(x: &mut [T]) {
    x[0] = x[0].sqrt();
    x[1] = 2.0 * x[1];
}

#[kernel]
fn lengths(x: &[f32], out: &mut [f32]) {
    out[x.len - 1] = x[-1];
    out[0] = x.sum();
}

#[kernel]
fn elements(x: &[f32], out: &mut [f32]) {
    for v in out {
        v *= 2.0;
    }
    for (i, v) in x.enumerate() {
        out[i] = *v;
    }
    let first: &mut f32 = out[0];
}

#[kernel]
fn nested_index(a: ArrayView2<f32>, out: &mut [f32]) {
    out[0] = a[0][1];
}

#[kernel]
fn atomics(x: &[u32], out: &mut [u32]) {
    atomic_add(out[0], 1);
    atomic_add(&mut x[0], 1);
}

#[kernel]
fn results(x: &[f32], out: &mut [f32]) {
    let tile = shared!([f32; 32]);
    tile = [0.0; 32];
    out[0] = shfl_down_sync(x[0], 16);
    return x[0];
}

fn main() {}
