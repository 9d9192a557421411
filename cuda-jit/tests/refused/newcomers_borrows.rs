//! Beginners' mistakes that rustc finds last: borrows and moves.
use cuda_jit::kernel;

#[kernel]
fn shared_slice(x: &[f32]) {
    x[0] += 1.0;
}

#[kernel]
fn immutable(out: &mut [f32]) {
    let sum = 0.0;
    sum += out[0];
    out[0] = sum;
}

#[kernel]
fn not_copied<T>(x: &[T], out: &mut [T]) {
    out[0] = x[0];
}

fn main() {}
