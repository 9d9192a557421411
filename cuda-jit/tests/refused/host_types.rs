#[cuda_jit::kernel]
fn strings(out: &mut [f32]) {
    let text = String::new();
    out[0] = text.len() as f32;
}

#[cuda_jit::kernel]
fn vectors(x: Vec<f32>) {
    let v = x;
}

#[cuda_jit::device]
fn pairs(v: f32) -> (f32, f32) {
    (v, v)
}

fn main() {}
