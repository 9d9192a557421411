//! Cooperative groups: grid, block, tiles, coalesced threads.

use super::{context, on_device, on_host};
use cuda_driver::LaunchConfig;
use cuda_jit::device::{
    Tile, TileSize, atomic_add, coalesced_threads, grid, lane_id, this_block, this_grid, thread_idx, tiled_partition,
};
use cuda_jit::{device, kernel};
use cuda_tests_support::needs_software_device;

/// In each round every thread reads the value that the previous thread of the grid wrote.
#[kernel]
fn rounds(x: &mut [u64], y: &mut [u64], ranks: &mut [usize]) {
    let grid = this_grid();
    let (i, n) = (grid.thread_rank(), grid.size());
    for _ in 0..5 {
        y[i] = x[(i + n - 1) % n] + 1;
        grid.sync();
        x[i] = y[(i + n - 1) % n] * 2;
        grid.sync();
    }
    ranks[i] = grid.block_rank() * 1000 + grid.num_blocks();
}

#[test]
fn a_grid_barrier_orders_rounds() {
    for (blocks, threads) in [((1, 1, 1), (1, 1, 1)), ((3, 2, 2), (16, 2, 3)), ((7, 1, 1), (64, 1, 1))] {
        let n = (blocks.0 * blocks.1 * blocks.2 * threads.0 * threads.1 * threads.2) as usize;
        let mut x: Vec<u64> = (0..n as u64).collect();
        let (mut dx, mut dy, mut ranks) = (on_device(&x), on_device(&vec![0u64; n]), on_device(&vec![0usize; n]));
        rounds::launch((blocks, threads), &mut dx, &mut dy, &mut ranks).unwrap();
        for _ in 0..5 {
            let y: Vec<u64> = (0..n).map(|i| x[(i + n - 1) % n] + 1).collect();
            x = (0..n).map(|i| y[(i + n - 1) % n] * 2).collect();
        }
        assert_eq!(on_host(&dx), x);
        let count = (blocks.0 * blocks.1 * blocks.2) as usize;
        let expected: Vec<usize> = (0..n).map(|i| i / (n / count) * 1000 + count).collect();
        assert_eq!(on_host(&ranks), expected);
    }
}

#[device]
fn meet(done: &mut [u32]) {
    atomic_add(&mut done[0], 1);
    this_grid().sync();
}

#[kernel]
fn in_a_function(done: &mut [u32], out: &mut [u32]) {
    meet(done);
    let i = grid::<1>();
    if i < out.len() {
        out[i] = done[0];
    }
}

#[test]
fn a_device_function_makes_the_launch_cooperative_too() {
    let (mut done, mut out) = (on_device(&[0u32]), on_device(&[0u32; 96]));
    in_a_function::launch(LaunchConfig::new(3, 32).cooperative(), &mut done, &mut out).unwrap();
    assert_eq!(on_host(&out), [96; 96]);
    let mut done = on_device(&[0u32]);
    in_a_function::forall(96, &mut done, &mut out).unwrap();
    assert_eq!(on_host(&out), [on_host(&done)[0]; 96]);
}

#[test]
fn a_grid_that_does_not_fit_is_refused() {
    let (mut done, mut out) = (on_device(&[0u32]), on_device(&[0u32; 96]));
    let error = in_a_function::launch((1 << 20, 1024), &mut done, &mut out).unwrap_err().to_string();
    assert!(error.contains("a cooperative launch needs all its blocks resident at once"), "{error}");
}

#[kernel]
fn one_panics(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let v = x[i];
    this_grid().sync();
    out[i] = v;
}

/// The thread that panics does not reach the barrier; the others end instead of waiting for ever.
#[test]
fn a_panic_ends_those_who_wait() {
    if !super::in_child_process("language::groups::a_panic_ends_those_who_wait") {
        return;
    }
    let (x, mut out) = (on_device(&[5u32; 128]), on_device(&[0u32; 160]));
    one_panics::launch((5, 32), &x, &mut out).unwrap();
    let error = context().synchronize().unwrap_err().to_string();
    assert!(error.contains("index out of bounds: the len is 128 but the index is 128"), "{error}");
}

#[kernel]
fn tiles<const N: usize>(x: &[i32], y: &[f64], z: &[u64], out: &mut [i64], wide: &mut [f64])
where
    Tile<N>: TileSize,
{
    let block = this_block();
    let tile = tiled_partition::<N>(&block);
    let (i, n) = (block.thread_rank(), block.size());
    let rank = tile.thread_rank() as u32;
    let v = x[i];
    out[i] = (tile.thread_rank() + 100 * tile.meta_group_rank() + 10_000 * tile.size()) as i64;
    out[n + i] = tile.meta_group_size() as i64 + 100 * tile.shfl(v, rank + 1) as i64;
    out[2 * n + i] = tile.shfl_up(v, 1) as i64;
    out[3 * n + i] = tile.shfl_down(v, 2) as i64;
    out[4 * n + i] = tile.shfl_xor(v, 3) as i64;
    out[5 * n + i] = tile.ballot(v % 2 == 0) as i64;
    out[6 * n + i] = tile.any(v > 60) as i64 + 2 * tile.all(v >= 0) as i64;
    out[7 * n + i] = tile.match_any(v % 3) as i64;
    let (all, same) = tile.match_all(v / 8);
    out[8 * n + i] = all as i64 + if same { 1 << 40 } else { 0 };
    out[9 * n + i] = tile.reduce_add(v) as i64;
    out[10 * n + i] = tile.reduce_min(v) as i64 - tile.reduce_max(v) as i64;
    out[11 * n + i] = tile.reduce_add(z[i]) as i64;
    out[12 * n + i] = tile.lanes() as i64;
    tile.sync();
    wide[i] = tile.reduce_add(y[i]);
    wide[n + i] = tile.reduce_max(y[i]);
    wide[2 * n + i] = tile.shfl(y[i], 0);
}

