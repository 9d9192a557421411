//! `static mut` items, which kernels cannot read.
#![allow(non_upper_case_globals, static_mut_refs)]

use cuda_jit::kernel;

static mut COUNT: u32 = 77;
static mut total: u32 = 78;

#[kernel]
fn within(out: &mut [u32]) {
    out[0] = unsafe {
        let count = COUNT;
        count + 1
    };
    out[1] = unsafe { total };
}

#[kernel]
fn of_a_closure(out: &mut [u32]) {
    let count = |v: u32| unsafe { COUNT + v };
    out[0] = count(1);
}

fn main() {}
