//! Views of device arrays as launch arguments: transposed, sliced, reversed, broadcast.

use super::context;
use cuda_jit::device::grid;
use cuda_jit::kernel;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

#[kernel]
fn subtract(x: ArrayView2<'_, i32>, y: ArrayView2<'_, i32>, mut out: ArrayViewMut2<'_, i32>) {
    let (j, i) = grid::<2>();
    if i < out.nrows() && j < out.ncols() {
        out[[i, j]] = x[[i, j]] - y[[i, j]];
    }
}

#[kernel]
fn double(x: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = 2 * x[i];
    }
}

#[test]
fn views_of_any_stride_are_read_and_written_in_place() {
    let host = Array2::from_shape_fn((6, 8), |(i, j)| (10 * i + j) as i32);
    let x = cuda_mem::to_device(&context(), &host).unwrap();
    let mut out = cuda_mem::zeros::<i32, _>(&context(), (8, 12)).unwrap();
    let backwards = x.slice(s![..;-1, ..;-1]);
    let row = x.row(2);
    let repeated = row.broadcast((6, 8)).unwrap();
    let mut window = out.slice_mut(s![.., ..;2]).reversed_axes();
    subtract::launch(((1, 1), (8, 8)), &backwards, &repeated, &mut window).unwrap();
    let mut model = Array2::zeros((8, 12));
    let expected = &host.slice(s![..;-1, ..;-1]) - &host.row(2);
    model.slice_mut(s![.., ..;2]).reversed_axes().assign(&expected);
    assert_eq!(out.copy_to_host().unwrap(), model);
}

#[test]
fn both_halves_of_an_array_take_part_in_a_launch() {
    let mut x = cuda_mem::from_slice(&context(), &[1, 2, 3, 4, 5, 6]).unwrap();
    let (left, mut right) = x.view_mut().split_at(Axis(0), 3);
    double::launch((1, 32), &left, &mut right).unwrap();
    assert_eq!(x.copy_to_host().unwrap().to_vec(), [1, 2, 3, 2, 4, 6]);
}

#[test]
fn a_view_with_gaps_is_no_slice() {
    let x = cuda_mem::zeros::<i32, _>(&context(), (4, 4)).unwrap();
    let mut out = cuda_mem::zeros::<i32, _>(&context(), 4).unwrap();
    let error = double::launch((1, 32), &x.column(1), &mut out).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an array of shape [4] with strides [4] does not allow a slice as a kernel's argument, only an `ArrayView`; make a \
         contiguous copy first (`to_c_order`)"
    );
    double::launch((1, 32), &x.row(1), &mut out).unwrap();
    let transposed = cuda_mem::to_device(&context(), &Array2::<i32>::zeros((2, 3)).t()).unwrap();
    assert!(double::launch((1, 32), &transposed, &mut out).is_err(), "in Fortran order");
}
