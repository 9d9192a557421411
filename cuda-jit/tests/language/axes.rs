//! View axes given by any expression, and user methods on views, against ndarray on the host.

use super::{context, on_device, on_host};
use cuda_jit::device::grid;
use cuda_jit::{device, kernel};
use ndarray::NewAxis as Fresh;
use ndarray::{Array2, Array3, ArrayRef2, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut2, Axis as Direction, s};

/// A number that encodes a view's shape and its elements in order.
#[device]
fn told(v: ArrayView2<'_, i32>) -> i32 {
    v.iter().fold(v.nrows() as i32 * 31 + v.ncols() as i32, |all, v| all.wrapping_mul(31).wrapping_add(*v))
}

/// A function of this name that is not ndarray's.
#[device]
#[expect(non_snake_case, reason = "it is called like ndarray's")]
fn Axis(number: usize) -> Direction {
    Direction(1 - number)
}

const COLUMNS: Direction = Direction(1);

#[kernel]
fn named(x: ArrayView2<'_, i32>, out: &mut [i32]) {
    if grid::<1>() > 0 {
        return;
    }
    out[0] = x.index_axis(Axis(0), 1)[2];
    out[1] = x.index_axis(Direction(0), 1)[2];
    out[2] = x.index_axis(COLUMNS, 1)[2];
    let rows = ndarray::Axis(0);
    out[3] = x.len_of(rows) as i32 + x.len_of(Axis(rows.0)) as i32 * 10;
    for line in x.axis_iter(Axis(0)) {
        out[4] = out[4] * 3 + line[1];
    }
    out[5] = told(x.slice(s![Fresh, 1, ..]));
    out[6] = told(x.slice(s![1, .., Fresh]));
    out[7] = told(ArrayView2::reversed_axes(x));
}

/// Runs a kernel on a view on the device and on the host, and compares the results.
macro_rules! same {
    ($kernel:ident($x:expr), $len:expr) => {{
        let (x, mut host) = ($x, vec![0i32; $len]);
        let mut device = on_device(&host);
        let there = cuda_mem::to_device(&context(), &x).unwrap();
        $kernel::launch((1, 8), &there, &mut device).unwrap();
        cuda_jit::host::for_each_thread((1, 8), || $kernel(x.view(), &mut host));
        assert_eq!(on_host(&device), host);
        host
    }};
}

fn plane() -> Array2<i32> {
    Array2::from_shape_fn((3, 4), |(i, j)| (i * 10 + j + 1) as i32)
}

#[test]
fn axes_are_what_their_names_mean() {
    let told = same!(named(plane()), 8);
    assert_eq!(told[..3], [22, 13, 22]);
}

#[kernel]
fn numbered(x: ArrayView3<'_, i32>, out: &mut [i32]) {
    let i = grid::<1>();
    if i > 2 {
        return;
    }
    let axis = Direction(i);
    out[i] = told(x.index_axis(axis, 1));
    out[3 + i] = (x.len_of(axis) * 10) as i32 + x.stride_of(Direction(2 - i)) as i32;
    let (left, right) = x.split_at(axis, 1);
    out[6 + i] = told(left.index_axis(axis, 0)) ^ right.sum() ^ right.len_of(axis) as i32;
    for part in x.axis_iter(Direction((i + 1) % 3)) {
        out[9 + i] = out[9 + i].wrapping_mul(7).wrapping_add(told(part));
    }
    out[12 + i] = told(x.index_axis(Direction(0), 0).insert_axis(axis).index_axis(Direction((i + 1) % 3), 0));
    out[15 + i] = told(x.permuted_axes([i, (i + 1) % 3, (i + 2) % 3]).index_axis(Direction(0), 0));
}

#[test]
fn axes_are_numbers_of_the_thread() {
    same!(numbered(Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 71 + j * 13 + k * 7) as i32)), 18);
}

#[kernel]
fn indexed(mut x: ArrayViewMut2<'_, i32>, out: &mut [i32]) {
    let i = grid::<1>();
    if i > 0 {
        return;
    }
    let (at, there) = ([i, 1], (2, i));
    out[0] = x.get(at).copied().unwrap_or(-1) + x.get((i + 7, 0)).copied().unwrap_or(-1);
    x.swap(at, [2, 0]);
    if let Some(v) = x.get_mut(there) {
        *v += 1000;
    }
    out[1] = x[at] + x[there];
}

