//! Functions of the standard library's traits by path, of which kernels lack some.

use cuda_jit::kernel;

#[kernel]
fn qualified(out: &mut [f32]) {
    out[0] = <f32 as std::ops::Add>::add(out[1], 2.0);
    out[1] = <f32 as std::ops::Neg>::neg(out[0]);
}

#[kernel]
fn infallible(out: &mut [u64]) {
    out[0] = u64::try_from(1u32).unwrap();
}

mod own {
    pub trait Add {
        fn add(self, other: Self) -> Self;
    }
    impl Add for u32 {
        fn add(self, other: Self) -> Self {
            self - other
        }
    }
}

#[kernel]
fn own_operator(out: &mut [u32]) {
    out[0] = own::Add::add(out[1], out[2]);
}

fn main() {}
