//! Names of CUDA C++ and Python: rustc reports each once, as not found.
use cuda_jit::{device::grid, kernel};

#[kernel]
fn of_cuda_cpp(x: &mut [f32]) {
    let i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = sqrtf(x[i]);
    __syncthreads();
}

#[kernel]
fn of_constants(x: &mut [f32]) {
    let i = grid::<1>();
    x[i] = M_PI * FLT_MAX;
}

#[kernel]
fn of_python(x: &mut [f32]) {
    let i = grid::<1>();
    x[i] = math::sqrt(x[i]);
}

fn main() {}
