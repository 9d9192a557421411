//! A CUDA graph of many small launches, compared with the same launches one by one: Jacobi's method for the heat equation.

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Options, palette, save};
use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Ix2};

/// The mean of the four neighbours of an inner cell. The boundary keeps its values.
#[device]
fn mean_of_neighbours(now: ArrayView2<'_, f32>, row: usize, column: usize) -> f32 {
    let (rows, columns) = now.dim();
    if row == 0 || row + 1 == rows || column == 0 || column + 1 == columns {
        return now[[row, column]];
    }
    let vertical = now[[row - 1, column]] + now[[row + 1, column]];
    let horizontal = now[[row, column - 1]] + now[[row, column + 1]];
    (vertical + horizontal) / 4.0
}

#[kernel]
fn jacobi(now: ArrayView2<'_, f32>, mut next: ArrayViewMut2<'_, f32>) {
    let (column, row) = grid::<2>();
    if row < next.nrows() && column < next.ncols() {
        next[[row, column]] = mean_of_neighbours(now, row, column);
    }
}

/// The temperatures now, and those after the next step.
type Buffers = [DeviceArray<f32, Ix2>; 2];

/// Runs work that starts from `plate`, and prints how long it took.
fn timed(name: &str, plate: &Array2<f32>, work: impl FnOnce(&mut Buffers) -> Result<()>) -> Result<Array2<f32>> {
    let mut buffers = [to_device(plate)?, to_device(plate)?];
    synchronize()?;
    let start = Instant::now();
    work(&mut buffers)?;
    synchronize()?;
    println!("{name} {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
    Ok(buffers[0].copy_to_host()?)
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let side = options.pick(64, 32);
    let (pairs, repetitions) = options.pick((500, 20), (10, 10));
    let boundary = |position: usize| 0.5 + 0.5 * (position as f32 * 9.0 / side as f32).sin();
    let plate = Array2::from_shape_fn((side, side), |(row, column)| {
        let inner = (1..side - 1).contains(&row) && (1..side - 1).contains(&column);
        if inner { 0.0 } else { boundary(row + 2 * column) }
    });
    // A grid that leaves multiprocessors without work is intended, hence no warning.
    let config = || LaunchConfig::new((side.div_ceil(32), side.div_ceil(8)), (32, 8)).quiet();
    let stream = stream()?;
    jacobi::compile()?;

    let one_by_one = timed("launches", &plate, |[now, next]| {
        for _ in 0..repetitions * pairs {
            jacobi::launch(config().stream(&stream), &*now, &mut *next)?;
            jacobi::launch(config().stream(&stream), &*next, &mut *now)?;
        }
        Ok(())
    })?;
    let as_graph = timed("graph   ", &plate, |[now, next]| {
        let graph = capture(|capture| {
            for _ in 0..pairs {
                jacobi::launch(config().capture(capture), &*now, &mut *next)?;
                jacobi::launch(config().capture(capture), &*next, &mut *now)?;
            }
            Ok(())
        })?;
        let graph = graph.instantiate()?;
        for _ in 0..repetitions {
            graph.launch(&stream, (&mut *now, &mut *next))?;
        }
        Ok(())
    })?;
    ensure!(as_graph == one_by_one, "the graph and the launches differ");

    let mut expected = plate;
    for _ in 0..2 * repetitions * pairs {
        expected =
            Array2::from_shape_fn((side, side), |(row, column)| mean_of_neighbours(expected.view(), row, column));
    }
    ensure!(as_graph == expected, "the device and the host differ");
    let larger = Array2::from_shape_fn((6 * side, 6 * side), |(row, column)| expected[[row / 6, column / 6]]);
    save(&options.file("graph.png"), larger.mapv(palette).view())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
