use cuda_jit::device::grid;

#[cuda_jit::kernel]
fn add(x: &[f32], by: f32, out: &mut [f32]) {
    let i = grid::<1>();
    out[i] = x[i] + by;
}

fn main() {
    let (x, mut out) = (vec![1.0f32], vec![0.0f32]);
    let doubles = vec![1.0f64];
    let _ = add::launch((1, 1), &doubles, 1.0, &mut out);
    let _ = add::launch((1, 1), &x, 1.0f64, &mut out);
    let _ = add::launch((1, 1), &x, 1.0, &out);
    let _ = add::launch((1, 1), &x, 1.0);
}
