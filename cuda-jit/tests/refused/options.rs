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

#[cuda_jit::kernel(launch_bounds("64"))]
fn text(out: &mut [f32]) {}

#[cuda_jit::kernel(launch_bounds(BLOCK))]
fn no_number(out: &mut [f32]) {}

#[cuda_jit::kernel(launch_bounds(HALF))]
fn no_integer(out: &mut [f32]) {}

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
fn many(
    _a0: u8,
    _a1: u8,
    _a2: u8,
    _a3: u8,
    _a4: u8,
    _a5: u8,
    _a6: u8,
    _a7: u8,
    _a8: u8,
    _a9: u8,
    _a10: u8,
    _a11: u8,
    _a12: u8,
    _a13: u8,
    _a14: u8,
    _a15: u8,
    _a16: u8,
    _a17: u8,
    _a18: u8,
    _a19: u8,
    _a20: u8,
    _a21: u8,
    _a22: u8,
    _a23: u8,
    _a24: u8,
    _a25: u8,
    _a26: u8,
    _a27: u8,
    _a28: u8,
    _a29: u8,
    _a30: u8,
    _a31: u8,
    _a32: u8,
) {
}

const BLOCK: (u32, u32) = (8, 8);
const HALF: f64 = 0.5;

fn main() {}
