//! Kernels without a data race that the analysis proves. Many are those of the examples, benchmarks and tests.

use super::{all_launched, analysed, assert_proved};
use crate::device::{context, on_device};
use cuda_jit::device::{
    atomic_add, atomic_add_with, block_dim, block_idx, grid, grid_dim, grid_size, order, scope, sync_threads,
    sync_threads_count, thread_idx,
};
use cuda_jit::{DeviceType, Num, device, kernel, shared};
use ndarray::{ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, ArrayViewMut3, s};

// Element-wise.

#[kernel]
fn add<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] + y[i];
    }
}

#[kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = grid::<1>();
    if i < y.len() {
        y[i] += a * x[i];
    }
}

#[kernel]
fn without_guard(out: &mut [u32]) {
    out[grid::<1>()] = 7;
}

#[kernel(unchecked)]
fn unchecked(out: &mut [u32], n: usize) {
    let i = grid::<1>();
    if i < n {
        out[i] = 7;
    }
}

#[kernel(checked)]
fn with_overflow_checks(out: &mut [u32], width: usize) {
    let (x, y) = grid::<2>();
    if x < width {
        out[y * width + x] = 7;
    }
}

#[kernel]
fn by_hand(x: &mut [f32]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        x[i] += 1.0;
    }
}

#[kernel]
fn early_return(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i >= out.len() {
        return;
    }
    out[i] = if i == 0 || i == x.len() - 1 { 0.0 } else { x[i - 1] - 2.0 * x[i] + x[i + 1] };
}

#[kernel]
fn in_steps(a: f32, x: &[f32], y: &mut [f32]) {
    for i in (grid::<1>()..y.len()).step_by(grid_size::<1>()) {
        y[i] = a * x[i] + 1.0;
    }
}

#[kernel]
fn in_a_grid_stride_loop(y: &mut [f32]) {
    let mut i = grid::<1>();
    while i < y.len() {
        y[i] *= 2.0;
        i += grid_dim().x * block_dim().x;
    }
}

#[kernel]
fn pairs(out: &mut [u32]) {
    let i = grid::<1>();
    if 2 * i + 1 < out.len() {
        out[2 * i] = 1;
        out[2 * i + 1] = 2;
    }
}

#[kernel]
fn four_each(out: &mut [u32]) {
    let i = grid::<1>();
    for k in 0..4 {
        if 4 * i + k < out.len() {
            out[4 * i + k] = 1;
        }
    }
}

#[kernel]
fn backwards(out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[out.len() - 1 - i] = i as u32;
    }
}

#[kernel]
fn one_block_each(sums: &mut [u32]) {
    if thread_idx().x == 0 {
        sums[block_idx().x] = 1;
    }
}

#[kernel]
fn first_thread_only(out: &mut [u32]) {
    if grid::<1>() == 0 {
        for k in 0..out.len() {
            out[k] = k as u32;
        }
    }
}

#[device]
fn doubled(x: &mut f32) {
    *x *= 2.0;
}

#[kernel]
fn by_a_function(x: &mut [f32]) {
    let i = grid::<1>();
    if i < x.len() {
        doubled(&mut x[i]);
    }
}

#[kernel]
fn arrays_of_elements(pixels: &mut [[u8; 3]]) {
    let i = grid::<1>();
    if i < pixels.len() {
        for channel in 0..3 {
            pixels[i][channel] = 255 - pixels[i][channel];
        }
    }
}

#[derive(Clone, Copy, Default, DeviceType)]
#[repr(C)]
struct Count {
    number: u32,
    share: f32,
}

#[kernel]
fn of_the_fields(counts: &mut [Count]) {
    let i = grid::<1>();
    if i < counts.len() {
        counts[i].number += 1;
        counts[i].share = counts[i].number as f32;
    }
}

#[kernel]
fn vectors(mut out: ArrayViewMut1<'_, f64>) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = 1.0;
    }
}

#[kernel]
fn numbers_of_32_bits(out: &mut [u32]) {
    let i = (block_idx().x * block_dim().x + thread_idx().x) as u64;
    if (i as usize) < out.len() {
        out[i as usize] = 1;
    }
}

#[kernel]
fn counts(x: &[u8], counts: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        atomic_add(&mut counts[x[i] as usize], 1);
    }
}

#[kernel]
fn counts_of_each_block(counts: &mut [u32]) {
    atomic_add_with(&mut counts[block_idx().x], 1, scope::Block, order::Relaxed);
}

// Two and three dimensions.

#[kernel]
fn fill_rows(out: &mut [u32], width: u32, height: u32) {
    let (x, y) = grid::<2>();
    if x < width as usize && y < height as usize {
        out[y * width as usize + x] = 1;
    }
}

