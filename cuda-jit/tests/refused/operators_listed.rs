//! Mistakes in a list of operators: each is one error, also where kernels use the type.

use std::ops::Mul;

use cuda_jit::{DeviceType, device, kernel};

#[derive(Clone, Copy, DeviceType)]
#[operators(Mul)]
struct OnHost(f32);

impl Mul for OnHost {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        OnHost(self.0 * other.0)
    }
}

#[derive(Clone, Copy, DeviceType)]
#[operators(Mull)]
struct Misspelt {
    value: f32,
}

#[device]
impl Mul for Misspelt {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Misspelt { value: self.value * other.value }
    }
}

#[device]
impl Misspelt {
    fn new(value: f32) -> Self {
        Misspelt { value }
    }
}

#[derive(Clone, Copy, PartialEq, DeviceType)]
#[operators(Add)]
#[repr(u8)]
enum Way {
    Up,
    Down,
}

#[kernel]
fn uses(way: Way, out: &mut [f32]) {
    let (host, value) = (OnHost(out[0]), Misspelt { value: 1.0 });
    let product = value * Misspelt::new(2.0);
    out[0] = host.0 + product.value;
    out[1] = match way {
        Way::Up => 1.0,
        Way::Down => 2.0,
    };
    if way == Way::Up {
        out[2] = OnHost(1.0).0;
    }
}

fn main() {}
