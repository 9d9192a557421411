//! Functions of host-only types: one error each, with an alternative.
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

use cuda_jit::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
}

impl Point {
    fn origin() -> Self {
        Point { x: 0.0 }
    }
}

#[cuda_jit::kernel]
fn vectors(out: &mut [f32]) {
    let mut list = Vec::new();
    list.push(1.0);
    out[0] = list[0];
}

#[cuda_jit::kernel]
fn capacities(out: &mut [f32]) {
    let list: Vec<f32> = Vec::with_capacity(4);
    out[0] = list[0];
}

#[cuda_jit::kernel]
fn boxes(out: &mut [f32]) {
    let one = Box::new(1.0);
    out[0] = *one;
}

#[cuda_jit::kernel]
fn strings(out: &mut [f32]) {
    let text = String::new();
    out[0] = text.len() as f32;
}

#[cuda_jit::kernel]
fn maps(out: &mut [f32]) {
    let mut seen: HashMap<u32, u32> = HashMap::new();
    seen.insert(1, 2);
    out[0] = seen[&1] as f32;
}

#[cuda_jit::kernel]
fn counted(out: &mut [f32]) {
    let one = Rc::new(1.0);
    out[0] = *one;
}

#[cuda_jit::kernel]
fn clocks(out: &mut [f32]) {
    let begin = Instant::now();
    out[0] = begin.elapsed().as_secs_f32();
}

#[cuda_jit::kernel]
fn own(out: &mut [f32]) {
    out[0] = Point::origin().x;
}

#[cuda_jit::kernel]
fn passed(out: &mut [f32]) {
    out[0] = out.iter().copied().map(Option::Some).count() as f32;
}

#[cuda_jit::kernel]
fn three(out: &mut [f32]) {
    out[0] = std::cmp::max_by_key(1, 2, |v| *v) as f32;
}

fn main() {}
