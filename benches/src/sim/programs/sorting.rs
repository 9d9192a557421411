//! Programs that sort, select, count and scan.

use anyhow::Result;
use cuda_prelude::*;

use super::{Program, Random, Vector, in_blocks, program};
use crate::suite::kernels::{BINS, histogram as count_bytes};

/// Threads of a block.
const BLOCK: usize = 256;

pub(super) fn histogram() -> Result<Program> {
    const N: usize = 1 << 20;
    let mut random = Random(21);
    let data: Vec<u8> = (0..N).map(|_| (random.below(256) & random.below(256)) as u8).collect();
    let on_device = from_slice(&data)?;
    program(
        vec![0_u32; BINS],
        move |out| {
            out.fill(0)?;
            count_bytes::launch((64, BLOCK), &on_device, out)
        },
        move |out| {
            out.fill(0);
            for byte in &data {
                out[*byte as usize] += 1;
            }
        },
    )
}

/// Threads of a block of the scan.
const SCANNERS: usize = 128;
/// Consecutive elements of a thread.
const EACH: usize = 16;
/// States of a block's sum: the block's own sum, or that of all blocks up to it.
const OWN: u64 = 1 << 32;
const TOTAL: u64 = 2 << 32;

/// The sum of the values of a block's threads up to this one, whose sums it leaves in `tile`.
#[device]
fn prefix_sum<const THREADS: usize>(tile: &mut [u32; THREADS], value: u32) -> u32 {
    let t = thread_idx().x;
    tile[t] = value;
    sync_threads();
    let mut distance = 1;
    while distance < THREADS {
        let left = if t >= distance { tile[t - distance] } else { 0 };
        sync_threads();
        tile[t] += left;
        sync_threads();
        distance *= 2;
    }
    tile[t]
}

/// The prefix sums in one pass, by decoupled look-back: each block adds up the published sums of the blocks before it.
#[kernel]
fn scan(x: &[u32], states: &mut [u64], sums: &mut [u32]) {
    let tile = shared!([u32; SCANNERS]);
    let before = shared!([u32; 1]);
    let (t, block, first) = (thread_idx().x, block_idx().x, EACH * grid::<1>());
    let mut own = [0; EACH];
    let mut sum = 0;
    for k in 0..EACH {
        sum += if first + k < x.len() { x[first + k] } else { 0 };
        own[k] = sum;
    }
    let up_to_here = prefix_sum(tile, sum);
    if t == 0 {
        let total = tile[SCANNERS - 1] as u64;
        atomic_store(&mut states[block], if block == 0 { TOTAL | total } else { OWN | total });
        let (mut sum, mut at) = (0, block);
        while at > 0 {
            let state = atomic_load(&mut states[at - 1]);
            if state != 0 {
                sum += state & 0xffff_ffff;
                at = if state >= TOTAL { 0 } else { at - 1 };
            }
        }
        atomic_store(&mut states[block], TOTAL | ((sum + total) & 0xffff_ffff));
        before[0] = sum as u32;
    }
    sync_threads();
    let start = before[0] + up_to_here - sum;
    for k in 0..EACH {
        if first + k < sums.len() {
            sums[first + k] = start + own[k];
        }
    }
}

pub(super) fn look_back_scan() -> Result<Program> {
    const N: usize = 1 << 19;
    let mut random = Random(22);
    let x: Vec<u32> = (0..N).map(|_| random.below(100) as u32).collect();
    let on_device = from_slice(&x)?;
    let blocks = N / (SCANNERS * EACH);
    let mut states = from_slice(&vec![0_u64; blocks])?;
    program(
        vec![0; N],
        move |out| {
            states.fill(0)?;
            scan::launch((blocks, SCANNERS), &on_device, &mut states, out)
        },
        move |out| {
            let mut sum = 0;
            for (out, x) in out.iter_mut().zip(&x) {
                sum += x;
                *out = sum;
            }
        },
    )
}

