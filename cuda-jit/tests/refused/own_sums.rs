//! Sums of types whose `impl Sum` is the host's alone, and an `impl Sum` without its method.
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

fn main() {}
