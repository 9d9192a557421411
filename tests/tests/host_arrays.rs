//! Host arrays as arguments: copied in, and copied out if the kernel writes them.
#![expect(elided_lifetimes_in_paths, reason = "kernels are mostly written without `'_`, which must work")]

use cuda_prelude::*;
use ndarray::{
    Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, ShapeBuilder as _, array,
    s,
};

use crate::support::add_arrays;

#[kernel]
fn double(x: &mut [i32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] *= 2;
    }
}

#[kernel]
fn fill_even(x: &mut [i32]) {
    let i = grid::<1>();
    if i < x.len() && i & 1 == 0 {
        x[i] = 7;
    }
}

/// Writes `10 x` plus the position of each element to `out`.
#[kernel]
fn number(x: ArrayView2<i32>, mut out: ArrayViewMut2<i32>) {
    let (i, j) = grid::<2>();
    if i < out.nrows() && j < out.ncols() {
        out[[i, j]] = 10 * x[[i, j]] + (i * out.ncols() + j) as i32;
    }
}

#[kernel]
fn number_list(x: ArrayView1<i32>, mut out: ArrayViewMut1<i32>) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = 10 * x[i] + i as i32;
    }
}

/// Writes `10 x` plus the position of each element of a slice to `out`.
#[kernel]
fn number_flat(x: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = 10 * x[i] + i as i32;
    }
}

#[kernel]
fn add_planes(x: ArrayView3<i32>, mut out: ArrayViewMut2<i32>) {
    let (i, j) = grid::<2>();
    if i < out.nrows() && j < out.ncols() {
        for k in 0..x.dim().0 {
            out[[i, j]] += x[[k, i, j]];
        }
    }
}

fn numbered(x: &Array2<i32>) -> Array2<i32> {
    let columns = x.ncols();
    Array2::from_shape_fn(x.dim(), |(i, j)| 10 * x[[i, j]] + (i * columns + j) as i32)
}

#[test]
fn arrays_of_more_dimensions_are_views_in_kernels() -> Result<()> {
    let x = Array2::from_shape_fn((3, 5), |(i, j)| (7 * i + j) as i32);
    let mut out = Array2::zeros((3, 5));
    number::launch((1, (4, 8)), &x, &mut out)?;
    assert_eq!(out, numbered(&x));
    let planes = Array3::from_shape_fn((4, 3, 5), |(k, i, j)| (100 * k + 10 * i + j) as i32);
    let mut sum = Array2::from_elem((3, 5), 1);
    add_planes::launch((1, (4, 8)), &planes, &mut sum)?;
    assert_eq!(sum, planes.sum_axis(ndarray::Axis(0)) + 1);
    let mut list = vec![0; 3];
    number_list::launch((1, 32), &[1, 2, 3], &mut list)?;
    assert_eq!(list, [10, 21, 32]);
    number_list::launch((1, 32), &list.clone(), &mut list[..2])?;
    assert_eq!(list, [100, 211, 32]);
    Ok(())
}

#[test]
fn arrays_of_any_layout_are_copied_in_and_out() -> Result<()> {
    let base = Array2::from_shape_fn((6, 10), |(i, j)| (13 * i + j) as i32);
    let every_second = base.slice(s![..;2, ..;-2]);
    let columns_first = every_second.to_owned().reversed_axes().to_owned().reversed_axes();
    assert!(!every_second.is_standard_layout());
    let wanted = numbered(&every_second.to_owned());
    for order in [false, true] {
        let mut out = Array2::zeros((3, 5).set_f(order));
        number::launch((1, (4, 8)), &every_second, &mut out)?;
        assert_eq!(out, wanted);
        let mut out = Array2::zeros((3, 5).set_f(order));
        number::launch((1, (4, 8)), In(&columns_first), Out(&mut out))?;
        assert_eq!(out, wanted);
        let mut flat = Array2::zeros((3, 5).set_f(order));
        number_flat::launch((1, 32), &every_second, &mut flat)?;
        assert_eq!(flat, wanted, "a slice has the elements in logical order");
        number_flat::launch((1, 32), &columns_first, InOut(&mut flat))?;
        assert_eq!(flat, wanted);
    }
    Ok(())
}

