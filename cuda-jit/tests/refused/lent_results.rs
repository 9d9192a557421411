//! Closures whose bound names a lifetime of the function that takes them.

use cuda_jit::device;

#[device]
fn at<'a, F: Fn(usize) -> &'a u32>(f: F, k: usize) -> u32 {
    *f(k)
}

#[device]
fn on<'a, F>(f: F, k: &'a u32) -> u32
where
    F: Fn(&'a u32) -> u32,
{
    f(k)
}

fn main() {}
