//! Every collective, over types, operators, sizes, numbers of ranks, in place and not.

use crate::support::*;
use std::ffi::c_int;

/// The types with the sizes of their elements.
const TYPES: [(c_int, usize); 12] =
    [(0, 1), (1, 1), (2, 4), (3, 4), (4, 8), (5, 8), (6, 2), (7, 4), (8, 8), (9, 2), (10, 1), (11, 1)];

/// Encodes a small whole number as an element.
fn encode(kind: c_int, value: u8) -> Vec<u8> {
    let float8 = |mantissa: u32, bias: u32| {
        let Some(exponent) = value.checked_ilog2() else { return vec![0] };
        let fraction = (u32::from(value) << mantissa >> exponent) & ((1 << mantissa) - 1);
        vec![((exponent + bias) << mantissa | fraction) as u8]
    };
    match kind {
        0 | 1 => vec![value],
        2 | 3 => u32::from(value).to_le_bytes().to_vec(),
        4 | 5 => u64::from(value).to_le_bytes().to_vec(),
        6 => half::f16::from_f32(value.into()).to_le_bytes().to_vec(),
        7 => f32::from(value).to_le_bytes().to_vec(),
        8 => f64::from(value).to_le_bytes().to_vec(),
        9 => half::bf16::from_f32(value.into()).to_le_bytes().to_vec(),
        10 => float8(3, 7),
        _ => float8(2, 15),
    }
}

fn encoded(kind: c_int, values: impl Iterator<Item = u8>) -> Vec<u8> {
    values.flat_map(|value| encode(kind, value)).collect()
}

/// A rank's contributions for an operator, such that every result is exact in every type.
fn contribution(op: c_int, rank: usize, ranks: usize, at: usize) -> u8 {
    (match op {
        1 => 1 + (rank + at) % 2,
        4 if rank == at % ranks => ranks * (at % 3),
        4 => 0,
        _ => (rank * 2 + at) % 3,
    }) as u8
}

fn expected(op: c_int, ranks: usize, at: usize) -> u8 {
    let all = (0..ranks).map(|rank| contribution(op, rank, ranks, at));
    match op {
        0 => all.sum(),
        1 => all.product(),
        2 => all.max().unwrap_or_default(),
        3 => all.min().unwrap_or_default(),
        _ => all.sum::<u8>() / ranks as u8,
    }
}

/// Reduces by every function that reduces, and compares.
fn reductions(rank: &Rank, kind: c_int, size: usize, op: c_int, count: usize, in_place: bool) {
    let (own, ranks) = (rank.rank, rank.ranks);
    let send = encoded(kind, (0..count).map(|at| contribution(op, own, ranks, at)));
    let result = encoded(kind, (0..count).map(|at| expected(op, ranks, at)));
    let context = format!("type {kind}, op {op}, count {count}, {ranks} ranks, in place: {in_place}");
    let from = Memory::of(&send);
    let other = Memory::of(&vec![0xeeu8; send.len()]);
    let to = if in_place { &from } else { &other };
    ok!(ncclAllReduce(from.at, to.at, count, kind, op, rank.comm, rank.stream.0));
    rank.wait();
    assert_eq!(to.read::<u8>(send.len()), result, "all-reduce: {context}");

    from.write(&send);
    let root = ranks - 1;
    ok!(ncclReduce(from.at, to.at, count, kind, op, root as c_int, rank.comm, rank.stream.0));
    rank.wait();
    let kept = if in_place { send.clone() } else { vec![0xee; send.len()] };
    if !in_place && own != root {
        other.write(&kept);
    }
    let after = to.read::<u8>(send.len());
    assert_eq!(after, if own == root { result.clone() } else { kept }, "reduce: {context}");

    // Blocks of the same contributions, one after the other, so that block `r` has the results of its elements.
    let all = encoded(kind, (0..count * ranks).map(|at| contribution(op, own, ranks, at)));
    let block = encoded(kind, (own * count..(own + 1) * count).map(|at| expected(op, ranks, at)));
    let from = Memory::of(&all);
    let to_at = if in_place { from.at + own * count * size } else { other.at };
    ok!(ncclReduceScatter(from.at, to_at, count, kind, op, rank.comm, rank.stream.0));
    rank.wait();
    let after = match in_place {
        true => from.read::<u8>(all.len())[own * block.len()..(own + 1) * block.len()].to_vec(),
        false => other.read(block.len()),
    };
    assert_eq!(after, block, "reduce-scatter: {context}");
}

fn all_reductions(rank: Rank) {
    for (kind, size) in TYPES {
        for op in 0..5 {
            for count in [0, 1, 7, 1000] {
                reductions(&rank, kind, size, op, count, op % 2 == 0);
                reductions(&rank, kind, size, op, count, op % 2 == 1);
            }
        }
        reductions(&rank, kind, size, SUM, 150_001, false);
    }
    rank.destroy();
}

