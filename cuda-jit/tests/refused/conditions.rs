//! Attributes in bodies: `#[cfg]` where the macro is expanded before rustc evaluates it, and unsupported attributes.

use cuda_jit::{device_fn, kernel};

#[kernel]
fn attributes(out: &mut [u32]) {
    #[allow(unused_variables)]
    #[rustfmt::skip]
    let one = 1;
    #[track_caller]
    let two = 2;
    #[automatically_derived]
    {
        out[0] = one + two;
    }
}

#[kernel]
fn conditional_error(out: &mut [u32]) {
    #[cfg(any())]
    let x = 1.5;
    #[cfg(all())]
    let x = 1.25;
    out[0] = x;
}

#[kernel]
fn conditional_refusal(out: &mut [u32]) {
    #[cfg(all())]
    {
        out[0] = "text";
    }
}

fn main() {
    let _ = device_fn!(|x: u32| {
        #[cfg(any())]
        let x = 1;
        x
    });
    let _ = device_fn!(|#[r#cfg_attr(any(), cfg(any()))] x: u32| x);
}
