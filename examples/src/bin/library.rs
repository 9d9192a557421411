//! Kernels of another crate: the method of conjugate gradients for the potential of charges in a grounded box.
//!
//! `cuda-example-kernels` has the generic kernels and a device function, which a kernel of this program calls.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_example_kernels::{dot, negative_laplacian, scale_add};
use cuda_examples::{Options, palette, save};
use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Ix2};

const THREADS: usize = 256;

/// The equations' left side.
#[kernel]
fn apply(x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
    let (column, row) = grid::<2>();
    if row < out.nrows() && column < out.ncols() {
        out[[row, column]] = negative_laplacian(x, row, column);
    }
}

type Field = DeviceArray<f64, Ix2>;

fn inner_product(x: &Field, y: &Field) -> Result<f64> {
    let blocks = x.len().div_ceil(4 * THREADS);
    let mut sums = device_array::<f64, _>(blocks)?;
    dot::<_, THREADS>::launch(LaunchConfig::new(blocks, THREADS).quiet(), x, y, &mut sums)?;
    Ok(sums.copy_to_host()?.sum())
}

/// Solves the equations to a residual of `tolerance`; returns the number of steps too.
fn conjugate_gradients(charges: &Array2<f64>, tolerance: f64) -> Result<(Array2<f64>, usize)> {
    let (rows, columns) = charges.dim();
    let linear = || LaunchConfig::new(charges.len().div_ceil(THREADS), THREADS).quiet();
    let plane = || LaunchConfig::new((columns.div_ceil(32), rows.div_ceil(8)), (32, 8)).quiet();
    let mut x = zeros::<f64, _>((rows, columns))?;
    let mut residual = to_device(charges)?;
    let mut direction = to_device(charges)?;
    let mut product = device_array_like(&x)?;
    let mut square = inner_product(&residual, &residual)?;
    let mut steps = 0;
    while square.sqrt() > tolerance {
        apply::launch(plane(), &direction, &mut product)?;
        let length = square / inner_product(&direction, &product)?;
        scale_add::launch(linear(), length, &direction, 1.0, &mut x)?;
        scale_add::launch(linear(), -length, &product, 1.0, &mut residual)?;
        let before = square;
        square = inner_product(&residual, &residual)?;
        scale_add::launch(linear(), 1.0, &residual, square / before, &mut direction)?;
        steps += 1;
        ensure!(steps <= charges.len(), "no solution after {steps} steps, the size of the system");
    }
    Ok((x.copy_to_host()?, steps))
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let side = options.pick(240, 24);
    let mut charges = Array2::zeros((side, side));
    for (row, column, charge) in [(3, 3, 1.0), (4, 9, -1.0), (8, 5, 1.0), (9, 8, -1.0), (6, 6, 0.5)] {
        charges[[row * side / 12, column * side / 12]] = charge;
    }
    let (potential, steps) = conjugate_gradients(&charges, 1e-10)?;
    // The residual on the host, where the device function is an ordinary one.
    let product =
        Array2::from_shape_fn((side, side), |(row, column)| negative_laplacian(potential.view(), row, column));
    let residual = (&product - &charges).mapv(|v| v * v).sum().sqrt();
    println!("{} unknowns, {steps} steps, residual {residual:.1e}", potential.len());
    ensure!(residual < 1e-9, "the residual is too large");
    save(&options.file("library.png"), potential.mapv(|v| palette((0.5 + v) as f32)).view())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
