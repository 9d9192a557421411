//! Beginners' mistakes in the host's part of a program: one error each.
use cuda_driver::Stream;
use cuda_jit::{device::grid, kernel};
use cuda_mem::DeviceArray;
use ndarray::{Ix1, Ix2};

type Array = DeviceArray<f32, Ix1>;

#[kernel]
fn scale(x: &[f32], by: f32, out: &mut [f32]) {
    let i = grid::<1>();
    out[i] = by * x[i];
}

fn brackets(x: Array, mut out: Array) -> cuda_jit::Result<()> {
    scale::launch([8, 128], &x, 2.0, &mut out)
}

fn parts(x: Array, mut out: Array, stream: &Stream) -> cuda_jit::Result<()> {
    scale::launch((8, 128, 0, stream), &x, 2.0, &mut out)
}

fn other_order(x: Array, mut out: Array) -> cuda_jit::Result<()> {
    scale::launch((8, 128), 2.0, &x, &mut out)
}

fn reads_and_writes(mut x: Array) -> cuda_jit::Result<()> {
    scale::launch((8, 128), &x, 2.0, &mut x)
}

fn method(x: Array, mut out: Array) -> cuda_jit::Result<()> {
    scale.launch((8, 128), &x, 2.0, &mut out)
}

fn not_a_kernel(x: Array, mut out: Array) -> cuda_jit::Result<()> {
    host::launch((8, 128), &x, 2.0, &mut out)
}

fn host(x: &[f32], by: f32, out: &mut [f32]) {
    out[0] = by * x[0];
}

fn sum(x: Array, y: Array) -> Array {
    &x + &y
}

fn element(x: Array) -> f32 {
    x.copy_to_host()[0]
}

fn loop_over(x: &DeviceArray<f32, Ix2>) {
    for row in x {
        drop(row);
    }
}

fn main() {}
