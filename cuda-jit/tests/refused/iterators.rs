//! What iterators in kernels cannot do.
use ndarray::{ArrayView2, Axis};

#[cuda_jit::kernel]
fn iterators(x: &[f32], a: ArrayView2<f32>, n: usize, out: &mut [f32]) {
    let twice = x.iter().cycle();
    let (first, second) = x.iter();
    let all = x.iter();
    out[0] = all[0];
    for row in a.axis_iter(Axis(n + 1)) {
        out[0] += row[0];
    }
    for row in a.axis_iter(n) {
        out[0] += row[0];
    }
    out[1] = x.iter().map(x[0]).sum();
    for v in x.iter().sum::<f32>() {}
}

/// Items that closures make, left out and then taken from the back.
#[cuda_jit::kernel]
fn cut_behind_calls(x: &[u32], out: &mut [u32]) {
    out[0] = x.iter().map(|v| v + 1).take(2).rev().sum();
    out[1] = x.iter().zip(x.iter().map(|v| v + 1)).rev().map(|(a, b)| a * b).sum();
    let mapped = (0..8u32).map(|v| v + 1);
    out[2] = mapped.step_by(3).rev().sum();
    out[3] = x.iter().take(2).map(|v| v + 1).rev().sum();
}

#[cuda_jit::kernel]
fn characters(first: char, out: &mut [u32]) {
    for c in first..'z' {
        out[0] += c as u32;
    }
}

fn main() {}
