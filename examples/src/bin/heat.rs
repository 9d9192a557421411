//! Heat that spreads through a plate with a hot and a cold edge: all steps in one launch, with a grid-wide barrier between steps.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Options, palette, save};
use cuda_prelude::*;
use ndarray::{Array2, ArrayViewMut2, s};

/// The mean of a cell's neighbours, for the cells that are not on the edge.
#[device]
fn spread(from: &ArrayViewMut2<'_, f32>, to: &mut ArrayViewMut2<'_, f32>, first: usize, stride: usize) {
    let (rows, columns) = from.dim();
    for cell in (first..(rows - 2) * (columns - 2)).step_by(stride) {
        let (row, column) = (cell / (columns - 2) + 1, cell % (columns - 2) + 1);
        let sum = from[[row - 1, column]] + from[[row + 1, column]] + from[[row, column - 1]] + from[[row, column + 1]];
        to[[row, column]] = 0.25 * sum;
    }
}

/// Runs `2 * double_steps` steps; each needs the previous step of all blocks.
#[kernel]
fn heat(double_steps: usize, mut plate: ArrayViewMut2<'_, f32>, mut other: ArrayViewMut2<'_, f32>) {
    let grid = this_grid();
    let (first, stride) = (grid.thread_rank(), grid.size());
    for _ in 0..double_steps {
        spread(&plate, &mut other, first, stride);
        grid.sync();
        spread(&other, &mut plate, first, stride);
        grid.sync();
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let (side, double_steps) = options.pick((65, 2400), (33, 600));
    let mut host = Array2::<f32>::zeros((side, side));
    host.row_mut(0).fill(1.0);
    let (mut plate, mut other) = (to_device(&host)?, to_device(&host)?);
    // All blocks of a cooperative launch must be resident at once, so their number is limited and each thread computes several cells.
    let threads = 128;
    let blocks = heat::compile()?.max_cooperative_blocks(threads, 0)?.min(32);
    heat::launch((blocks, threads), double_steps, &mut plate, &mut other)?;

    let plate = plate.copy_to_host()?;
    // In the end each cell is the mean of its neighbours, and the middle a quarter of the hot edge, by the plate's symmetry.
    let mean = (&plate.slice(s![..side - 2, 1..side - 1])
        + &plate.slice(s![2.., 1..side - 1])
        + plate.slice(s![1..side - 1, ..side - 2])
        + plate.slice(s![1..side - 1, 2..]))
        / 4.0;
    let change = (&plate.slice(s![1..side - 1, 1..side - 1]) - &mean)
        .iter()
        .fold(0.0_f32, |most, change| most.max(change.abs()));
    ensure!(change < 1e-4, "the plate still changes by {change}");
    let middle = plate[[side / 2, side / 2]];
    ensure!((middle - 0.25).abs() < 0.002, "the middle has {middle} and not 0.25");
    let pixel = |(row, column)| palette((plate[[row / 6, column / 6]] * 24.0).round() / 24.0);
    save(&options.file("heat.png"), Array2::from_shape_fn((6 * side, 6 * side), pixel).view())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
