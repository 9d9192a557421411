//! Atomic operations: the maximum of an array, a histogram, a lock-free push.

use cuda_prelude::*;

#[kernel]
fn largest(x: &[i64], result: &mut [i64]) {
    let i = grid::<1>();
    if i < x.len() {
        atomic_max(&mut result[0], x[i]);
    }
}

/// Counts in shared memory, then adds the block's counts to the total.
#[kernel]
fn histogram<const BINS: usize>(x: &[f32], low: f32, high: f32, counts: &mut [u32]) {
    let own = shared!([u32; BINS]);
    for bin in (thread_idx().x..BINS).step_by(block_dim().x) {
        own[bin] = 0;
    }
    sync_threads();
    for i in (grid::<1>()..x.len()).step_by(grid_size::<1>()) {
        if x[i] >= low && x[i] < high {
            let bin = ((x[i] - low) / (high - low) * BINS as f32) as usize;
            atomic_add(&mut own[bin.min(BINS - 1)], 1);
        }
    }
    sync_threads();
    for bin in (thread_idx().x..BINS).step_by(block_dim().x) {
        atomic_add(&mut counts[bin], own[bin]);
    }
}

/// Keeps the even numbers, in any order; `kept` is their number.
#[kernel]
fn keep_even(x: &[u32], kept: &mut [u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() && x[i] % 2 == 0 {
        let place = atomic_add(&mut kept[0], 1);
        out[place as usize] = x[i];
    }
}

#[test]
fn the_largest_value() -> Result<()> {
    let x: Vec<i64> = (0..10_000_i64).map(|i| i * 7919 % 10_007 - 20_000).collect();
    let mut result = vec![i64::MIN];
    largest::launch((40, 256), &x, &mut result)?;
    assert_eq!(Some(&result[0]), x.iter().max());
    Ok(())
}

#[test]
fn a_histogram() -> Result<()> {
    let x: Vec<f32> = (0..20_000).map(|i| (i % 100) as f32 + 0.5).collect();
    let mut counts = vec![0; 10];
    histogram::<10>::launch((8, 128), &x, 0.0, 50.0, &mut counts)?;
    assert_eq!(counts, [1000; 10]);
    Ok(())
}

#[test]
fn places_by_a_counter() -> Result<()> {
    let x: Vec<u32> = (0..5000).map(|i| i * 3).collect();
    let (mut kept, mut out) = (vec![0], vec![u32::MAX; 5000]);
    keep_even::launch((20, 256), &x, &mut kept, &mut out)?;
    assert_eq!(kept, [2500]);
    out.sort_unstable();
    assert!(out[..2500].iter().enumerate().all(|(i, &v)| v == 6 * i as u32));
    assert_eq!(out[2500..], [u32::MAX; 2500]);
    Ok(())
}
