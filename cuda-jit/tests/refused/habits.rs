//! Habits from host code that the macro refuses: one error each, although the kernels are also launched.
use cuda_jit::device::{grid, shared, thread_idx};
use ndarray::{ArrayView2, s};

#[cuda_jit::kernel]
fn question_mark(x: &[f32], out: &mut [f32]) {
    let first = x.first()?;
    out[0] = *first;
}

#[cuda_jit::kernel]
fn without_dimension(out: &mut [f32]) {
    let i = grid();
    out[i] = 1.0;
}

#[cuda_jit::kernel]
fn too_many_dimensions(out: &mut [f32]) {
    let i = grid::<4>();
    out[i] = 1.0;
}

#[cuda_jit::kernel]
fn position_without_a_call(out: &mut [f32]) {
    out[thread_idx.x] = 1.0;
}

#[cuda_jit::kernel]
fn as_in_numba(out: &mut [f32]) {
    out[cuda::grid(1)] = 1.0;
    cuda::syncthreads();
    out[cuda::threadIdx.x] = 2.0;
}

#[cuda_jit::kernel]
fn heap(out: &mut [f32]) {
    let list = vec![1.0, 2.0];
    let text = format!("{}", out[0]);
    println!("{text}");
    out[1] = line!() as f32;
    out[0] = list[0];
}

#[cuda_jit::kernel]
fn iterators(x: &[f32], out: &mut [f32]) {
    out[0] = x.iter().is_sorted() as u32 as f32;
    let doubled = x.into_iter().map(|v| v * 2.0).collect();
}

#[cuda_jit::kernel]
async fn asynchronous(out: &mut [f32]) {}

#[cuda_jit::kernel]
fn unnamed(f: impl Fn(f32) -> f32, out: &mut [f32]) {}

#[cuda_jit::device]
fn returns_unnamed(x: f32) -> impl Fn(f32) -> f32 {
    move |v| v + x
}

#[cuda_jit::kernel]
fn length_of_shared(n: usize, out: &mut [f32]) {
    let tile = cuda_jit::device::shared!(f32, 256);
    out[0] = tile[n];
}

#[cuda_jit::kernel]
fn run_time_length(n: usize, out: &mut [f32]) {
    let tile = shared!([[f32; n]; 4]);
    out[0] = tile[0][1];
}

#[cuda_jit::kernel]
fn sliced(x: ArrayView2<f32>, out: &mut [f32]) {
    let part = s![.., 1];
    out[0] = part[0];
}

#[cuda_jit::kernel]
fn dynamic(f: &dyn Fn(f32) -> f32, out: &mut [f32]) {
    out[0] = f(1.0);
}

#[cuda_jit::device]
fn helper(x: f32) -> f32 {
    let text = "text";
    x
}

fn main() {
    let mut out = vec![0.0f32];
    let _ = question_mark::launch((1, 1), &[1.0f32], &mut out);
    let _ = without_dimension::launch((1, 1), &mut out);
    let _ = heap::launch((1, 1), &mut out);
    let _ = iterators::launch((1, 1), &[1.0f32], &mut out);
    let _ = length_of_shared::launch((1, 1), 3, &mut out);
    helper(1.0);
}
