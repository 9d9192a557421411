//! Clusters: blocks that synchronise and access each other's shared memory.

use cuda_driver::LaunchConfig;
use cuda_jit::DeviceType;
use cuda_jit::device::{
    Cluster, atomic_add, atomic_add_with, atomic_fence, atomic_load, atomic_load_with, atomic_max, atomic_store,
    atomic_store_with, block_idx, cas, cas_with, cluster_blocks, cluster_dim, cluster_idx, cluster_rank,
    dynamic_shared, grid, nanosleep, order, scope, shared, sync_threads, this_block, this_cluster, this_grid,
    thread_idx,
};
use cuda_jit::{device, kernel};

use super::{on_device, on_host};

#[kernel]
fn places(out: &mut [usize]) {
    let cluster = this_cluster();
    let i = this_grid().thread_rank();
    cluster.sync();
    let (at, extent) = (cluster.block_index(), cluster.dim_blocks());
    let rank = at.x + extent.x * (at.y + extent.y * at.z);
    assert!(rank == cluster.block_rank() && extent.x * extent.y * extent.z == cluster.num_blocks());
    out[i] = cluster.thread_rank() + 1000 * cluster.size() + 1_000_000 * (10 * rank + cluster.num_blocks());
}

#[test]
fn a_launch_without_clusters_has_clusters_of_one_block() {
    let mut out = on_device(&[0; 64]);
    places::launch((2, 32), &mut out).unwrap();
    let out = on_host(&out);
    assert!((0..64).all(|i| out[i] == i % 32 + 32_000 + 1_000_000), "{out:?}");
    let error = places::compile_ptx((8, 9)).unwrap_err().to_string();
    assert!(error.contains("`this_cluster` needs sm_90 or newer, and the target is sm_89"), "{error}");
}

#[test]
fn threads_know_their_place_in_the_cluster() {
    // 4 x 6 blocks of 8 threads in clusters of 2 x 3.
    let mut out = on_device(&[0; 192]);
    places::launch(LaunchConfig::new((4, 6), 8).cluster((2, 3)), &mut out).unwrap();
    for (i, got) in on_host(&out).iter().enumerate() {
        let (block, thread) = (i / 8, i % 8);
        let rank = block % 4 % 2 + block / 4 % 3 * 2;
        assert_eq!(*got, rank * 8 + thread + 48_000 + 1_000_000 * (10 * rank + 6), "{i}");
    }
}

#[kernel(cluster(2))]
fn pairs(out: &mut [usize]) {
    out[block_idx().x] = this_cluster().num_blocks();
}

#[kernel(launch_bounds(64, 1, 4))]
fn at_most_four(out: &mut [usize]) {
    out[block_idx().x] = this_cluster().num_blocks();
}

