//! Programs of linear algebra.

use anyhow::Result;
use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::{Program, Random, in_blocks, program};
use crate::sim::large;

/// Threads of a block.
const BLOCK: usize = 256;

/// `y = a * x + b`, in a loop over the grid's size, which is a power of two.
#[kernel]
pub(crate) fn scale(a: f32, b: f32, x: &[f32], y: &mut [f32]) {
    for i in (grid::<1>()..y.len()).step_by(grid_size::<1>()) {
        y[i] = a * x[i] + b;
    }
}

pub(super) fn grid_stride_saxpy() -> Result<Program> {
    const N: usize = 1 << 20;
    let x: Vec<f32> = (0..N).map(|i| (i % 1009) as f32).collect();
    let on_device = from_slice(&x)?;
    program(
        vec![0.0; N],
        move |out| scale::launch((64, BLOCK), 3.0, 1.0, &on_device, out),
        move |out| {
            for (y, x) in out.iter_mut().zip(&x) {
                *y = 3.0 * x + 1.0;
            }
        },
    )
}

/// Sums of what each thread finds in a loop over the grid's size, which is a power of two.
#[kernel]
pub(crate) fn sum(x: &[u32], sums: &mut [u32]) {
    let mut own = 0;
    for i in (grid::<1>()..x.len()).step_by(grid_size::<1>()) {
        own += x[i];
    }
    atomic_add(&mut sums[0], own);
}

pub(super) fn grid_stride_sum() -> Result<Program> {
    const N: usize = 1 << 20;
    let x: Vec<u32> = (0..N as u32).map(|i| i % 1009).collect();
    let on_device = from_slice(&x)?;
    program(
        vec![0_u32; 1],
        move |out| {
            out.fill(0)?;
            sum::launch((64, BLOCK), &on_device, out)
        },
        move |out| out[0] = x.iter().sum(),
    )
}

/// A product of a sparse matrix in CSR format with a vector, a thread for each row.
#[kernel]
fn multiply_sparse(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], y: &mut [f32]) {
    let row = grid::<1>();
    if row < y.len() {
        let mut sum = 0.0;
        for k in starts[row] as usize..starts[row + 1] as usize {
            sum += values[k] * x[columns[k] as usize];
        }
        y[row] = sum;
    }
}

pub(super) fn sparse_product() -> Result<Program> {
    const ROWS: usize = 1 << 16;
    let mut random = Random(31);
    let (mut starts, mut columns) = (vec![0_u32], Vec::new());
    for _ in 0..ROWS {
        columns.extend((0..1 + random.below(16)).map(|_| random.below(ROWS) as u32));
        starts.push(columns.len() as u32);
    }
    let values: Vec<f32> = columns.iter().map(|_| random.number()).collect();
    let x: Vec<f32> = (0..ROWS).map(|_| random.number()).collect();
    let (a, b, c, d) = (from_slice(&starts)?, from_slice(&columns)?, from_slice(&values)?, from_slice(&x)?);
    program(
        vec![0.0; ROWS],
        move |out| multiply_sparse::launch(in_blocks(ROWS, BLOCK), &a, &b, &c, &d, out),
        move |out| {
            for (row, y) in out.iter_mut().enumerate() {
                let entries = starts[row] as usize..starts[row + 1] as usize;
                *y = entries.map(|k| values[k] * x[columns[k] as usize]).sum();
            }
        },
    )
}

pub(super) fn conjugate_gradient() -> Result<Program> {
    const N: usize = large::UNKNOWNS;
    const STEPS: usize = large::STEPS;
    let (starts, columns, values) = large::three_diagonals(N);
    let b: Vec<f32> = (0..N).map(|i| (i % 7) as f32).collect();
    let on_device = (from_slice(&starts)?, from_slice(&columns)?, from_slice(&values)?, from_slice(&b)?);
    let mut vectors = (zeros(N)?, zeros(N)?, zeros(N)?, zeros(large::BLOCKS)?);
    let (mut r, mut p, mut q) = (vec![0.0; N], vec![0.0; N], vec![0.0_f32; N]);
    program(
        vec![0.0_f32; N],
        move |out| {
            out.fill(0.0)?;
            let (starts, columns, values, b) = &on_device;
            let (r, p, q, sums) = &mut vectors;
            let shape = (large::BLOCKS, large::BLOCK);
            large::conjugate_gradient::launch(shape, STEPS, starts, columns, values, b, out, r, p, q, sums)
        },
        move |x| {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            x.fill(0.0);
            r.copy_from_slice(&b);
            p.copy_from_slice(&b);
            let mut residue = dot(&r, &r);
            for _ in 0..STEPS {
                for (i, q) in q.iter_mut().enumerate() {
                    let entries = starts[i] as usize..starts[i + 1] as usize;
                    *q = entries.map(|k| values[k] * p[columns[k] as usize]).sum();
                }
                let alpha = residue / dot(&p, &q);
                for i in 0..N {
                    x[i] += alpha * p[i];
                    r[i] -= alpha * q[i];
                }
                let next = dot(&r, &r);
                let beta = next / residue;
                residue = next;
                for i in 0..N {
                    p[i] = r[i] + beta * p[i];
                }
            }
        },
    )
}

