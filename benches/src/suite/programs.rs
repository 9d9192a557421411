//! Small launches of the suite's kernels, with the expected results, which the host computes by other methods.

use std::f64::consts::PI;

use ndarray::{Array2, ArrayView2, Axis};

use super::kernels::{BINS, POINTS, SOFTENING};
use super::launch::{Arg, Launch, matrix, noise};
use crate::kernels::{BLOCK, TILE};

/// A launch of a kernel with its results.
pub(super) struct Program {
    pub(super) launch: Launch,
    /// The expected contents of arguments after the launch, with the arguments' indices.
    pub(super) expected: Vec<(usize, Vec<f64>)>,
    /// The tolerance relative to the expected number, or to `unit` if that is larger.
    pub(super) tolerance: f64,
    pub(super) unit: f64,
}

fn numbers(matrix: Array2<f64>) -> Vec<f64> {
    matrix.into_iter().collect()
}

const N: usize = 1000;

/// A launch of each kernel.
pub(super) fn all() -> Vec<Program> {
    vec![
        vector_add(),
        saxpy(),
        tiled_matmul(),
        reduction(),
        histogram(),
        black_scholes(),
        softmax(),
        stencil(),
        fft(),
        n_body(),
    ]
}

/// A one-dimensional launch.
fn row(
    name: &'static str,
    shape: (usize, usize),
    args: Vec<Arg>,
    expected: Vec<(usize, Vec<f64>)>,
    tolerance: f64,
) -> Program {
    Program { launch: Launch::row(name, shape, args), expected, tolerance, unit: 1.0 }
}

fn vector_add() -> Program {
    let (x, y) = (noise(N, 1), noise(N, 2));
    let expected = x.iter().zip(&y).map(|(x, y)| f64::from(x + y)).collect();
    let args = vec![Arg::Row(x), Arg::Row(y), Arg::Row(vec![0.0; N])];
    row("vector_add", (N.div_ceil(BLOCK), BLOCK), args, vec![(2, expected)], f64::MIN_POSITIVE)
}

fn saxpy() -> Program {
    let (x, y) = (noise(N, 1), noise(N, 2));
    let expected = x.iter().zip(&y).map(|(&x, &y)| 2.5 * f64::from(x) + f64::from(y)).collect();
    let args = vec![Arg::Number(2.5), Arg::Row(x), Arg::Row(y)];
    row("saxpy", (N.div_ceil(BLOCK), BLOCK), args, vec![(2, expected)], 1e-6)
}

fn tiled_matmul() -> Program {
    let (a, b) = (matrix(37, 29, 1), matrix(29, 41, 2));
    let expected = numbers(a.mapv(f64::from).dot(&b.mapv(f64::from)));
    let args = vec![Arg::Matrix(a), Arg::Matrix(b), Arg::Matrix(Array2::zeros((37, 41)))];
    let grid = [41_usize.div_ceil(TILE), 37_usize.div_ceil(TILE)];
    let launch = Launch { name: "tiled_matmul", grid, block: [TILE, TILE], args };
    Program { launch, expected: vec![(2, expected)], tolerance: 1e-5, unit: 1.0 }
}

fn reduction() -> Program {
    let x = noise(N, 3);
    let blocks = N.div_ceil(BLOCK);
    let sum = |block: &[f32]| block.iter().copied().map(f64::from).sum();
    let expected = x.chunks(BLOCK).map(sum).collect();
    row("reduction", (blocks, BLOCK), vec![Arg::Row(x), Arg::Row(vec![-1.0; blocks])], vec![(1, expected)], 1e-5)
}

fn histogram() -> Program {
    let data: Vec<u8> = noise(10_000, 4).iter().map(|x| (x * x * 256.0) as u8).collect();
    let mut expected = vec![0.0; BINS];
    data.iter().for_each(|&byte| expected[usize::from(byte)] += 1.0);
    let args = vec![Arg::Bytes(data), Arg::Counts(vec![0; BINS])];
    row("histogram", (5, 96), args, vec![(1, expected)], f64::MIN_POSITIVE)
}

/// The price of a call with a drift of `rate`, as the mean of its value over the normal distribution.
fn integrated_call(price: f64, strike: f64, years: f64, rate: f64, volatility: f64) -> f64 {
    let (steps, width) = (20_000, 16.0);
    let mut sum = 0.0;
    for step in 0..steps {
        let z = (f64::from(step) + 0.5) / f64::from(steps) * width - width / 2.0;
        let end = price * ((rate - volatility * volatility / 2.0) * years + volatility * years.sqrt() * z).exp();
        sum += (end - strike).max(0.0) * (-z * z / 2.0).exp();
    }
    (-rate * years).exp() * sum * width / f64::from(steps) / (2.0 * PI).sqrt()
}

