//! Pairs whose mistake is in the barriers or the shared memory of one block.

use cuda_prelude::*;

use super::Verdict::{self, Clean, Racy, Uninitialised};
use super::{BLOCK, agree, verdict};

/// Two tiles in turn need one barrier a round; one tile needs two.
#[kernel]
fn turns<const TILES: usize>(out: &mut [u32]) {
    let tiles = shared!([[u32; BLOCK]; 2]);
    let t = thread_idx().x;
    let mut value = t as u32;
    for round in 0..6 {
        tiles[round % TILES][t] = value;
        sync_threads();
        value += tiles[round % TILES][(t + 1) % BLOCK];
    }
    out[grid::<1>()] = value;
}

/// Sums of all elements before, in place: a barrier between reading and writing, or not.
#[kernel]
fn scanned<const WAITS: bool>(x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    let mut step = 1;
    while step < BLOCK {
        let before = if t >= step { tile[t - step] } else { 0 };
        if WAITS {
            sync_threads();
        }
        tile[t] += before;
        sync_threads();
        step *= 2;
    }
    out[t] = tile[t];
}

/// Neighbours exchange their elements in alternating pairs.
#[kernel]
fn sorted<const WAITS: bool>(x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    for round in 0..BLOCK {
        if t % 2 == round % 2 && t + 1 < BLOCK && tile[t] > tile[t + 1] {
            tile.swap(t, t + 1);
        }
        if WAITS {
            sync_threads();
        }
    }
    out[t] = tile[t];
}

/// Every second element is updated from its neighbours, or every element.
#[kernel]
fn relaxed<const ALTERNATES: bool>(x: &mut [f32]) {
    let t = thread_idx().x + 1;
    for round in 0..4 {
        if t + 1 < x.len() && (!ALTERNATES || t % 2 == round % 2) {
            x[t] = (x[t - 1] + x[t + 1]) / 2.0;
        }
        sync_threads();
    }
}

/// Tiles of the output that touch, or overlap by one element.
#[kernel]
fn tiles_of_output<const OVERLAP: usize>(out: &mut [u32]) {
    let first = block_idx().x * BLOCK;
    for i in (thread_idx().x..BLOCK + OVERLAP).step_by(block_dim().x) {
        if first + i < out.len() {
            out[first + i] = block_idx().x as u32;
        }
    }
}

/// Threads beyond the end leave before the barrier, and their elements are not read, or are.
#[kernel]
fn leaves<const READS: bool>(x: &[u32], out: &mut [u32], n: usize) {
    let tile = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    if t >= n {
        return;
    }
    tile[t] = x[t];
    sync_threads();
    let next = if t + 1 < n || READS { tile[(t + 1) % BLOCK] } else { 0 };
    out[t] = tile[t] + next;
}

/// Two parts of dynamic shared memory that touch, or share an element.
#[kernel]
fn parts<const SHARED: usize>(out: &mut [u32]) {
    let all = dynamic_shared!([u32]);
    let t = thread_idx().x;
    let half = BLOCK / 2;
    if t < half {
        all[t] = 1;
    } else {
        all[t - SHARED] = 2;
    }
    sync_threads();
    out[t] = all[t - SHARED.min(t)];
}

/// The counter is set to zero before the others count, with a barrier between, or without.
#[kernel]
fn counter<const WAITS: bool>(x: &[u32], out: &mut [u32]) {
    let count = shared!([u32; 1]);
    let t = thread_idx().x;
    if t == 0 {
        count[0] = 0;
    }
    if WAITS {
        sync_threads();
    }
    if x[t] % 2 == 0 {
        atomic_add(&mut count[0], 1);
    }
    sync_threads();
    out[t] = count[0];
}

/// The vote of all threads is a barrier; that of a warp is none.
#[kernel]
fn votes<const BLOCKS: bool>(x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    tile[t] = x[t];
    let any = if BLOCKS { sync_threads_or(x[t] > 60) } else { any_sync(FULL_MASK, x[t] > 60) };
    out[t] = if any { tile[BLOCK - 1 - t] } else { 0 };
}

