//! Habits from host code that rustc refuses.
use std::sync::atomic::{AtomicU32, Ordering};

static mut COUNT: u32 = 0;
static TOTAL: AtomicU32 = AtomicU32::new(0);

#[cuda_jit::kernel]
fn vectors(out: &mut [f32]) {
    let mut list = Vec::new();
    list.push(1.0);
    out[0] = list[0];
}

#[cuda_jit::kernel]
fn boxes(out: &mut [f32]) {
    let one = Box::new(1.0);
    out[0] = *one;
}

#[cuda_jit::kernel]
fn list_parameter(x: Vec<f32>, out: &mut [f32]) {
    out[0] = x[0];
}

#[cuda_jit::kernel]
fn narrow_index(x: &[f32], n: u32, out: &mut [f32]) {
    out[n] = x[0];
}

#[cuda_jit::kernel]
fn one_method(x: &[f32], out: &mut [f32]) {
    out[0] = x.repeat(2)[0] + x[0].to_owned();
}

#[cuda_jit::kernel]
fn counted(out: &mut [u32]) {
    out[0] = unsafe { COUNT };
}

#[cuda_jit::kernel]
fn standard_atomics(out: &mut [u32]) {
    out[0] = TOTAL.fetch_add(1, Ordering::Relaxed);
}

#[cuda_jit::kernel]
fn reference(x: &f32, out: &mut [f32]) {
    out[0] = *x;
}

fn main() {
    let mut out = vec![0.0f32];
    let _ = list_parameter::launch((1, 1), vec![1.0f32], &mut out);
    let _ = reference::launch((1, 1), &1.0f32, &mut out);
}
