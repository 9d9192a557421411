//! Two names with the same spelling, a macro's and its caller's, that the alternatives of a pattern bind.

use cuda_jit::kernel;

macro_rules! alternatives {
    ($name:ident, $f:ident, $out:ident) => {
        #[kernel]
        fn $name($out: &mut [u32]) {
            match ($out[0], $out[1]) {
                (0, 1) => {}
                (f @ 0, $f) | ($f, f) => $out[0] = f + 10 * $f,
            }
        }
    };
}

alternatives!(swapped, f, out);

fn main() {}