#[test]
fn reductions_of_all_types_on_one_to_four_threads() {
    (1..=4).for_each(|ranks| threads(ranks, all_reductions));
}

#[test]
fn reductions_of_all_types_on_two_processes() {
    processes("collectives::reductions_of_all_types_on_two_processes", 2, all_reductions);
}

#[test]
fn reductions_of_all_types_on_four_processes() {
    processes("collectives::reductions_of_all_types_on_four_processes", 4, all_reductions);
}

/// A byte of a rank's data, different for each rank and position.
fn byte(rank: usize, at: usize) -> u8 {
    (rank * 101 + at * 7 + at / 251) as u8
}

fn bytes(rank: usize, range: std::ops::Range<usize>) -> Vec<u8> {
    range.map(|at| byte(rank, at)).collect()
}

fn copies(rank: &Rank, n: usize) {
    let (own, ranks, comm, stream) = (rank.rank, rank.ranks, rank.comm, rank.stream.0);
    let data = bytes(own, 0..n);
    let whole = |of: &dyn Fn(usize) -> Vec<u8>| -> Vec<u8> { (0..ranks).flat_map(of).collect() };
    let (from, to) = (Memory::of(&data), Memory::of(&vec![0u8; n]));
    for root in 0..ranks {
        let r = root as c_int;
        ok!(ncclBroadcast(from.at, to.at, n, BYTE, r, comm, stream));
        rank.wait();
        assert_eq!(to.read::<u8>(n), bytes(root, 0..n), "broadcast of {n} from {root}");
        to.write(&data);
        ok!(ncclBcast(to.at, n, BYTE, r, comm, stream));
        rank.wait();
        assert_eq!(to.read::<u8>(n), bytes(root, 0..n), "bcast of {n} from {root}");

        let all = Memory::of(&vec![9u8; n * ranks]);
        ok!(ncclGather(from.at, all.at, n, BYTE, r, comm, stream));
        rank.wait();
        let gathered = if own == root { whole(&|rank| bytes(rank, 0..n)) } else { vec![9; n * ranks] };
        assert!(all.read::<u8>(n * ranks) == gathered, "gather of {n} at {root}");

        all.write(&bytes(own, 0..n * ranks));
        ok!(ncclScatter(all.at, to.at, n, BYTE, r, comm, stream));
        rank.wait();
        assert_eq!(to.read::<u8>(n), bytes(root, own * n..(own + 1) * n), "scatter of {n} from {root}");
    }
    let all = Memory::of(&vec![9u8; n * ranks]);
    let expected = whole(&|rank| bytes(rank, 0..n));
    ok!(ncclAllGather(from.at, all.at, n, BYTE, comm, stream));
    rank.wait();
    assert!(all.read::<u8>(n * ranks) == expected, "all-gather of {n}");
    // In place: the own block lies where it will be.
    let mut scratch = vec![9u8; n * ranks];
    scratch[own * n..(own + 1) * n].copy_from_slice(&data);
    all.write(&scratch);
    ok!(ncclAllGather(all.at + own * n, all.at, n, BYTE, comm, stream));
    rank.wait();
    assert!(all.read::<u8>(n * ranks) == expected, "all-gather of {n} in place");

    let (from, to) = (Memory::of(&bytes(own, 0..n * ranks)), Memory::new(n * ranks));
    ok!(ncclAlltoAll(from.at, to.at, n, BYTE, comm, stream));
    rank.wait();
    let exchanged = whole(&|rank| bytes(rank, own * n..(own + 1) * n));
    assert!(to.read::<u8>(n * ranks) == exchanged, "all-to-all of {n}");
}

fn all_copies(rank: Rank) {
    [0, 1, 5, 4096, 300_007].iter().for_each(|n| copies(&rank, *n));
    rank.destroy();
}

#[test]
fn copies_on_one_to_four_threads() {
    (1..=4).for_each(|ranks| threads(ranks, all_copies));
}

#[test]
fn copies_on_three_processes() {
    processes("collectives::copies_on_three_processes", 3, all_copies);
}

/// Numbers whose sum depends on the order.
fn rough(rank: usize, count: usize) -> Vec<f32> {
    let mut state = rank as u32 + 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 * 2f32.powi((state & 31) as i32 - 24)
    };
    (0..count).map(|_| next()).collect()
}

/// Sums 16 Mi numbers, and compares every bit with the sum in the order of ranks.
fn large(rank: Rank) {
    let count = 16 << 20;
    let all: Vec<Vec<f32>> = (0..rank.ranks).map(|rank| rough(rank, count)).collect();
    let sum: Vec<f32> = (0..count).map(|at| all[1..].iter().fold(all[0][at], |sum, own| sum + own[at])).collect();
    let found = rank.all_reduce(&all[rank.rank]);
    let differs = (0..count).find(|at| found[*at].to_bits() != sum[*at].to_bits());
    assert_eq!(differs, None);
    rank.destroy();
}

