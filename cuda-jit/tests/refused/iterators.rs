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

fn main() {}
