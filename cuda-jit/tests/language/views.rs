//! ndarray views as parameters, of any dimension and stride.

#![expect(elided_lifetimes_in_paths, reason = "kernels are mostly written without `'_`, which must work")]

use super::context;
use cuda_jit::device::grid;
use cuda_jit::{Num, device, kernel};
use ndarray::{Array, Array2, Array3, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut2, ArrayViewMut3, array};

#[kernel]
fn matmul<T: Num>(a: ArrayView2<T>, b: ArrayView2<T>, mut c: ArrayViewMut2<T>) {
    let (col, row) = grid::<2>();
    let (rows, cols) = c.dim();
    if row < rows && col < cols {
        let mut sum = T::ZERO;
        for k in 0..a.ncols() {
            sum += a[[row, k]] * b[[k, col]];
        }
        c[[row, col]] = sum;
    }
}

#[test]
fn matrices_multiply() {
    let a = Array2::from_shape_fn((5, 7), |(i, j)| (i * 7 + j) as f32);
    let b = Array2::from_shape_fn((7, 3), |(i, j)| (i as f32) - (j as f32));
    let (da, db) = (cuda_mem::to_device(&context(), &a).unwrap(), cuda_mem::to_device(&context(), &b).unwrap());
    let mut dc = cuda_mem::zeros::<f32, _>(&context(), (5, 3)).unwrap();
    matmul::launch(((1, 1), (8, 8)), &da, &db, &mut dc).unwrap();
    assert_eq!(dc.copy_to_host().unwrap(), a.dot(&b));
}

#[device]
fn corner(x: ArrayView3<i32>, line: ArrayView1<i32>) -> i32 {
    x[[0, 0, 0]] + line[0] + x.ndim() as i32 * 1000
}

#[kernel]
fn cube(x: ArrayView3<i32>, line: ArrayView1<'_, i32>, mut out: ArrayViewMut3<i32>) {
    let (i, j, k) = grid::<3>();
    let (a, b, c) = x.dim();
    if i < a && j < b && k < c && !line.is_empty() && line.dim() == line.len() {
        out[[i, j, k]] = x[[i, j, k]] * line[k];
        if i + j + k == 0 {
            out[[0, 0, 0]] += corner(x, line) + out.len() as i32;
        }
    }
}

#[test]
fn three_dimensions_and_device_functions() {
    let x = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k + 1) as i32);
    let line = array![1, 10, 100, 1000];
    let (dx, dl) = (cuda_mem::to_device(&context(), &x).unwrap(), cuda_mem::to_device(&context(), &line).unwrap());
    let mut out = cuda_mem::zeros::<i32, _>(&context(), (2, 3, 4)).unwrap();
    cube::launch(((1, 1, 1), (2, 3, 4)), &dx, &dl, &mut out).unwrap();
    let mut host = Array::zeros((2, 3, 4));
    cuda_jit::host::for_each_thread(((1, 1, 1), (2, 3, 4)), || cube(x.view(), line.view(), host.view_mut()));
    assert_eq!(out.copy_to_host().unwrap(), host);
    assert_eq!(host[[0, 0, 0]], 1 + 1 + 1 + 3000 + 24);
}