/// Half warps that exchange elements, with the synchronisation of the tile, or without.
#[kernel]
fn half_warps<const SYNCS: bool>(x: &[u32], out: &mut [u32]) {
    let part = shared!([u32; BLOCK]);
    let block = this_block();
    let tile = tiled_partition::<16>(&block);
    let t = thread_idx().x;
    part[t] = 0;
    block.sync();
    part[t] = x[t];
    if SYNCS {
        tile.sync();
    }
    out[t] = part[t / 16 * 16 + (t + 1) % 16];
}

/// Tiles of a warp are synchronised, and read within the tile or beyond it.
#[kernel]
fn beyond_the_tile<const WITHIN: bool>(x: &[u32], out: &mut [u32]) {
    let part = shared!([u32; BLOCK]);
    let block = this_block();
    let tile = tiled_partition::<8>(&block);
    let t = thread_idx().x;
    part[t] = x[t];
    tile.sync();
    out[t] = if WITHIN { part[t ^ 7] } else { part[t ^ 8] };
}

/// The first lane's element by a shuffle, or from shared memory after a shuffle, which orders nothing.
#[kernel]
fn first_lane<const SHUFFLES: bool>(x: &[u32], out: &mut [u32]) {
    let firsts = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    firsts[t] = x[t];
    let value = shfl_sync(FULL_MASK, x[t], 0);
    out[t] = if SHUFFLES { value } else { value + firsts[t / 32 * 32] };
}

/// Flags of 8 threads in a byte, by an atomic operation of their word, or by hand.
#[kernel]
fn flags<const ATOMIC: bool>(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let bit = 1 << (i % 32);
    if x[i] % 2 == 1 {
        if ATOMIC {
            atomic_or(&mut out[i / 32], bit);
        } else {
            out[i / 32] |= bit;
        }
    }
}

/// Halves of a word that threads write each, or that one of them writes whole.
#[kernel]
fn halves<const WHOLE: bool>(out: &mut [u16]) {
    let t = thread_idx().x;
    out[t] = 1;
    if WHOLE && t % 2 == 0 {
        out[t + 1] = 2;
    }
}

/// A square is transposed in place by the threads above its diagonal, or by all.
#[kernel]
fn in_place<const ABOVE: bool>(x: &mut [u32]) {
    let (column, row) = (thread_idx().x, thread_idx().y);
    if !ABOVE || column > row {
        x.swap(row * 8 + column, column * 8 + row);
    }
}

/// Threads of one half produce, those of the other half consume after the barrier, or already before it.
#[kernel]
fn produced<const WAITS: bool>(x: &[u32], out: &mut [u32]) {
    let tile = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    let half = BLOCK / 2;
    for round in 0..3 {
        if t < half {
            tile[t] = x[t] + round;
        }
        if WAITS {
            sync_threads();
        }
        if t >= half {
            out[t] += tile[t - half];
        }
        sync_threads();
    }
}

/// A part of the tile is written in the last round alone, and read in each.
#[kernel]
fn late<const EARLY: bool>(out: &mut [u32]) {
    let tile = shared!([u32; BLOCK]);
    let t = thread_idx().x;
    if EARLY {
        tile[t] = 0;
    }
    sync_threads();
    for round in 0..3 {
        out[t] += tile[BLOCK - 1 - t];
        sync_threads();
        if round == 2 || t % 2 == 0 {
            tile[t] = round;
        }
        sync_threads();
    }
}

