//! Strided copies on the device for every element size, and for arrays larger than a staging buffer.

use cuda_driver::{Context, Driver};
use cuda_mem::{Element, to_device, zeros};
use half::{bf16, f16};
use ndarray::{Array1, Array2, Array3, Array4, Dimension, s};
use num_complex::Complex;

fn context() -> Context {
    Driver::new(cuda_tests_support::driver_api()).unwrap().device(0).unwrap().primary_context().unwrap()
}

/// Transposes, slices and broadcasts an array of these elements on the device, as ndarray does on the host.
fn moves<T: Element + PartialEq + std::fmt::Debug>(of: impl Fn(usize) -> T) {
    let context = context();
    let host = Array3::from_shape_fn((5, 6, 7), |(i, j, k)| of(42 * i + 7 * j + k));
    let x = to_device(&context, &host).unwrap();
    assert_eq!(x.t().to_c_order().unwrap().copy_to_host().unwrap(), host.t());
    let (part, same) = (x.slice(s![..;-1, 1..;2, ..;-3]), host.slice(s![..;-1, 1..;2, ..;-3]));
    assert_eq!(part.try_clone().unwrap().copy_to_host().unwrap(), same);
    assert_eq!(part.copy_to_host().unwrap(), same);
    let mut y = to_device(&context, &host).unwrap();
    y.slice_mut(s![.., 1..3, ..]).assign(&x.slice(s![2, 4..6, ..])).unwrap();
    y.slice_mut(s![.., .., 3]).fill(of(999)).unwrap();
    let mut model = host.clone();
    model.slice_mut(s![.., 1..3, ..]).assign(&host.slice(s![2, 4..6, ..]));
    model.slice_mut(s![.., .., 3]).fill(of(999));
    assert_eq!(y.copy_to_host().unwrap(), model);
    y.fill(of(7)).unwrap();
    assert_eq!(y.copy_to_host().unwrap(), Array3::from_elem((5, 6, 7), of(7)));
}

#[test]
fn elements_of_every_size_move() {
    moves(|n| n as u8);
    moves(|n| n as i16);
    moves(|n| n as u32);
    moves(|n| n as i64);
    moves(|n| n as u128);
    moves(|n| n as f32);
    moves(|n| n as f64);
    moves(|n| f16::from_f32(n as f32));
    moves(|n| bf16::from_f32((n % 256) as f32));
    moves(|n| Complex::new(n as f32, -(n as f32)));
    moves(|n| Complex::new(n as f64, 0.5));
    moves(|n| [n as u8, 1, 2]);
    moves(|n| [n as f32, 1.0, 2.0]);
    moves(|n| [[n as u16, 3], [4, 5], [6, 7]]);
    moves(|n| [n as f64; 5]);
    moves(|_| [0_u32; 0]);
}

#[test]
fn more_axes_than_the_kernel_supports_and_more_than_a_staging_buffer() {
    let context = context();
    let host =
        ndarray::ArrayD::from_shape_fn(vec![2; 11], |index| index.slice().iter().fold(0, |n, bit| 2 * n + *bit as u16));
    let x = to_device(&context, &host).unwrap();
    assert_eq!(x.t().to_c_order().unwrap().copy_to_host().unwrap(), host.t());

    let wide = Array2::from_shape_fn((700, 1400), |(i, j)| (i * 1400 + j) as u32);
    let sparse = wide.slice(s![.., ..;2]);
    let mut y = to_device(&context, &sparse).unwrap();
    let mut back = Array2::zeros((1400, 700));
    y.copy_to_host_into(&mut back.slice_mut(s![..;2, ..])).unwrap();
    assert_eq!(back.slice(s![..;2, ..]), sparse);
    y.copy_from_host(&sparse.slice(s![..;-1, ..])).unwrap();
    assert_eq!(y.copy_to_host().unwrap(), sparse.slice(s![..;-1, ..]));
}

#[test]
fn repeated_elements_of_a_host_array_are_sent_once() {
    let context = context();
    let row = Array1::from_iter(0..1000);
    let mut x = zeros::<i32, _>(&context, (50, 1000)).unwrap();
    x.copy_from_host(&row.broadcast((50, 1000)).unwrap()).unwrap();
    assert_eq!(x.copy_to_host().unwrap(), row.broadcast((50, 1000)).unwrap());
    let column = Array4::from_shape_fn((3, 1, 2, 1), |(i, _, j, _)| 10 * i + j);
    let repeated = column.broadcast((3, 4, 2, 5)).unwrap();
    assert_eq!(to_device(&context, &repeated).unwrap().copy_to_host().unwrap(), repeated);
}
