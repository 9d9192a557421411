//! Items of the macros' expansions cannot be forged: a probe result is only made by `unsafe` code, and an unchecked
//! kernel is only launched by its own `launch`.
#![forbid(unsafe_code)]

use cuda_jit::typeinfo::{Answers, ProbeResult, ty_of};
use cuda_jit::{Kernel, device, kernel};

#[device]
trait Shape {
    fn area(&self, x: u64) -> u64;
}

struct Mine;

#[kernel]
fn plain(out: &mut [u32]) {
    out[0] = 1;
}

impl Shape for Mine {
    fn write_device_before_trait_and_impl() {}

    fn area(&self, x: u64) -> u64 {
        x
    }

    fn __definition_area() -> &'static cuda_jit::syntax::Definition {
        plain::definition()
    }

    fn __probe_area() -> ProbeResult {
        Answers {
            params: &[],
            result: ty_of::<u64>,
            locals: vec![],
            callees: &[],
            types: &[],
            named: &[],
            patterns: vec![],
        }
            .into_result(plain::definition(), Vec::new())
    }
}

#[device]
impl Shape for u64 {
    fn area(&self, x: u64) -> u64 {
        x
    }
}

fn changed() -> ProbeResult {
    let mut info = <u64 as Shape>::__probe_area();
    info.result = ty_of::<&[u32]>();
    info
}

fn main() {
    changed();
}
