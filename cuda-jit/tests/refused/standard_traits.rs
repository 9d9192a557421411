//! User traits with the names of the standard library's operator and iterator traits.

use cuda_jit::{DeviceType, device, kernel};

mod own {
    pub trait Add<R = Self> {
        type Output;
        fn add(self, right: R) -> Self::Output;
    }

    pub trait From<T> {
        fn from(value: T) -> Self;
    }

    pub trait Iterator {
        type Item;
        fn next(&mut self) -> Option<Self::Item>;
    }
}

#[derive(Clone, Copy, DeviceType)]
#[operators(Add)]
struct Length {
    metres: u32,
}

impl std::ops::Add for Length {
    type Output = Length;
    fn add(self, right: Length) -> Length {
        Length { metres: self.metres + right.metres }
    }
}

#[device]
impl own::Add for Length {
    type Output = Length;
    fn add(self, right: Self) -> Length {
        Length { metres: 100 * self.metres + right.metres }
    }
}

impl From<u32> for Length {
    fn from(metres: u32) -> Length {
        Length { metres }
    }
}

#[device]
impl own::From<u32> for Length {
    fn from(metres: u32) -> Length {
        Length { metres: 2 * metres }
    }
}

impl Iterator for Length {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        None
    }
}

#[device]
impl own::Iterator for Length {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        self.metres += 1;
        Some(self.metres)
    }
}

#[kernel]
fn lengths(out: &mut [u32]) {
    let sum = Length::from(1_u32) + Length::from(2_u32);
    out[0] = sum.metres;
}

fn main() {}
