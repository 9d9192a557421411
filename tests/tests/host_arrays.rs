//! Host arrays as arguments: copied in, and out again where the kernel writes.

use cuda_prelude::*;
use ndarray::{Array1, array};

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
fn a_mutable_host_array_goes_in_and_comes_out() -> Result<()> {
    let mut x = vec![1, 2, 3];
    double::launch((1, 32), &mut x)?;
    double::launch((1, 32), InOut(&mut x))?;
    assert_eq!(x, [4, 8, 12]);
    Ok(())
}

#[test]
fn what_an_out_array_held_does_not_go_in() -> Result<()> {
    let mut x = vec![5; 4];
    fill_even::launch((1, 32), Out(&mut x))?;
    assert_eq!(x, [7, 0, 7, 0]);
    Ok(())
}

#[test]
fn an_in_array_does_not_come_out() -> Result<()> {
    let x = vec![1, 2, 3];
    let mut out = zeros::<i32, _>(3)?;
    add_arrays::launch((1, 32), In(&x), In(&x), &mut out)?;
    assert_eq!(out.copy_to_host()?.to_vec(), [2, 4, 6]);
    assert_eq!(x, [1, 2, 3]);
    Ok(())
}
