//! Sample sort: each device sorts its keys, samples of all of them divide the range of keys among the devices, and each device sorts
//! what the others send it.

use anyhow::{Result, ensure};
use cuda_example_mpi::scaling::all_gather_bytes;
use cuda_example_mpi::{Rank, checksum, run};
use cuda_nccl::group;
use cuda_prelude::*;
use ndarray::{Ix1, s};

const THREADS: usize = 256;
/// The smallest number of keys that is sorted.
const LEAST: usize = 512;
/// The keys of all devices.
const KEYS: usize = 1 << 16;

/// One pass of bitonic sort: runs of `size` keys become ascending and descending alternately.
#[kernel]
fn pass(keys: &mut [u32], size: usize, distance: usize) {
    let pair = grid::<1>();
    if pair < keys.len() / 2 {
        let lower = 2 * pair - pair % distance;
        if (keys[lower] > keys[lower + distance]) == (lower & size == 0) {
            keys.swap(lower, lower + distance);
        }
    }
}

/// The number of keys below each splitter, in sorted keys.
#[kernel]
fn below(keys: &[u32], splitters: &[u32], counts: &mut [u32]) {
    let i = grid::<1>();
    if i < counts.len() {
        let (mut low, mut high) = (0, keys.len());
        while low < high {
            let middle = (low + high) / 2;
            if keys[middle] < splitters[i] {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        counts[i] = low as u32;
    }
}

/// Sorts keys, whose number is a power of two.
fn sort(keys: &mut DeviceArray<u32, Ix1>, stream: &Stream) -> Result<()> {
    let mut size = 2;
    while size <= keys.len() {
        let mut distance = size / 2;
        while distance > 0 {
            let config = LaunchConfig::from(((keys.len() / 2).div_ceil(THREADS), THREADS, stream)).quiet();
            pass::launch(config, &mut *keys, size, distance)?;
            distance /= 2;
        }
        size *= 2;
    }
    Ok(())
}

/// A pseudorandom key for each position.
fn key(position: usize) -> u32 {
    let product = (position as u32 + 1).wrapping_mul(0x9e37_79b9);
    // The largest number marks the end of padded arrays.
    ((product ^ product >> 15).wrapping_mul(0x85eb_ca6b)).min(u32::MAX - 1)
}

fn sample_sort(rank: &Rank) -> Result<()> {
    let (c, stream) = (&rank.communicator, &rank.stream);
    let (me, size, part) = (c.rank(), c.size(), rank.part(KEYS));
    // Padding makes the number of keys a power of two; it is sorted to the end.
    let padded = part.len().next_power_of_two().max(LEAST);
    let mut host: Vec<u32> = part.clone().map(key).collect();
    host.resize(padded, u32::MAX);
    let mut keys = cuda_prelude::from_slice(&host)?;
    sort(&mut keys, stream)?;

    // Samples of all ranks give a splitter between each rank and the next.
    let step = (part.len() / size).max(1);
    let samples: Vec<u32> = {
        let own = keys.slice(s![..part.len(); step]).copy_to_host()?;
        own.iter().copied().cycle().take(size).collect()
    };
    let samples = cuda_prelude::from_slice(&samples)?;
    let mut all = device_array::<u32, _>(size * size)?;
    c.all_gather(&samples, &mut all, stream)?;
    c.wait(stream)?;
    let mut all = all.copy_to_host()?.to_vec();
    all.sort_unstable();
    let splitters: Vec<u32> = (1..size).map(|rank| all[rank * size]).chain([u32::MAX]).collect();

    // The number of keys that each rank gives each other one.
    let splitters = cuda_prelude::from_slice(&splitters)?;
    let mut ends = device_array::<u32, _>(size)?;
    below::launch(LaunchConfig::from((1, THREADS, stream)).quiet(), &keys, &splitters, &mut ends)?;
    let mut table = device_array::<u32, _>(size * size)?;
    c.all_gather(&ends, &mut table, stream)?;
    c.wait(stream)?;
    let table = table.copy_to_host()?.to_vec();
    let range = |from: usize, to: usize| {
        let end = |to: usize| table[from * size + to] as usize;
        if to == 0 { 0..end(0) } else { end(to - 1)..end(to) }
    };
    let counts: Vec<usize> = (0..size).map(|from| range(from, me).len()).collect();
    let total: usize = counts.iter().sum();

    let mut sorted = cuda_prelude::from_slice(&vec![u32::MAX; total.next_power_of_two().max(LEAST)])?;
    let mut rest = sorted.view_mut();
    let mut runs = Vec::new();
    for count in &counts {
        let (run, after) = rest.split_at(ndarray::Axis(0), *count);
        runs.push(run);
        rest = after;
    }
    let gifts: Vec<_> = (0..size).map(|to| keys.slice(s![range(me, to)])).collect();
    group(|g| {
        for (peer, (gift, run)) in gifts.iter().zip(&mut runs).enumerate() {
            g.send(c, gift, peer, stream)?;
            g.recv(c, run, peer, stream)?;
        }
        Ok(())
    })?;
    drop((runs, rest));
    sort(&mut sorted, stream)?;

    // Rank 0 gets all keys in order.
    let total_of = |rank: usize| (0..size).map(|from| range(from, rank).len()).sum::<usize>();
    if me > 0 {
        c.send(&sorted.slice(s![..total]), 0, stream)?;
        return Ok(c.wait(stream)?);
    }
    let mut whole = cuda_prelude::from_slice(&vec![0_u32; KEYS])?;
    whole.slice_mut(s![..total]).assign(&sorted.slice(s![..total]))?;
    let mut start = total;
    for peer in 1..size {
        let end = start + total_of(peer);
        c.recv(&mut whole.slice_mut(s![start..end]), peer, stream)?;
        start = end;
    }
    c.wait(stream)?;
    ensure!(start == KEYS, "{start} of {KEYS} keys have come");
    let mut single = cuda_prelude::from_slice(&(0..KEYS).map(key).collect::<Vec<u32>>())?;
    sort(&mut single, stream)?;
    let sum = |keys: &DeviceArray<u32, Ix1>| Ok::<_, anyhow::Error>(checksum(keys.copy_to_host()?.into_iter()));
    // The samples, the ends, the keys that change their rank, and those that rank 0 gets.
    let kept: usize = (0..size).map(|rank| range(rank, rank).len()).sum();
    let words = 2 * all_gather_bytes(size, size) + (KEYS - kept) + (KEYS - total);
    rank.report("sample sort", sum(&whole)?, sum(&single)?, words * size_of::<u32>())
}

fn main() -> Result<()> {
    run(sample_sort)
}
