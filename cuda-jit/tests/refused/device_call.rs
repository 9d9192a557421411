#[cuda_jit::device]
fn scale(v: f32, by: f32) -> f32 {
    v * by
}

fn helper(v: f32) -> f32 {
    v
}

#[cuda_jit::kernel]
fn wrong_argument(out: &mut [f32]) {
    out[0] = scale(out[0], 2u32);
}

#[cuda_jit::kernel]
fn wrong_count(out: &mut [f32]) {
    out[0] = scale(out[0]);
}

#[cuda_jit::kernel]
fn not_a_device_function(out: &mut [f32]) {
    out[0] = helper(out[0]);
}

#[cuda_jit::kernel]
fn in_how_many(out: &mut [f32]) {
    out[cuda_jit::device::grid()] = 1.0;
}

fn main() {}
