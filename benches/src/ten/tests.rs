//! The ten kernels on the software device against the host, whose answers are computed in other ways.

use std::f64::consts::PI;

use cuda_driver::{Context, Driver};
use cuda_mem::{from_slice, to_device};
use ndarray::{Array2, ArrayView2, Axis};

use super::kernels::{BINS, Body, POINTS, SOFTENING, black_scholes, fft, histogram, n_body, softmax, stencil};
use crate::kernels::{BLOCK, TILE, matmul_tiled, reduction, saxpy, vector_add};

fn context() -> Context {
    let driver = Driver::new(cuda_sim::driver_api()).unwrap();
    driver.device(0).unwrap().primary_context().unwrap()
}

/// Numbers without a pattern, from 0 to 1.
fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..count).map(|_| next()).collect()
}

/// Fails unless each value is near the expected one.
fn close(got: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len());
    for (i, (&got, &expected)) in got.iter().zip(expected).enumerate() {
        let error = (f64::from(got) - expected).abs() / expected.abs().max(1.0);
        assert!(error < tolerance, "element {i} is {got}, not {expected}");
    }
}

const N: usize = 1000;

#[test]
fn vectors_are_added() {
    let (x, y) = (noise(N, 1), noise(N, 2));
    let mut out = from_slice(&context(), &[0.0_f32; N]).unwrap();
    let (dx, dy) = (from_slice(&context(), &x).unwrap(), from_slice(&context(), &y).unwrap());
    vector_add::launch((N.div_ceil(BLOCK), BLOCK), &dx, &dy, &mut out).unwrap();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    assert_eq!(out.copy_to_host().unwrap().to_vec(), expected);
}

#[test]
fn saxpy_adds_the_multiple() {
    let (x, y) = (noise(N, 1), noise(N, 2));
    let (dx, mut dy) = (from_slice(&context(), &x).unwrap(), from_slice(&context(), &y).unwrap());
    saxpy::launch((N.div_ceil(BLOCK), BLOCK), 2.5, &dx, &mut dy).unwrap();
    let expected: Vec<f64> = x.iter().zip(&y).map(|(&x, &y)| 2.5 * f64::from(x) + f64::from(y)).collect();
    close(&dy.copy_to_host().unwrap().to_vec(), &expected, 1e-6);
}

#[test]
fn tiles_multiply() {
    let matrix = |rows, cols, seed| Array2::from_shape_vec((rows, cols), noise(rows * cols, seed)).unwrap();
    let (a, b) = (matrix(37, 29, 1), matrix(29, 41, 2));
    let (da, db) = (to_device(&context(), &a).unwrap(), to_device(&context(), &b).unwrap());
    let mut dc = cuda_mem::zeros::<f32, _>(&context(), (37, 41)).unwrap();
    let grid = (41_usize.div_ceil(TILE), 37_usize.div_ceil(TILE));
    matmul_tiled::<TILE>::launch((grid, (TILE, TILE)), &da, &db, &mut dc).unwrap();
    let expected = a.mapv(f64::from).dot(&b.mapv(f64::from)).into_raw_vec_and_offset().0;
    close(&dc.copy_to_host().unwrap().into_raw_vec_and_offset().0, &expected, 1e-5);
}

#[test]
fn blocks_are_summed() {
    let x = noise(N, 3);
    let blocks = N.div_ceil(BLOCK);
    let mut sums = from_slice(&context(), &vec![-1.0_f32; blocks]).unwrap();
    reduction::launch((blocks, BLOCK), &from_slice(&context(), &x).unwrap(), &mut sums).unwrap();
    let sum = |block: &[f32]| block.iter().copied().map(f64::from).sum();
    let expected: Vec<f64> = x.chunks(BLOCK).map(sum).collect();
    close(&sums.copy_to_host().unwrap().to_vec(), &expected, 1e-5);
}

