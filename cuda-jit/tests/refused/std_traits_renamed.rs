//! A standard library's trait under another name: the macro knows these traits by their names, and rustc checks that a trait of
//! such a name is the standard library's.

use std::cmp::Ord as Ordered;

use cuda_jit::kernel;

#[kernel]
fn renamed(x: &[u32], out: &mut [u32]) {
    out[0] = Ordered::max(x[0], x[1]);
}

fn main() {}
