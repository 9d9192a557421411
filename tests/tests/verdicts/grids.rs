//! Pairs whose mistake is between blocks: scopes, fences, flags, locks, grids, clusters, and memory of the host.

use cuda_prelude::*;

use super::Verdict::{self, Both, Clean, Racy, Uninitialised};
use super::{BLOCK, agree, verdict};

/// A scan in which each block waits for the sum of the block before it, with the fences of both sides, or without one.
#[kernel]
fn look_back<const RELEASES: bool, const ACQUIRES: bool>(
    x: &[u32],
    sums: &mut [u32],
    ready: &mut [u32],
    out: &mut [u32],
) {
    let before = shared!([u32; 1]);
    let (b, t) = (block_idx().x, thread_idx().x);
    if t == 0 {
        let mut sum = 0;
        if b > 0 {
            while atomic_load_with(&mut ready[b - 1], scope::Device, order::Relaxed) == 0 {}
            if ACQUIRES {
                threadfence();
            }
            sum = sums[b - 1];
        }
        before[0] = sum;
        for k in 0..BLOCK {
            sum += x[b * BLOCK + k];
        }
        sums[b] = sum;
        if RELEASES {
            threadfence();
        }
        atomic_store_with(&mut ready[b], 1, scope::Device, order::Relaxed);
    }
    sync_threads();
    out[b * BLOCK + t] = before[0] + x[b * BLOCK + t];
}

/// Counts with operations whose scope is the device, or each block.
#[kernel]
fn counted<const DEVICE: bool>(counts: &mut [u32]) {
    let bin = thread_idx().x % 4;
    if DEVICE {
        atomic_add_with(&mut counts[bin], 1, scope::Device, order::Relaxed);
    } else {
        atomic_add_with(&mut counts[bin], 1, scope::Block, order::Relaxed);
    }
}

/// A flag that is read with an acquire, or relaxed.
#[kernel]
fn acquired<const ACQUIRES: bool>(data: &mut [u32], flag: &mut [u32], out: &mut [u32]) {
    if block_idx().x == 0 {
        data[0] = 42;
        atomic_store_with(&mut flag[0], 1, scope::Device, order::Release);
    } else {
        if ACQUIRES {
            while atomic_load_with(&mut flag[0], scope::Device, order::Acquire) == 0 {}
        } else {
            while atomic_load_with(&mut flag[0], scope::Device, order::Relaxed) == 0 {}
        }
        out[0] = data[0];
    }
}

/// A chain of three blocks: the last one reads what the first wrote; the middle one passes the order on, or only the flag.
#[kernel]
fn passed_on<const ORDERS: bool>(data: &mut [u32], flags: &mut [u32], out: &mut [u32]) {
    match block_idx().x {
        0 => {
            data[0] = 42;
            atomic_store_with(&mut flags[0], 1, scope::Device, order::Release);
        }
        1 => {
            if ORDERS {
                while atomic_load_with(&mut flags[0], scope::Device, order::Acquire) == 0 {}
            } else {
                while atomic_load_with(&mut flags[0], scope::Device, order::Relaxed) == 0 {}
            }
            atomic_store_with(&mut flags[1], 1, scope::Device, order::Release);
        }
        _ => {
            while atomic_load_with(&mut flags[1], scope::Device, order::Acquire) == 0 {}
            out[0] = data[0];
        }
    }
}

/// Two values behind one flag: both are written before it is raised, or one of them after.
#[kernel]
fn raised<const LAST: bool>(data: &mut [u32], flag: &mut [u32], out: &mut [u32]) {
    if block_idx().x == 0 {
        data[0] = 1;
        if LAST {
            data[1] = 2;
        }
        atomic_store_with(&mut flag[0], 1, scope::Device, order::Release);
        if !LAST {
            data[1] = 2;
        }
    } else {
        while atomic_load_with(&mut flag[0], scope::Device, order::Acquire) == 0 {}
        out[0] = data[0] + data[1];
    }
}

