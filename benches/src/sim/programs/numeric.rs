//! Programs of physics, statistics and arithmetic.

use std::f32::consts::PI;

use anyhow::Result;
use cuda_prelude::*;

use super::{Program, Random, in_blocks, program};
use crate::suite::kernels::{
    Body, POINTS, SOFTENING, black_scholes as prices, fft as transform, n_body as attract, normal,
};

/// Threads of a block.
const BLOCK: usize = 256;

/// Directions of a lattice cell, with their weights.
const DIRECTIONS: usize = 9;
const DX: [i32; DIRECTIONS] = [0, 1, 0, -1, 0, 1, -1, -1, 1];
const DY: [i32; DIRECTIONS] = [0, 0, 1, 0, -1, 1, 1, -1, -1];
const WEIGHTS: [f32; DIRECTIONS] =
    [4.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0];
/// Side of the lattice, which is periodic.
const SIDE: usize = 128;
const CELLS: usize = SIDE * SIDE;
/// The inverse of the relaxation time.
const OMEGA: f32 = 1.2;

/// The populations of a cell after collision.
#[device]
fn collide(own: &mut [f32; DIRECTIONS]) {
    let (mut density, mut u, mut v) = (0.0, 0.0, 0.0);
    for d in 0..DIRECTIONS {
        density += own[d];
        u += own[d] * DX[d] as f32;
        v += own[d] * DY[d] as f32;
    }
    u /= density;
    v /= density;
    for d in 0..DIRECTIONS {
        let along = DX[d] as f32 * u + DY[d] as f32 * v;
        let rest = WEIGHTS[d] * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * (u * u + v * v));
        own[d] += OMEGA * (rest - own[d]);
    }
}

/// A step of the lattice Boltzmann method D2Q9: populations flow in from the neighbours and collide.
#[kernel]
fn flow(before: &[f32], after: &mut [f32]) {
    let i = grid::<1>();
    if i < CELLS {
        let (x, y) = ((i % SIDE) as i32, (i / SIDE) as i32);
        let mut own = [0.0; DIRECTIONS];
        for d in 0..DIRECTIONS {
            let (from_x, from_y) = ((x - DX[d]) as usize % SIDE, (y - DY[d]) as usize % SIDE);
            own[d] = before[d * CELLS + from_y * SIDE + from_x];
        }
        collide(&mut own);
        for d in 0..DIRECTIONS {
            after[d * CELLS + i] = own[d];
        }
    }
}

pub(super) fn lattice_boltzmann() -> Result<Program> {
    let mut random = Random(41);
    let before: Vec<f32> =
        (0..DIRECTIONS * CELLS).map(|i| WEIGHTS[i / CELLS] * (1.0 + 0.1 * random.number())).collect();
    let on_device = from_slice(&before)?;
    program(
        vec![0.0; DIRECTIONS * CELLS],
        move |out| flow::launch(in_blocks(CELLS, BLOCK), &on_device, out),
        move |out| {
            for y in 0..SIDE {
                for x in 0..SIDE {
                    let mut own = std::array::from_fn(|d| {
                        let from_x = (x as i32 - DX[d]) as usize % SIDE;
                        let from_y = (y as i32 - DY[d]) as usize % SIDE;
                        before[d * CELLS + from_y * SIDE + from_x]
                    });
                    collide(&mut own);
                    for d in 0..DIRECTIONS {
                        out[d * CELLS + y * SIDE + x] = own[d];
                    }
                }
            }
        },
    )
}

/// The number of random points within the unit circle, of each thread's own sequence by Marsaglia's xorshift.
#[device]
fn points_inside(seed: u32, count: u32) -> u32 {
    let (mut state, mut inside) = (seed.wrapping_mul(0x9e37_79b9) | 1, 0);
    let mut at = [0.0; 2];
    for _ in 0..count {
        for axis in 0..2 {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            at[axis] = (state >> 8) as f32 / 16_777_216.0;
        }
        if at[0] * at[0] + at[1] * at[1] < 1.0 {
            inside += 1;
        }
    }
    inside
}

#[kernel]
fn sample(count: u32, inside: &mut [u32]) {
    let i = grid::<1>();
    if i < inside.len() {
        inside[i] = points_inside(i as u32, count);
    }
}

pub(super) fn monte_carlo() -> Result<Program> {
    const N: usize = 1 << 13;
    const POINTS: u32 = 64;
    program(
        vec![0; N],
        move |out| sample::launch(in_blocks(N, BLOCK), POINTS, out),
        move |out| out.iter_mut().enumerate().for_each(|(i, out)| *out = points_inside(i as u32, POINTS)),
    )
}

/// The bits behind the point of the numbers of Mandelbrot's set: with floats, its results depend on each rounding.
const FRACTION: u32 = 24;