#[test]
fn memory_between_the_elements_of_a_view_is_unchanged() -> Result<()> {
    let x = array![[1, 2], [3, 4]];
    let mut out = Array2::from_elem((3, 3), -1);
    number::launch((1, (2, 2)), &x, &mut out.slice_mut(s![..;2, ..;2]))?;
    assert_eq!(out, array![[10, -1, 21], [-1, -1, -1], [32, -1, 43]]);
    number::launch((1, (2, 2)), &x, Out(&mut out.slice_mut(s![1.., 1..])))?;
    assert_eq!(out, array![[10, -1, 21], [-1, 10, 21], [32, 32, 43]]);
    Ok(())
}

#[test]
fn shared_and_pinned_arrays_go_through_wrappers() -> Result<()> {
    let x = array![[1, 2], [3, 4]].into_shared();
    let mut out = pinned_array::<i32, _>((2, 2))?;
    out.view_mut()?.fill(5);
    number::launch((1, (2, 2)), In(&x), InOut(&mut out))?;
    assert_eq!(out.view()?, numbered(&x.to_owned()));
    let mut again = Array2::zeros((2, 2));
    number_flat::launch((1, 32), In(&out), &mut again)?;
    assert_eq!(again, numbered(&out.to_owned()?));
    Ok(())
}

#[test]
fn arrays_without_elements_are_arguments() -> Result<()> {
    let x = Array2::zeros((0, 4));
    let mut out = Array2::zeros((0, 4));
    number::launch((1, (2, 2)), &x, &mut out)?;
    number_flat::launch((1, 32), &x, &mut out)?;
    assert_eq!(out.dim(), (0, 4));
    Ok(())
}

#[test]
fn arrays_vectors_and_slices_mix_with_device_arrays() -> Result<()> {
    let device = to_device(&array![1.0_f32, 2.0, 3.0])?;
    let host = array![10.0_f32, 20.0, 30.0];
    let mut out = vec![0.0_f32; 3];
    add_arrays::launch((1, 32), &device, &host, &mut out)?;
    assert_eq!(out, [11.0, 22.0, 33.0]);
    let mut out = Array1::zeros(3);
    add_arrays::launch((1, 32), &out.to_vec(), &device, &mut out)?;
    assert_eq!(out, array![1.0, 2.0, 3.0]);
    let mut out = [0.0_f32; 3];
    add_arrays::launch((1, 32), host.as_slice().expect("in C order"), &device, &mut out[..])?;
    assert_eq!(out, [11.0, 22.0, 33.0]);
    Ok(())
}

#[test]
fn a_mutable_host_array_is_copied_in_and_out() -> Result<()> {
    let mut x = vec![1, 2, 3];
    double::launch((1, 32), &mut x)?;
    double::launch((1, 32), InOut(&mut x))?;
    assert_eq!(x, [4, 8, 12]);
    Ok(())
}

#[test]
fn the_contents_of_an_out_array_are_not_copied_in() -> Result<()> {
    let mut x = vec![5; 4];
    fill_even::launch((1, 32), Out(&mut x))?;
    assert_eq!(x, [7, 0, 7, 0]);
    Ok(())
}

#[test]
fn an_in_array_is_not_copied_out() -> Result<()> {
    let x = vec![1, 2, 3];
    let mut out = zeros::<i32, _>(3)?;
    add_arrays::launch((1, 32), In(&x), In(&x), &mut out)?;
    assert_eq!(out.copy_to_host()?.to_vec(), [2, 4, 6]);
    assert_eq!(x, [1, 2, 3]);
    Ok(())
}
