#[cuda_jit::kernel]
fn borrow_error(x: &[f32], out: &mut [f32]) {
    let first = 1;
    first = 2;
    x[0] = 1.0;
    let late;
    out[0] = late;
    late = 1.0;
}

fn main() {}
