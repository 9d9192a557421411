//! Adds two arrays of a million numbers, with a kernel that is compiled at its first launch, on the GPU or on the software device.
//!
//! `cargo xtask demo` runs it. The program of the README is the body of `main` without the clock and the check.

use std::time::Instant;

use cuda_prelude::*;
use ndarray::{Array1, s};

#[kernel]
fn add_arrays<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] + y[i];
    }
}

fn main() -> Result<()> {
    println!("device         {}", timed("open", current_device)?);
    let host_x = Array1::from_iter((0..1_000_000).map(|i| i as f32));
    let host_y = &host_x * 2.0;

    let (x, y, mut out) = timed("copy in", || {
        let x = to_device(&host_x)?;
        let y = to_device(&host_y)?;
        let out = device_array_like(&x)?;
        Ok((x, y, out))
    })?;
    let threads = 128;
    let blocks = out.len().div_ceil(threads);
    timed("compile", add_arrays::<f32>::compile)?;
    for launch in ["first launch", "second launch"] {
        timed(launch, || {
            add_arrays::launch((blocks, threads), &x, &y, &mut out)?;
            synchronize()
        })?;
    }
    let host_out = timed("copy out", || Ok(out.copy_to_host()?))?;

    println!("first ten      {}", host_out.slice(s![..10]));
    // Whole numbers below 2^24, and their sums, are exact in `f32`.
    let wrong = (0..1_000_000).filter(|&i| host_out[i] != 3.0 * i as f32).count();
    println!("checked        {} sums, {wrong} wrong", host_out.len());
    if wrong > 0 {
        std::process::exit(1);
    }
    Ok(())
}

/// Runs `work` and prints the time that it took.
fn timed<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let done = work()?;
    println!("{what:<14} {:8.3} ms", start.elapsed().as_secs_f64() * 1e3);
    Ok(done)
}
