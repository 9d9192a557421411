#[cuda_jit::kernel]
fn fill(value: f32, out: &mut [f32]) {
    out[0] = value;
}

fn main() {
    let mut out = vec![0.0f32];
    let _ = fill::launch(1, 32, &mut out);
}
