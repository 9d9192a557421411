//! `#[cfg]` inside of functions, of which the macros see both sides and rustc one.

use cuda_jit::{device_fn, kernel};

#[kernel]
fn statement(out: &mut [u32]) {
    let mut i = 0;
    #[cfg(any())]
    {
        i = 5;
    }
    out[0] = i;
}

#[kernel]
fn arm(out: &mut [u32]) {
    out[0] = match out[1] {
        #[cfg(any())]
        0 => 3,
        _ => 4,
    };
}

#[kernel]
fn parameter(out: &mut [u32], #[cfg(any())] other: u32) {
    out[0] = 1;
}

#[kernel]
fn raw(out: &mut [u32]) {
    #[r#cfg_attr(any(), cfg(all()))]
    let x = 1;
    out[0] = x;
}

#[cuda_jit::device]
fn function() -> u32 {
    #[cfg(debug_assertions)]
    return 1;
    2
}

fn main() {
    let _ = device_fn!(|x: u32| {
        #[cfg(any())]
        let x = 1;
        x
    });
}
