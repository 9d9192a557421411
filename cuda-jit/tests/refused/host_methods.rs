//! Host-only methods of the standard library's types: one error each, with an alternative.
#[cuda_jit::kernel]
fn slices(x: &mut [f32], out: &mut [f32]) {
    let copy = x.to_vec();
    x.sort_by_cached_key(|a| *a as i32);
    out[0] = copy[0] + *x.get_disjoint_mut([0, 1]).unwrap()[0];
}

#[cuda_jit::kernel]
fn parts(x: &[f32], out: &mut [f32]) {
    out[1] = x[0];
    out[0] = 1.0;
}

#[cuda_jit::kernel]
fn options(x: &[f32], out: &mut [f32]) {
    out[0] = *x.first().ok_or(1).unwrap();
    let mut last = x.last().copied();
    out[1] = *last.get_or_insert(2.0);
}

#[cuda_jit::kernel]
fn numbers(n: u32, out: &mut [f32]) {
    let text = n.to_string();
    let wide: u64 = n.into();
    out[0] = out[0].to_owned() + wide as f32;
}

#[cuda_jit::kernel]
fn arrays(out: &mut [f32]) {
    let parts = [1.0f32, 2.0].to_owned();
    out[0] = parts[1];
}

#[cuda_jit::kernel]
fn characters(c: char, out: &mut [f32]) {
    out[0] = c.is_alphabetic() as u32 as f32;
}

#[cuda_jit::kernel]
fn pointers(x: &[f32], out: &mut [f32]) {
    let begin = x.as_ptr();
    out[0] = unsafe { *begin.add(1) };
}

fn main() {}
