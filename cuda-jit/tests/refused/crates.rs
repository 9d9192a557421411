//! A device function with the name of a crate: by name alone it is ambiguous to the query whether it is one.

use cuda_jit::{device, kernel};

#[device]
fn ndarray(v: f32) -> f32 {
    v * 2.0
}

#[kernel]
fn called(out: &mut [f32]) {
    out[0] = ndarray(1.0);
}

fn main() {}
