//! Closure parameters that a kernel cannot have.

use cuda_jit::kernel;

#[kernel]
fn by_reference<F: Fn(f32) -> f32>(f: &F, out: &mut [f32]) {
    out[0] = f(out[0]);
}

fn main() {}