/// Locks of buckets, each of the bucket that it protects, or of half as many.
#[kernel]
fn buckets<const LOCKS: usize>(locks: &mut [u32], numbers: &mut [u32]) {
    let bucket = block_idx().x % 2;
    // Threads of different buckets use one lock in the wrong one of both.
    let lock = if LOCKS == 2 { bucket } else { thread_idx().x % 2 };
    let mut done = false;
    while !done {
        if cas_with(&mut locks[lock], 0, 1, scope::Device, order::Acquire) == 0 {
            numbers[bucket] += 1;
            atomic_store_with(&mut locks[lock], 0, scope::Device, order::Release);
            done = true;
        }
    }
}

/// A lock around the whole change, or around the write alone.
#[kernel]
fn read_outside<const INSIDE: bool>(lock: &mut [u32], number: &mut [u32]) {
    let before = if INSIDE { 0 } else { number[0] };
    let mut done = false;
    while !done {
        if cas_with(&mut lock[0], 0, 1, scope::Device, order::Acquire) == 0 {
            number[0] = if INSIDE { number[0] + 1 } else { before + 1 };
            atomic_store_with(&mut lock[0], 0, scope::Device, order::Release);
            done = true;
        }
    }
}

/// Places in a list from an atomic counter, or from a plain one.
#[kernel]
fn compacted<const ATOMIC: bool>(x: &[u32], count: &mut [u32], list: &mut [u32]) {
    let i = grid::<1>();
    if x[i] % 3 == 0 {
        let at = if ATOMIC {
            atomic_add(&mut count[0], 1)
        } else {
            let at = count[0];
            count[0] = at + 1;
            at
        };
        list[at as usize] = x[i];
    }
}

/// Neighbours across blocks, after a barrier of the grid or of each block.
#[kernel]
fn phases<const GRID: bool>(x: &mut [u32], out: &mut [u32]) {
    let i = grid::<1>();
    x[i] = i as u32;
    if GRID {
        this_grid().sync();
    } else {
        sync_threads();
        if i > 1 << 20 {
            this_grid().sync();
        }
    }
    out[i] = x[x.len() - 1 - i];
}

/// The largest element by atomic operations, read by one block after its own barrier alone, plainly or atomically.
#[kernel]
fn largest<const ATOMIC: bool>(x: &[u32], best: &mut [u32], out: &mut [u32]) {
    atomic_max(&mut best[0], x[grid::<1>()]);
    sync_threads();
    if thread_idx().x == 0 {
        out[block_idx().x] = if ATOMIC { atomic_load(&mut best[0]) } else { best[0] };
    }
}

/// Bytes at the border of two blocks' parts: parts of whole bytes, or parts that both write one.
#[kernel]
fn byte_parts<const EXTRA: usize>(out: &mut [u8]) {
    let first = block_idx().x * 7;
    for k in 0..7 + EXTRA {
        if first + k < out.len() {
            out[first + k] = block_idx().x as u8;
        }
    }
}

/// The tile of the next block of the cluster, after a barrier of the cluster or of the block.
#[kernel]
fn neighbours_tile<const CLUSTER: bool>(out: &mut [u32]) {
    let tile = shared!([u32; 32]);
    let (cluster, t) = (this_cluster(), thread_idx().x);
    tile[t] = grid::<1>() as u32;
    if CLUSTER {
        cluster.sync();
    } else {
        sync_threads();
    }
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    out[grid::<1>()] = cluster.map_shared_rank(tile, next)[t];
    cluster.sync();
}

/// A tile of another block that is written again before all have read it, or after a barrier.
#[kernel]
fn written_again<const WAITS: bool>(out: &mut [u32]) {
    let tile = shared!([u32; 32]);
    let (cluster, t) = (this_cluster(), thread_idx().x);
    tile[t] = 1;
    cluster.sync();
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    out[grid::<1>()] = cluster.map_shared_rank(tile, next)[t];
    if WAITS {
        cluster.sync();
    }
    tile[t] = 2;
    cluster.sync();
}

