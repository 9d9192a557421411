//! Synchronisation: shared memory, barriers, atomics, shuffles and votes.

use super::{context, differ, on_device, on_host};
use cuda_jit::device::{
    FULL_MASK, active_mask, all_sync, any_sync, atomic_add, atomic_and, atomic_dec, atomic_exch, atomic_inc,
    atomic_load, atomic_max, atomic_min, atomic_or, atomic_sub, atomic_xor, ballot_sync, block_dim, block_idx, cas,
    eq_sync, grid, lane_id, match_any_sync, shared, shfl_down_sync, shfl_sync, shfl_up_sync, shfl_xor_sync,
    sync_threads, sync_threads_and, sync_threads_count, sync_threads_or, sync_warp, thread_idx, threadfence,
    threadfence_block, threadfence_system,
};
use cuda_jit::{device, kernel};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

/// A tiled matrix product.
#[kernel]
fn matmul<const TILE: usize>(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut c: ArrayViewMut2<'_, f32>) {
    let tile_a = shared!([[f32; TILE]; TILE]);
    let tile_b = shared!([[f32; TILE]; TILE]);
    let (col, row) = grid::<2>();
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let mut acc = 0.0;
    for k in 0..a.ncols().div_ceil(TILE) {
        tile_a[ty][tx] = if row < a.nrows() && k * TILE + tx < a.ncols() { a[[row, k * TILE + tx]] } else { 0.0 };
        tile_b[ty][tx] = if col < b.ncols() && k * TILE + ty < b.nrows() { b[[k * TILE + ty, col]] } else { 0.0 };
        sync_threads();
        for j in 0..TILE {
            acc += tile_a[ty][j] * tile_b[j][tx];
        }
        sync_threads();
    }
    if row < c.nrows() && col < c.ncols() {
        c[[row, col]] = acc;
    }
}

#[test]
fn tiles_multiply() {
    fn run<const TILE: usize>() {
        let a = Array2::from_shape_fn((37, 29), |(i, j)| ((i * 3 + j) % 7) as f32);
        let b = Array2::from_shape_fn((29, 41), |(i, j)| ((i + 5 * j) % 9) as f32 - 4.0);
        let (da, db) = (cuda_mem::to_device(&context(), &a).unwrap(), cuda_mem::to_device(&context(), &b).unwrap());
        let mut dc = cuda_mem::zeros::<f32, _>(&context(), (37, 41)).unwrap();
        let grid = (41usize.div_ceil(TILE), 37usize.div_ceil(TILE));
        matmul::<TILE>::launch((grid, (TILE, TILE)), &da, &db, &mut dc).unwrap();
        assert_eq!(dc.copy_to_host().unwrap(), a.dot(&b));
    }
    run::<16>();
    run::<5>();
}

#[device]
fn pairwise(tile: &mut [u32], i: usize, stride: usize) {
    if i < stride {
        tile[i] += tile[i + stride];
    }
}

#[kernel]
fn block_sum(x: &[u32], sums: &mut [u32]) {
    let tile = shared!([u32; 256]);
    let (i, t) = (grid::<1>(), thread_idx().x);
    tile[t] = if i < x.len() { x[i] } else { 0 };
    sync_threads();
    let mut stride = block_dim().x / 2;
    while stride > 0 {
        pairwise(tile, t, stride);
        sync_threads();
        stride /= 2;
    }
    if t == 0 {
        sums[block_idx().x] = tile[0];
    }
}

#[test]
fn blocks_reduce() {
    let x: Vec<u32> = (0..1000).collect();
    let mut sums = on_device(&[0u32; 4]);
    block_sum::launch((4, 256), &on_device(&x), &mut sums).unwrap();
    let expected: Vec<u32> = x.chunks(256).map(|chunk| chunk.iter().sum()).collect();
    assert_eq!(on_host(&sums), expected);
}

#[kernel]
fn barriers(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let odd = x[i] % 2 == 1;
    let count = sync_threads_count(odd);
    let all = sync_threads_and(odd || i > 2);
    let any = sync_threads_or(x[i] > 100);
    threadfence_block();
    threadfence();
    threadfence_system();
    out[i] = count * 100 + all as u32 * 10 + any as u32;
}

#[test]
fn barriers_combine() {
    let mut x: Vec<u32> = (0..96).collect();
    x[50] = 101;
    let mut out = on_device(&[0u32; 96]);
    barriers::launch((1, 96), &on_device(&x), &mut out).unwrap();
    let odd = x.iter().filter(|&&v| v % 2 == 1).count() as u32;
    assert_eq!(on_host(&out), [odd * 100 + 1; 96]);
}

#[kernel]
fn atomics(x: &[u32], out: &mut [u32], sums: &mut [f64], signed: &mut [i64]) {
    let i = grid::<1>();
    if i < x.len() {
        let v = x[i];
        atomic_add(&mut out[0], v);
        atomic_sub(&mut out[1], v);
        atomic_min(&mut out[2], v);
        atomic_max(&mut out[3], v);
        atomic_and(&mut out[4], !(1 << (v % 32)));
        atomic_or(&mut out[5], 1 << (v % 32));
        atomic_xor(&mut out[6], v);
        atomic_exch(&mut out[7], 7);
        atomic_inc(&mut out[8], 9);
        atomic_dec(&mut out[9], 9);
        atomic_add(&mut sums[0], v as f64);
        atomic_min(&mut signed[0], -(v as i64));
        let mut seen = atomic_load(&mut out[10]);
        let mut done = false;
        while !done {
            let found = cas(&mut out[10], seen, seen + 2);
            done = found == seen;
            seen = found;
        }
    }
}