#[kernel]
fn fill_box(out: &mut [u32], nx: usize, ny: usize, nz: usize) {
    let (x, y, z) = grid::<3>();
    if x < nx && y < ny && z < nz {
        out[(z * ny + y) * nx + x] = 1;
    }
}

#[kernel]
fn increment_2d(mut x: ArrayViewMut2<'_, f32>) {
    let (i, j) = grid::<2>();
    if i < x.nrows() && j < x.ncols() {
        x[[i, j]] += 1.0;
    }
}

#[kernel]
fn positions_3d(mut out: ArrayViewMut3<'_, u64>) {
    let (x, y, z) = grid::<3>();
    let (nx, ny, nz) = out.dim();
    if x < nx && y < ny && z < nz {
        out[[x, y, z]] = (x + 100 * y + 10_000 * z) as u64;
    }
}

#[kernel]
fn channels(mut picture: ArrayViewMut3<'_, u8>) {
    let (column, row) = grid::<2>();
    if row < picture.shape()[0] && column < picture.shape()[1] {
        for channel in 0..3 {
            picture[[row, column, channel]] = 255 - picture[[row, column, channel]];
        }
    }
}

#[kernel]
fn add_planes(x: ArrayView3<'_, i32>, mut out: ArrayViewMut2<'_, i32>) {
    let (i, j) = grid::<2>();
    if i < out.nrows() && j < out.ncols() {
        for k in 0..x.dim().0 {
            out[[i, j]] += x[[k, i, j]];
        }
    }
}

#[kernel]
fn a_row_each(mut out: ArrayViewMut2<'_, f32>) {
    let row = grid::<1>();
    if row < out.nrows() {
        for column in 0..out.ncols() {
            out[[row, column]] = 1.0;
        }
    }
}

#[kernel]
fn half_of_a_view(mut out: ArrayViewMut2<'_, f32>) {
    let (column, row) = grid::<2>();
    let rows = out.nrows();
    let mut part = out.slice_mut(s![rows / 2.., ..]);
    if row < part.nrows() && column < part.ncols() {
        part[[row, column]] = 1.0;
    }
}

// Stencils.

#[kernel]
fn stencil(k: f32, x: ArrayView2<'_, f32>, mut out: ArrayViewMut2<'_, f32>) {
    let (col, row) = grid::<2>();
    if row > 0 && row + 1 < x.nrows() && col > 0 && col + 1 < x.ncols() {
        let here = x[[row, col]];
        let around = x[[row - 1, col]] + x[[row + 1, col]] + x[[row, col - 1]] + x[[row, col + 1]];
        out[[row, col]] = here + k * (around - 4.0 * here);
    }
}

#[kernel]
fn wave(now: ArrayView2<'_, f32>, mut before: ArrayViewMut2<'_, f32>) {
    let (column, row) = grid::<2>();
    if row == 0 || row + 1 >= now.nrows() || column == 0 || column + 1 >= now.ncols() {
        return;
    }
    let neighbours = now[[row - 1, column]] + now[[row + 1, column]] + now[[row, column - 1]] + now[[row, column + 1]];
    before[[row, column]] = 2.0 * now[[row, column]] - before[[row, column]] + 0.25 * neighbours;
}

#[kernel]
fn generation(now: ArrayView2<'_, u8>, mut next: ArrayViewMut2<'_, u8>) {
    let (column, row) = grid::<2>();
    let (rows, columns) = now.dim();
    if row >= rows || column >= columns {
        return;
    }
    let mut neighbours = 0;
    for down in [rows - 1, 0, 1] {
        for right in [columns - 1, 0, 1] {
            neighbours += now[[(row + down) % rows, (column + right) % columns]];
        }
    }
    next[[row, column]] = (neighbours == 3) as u8;
}

#[kernel]
fn stencil_through_a_tile(x: &[f32], out: &mut [f32]) {
    let tile = shared!([f32; 66]);
    let (i, t) = (grid::<1>(), thread_idx().x);
    tile[t + 1] = if i < x.len() { x[i] } else { 0.0 };
    if t == 0 {
        tile[0] = 0.0;
    }
    sync_threads();
    if i < out.len() && t > 0 && t < 64 {
        out[i] = tile[t - 1] + tile[t] + tile[t + 1];
    }
}

// Transpositions.

#[kernel]
fn transpose(width: usize, height: usize, from: &[i32], to: &mut [i32]) {
    let (col, row) = grid::<2>();
    if row < height && col < width {
        to[col * height + row] = from[row * width + col];
    }
}

