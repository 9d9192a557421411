//! The kernels of the suite that no other group measures; the others are in [`crate::kernels`].

use std::f32::consts::PI;

use cuda_jit::device::{atomic_add, block_dim, block_idx, grid, grid_size, shared, sync_threads, thread_idx};
use cuda_jit::{DeviceType, device, kernel};
use ndarray::{ArrayView2, ArrayViewMut2};

use crate::kernels::BLOCK;

/// The number of values of a byte.
pub(crate) const BINS: usize = 256;
/// Points of a transform: two for each thread of a block.
pub(crate) const POINTS: usize = 2 * BLOCK;
/// The softening length, which limits the acceleration of close bodies.
pub(crate) const SOFTENING: f32 = 1e-3;

/// The number of occurrences of each byte: each block counts in shared memory and then adds its counts.
#[kernel]
pub(crate) fn histogram(data: &[u8], counts: &mut [u32]) {
    let bins = shared!([u32; BINS]);
    for bin in (thread_idx().x..BINS).step_by(block_dim().x) {
        bins[bin] = 0;
    }
    sync_threads();
    for i in (grid::<1>()..data.len()).step_by(grid_size::<1>()) {
        atomic_add(&mut bins[data[i] as usize], 1);
    }
    sync_threads();
    for bin in (thread_idx().x..BINS).step_by(block_dim().x) {
        atomic_add(&mut counts[bin], bins[bin]);
    }
}

/// The cumulative normal distribution, by formula 26.2.17 of Abramowitz and Stegun.
#[device]
pub(crate) fn normal(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
    let series = k * (0.319_381_53 + k * (-0.356_563_78 + k * (1.781_477_9 + k * (-1.821_256 + k * 1.330_274_5))));
    let tail = 0.398_942_3 * (-0.5 * d * d).exp() * series;
    if d > 0.0 { 1.0 - tail } else { tail }
}

/// The prices of European options by the formula of Black and Scholes.
#[kernel]
pub(crate) fn black_scholes(
    rate: f32,
    volatility: f32,
    price: &[f32],
    strike: &[f32],
    years: &[f32],
    call: &mut [f32],
    put: &mut [f32],
) {
    let i = grid::<1>();
    if i < price.len() {
        let (s, x, t) = (price[i], strike[i], years[i]);
        let deviation = volatility * t.sqrt();
        let d1 = ((s / x).ln() + (rate + 0.5 * volatility * volatility) * t) / deviation;
        let (n1, n2) = (normal(d1), normal(d1 - deviation));
        let discounted = x * (-rate * t).exp();
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0 - n2) - s * (1.0 - n1);
    }
}

/// The maximum of the values of a block's threads.
#[device]
fn block_max(tile: &mut [f32; BLOCK], value: f32) -> f32 {
    let t = thread_idx().x;
    tile[t] = value;
    sync_threads();
    let mut stride = BLOCK / 2;
    while stride > 0 {
        if t < stride {
            tile[t] = tile[t].max(tile[t + stride]);
        }
        sync_threads();
        stride /= 2;
    }
    let largest = tile[0];
    sync_threads();
    largest
}

/// The sum of the values of a block's threads.
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

/// `exp(x) / sum(exp(x))` of each row, a block for each.
#[kernel]
pub(crate) fn softmax(x: ArrayView2<'_, f32>, mut out: ArrayViewMut2<'_, f32>) {
    let tile = shared!([f32; BLOCK]);
    let (row, first) = (block_idx().x, thread_idx().x);
    let mut largest = f32::NEG_INFINITY;
    for col in (first..x.ncols()).step_by(BLOCK) {
        largest = largest.max(x[[row, col]]);
    }
    let largest = block_max(tile, largest);
    let mut sum = 0.0;
    for col in (first..x.ncols()).step_by(BLOCK) {
        let power = (x[[row, col]] - largest).exp();
        out[[row, col]] = power;
        sum += power;
    }
    let sum = block_sum(tile, sum);
    for col in (first..x.ncols()).step_by(BLOCK) {
        out[[row, col]] /= sum;
    }
}

/// A step of the heat equation: each inner cell moves towards the mean of its four neighbours.
#[kernel]
pub(crate) fn stencil(k: f32, x: ArrayView2<'_, f32>, mut out: ArrayViewMut2<'_, f32>) {
    let (col, row) = grid::<2>();
    if row > 0 && row + 1 < x.nrows() && col > 0 && col + 1 < x.ncols() {
        let here = x[[row, col]];
        let around = x[[row - 1, col]] + x[[row + 1, col]] + x[[row, col - 1]] + x[[row, col + 1]];
        out[[row, col]] = here + k * (around - 4.0 * here);
    }
}

/// The discrete Fourier transform of each [`POINTS`] complex numbers in place, a block for each, by Cooley and Tukey's
/// algorithm of radix 2.
#[kernel]
pub(crate) fn fft(re: &mut [f32], im: &mut [f32]) {
    let a = shared!([f32; POINTS]);
    let b = shared!([f32; POINTS]);
    let (t, start) = (thread_idx().x, block_idx().x * POINTS);
    for i in (t..POINTS).step_by(BLOCK) {
        let mirrored = ((i as u32).reverse_bits() >> (32 - POINTS.trailing_zeros())) as usize;
        a[mirrored] = re[start + i];
        b[mirrored] = im[start + i];
    }
    sync_threads();
    let mut half = 1;
    while half < POINTS {
        let k = t % half;
        let i = 2 * t - k;
        let j = i + half;
        let (sin, cos) = (-PI * k as f32 / half as f32).sin_cos();
        let (x, y) = (cos * a[j] - sin * b[j], cos * b[j] + sin * a[j]);
        a[j] = a[i] - x;
        b[j] = b[i] - y;
        a[i] += x;
        b[i] += y;
        sync_threads();
        half *= 2;
    }
    for i in (t..POINTS).step_by(BLOCK) {
        re[start + i] = a[i];
        im[start + i] = b[i];
    }
}

/// A body with its position.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C, align(16))]
pub(crate) struct Body {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
    pub(crate) mass: f32,
}

/// The acceleration of each body by the gravity of all, as `[x, y, z, 0]`.
#[kernel]
pub(crate) fn n_body(bodies: &[Body], accelerations: &mut [Body]) {
    let tile = shared!([Body; BLOCK]);
    let (i, t) = (grid::<1>(), thread_idx().x);
    let nobody = Body { x: 0.0, y: 0.0, z: 0.0, mass: 0.0 };
    let here = if i < bodies.len() { bodies[i] } else { nobody };
    let (mut x, mut y, mut z) = (0.0, 0.0, 0.0);
    for first in (0..bodies.len()).step_by(BLOCK) {
        tile[t] = if first + t < bodies.len() { bodies[first + t] } else { nobody };
        sync_threads();
        for other in tile.iter() {
            let (dx, dy, dz) = (other.x - here.x, other.y - here.y, other.z - here.z);
            let inverse = 1.0 / (dx * dx + dy * dy + dz * dz + SOFTENING).sqrt();
            let pull = other.mass * inverse * inverse * inverse;
            x += dx * pull;
            y += dy * pull;
            z += dz * pull;
        }
        sync_threads();
    }
    if i < accelerations.len() {
        accelerations[i] = Body { x, y, z, mass: 0.0 };
    }
}
