//! Large kernels with a long compile time: conjugate gradients in one launch, and attention.

use anyhow::{Result, ensure};
use cuda_driver::Context;
use cuda_jit::device::{block_dim, block_idx, grid_dim, shared, sync_threads, this_grid, thread_idx};
use cuda_jit::{device, kernel};
use cuda_mem::{from_slice, to_device, zeros};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use crate::kernels::{TILE, matmul_tiled};
use crate::serve::Run;
use crate::suite::softmax;

/// Threads of a block of conjugate gradients.
pub(super) const BLOCK: usize = 128;
/// Length of a query, a key and a value.
pub(super) const WIDTH: usize = 32;
/// Queries of a block, and keys that it has in shared memory.
pub(super) const QUERIES: usize = 64;

/// Sums the values of a block's threads in a fixed order, and returns the sum to all of them.
#[device]
fn block_sum(tile: &mut [f32; BLOCK], value: f32) -> f32 {
    let t = thread_idx().x;
    tile[t] = value;
    sync_threads();
    let mut stride = BLOCK / 2;
    while stride > 0 {
        if t < stride {
            tile[t] += tile[t + stride];
        }
        sync_threads();
        stride /= 2;
    }
    let sum = tile[0];
    sync_threads();
    sum
}

/// Sums the values of a grid's threads, and returns the sum to all of them.
#[device]
fn grid_sum(tile: &mut [f32; BLOCK], sums: &mut [f32], value: f32) -> f32 {
    let own = block_sum(tile, value);
    if thread_idx().x == 0 {
        sums[block_idx().x] = own;
    }
    this_grid().sync();
    let mut sum = 0.0;
    for block in 0..grid_dim().x {
        sum += sums[block];
    }
    this_grid().sync();
    sum
}

/// Solves `A x = b` for a sparse symmetric matrix in CSR format by conjugate gradients, starting from zero.
#[kernel]
pub(crate) fn conjugate_gradient(
    steps: usize,
    starts: &[u32],
    columns: &[u32],
    values: &[f32],
    b: &[f32],
    x: &mut [f32],
    r: &mut [f32],
    p: &mut [f32],
    q: &mut [f32],
    sums: &mut [f32],
) {
    let tile = shared!([f32; BLOCK]);
    let (first, stride) = (block_idx().x * block_dim().x + thread_idx().x, block_dim().x * grid_dim().x);
    let mut own = 0.0;
    for i in (first..b.len()).step_by(stride) {
        r[i] = b[i];
        p[i] = b[i];
        own += b[i] * b[i];
    }
    let mut residue = grid_sum(tile, sums, own);
    for _ in 0..steps {
        let mut own = 0.0;
        for i in (first..b.len()).step_by(stride) {
            let mut sum = 0.0;
            for k in starts[i] as usize..starts[i + 1] as usize {
                sum += values[k] * p[columns[k] as usize];
            }
            q[i] = sum;
            own += p[i] * sum;
        }
        let alpha = residue / grid_sum(tile, sums, own);
        let mut own = 0.0;
        for i in (first..b.len()).step_by(stride) {
            x[i] += alpha * p[i];
            let left = r[i] - alpha * q[i];
            r[i] = left;
            own += left * left;
        }
        let next = grid_sum(tile, sums, own);
        let beta = next / residue;
        residue = next;
        for i in (first..b.len()).step_by(stride) {
            p[i] = r[i] + beta * p[i];
        }
        this_grid().sync();
    }
}

/// `softmax(Q K^T / sqrt(WIDTH)) V`, with a thread for each query. Tiles of keys and values are in shared memory, and the softmax
/// is rescaled after each tile.
#[kernel]
pub(crate) fn attention(
    queries: ArrayView2<'_, f32>,
    keys: ArrayView2<'_, f32>,
    values: ArrayView2<'_, f32>,
    mut out: ArrayViewMut2<'_, f32>,
) {
    let key_tile = shared!([[f32; WIDTH]; QUERIES]);
    let value_tile = shared!([[f32; WIDTH]; QUERIES]);
    let t = thread_idx().x;
    let i = block_idx().x * QUERIES + t;
    let (mut query, mut result) = ([0.0; WIDTH], [0.0; WIDTH]);
    if i < queries.nrows() {
        for d in 0..WIDTH {
            query[d] = queries[[i, d]];
        }
    }
    let (mut largest, mut sum) = (f32::NEG_INFINITY, 0.0);
    for first in (0..keys.nrows()).step_by(QUERIES) {
        let here = first + t;
        for d in 0..WIDTH {
            key_tile[t][d] = if here < keys.nrows() { keys[[here, d]] } else { 0.0 };
            value_tile[t][d] = if here < values.nrows() { values[[here, d]] } else { 0.0 };
        }
        sync_threads();
        let count = (keys.nrows() - first).min(QUERIES);
        for j in 0..count {
            let mut score = 0.0;
            for d in 0..WIDTH {
                score += query[d] * key_tile[j][d];
            }
            score /= (WIDTH as f32).sqrt();
            let now = largest.max(score);
            let (before, weight) = ((largest - now).exp(), (score - now).exp());
            sum = sum * before + weight;
            for d in 0..WIDTH {
                result[d] = result[d] * before + weight * value_tile[j][d];
            }
            largest = now;
        }
        sync_threads();
    }
    if i < out.nrows() {
        for d in 0..WIDTH {
            out[[i, d]] = result[d] / sum;
        }
    }
}

