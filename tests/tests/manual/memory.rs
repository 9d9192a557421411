//! Memory management: device arrays, transfers, shared memory, local arrays, constant tables.

use cuda_prelude::*;
use ndarray::{Array1, Array2, array};

/// Each block reverses its part in shared memory; `N` is the size of the block.
#[kernel]
fn reverse_blocks<const N: usize>(x: &mut [i32]) {
    let part = shared!([i32; N]);
    let (t, i) = (thread_idx().x, grid::<1>());
    part[t] = x[i];
    sync_threads();
    x[i] = part[N - 1 - t];
}

/// The median of five neighbours, sorted in a local array.
#[kernel]
fn median_of_five(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < x.len() {
        let mut window = [0.0; 5];
        for (k, slot) in window.iter_mut().enumerate() {
            *slot = x[(i + k).clamp(2, x.len() + 1) - 2];
        }
        for last in (1..5).rev() {
            for k in 0..last {
                if window[k] > window[k + 1] {
                    window.swap(k, k + 1);
                }
            }
        }
        out[i] = window[2];
    }
}

const WEIGHTS: [f64; 4] = [0.5, -1.0, 2.0, 0.25];

#[kernel]
fn weighted(x: &[f64], out: &mut [f64]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] * WEIGHTS[i % WEIGHTS.len()];
    }
}

#[test]
fn arrays_are_copied_to_the_device_and_back() -> Result<()> {
    let host = Array2::from_shape_fn((20, 30), |(i, j)| i as f64 - 2.5 * j as f64);
    let device = to_device(&host)?;
    assert_eq!(device.dim(), (20, 30));
    assert_eq!(device.copy_to_host()?, host);

    let mut other = device_array_like(&device)?;
    other.copy_from_host(&host.mapv(|v| v + 1.0))?;
    let mut back = Array2::zeros((20, 30));
    other.copy_to_host_into(&mut back)?;
    assert_eq!(back, host + 1.0);
    assert_eq!(zeros::<u8, _>(5)?.copy_to_host()?, array![0, 0, 0, 0, 0]);
    Ok(())
}

#[test]
fn shared_memory() -> Result<()> {
    let mut x = to_device(&Array1::from_iter(0..256))?;
    reverse_blocks::<64>::launch((4, 64), &mut x)?;
    assert_eq!(x.copy_to_host()?, Array1::from_iter((0..256).map(|i| i / 64 * 64 + 63 - i % 64)));
    Ok(())
}

#[test]
fn an_array_of_each_thread() -> Result<()> {
    let x = vec![9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 100.0, 4.0];
    let mut out = vec![0.0; x.len()];
    median_of_five::launch((1, 32), &x, &mut out)?;
    assert_eq!(out, [9.0, 8.0, 7.0, 3.0, 7.0, 4.0, 4.0, 4.0]);
    Ok(())
}

#[test]
fn a_constant_table() -> Result<()> {
    let x: Vec<f64> = (0..100).map(f64::from).collect();
    let mut out = vec![0.0; 100];
    weighted::launch((4, 32), &x, &mut out)?;
    assert!(out.iter().enumerate().all(|(i, &v)| v == i as f64 * [0.5, -1.0, 2.0, 0.25][i % 4]), "{out:?}");
    Ok(())
}
