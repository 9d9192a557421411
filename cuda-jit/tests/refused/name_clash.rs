struct taken;

#[cuda_jit::kernel]
fn taken(out: &mut [f32]) {}

fn main() {}
