//! Items in kernels' bodies.

use cuda_jit::kernel;

mod far {
    #[allow(non_upper_case_globals)]
    pub const n: u32 = 5;
}

// a glob import's constant that shadows a binding
#[kernel]
fn hidden(x: &[u32], out: &mut [u32]) {
    let n = x[0];
    {
        use far::*;
        out[0] = n;
    }
}

#[kernel]
fn modules(out: &mut [u32]) {
    mod inner {
        pub const K: u32 = 1;
    }
    out[0] = inner::K;
}

fn main() {}