#[test]
fn mistakes_within_a_block_have_their_verdicts() -> Result<()> {
    if !is_simulated()? {
        return Ok(());
    }
    let x = from_slice(&(0..1024).map(|i| i * 7 % 64).collect::<Vec<u32>>())?;
    let (mut out, mut floats, mut short) = (zeros::<u32, _>(1024)?, zeros::<f32, _>(66)?, zeros::<u16, _>(65)?);
    let one = (1, BLOCK);
    let dynamic = || LaunchConfig::new(1, BLOCK).shared_bytes(4 * BLOCK);
    let cases: Vec<(&str, Verdict, Verdict)> = vec![
        ("two tiles in turn", Clean, verdict(|| turns::<2>::launch((2, BLOCK), &mut out))),
        ("one tile with one barrier", Racy, verdict(|| turns::<1>::launch((2, BLOCK), &mut out))),
        ("sums before", Clean, verdict(|| scanned::<true>::launch(one, &x, &mut out))),
        ("sums before in place", Racy, verdict(|| scanned::<false>::launch(one, &x, &mut out))),
        ("pairs in rounds", Clean, verdict(|| sorted::<true>::launch(one, &x, &mut out))),
        ("pairs without rounds", Racy, verdict(|| sorted::<false>::launch(one, &x, &mut out))),
        ("every second element", Clean, verdict(|| relaxed::<true>::launch(one, &mut floats))),
        ("all elements", Racy, verdict(|| relaxed::<false>::launch(one, &mut floats))),
        ("tiles that touch", Clean, verdict(|| tiles_of_output::<0>::launch((8, 32), &mut out))),
        ("tiles that overlap", Racy, verdict(|| tiles_of_output::<1>::launch((8, 32), &mut out))),
        ("threads that leave", Clean, verdict(|| leaves::<false>::launch(one, &x, &mut out, 50_usize))),
        ("an element of one", Uninitialised, verdict(|| leaves::<true>::launch(one, &x, &mut out, 50_usize))),
        ("parts that touch", Clean, verdict(|| parts::<0>::launch(dynamic(), &mut out))),
        ("parts that share an element", Racy, verdict(|| parts::<1>::launch(dynamic(), &mut out))),
        ("a counter from zero", Clean, verdict(|| counter::<true>::launch(one, &x, &mut out))),
        ("a counter from zero, too late", Racy, verdict(|| counter::<false>::launch(one, &x, &mut out))),
        ("a vote of the block", Clean, verdict(|| votes::<true>::launch(one, &x, &mut out))),
        ("a vote of each warp", Racy, verdict(|| votes::<false>::launch(one, &x, &mut out))),
        ("half warps that wait", Clean, verdict(|| half_warps::<true>::launch(one, &x, &mut out))),
        ("half warps in lockstep", Racy, verdict(|| half_warps::<false>::launch(one, &x, &mut out))),
        ("within a tile", Clean, verdict(|| beyond_the_tile::<true>::launch(one, &x, &mut out))),
        ("beyond the tile", Racy, verdict(|| beyond_the_tile::<false>::launch(one, &x, &mut out))),
        ("a shuffle", Clean, verdict(|| first_lane::<true>::launch(one, &x, &mut out))),
        ("a shuffle as a barrier", Racy, verdict(|| first_lane::<false>::launch(one, &x, &mut out))),
        ("atomic flags", Clean, verdict(|| flags::<true>::launch((2, BLOCK), &x, &mut out))),
        ("flags by hand", Racy, verdict(|| flags::<false>::launch((2, BLOCK), &x, &mut out))),
        ("halves of words", Clean, verdict(|| halves::<false>::launch(one, &mut short))),
        ("both halves", Racy, verdict(|| halves::<true>::launch(one, &mut short))),
        ("exchanged once", Clean, verdict(|| in_place::<true>::launch((1, (8, 8)), &mut out))),
        ("exchanged by both", Racy, verdict(|| in_place::<false>::launch((1, (8, 8)), &mut out))),
        ("consumed later", Clean, verdict(|| produced::<true>::launch(one, &x, &mut out))),
        ("consumed at once", Racy, verdict(|| produced::<false>::launch(one, &x, &mut out))),
        ("written before", Clean, verdict(|| late::<true>::launch(one, &mut out))),
        ("written in part", Uninitialised, verdict(|| late::<false>::launch(one, &mut out))),
    ];
    agree(&cases);
    Ok(())
}
