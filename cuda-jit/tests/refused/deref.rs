//! Types with a `Deref` impl.

use std::ops::Deref;

use cuda_jit::{DeviceType, Num, kernel};

#[derive(Clone, Copy, DeviceType)]
struct Inner {
    v: f32,
}

#[derive(Clone, Copy, DeviceType)]
struct Behind {
    inner: Inner,
}

impl Deref for Behind {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Borrows<'a> {
    inner: &'a [f32],
}

impl Deref for Borrows<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        self.inner
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Any<T> {
    value: T,
}

impl<T: Num> Deref for Any<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[kernel]
fn reads(x: f32, out: &mut [f32]) {
    let behind = Behind { inner: Inner { v: x } };
    out[0] = behind.v;
}

fn main() {}