#[kernel]
fn transpose_views(from: ArrayView2<'_, f32>, mut to: ArrayViewMut2<'_, f32>) {
    let (col, row) = grid::<2>();
    if row < from.nrows() && col < from.ncols() {
        to[[col, row]] = from[[row, col]];
    }
}

#[kernel]
fn transpose_tiled(from: ArrayView2<'_, f32>, mut to: ArrayViewMut2<'_, f32>) {
    let tile = shared!([[f32; 33]; 32]);
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (col, row) = (block_idx().x * 32 + tx, block_idx().y * 32 + ty);
    if tx < 32 && ty < 32 && row < from.nrows() && col < from.ncols() {
        tile[ty][tx] = from[[row, col]];
    }
    sync_threads();
    let (col, row) = (block_idx().y * 32 + tx, block_idx().x * 32 + ty);
    if tx < 32 && ty < 32 && row < to.nrows() && col < to.ncols() {
        to[[row, col]] = tile[tx][ty];
    }
}

#[kernel]
fn reverse_blocks<const N: usize>(x: &mut [i32]) {
    let part = shared!([i32; N]);
    let (t, i) = (thread_idx().x, grid::<1>());
    part[t] = x[i];
    sync_threads();
    x[i] = part[N - 1 - t];
}

// Tiles.

#[kernel]
fn tiled<const TILE: usize>(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut c: ArrayViewMut2<'_, f32>) {
    let tile_a = shared!([[f32; TILE]; TILE]);
    let tile_b = shared!([[f32; TILE]; TILE]);
    let (x, y) = grid::<2>();
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let mut sum = 0.0;
    for tile in 0..a.ncols().div_ceil(TILE) {
        let k = tile * TILE;
        tile_a[ty][tx] = if y < a.nrows() && k + tx < a.ncols() { a[[y, k + tx]] } else { 0.0 };
        tile_b[ty][tx] = if k + ty < b.nrows() && x < b.ncols() { b[[k + ty, x]] } else { 0.0 };
        sync_threads();
        for j in 0..TILE {
            sum += tile_a[ty][j] * tile_b[j][tx];
        }
        sync_threads();
    }
    if y < c.nrows() && x < c.ncols() {
        c[[y, x]] = sum;
    }
}

#[kernel]
fn by_columns(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut c: ArrayViewMut2<'_, f32>) {
    let (row, column) = grid::<2>();
    if row < c.nrows() && column < c.ncols() {
        let mut sum = 0.0;
        for k in 0..a.ncols() {
            sum += a[[row, k]] * b[[k, column]];
        }
        c[[row, column]] = sum;
    }
}

#[kernel]
fn reduction(x: &[f32], sums: &mut [f32]) {
    let tile = shared!([f32; 256]);
    let (i, t) = (grid::<1>(), thread_idx().x);
    tile[t] = if i < x.len() { x[i] } else { 0.0 };
    sync_threads();
    let mut stride = block_dim().x / 2;
    while stride > 0 {
        if t < stride {
            tile[t] += tile[t + stride];
        }
        sync_threads();
        stride /= 2;
    }
    if t == 0 {
        sums[block_idx().x] = tile[0];
    }
}

#[kernel]
fn rotations(turns: [u32; 2], x: &[f32], out: &mut [f32]) {
    let tile = shared!([f32; 256]);
    let (i, t) = (grid::<1>(), thread_idx().x);
    let mut value = if i < x.len() { x[i] } else { 0.0 };
    for _ in 0..turns[0] {
        for _ in 0..turns[1] {
            tile[t] = value;
            sync_threads();
            value = tile[(t + 1) % 256];
            sync_threads();
        }
    }
    if i < out.len() {
        out[i] = value;
    }
}

#[kernel]
fn counts_of_blocks(x: &[f32], counts: &mut [u32]) {
    let i = grid::<1>();
    let count = sync_threads_count(i < x.len() && x[i] > 0.0);
    if thread_idx().x == 0 {
        counts[block_idx().x] = count as u32;
    }
}

#[test]
fn kernels_without_a_race_are_proved() {
    let kernels = analysed![
        add<f32>,
        add<u8>,
        saxpy,
        without_guard,
        unchecked,
        with_overflow_checks,
        by_hand,
        early_return,
        in_steps,
        in_a_grid_stride_loop,
        pairs,
        four_each,
        backwards,
        one_block_each,
        first_thread_only,
        by_a_function,
        arrays_of_elements,
        of_the_fields,
        vectors,
        numbers_of_32_bits,
        counts,
        fill_rows,
        fill_box,
        increment_2d,
        positions_3d,
        channels,
        add_planes,
        a_row_each,
        half_of_a_view,
        stencil,
        wave,
        generation,
        stencil_through_a_tile,
        transpose,
        transpose_views,
        transpose_tiled,
        reverse_blocks<64>,
        tiled<16>,
        by_columns,
        reduction,
        rotations,
        counts_of_blocks,
        counts_of_each_block,
    ];
    assert!(kernels.len() >= 30);
    assert_proved(&kernels);
}