fn black_scholes() -> Program {
    const COUNT: usize = 40;
    let scaled =
        |seed, low: f32, high: f32| -> Vec<f32> { noise(COUNT, seed).iter().map(|x| low + (high - low) * x).collect() };
    let (price, strike, years) = (scaled(5, 5.0, 30.0), scaled(6, 1.0, 100.0), scaled(7, 0.25, 10.0));
    let options: Vec<[f64; 3]> =
        price.iter().zip(&strike).zip(&years).map(|((&s, &x), &t)| [s, x, t].map(f64::from)).collect();
    let calls: Vec<f64> = options.iter().map(|&[s, x, t]| integrated_call(s, x, t, 0.02, 0.3)).collect();
    // Put-call parity: a call less a put is the price less the strike's present value.
    let puts = options.iter().zip(&calls).map(|([s, x, t], call)| call - s + x * (-0.02 * t).exp()).collect();
    let mut args = vec![Arg::Number(0.02), Arg::Number(0.3)];
    args.extend([price, strike, years, vec![-1.0; COUNT], vec![-1.0; COUNT]].map(Arg::Row));
    row("black_scholes", (2, 32), args, vec![(5, calls), (6, puts)], 1e-4)
}

fn softmax() -> Program {
    let x = matrix(3, N, 8) * 20.0 - 10.0;
    let powers = x.mapv(|x| f64::from(x).exp());
    let expected = numbers(&powers / &powers.sum_axis(Axis(1)).insert_axis(Axis(1)));
    let args = vec![Arg::Matrix(x), Arg::Matrix(Array2::zeros((3, N)))];
    Program { unit: 1e-3, ..row("softmax", (3, BLOCK), args, vec![(1, expected)], 1e-4) }
}

fn stencil() -> Program {
    let x = matrix(30, 45, 9);
    let wide = x.mapv(f64::from);
    let mut expected = Array2::zeros((30, 45));
    let windows = wide.windows((3, 3));
    for (cell, near) in expected.slice_mut(ndarray::s![1..29, 1..44]).iter_mut().zip(windows) {
        let near: ArrayView2<'_, f64> = near;
        let around = near[[0, 1]] + near[[1, 0]] + near[[1, 2]] + near[[2, 1]];
        *cell = 0.6 * near[[1, 1]] + 0.1 * around;
    }
    let args = vec![Arg::Number(0.1), Arg::Matrix(x), Arg::Matrix(Array2::zeros((30, 45)))];
    let launch = Launch { name: "stencil", grid: [3, 2], block: [TILE, TILE], args };
    Program { launch, expected: vec![(2, numbers(expected))], tolerance: 1e-5, unit: 1.0 }
}

fn fft() -> Program {
    let (re, im) = (noise(2 * POINTS, 10), noise(2 * POINTS, 11));
    let (mut expected_re, mut expected_im) = (Vec::new(), Vec::new());
    for (re, im) in re.chunks(POINTS).zip(im.chunks(POINTS)) {
        for k in 0..POINTS {
            let (mut sum_re, mut sum_im) = (0.0, 0.0);
            for (n, (&re, &im)) in re.iter().zip(im).enumerate() {
                let (sin, cos) = (-2.0 * PI * ((k * n) % POINTS) as f64 / POINTS as f64).sin_cos();
                let (re, im) = (f64::from(re), f64::from(im));
                sum_re += re * cos - im * sin;
                sum_im += re * sin + im * cos;
            }
            expected_re.push(sum_re);
            expected_im.push(sum_im);
        }
    }
    row("fft", (2, BLOCK), vec![Arg::Row(re), Arg::Row(im)], vec![(0, expected_re), (1, expected_im)], 1e-4)
}

fn n_body() -> Program {
    const COUNT: usize = 300;
    let parts = [12, 13, 14, 15].map(|seed| noise(COUNT, seed));
    let bodies: Vec<[f32; 4]> = (0..COUNT).map(|i| [0, 1, 2, 3].map(|part: usize| parts[part][i])).collect();
    let mut expected = Vec::new();
    for here in &bodies {
        let mut sum = [0.0; 3];
        for other in &bodies {
            let way = [0, 1, 2].map(|axis| f64::from(other[axis]) - f64::from(here[axis]));
            let square: f64 = way.iter().map(|x| x * x).sum::<f64>() + f64::from(SOFTENING);
            let pull = f64::from(other[3]) / square.powf(1.5);
            sum.iter_mut().zip(way).for_each(|(sum, way)| *sum += way * pull);
        }
        expected.extend(sum.into_iter().chain([0.0]));
    }
    let args = vec![Arg::Bodies(bodies.concat()), Arg::Bodies(vec![-1.0; 4 * COUNT])];
    row("n_body", (2, BLOCK), args, vec![(1, expected)], 1e-3)
}
