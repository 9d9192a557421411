//! Macros of one's own that are called like those that kernels know.

use cuda_jit::kernel;

macro_rules! assert {
    ($condition:expr) => {
        if !$condition {
            return;
        }
    };
}

mod other {
    macro_rules! panics {
        () => {
            ()
        };
    }
    pub(crate) use panics as panic;
    pub(crate) use panics as unreachable;
}

use other::unreachable;

#[kernel]
fn textual(out: &mut [f32]) {
    assert!(out.len() > 1);
    out[0] = 1.0;
}

#[kernel]
fn by_path(out: &mut [f32]) {
    other::panic!();
    out[0] = 1.0;
}

#[kernel]
fn imported(out: &mut [f32]) {
    unreachable!();
    out[0] = 1.0;
}

fn main() {}