#[test]
fn indices_of_methods_have_names() {
    let (mut host, mut told) = (plane(), vec![0; 2]);
    let (mut device, mut out) = (cuda_mem::to_device(&context(), &host).unwrap(), on_device(&told));
    indexed::launch((1, 2), &mut device, &mut out).unwrap();
    cuda_jit::host::for_each_thread((1, 2), || indexed(host.view_mut(), &mut told));
    assert_eq!((on_host(&out), device.copy_to_host().unwrap()), (told, host));
}

/// Methods that rustc prefers to those of a view's `Deref` target.
#[device]
trait OwnMethods {
    fn row(&self, i: usize) -> i32;
    fn sum(&self) -> i32;
    fn first(&self) -> Option<i32>;
}

#[device]
impl OwnMethods for ArrayView2<'_, i32> {
    fn row(&self, i: usize) -> i32 {
        self[[i, 0]] * 1000
    }

    fn sum(&self) -> i32 {
        -5
    }

    fn first(&self) -> Option<i32> {
        Some(self[[0, 1]])
    }
}

#[kernel]
fn own_methods(x: ArrayView2<'_, i32>, out: &mut [i32]) {
    let i = grid::<1>();
    if i < x.nrows() {
        out[i] = x.row(i) + x.sum() + x.column(i).sum() + x.first().unwrap_or(0);
    }
}

#[test]
fn methods_of_one_s_own_come_first() {
    assert_eq!(same!(own_methods(plane()), 3)[0], 1000 - 5 + 33 + 2);
}

#[device]
fn of_any(x: &ArrayRef2<i32>, i: usize) -> i32 {
    x.row(i).sum() + x.ncols() as i32 * 100 + x[[i, 0]]
}

#[device]
fn raised(x: &mut ArrayRef2<i32>, by: i32) {
    x.mapv_inplace(|v| v + by);
}

#[kernel]
fn of_references(x: ArrayView2<'_, i32>, out: &mut [i32]) {
    let i = grid::<1>();
    if i < 3 {
        let mut own = [i as i32; 4];
        let mut made = ndarray::ArrayViewMut2::from_shape((2, 2), &mut own).unwrap();
        raised(&mut made, 5);
        out[i] = of_any(&x, i) + of_any(&made, 1) + own[3];
    }
}

#[test]
fn references_to_arrays_are_parameters() {
    same!(of_references(plane()), 3);
}

#[kernel]
fn wrong(mode: u32, n: usize, x: ArrayView2<'_, i32>, mut y: ArrayViewMut2<'_, i32>, out: &mut [i32]) {
    let line = ArrayView1::from(&[1, 2]);
    match mode {
        0 => out[0] = x.len_of(Direction(n)) as i32,
        1 => out[0] = x.index_axis(Direction(2), 0)[0],
        2 => out[0] = x.index_axis(Direction(n - 1), 9)[0],
        3 => out[0] = told(x.permuted_axes([n - 1, 1])),
        4 => out[0] = told(line.insert_axis(Direction(n))),
        5 => y.row_mut(0).assign(&x),
        _ => out[0] = told(x.split_at(Direction(n - 1), 5).0),
    }
}

#[test]
fn panics_of_axes() {
    if !super::in_child_process("language::axes::panics_of_axes") {
        return;
    }
    let x = cuda_mem::to_device(&context(), &plane()).unwrap();
    let says = [
        "axis 2 is out of bounds: there are 2 axes, from 0",
        "axis 2 is out of bounds: there are 2 axes, from 0",
        "index 9 is out of bounds of axis 1, which has length 4",
        "the order of the axes names axis 1 twice",
        "axis 2 is out of bounds: there are 2 axes, from 0",
        "a view of 2 dimensions cannot be broadcast to 1",
        "split at 5 is out of bounds of axis 1, which has length 4",
    ];
    for (mode, message) in (0..).zip(says) {
        let (mut y, mut out) = (cuda_mem::to_device(&context(), &plane()).unwrap(), on_device(&[0; 5]));
        wrong::launch((1, 1), mode, 2, &x, &mut y, &mut out).unwrap();
        let error = context().synchronize().unwrap_err().to_string();
        assert!(error.contains(message), "{mode}: {error}");
    }
}
