//! Methods that the standard library's types have on the host alone: one error each, with what to do instead.
#[cuda_jit::kernel]
fn slices(x: &mut [f32], out: &mut [f32]) {
    let copy = x.to_vec();
    x.sort_by(|a, b| a.partial_cmp(b).unwrap());
    out[0] = copy[0] + x.partition_point(|v| v.is_nan()) as f32;
}

#[cuda_jit::kernel]
fn options(x: &[f32], out: &mut [f32]) {
    out[0] = x.first().map(|v| v.sqrt() + 1.0).unwrap_or_else(|| 2.0);
    if x.last().is_some_and(|v| *v > 0.0) {
        out[1] = 1.0;
    }
}

#[cuda_jit::kernel]
fn numbers(n: u32, out: &mut [f32]) {
    let text = n.to_string();
    let wide: u64 = n.into();
    out[0] = out[0].next_up() + n.isqrt() as f32;
}

#[cuda_jit::kernel]
fn arrays(out: &mut [f32]) {
    let twice = [1.0f32, 2.0].map(|v| v * 2.0);
    out[0] = twice[1];
}

#[cuda_jit::kernel]
fn characters(c: char, out: &mut [f32]) {
    out[0] = c.is_ascii_digit() as u32 as f32;
}

#[cuda_jit::kernel]
fn pointers(x: &[f32], out: &mut [f32]) {
    let begin = x.as_ptr();
    out[0] = unsafe { *begin.add(1) };
}

fn main() {}
