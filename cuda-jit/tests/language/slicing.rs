//! Views that are sliced, transposed and made of slices, against ndarray on the host.

use super::iterators::instructions;
use super::{context, differ, on_device, on_host};
use cuda_jit::device::{grid, sync_threads, thread_idx};
use cuda_jit::{device, kernel, shared};
use ndarray::{Array2, Array3, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, Axis, NewAxis, s};

/// A number that encodes a view's shape and its elements in order.
#[device]
fn told(v: ArrayView2<'_, i32>) -> i32 {
    v.iter().fold(v.nrows() as i32 * 31 + v.ncols() as i32, |all, v| all.wrapping_mul(31).wrapping_add(*v))
}

#[kernel]
fn cuts(x: ArrayView2<'_, i32>, c: ArrayView3<'_, i32>, n: usize, k: i32, out: &mut [i32]) {
    if grid::<1>() > 0 {
        return;
    }
    out[0] = told(x.slice(s![1..3, ..]));
    out[1] = told(x.slice(s![..;-1, ..;2]));
    out[2] = told(x.slice(s![-2.., ..-1]));
    out[3] = told(x.slice(s![n..n + 2, 1..=n]));
    out[4] = told(x.slice(s![.., k..;-2]));
    out[5] = told(x.t());
    out[6] = told(c.index_axis(Axis(1), n));
    out[7] = told(c.slice(s![.., 0, ..;-1]));
    out[8] = told(c.slice(s![1, .., -1..]));
    let (left, right) = x.split_at(Axis(1), n);
    out[9] = told(left);
    out[10] = told(right.reversed_axes());
    out[11] = told(x.row(1).insert_axis(Axis(0)));
    out[12] = told(x.slice(s![NewAxis, n, ..]));
    out[13] = told(x.permuted_axes([1, 0]));
    let line = x.slice(s![n, ..;2]);
    out[14] = line.iter().rev().fold(0, |all, v| all * 10 + v) + line.strides()[0] as i32 * 1000 + line.len() as i32;
    out[15] = x.diag().iter().sum::<i32>() + x.diag().len() as i32 * 1000;
    out[16] = told(x.slice(s![1..1, ..])) + told(x.slice(s![..0;-1, 2..1])) * 3;
    out[17] = told(x.slice(s![..;-1, ..]).slice(s![1.., ..;-2]));
    out[18] = match x.as_slice() {
        Some(all) => all[n] + all.len() as i32 * 100,
        None => -1,
    };
    out[19] = x.t().as_slice().is_some() as i32 + x.is_standard_layout() as i32 * 2 + x.is_square() as i32 * 4;
    out[20] = x.row(n).to_slice().is_some() as i32 + x.column(n).to_slice().is_some() as i32 * 2;
    out[21] = *x.first().unwrap() * 100 + *c.last().unwrap() + x.get((n, 1)).copied().unwrap_or(-1);
    for row in x.slice(s![1..;2, ..]).rows() {
        out[22] = out[22] * 7 + row[0];
    }
    for v in &x.slice(s![1, ..;-1]) {
        out[23] = out[23] * 3 + v;
    }
    out[24] = x.len_of(Axis(0)) as i32 + x.len_of(Axis(1)) as i32 * 10 + x.stride_of(Axis(0)) as i32 * 100;
    out[25] = told(c.slice(s![..;2, n as isize..=-1, ..]).index_axis(Axis(0), 0).t());
    out[26] = *x.slice(s![0, ..]).slice(s![-1..;-1]).first().unwrap() + c.slice(s![-1, n, ..]).ndim() as i32;
    out[27] = told(c.slice(s![.., .., (k + 1) as usize]));
    out[28] = x.shape()[1] as i32 + c.slice(s![0, 0, ..]).is_empty() as i32;
    let empty = x.slice(s![.., 4..]);
    out[29] = empty.is_empty() as i32 + empty.first().is_none() as i32 * 2 + empty.iter().count() as i32 * 8;
}

