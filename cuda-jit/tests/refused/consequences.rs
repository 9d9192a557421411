//! Mistakes that have had more than one error: sums that only the host has, casts, methods beside one that is refused.
use std::iter::{Product, Sum};

#[derive(Clone, Copy, cuda_jit::DeviceType)]
struct Mass(f32);

impl Sum for Mass {
    fn sum<I: Iterator<Item = Mass>>(all: I) -> Mass {
        Mass(all.map(|mass| mass.0).sum())
    }
}

#[cuda_jit::device]
impl Product for Mass {}

#[cuda_jit::kernel]
fn sums(x: f32, out: &mut [f32]) {
    let total: Mass = [Mass(x), Mass(1.0)].into_iter().sum();
    out[0] = total.0;
}

#[cuda_jit::kernel]
fn references(x: u32, out: &mut [u32]) {
    let pair = [x, 2];
    let both = &pair as &[u32];
    out[0] = both[0];
}

type Pair = [u32; 2];

#[cuda_jit::kernel]
fn conversion(x: u32, out: &mut [u32]) {
    out[0] = (x as Pair)[0];
}

#[derive(Clone, Copy, cuda_jit::DeviceType)]
struct Adder;

#[cuda_jit::device]
impl Adder {
    fn adding(n: u32) -> impl Fn(u32) -> u32 {
        move |v| v + n
    }

    fn added(a: u32, b: u32) -> u32 {
        a + b
    }
}

#[cuda_jit::kernel]
fn beside_a_refused_method(x: u32, out: &mut [u32]) {
    out[0] = Adder::added(x, 2);
}

fn main() {}