/// The proofs against the dynamic checker: no kernel that is proved races in a run.
#[test]
fn no_proved_kernel_races_in_a_run() {
    let context = context();
    let _selected = context.select();
    let (x, mut out) = (on_device(&[1.0_f32; 1000]), on_device(&[0.0_f32; 1000]));
    let (mut words, mut ints) = (on_device(&[0_u32; 2048]), on_device(&[0_i32; 1320]));
    let (from, bytes, mut more_bytes) = (on_device(&[1_i32; 1320]), on_device(&[3_u8; 1000]), on_device(&[0_u8; 1000]));
    let (mut pixels, mut doubles) = (on_device(&[[1_u8; 3]; 200]), on_device(&[0.0_f64; 200]));
    let mut fields = on_device(&[Count::default(); 200]);
    let plane = |rows, columns| cuda_mem::zeros::<f32, _>(&context, (rows, columns)).expect("there is room");
    let (a, b, mut product, mut wide, mut turned) =
        (plane(40, 33), plane(33, 40), plane(40, 40), plane(40, 33), plane(33, 40));
    let mut cube = cuda_mem::zeros::<u64, _>(&context, (7, 6, 5)).expect("there is room");
    let mut picture = cuda_mem::zeros::<u8, _>(&context, (30, 40, 3)).expect("there is room");
    let planes = cuda_mem::zeros::<i32, _>(&context, (3, 40, 33)).expect("there is room");
    let mut sums = cuda_mem::zeros::<i32, _>(&context, (40, 33)).expect("there is room");
    let cells = cuda_mem::zeros::<u8, _>(&context, (40, 33)).expect("there is room");
    let mut next = cuda_mem::zeros::<u8, _>(&context, (40, 33)).expect("there is room");
    let square = ((3, 3), (16, 16));
    let kernels = all_launched! {
        add::<f32>((4, 256), &x, &x, &mut out);
        add::<u8>((4, 256), &bytes, &bytes, &mut more_bytes);
        saxpy((4, 256), 2.0, &x, &mut out);
        without_guard((4, 64), &mut words);
        with_overflow_checks(((2, 2), (16, 8)), &mut words, 32_usize);
        by_hand((4, 256), &mut out);
        early_return((4, 256), &x, &mut out);
        in_steps((2, 128), 2.0, &x, &mut out);
        in_a_grid_stride_loop((2, 128), &mut out);
        pairs((4, 64), &mut words);
        four_each((4, 64), &mut words);
        backwards((4, 256), &mut words);
        one_block_each((4, 64), &mut words);
        first_thread_only((2, 64), &mut words);
        by_a_function((4, 256), &mut out);
        arrays_of_elements((4, 64), &mut pixels);
        of_the_fields((4, 64), &mut fields);
        vectors((4, 64), &mut doubles);
        numbers_of_32_bits((4, 64), &mut words);
        counts((4, 64), &bytes, &mut words);
        fill_rows(((2, 2), (16, 16)), &mut words, 30_u32, 25_u32);
        fill_box(((2, 2, 2), (4, 4, 4)), &mut words, 7_usize, 6_usize, 5_usize);
        increment_2d(square, &mut wide);
        positions_3d(((2, 2, 2), (4, 4, 4)), &mut cube);
        channels(square, &mut picture);
        add_planes(square, &planes, &mut sums);
        a_row_each((2, 32), &mut wide);
        half_of_a_view(square, &mut wide);
        stencil(square, 0.1, &a, &mut wide);
        wave(square, &a, &mut wide);
        generation(square, &cells, &mut next);
        stencil_through_a_tile((4, 64), &x, &mut out);
        transpose(square, 33_usize, 40_usize, &from, &mut ints);
        transpose_views(square, &a, &mut turned);
        transpose_tiled(((2, 2), (32, 32)), &a, &mut turned);
        reverse_blocks::<64>((4, 64), &mut ints);
        tiled::<16>(square, &a, &b, &mut product);
        by_columns(square, &a, &b, &mut product);
        reduction((4, 256), &x, &mut out);
        rotations((4, 256), [2_u32, 3], &x, &mut out);
        counts_of_blocks((4, 256), &x, &mut words);
        counts_of_each_block((4, 256), &mut words);
    };
    for kernel in kernels {
        assert!(kernel.is_proved, "{} is not proved", kernel.name);
        assert!(kernel.found.is_empty(), "{} is proved and races: {:#?}", kernel.name, kernel.found);
    }
}
