//! Verdicts of the software device's checkers: for each kernel the reports that `check` gives, on plain arrays. Racy and correct
//! kernels come in pairs, which differ by one line.

mod blocks;
mod grids;

use cuda_prelude::*;

use Verdict::{Clean, Racy, Uninitialised};

const BLOCK: usize = 64;

/// The last block to arrive adds up what the others left, with the fences before and after the count, or without one of them.
#[kernel]
fn last_block<const RELEASES: bool, const ACQUIRES: bool>(sums: &mut [u32], done: &mut [u32], total: &mut [u32]) {
    if thread_idx().x == 0 {
        sums[block_idx().x] = block_idx().x as u32;
        if RELEASES {
            threadfence();
        }
        let last = atomic_inc(&mut done[0], grid_dim().x as u32 - 1) == grid_dim().x as u32 - 1;
        if last {
            if ACQUIRES {
                threadfence();
            }
            let mut sum = 0;
            for k in 0..grid_dim().x {
                sum += sums[k];
            }
            total[0] = sum;
        }
    }
}

/// A lock whose release orders what it protects, or does not.
#[kernel]
fn locked<const ORDERS: bool>(lock: &mut [u32], number: &mut [u32]) {
    let mut done = false;
    while !done {
        if cas_with(&mut lock[0], 0, 1, scope::Device, order::Acquire) == 0 {
            number[0] = number[0] * 3 + 1;
            if ORDERS {
                atomic_store_with(&mut lock[0], 0, scope::Device, order::Release);
            } else {
                atomic_store_with(&mut lock[0], 0, scope::Device, order::Relaxed);
            }
            done = true;
        }
    }
}

/// A lock whose scope includes the threads of other blocks, or does not.
#[kernel]
fn locked_in_scope<const DEVICE: bool>(lock: &mut [u32], number: &mut [u32]) {
    let mut done = false;
    while !done {
        let before = if DEVICE {
            cas_with(&mut lock[0], 0, 1, scope::Device, order::Acquire)
        } else {
            cas_with(&mut lock[0], 0, 1, scope::Block, order::Acquire)
        };
        if before == 0 {
            number[0] += 1;
            if DEVICE {
                atomic_store_with(&mut lock[0], 0, scope::Device, order::Release);
            } else {
                atomic_store_with(&mut lock[0], 0, scope::Block, order::Release);
            }
            done = true;
        }
    }
}

/// A tree of sums in shared memory, whose last steps are those of one warp, with `sync_warp` or relying on lockstep.
#[kernel]
fn tree<const SYNCS: bool>(x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    tile[t] = x[block_idx().x * BLOCK + t];
    sync_threads();
    if t < 32 {
        let mut stride = 32;
        while stride > 0 {
            let other = if t + stride < BLOCK { tile[t + stride] } else { 0 };
            if SYNCS {
                sync_warp(!0);
            }
            if t < stride {
                tile[t] += other;
            }
            if SYNCS {
                sync_warp(!0);
            }
            stride /= 2;
        }
        if t == 0 {
            out[block_idx().x] = tile[0];
        }
    }
}

/// Counts in global memory, by atomic operations or by plain sums, over the size of the grid.
#[kernel]
fn counts<const ATOMIC: bool>(x: &[u32], bins: &mut [u32]) {
    for i in (grid::<1>()..x.len()).step_by(grid_size::<1>()) {
        if ATOMIC {
            atomic_add(&mut bins[x[i] as usize % 8], 1);
        } else {
            bins[x[i] as usize % 8] += 1;
        }
    }
}

/// Counts in shared memory, which are read with a barrier before it, or without.
#[kernel]
fn shared_counts<const WAITS: bool>(x: &[u32], bins: &mut [u32]) {
    let mine = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    mine[t] = 0;
    sync_threads();
    for i in (grid::<1>()..x.len()).step_by(grid_size::<1>()) {
        atomic_add(&mut mine[x[i] as usize % BLOCK], 1);
    }
    if WAITS {
        sync_threads();
    }
    atomic_add(&mut bins[t], mine[t]);
}