/// The number of unknowns, steps and blocks of the linear system.
pub(super) const UNKNOWNS: usize = 4096;
pub(super) const STEPS: usize = 8;
pub(super) const BLOCKS: usize = 8;

/// A tridiagonal matrix in CSR format: row starts, columns, values.
pub(super) fn three_diagonals(n: usize) -> (Vec<u32>, Vec<u32>, Vec<f32>) {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        for j in i.saturating_sub(1)..(i + 2).min(n) {
            columns.push(j as u32);
            values.push(if i == j { 4.0 } else { -1.0 });
        }
        starts.push(columns.len() as u32);
    }
    (starts, columns, values)
}

/// A run of conjugate gradients that checks the result.
pub(super) fn solve(context: &Context) -> Result<Run> {
    let (starts, columns, values) = three_diagonals(UNKNOWNS);
    let truth: Vec<f32> = (0..UNKNOWNS).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..UNKNOWNS)
        .map(|i| (starts[i]..starts[i + 1]).map(|k| values[k as usize] * truth[columns[k as usize] as usize]).sum())
        .collect();
    let (starts, columns, values, b) = (
        from_slice(context, &starts)?,
        from_slice(context, &columns)?,
        from_slice(context, &values)?,
        from_slice(context, &b)?,
    );
    let vector = |n: usize| zeros::<f32, _>(context, n);
    let (mut r, mut p, mut q) = (vector(UNKNOWNS)?, vector(UNKNOWNS)?, vector(UNKNOWNS)?);
    let mut sums = vector(BLOCKS)?;
    let context = context.clone();
    Ok(Box::new(move || {
        let mut x = zeros::<f32, _>(&context, UNKNOWNS)?;
        conjugate_gradient::launch(
            (BLOCKS, BLOCK),
            STEPS,
            &starts,
            &columns,
            &values,
            &b,
            &mut x,
            &mut r,
            &mut p,
            &mut q,
            &mut sums,
        )?;
        let x = x.copy_to_host()?;
        let error = x.iter().zip(&truth).map(|(x, truth)| (x - truth).abs()).fold(0.0, f32::max);
        ensure!(error < 0.01, "the solution is off by {error}");
        Ok(())
    }))
}

/// The number of keys, and of queries.
pub(super) const KEYS: usize = 256;

/// A run of attention on small numbers that checks the result.
pub(super) fn attend(context: &Context) -> Result<Run> {
    let some = |by: usize| Array2::from_shape_fn((KEYS, WIDTH), |(i, d)| ((i * by + d * 3) % 11) as f32 / 11.0 - 0.5);
    let (queries, keys, values) = (some(5), some(7), some(2));
    let mut scores = queries.dot(&keys.t()) / (WIDTH as f32).sqrt();
    for mut row in scores.rows_mut() {
        row.mapv_inplace(f32::exp);
        let sum = row.sum();
        row /= sum;
    }
    let expected = scores.dot(&values);
    let (queries, keys, values) =
        (to_device(context, &queries)?, to_device(context, &keys)?, to_device(context, &values)?);
    let mut out = zeros::<f32, _>(context, (KEYS, WIDTH))?;
    Ok(Box::new(move || {
        attention::launch((KEYS / QUERIES, QUERIES), &queries, &keys, &values, &mut out)?;
        let out = out.copy_to_host()?;
        let error = out.iter().zip(&expected).map(|(out, expected)| (out - expected).abs()).fold(0.0, f32::max);
        ensure!(error < 1e-5, "the result is off by {error}");
        Ok(())
    }))
}

/// A run of a tiled matrix product of small integers that checks the result.
pub(super) fn multiply(context: &Context) -> Result<Run> {
    const SIDE: usize = 64;
    let some = |by: usize| Array2::from_shape_fn((SIDE, SIDE), |(i, j)| ((i * by + j) % 5) as f32);
    let (a, b) = (some(2), some(3));
    let expected = a.dot(&b);
    let (a, b) = (to_device(context, &a)?, to_device(context, &b)?);
    let mut c = zeros::<f32, _>(context, (SIDE, SIDE))?;
    Ok(Box::new(move || {
        matmul_tiled::<TILE>::launch(((SIDE / TILE, SIDE / TILE), (TILE, TILE)), &a, &b, &mut c)?;
        ensure!(c.copy_to_host()? == expected, "the product is wrong");
        Ok(())
    }))
}

/// A run of the softmax of rows that checks the result.
pub(super) fn normalise(context: &Context) -> Result<Run> {
    const ROWS: usize = 16;
    const COLUMNS: usize = 1000;
    let x = Array2::from_shape_fn((ROWS, COLUMNS), |(i, j)| ((i + j * 7) % 13) as f32 / 4.0);
    let mut expected = x.mapv(f32::exp);
    for mut row in expected.rows_mut() {
        let sum = row.sum();
        row /= sum;
    }
    let x = to_device(context, &x)?;
    let mut out = zeros::<f32, _>(context, (ROWS, COLUMNS))?;
    Ok(Box::new(move || {
        softmax::launch((ROWS, 256), &x, &mut out)?;
        let out = out.copy_to_host()?;
        let error = out.iter().zip(&expected).map(|(out, expected)| (out - expected).abs()).fold(0.0, f32::max);
        ensure!(error < 1e-5, "the result is off by {error}");
        Ok(())
    }))
}
