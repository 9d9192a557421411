//! The kernels that are measured.

use cuda_jit::Num;
use cuda_jit::device::grid;

/// The vector add of the README.
#[cuda_jit::kernel]
pub(crate) fn vector_add<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] + y[i];
    }
}

/// What a launch costs that does nothing.
#[cuda_jit::kernel]
pub(crate) fn empty() {}

/// Five arguments: three buffers and two numbers.
#[cuda_jit::kernel]
pub(crate) fn blend(x: &[f32], y: &[f32], out: &mut [f32], a: f32, b: f32) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = a * x[i] + b * y[i];
    }
}
