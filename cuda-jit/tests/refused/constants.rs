use cuda_jit::{Constant, kernel};

const NO_STATIC: Constant<[f32; 3]> = Constant::new([0.0; 3]);
static TEXT: &str = "text";
static CELL: Constant<[f32; 3]> = Constant::new([0.0; 3]);
static mut CHANGING: [f32; 3] = [0.0; 3];

#[kernel]
fn not_static(out: &mut [f32]) {
    out[0] = NO_STATIC.get()[0];
}

#[kernel]
fn no_value(out: &mut [f32]) {
    out[TEXT.len()] = 1.0;
}

#[kernel]
fn without_get(out: &mut [f32]) {
    out[0] = CELL[0];
}

#[kernel]
fn from_the_kernel(out: &mut [f32]) {
    CELL.set(&out, &[1.0; 3]);
}

#[kernel]
fn mutable(out: &mut [f32]) {
    out[0] = unsafe { CHANGING[0] };
}

fn main() {}