#[test]
fn kernels_say_their_clusters() {
    let mut out = on_device(&[0; 8]);
    pairs::launch((8, 1), &mut out).unwrap();
    assert_eq!(on_host(&out), [2; 8]);
    pairs::launch(LaunchConfig::new(8, 1).cluster(2), &mut out).unwrap();
    assert!(pairs::compile_ptx((9, 0)).unwrap().contains(".reqnctapercluster 2"));
    let refused = |launched: cuda_jit::Result<()>| launched.unwrap_err().to_string();
    let error = refused(pairs::launch(LaunchConfig::new(8, 1).cluster(4), &mut out));
    assert!(error.contains("kernel `pairs` is made for clusters of (2, 1, 1); nothing was launched"), "{error}");
    let error = refused(pairs::launch((7, 1), &mut out));
    assert!(error.contains("x is 7, which is no multiple of the 2 blocks of a cluster"), "{error}");
    at_most_four::launch(LaunchConfig::new(8, 1).cluster(4), &mut out).unwrap();
    assert_eq!(on_host(&out), [4; 8]);
    let error = refused(at_most_four::launch(LaunchConfig::new(8, 1).cluster(8), &mut out));
    assert!(
        error.contains("cluster of 8 blocks: the launch bounds of kernel `at_most_four` allow at most 4"),
        "{error}"
    );
    let error = pairs::compile_ptx((8, 0)).unwrap_err().to_string();
    assert!(error.contains("needs sm_90 or newer"), "{error}");
    let error = refused(places::launch(LaunchConfig::new(32, 1).cluster(16), &mut on_device(&[0; 32])));
    assert!(error.contains("devices run at most 8"), "{error}");
    places::launch(LaunchConfig::new(32, 1).cluster(16).non_portable(), &mut on_device(&[0; 32])).unwrap();
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Sample {
    weight: f32,
    count: u64,
}

/// Every kind of shared memory: arrays, parts of arrays, structs, nested arrays, dynamic slices.
#[kernel]
fn neighbours(out: &mut [u64]) {
    let bytes = shared!([u8; 8]);
    let samples = shared!([Sample; 2]);
    let rows = shared!([[f64; 2]; 3]);
    let (some, rest) = dynamic_shared!([u16; 5], [u32]);
    let (cluster, t) = (this_cluster(), thread_idx().x);
    let own = cluster.block_rank();
    if t == 0 {
        for i in 0..8 {
            bytes[i] = (own * 10 + i) as u8;
        }
        samples[1] = Sample { weight: own as f32 + 0.5, count: own as u64 * 1000 };
        rows[2][1] = own as f64 * 2.0;
        some[4] = own as u16 + 7;
        rest[2] = own as u32 + 70;
    }
    cluster.sync();
    let next = (own + 1) % cluster.num_blocks();
    let other: &[u8; 8] = cluster.map_shared_rank(bytes, next);
    let sample = cluster.map_shared_rank(&samples[1], next);
    let rows = cluster.map_shared_rank(rows, next);
    let (some, rest) = (cluster.map_shared_rank(some, next), cluster.map_shared_rank(rest, next));
    if t == 0 {
        let sum: u64 = other[3] as u64 + sample.count + rows[2][1] as u64 + some[4] as u64 + rest[2] as u64;
        out[block_idx().x] = sum * 10 + (sample.weight * 2.0) as u64 + some.len() as u64 * 10_000_000;
    }
    cluster.sync();
}

#[test]
fn blocks_read_what_others_have() {
    let mut out = on_device(&[0; 6]);
    let config = LaunchConfig::new(6, 32).cluster(3).shared_bytes(10 + 2 + 4 * 5);
    neighbours::launch(config, &mut out).unwrap();
    let want = |block: u64| {
        let n = (block + 1) % 3;
        (n * 10 + 3 + n * 1000 + 2 * n + n + 7 + n + 70) * 10 + (2 * n + 1) + 50_000_000
    };
    assert_eq!(on_host(&out), (0..6).map(want).collect::<Vec<_>>());
}

/// A device function that takes a pointer to unknown memory.
#[device]
fn sum_of(values: &[u32]) -> u32 {
    let mut sum = 0;
    for v in values.iter() {
        sum += *v;
    }
    sum
}

#[device]
fn rank_after(cluster: Cluster) -> usize {
    (cluster.block_rank() + 1) % cluster.num_blocks()
}

#[kernel]
fn written_by_others(out: &mut [u32]) {
    let tile = shared!([u32; 16]);
    let (cluster, t) = (this_cluster(), thread_idx().x);
    let there = cluster.map_shared_rank(tile, rank_after(cluster));
    cluster.sync();
    there[t] = cluster.thread_rank() as u32;
    cluster.sync();
    out[grid::<1>()] = tile[t] * 1000 + sum_of(&tile[..]) + sum_of(&cluster.map_shared_rank(tile, 0)[..4]);
    cluster.sync();
}

#[test]
fn blocks_write_what_others_have() {
    let mut out = on_device(&[0; 64]);
    written_by_others::launch(LaunchConfig::new(4, 16).cluster(2), &mut out).unwrap();
    for (i, got) in on_host(&out).iter().enumerate() {
        let (rank, thread) = ((i / 16 % 2) as u32, (i % 16) as u32);
        let first = |rank: u32| (1 - rank) * 16;
        let all = |rank: u32, count: u32| (0..count).map(|t| first(rank) + t).sum::<u32>();
        assert_eq!(*got, (first(rank) + thread) * 1000 + all(rank, 16) + all(0, 4), "{i}");
    }
}

/// A thread's write to its own memory through the cluster is visible to its own reads.
#[kernel]
fn own_by_rank(out: &mut [u32]) {
    let tile = shared!([u32; 32]);
    let (cluster, t) = (this_cluster(), thread_idx().x);
    tile[t] = 1;
    let same = cluster.map_shared_rank(tile, cluster.block_rank());
    same[t] = 2;
    let mut sum = tile[t];
    tile[t] = 30;
    sum += same[t];
    out[grid::<1>()] = sum;
}

#[test]
fn the_own_rank_maps_to_the_own_memory() {
    let mut out = on_device(&[0; 128]);
    own_by_rank::launch(LaunchConfig::new(4, 32).cluster(4), &mut out).unwrap();
    assert_eq!(on_host(&out), [32; 128]);
}

/// A histogram of 64 bins in the shared memory of four blocks, 16 bins each.
#[kernel]
fn histogram(values: &[u32], out: &mut [u32]) {
    let bins = shared!([u32; 16]);
    let (cluster, block) = (this_cluster(), this_block());
    let t = block.thread_rank();
    if t < 16 {
        bins[t] = 0;
    }
    cluster.sync();
    let mut i = cluster.thread_rank();
    while i < values.len() {
        let bin = values[i] as usize % 64;
        let there = cluster.map_shared_rank(bins, bin / 16);
        atomic_add(&mut there[bin % 16], 1);
        i += cluster.size();
    }
    cluster.sync();
    if t < 16 {
        atomic_add(&mut out[cluster.block_rank() * 16 + t], bins[t]);
    }
}

#[test]
fn a_histogram_over_a_cluster_is_that_of_the_host() {
    let values: Vec<u32> = (0..10_000_u32).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
    let mut want = vec![0; 64];
    values.iter().for_each(|v| want[*v as usize % 64] += 1);
    let mut out = on_device(&[0; 64]);
    histogram::launch(LaunchConfig::new(4, 128).cluster(4), &on_device(&values), &mut out).unwrap();
    assert_eq!(on_host(&out), want);
}

/// Every atomic operation on one block's memory.
#[kernel]
fn atomics(out: &mut [f64]) {
    let (ints, floats, wide, small) = (shared!([u32; 3]), shared!([f32; 1]), shared!([f64; 1]), shared!([u8; 1]));
    let (cluster, t) = (this_cluster(), thread_idx().x);
    if t == 0 {
        ints[0] = 0;
        ints[1] = 0;
        ints[2] = 0;
        floats[0] = 0.0;
        wide[0] = 0.0;
        small[0] = 0;
    }
    cluster.sync();
    let first = cluster.map_shared_rank(ints, 0);
    atomic_add(&mut first[0], 1);
    atomic_max(&mut first[1], cluster.thread_rank() as u32);
    atomic_add(&mut cluster.map_shared_rank(floats, 0)[0], 0.5);
    atomic_add(&mut cluster.map_shared_rank(wide, 0)[0], 0.25);
    let mut seen = atomic_load(&mut first[2]);
    loop {
        let old = cas(&mut first[2], seen, seen + 2);
        if old == seen {
            break;
        }
        seen = old;
    }
    if cluster.thread_rank() == 40 {
        atomic_store(&mut cluster.map_shared_rank(small, 0)[0], 9);
    }
    cluster.sync();
    sync_threads();
    if t == 0 {
        out[block_idx().x] =
            (ints[0] + ints[1] + ints[2]) as f64 + floats[0] as f64 + wide[0] + small[0] as f64 * 1000.0;
    }
}

#[test]
fn atomics_reach_other_blocks() {
    let mut out = on_device(&[0.0; 4]);
    atomics::launch(LaunchConfig::new(4, 32).cluster(2), &mut out).unwrap();
    let want = 64.0 + 63.0 + 128.0 + 32.0 + 16.0 + 9000.0;
    assert_eq!(on_host(&out), [want, 0.0, want, 0.0]);
}

/// Rounds in which each block reads its neighbour's value: a cluster barrier in a loop.
#[kernel]
fn rounds(out: &mut [u32], count: usize) {
    let tile = shared!([u32; 32]);
    let (cluster, t) = (this_cluster(), thread_idx().x);
    let mut value = cluster.thread_rank() as u32;
    for _ in 0..count {
        tile[t] = value;
        cluster.sync();
        value = cluster.map_shared_rank(tile, rank_after(cluster))[t] + 1;
        cluster.sync();
    }
    out[grid::<1>()] = value;
}

#[test]
fn cluster_barriers_in_loops() {
    let mut out = on_device(&[0; 256]);
    rounds::launch(LaunchConfig::new(8, 32).cluster(8), &mut out, 20).unwrap();
    for (i, got) in on_host(&out).iter().enumerate() {
        assert_eq!(*got as usize, (i / 32 + 20) % 8 * 32 + i % 32 + 20, "{i}");
    }
}

/// The second block of the first cluster arrives only when the other cluster has set a flag.
#[kernel]
fn late(flag: &mut [u32], out: &mut [u32]) {
    let value = shared!([u32; 1]);
    let cluster = this_cluster();
    value[0] = 0;
    cluster.sync();
    if block_idx().x == 1 {
        while atomic_load(&mut flag[0]) == 0 {}
        value[0] = 7;
    } else if block_idx().x > 1 {
        nanosleep(1_000_000);
        atomic_store(&mut flag[0], 1);
    }
    cluster.sync();
    out[block_idx().x] = cluster.map_shared_rank(value, 1)[0];
    cluster.sync();
}

#[test]
fn arrived_blocks_wait_for_late_ones() {
    let (mut flag, mut out) = (on_device(&[0]), on_device(&[9; 4]));
    late::launch(LaunchConfig::new(4, 1).cluster(2), &mut flag, &mut out).unwrap();
    assert_eq!(on_host(&out), [7, 7, 0, 0]);
}

/// A grid-wide barrier together with clusters.
#[kernel]
fn grid_and_cluster(x: &mut [u32], out: &mut [u32]) {
    let (whole, cluster) = (this_grid(), this_cluster());
    let i = whole.thread_rank();
    x[i] = cluster.block_rank() as u32;
    whole.sync();
    out[i] = x[whole.size() - 1 - i] + 10 * cluster.num_blocks() as u32;
}

#[test]
fn a_grid_barrier_works_with_clusters() {
    let (mut x, mut out) = (on_device(&[0; 16]), on_device(&[0; 16]));
    grid_and_cluster::launch(LaunchConfig::new(4, 4).cluster(2), &mut x, &mut out).unwrap();
    let want: Vec<u32> = (0..16).map(|i| 20 + (15 - i) / 4 % 2).collect();
    assert_eq!(on_host(&out), want);
}

#[kernel]
fn of_rank(rank: usize, out: &mut [u32]) {
    let tile = shared!([u32; 4]);
    let cluster = this_cluster();
    tile[0] = 5;
    cluster.sync();
    if cluster.thread_rank() == 0 {
        out[0] = cluster.map_shared_rank(tile, rank)[0];
    }
    cluster.sync();
}

#[test]
fn an_invalid_rank_panics() {
    if !super::in_child_process("language::clusters::an_invalid_rank_panics") {
        return;
    }
    let mut out = on_device(&[0]);
    let config = LaunchConfig::new(2, 2).cluster(2);
    of_rank::launch(config.clone(), 1, &mut out).unwrap();
    assert_eq!(on_host(&out), [5]);
    for rank in [2, usize::MAX, 1 << 32] {
        of_rank::launch(config.clone(), rank, &mut out).unwrap();
        let Err(cuda_driver::Error::KernelPanic(panic)) = super::context().synchronize() else { panic!("no panic") };
        assert_eq!(panic.message, format!("there is no block {rank} in a cluster of 2"));
        assert!(panic.line > 0 && panic.file.ends_with("clusters.rs"));
    }
}

/// One block ends, or panics, while the other still reads its memory.
#[kernel]
fn ends_early(how: u32, out: &mut [u32]) {
    let tile = shared!([u32; 4]);
    let (cluster, t) = (this_cluster(), thread_idx().x);
    tile[t] = 1 + cluster.block_rank() as u32;
    cluster.sync();
    if cluster.block_rank() == 1 {
        if how == 0 {
            return;
        }
        assert!(how == 2 && t > 1, "thread {t} ends");
    }
    let mut sum = 0;
    for _ in 0..3 {
        cluster.sync();
        nanosleep(100_000);
        sum += cluster.map_shared_rank(tile, 1)[t];
    }
    out[grid::<1>()] = sum;
}

#[test]
fn shared_memory_outlives_its_block_until_the_cluster_ends() {
    if !super::in_child_process("language::clusters::shared_memory_outlives_its_block_until_the_cluster_ends") {
        return;
    }
    let run = |how| {
        let mut out = on_device(&[0; 16]);
        ends_early::launch(LaunchConfig::new(4, 4).cluster(2), how, &mut out).unwrap();
        let ended = super::context().synchronize();
        (ended, on_host(&out))
    };
    let (ended, out) = run(0);
    assert!(ended.is_ok(), "{ended:?}");
    let of_first = [6, 6, 6, 6, 0, 0, 0, 0].repeat(2);
    assert_eq!(out, of_first);
    let (ended, out) = run(1);
    let Err(cuda_driver::Error::KernelPanic(panic)) = ended else { panic!("{ended:?}") };
    assert!(panic.message.starts_with("thread ") && panic.message.ends_with(" ends"), "{}", panic.message);
    assert_eq!(out, of_first);
    // only some threads of a block
    let (ended, out) = run(2);
    assert!(matches!(ended, Err(cuda_driver::Error::KernelPanic(_))), "{ended:?}");
    assert_eq!(out, [6, 6, 6, 6, 0, 0, 6, 6].repeat(2));
    super::context().synchronize().unwrap();
}

/// Panics in nested device functions and loops, in some threads of some blocks, while others read and write.
#[device]
fn checked(values: &[u32], i: usize) -> u32 {
    values[i]
}

#[kernel]
fn many_ends(limit: usize, out: &mut [u32]) {
    let tile = shared!([u32; 64]);
    let (cluster, t) = (this_cluster(), thread_idx().x);
    let rank = cluster.thread_rank();
    tile[t] = rank as u32;
    let mut sum = 0;
    for round in 0..8 {
        cluster.sync();
        let there = cluster.map_shared_rank(tile, (cluster.block_rank() + round) % cluster.num_blocks());
        for k in 0..4 {
            // out of bounds in the threads beyond the limit, from some round on
            sum += checked(there, (t + k) % 32 + if rank * 7 % 64 + round > limit { 64 } else { 0 });
        }
        if rank * 5 % 64 + 3 * round > limit + 20 {
            break;
        }
        atomic_add(&mut there[t], 0);
    }
    out[grid::<1>()] = sum + 1;
}

#[test]
fn threads_that_end_early_lose_no_results() {
    if !super::in_child_process("language::clusters::threads_that_end_early_lose_no_results") {
        return;
    }
    for (limit, blocks) in [(1000, 2), (64, 4), (40, 8), (10, 2), (0, 4), (30, 1)] {
        let mut out = on_device(&[0; 64 * 8]);
        let config = LaunchConfig::new(8, 64);
        // without a cluster size each block is a cluster
        let config = if blocks == 1 { config } else { config.cluster(blocks) };
        many_ends::launch(config, limit, &mut out).unwrap();
        let ended = super::context().synchronize();
        assert!(matches!(ended, Ok(()) | Err(cuda_driver::Error::KernelPanic(_))), "{limit}: {ended:?}");
        assert_eq!(ended.is_ok(), limit >= 1000, "{limit}: {ended:?}");
        // threads that did not panic have written
        let ended = on_host(&out).iter().filter(|sum| **sum == 0).count();
        assert_eq!(ended == 0, limit >= 1000, "{limit}: {ended} ended");
    }
}

/// Uses all static shared memory, so that no room is left for the counters.
#[kernel]
fn fills_shared(out: &mut [u32]) {
    let tile = shared!([u32; 12288]);
    let (cluster, t) = (this_cluster(), thread_idx().x);
    tile[t] = cluster.block_rank() as u32 + 5;
    tile[12287 - t] = 1;
    cluster.sync();
    let other = cluster.map_shared_rank(tile, 1 - cluster.block_rank());
    out[grid::<1>()] = other[t] + other[12287 - t];
}

#[test]
fn full_shared_memory_leaves_room_for_the_counters() {
    let mut out = on_device(&[0; 64]);
    fills_shared::launch(LaunchConfig::new(2, 32).cluster(2), &mut out).unwrap();
    assert_eq!(on_host(&out), [[7; 32], [6; 32]].concat());
}

#[test]
fn only_modules_that_map_memory_have_counters() {
    assert!(!places::compile_ptx((9, 0)).unwrap().contains("cluster_counters"));
    let ptx = ends_early::compile_ptx((9, 0)).unwrap();
    assert!(ptx.contains(".shared .align 8 .b8 cluster_counters[8]"), "{ptx}");
}

#[kernel]
fn among_the_cluster(sums: &mut [u32], flags: &mut [u32], out: &mut [u32]) {
    let mine = shared!([u32; 1]);
    let (cluster, t) = (this_cluster(), thread_idx().x);
    if t == 0 {
        mine[0] = 0;
    }
    cluster.sync();
    let first = cluster.map_shared_rank(mine, 0);
    atomic_add_with(&mut first[0], 1, scope::Cluster, order::AcqRel);
    let c = cluster_idx().x;
    if t == 0 {
        atomic_add_with(&mut sums[c], block_idx().x as u32, scope::Cluster, order::Relaxed);
        atomic_fence(scope::Cluster, order::SeqCst);
        atomic_store_with(&mut flags[block_idx().x], 1, scope::Cluster, order::Release);
        while atomic_load_with(&mut flags[block_idx().x], scope::Cluster, order::Acquire) == 0 {}
        cas_with(&mut flags[block_idx().x], 1, 2, scope::Cluster, order::AcqRel);
    }
    cluster.sync();
    if t == 0 && cluster_rank() == 0 {
        out[c] = mine[0] + 100 * sums[c] + 10_000 * cluster_blocks() as u32 + 100_000 * cluster_dim().x as u32;
    }
    cluster.sync();
}

#[test]
fn atomics_hold_among_the_cluster() {
    let _selected = super::context().select();
    let (mut sums, mut flags, mut out) = (on_device(&[0; 2]), on_device(&[0; 4]), on_device(&[0; 2]));
    among_the_cluster::launch(LaunchConfig::new(4, 8).cluster(2), &mut sums, &mut flags, &mut out).unwrap();
    assert_eq!(on_host(&out), [220_016 + 100, 220_016 + 500]);
    assert_eq!(on_host(&flags), [2; 4]);
    let ptx = among_the_cluster::compile_ptx((9, 0)).unwrap();
    let forms = ["atom.acq_rel.cluster", "fence.sc.cluster", "st.release.cluster", "ld.acquire.cluster"];
    forms.into_iter().for_each(|form| assert!(ptx.contains(form), "{form} in {ptx}"));
    let error = scoped::compile_ptx((8, 0)).unwrap_err().to_string();
    assert!(error.contains("`scope::Cluster` needs sm_90 or newer"), "{error}");
}

#[kernel]
fn scoped(x: &mut [u32]) {
    atomic_add_with(&mut x[0], 1, scope::Cluster, order::Relaxed);
}