#[test]
fn atomics_lose_nothing() {
    let x: Vec<u32> = (1..=1000).map(|v| v * 7 % 1013).collect();
    let initial = [0, 0, u32::MAX, 0, u32::MAX, 0, 0, 0, 0, 0, 0];
    let (mut out, mut sums, mut signed) = (on_device(&initial), on_device(&[0.0f64]), on_device(&[0i64]));
    atomics::launch((8, 128), &on_device(&x), &mut out, &mut sums, &mut signed).unwrap();
    let (mut host, mut host_sums, mut host_signed) = (initial.to_vec(), vec![0.0], vec![0]);
    cuda_jit::host::for_each_thread((8, 128), || atomics(&x, &mut host, &mut host_sums, &mut host_signed));
    assert_eq!((on_host(&out), on_host(&sums), on_host(&signed)), (host, host_sums, host_signed));
}

#[kernel]
fn lanes(x: &[i32], y: &[f64], out: &mut [i32], wide: &mut [f64]) {
    let (i, n) = (thread_idx().x, x.len());
    out[i] = shfl_down_sync(FULL_MASK, x[i], 3);
    out[n + i] = shfl_up_sync(FULL_MASK, x[i], 3);
    out[2 * n + i] = shfl_xor_sync(FULL_MASK, x[i], 5);
    out[3 * n + i] = shfl_sync(FULL_MASK, x[i], 7);
    out[4 * n + i] = ballot_sync(FULL_MASK, x[i] > 10) as i32;
    let votes = (all_sync(FULL_MASK, x[i] > 10), any_sync(FULL_MASK, x[i] > 10), eq_sync(FULL_MASK, i < 32));
    out[5 * n + i] = votes.0 as i32 + 2 * votes.1 as i32 + 4 * votes.2 as i32;
    out[6 * n + i] = match_any_sync(FULL_MASK, x[i] % 4) as i32;
    sync_warp(FULL_MASK);
    out[7 * n + i] = (active_mask() >> lane_id() & 1) as i32;
    wide[i] = shfl_down_sync(FULL_MASK, y[i], 1);
}

#[test]
fn lanes_exchange_values() {
    let x: Vec<i32> = (0..64).map(|i| (i * 5) % 23).collect();
    let y: Vec<f64> = x.iter().map(|&v| f64::from(v) * 1.5 + 1e-9).collect();
    let (mut out, mut wide) = (on_device(&[0i32; 512]), on_device(&[0f64; 64]));
    lanes::launch((1, 64), &on_device(&x), &on_device(&y), &mut out, &mut wide).unwrap();
    let (out, wide) = (on_host(&out), on_host(&wide));
    for i in 0..64 {
        let (warp, lane) = (i / 32 * 32, i % 32);
        let all = &x[warp..warp + 32];
        let bits = |test: &dyn Fn(i32) -> bool| (0..32).filter(|&l| test(all[l])).fold(0u32, |mask, l| mask | 1 << l);
        let get = |row: usize| out[row * 64 + i];
        assert_eq!(get(0), if lane + 3 < 32 { all[lane + 3] } else { x[i] });
        assert_eq!(get(1), if lane >= 3 { all[lane - 3] } else { x[i] });
        assert_eq!(get(2), all[lane ^ 5]);
        assert_eq!(get(3), all[7]);
        assert_eq!(get(4), bits(&|v| v > 10) as i32);
        let votes = i32::from(all.iter().all(|&v| v > 10)) + 2 * i32::from(all.iter().any(|&v| v > 10)) + 4;
        assert_eq!(get(5), votes);
        assert_eq!(get(6), bits(&|v| v % 4 == x[i] % 4) as i32);
        assert_eq!(get(7), 1);
        assert_eq!(wide[i], if lane < 31 { y[i + 1] } else { y[i] });
    }
}

#[device]
fn increase(by: u32, place: &mut u32) {
    *place += by;
}

#[kernel]
fn references(out: &mut [u32]) {
    let i = grid::<1>();
    increase(5, &mut out[i]);
    let place = &mut out[i];
    *place *= 2;
}

#[device]
fn sum_into(total: &mut f32, v: f32, count: &u32) {
    *total += v * *count as f32;
}

#[kernel]
fn locals(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let mut total = 0.5;
    let late;
    if i > 1 {
        late = 3;
    } else {
        late = 4;
    }
    for k in 0..x.len() {
        sum_into(&mut total, x[k], &late);
    }
    let before = total;
    let r = &mut total;
    *r += 1.0;
    out[i] = total * 100.0 + before;
}

#[test]
fn numbers_of_the_threads_own_can_be_borrowed() {
    differ!(locals, (1, 3), [&[1.0f32, 2.0, 3.0][..]], vec![0f32; 3]);
}

#[test]
fn elements_can_be_borrowed() {
    assert_eq!(differ!(references, (1, 3), [], vec![1u32, 2, 3]), [12, 14, 16]);
}
