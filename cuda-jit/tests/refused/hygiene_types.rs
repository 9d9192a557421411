//! An import of a type alone that is spelled like a variable.

use cuda_jit::kernel;

mod types {
    #[allow(non_camel_case_types)]
    pub type n = u32;
}

#[kernel]
fn imported(out: &mut [u32]) {
    let n = 1;
    {
        use types::n;
        let x: n = 2;
        out[0] = n + x;
    }
}

fn main() {
    let _ = imported::compile_ptx((9, 0));
}
