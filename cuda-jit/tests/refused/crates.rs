//! Device functions with the names of a crate and of a function of the prelude: by name alone they are ambiguous to the query
//! whether it is one.

use cuda_jit::{device, kernel};

#[device]
fn ndarray(v: f32) -> f32 {
    v * 2.0
}

#[device]
fn drop(v: f32) -> f32 {
    v * 3.0
}

#[kernel]
fn called(out: &mut [f32]) {
    out[0] = ndarray(1.0);
}

#[kernel]
fn called_as_in_the_prelude(out: &mut [f32]) {
    out[0] = drop(1.0) + self::drop(2.0);
}

fn main() {}
