//! Example: a matrix product, plain and with tiles in shared memory, for shapes that are not multiples of the tile.

use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

#[kernel]
fn plain(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut c: ArrayViewMut2<'_, f32>) {
    let (i, j) = grid::<2>();
    if i < c.nrows() && j < c.ncols() {
        let mut sum = 0.0;
        for k in 0..a.ncols() {
            sum += a[[i, k]] * b[[k, j]];
        }
        c[[i, j]] = sum;
    }
}

#[kernel]
fn tiled<const TILE: usize>(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut c: ArrayViewMut2<'_, f32>) {
    let tile_a = shared!([[f32; TILE]; TILE]);
    let tile_b = shared!([[f32; TILE]; TILE]);
    let (x, y) = grid::<2>();
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let mut sum = 0.0;
    for tile in 0..a.ncols().div_ceil(TILE) {
        let k = tile * TILE;
        tile_a[ty][tx] = if y < a.nrows() && k + tx < a.ncols() { a[[y, k + tx]] } else { 0.0 };
        tile_b[ty][tx] = if k + ty < b.nrows() && x < b.ncols() { b[[k + ty, x]] } else { 0.0 };
        sync_threads();
        for j in 0..TILE {
            sum += tile_a[ty][j] * tile_b[j][tx];
        }
        sync_threads();
    }
    if y < c.nrows() && x < c.ncols() {
        c[[y, x]] = sum;
    }
}

/// A matrix of integers, whose products are exact in `f32`.
fn matrix(rows: usize, columns: usize, seed: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 31 + j * 17 + seed) % 13) as f32 - 6.0)
}

#[test]
fn both_products_are_those_of_the_host() -> Result<()> {
    for (m, k, n) in [(64, 64, 64), (24, 12, 36), (33, 17, 50), (1, 100, 1), (5, 1, 7)] {
        let (a, b) = (matrix(m, k, 1), matrix(k, n, 5));
        let expected = a.dot(&b);
        let (a, b) = (to_device(&a)?, to_device(&b)?);
        let mut c = to_device(&Array2::<f32>::from_elem((m, n), f32::NAN))?;
        plain::launch(((m.div_ceil(8), n.div_ceil(8)), (8, 8)), &a, &b, &mut c)?;
        assert_eq!(c.copy_to_host()?, expected, "plain {m} {k} {n}");
        let mut c = to_device(&Array2::<f32>::from_elem((m, n), f32::NAN))?;
        tiled::<16>::launch(((n.div_ceil(16), m.div_ceil(16)), (16, 16)), &a, &b, &mut c)?;
        assert_eq!(c.copy_to_host()?, expected, "tiled {m} {k} {n}");
    }
    Ok(())
}
