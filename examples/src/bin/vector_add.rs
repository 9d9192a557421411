//! Adds two arrays of a million numbers, with a kernel that is compiled at its first launch, on the GPU or on the software device.
//!
//! `cargo xtask demo` runs it. The README has its kernel and its launch without the clock and the check.

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Options, plot};
use cuda_prelude::*;
use ndarray::{Array1, s};

#[kernel]
fn add_arrays<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] + y[i];
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    println!("device         {}", timed("open", || Ok(current_device()?))?);
    let n = options.pick(1_000_000, 10_000);
    // Triangle waves of two periods. Whole numbers below 2^24, and their sums, are exact in `f32`.
    let host_x = Array1::from_iter((0..n).map(|i: usize| (i % 64).abs_diff(32) as f32));
    let host_y = Array1::from_iter((0..n).map(|i: usize| (i % 80).abs_diff(40) as f32));

    let (x, y, mut out) = timed("copy in", || {
        let x = to_device(&host_x)?;
        let y = to_device(&host_y)?;
        let out = device_array_like(&x)?;
        Ok((x, y, out))
    })?;
    let threads = 128;
    let blocks = out.len().div_ceil(threads);
    timed("compile", || Ok(add_arrays::<f32>::compile()?))?;
    for launch in ["first launch", "second launch"] {
        timed(launch, || {
            add_arrays::launch((blocks, threads), &x, &y, &mut out)?;
            Ok(synchronize()?)
        })?;
    }
    let host_out = timed("copy out", || Ok(out.copy_to_host()?))?;

    println!("first ten      {}", host_out.slice(s![..10]));
    let wrong = (0..n).filter(|&i| host_out[i] != host_x[i] + host_y[i]).count();
    println!("checked        {n} sums, {wrong} wrong");
    ensure!(wrong == 0, "{wrong} sums are wrong");
    let [x, y, out] = [&host_x, &host_y, &host_out].map(|array| array.slice(s![..640]).to_vec());
    let lines: [(_, &[f32]); 3] = [([235, 150, 60], &x), ([90, 170, 110], &y), ([60, 100, 200], &out)];
    plot(&options.file("vector_add.svg"), "x (orange), y (green), and their sum (blue)", "element", &lines)
}

/// Runs `work` and prints the time that it took.
fn timed<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let done = work()?;
    println!("{what:<14} {:8.3} ms", start.elapsed().as_secs_f64() * 1e3);
    Ok(done)
}

fn main() -> Result<()> {
    run(&Options::parse())
}