/// Runs a kernel on views on the device and on the host, and returns the common output.
macro_rules! same {
    ($kernel:ident, $threads:expr, [$($view:expr, $device:expr);+], [$($arg:expr),*], $output:expr) => {{
        let mut host = $output;
        let mut device = on_device(&host);
        $kernel::launch((1, $threads), $(&$device,)+ $($arg,)* &mut device).unwrap();
        cuda_jit::host::for_each_thread((1, $threads), || $kernel($($view,)+ $($arg,)* &mut host));
        assert_eq!(on_host(&device), host);
        host
    }};
}

#[test]
fn views_are_sliced_and_transposed_as_by_ndarray() {
    let x = Array2::from_shape_fn((8, 10), |(i, j)| ((i * 37 + j * 11) % 53) as i32);
    let c = Array3::from_shape_fn((3, 4, 5), |(i, j, k)| ((i * 71 + j * 13 + k * 7) % 41) as i32);
    let (dx, dc) = (cuda_mem::to_device(&context(), &x).unwrap(), cuda_mem::to_device(&context(), &c).unwrap());
    for n in [0, 1, 2] {
        for k in [0, 1, 2] {
            let run = |section: fn() -> (
                ndarray::SliceInfo<[ndarray::SliceInfoElem; 2], ndarray::Ix2, ndarray::Ix2>,
                bool,
            )| {
                let (info, turned) = section();
                let (host, device) = (x.slice(info), dx.slice(info));
                let (host, device) =
                    if turned { (host.reversed_axes(), device.reversed_axes()) } else { (host, device) };
                same!(cuts, 2, [host, device; c.view(), dc], [n, k], vec![0i32; 30])
            };
            let told = run(|| (s![..4, ..4], false));
            assert!(told.iter().filter(|v| **v == 0).count() < 4, "{told:?}");
            run(|| (s![4.., ..6], false));
            run(|| (s![..;-2, ..;-1], false));
            run(|| (s![..5, ..;3], true));
            run(|| (s![..;-1, 1..8], true));
        }
    }
}

#[kernel]
fn cut_by(x: ArrayView2<'_, i32>, cuts: &[[i64; 6]], out: &mut [i32]) {
    let i = grid::<1>();
    if i < cuts.len() {
        let [a, b, c, d, e, f] = cuts[i];
        let part = x.slice(s![a as isize..b as isize;c, d as isize..=e as isize;f]);
        out[i] = told(part) ^ part.sum();
    }
}

#[test]
fn random_slices_are_ndarrays() {
    let mut state = 7u64;
    let mut below = |n: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % n
    };
    for (rows, columns) in [(5, 7), (1, 9), (6, 1), (0, 4)] {
        let x = Array2::from_shape_fn((rows, columns), |(i, j)| (i * 100 + j * 3 + 1) as i32);
        let cuts: Vec<[i64; 6]> = (0..150)
            .map(|_| {
                let mut axis = |len: i64, last: i64| {
                    let step = [1, 2, 3, 7, -1, -2, -3, -7][below(8) as usize];
                    [below(2 * len + 1) - len, below(2 * len + last) - len, step]
                };
                let ([a, b, c], [d, e, f]) = (axis(rows as i64, 1), axis(columns as i64, 0));
                [a, b, c, d, e, f]
            })
            .collect();
        let dx = cuda_mem::to_device(&context(), &x).unwrap();
        let (dcuts, mut device, mut host) = (on_device(&cuts), on_device(&[0; 150]), vec![0; 150]);
        cut_by::launch((1, 160), &dx, &dcuts, &mut device).unwrap();
        cuda_jit::host::for_each_thread((1, 160), || cut_by(x.view(), &cuts, &mut host));
        assert_eq!(on_host(&device), host);
    }
}

