//! The Mandelbrot set, a thread for each pixel.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Color, Options, palette, save};
use cuda_prelude::*;
use ndarray::{Array2, ArrayViewMut2};

/// The part of the plane that is drawn.
#[repr(C)]
#[derive(Clone, Copy, DeviceType)]
struct Window {
    left: f64,
    top: f64,
    /// The side of a pixel.
    step: f64,
}

/// The number of steps of `z = z * z + c` from 0 until `z` leaves the circle of radius 2, or `limit` if it does not leave.
#[device]
fn steps_to_leave(re: f64, im: f64, limit: u32) -> u32 {
    let (mut x, mut y, mut steps) = (0.0, 0.0, 0);
    while steps < limit && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + re, 2.0 * x * y + im);
        steps += 1;
    }
    steps
}

/// Computes without fused multiply-adds, so that the results are those of the host.
#[kernel(fma = false)]
fn mandelbrot(window: Window, limit: u32, mut steps: ArrayViewMut2<'_, u32>) {
    let (column, row) = grid::<2>();
    if row < steps.nrows() && column < steps.ncols() {
        let (re, im) = (window.left + column as f64 * window.step, window.top + row as f64 * window.step);
        steps[[row, column]] = steps_to_leave(re, im, limit);
    }
}

fn color(steps: u32, limit: u32) -> Color {
    if steps == limit { [0, 0, 0] } else { palette((steps as f32 / limit as f32).sqrt() * 0.8 + 0.1) }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let (rows, columns) = options.pick((400, 600), (40, 60));
    let limit = 100;
    let window = Window { left: -2.1, top: -1.0, step: 2.0 / rows as f64 };
    let mut steps = device_array::<u32, _>((rows, columns))?;
    mandelbrot::launch(((columns.div_ceil(16), rows.div_ceil(16)), (16, 16)), window, limit, &mut steps)?;

    let steps = steps.copy_to_host()?;
    // The same function on the host.
    let expected = Array2::from_shape_fn((rows, columns), |(row, column)| {
        let (re, im) = (window.left + column as f64 * window.step, window.top + row as f64 * window.step);
        steps_to_leave(re, im, limit)
    });
    let wrong = steps.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
    ensure!(wrong == 0, "{wrong} pixels are not those of the host");
    save(&options.file("mandelbrot.png"), steps.mapv(|steps| color(steps, limit)).view())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
