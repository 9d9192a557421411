//! Example: a sum of an array, by blocks in shared memory and by warps with shuffles.

use cuda_prelude::*;
use ndarray::Array1;

#[kernel]
fn block_sums<const THREADS: usize>(x: &[i64], sums: &mut [i64]) {
    let part = shared!([i64; THREADS]);
    let (t, i) = (thread_idx().x, grid::<1>());
    part[t] = if i < x.len() { x[i] } else { 0 };
    sync_threads();
    let mut stride = THREADS / 2;
    while stride > 0 {
        if t < stride {
            part[t] += part[t + stride];
        }
        sync_threads();
        stride /= 2;
    }
    if t == 0 {
        sums[block_idx().x] = part[0];
    }
}

#[kernel]
fn warp_sums(x: &[f64], sum: &mut [f64]) {
    let mut own = 0.0;
    for i in (grid::<1>()..x.len()).step_by(grid_size::<1>()) {
        own += x[i];
    }
    let mut delta = warp_size() as u32 / 2;
    while delta > 0 {
        own += shfl_down_sync(FULL_MASK, own, delta);
        delta /= 2;
    }
    if lane_id() == 0 {
        atomic_add(&mut sum[0], own);
    }
}

#[test]
fn by_blocks() -> Result<()> {
    let host = Array1::from_iter((0..100_000_i64).map(|i| i * i % 1009 - 500));
    let x = to_device(&host)?;
    let blocks = host.len().div_ceil(256);
    let (mut sums, mut total) = (zeros::<i64, _>(blocks)?, zeros::<i64, _>(1)?);
    block_sums::<256>::launch((blocks, 256), &x, &mut sums)?;
    block_sums::<512>::launch((1, 512), &sums, &mut total)?;
    assert_eq!(total.copy_to_host()?[0], host.sum());
    Ok(())
}

#[test]
fn by_warps() -> Result<()> {
    // Sums of small integers are exact in any order.
    let host = Array1::from_iter((0..100_000).map(|i| f64::from(i % 1000)));
    let mut sum = vec![0.0];
    warp_sums::launch((16, 128), &to_device(&host)?, &mut sum)?;
    assert_eq!(sum[0], host.sum());
    Ok(())
}
