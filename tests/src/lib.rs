//! A library of device functions, which kernels of `tests/` call as those of another crate.

use cuda_jit::{DeviceType, Float, device};

// Here, and not in cuda-jit-macros: its own tests would build every package below cuda-jit for a second time, with the features
// that procedural macros have.
#[cfg(doctest)]
#[doc = include_str!("../../cuda-jit/macros/README.md")]
struct ReadmeOfTheMacros;

/// A line `slope * x + offset`.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[operators(Add)]
#[repr(C)]
pub struct Line<T> {
    /// Its slope.
    pub slope: T,
    /// Its value at 0.
    pub offset: T,
}

#[device]
impl<T: Float> Line<T> {
    /// A line through 0.
    pub fn through_zero(slope: T) -> Self {
        Self { slope, offset: T::ZERO }
    }

    /// Its value.
    pub fn at(&self, x: T) -> T {
        axpy(self.slope, x, self.offset)
    }
}

#[device]
impl<T: Float> std::ops::Add for Line<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Line { slope: self.slope + other.slope, offset: self.offset + other.offset }
    }
}

/// `a * x + y`
#[device]
pub fn axpy<T: Float>(a: T, x: T, y: T) -> T {
    a * x + y
}

/// A function that can be sampled.
#[device]
pub trait Curve {
    /// Its value.
    fn sample(&self, x: f32) -> f32;

    /// Its mean at two points.
    fn mean(&self, a: f32, b: f32) -> f32 {
        (self.sample(a) + self.sample(b)) * 0.5
    }
}

#[device]
impl Curve for Line<f32> {
    fn sample(&self, x: f32) -> f32 {
        self.at(x)
    }
}

/// Applies a function `times` times.
#[device]
pub fn repeated<F: Fn(f32) -> f32>(times: u32, start: f32, f: F) -> f32 {
    let mut v = start;
    for _ in 0..times {
        v = f(v);
    }
    v
}