/// Structs with a gap between their fields, copied as words: all of the words are written before, or only the fields.
#[kernel]
fn gaps<const ALL: bool>(pairs: &mut [u8], words: &mut [u32]) {
    let i = grid::<1>();
    pairs[8 * i] = 1;
    for k in 1..4 {
        if ALL {
            pairs[8 * i + k] = 0;
        }
    }
    for k in 4..8 {
        pairs[8 * i + k] = 2;
    }
    let mut word = 0;
    for k in 0..4 {
        word = word << 8 | pairs[8 * i + k] as u32;
    }
    words[i] = word;
}

/// Each thread counts in an array of its own in global memory, which somebody has set to zero, or nobody.
#[kernel]
fn own_counts<const ZEROED: bool>(x: &[u32], counts: &mut [u32]) {
    let first = grid::<1>() * 4;
    if ZEROED {
        for k in 0..4 {
            counts[first + k] = 0;
        }
    }
    for k in 0..8 {
        counts[first + x[k] as usize % 4] += 1;
    }
}

/// One array that is read and written by neighbours: racy, and of a length that leaves the last element unwritten.
#[kernel]
fn both(out: &mut [u32]) {
    let tile = shared!([u32; BLOCK + 1]);
    let t = thread_idx().x;
    tile[t] = 1;
    out[t] = tile[t + 1];
}