/// Values of a digit in the radix sort.
const DIGITS: usize = 16;
/// Bits of a digit.
const BITS: u32 = 4;
/// Threads of a block of the radix sort.
const SORTERS: usize = 64;

/// The number of occurrences of each digit in each block's keys, digit by digit.
#[kernel]
fn count_digits(shift: u32, keys: &[u32], counts: &mut [u32]) {
    let own = shared!([u32; DIGITS]);
    let t = thread_idx().x;
    if t < DIGITS {
        own[t] = 0;
    }
    sync_threads();
    for k in 0..EACH {
        let key = keys[block_idx().x * SORTERS * EACH + k * SORTERS + t];
        atomic_add(&mut own[(key >> shift) as usize % DIGITS], 1);
    }
    sync_threads();
    if t < DIGITS {
        counts[t * grid_dim().x + block_idx().x] = own[t];
    }
}

/// Replaces counts by the sums of those before them, in one block.
#[kernel]
fn offsets(counts: &mut [u32]) {
    let tile = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    let each = counts.len().div_ceil(BLOCK);
    let (first, end) = ((t * each).min(counts.len()), ((t + 1) * each).min(counts.len()));
    let mut sum = 0;
    for k in first..end {
        sum += counts[k];
    }
    let mut before = prefix_sum(tile, sum) - sum;
    for k in first..end {
        let count = counts[k];
        counts[k] = before;
        before += count;
    }
}

/// Moves each key behind those with a smaller digit, and those with the same digit before it.
#[kernel]
fn scatter(shift: u32, keys: &[u32], offsets: &[u32], sorted: &mut [u32]) {
    let places = shared!([[u32; SORTERS]; DIGITS]);
    let (t, block) = (thread_idx().x, block_idx().x);
    let first = (block * SORTERS + t) * EACH;
    for digit in 0..DIGITS {
        places[digit][t] = 0;
    }
    for k in 0..EACH {
        places[(keys[first + k] >> shift) as usize % DIGITS][t] += 1;
    }
    sync_threads();
    if t < DIGITS {
        let mut place = offsets[t * grid_dim().x + block];
        for other in 0..SORTERS {
            let count = places[t][other];
            places[t][other] = place;
            place += count;
        }
    }
    sync_threads();
    for k in 0..EACH {
        let key = keys[first + k];
        let digit = (key >> shift) as usize % DIGITS;
        sorted[places[digit][t] as usize] = key;
        places[digit][t] += 1;
    }
}

pub(super) fn radix_sort() -> Result<Program> {
    const N: usize = 1 << 16;
    let mut random = Random(23);
    let keys: Vec<u32> = (0..N).map(|_| random.next()).collect();
    let initial = from_slice(&keys)?;
    let blocks = N / (SORTERS * EACH);
    let mut other: Vector<u32> = device_array_like(&initial)?;
    let mut counts = from_slice(&vec![0_u32; DIGITS * blocks])?;
    let mut spare = vec![0; N];
    program(
        vec![0; N],
        move |out| {
            out.assign(&initial)?;
            let mut sort = |shift, from: &Vector<u32>, to: &mut Vector<u32>| {
                count_digits::launch((blocks, SORTERS), shift, from, &mut counts)?;
                offsets::launch((1, BLOCK), &mut counts)?;
                scatter::launch((blocks, SORTERS), shift, from, &counts, to)
            };
            for shift in (0..32).step_by(2 * BITS as usize) {
                sort(shift, out, &mut other)?;
                sort(shift + BITS, &other, out)?;
            }
            Ok(())
        },
        move |out| {
            out.copy_from_slice(&keys);
            for shift in (0..32).step_by(BITS as usize) {
                let mut places = [0; DIGITS];
                out.iter().for_each(|key| places[(key >> shift) as usize % DIGITS] += 1);
                let mut sum = 0;
                for place in &mut places {
                    (*place, sum) = (sum, sum + *place);
                }
                for key in out.iter() {
                    let place = &mut places[(key >> shift) as usize % DIGITS];
                    spare[*place] = *key;
                    *place += 1;
                }
                out.copy_from_slice(&spare);
            }
        },
    )
}

