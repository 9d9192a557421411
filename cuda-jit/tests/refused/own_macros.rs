//! Macros of the user's that are called like those that kernels know.

use cuda_jit::kernel;

macro_rules! assert {
    ($condition:expr) => {
        let _ = $condition;
    };
}

#[kernel]
fn textual(out: &mut [u32]) {
    assert!(out[0] == 1);
}

mod imported {
    macro_rules! never {
        () => {
            return
        };
    }
    pub(crate) use never as unreachable;
}

mod uses {
    use crate::imported::unreachable;
    use cuda_jit::kernel;

    #[kernel]
    fn by_import(out: &mut [u32]) {
        if out[0] == 1 {
            unreachable!();
        }
    }

    #[kernel]
    fn by_path(out: &mut [u32]) {
        if out[0] == 1 {
            crate::imported::unreachable!();
        }
    }
}

fn main() {}