#[test]
fn mistakes_between_blocks_have_their_verdicts() -> Result<()> {
    if !is_simulated()? {
        return Ok(());
    }
    let x = from_slice(&(0..1024).map(|i| i * 7 % 64).collect::<Vec<u32>>())?;
    let (mut out, mut sums, mut list) = (zeros::<u32, _>(1024)?, zeros::<u32, _>(16)?, zeros::<u32, _>(1024)?);
    let (mut data, mut bytes) = (zeros::<u32, _>(4)?, zeros::<u8, _>(100)?);
    let clear = || zeros::<u32, _>(16).expect("there is room");
    let cluster = || LaunchConfig::new(4, 32).cluster(2);
    let six = (6, BLOCK);
    let cases: Vec<(&str, Verdict, Verdict)> = vec![
        ("look-back", Clean, verdict(|| look_back::<true, true>::launch(six, &x, &mut sums, &mut clear(), &mut out))),
        (
            "look-back without a release",
            Racy,
            verdict(|| look_back::<false, true>::launch(six, &x, &mut sums, &mut clear(), &mut out)),
        ),
        (
            "look-back without an acquire",
            Racy,
            verdict(|| look_back::<true, false>::launch(six, &x, &mut sums, &mut clear(), &mut out)),
        ),
        ("counts of the device", Clean, verdict(|| counted::<true>::launch((4, 32), &mut data))),
        ("counts of each block", Racy, verdict(|| counted::<false>::launch((4, 32), &mut data))),
        ("an acquire", Clean, verdict(|| acquired::<true>::launch((2, 1), &mut data, &mut clear(), &mut out))),
        ("a relaxed load", Racy, verdict(|| acquired::<false>::launch((2, 1), &mut data, &mut clear(), &mut out))),
        ("an order passed on", Clean, verdict(|| passed_on::<true>::launch((3, 1), &mut data, &mut clear(), &mut out))),
        ("a flag passed on", Racy, verdict(|| passed_on::<false>::launch((3, 1), &mut data, &mut clear(), &mut out))),
        ("raised last", Clean, verdict(|| raised::<true>::launch((2, 1), &mut data, &mut clear(), &mut out))),
        ("raised too early", Racy, verdict(|| raised::<false>::launch((2, 1), &mut data, &mut clear(), &mut out))),
        ("a lock for each bucket", Clean, verdict(|| buckets::<2>::launch((4, 4), &mut clear(), &mut data))),
        ("locks of other buckets", Racy, verdict(|| buckets::<1>::launch((4, 4), &mut clear(), &mut data))),
        ("read in the lock", Clean, verdict(|| read_outside::<true>::launch((4, 4), &mut clear(), &mut data))),
        ("read before the lock", Racy, verdict(|| read_outside::<false>::launch((4, 4), &mut clear(), &mut data))),
        ("an atomic counter", Clean, verdict(|| compacted::<true>::launch((4, BLOCK), &x, &mut clear(), &mut list))),
        ("a plain counter", Racy, verdict(|| compacted::<false>::launch((4, BLOCK), &x, &mut clear(), &mut list))),
        ("a barrier of the grid", Clean, verdict(|| phases::<true>::launch((16, BLOCK), &mut list, &mut out))),
        ("a barrier of each block", Racy, verdict(|| phases::<false>::launch((16, BLOCK), &mut list, &mut out))),
        ("an atomic load", Clean, verdict(|| largest::<true>::launch((16, BLOCK), &x, &mut data, &mut out))),
        ("a plain load", Racy, verdict(|| largest::<false>::launch((16, BLOCK), &x, &mut data, &mut out))),
        ("parts of bytes", Clean, verdict(|| byte_parts::<0>::launch((8, 1), &mut bytes))),
        ("parts that share a byte", Racy, verdict(|| byte_parts::<1>::launch((8, 1), &mut bytes))),
        ("a cluster's barrier", Clean, verdict(|| neighbours_tile::<true>::launch(cluster(), &mut out))),
        // The other block may not have begun.
        ("a block's barrier in a cluster", Both, verdict(|| neighbours_tile::<false>::launch(cluster(), &mut out))),
        ("read by all", Clean, verdict(|| written_again::<true>::launch(cluster(), &mut out))),
        ("written too early", Racy, verdict(|| written_again::<false>::launch(cluster(), &mut out))),
        (
            "structs without gaps",
            Clean,
            verdict(|| gaps::<true>::launch((1, 8), &mut device_array::<u8, _>(64)?, &mut out)),
        ),
        (
            "structs with gaps",
            Uninitialised,
            verdict(|| gaps::<false>::launch((1, 8), &mut device_array::<u8, _>(64)?, &mut out)),
        ),
        (
            "counts from zero",
            Clean,
            verdict(|| own_counts::<true>::launch((1, 8), &x, &mut device_array::<u32, _>(32)?)),
        ),
        (
            "counts from anything",
            Uninitialised,
            verdict(|| own_counts::<false>::launch((1, 8), &x, &mut device_array::<u32, _>(32)?)),
        ),
        ("a race and an unwritten element", Both, verdict(|| both::launch((1, BLOCK), &mut out))),
    ];
    agree(&cases);
    Ok(())
}

/// Adds to managed memory.
#[kernel]
fn increments(x: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] += 1;
    }
}

/// Copies of memory that a kernel has written in part, or whole; managed memory counts as written.
#[test]
fn copies_have_their_verdicts() -> Result<()> {
    if !is_simulated()? {
        return Ok(());
    }
    let copied = |written: usize| {
        verdict(|| {
            let mut x = device_array::<u32, _>(100)?;
            x.slice_mut(ndarray::s![..written]).fill(7)?;
            x.copy_to_host().map(drop).map_err(Into::into)
        })
    };
    assert_eq!(copied(100), Clean);
    assert_eq!(copied(99), Uninitialised);
    let managed = verdict(|| {
        let mut x = managed_array::<u32, _>(64)?;
        increments::launch((1, 64), &mut x)?;
        synchronize()
    });
    assert_eq!(managed, Clean);
    let device = verdict(|| increments::launch((1, 64), &mut device_array::<u32, _>(64)?));
    assert_eq!(device, Uninitialised);
    Ok(())
}
