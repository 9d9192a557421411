#[cuda_jit::kernel(fast)]
fn unknown(out: &mut [f32]) {}

#[cuda_jit::kernel(opt = 4)]
fn level(out: &mut [f32]) {}

#[cuda_jit::kernel(max_registers = 1000)]
fn registers(out: &mut [f32]) {}

#[cuda_jit::kernel(launch_bounds(1, 2, 3, 4))]
fn bounds(out: &mut [f32]) {}

fn main() {}
