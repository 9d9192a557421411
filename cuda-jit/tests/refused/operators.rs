//! Operators that a struct or enum implements but does not list, so that kernels would not find them.

use std::ops::{Add, Mul};

use cuda_jit::{DeviceType, Num, device};

#[derive(Clone, Copy, DeviceType)]
#[operators(Add)]
struct Listed(f32);

#[device]
impl Add for Listed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Listed(self.0 + other.0)
    }
}

#[device]
impl Mul<f32> for Listed {
    type Output = Self;

    fn mul(self, by: f32) -> Self {
        Listed(self.0 * by)
    }
}

#[device]
impl Mul<Listed> for f32 {
    type Output = Listed;

    fn mul(self, other: Listed) -> Listed {
        Listed(self * other.0)
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Any<T>(T);

#[device]
impl<T: Num> Add for Any<T> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Any(self.0 + other.0)
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
#[operators(Add)]
enum Way {
    Up,
    Down,
}

fn main() {}
