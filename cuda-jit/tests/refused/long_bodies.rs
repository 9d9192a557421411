//! One mistake in a kernel gives one error, whatever its length: the first two are long, and the others take the same path.

use cuda_jit::{device, kernel};

#[device]
fn mixed(a: f32, b: f32) -> f32 {
    a * 0.25 + b * 0.75
}
#[device]
fn times<const N: usize>(a: f32) -> f32 {
    a * N as f32
}
fn on_the_host(a: f32) -> f32 {
    a
}

#[kernel]
fn undefined(x: &[f32], out: &mut [f32]) {
    let mut v = x[0];
    let a0 = x[0] * 2.0 + v;
    let b0 = if a0 > 1.0 { a0 } else { v };
    v = mixed(a0, b0.sqrt());
    if 0 < out.len() {
        out[0] = v;
    }
    let a1 = x[1] * 2.0 + v;
    let b1 = if a1 > 1.0 { a1 } else { v };
    v = mixed(a1, b1.sqrt());
    if 1 < out.len() {
        out[1] = v;
    }
    let a2 = x[2] * 2.0 + v;
    let b2 = if a2 > 1.0 { a2 } else { v };
    v = mixed(a2, b2.sqrt());
    if 2 < out.len() {
        out[2] = v;
    }
    let a3 = x[3] * 2.0 + v;
    let b3 = if a3 > 1.0 { a3 } else { v };
    v = mixed(a3, b3.sqrt());
    if 3 < out.len() {
        out[3] = v;
    }
    out[0] = v * scale;
    let a4 = x[4] * 2.0 + v;
    let b4 = if a4 > 1.0 { a4 } else { v };
    v = mixed(a4, b4.sqrt());
    if 4 < out.len() {
        out[4] = v;
    }
    let a5 = x[5] * 2.0 + v;
    let b5 = if a5 > 1.0 { a5 } else { v };
    v = mixed(a5, b5.sqrt());
    if 5 < out.len() {
        out[5] = v;
    }
    let a6 = x[6] * 2.0 + v;
    let b6 = if a6 > 1.0 { a6 } else { v };
    v = mixed(a6, b6.sqrt());
    if 6 < out.len() {
        out[6] = v;
    }
    let a7 = x[7] * 2.0 + v;
    let b7 = if a7 > 1.0 { a7 } else { v };
    v = mixed(a7, b7.sqrt());
    if 7 < out.len() {
        out[7] = v;
    }
}

#[kernel]
fn wrong_type(x: &[f32], out: &mut [f32]) {
    let mut v = x[0];
    let a0 = x[0] * 2.0 + v;
    let b0 = if a0 > 1.0 { a0 } else { v };
    v = mixed(a0, b0.sqrt());
    if 0 < out.len() {
        out[0] = v;
    }
    let a1 = x[1] * 2.0 + v;
    let b1 = if a1 > 1.0 { a1 } else { v };
    v = mixed(a1, b1.sqrt());
    if 1 < out.len() {
        out[1] = v;
    }
    let a2 = x[2] * 2.0 + v;
    let b2 = if a2 > 1.0 { a2 } else { v };
    v = mixed(a2, b2.sqrt());
    if 2 < out.len() {
        out[2] = v;
    }
    let a3 = x[3] * 2.0 + v;
    let b3 = if a3 > 1.0 { a3 } else { v };
    v = mixed(a3, b3.sqrt());
    if 3 < out.len() {
        out[3] = v;
    }
    let count: u32 = v;
    out[0] = count as f32;
    let a4 = x[4] * 2.0 + v;
    let b4 = if a4 > 1.0 { a4 } else { v };
    v = mixed(a4, b4.sqrt());
    if 4 < out.len() {
        out[4] = v;
    }
    let a5 = x[5] * 2.0 + v;
    let b5 = if a5 > 1.0 { a5 } else { v };
    v = mixed(a5, b5.sqrt());
    if 5 < out.len() {
        out[5] = v;
    }
    let a6 = x[6] * 2.0 + v;
    let b6 = if a6 > 1.0 { a6 } else { v };
    v = mixed(a6, b6.sqrt());
    if 6 < out.len() {
        out[6] = v;
    }
    let a7 = x[7] * 2.0 + v;
    let b7 = if a7 > 1.0 { a7 } else { v };
    v = mixed(a7, b7.sqrt());
    if 7 < out.len() {
        out[7] = v;
    }
}

#[kernel]
fn missing_method(x: &[f32], out: &mut [f32]) {
    let v = x[0];
    out[0] = v.rounded();
}

#[kernel]
fn moved(x: &[f32], out: &mut [f32]) {
    let _ = x[0];
    let doubled = x.iter().map(|v| v * 2.0);
    let sum: f32 = doubled.sum();
    let again: f32 = doubled.sum();
    out[0] = sum + again;
}

#[kernel]
fn missing_argument(x: &[f32], out: &mut [f32]) {
    let v = x[0];
    out[0] = mixed(v);
}

#[kernel]
fn missing_argument_of_a_method(x: &[f32], out: &mut [f32]) {
    let v = x[0];
    out[0] = v.max();
}

#[kernel]
fn unknown_function(x: &[f32], out: &mut [f32]) {
    let v = x[0];
    out[0] = unknown(v);
}

#[kernel]
fn unknown_type(x: &[f32], out: &mut [f32]) {
    let v = x[0];
    let found = None;
    out[0] = v;
}

#[kernel]
fn unknown_constant_argument(x: &[f32], out: &mut [f32]) {
    let v = x[0];
    out[0] = times(v);
}

#[kernel]
fn not_a_device_function(x: &[f32], out: &mut [f32]) {
    let v = x[0];
    out[0] = on_the_host(v);
}

#[kernel]
fn without_semicolon(x: &[f32], out: &mut [f32]) {
    let v = x[0];
    v + 1.0
}

fn main() {}
