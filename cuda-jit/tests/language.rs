//! The kernel language.
use cuda_jit::device::{grid, grid_size};
use cuda_jit::{Num, device, kernel};

#[kernel]
pub fn add_arrays<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] + y[i];
    }
}

#[device]
fn axpy<T: Num>(a: T, x: T, y: T) -> T {
    a * x + y
}

#[kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let mut i = grid::<1>();
    let f = |v: f32, w| v * w + 1.0;
    while i < y.len() {
        y[i] = axpy(a, x[i], y[i]) + f(a, 2.0);
        i += grid_size::<1>();
    }
    for k in (0..10u32).rev().step_by(3) {
        match k { 0 => continue, 3..=5 => y[0] = 1.0, j if j > 7 => { assert!(j != 9, "nine"); } _ => break }
    }
}

#[test]
fn smoke() {
    println!("{}", cuda_jit::kir_of::<add_arrays<f32>>().unwrap());
    println!("{}", add_arrays::<f32>::compile_ptx((9, 0)).unwrap());
    println!("{}", cuda_jit::kir_of::<saxpy>().unwrap());
    println!("{}", saxpy::compile_ptx((9, 0)).unwrap());
}
