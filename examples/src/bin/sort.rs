//! Bitonic sort: passes over long distances run in global memory, all others in shared memory.

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Options, palette, save};
use cuda_prelude::*;
use ndarray::{Array1, Array2, Ix1};

const THREADS: usize = 256;
/// Keys that a block sorts in shared memory, two for each thread.
const TILE: usize = 2 * THREADS;

/// Position of the first key of a pair; the second one is `distance` behind it.
#[device]
fn lower_of_pair(pair: usize, distance: usize) -> usize {
    2 * pair - pair % distance
}

/// Compares two keys, and exchanges them if they are out of order.
#[device]
fn compare_exchange(keys: &mut [u32], lower: usize, distance: usize, ascending: bool) {
    if (keys[lower] > keys[lower + distance]) == ascending {
        keys.swap(lower, lower + distance);
    }
}

/// One pass in global memory. Runs of `size` keys become ascending and descending alternately.
#[kernel]
fn global_pass(keys: &mut [u32], size: usize, distance: usize) {
    let pair = grid::<1>();
    if pair < keys.len() / 2 {
        let lower = lower_of_pair(pair, distance);
        compare_exchange(keys, lower, distance, lower & size == 0);
    }
}

/// The passes from `distance`, at most `THREADS`, down to 1, in shared memory.
#[kernel(launch_bounds(256))]
fn shared_passes(keys: &mut [u32], size: usize, distance: usize) {
    let tile = shared!([u32; TILE]);
    let (thread, start) = (thread_idx().x, block_idx().x * TILE);
    tile[thread] = keys[start + thread];
    tile[thread + THREADS] = keys[start + thread + THREADS];
    let mut distance = distance;
    while distance > 0 {
        sync_threads();
        let lower = lower_of_pair(thread, distance);
        compare_exchange(tile, lower, distance, (start + lower) & size == 0);
        distance /= 2;
    }
    sync_threads();
    keys[start + thread] = tile[thread];
    keys[start + thread + THREADS] = tile[thread + THREADS];
}

/// Sorts keys in ascending order. Their number is a power of two, at least `TILE`.
fn sort(keys: &mut DeviceArray<u32, Ix1>) -> Result<()> {
    let blocks = keys.len() / TILE;
    let mut size = 2;
    while size <= keys.len() {
        let mut distance = size / 2;
        while distance > THREADS {
            global_pass::launch((blocks, THREADS), &mut *keys, size, distance)?;
            distance /= 2;
        }
        shared_passes::launch((blocks, THREADS), &mut *keys, size, distance)?;
        size *= 2;
    }
    Ok(())
}

/// The keys before the first pass and after each one, a row for each state.
fn states(count: usize) -> Result<Array2<u32>> {
    let mut keys = to_device(&random_keys(count))?;
    let mut states = keys.copy_to_host()?.to_vec();
    for size in (1..).map(|k| 1 << k).take_while(|&size| size <= count) {
        for distance in (1..).map(|k| size >> k).take_while(|&distance| distance > 0) {
            global_pass::launch(LaunchConfig::new(1, count / 2).quiet(), &mut keys, size, distance)?;
            states.extend(keys.copy_to_host()?);
        }
    }
    Ok(Array2::from_shape_vec((states.len() / count, count), states)?)
}

/// Pseudorandom keys: a multiplicative hash of each position.
fn random_keys(count: usize) -> Array1<u32> {
    let hash = |i: u32| {
        let product = (i + 1).wrapping_mul(0x9e37_79b9);
        (product ^ product >> 15).wrapping_mul(0x85eb_ca6b)
    };
    Array1::from_iter((0..count as u32).map(hash))
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let host = random_keys(options.pick(1 << 20, 1 << 12));
    let mut keys = to_device(&host)?;
    let start = Instant::now();
    sort(&mut keys)?;
    synchronize()?;
    println!("{} keys in {:.1} ms", host.len(), start.elapsed().as_secs_f64() * 1e3);

    let mut expected = host.to_vec();
    expected.sort_unstable();
    ensure!(keys.copy_to_host()?.to_vec() == expected, "the keys are not in the host's order");

    let states = states(256)?;
    let (rows, columns) = states.dim();
    let larger = Array2::from_shape_fn((8 * rows, 2 * columns), |(row, column)| states[[row / 8, column / 2]]);
    save(&options.file("sort.png"), larger.mapv(|key| palette(key as f32 / u32::MAX as f32)).view())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