/// Keys that a block sorts by its network.
const NETWORK: usize = 2 * BLOCK;

/// Sorts each block's keys by Batcher's bitonic network.
#[kernel]
fn sort_blocks(keys: &mut [u32]) {
    let tile = shared!([u32; NETWORK]);
    let (t, first) = (thread_idx().x, block_idx().x * NETWORK);
    tile[t] = keys[first + t];
    tile[t + BLOCK] = keys[first + t + BLOCK];
    let mut size = 2;
    while size <= NETWORK {
        let mut distance = size / 2;
        while distance > 0 {
            sync_threads();
            let i = 2 * t - t % distance;
            let (a, b) = (tile[i], tile[i + distance]);
            if (a > b) == (i & size == 0) {
                tile[i] = b;
                tile[i + distance] = a;
            }
            distance /= 2;
        }
        size *= 2;
    }
    sync_threads();
    keys[first + t] = tile[t];
    keys[first + t + BLOCK] = tile[t + BLOCK];
}

pub(super) fn sorting_network() -> Result<Program> {
    const N: usize = 1 << 16;
    let mut random = Random(24);
    let keys: Vec<u32> = (0..N).map(|_| random.next()).collect();
    let initial = from_slice(&keys)?;
    program(
        vec![0; N],
        move |out| {
            out.assign(&initial)?;
            sort_blocks::launch((N / NETWORK, BLOCK), out)
        },
        move |out| {
            out.copy_from_slice(&keys);
            for keys in out.chunks_mut(NETWORK) {
                let mut size = 2;
                while size <= NETWORK {
                    let mut distance = size / 2;
                    while distance > 0 {
                        for t in 0..BLOCK {
                            let i = 2 * t - t % distance;
                            if (keys[i] > keys[i + distance]) == (i & size == 0) {
                                keys.swap(i, i + distance);
                            }
                        }
                        distance /= 2;
                    }
                    size *= 2;
                }
            }
        },
    )
}

/// Numbers of which a thread selects one.
const ROW: usize = 32;

/// Moves the number that is at index `rank` in sorted order there, by Hoare's algorithm.
#[device]
fn select(row: &mut [u32; ROW], rank: usize) -> u32 {
    let (mut low, mut high) = (0, ROW - 1);
    while low < high {
        let pivot = row[(low + high) / 2];
        let (mut i, mut j) = (low, high);
        loop {
            while row[i] < pivot {
                i += 1;
            }
            while row[j] > pivot {
                j -= 1;
            }
            if i >= j {
                break;
            }
            row.swap(i, j);
            i += 1;
            j -= 1;
        }
        if rank <= j {
            high = j;
        } else {
            low = j + 1;
        }
    }
    row[rank]
}

/// The median of each row.
#[kernel]
fn medians(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        let mut row = [0; ROW];
        for k in 0..ROW {
            row[k] = x[i * ROW + k];
        }
        out[i] = select(&mut row, ROW / 2);
    }
}

pub(super) fn quickselect() -> Result<Program> {
    const ROWS: usize = 1 << 13;
    let mut random = Random(25);
    // All numbers of a row differ.
    let x: Vec<u32> = (0..ROWS * ROW).map(|i| (random.next() & !31) | (i % ROW) as u32).collect();
    let on_device = from_slice(&x)?;
    program(
        vec![0; ROWS],
        move |out| medians::launch(in_blocks(ROWS, BLOCK), &on_device, out),
        move |out| {
            for (out, x) in out.iter_mut().zip(x.chunks(ROW)) {
                let mut row: [u32; ROW] = std::array::from_fn(|k| x[k]);
                *out = select(&mut row, ROW / 2);
            }
        },
    )
}
