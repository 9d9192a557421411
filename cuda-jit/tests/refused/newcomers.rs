//! Beginners' mistakes in kernels: rustc reports each once.
use cuda_jit::{DeviceType, Num, device::grid, kernel};

#[kernel]
fn narrow_index(x: &[f32], n: u32, out: &mut [f32]) {
    out[n] = x[0];
}

#[kernel]
fn signed_loop(n: i32, out: &mut [f32]) {
    for i in 0..n {
        out[i] = 1.0;
    }
}

#[kernel]
fn two_dimensions(out: &mut [f32]) {
    let i = grid::<2>();
    out[i] = 1.0;
}

#[kernel]
fn double(out: &mut [f32]) {
    let v = 1.0f64;
    out[0] = v;
}

#[kernel]
fn integer(out: &mut [f32]) {
    out[0] = 1;
}

#[kernel]
fn without_bound<T: Copy>(x: &[T], out: &mut [T]) {
    out[0] = x[0] + x[1];
}

#[kernel]
fn optional_slice(x: Option<&[f32]>) {}

struct Plain {
    a: f32,
}

impl Plain {
    fn a(&self) -> f32 {
        self.a
    }
}

#[kernel]
fn underived(p: Plain, out: &mut [f32]) {
    out[0] = p.a;
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
}

impl Point {
    fn length(&self) -> f32 {
        self.x
    }
}

#[kernel]
fn unmarked(p: Point, out: &mut [f32]) {
    out[0] = p.length();
}

#[kernel]
fn texts(out: &mut [f32]) {
    const NAMES: [&str; 2] = ["a", "b"];
    out[0] = NAMES.len() as f32;
}

fn main() {}