#[test]
fn sixteen_million_numbers_are_summed_in_the_order_of_ranks() {
    threads(3, large);
}

#[test]
fn sixteen_million_numbers_are_summed_by_processes() {
    processes("collectives::sixteen_million_numbers_are_summed_by_processes", 2, large);
}

#[test]
fn halves_are_rounded_once_on_every_rank() {
    threads(4, |rank| {
        let own = half::f16::from_f32(if rank.rank == 0 { 2048.0 } else { 1.0 });
        let memory = Memory::of(&vec![own.to_bits(); 3000]);
        ok!(ncclAllReduce(memory.at, memory.at, 3000, 6, SUM, rank.comm, rank.stream.0));
        rank.wait();
        // In half precision 2048 + 1 is 2048; the sum is 2051, which rounds to 2052.
        assert!(memory.read::<u16>(3000).iter().all(|bits| half::f16::from_bits(*bits).to_f32() == 2052.0));
        rank.destroy();
    });
}

#[test]
fn scaled_sums_take_each_ranks_factor() {
    threads(3, |rank| {
        let values: Vec<f32> = (0..5000).map(|at| at as f32).collect();
        let factor = (rank.rank + 1) as f32;
        let (from, to, on_device) = (Memory::of(&values), Memory::of(&values), Memory::of(&[factor]));
        let (mut immediate, mut device) = (0, 0);
        let place = (&raw const factor).cast_mut().cast();
        ok!(ncclRedOpCreatePreMulSum(&raw mut immediate, place, FLOAT, 1, rank.comm));
        ok!(ncclRedOpCreatePreMulSum(&raw mut device, on_device.at as *mut _, FLOAT, 0, rank.comm));
        assert!(immediate >= 5 && device != immediate);
        let expected: Vec<f32> = values.iter().map(|x| x * 6.0).collect();
        for op in [immediate, device] {
            ok!(ncclAllReduce(from.at, to.at, 5000, FLOAT, op, rank.comm, rank.stream.0));
            rank.wait();
            assert_eq!(to.read::<f32>(5000), expected);
        }
        assert_eq!(from.read::<f32>(5000), values);
        assert_eq!(ncclAllReduce(from.at, to.at, 1, INT, device, rank.comm, rank.stream.0), INVALID_ARGUMENT);
        ok!(ncclRedOpDestroy(immediate, rank.comm));
        assert_eq!(ncclRedOpDestroy(immediate, rank.comm), INVALID_ARGUMENT);
        assert_eq!(ncclRedOpDestroy(SUM, rank.comm), INVALID_ARGUMENT);
        rank.destroy();
    });
}

/// Returns the process's CPU time in seconds.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Prints the speed of an all-reduce of 64 MiB: by the clock, and by the CPU time of each rank, which a rank with a core of its
/// own reaches; beside that of `memcpy`: `cargo test -p cuda-nccl-sim -- --nocapture takes_few`.
#[test]
fn an_all_reduce_takes_few_copies_of_its_bytes() {
    const BYTES: usize = 64 << 20;
    const ROUNDS: usize = 3;
    let rate = |seconds: f64| BYTES as f64 / seconds / 1e9;
    for ranks in [2, 4] {
        let (best, before) = (std::sync::Mutex::new(f64::MAX), std::sync::Mutex::new(f64::MAX));
        let barrier = std::sync::Barrier::new(ranks);
        threads(ranks, |rank| {
            let memory = Memory::of(&vec![0f32; BYTES / 4]);
            barrier.wait();
            if rank.rank == 0 {
                *before.lock().expect("a time") = processor_time();
            }
            barrier.wait();
            for _ in 0..ROUNDS {
                let started = std::time::Instant::now();
                ok!(ncclAllReduce(memory.at, memory.at, BYTES / 4, FLOAT, SUM, rank.comm, rank.stream.0));
                rank.wait();
                let mut best = best.lock().expect("a time");
                *best = best.min(started.elapsed().as_secs_f64());
            }
            barrier.wait();
            if rank.rank == 0 {
                let own = processor_time() - *before.lock().expect("a time");
                let (from, mut to) = (vec![1u8; BYTES], vec![0u8; BYTES]);
                let before = processor_time();
                for _ in 0..ROUNDS {
                    to.copy_from_slice(std::hint::black_box(&from));
                    std::hint::black_box(&mut to);
                }
                let copy = (processor_time() - before) / ROUNDS as f64;
                let best = *best.lock().expect("a time");
                let (own, copy) = (rate(own / (ROUNDS * ranks) as f64), rate(copy));
                println!("{ranks} ranks: {:.2} GB/s, {own:.2} by CPU time, memcpy {copy:.2} by CPU time", rate(best));
                // Each byte is copied to and from the shared memory twice, and reduced once.
                assert!(copy < 40.0 * own, "an all-reduce costs {own} GB/s, and a copy {copy}");
            }
            rank.destroy();
        });
    }
}