#[test]
fn bytes_are_counted() {
    let data: Vec<u8> = noise(10_000, 4).iter().map(|x| (x * x * 256.0) as u8).collect();
    let mut counts = from_slice(&context(), &[0_u32; BINS]).unwrap();
    histogram::launch((5, 96), &from_slice(&context(), &data).unwrap(), &mut counts).unwrap();
    let mut expected = vec![0; BINS];
    data.iter().for_each(|&byte| expected[usize::from(byte)] += 1);
    assert_eq!(counts.copy_to_host().unwrap().to_vec(), expected);
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

#[test]
fn options_have_their_price() {
    const COUNT: usize = 40;
    let scaled =
        |seed, low: f32, high: f32| -> Vec<f32> { noise(COUNT, seed).iter().map(|x| low + (high - low) * x).collect() };
    let (price, strike, years) = (scaled(5, 5.0, 30.0), scaled(6, 1.0, 100.0), scaled(7, 0.25, 10.0));
    let input = [&price, &strike, &years].map(|values| from_slice(&context(), values).unwrap());
    let [mut call, mut put] = [(); 2].map(|()| from_slice(&context(), &[-1.0_f32; COUNT]).unwrap());
    black_scholes::launch((2, 32), 0.02, 0.3, &input[0], &input[1], &input[2], &mut call, &mut put).unwrap();
    let options = price.iter().zip(&strike).zip(&years).map(|((&s, &x), &t)| [s, x, t].map(f64::from));
    let calls: Vec<f64> = options.clone().map(|[s, x, t]| integrated_call(s, x, t, 0.02, 0.3)).collect();
    // A call less a put is the price less the strike's present value.
    let puts: Vec<f64> = options.zip(&calls).map(|([s, x, t], call)| call - s + x * (-0.02 * t).exp()).collect();
    close(&call.copy_to_host().unwrap().to_vec(), &calls, 1e-4);
    close(&put.copy_to_host().unwrap().to_vec(), &puts, 1e-4);
}

#[test]
fn rows_become_probabilities() {
    let x = Array2::from_shape_vec((3, N), noise(3 * N, 8)).unwrap() * 20.0 - 10.0;
    let mut out = cuda_mem::zeros::<f32, _>(&context(), (3, N)).unwrap();
    softmax::launch((3, BLOCK), &to_device(&context(), &x).unwrap(), &mut out).unwrap();
    let powers = x.mapv(|x| f64::from(x).exp());
    let expected = &powers / &powers.sum_axis(Axis(1)).insert_axis(Axis(1));
    let (got, expected) = (out.copy_to_host().unwrap() * 1e3, expected * 1e3);
    close(&got.into_raw_vec_and_offset().0, &expected.into_raw_vec_and_offset().0, 1e-4);
}

#[test]
fn heat_spreads() {
    let x = Array2::from_shape_vec((30, 45), noise(30 * 45, 9)).unwrap();
    let mut out = cuda_mem::zeros::<f32, _>(&context(), (30, 45)).unwrap();
    stencil::launch(((3, 2), (16, 16)), 0.1, &to_device(&context(), &x).unwrap(), &mut out).unwrap();
    let wide = x.mapv(f64::from);
    let mut expected = Array2::zeros((30, 45));
    let windows = wide.windows((3, 3));
    for (cell, near) in expected.slice_mut(ndarray::s![1..29, 1..44]).iter_mut().zip(windows) {
        let near: ArrayView2<'_, f64> = near;
        let around = near[[0, 1]] + near[[1, 0]] + near[[1, 2]] + near[[2, 1]];
        *cell = 0.6 * near[[1, 1]] + 0.1 * around;
    }
    close(&out.copy_to_host().unwrap().into_raw_vec_and_offset().0, &expected.into_raw_vec_and_offset().0, 1e-5);
}

#[test]
fn signals_become_frequencies() {
    let (re, im) = (noise(2 * POINTS, 10), noise(2 * POINTS, 11));
    let [mut dre, mut dim] = [&re, &im].map(|values| from_slice(&context(), values).unwrap());
    fft::launch((2, BLOCK), &mut dre, &mut dim).unwrap();
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
    close(&dre.copy_to_host().unwrap().to_vec(), &expected_re, 1e-4);
    close(&dim.copy_to_host().unwrap().to_vec(), &expected_im, 1e-4);
}

#[test]
fn bodies_attract_each_other() {
    const COUNT: usize = 300;
    let parts = [12, 13, 14, 15].map(|seed| noise(COUNT, seed));
    let body = |i: usize| Body { x: parts[0][i], y: parts[1][i], z: parts[2][i], mass: parts[3][i] };
    let bodies: Vec<Body> = (0..COUNT).map(body).collect();
    let nobody = Body { x: -1.0, y: -1.0, z: -1.0, mass: -1.0 };
    let mut accelerations = from_slice(&context(), &[nobody; COUNT]).unwrap();
    n_body::launch((2, BLOCK), &from_slice(&context(), &bodies).unwrap(), &mut accelerations).unwrap();
    let place = |body: &Body| [body.x, body.y, body.z].map(f64::from);
    let mut expected = Vec::new();
    for here in &bodies {
        let mut sum = [0.0; 3];
        for other in &bodies {
            let (from, to) = (place(here), place(other));
            let way = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
            let square: f64 = way.iter().map(|x| x * x).sum::<f64>() + f64::from(SOFTENING);
            let pull = f64::from(other.mass) / square.powf(1.5);
            sum.iter_mut().zip(way).for_each(|(sum, way)| *sum += way * pull);
        }
        expected.extend(sum.into_iter().chain([0.0]));
    }
    let got = accelerations.copy_to_host().unwrap();
    let got: Vec<f32> = got.iter().flat_map(|body| [body.x, body.y, body.z, body.mass]).collect();
    close(&got, &expected, 1e-3);
}