/// Side of a block's threads, and depth of a tile in the product.
const TILE: usize = 16;
/// Side of the part of the product that a thread computes in registers.
const OWN: usize = 4;
/// Side of the part of the product that a block computes.
const PART: usize = TILE * OWN;

/// A product of square matrices whose side is a multiple of [`PART`], in which each thread computes `OWN x OWN` elements in registers.
#[kernel]
fn multiply(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut c: ArrayViewMut2<'_, f32>) {
    let tile_a = shared!([[f32; PART]; TILE]);
    let tile_b = shared!([[f32; PART]; TILE]);
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, col) = (block_idx().y * PART, block_idx().x * PART);
    let mut own = [[0.0; OWN]; OWN];
    for k in (0..a.ncols()).step_by(TILE) {
        for part in 0..OWN {
            tile_a[tx][ty * OWN + part] = a[[row + ty * OWN + part, k + tx]];
            tile_b[ty][part * TILE + tx] = b[[k + ty, col + part * TILE + tx]];
        }
        sync_threads();
        for j in 0..TILE {
            for y in 0..OWN {
                for x in 0..OWN {
                    own[y][x] += tile_a[j][ty * OWN + y] * tile_b[j][x * TILE + tx];
                }
            }
        }
        sync_threads();
    }
    for y in 0..OWN {
        for x in 0..OWN {
            c[[row + ty * OWN + y, col + x * TILE + tx]] = own[y][x];
        }
    }
}

pub(super) fn register_tiled_product() -> Result<Program> {
    const SIDE: usize = 256;
    let a = Array2::from_shape_fn((SIDE, SIDE), |(i, j)| ((i * 2 + j) % 5) as f32);
    let b = Array2::from_shape_fn((SIDE, SIDE), |(i, j)| ((i + j * 3) % 7) as f32);
    let (on_device, other) = (to_device(&a)?, to_device(&b)?);
    let (a, b) = (a.into_raw_vec_and_offset().0, b.into_raw_vec_and_offset().0);
    program(
        vec![0.0; SIDE * SIDE],
        move |out| {
            let shape = ((SIDE / PART, SIDE / PART), (TILE, TILE));
            multiply::launch(shape, &on_device, &other, &mut out.reshape_mut((SIDE, SIDE))?)
        },
        move |out| {
            out.fill(0.0);
            for (c, row) in out.chunks_mut(SIDE).zip(a.chunks(SIDE)) {
                for (factor, b) in row.iter().zip(b.chunks(SIDE)) {
                    c.iter_mut().zip(b).for_each(|(c, b)| *c += factor * b);
                }
            }
        },
    )
}

pub(super) fn attention() -> Result<Program> {
    const KEYS: usize = large::KEYS;
    const WIDTH: usize = large::WIDTH;
    let some = |by: usize| Array2::from_shape_fn((KEYS, WIDTH), |(i, d)| ((i * by + d * 3) % 11) as f32 / 11.0 - 0.5);
    let inputs = [some(5), some(7), some(2)];
    let on_device = (to_device(&inputs[0])?, to_device(&inputs[1])?, to_device(&inputs[2])?);
    let [queries, keys, values] = inputs.map(|input| input.into_raw_vec_and_offset().0);
    program(
        vec![0.0; KEYS * WIDTH],
        move |out| {
            let (queries, keys, values) = &on_device;
            let mut out = out.reshape_mut((KEYS, WIDTH))?;
            large::attention::launch((KEYS / large::QUERIES, large::QUERIES), queries, keys, values, &mut out)
        },
        move |out| {
            for (out, query) in out.chunks_mut(WIDTH).zip(queries.chunks(WIDTH)) {
                let (mut largest, mut sum) = (f32::NEG_INFINITY, 0.0);
                out.fill(0.0);
                for (key, value) in keys.chunks(WIDTH).zip(values.chunks(WIDTH)) {
                    let score = query.iter().zip(key).map(|(q, k)| q * k).sum::<f32>() / (WIDTH as f32).sqrt();
                    let now = score.max(largest);
                    let (before, weight) = ((largest - now).exp(), (score - now).exp());
                    sum = sum * before + weight;
                    out.iter_mut().zip(value).for_each(|(out, value)| *out = *out * before + weight * value);
                    largest = now;
                }
                out.iter_mut().for_each(|out| *out /= sum);
            }
        },
    )
}
