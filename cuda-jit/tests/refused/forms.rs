use cuda_jit::device::shared;
use ndarray::ArrayView2;

macro_rules! one {
    () => {
        1
    };
}

#[cuda_jit::kernel]
fn calls(x: &[f32], a: ArrayView2<f32>, out: &mut [f32]) {
    let next = f32::next_up(x[0]);
    let list = vec![1; 2];
    let text = format!("text");
    let tile = shared!(5);
    assert_eq!(x[0]);
}

#[cuda_jit::kernel]
fn values(out: &mut [f32]) {
    let big = 3402823669209384634633746074317682114550;
    let pair = (|v: f32| v, 1);
    let pointer: fn(f32) -> f32 = |v: f32| v;
    let later = async { 1 };
    let pointer = &raw const big;
}

#[cuda_jit::device]
fn tried(v: Option<u32>) -> Option<u32> {
    Some(v? + 1)
}

#[cuda_jit::kernel]
fn jumps(v: u32) {
    match v {
        one!() => {}
        _ => {}
    }
    'block: {
        continue 'block;
    }
    break;
}

#[cuda_jit::kernel]
fn variadic(v: u32, ...) {}

#[cuda_jit::device]
fn variadic_on_the_device(v: u32, ...) {}

fn main() {}
