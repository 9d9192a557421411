//! A matrix product with tiles in shared memory, compared with one without, for any shape.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_example_kernels::{matmul, tiled_matmul};
use cuda_examples::{Options, palette, save};
use cuda_prelude::*;
use ndarray::Array2;

/// The side of a tile, and of a block.
const TILE: usize = 16;

pub(crate) fn run(options: &Options) -> Result<()> {
    let (n, k, m) = options.pick((500, 700, 600), (50, 70, 60));
    // A matrix that blurs columns, and a picture of rings.
    let a = Array2::from_shape_fn((n, k), |(row, column)| {
        let distance = row as f32 / n as f32 - column as f32 / k as f32;
        (-(distance * 60.0).powi(2)).exp() / (k as f32 * 0.03)
    });
    let b = Array2::from_shape_fn((k, m), |(row, column)| {
        let (x, y) = (column as f32 / m as f32 - 0.5, row as f32 / k as f32 - 0.5);
        (60.0 * (x * x + y * y)).cos()
    });
    let (device_a, device_b) = (to_device(&a)?, to_device(&b)?);
    let blocks = (m.div_ceil(TILE), n.div_ceil(TILE));
    let flops = 2.0 * (n * k * m) as f32;
    // The kernels are compiled before the time is measured.
    matmul::<f32>::compile()?;
    tiled_matmul::<f32, TILE>::compile()?;

    let expected = a.dot(&b);
    let s = stream()?;
    let (start, end) = (event()?, event()?);
    let mut product = zeros::<f32, _>((n, m))?;
    for name in ["naive", "tiled"] {
        product.copy_from_host(&Array2::zeros((n, m)))?;
        s.scope(|s| {
            start.record(s)?;
            match name {
                "naive" => matmul::launch((blocks, (TILE, TILE), s), &device_a, &device_b, &mut product)?,
                _ => tiled_matmul::<f32, TILE>::launch((blocks, (TILE, TILE), s), &device_a, &device_b, &mut product)?,
            }
            end.record(s)
        })?;
        let milliseconds = event_elapsed_time(&start, &end)?;
        println!("{name}: {milliseconds:.2} ms, {:.1} GFLOP/s", flops / milliseconds / 1e6);
        // Another order of the sums and fused multiply-adds change the result by some units in the last place.
        let off = (&product.copy_to_host()? - &expected).iter().fold(0.0_f32, |most, off| most.max(off.abs()));
        ensure!(off < 1e-5, "{name}: the product differs by {off} from ndarray's");
    }
    let largest = expected.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    // A few colors, so that the file is small.
    let color = |value: f32| palette(0.5 + (8.0 * value / largest).round() / 16.0);
    save(&options.file("matmul.png"), product.copy_to_host()?.mapv(color).view())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
