//! Names in macro-built kernels that rustc and the captured syntax would resolve differently.

use cuda_jit::{device, device_fn, kernel};

#[device]
fn scale(v: u32) -> u32 {
    v * 10
}

macro_rules! with_closure {
    ($name:ident, $out:ident, $value:expr) => {
        #[kernel]
        fn $name($out: &mut [u32]) {
            let scale = |v: u32| v + 1;
            $out[0] = scale(1) + $value;
        }
    };
}

with_closure!(an_item, out, scale(2));

mod names {
    #[allow(non_upper_case_globals)]
    pub static n: u32 = 3;
}

#[kernel]
fn imported(out: &mut [u32]) {
    let n = 1;
    {
        use names::*;
        out[0] = n;
    }
}

#[kernel]
fn reserved(out: &mut [u32]) {
    let __cuda_jit_w0 = 1;
    out[0] = __cuda_jit_w0;
}

macro_rules! closure_and_value {
    ($name:ident, $f:ident, $out:ident) => {
        #[kernel]
        fn $name($out: &mut [u32]) {
            let $f = |v: u32| v + 1;
            let f = 7;
            $out[0] = f + $f(1);
        }
    };
}

closure_and_value!(kinds, f, out);

macro_rules! of_the_host {
    ($value:expr) => {
        device_fn!(|v: u32| {
            let t = v + 1;
            $value + t
        })
    };
}

fn main() {
    let t = 3;
    let _ = of_the_host!(t);
}
