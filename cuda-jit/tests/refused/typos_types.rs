//! Unresolved names of fields and methods.
#[cuda_jit::kernel]
fn method(out: &mut [f32]) {
    out[0] = out[0].sqroot();
}

#[cuda_jit::kernel]
fn field(out: &mut [f32]) {
    out[0] = cuda_jit::device::thread_idx().w as f32;
}

fn main() {}
