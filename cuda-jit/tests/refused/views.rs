//! Unsupported operations on views.
#![allow(unused_imports, unused_variables)]
use ndarray::{ArrayView1, ArrayView2, Axis, s, s as section};

#[cuda_jit::kernel]
fn a_range_elsewhere(x: ArrayView2<f32>, out: &mut [f32]) {
    let rows = 1..3;
    out[0] = x.slice(s![rows, 0]).sum();
}

#[cuda_jit::kernel]
fn no_dimension(x: ArrayView1<f32>) {
    let element = x.index_axis(Axis(0), 2);
}

#[cuda_jit::kernel]
fn matrices(x: ArrayView2<f32>, y: ArrayView2<f32>, out: &mut [f32]) {
    out[0] = x.dot(&y)[[0, 0]];
}

#[cuda_jit::kernel]
fn mapped(x: ArrayView1<f32>, out: &mut [f32]) {
    let all = x.mapv(|v| v * 2.0);
    out[0] = all.sum();
}

#[cuda_jit::kernel]
fn not_mutable(x: ArrayView2<f32>) {
    x.row_mut(0).fill(1.0);
}

mod own {
    macro_rules! sliced {
        ($($cut:tt)*) => {
            ndarray::s![$($cut)*]
        };
    }
    pub(crate) use sliced as s;
}

#[cuda_jit::kernel]
fn own_macro(x: ArrayView2<f32>, out: &mut [f32]) {
    out[0] = x.slice(own::s![.., 0]).sum();
}

#[cuda_jit::kernel]
fn renamed_macro(x: ArrayView2<f32>, out: &mut [f32]) {
    out[0] = x.slice(section![.., 0])[1];
}

fn main() {}
