//! Launches a kernel of the bundle `kernels.bundle` and checks its result. `cargo xtask check bundles` builds it with the compiler to
//! record that file, and without the compiler to launch from it.
//!
//! With the argument `kernel` it prints the milliseconds for finding and loading the kernel, with `ptx` its code.
#![forbid(unsafe_code)]

use std::time::Instant;

use cuda_prelude::*;
use ndarray::Array1;

const BIAS: f32 = 0.5;

/// The summands of one element.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    first: f32,
    second: f32,
}

#[device]
fn sum(pair: Pair) -> f32 {
    pair.first + pair.second + BIAS // a comment
}

#[kernel]
fn add_arrays(x: &[f32], y: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = sum(Pair { first: x[i], second: y[i] });
    }
}

fn main() -> Result<()> {
    embed_kernels!("kernels.bundle")?;
    let context = current_context()?;
    match std::env::args().nth(1).as_deref() {
        Some("kernel") => {
            let start = Instant::now();
            add_arrays::compile()?;
            println!("{}", start.elapsed().as_secs_f64() * 1000.0);
        }
        Some("ptx") => print!("{}", add_arrays::compile_ptx(context.device().compute_capability()?)?),
        _ => {
            let x = Array1::from_iter((0..100_000).map(|i| i as f32));
            let mut out = device_array_like(&to_device(&x)?)?;
            add_arrays::launch((out.len().div_ceil(128), 128), &to_device(&x)?, &to_device(&x)?, &mut out)?;
            let wrong = out.copy_to_host()?.iter().zip(&x).filter(|(sum, x)| **sum != **x + **x + BIAS).count();
            println!("{} sums, {wrong} wrong", x.len());
        }
    }
    Ok(())
}
