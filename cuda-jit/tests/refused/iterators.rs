//! Unsupported operations on iterators.
use ndarray::{ArrayView2, Axis};

#[cuda_jit::kernel]
fn iterators(x: &[f32], a: ArrayView2<f32>, n: usize, out: &mut [f32]) {
    let hint = x.iter().size_hint();
    for row in a.axis_iter(Axis(n as u32)) {
        out[0] += row[0];
    }
}

#[cuda_jit::kernel]
fn sources(x: &[f32], a: ArrayView2<f32>, n: usize, out: &mut [f32]) {
    for row in a.axis_iter(n) {
        out[0] += row[0];
    }
    let all = x.iter();
    out[0] = all[0];
    for v in x.iter().sum::<f32>() {}
}

#[cuda_jit::kernel]
fn reals(out: &mut [f32]) {
    for v in 0.0..1.0 {
        out[0] += v;
    }
}

#[derive(Clone, Copy, cuda_jit::DeviceType)]
struct Numbers {
    at: u32,
}

#[cuda_jit::device]
impl Iterator for Numbers {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        Some(self.at)
    }
    fn count(self) -> usize {
        7
    }
}

#[cuda_jit::device]
impl ExactSizeIterator for Numbers {}

#[cuda_jit::kernel]
fn any<I: Iterator<Item = f32>>(all: I, out: &mut [f32]) {
    out[0] = all.sum();
}

#[derive(Clone, Copy, cuda_jit::DeviceType)]
struct Twice<I>(I);

#[cuda_jit::device]
impl<I: Iterator<Item = f32>> Iterator for Twice<I> {
    type Item = f32;

    fn next(&mut self) -> Option<f32> {
        self.0.next().map(|value| 2.0 * value)
    }
}

#[cuda_jit::device]
impl<I> Twice<I>
where
    I: Iterator<Item = f32>,
{
    fn first(mut self) -> f32 {
        self.0.next().unwrap_or(0.0)
    }
}

fn main() {}