/// Means of neighbours, into another array or in place, where a neighbour of another block may have been written.
#[kernel]
fn means<const IN_PLACE: bool>(x: &mut [f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i > 0 && i + 1 < x.len() {
        let mean = (x[i - 1] + x[i + 1]) / 2.0;
        if IN_PLACE {
            x[i] = mean;
        } else {
            out[i] = mean;
        }
    }
}

/// A barrier in each round of a loop, or in all but one of them.
#[kernel]
fn rounds<const ALL: bool>(out: &mut [u32]) {
    let tile = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    let mut value = t as u32;
    for round in 0..8 {
        tile[t] = value;
        sync_threads();
        value += tile[(t + 1) % BLOCK];
        if ALL || round != 5 {
            sync_threads();
        }
    }
    out[grid::<1>()] = value;
}

/// Bytes of neighbours that share a word.
#[kernel]
fn bytes(out: &mut [u8]) {
    let i = grid::<1>();
    out[i] = i as u8;
}

/// Pairs of bytes that overlap by one.
#[kernel]
fn overlapping_bytes(out: &mut [u8]) {
    let i = grid::<1>();
    out[i] = 1;
    out[i + 1] = 1;
}

/// A tile with a border, which is written before it is read, or not.
#[kernel]
fn bordered<const WHOLE: bool>(x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; BLOCK + 1]);
    let t = thread_idx().x;
    tile[t] = x[t];
    if WHOLE && t == 0 {
        tile[BLOCK] = 0;
    }
    sync_threads();
    out[t] = tile[t] + tile[t + 1];
}

/// A flag that one block raises and the other one waits for, with the order of a release and an acquire, or without.
#[kernel]
fn flagged<const ORDERS: bool>(data: &mut [u32], flag: &mut [u32], out: &mut [u32]) {
    if block_idx().x == 0 {
        data[0] = 42;
        if ORDERS {
            atomic_store_with(&mut flag[0], 1, scope::Device, order::Release);
        } else {
            atomic_store_with(&mut flag[0], 1, scope::Device, order::Relaxed);
        }
    } else {
        while atomic_load_with(&mut flag[0], scope::Device, order::Acquire) == 0 {}
        out[0] = data[0];
    }
}

/// Sums across the lanes of a warp, of which one writes for the others.
#[kernel]
fn lanes<const WAITS: bool>(x: &[u32], out: &mut [u32]) {
    let warps = shared!([u32; 2]);
    let t = thread_idx().x;
    if t < 2 {
        warps[t] = 0;
    }
    sync_threads();
    let sum = reduce_add_sync(!0, x[t]);
    if t % 32 == 0 {
        warps[t / 32] = sum;
    }
    if WAITS {
        sync_threads();
    }
    out[t] = warps[0] + warps[1];
}

/// Runs a launch with the checkers.
fn verdict(launch: impl FnOnce() -> Result<()>) -> Verdict {
    let Err(error) = check(|| launch().expect("the launch works")) else { return Clean };
    let of = |checker: Checker| error.reports().iter().filter(|report| report.checker == checker).count();
    assert_eq!(of(Checker::Race) + of(Checker::Init), error.reports().len(), "{error}");
    match (of(Checker::Race), of(Checker::Init)) {
        (_, 0) => Racy,
        (0, _) => Uninitialised,
        _ => Verdict::Both,
    }
}

