//! Items of the macros' expansions cannot be forged: a probe result is only made by `unsafe` code, and an unchecked
//! kernel is only launched by its own `launch`.
#![forbid(unsafe_code)]

use cuda_jit::typeinfo::{Answers, CapturedBody, ProbeResult, ty_of};
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
    fn area(&self, x: u64) -> u64 {
        x
    }

    fn write_device_before_trait_and_impl(_: &str) -> Option<CapturedBody> {
        let probe = || {
            Answers {
                params: &[],
                result: ty_of::<u64>,
                locals: vec![],
                callees: &[],
                types: &[],
                named: &[],
                patterns: &[],
            }
            .into_result(plain::definition(), &[])
        };
        Some((plain::definition(), probe))
    }
}

#[device]
impl Shape for u64 {
    fn area(&self, x: u64) -> u64 {
        x
    }
}

fn changed() -> ProbeResult {
    let (_, probe) = <u64 as Shape>::write_device_before_trait_and_impl("area").unwrap();
    let mut info = probe();
    info.result = ty_of::<&[u32]>();
    info
}

fn main() {
    changed();
}
