//! User macros with the names of macros that kernels know, imported in a body.

use cuda_jit::kernel;

mod own {
    macro_rules! asserted {
        ($condition:expr) => {
            if !$condition {
                return;
            }
        };
    }
    macro_rules! matched {
        ($value:expr, $pattern:pat) => {
            true
        };
    }
    pub(crate) use asserted as assert;
    pub(crate) use matched as matches;
}

#[kernel]
fn in_the_body(out: &mut [f32]) {
    use own::assert;
    assert!(out.len() > 1);
    out[0] = 1.0;
}

#[kernel]
fn in_a_block(out: &mut [f32]) {
    if out.len() > 1 {
        use own::matches;
        out[0] = f32::from(u8::from(matches!(out.len(), 5)));
    }
}

fn main() {}