/// Fails with the kernels whose verdict is not the expected one.
fn agree(cases: &[(&str, Verdict, Verdict)]) {
    let wrong: Vec<_> = cases.iter().filter(|(_, expected, found)| expected != found).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The checkers that have reports.
#[derive(Debug, PartialEq)]
enum Verdict {
    Clean,
    Racy,
    Uninitialised,
    Both,
}

#[test]
fn each_kernel_has_its_verdict() -> Result<()> {
    if !is_simulated()? {
        return Ok(());
    }
    let x = from_slice(&(0..1024).map(|i| i * 7 % 64).collect::<Vec<u32>>())?;
    let mut out = zeros::<u32, _>(1024)?;
    let (mut a, mut b, mut c) = (zeros::<u32, _>(64)?, zeros::<u32, _>(1)?, zeros::<u32, _>(1)?);
    let (mut floats, mut results) = (zeros::<f32, _>(1024)?, zeros::<f32, _>(1024)?);
    let mut free = zeros::<u32, _>(1)?;
    let mut small = zeros::<u8, _>(1025)?;

    let cases = [
        ("both fences", Clean, verdict(|| last_block::<true, true>::launch((8, 32), &mut a, &mut b, &mut c))),
        ("no release", Racy, verdict(|| last_block::<false, true>::launch((8, 32), &mut a, &mut b, &mut c))),
        ("no acquire", Racy, verdict(|| last_block::<true, false>::launch((8, 32), &mut a, &mut b, &mut c))),
        ("a lock", Clean, verdict(|| locked::<true>::launch((4, 8), &mut free, &mut c))),
        ("a lock that orders nothing", Racy, verdict(|| locked::<false>::launch((4, 8), &mut free, &mut c))),
        ("a lock of the device", Clean, verdict(|| locked_in_scope::<true>::launch((4, 8), &mut free, &mut c))),
        ("a lock of each block", Racy, verdict(|| locked_in_scope::<false>::launch((4, 8), &mut free, &mut c))),
        ("warps that wait", Clean, verdict(|| tree::<true>::launch((16, BLOCK), &x, &mut out))),
        ("warps in lockstep", Racy, verdict(|| tree::<false>::launch((16, BLOCK), &x, &mut out))),
        ("atomic counts", Clean, verdict(|| counts::<true>::launch((4, BLOCK), &x, &mut a))),
        ("plain counts", Racy, verdict(|| counts::<false>::launch((4, BLOCK), &x, &mut a))),
        ("shared counts", Clean, verdict(|| shared_counts::<true>::launch((4, BLOCK), &x, &mut a))),
        ("shared counts, read at once", Racy, verdict(|| shared_counts::<false>::launch((4, BLOCK), &x, &mut a))),
        ("means", Clean, verdict(|| means::<false>::launch((16, BLOCK), &mut floats, &mut results))),
        ("means in place", Racy, verdict(|| means::<true>::launch((16, BLOCK), &mut floats, &mut results))),
        ("rounds", Clean, verdict(|| rounds::<true>::launch((16, BLOCK), &mut out))),
        ("rounds but one", Racy, verdict(|| rounds::<false>::launch((16, BLOCK), &mut out))),
        ("neighbouring bytes", Clean, verdict(|| bytes::launch((16, BLOCK), &mut small))),
        ("overlapping bytes", Racy, verdict(|| overlapping_bytes::launch((16, BLOCK), &mut small))),
        ("a border", Clean, verdict(|| bordered::<true>::launch((1, BLOCK), &x, &mut out))),
        ("a border that nobody writes", Uninitialised, verdict(|| bordered::<false>::launch((1, BLOCK), &x, &mut out))),
        ("a flag", Clean, verdict(|| flagged::<true>::launch((2, 1), &mut a, &mut b, &mut c))),
    ];
    b.fill(0)?;
    let others = [
        ("a flag that orders nothing", Racy, verdict(|| flagged::<false>::launch((2, 1), &mut a, &mut b, &mut c))),
        ("lanes", Clean, verdict(|| lanes::<true>::launch((1, BLOCK), &x, &mut out))),
        ("lanes without a barrier", Racy, verdict(|| lanes::<false>::launch((1, BLOCK), &x, &mut out))),
    ];
    agree(&cases);
    agree(&others);
    Ok(())
}