#[kernel]
fn written(mut a: ArrayViewMut2<'_, i32>, x: ArrayView2<'_, i32>, n: usize) {
    if grid::<1>() > 0 {
        return;
    }
    a.slice_mut(s![..;2, 1..]).fill(7);
    let mut part = a.slice_mut(s![1.., ..;-1]);
    part[[0, 0]] = 5;
    part.row_mut(n)[1] += 3;
    a.index_axis_mut(Axis(1), 3).fill(-1);
    for v in a.diag_mut().iter_mut() {
        *v += 100;
    }
    a.row_mut(2).assign(&x.column(0).slice(s![..5]));
    a.slice_mut(s![3.., ..]).assign(&x.slice(s![0, 1..6]));
    a.slice_mut(s![..2, ..2]).assign(&x.slice(s![..2, 3..4]));
    let (mut top, mut bottom) = a.view_mut().split_at(Axis(0), n + 1);
    top[[0, 4]] += 2;
    bottom.swap([0, 0], [1, 1]);
    if let Some(all) = a.as_slice_mut() {
        all[0] += 1000;
    }
    if let Some(last) = a.last_mut() {
        *last *= 2;
    }
    let all = a.reborrow().into_slice().unwrap();
    all[1] -= 1;
}

#[test]
fn parts_of_views_are_written() {
    let x = Array2::from_shape_fn((6, 8), |(i, j)| (i * 10 + j) as i32);
    for n in 0..2 {
        let mut host = Array2::from_shape_fn((5, 5), |(i, j)| (i + 2 * j) as i32);
        let (dx, mut device) =
            (cuda_mem::to_device(&context(), &x).unwrap(), cuda_mem::to_device(&context(), &host).unwrap());
        written::launch((1, 2), &mut device, &dx, n).unwrap();
        cuda_jit::host::for_each_thread((1, 2), || written(host.view_mut(), x.view(), n));
        assert_eq!(device.copy_to_host().unwrap(), host);
    }
}

#[kernel]
fn made(x: &[i32], n: usize, out: &mut [i32]) {
    if grid::<1>() > 0 {
        return;
    }
    let line = ArrayView1::from(&x[1..]);
    out[0] = line[n] + line.len() as i32 * 100;
    let plane = ArrayView2::from_shape((2, n + 2), &x[2..]).unwrap();
    out[1] = told(plane);
    out[2] = told(plane.t());
    let table = [[1, 2, 3], [4, 5, 6]];
    out[3] = told(ArrayView2::from(&table));
    out[4] = ArrayView2::<i32>::from_shape([4, n + 5], x).is_err() as i32;
    let mut local = [0; 6];
    let mut own = ArrayViewMut2::from_shape((3, 2), &mut local).expect("it fits");
    own[[2, n % 2]] = 9;
    own.row_mut(1).fill(4);
    out[5] = told(own.view());
    ArrayViewMut1::from(&mut local[1..3]).fill(8);
    for v in local {
        out[6] = out[6] * 10 + v;
    }
    let mut rest = ArrayViewMut1::from(&mut out[8..]);
    rest[n] = 77;
    out[7] = match ArrayView1::from_shape(n, x).ok() {
        Some(first) => first.iter().sum(),
        None => -1,
    };
}

#[test]
fn views_are_made_of_slices() {
    for n in 0..3 {
        differ!(made, (1, 2), [&[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5][..], n], vec![0i32; 12]);
    }
}

#[kernel]
fn of_shared(x: ArrayView2<'_, f32>, mut out: ArrayViewMut2<'_, f32>) {
    let tile = shared!([f32; 64]);
    let mut tile = ArrayViewMut2::from_shape((8, 8), tile).unwrap();
    let (i, j) = (thread_idx().y, thread_idx().x);
    tile[[i, j]] = x[[i, j]];
    sync_threads();
    out[[i, j]] = tile.t()[[i, j]] + tile.slice(s![..;-1, j])[i];
}

#[test]
fn shared_memory_is_a_view() {
    let x = Array2::from_shape_fn((8, 8), |(i, j)| (i * 10 + j) as f32);
    let dx = cuda_mem::to_device(&context(), &x).unwrap();
    let mut out = cuda_mem::zeros::<f32, _>(&context(), (8, 8)).unwrap();
    of_shared::launch((1, (8, 8)), &dx, &mut out).unwrap();
    assert_eq!(out.copy_to_host().unwrap(), &x.t() + &x.slice(s![..;-1, ..]));
}

