#[cuda_jit::kernel(fast)]
fn unknown(out: &mut [f32]) {}

#[cuda_jit::kernel(opt = 4)]
fn level(out: &mut [f32]) {}

#[cuda_jit::kernel(max_registers = 1000)]
fn registers(out: &mut [f32]) {}

#[cuda_jit::kernel(shared_memory_carveout = 101)]
fn carveout(out: &mut [f32]) {}

#[cuda_jit::kernel(launch_bounds(1, 2, 3, 4))]
fn bounds(out: &mut [f32]) {}

#[cuda_jit::kernel(cluster(2, 2, 2, 2))]
fn extents(out: &mut [f32]) {}

#[cuda_jit::kernel(cluster(8, 4))]
fn cluster(out: &mut [f32]) {}

#[cuda_jit::kernel(cluster(2), launch_bounds(64, 1, 4))]
fn both(out: &mut [f32]) {}

#[cuda_jit::device(unchecked)]
fn peek(x: &[f32], i: usize) -> f32 {
    x[i]
}

#[cuda_jit::kernel]
fn many(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8, m: u8) {}

fn main() {}
