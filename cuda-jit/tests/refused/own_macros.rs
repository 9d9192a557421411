//! User macros with the names of macros that kernels know.

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

    macro_rules! prints {
        ($($text:tt)*) => {
            ()
        };
    }
    pub(crate) use prints as printf;
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
fn prints_by_path(out: &mut [f32]) {
    other::printf!("{}\n", out[0]);
    out[0] = 1.0;
}

#[kernel]
fn imported(out: &mut [f32]) {
    unreachable!();
    out[0] = 1.0;
}

fn main() {}
