use cuda_jit::device::grid;

#[cuda_jit::kernel]
fn type_error(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let wrong: u32 = x[i];
    out[i] = 1u32;
    out[i] = x[0u32];
}

fn main() {}
