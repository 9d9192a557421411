//! Atomic operations that no number type or ordering has.
use cuda_jit::device::{
    atomic_add, atomic_add_with, atomic_and, atomic_inc, atomic_load_with, atomic_store_with, cas, order,
    reduce_add_sync, scope,
};
use cuda_jit::kernel;

#[kernel]
fn orders(x: &mut [u32]) {
    x[1] = atomic_load_with(&mut x[0], scope::Device, order::Release);
    atomic_store_with(&mut x[0], 1, scope::Block, order::AcqRel);
}

#[kernel]
fn words(x: &mut [u32]) {
    atomic_add_with(&mut x[0], 1, order::Relaxed, scope::Device);
}

#[kernel]
fn numbers(x: &mut [f32], y: &mut [i32], z: &mut [u8]) {
    atomic_and(&mut x[0], 1.0);
    atomic_inc(&mut y[0], 9);
    atomic_add(&mut z[0], 1);
    cas(&mut z[0], 1, 2);
    x[1] = reduce_add_sync(1, x[0]);
}

#[kernel]
fn read_only(x: &[u32]) {
    atomic_add(&mut x[0], 1);
}

fn main() {}
