//! Variables spelled like types, where a pattern is refutable.
#![allow(non_snake_case)]

use cuda_jit::kernel;

#[kernel]
fn named_as_a_variant(x: u32, out: &mut [u32]) {
    match x {
        0 => out[0] = 1,
        Other => out[0] = 2,
    }
}

fn main() {
    let _ = named_as_a_variant::compile_ptx((9, 0));
}