fn check_tiles<const N: usize>()
where
    Tile<N>: TileSize,
{
    const THREADS: usize = 96;
    let x: Vec<i32> = (0..THREADS as i32).map(|i| (i * 37) % 71).collect();
    let y: Vec<f64> = x.iter().map(|&v| f64::from(v) * 0.5).collect();
    let z: Vec<u64> = x.iter().map(|&v| v as u64 * 0x1_0000_0001).collect();
    let (mut out, mut wide) = (on_device(&[0i64; 13 * THREADS]), on_device(&[0f64; 3 * THREADS]));
    tiles::<N>::launch((1, (32, 3)), &on_device(&x), &on_device(&y), &on_device(&z), &mut out, &mut wide).unwrap();
    let (out, wide) = (on_host(&out), on_host(&wide));
    for i in 0..THREADS {
        let first = i / N * N;
        let (tile, rank) = (&x[first..first + N], i - first);
        let bits = |test: &dyn Fn(i32) -> bool| (0..N).filter(|&r| test(tile[r])).fold(0i64, |mask, r| mask | 1 << r);
        let row = |row: usize| out[row * THREADS + i];
        assert_eq!(row(0), (rank + 100 * (i / N) + 10_000 * N) as i64);
        assert_eq!(row(1), (THREADS / N) as i64 + 100 * i64::from(tile[(rank + 1) % N]), "{N} {i}");
        assert_eq!(row(2), i64::from(tile[rank.saturating_sub(1)]));
        assert_eq!(row(3), i64::from(if rank + 2 < N { tile[rank + 2] } else { tile[rank] }));
        assert_eq!(row(4), i64::from(tile[rank ^ (3 & (N - 1))]));
        assert_eq!(row(5), bits(&|v| v % 2 == 0));
        assert_eq!(row(6), i64::from(tile.iter().any(|&v| v > 60)) + 2);
        assert_eq!(row(7), bits(&|v| v % 3 == x[i] % 3));
        let same = tile.iter().all(|&v| v / 8 == tile[0] / 8);
        assert_eq!(row(8), if same { (1 << 40) | bits(&|_| true) } else { 0 });
        assert_eq!(row(9), i64::from(tile.iter().sum::<i32>()));
        assert_eq!(row(10), i64::from(tile.iter().min().unwrap() - tile.iter().max().unwrap()));
        assert_eq!(row(11), z[first..first + N].iter().sum::<u64>() as i64);
        assert_eq!(row(12), bits(&|_| true) << (first % 32));
        let wide_tile = &y[first..first + N];
        assert_eq!(wide[i], wide_tile.iter().sum::<f64>());
        assert_eq!(wide[THREADS + i], wide_tile.iter().copied().fold(f64::MIN, f64::max));
        assert_eq!(wide[2 * THREADS + i], wide_tile[0]);
    }
}

#[test]
fn tiles_of_every_size() {
    check_tiles::<1>();
    check_tiles::<2>();
    check_tiles::<4>();
    check_tiles::<8>();
    check_tiles::<16>();
    check_tiles::<32>();
}

#[kernel]
fn together(x: &[i32], out: &mut [i32]) {
    let (i, n) = (thread_idx().x, x.len());
    let v = x[i];
    if v % 3 != 0 {
        let group = coalesced_threads();
        let (rank, size) = (group.thread_rank(), group.size());
        out[i] = rank as i32 + 100 * size as i32;
        out[n + i] = group.shfl(v, rank as u32 + 1);
        out[2 * n + i] = group.shfl_up(v, 2);
        out[3 * n + i] = group.shfl_down(v, 2);
        out[4 * n + i] = group.ballot(v % 2 == 0) as i32;
        out[5 * n + i] = group.reduce_add(v);
        out[6 * n + i] = group.reduce_max(v) - group.reduce_min(v);
        out[7 * n + i] = group.match_any(v % 2) as i32;
        let (all, same) = group.match_all((v > 0) as i32);
        out[8 * n + i] = all as i32 + same as i32;
        out[9 * n + i] = group.any(v > 65) as i32 + 2 * group.all(v > 0) as i32;
        group.sync();
        out[10 * n + i] = (group.lanes() >> lane_id() & 1) as i32;
        out[11 * n + i] = group.shfl_xor(v, 5);
        out[12 * n + i] = group.shfl_xor(v as f64 / 2.0, 1) as i32;
    }
}

