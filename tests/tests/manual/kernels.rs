//! Writing kernels: positions computed by hand and by `grid`, in one, two and three dimensions, and grid-stride loops.

use cuda_prelude::*;
use ndarray::{Array1, Array2, Array3, ArrayViewMut2, ArrayViewMut3};

#[kernel]
fn increment_by_hand(x: &mut [i32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        x[i] += 1;
    }
}

#[kernel]
fn increment(x: &mut [i32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] += 1;
    }
}

#[kernel]
fn increment_in_steps(x: &mut [i32]) {
    for i in (grid::<1>()..x.len()).step_by(grid_size::<1>()) {
        x[i] += 1;
    }
}

#[kernel]
fn increment_2d(mut x: ArrayViewMut2<'_, f32>) {
    let (i, j) = grid::<2>();
    if i < x.nrows() && j < x.ncols() {
        x[[i, j]] += 1.0;
    }
}

/// Combines the results of `grid` and its related functions to one number for each thread.
#[kernel]
fn positions_3d(mut out: ArrayViewMut3<'_, u64>) {
    let (x, y, z) = grid::<3>();
    let (nx, ny, nz) = out.dim();
    if x < nx && y < ny && z < nz {
        let (t, b, d, g) = (thread_idx(), block_idx(), block_dim(), grid_dim());
        let by_hand = (b.x * d.x + t.x, b.y * d.y + t.y, b.z * d.z + t.z);
        let size = grid_size::<3>();
        let agree = by_hand == (x, y, z) && size == (g.x * d.x, g.y * d.y, g.z * d.z);
        out[[x, y, z]] = if agree { (x + 100 * y + 10_000 * z) as u64 } else { u64::MAX };
    }
}

#[test]
fn one_dimension() -> Result<()> {
    let host = Array1::from_iter(0..1000);
    let mut x = to_device(&host)?;
    increment_by_hand::launch((1000_usize.div_ceil(32), 32), &mut x)?;
    increment::launch((1000_usize.div_ceil(96), 96), &mut x)?;
    increment_in_steps::launch((2, 64), &mut x)?;
    assert_eq!(x.copy_to_host()?, host + 3);
    Ok(())
}

#[test]
fn two_dimensions() -> Result<()> {
    let host = Array2::from_shape_fn((61, 35), |(i, j)| (i * 100 + j) as f32);
    let mut x = to_device(&host)?;
    increment_2d::launch(((61_usize.div_ceil(16), 35_usize.div_ceil(16)), (16, 16)), &mut x)?;
    assert_eq!(x.copy_to_host()?, host + 1.0);
    Ok(())
}

#[test]
fn three_dimensions() -> Result<()> {
    let mut out = to_device(&Array3::<u64>::zeros((7, 6, 5)))?;
    positions_3d::launch(((2, 3, 5), (4, 2, 1)), &mut out)?;
    assert_eq!(out.copy_to_host()?, Array3::from_shape_fn((7, 6, 5), |(x, y, z)| (x + 100 * y + 10_000 * z) as u64));
    Ok(())
}
