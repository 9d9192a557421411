//! Bounds by the standard library's traits, for types that have these on the host alone.

use cuda_jit::{DeviceType, Num, ValueType, device, kernel};

#[derive(Clone, Copy, Default, PartialEq, PartialOrd, DeviceType)]
#[repr(C)]
struct OnHost {
    a: f32,
}

impl From<u8> for OnHost {
    fn from(a: u8) -> Self {
        OnHost { a: a as f32 }
    }
}

impl From<OnHost> for f32 {
    fn from(of: OnHost) -> Self {
        of.a
    }
}

#[device]
fn made<T: ValueType + Default>() -> T {
    T::default()
}

#[device]
fn from<T: ValueType + From<u8>>(x: u8) -> T {
    T::from(x)
}

#[device]
fn into<T: ValueType + Into<f32>>(x: T) -> f32 {
    x.into()
}

#[kernel]
fn of_host_only(out: &mut [f32]) {
    out[0] = made::<OnHost>().a;
    out[0] = from::<OnHost>(1).a;
    out[0] = into(OnHost { a: 1.0 });
}

#[device]
fn unbound<T: Num>(a: T) -> T {
    T::default() + T::from(1u8)
}

#[device]
trait Makes: Default {
    fn make(&self) -> Self {
        Self::default()
    }
}

mod own {
    pub trait Ord {
        fn max(self, other: Self) -> Self;
    }
    impl Ord for u32 {
        fn max(self, other: Self) -> Self {
            self + other
        }
    }
}

#[kernel]
fn not_the_standard_library(out: &mut [u32]) {
    out[0] = own::Ord::max(out[1], out[2]);
}

fn main() {}
