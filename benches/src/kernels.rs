//! The kernels that are measured, written as a user would first write them, with bounds checks.

use cuda_jit::Num;
use cuda_jit::device::{
    FULL_MASK, atomic_load, block_dim, block_idx, grid, lane_id, shared, shfl_down_sync, sync_threads, thread_idx,
};
use ndarray::{ArrayView2, ArrayViewMut2};

/// Threads in a block of one-dimensional kernels.
pub(crate) const BLOCK: usize = 256;
/// Side of a block of the matrix products.
pub(crate) const TILE: usize = 16;

/// The vector add of the README.
#[cuda_jit::kernel]
pub(crate) fn vector_add<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] + y[i];
    }
}

/// A kernel that does nothing, for the cost of a launch.
#[cuda_jit::kernel]
pub(crate) fn empty() {}

/// `y += a * x`.
#[cuda_jit::kernel]
pub(crate) fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = grid::<1>();
    if i < y.len() {
        y[i] += a * x[i];
    }
}

/// The sum of each block in shared memory: nine barriers with blocks of 256.
#[cuda_jit::kernel]
pub(crate) fn reduction(x: &[f32], sums: &mut [f32]) {
    let tile = shared!([f32; BLOCK]);
    let (i, t) = (grid::<1>(), thread_idx().x);
    tile[t] = if i < x.len() { x[i] } else { 0.0 };
    sync_threads();
    let mut stride = block_dim().x / 2;
    while stride > 0 {
        if t < stride {
            tile[t] += tile[t + stride];
        }
        sync_threads();
        stride /= 2;
    }
    if t == 0 {
        sums[block_idx().x] = tile[0];
    }
}

/// The root of each element's tree, by atomic loads of parents, as in concurrent union-find.
#[cuda_jit::kernel]
pub(crate) fn roots(parents: &mut [u32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let mut at = i as u32;
        loop {
            let parent = atomic_load(&mut parents[at as usize]);
            if parent == at {
                break;
            }
            at = parent;
        }
        out[i] = at as f32;
    }
}

/// The sum of each warp by a loop of five shuffles, which the compiler unrolls.
#[cuda_jit::kernel]
pub(crate) fn shuffles(x: &[f32], sums: &mut [f32]) {
    let i = grid::<1>();
    let mut sum = if i < x.len() { x[i] } else { 0.0 };
    sum += shfl_down_sync(FULL_MASK, sum, 16);
    sum += shfl_down_sync(FULL_MASK, sum, 8);
    sum += shfl_down_sync(FULL_MASK, sum, 4);
    sum += shfl_down_sync(FULL_MASK, sum, 2);
    sum += shfl_down_sync(FULL_MASK, sum, 1);
    if lane_id() == 0 {
        sums[i / 32] = sum;
    }
}

/// The sum of each warp by a loop that is not unrolled, since its start is an argument.
#[cuda_jit::kernel]
pub(crate) fn shuffles_loop(first: u32, x: &[f32], sums: &mut [f32]) {
    let i = grid::<1>();
    let mut sum = if i < x.len() { x[i] } else { 0.0 };
    let mut delta = first;
    while delta > 0 {
        sum += shfl_down_sync(FULL_MASK, sum, delta);
        delta /= 2;
    }
    if lane_id() == 0 {
        sums[i / 32] = sum;
    }
}

/// Rotates each block's elements by one place in each iteration: two barriers in nested uniform loops.
#[cuda_jit::kernel]
pub(crate) fn nested(turns: [u32; 2], x: &[f32], out: &mut [f32]) {
    let tile = shared!([f32; BLOCK]);
    let (i, t) = (grid::<1>(), thread_idx().x);
    let mut value = if i < x.len() { x[i] } else { 0.0 };
    for _ in 0..turns[0] {
        for _ in 0..turns[1] {
            tile[t] = value;
            sync_threads();
            value = tile[(t + 1) % BLOCK];
            sync_threads();
        }
    }
    if i < out.len() {
        out[i] = value;
    }
}

/// The matrix products, with bounds checks and without.
macro_rules! products {
    ($($naive:ident, $tiled:ident: $kernel:meta;)*) => { $(
        /// A matrix product in which each thread multiplies a row by a column.
        #[$kernel]
        pub(crate) fn $naive(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut c: ArrayViewMut2<'_, f32>) {
            let (col, row) = grid::<2>();
            if row < c.nrows() && col < c.ncols() {
                let mut acc = 0.0;
                for k in 0..a.ncols() {
                    acc += a[[row, k]] * b[[k, col]];
                }
                c[[row, col]] = acc;
            }
        }

        /// A matrix product over tiles in shared memory.
        #[$kernel]
        pub(crate) fn $tiled<const TILE: usize>(
            a: ArrayView2<'_, f32>,
            b: ArrayView2<'_, f32>,
            mut c: ArrayViewMut2<'_, f32>,
        ) {
            let tile_a = shared!([[f32; TILE]; TILE]);
            let tile_b = shared!([[f32; TILE]; TILE]);
            let (col, row) = grid::<2>();
            let (tx, ty) = (thread_idx().x, thread_idx().y);
            let mut acc = 0.0;
            for k in 0..a.ncols().div_ceil(TILE) {
                tile_a[ty][tx] = if row < a.nrows() && k * TILE + tx < a.ncols() { a[[row, k * TILE + tx]] } else { 0.0 };
                tile_b[ty][tx] = if col < b.ncols() && k * TILE + ty < b.nrows() { b[[k * TILE + ty, col]] } else { 0.0 };
                sync_threads();
                for j in 0..TILE {
                    acc += tile_a[ty][j] * tile_b[j][tx];
                }
                sync_threads();
            }
            if row < c.nrows() && col < c.ncols() {
                c[[row, col]] = acc;
            }
        }
    )* };
}

products! {
    matmul_naive, matmul_tiled: cuda_jit::kernel;
    matmul_naive_unchecked, matmul_tiled_unchecked: cuda_jit::kernel(unchecked);
}

/// A kernel with five arguments: three buffers and two numbers.
#[cuda_jit::kernel]
pub(crate) fn blend(x: &[f32], y: &[f32], out: &mut [f32], a: f32, b: f32) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = a * x[i] + b * y[i];
    }
}