#[kernel]
fn wrong(mode: u32, n: isize, x: ArrayView2<'_, i32>, out: &mut [i32]) {
    match mode {
        0 => out[0] = x.index_axis(Axis(1), n as usize - 2)[0],
        1 => out[0] = x.slice(s![..n, ..]).sum(),
        2 => out[0] = x.slice(s![.., -n..1]).sum(),
        3 => out[0] = x.slice(s![..;n - 4, ..]).sum(),
        4 => out[0] = x.split_at(Axis(0), n as usize).0.sum(),
        5 => out[0] = x.row(0).dot(&x.column(0)),
        6 => out[0] = x.slice(s![n - 1, ..]).sum(),
        7 => out[0] = ArrayView2::from_shape((n as usize, 1), &out[..1]).unwrap().sum(),
        8 => ArrayViewMut1::from(&mut out[..]).assign(&x.row(0)),
        _ => out[0] = x.slice(s![.., 0]).slice(s![..;0]).sum(),
    }
}

#[test]
fn panics_of_views() {
    if !super::in_child_process("language::slicing::panics_of_views") {
        return;
    }
    let x = cuda_mem::to_device(&context(), &Array2::<i32>::zeros((3, 2))).unwrap();
    let says = [
        "index 2 is out of bounds of axis 1, which has length 2",
        "range 0..4 is out of bounds of axis 0, which has length 3",
        "is out of bounds of axis 1, which has length 2",
        "the step of a slice must not be zero",
        "split at 4 is out of bounds of axis 0, which has length 3",
        "views of length 2 and 3 have no dot product",
        "index 3 is out of bounds of axis 0, which has length 3",
        "called `Result::unwrap()` on an `Err` value: ShapeError/OutOfBounds: out of bounds indexing",
        "axis 0 has length 5, to which length 2 cannot be broadcast",
        "the step of a slice must not be zero",
    ];
    for (mode, message) in (0..).zip(says) {
        let mut out = on_device(&[0; 5]);
        wrong::launch((1, 1), mode, 4, &x, &mut out).unwrap();
        let error = context().synchronize().unwrap_err().to_string();
        assert!(error.contains(message), "{mode}: {error}");
    }
}

#[kernel]
fn rows_by_view(a: ArrayView2<'_, f32>, out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let row = a.index_axis(Axis(0), i);
        let mut sum = 0.0;
        for j in 0..row.len() {
            sum += row[j];
        }
        out[i] = sum;
    }
}

#[kernel]
fn rows_by_hand(a: ArrayView2<'_, f32>, out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let mut sum = 0.0;
        for j in 0..a.ncols() {
            sum += a[[i, j]];
        }
        out[i] = sum;
    }
}

#[kernel]
fn columns_by_view(a: ArrayView2<'_, f32>, out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let mut sum = 0.0;
        for k in 0..a.nrows() {
            sum += a.index_axis(Axis(0), k)[i];
        }
        out[i] = sum;
    }
}

#[kernel]
fn columns_by_hand(a: ArrayView2<'_, f32>, out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let mut sum = 0.0;
        for k in 0..a.nrows() {
            sum += a[[k, i]];
        }
        out[i] = sum;
    }
}

#[kernel]
fn turned_by_view(a: ArrayView2<'_, f32>, out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let (mut sum, turned) = (0.0, a.t());
        for k in 0..turned.ncols() {
            sum += turned[[i, k]];
        }
        out[i] = sum;
    }
}

#[test]
fn views_cost_what_indices_do() {
    let pairs = [
        [rows_by_view::compile_ptx((9, 0)), rows_by_hand::compile_ptx((9, 0))],
        [columns_by_view::compile_ptx((9, 0)), columns_by_hand::compile_ptx((9, 0))],
        [turned_by_view::compile_ptx((9, 0)), columns_by_hand::compile_ptx((9, 0))],
    ];
    for pair in pairs {
        let [view, hand] = pair.map(|ptx| ptx.expect("it compiles"));
        let count = |ptx: &str| instructions(ptx).values().sum::<usize>();
        assert!(count(&view) <= count(&hand), "{} and {}\n{view}\n{hand}", count(&view), count(&hand));
    }
}
