//! Unresolved names.
#[cuda_jit::device]
fn scale(v: f32) -> f32 {
    v * 2.0
}

#[cuda_jit::kernel]
fn function(out: &mut [f32]) {
    out[0] = scal(out[0]);
}

fn main() {}
