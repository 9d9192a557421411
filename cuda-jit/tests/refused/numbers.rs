use cuda_jit::device::ldcs;
use cuda_jit::{Complex32, f16, f32x4};

#[cuda_jit::kernel]
fn casts(x: &[f32], out: &mut [f16]) {
    out[0] = x[0] as f16;
}

#[cuda_jit::kernel]
fn mixes(x: &[f16], out: &mut [f32]) {
    out[0] = out[0] * x[0];
}

#[cuda_jit::kernel]
fn remains(x: &[f32x4], out: &mut [f32x4]) {
    out[0] = x[0] % x[1];
}

#[cuda_jit::kernel]
fn converts(x: &[f32], out: &mut [Complex32]) {
    out[0] = Complex32::from(x[0]);
}

#[cuda_jit::kernel]
fn hints(x: &[Complex32], out: &mut [Complex32]) {
    out[0] = ldcs(&x[0]);
}

fn main() {}
