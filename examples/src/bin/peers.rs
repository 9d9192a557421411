//! The wave equation on two devices: each has half of the domain, and peer copies exchange the halo rows after each step.
//!
//! `CUDA_DRIVER_PATH=sim CUDA_SIM_DEVICES=2 cargo run --release -p cuda-examples --bin peers` runs it without two GPUs.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Options, palette, save};
use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Ix2, concatenate, s};

/// One step of the wave equation. `before` holds the step before `now`, and then the one after; the boundary stays at rest.
#[kernel]
fn wave(now: ArrayView2<'_, f32>, mut before: ArrayViewMut2<'_, f32>) {
    let (column, row) = grid::<2>();
    if row == 0 || row + 1 >= now.nrows() || column == 0 || column + 1 >= now.ncols() {
        return;
    }
    let neighbours = now[[row - 1, column]] + now[[row + 1, column]] + now[[row, column - 1]] + now[[row, column + 1]];
    let acceleration = 0.25 * (neighbours - 4.0 * now[[row, column]]);
    before[[row, column]] = 2.0 * now[[row, column]] - before[[row, column]] + acceleration;
}

/// A part of the domain, on one device.
struct Domain {
    now: DeviceArray<f32, Ix2>,
    before: DeviceArray<f32, Ix2>,
}

impl Domain {
    fn new(device: &Device, height: ArrayView2<'_, f32>) -> Result<Self> {
        let _selected = device.primary_context()?.select();
        Ok(Domain { now: to_device(&height)?, before: to_device(&height)? })
    }

    fn step(&mut self) -> Result<()> {
        let (rows, columns) = self.now.dim();
        let blocks = (columns.div_ceil(32), rows.div_ceil(8));
        wave::launch((blocks, (32, 8)), &self.now, &mut self.before)?;
        std::mem::swap(&mut self.now, &mut self.before);
        Ok(())
    }
}

/// The initial heights: a crest and a trough.
fn initial(rows: usize, columns: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(row, column)| {
        let [down, right] = [row as f32 / rows as f32, column as f32 / columns as f32];
        let bump = |y: f32, x: f32| (-800.0 * ((down - y) * (down - y) + (right - x) * (right - x))).exp();
        bump(0.3, 0.3) - bump(0.6, 0.7)
    })
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let devices = list_devices()?;
    let [first, second, ..] = &devices[..] else {
        println!("this example needs two devices: set CUDA_DRIVER_PATH=sim and CUDA_SIM_DEVICES=2");
        return Ok(());
    };
    let (rows, columns) = options.pick((320, 320), (48, 48));
    let half = rows / 2;
    let height = initial(rows, columns);
    let mut whole = Domain::new(first, height.view())?;
    // Each half has one more row, the halo: a copy of the other half's nearest row.
    let mut upper = Domain::new(first, height.slice(s![..half + 1, ..]))?;
    let mut lower = Domain::new(second, height.slice(s![half - 1.., ..]))?;
    for _ in 0..options.pick(300, 40) {
        whole.step()?;
        upper.step()?;
        lower.step()?;
        upper.now.slice_mut(s![half, ..]).assign(&lower.now.row(1))?;
        lower.now.slice_mut(s![0, ..]).assign(&upper.now.row(half - 1))?;
    }
    let [upper, lower] = [upper.now.copy_to_host()?, lower.now.copy_to_host()?];
    let height = concatenate(Axis(0), &[upper.slice(s![..half, ..]), lower.slice(s![1.., ..])])?;
    ensure!(height == whole.now.copy_to_host()?, "two devices compute something else than one");
    save(&options.file("peers.png"), height.mapv(|height| palette(0.5 + 2.0 * height)).view())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
