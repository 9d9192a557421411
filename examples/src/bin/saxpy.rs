//! `y = a x + y` by a device function and a grid-stride loop, in a stream of its own, timed by events.
//!
//! `cargo xtask demo saxpy` runs it.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Options, plot};
use cuda_prelude::*;
use ndarray::{Array1, s};

/// A function that kernels call; rustc resolves it, for every element type.
#[device]
fn axpy<T: Num>(a: T, x: T, y: T) -> T {
    a * x + y
}

/// A grid-stride loop, so that any grid covers any length.
#[kernel]
fn saxpy<T: Num>(a: T, x: &[T], y: &mut [T]) {
    let mut i = grid::<1>();
    while i < y.len() {
        y[i] = axpy(a, x[i], y[i]);
        i += grid_size::<1>();
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let n: usize = options.pick(1 << 20, 10_000);
    // A triangle wave and a ramp, of whole numbers.
    let host_x = Array1::from_iter((0..n).map(|i| (i % 80).abs_diff(40) as f32));
    let host_y = Array1::from_iter((0..n).map(|i| (i / 4) as f32));
    let x = to_device(&host_x)?;
    let mut y = to_device(&host_y)?;

    let s = stream()?;
    let (start, end) = (event()?, event()?);
    saxpy::<f32>::compile()?;
    s.scope(|s| {
        start.record(s)?;
        saxpy::launch((64, 256, s), 2.0, &x, &mut y)?;
        end.record(s)
    })?;
    println!("{} elements on {} in {:.3} ms", n, current_device()?, event_elapsed_time(&start, &end)?);

    let sums = y.copy_to_host()?;
    let wrong = (0..n).filter(|&i| sums[i] != axpy(2.0, host_x[i], host_y[i])).count();
    println!("checked {n} elements, {wrong} wrong");
    ensure!(wrong == 0, "{wrong} elements are wrong");
    let [x, y, sums] = [&host_x, &host_y, &sums].map(|array| array.slice(s![..640]).to_vec());
    let lines: [(_, &[f32]); 3] = [([235, 150, 60], &x), ([90, 170, 110], &y), ([60, 100, 200], &sums)];
    plot(&options.file("saxpy.svg"), "x (orange), y (green), and 2 x + y (blue)", "element", &lines)
}

fn main() -> Result<()> {
    run(&Options::parse())
}
