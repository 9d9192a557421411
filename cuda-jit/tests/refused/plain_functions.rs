//! Calls of functions without device code: non-device functions and kernels.
fn helper(v: f32) -> f32 {
    v
}

fn generic<T: Copy>(v: T) -> T {
    v
}

fn with_closure<F: Fn(&f32) -> f32>(v: f32, f: F) -> f32 {
    f(&v)
}

fn once(v: f32) -> std::iter::Once<f32> {
    std::iter::once(v + 1.0)
}

mod inner {
    pub fn far(v: f32) -> f32 {
        v
    }
}

#[cuda_jit::kernel]
fn calls(out: &mut [f32]) {
    out[0] = helper(out[0]);
}

#[cuda_jit::kernel]
fn calls_generic(out: &mut [f32]) {
    out[0] = generic::<f32>(out[0]);
    out[1] = generic(out[1]);
}

#[cuda_jit::kernel]
fn calls_with_closure(out: &mut [f32]) {
    out[0] = with_closure(out[1], |v| v + 1.0);
}

#[cuda_jit::kernel]
fn calls_namesake(out: &mut [f32]) {
    once(out[1]);
}

#[cuda_jit::kernel]
fn calls_of_module(out: &mut [f32]) {
    let y = inner::far(out[0]) + 1.0;
    out[0] = y.sqrt();
}

#[cuda_jit::kernel]
fn calls_std(out: &mut [f32]) {
    out[0] = std::ptr::eq(&out[0], &out[1]) as u32 as f32;
    std::thread::spawn(|| 1);
    drop(out[0]);
}

#[cuda_jit::kernel]
fn passes(x: &[f32], out: &mut [f32]) {
    out[0] = x.iter().copied().map(helper).sum();
}

#[cuda_jit::device]
fn of_device(v: f32) -> f32 {
    helper(v) * 2.0
}

struct Scale;

#[cuda_jit::device]
impl Scale {
    fn of_method(v: f32) -> f32 {
        helper(v) * 2.0
    }
}

#[cuda_jit::kernel]
fn calls_kernel(x: &[f32], out: &mut [f32]) {
    passes(x, out);
}

#[cuda_jit::kernel]
fn map<F: Fn(f32) -> f32>(f: F, out: &mut [f32]) {
    out[0] = f(out[0]);
}

fn main() {
    let mut out = [0.0f32; 2];
    map::launch((1, 1), cuda_jit::device_fn!(helper), &mut out).unwrap();
    map::launch((1, 1), cuda_jit::device_fn!(|v: f32| helper(v) + 1.0), &mut out).unwrap();
}