/// The number of iterations after which a point of the plane leaves the circle of radius 2.
#[device]
fn escape(x: i64, y: i64, limit: u32) -> u32 {
    let (mut re, mut im, mut count) = (0_i64, 0_i64, 0);
    while count < limit && re * re + im * im <= 4 << (2 * FRACTION) {
        (re, im) = (((re * re - im * im) >> FRACTION) + x, ((2 * re * im) >> FRACTION) + y);
        count += 1;
    }
    count
}

#[kernel]
fn escapes(width: usize, limit: u32, counts: &mut [u32]) {
    let i = grid::<1>();
    if i < counts.len() {
        let (x, y) = ((3 << FRACTION) * (i % width) / width, (3 << FRACTION) * (i / width) / width);
        counts[i] = escape(x as i64 - (9 << (FRACTION - 2)), y as i64 - (3 << (FRACTION - 1)), limit);
    }
}

pub(super) fn mandelbrot() -> Result<Program> {
    const WIDTH: usize = 128;
    const LIMIT: u32 = 256;
    program(
        vec![0; WIDTH * WIDTH],
        move |out| escapes::launch(in_blocks(WIDTH * WIDTH, BLOCK), WIDTH, LIMIT, out),
        move |out| {
            for (i, out) in out.iter_mut().enumerate() {
                let (x, y) = ((3 << FRACTION) * (i % WIDTH) / WIDTH, (3 << FRACTION) * (i / WIDTH) / WIDTH);
                *out = escape(x as i64 - (9 << (FRACTION - 2)), y as i64 - (3 << (FRACTION - 1)), LIMIT);
            }
        },
    )
}

/// Centres of the clusters.
const CENTRES: usize = 16;

/// The nearest centre of a point in space.
#[device]
fn nearest(point: [f32; 3], centres: &[f32]) -> u32 {
    let (mut least, mut found) = (f32::INFINITY, 0);
    for c in 0..CENTRES {
        let (x, y, z) = (point[0] - centres[3 * c], point[1] - centres[3 * c + 1], point[2] - centres[3 * c + 2]);
        let distance = x * x + y * y + z * z;
        if distance < least {
            least = distance;
            found = c as u32;
        }
    }
    found
}

/// The nearest centre of each point, and the number of points of each centre.
#[kernel]
fn assign(points: &[f32], centres: &[f32], sizes: &mut [u32], labels: &mut [u32]) {
    let i = grid::<1>();
    if i < labels.len() {
        let label = nearest([points[3 * i], points[3 * i + 1], points[3 * i + 2]], centres);
        labels[i] = label;
        atomic_add(&mut sizes[label as usize], 1);
    }
}

pub(super) fn k_means() -> Result<Program> {
    const N: usize = 1 << 15;
    let mut random = Random(42);
    let points: Vec<f32> = (0..3 * N).map(|_| random.number()).collect();
    let centres = points[..3 * CENTRES].to_vec();
    let (on_device, centres_on_device) = (from_slice(&points)?, from_slice(&centres)?);
    let mut sizes = zeros(CENTRES)?;
    let mut sizes_on_host = [0_u32; CENTRES];
    program(
        vec![0; N],
        move |out| assign::launch(in_blocks(N, BLOCK), &on_device, &centres_on_device, &mut sizes, out),
        move |out| {
            for (label, point) in out.iter_mut().zip(points.chunks(3)) {
                *label = nearest([point[0], point[1], point[2]], &centres);
                sizes_on_host[*label as usize] += 1;
            }
        },
    )
}

pub(super) fn fft() -> Result<Program> {
    const ROWS: usize = 64;
    let mut random = Random(43);
    let input: Vec<f32> = (0..ROWS * POINTS).map(|_| random.number()).collect();
    let initial = from_slice(&input)?;
    let mut imaginary = zeros(ROWS * POINTS)?;
    let mut im = vec![0.0_f32; POINTS];
    program(
        vec![0.0; ROWS * POINTS],
        move |out| {
            out.assign(&initial)?;
            imaginary.fill(0.0)?;
            transform::launch((ROWS, BLOCK), out, &mut imaginary)
        },
        move |out| {
            for (re, input) in out.chunks_mut(POINTS).zip(input.chunks(POINTS)) {
                for (i, value) in input.iter().enumerate() {
                    re[((i as u32).reverse_bits() >> (32 - POINTS.trailing_zeros())) as usize] = *value;
                }
                im.fill(0.0);
                let mut half = 1;
                while half < POINTS {
                    for t in 0..POINTS / 2 {
                        let k = t % half;
                        let (i, j) = (2 * t - k, 2 * t - k + half);
                        let (sin, cos) = (-PI * k as f32 / half as f32).sin_cos();
                        let (x, y) = (cos * re[j] - sin * im[j], cos * im[j] + sin * re[j]);
                        (re[j], im[j]) = (re[i] - x, im[i] - y);
                        (re[i], im[i]) = (re[i] + x, im[i] + y);
                    }
                    half *= 2;
                }
            }
        },
    )
}

/// The remainder of a product of two 64-bit numbers.
#[kernel]
fn remainders(x: &[u64], y: &[u64], modulus: u128, out: &mut [u64]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = (x[i] as u128 * y[i] as u128 % modulus) as u64;
    }
}

