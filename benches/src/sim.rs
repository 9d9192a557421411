//! The software device beside the same loop in plain Rust, in the same run.
//!
//! - `sim.vector_add.total_ms`: a launch of the million-element add, waited for;
//! - `sim.vector_add.ns_per_thread`: the same divided by the elements;
//! - `sim.vector_add.rust_ms`: `out = x + y` over three vectors, on one core;
//! - `sim.vector_add.vs_rust`: the first divided by the third;
//! - `sim.empty_launch.us`: a launch of one block that does nothing, waited for.
//!
//! Runs of both alternate, so that what else the machine does meets both.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};
use cuda_driver::{Context, Driver};

use crate::figures::{median, print_measured, time};
use crate::kernels::{empty, vector_add};

const N: usize = 1_000_000;
const THREADS: usize = 128;
const RUNS: usize = 101;

pub(crate) fn run() -> Result<()> {
    let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    let (device, rust) = alternate(&context)?;
    print_measured("sim.vector_add.total_ms", device * 1e3, "ms");
    print_measured("sim.vector_add.ns_per_thread", device * 1e9 / N as f64, "ns");
    print_measured("sim.vector_add.rust_ms", rust * 1e3, "ms");
    print_measured("sim.vector_add.vs_rust", device / rust, "ratio");
    let _selected = context.select();
    let launch = time(100, 1001, || {
        empty::launch((1, 1)).and_then(|()| Ok(context.synchronize()?)).expect("it launched before");
    });
    print_measured("sim.empty_launch.us", launch * 1e6, "us");
    Ok(())
}

/// The median seconds of the add on the device and in plain Rust.
fn alternate(context: &Context) -> Result<(f64, f64)> {
    let x: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let y: Vec<f32> = x.iter().map(|v| 2.0 * v).collect();
    // Written once, so that no run meets memory that the system has yet to give.
    let mut out = vec![-1.0_f32; N];
    let (device_x, device_y) = (cuda_mem::from_slice(context, &x)?, cuda_mem::from_slice(context, &y)?);
    let mut device_out = cuda_mem::from_slice(context, &out)?;
    let (mut device, mut rust) = (Vec::new(), Vec::new());
    for run in 0..RUNS + 10 {
        let start = Instant::now();
        vector_add::launch((N.div_ceil(THREADS), THREADS), &device_x, &device_y, &mut device_out)?;
        context.synchronize()?;
        let between = Instant::now();
        add(black_box(&x), black_box(&y), black_box(&mut out));
        black_box(&mut out);
        let end = Instant::now();
        if run >= 10 {
            device.push((between - start).as_secs_f64());
            rust.push((end - between).as_secs_f64());
        }
    }
    ensure!(device_out.copy_to_host()?.to_vec() == out, "the device and the host do not agree");
    Ok((median(device), median(rust)))
}

/// The loop as Rust has it fastest: without checks, so that it is vectorised.
#[inline(never)]
fn add(x: &[f32], y: &[f32], out: &mut [f32]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out = x + y;
    }
}