/// The software device runs the lanes of a branch in lockstep, all of them.
#[test]
fn threads_that_run_together() {
    let x: Vec<i32> = (0..64).map(|i| (i * 29) % 67 + 1).collect();
    let mut out = on_device(&[-7i32; 13 * 64]);
    together::launch((1, 64), &on_device(&x), &mut out).unwrap();
    let out = on_host(&out);
    for i in 0..64 {
        let row = |row: usize| out[row * 64 + i];
        if x[i] % 3 == 0 {
            assert_eq!(row(0), -7);
            continue;
        }
        let warp = i / 32 * 32;
        let group: Vec<i32> = x[warp..warp + 32].iter().copied().filter(|v| v % 3 != 0).collect();
        let (rank, n) = (x[warp..i].iter().filter(|&v| v % 3 != 0).count(), group.len());
        let bits = |test: &dyn Fn(i32) -> bool| (0..n).filter(|&r| test(group[r])).fold(0i32, |mask, r| mask | 1 << r);
        assert_eq!(row(0), rank as i32 + 100 * n as i32);
        assert_eq!(row(1), group[(rank + 1) % n]);
        assert_eq!(row(2), group[if rank >= 2 { rank - 2 } else { rank }]);
        assert_eq!(row(3), group[if rank + 2 < n { rank + 2 } else { rank }]);
        assert_eq!(row(4), bits(&|v| v % 2 == 0));
        assert_eq!(row(5), group.iter().sum::<i32>());
        assert_eq!(row(6), group.iter().max().unwrap() - group.iter().min().unwrap());
        assert_eq!(row(7), bits(&|v| v % 2 == x[i] % 2));
        assert_eq!(row(8), bits(&|_| true) + 1);
        assert_eq!(row(9), i32::from(group.iter().any(|&v| v > 65)) + 2);
        assert_eq!(row(10), 1);
        assert_eq!(row(11), group[if rank ^ 5 < n { rank ^ 5 } else { rank }]);
        assert_eq!(row(12), group[if rank ^ 1 < n { rank ^ 1 } else { rank }] / 2);
    }
}

#[kernel]
fn writes_at(at: usize, out: &mut [u32]) {
    out[at] = 1;
}

#[kernel]
fn one_thread_panics(thread: usize, out: &mut [u32]) {
    let whole = this_grid();
    if whole.thread_rank() == thread {
        out[1000 + thread] = 1;
    }
    whole.sync();
    out[whole.thread_rank()] = 1;
}

/// Whichever thread panics, and also if an earlier launch of the stream has panicked without being reported.
#[test]
fn a_grid_does_not_wait_for_a_thread_that_panicked() {
    if !super::in_child_process("language::groups::a_grid_does_not_wait_for_a_thread_that_panicked") {
        return;
    }
    for thread in [0, 3, 32, 37, 127] {
        for before in [0, 5000] {
            let mut out = on_device(&[0; 128]);
            writes_at::launch((1, 1), before, &mut out).unwrap();
            one_thread_panics::launch((4, 32), thread, &mut out).unwrap();
            let ended = super::context().synchronize().unwrap_err().to_string();
            let told = |at: usize| ended.contains(&format!("the len is 128 but the index is {at}"));
            assert!(told(1000 + thread) && told(before) == (before > 0), "{thread}, {before}: {ended}");
        }
    }
}

macro_rules! one_block_returns {
    ($name:ident, $($options:tt)*) => {
        #[kernel($($options)*)]
        fn $name(returns: usize, out: &mut [u32]) {
            let whole = this_grid();
            if whole.block_rank() == returns {
                return;
            }
            whole.sync();
            out[whole.thread_rank()] = 1;
        }
    };
}
one_block_returns!(optimised, opt = 3);
one_block_returns!(unoptimised, opt = 0);

#[test]
fn a_barrier_that_a_block_misses_ends_the_launch() {
    const TEST: &str = "language::groups::a_barrier_that_a_block_misses_ends_the_launch";
    // A card waits without end.
    if needs_software_device(TEST, "the end of a wait for nobody") || !super::in_child_process(TEST) {
        return;
    }
    let mut out = on_device(&[0u32; 256]);
    optimised::launch((4, 64), 2, &mut out).unwrap();
    let error = context().synchronize().unwrap_err();
    assert!(error.to_string().contains("CUDA_ERROR_LAUNCH_FAILED"), "{error}");
}

#[test]
fn an_unoptimised_barrier_that_a_block_misses_ends_the_launch() {
    const TEST: &str = "language::groups::an_unoptimised_barrier_that_a_block_misses_ends_the_launch";
    // A card waits without end.
    if needs_software_device(TEST, "the end of a wait for nobody") || !super::in_child_process(TEST) {
        return;
    }
    unoptimised::launch((4, 64), 2, &mut on_device(&[0u32; 256])).unwrap();
    let error = context().synchronize().unwrap_err();
    assert!(error.to_string().contains("CUDA_ERROR_LAUNCH_FAILED"), "{error}");
}