pub(super) fn u128_remainder() -> Result<Program> {
    const N: usize = 1 << 15;
    const MODULUS: u128 = 0x7fff_ffff_ffff_fe11;
    let mut random = Random(44);
    let mut numbers =
        || (0..N).map(|_| u64::from(random.next()) << 32 | u64::from(random.next())).collect::<Vec<u64>>();
    let (x, y) = (numbers(), numbers());
    let (a, b) = (from_slice(&x)?, from_slice(&y)?);
    program(
        vec![0; N],
        move |out| remainders::launch(in_blocks(N, BLOCK), &a, &b, MODULUS, out),
        move |out| {
            let modulus = std::hint::black_box(MODULUS);
            for ((out, x), y) in out.iter_mut().zip(&x).zip(&y) {
                *out = (u128::from(*x) * u128::from(*y) % modulus) as u64;
            }
        },
    )
}

/// A running mean, whose terms weigh less with their age: one thread.
#[kernel]
fn smooth(x: &[f32], weight: f32, out: &mut [f32]) {
    let mut mean = 0.0;
    for i in 0..x.len() {
        mean += weight * (x[i] - mean);
        out[i] = mean;
    }
}

pub(super) fn one_thread() -> Result<Program> {
    const N: usize = 1 << 19;
    const WEIGHT: f32 = 0.05;
    let mut random = Random(47);
    let x: Vec<f32> = (0..N).map(|_| random.number()).collect();
    let on_device = from_slice(&x)?;
    program(
        vec![0.0; N],
        move |out| smooth::launch((1, 1), &on_device, WEIGHT, out),
        move |out| {
            let mut mean = 0.0;
            for (out, x) in out.iter_mut().zip(&x) {
                mean += WEIGHT * (x - mean);
                *out = mean;
            }
        },
    )
}

/// Numbers of a generator after many steps.
#[kernel]
fn generated(steps: u32, out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        let mut state = i as u32;
        for _ in 0..steps {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        out[i] = state;
    }
}

/// Blocks that are no multiple of a warp.
pub(super) fn odd_blocks() -> Result<Program> {
    const N: usize = 1000;
    const STEPS: u32 = 1000;
    program(
        vec![0; N],
        move |out| generated::launch(in_blocks(N, 100), STEPS, out),
        move |out| {
            let steps = std::hint::black_box(STEPS);
            for (i, out) in (0_u32..).zip(out) {
                *out = (0..steps).fold(i, |state, _| state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
            }
        },
    )
}

pub(super) fn black_scholes() -> Result<Program> {
    const N: usize = 1 << 16;
    const RATE: f32 = 0.02;
    const VOLATILITY: f32 = 0.3;
    let mut random = Random(45);
    let mut numbers = |least: f32| (0..N).map(|_| least + 20.0 * random.number()).collect::<Vec<f32>>();
    let (price, strike, years) = (numbers(5.0), numbers(5.0), numbers(0.25));
    let (a, b, c) = (from_slice(&price)?, from_slice(&strike)?, from_slice(&years)?);
    let (mut put, mut put_on_host) = (zeros(N)?, vec![0.0; N]);
    program(
        vec![0.0; N],
        move |out| prices::launch(in_blocks(N, BLOCK), RATE, VOLATILITY, &a, &b, &c, out, &mut put),
        move |out| {
            for i in 0..N {
                let (s, x, t) = (price[i], strike[i], years[i]);
                let deviation = VOLATILITY * t.sqrt();
                let d1 = ((s / x).ln() + (RATE + 0.5 * VOLATILITY * VOLATILITY) * t) / deviation;
                let (n1, n2) = (normal(d1), normal(d1 - deviation));
                let discounted = x * (-RATE * t).exp();
                out[i] = s * n1 - discounted * n2;
                put_on_host[i] = discounted * (1.0 - n2) - s * (1.0 - n1);
            }
        },
    )
}

pub(super) fn n_body() -> Result<Program> {
    const N: usize = 1 << 10;
    let mut random = Random(46);
    let mut number = || random.number();
    let bodies: Vec<Body> = (0..N).map(|_| Body { x: number(), y: number(), z: number(), mass: number() }).collect();
    let on_device = from_slice(&bodies)?;
    program(
        bodies.clone(),
        move |out| attract::launch((N / BLOCK, BLOCK), &on_device, out),
        move |out| {
            for (out, here) in out.iter_mut().zip(&bodies) {
                let (mut x, mut y, mut z) = (0.0, 0.0, 0.0);
                for other in &bodies {
                    let (dx, dy, dz) = (other.x - here.x, other.y - here.y, other.z - here.z);
                    let inverse = 1.0 / (dx * dx + dy * dy + dz * dz + SOFTENING).sqrt();
                    let pull = other.mass * inverse * inverse * inverse;
                    x += dx * pull;
                    y += dy * pull;
                    z += dz * pull;
                }
                *out = Body { x, y, z, mass: 0.0 };
            }
        },
    )
}
