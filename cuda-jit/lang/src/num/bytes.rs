//! Methods of numbers that name the order of their bytes. The device is little-endian.

use super::Num as _;
use super::floats::{Bits, of_bits, to_bits};
use super::integers::{Int, swap_bytes, wrapping_shl, wrapping_shr};
use crate::device;
use crate::typeinfo::{Callee, Returned};

/// The number as it is, since the device is little-endian.
#[device(library)]
pub fn little_endian<T: Int>(x: T) -> T {
    x
}

/// The bytes, the least significant first.
#[device(library, unchecked)]
pub fn to_le_bytes<T: Int, const N: usize>(x: T) -> [u8; N] {
    let mut bytes = [0u8; N];
    let mut rest = x;
    for k in 0..N {
        bytes[k] = rest.cast::<u8>();
        rest = wrapping_shr(rest, 8);
    }
    bytes
}

/// The bytes, the most significant first.
#[device(library)]
pub fn to_be_bytes<T: Int, const N: usize>(x: T) -> [u8; N] {
    to_le_bytes::<T, N>(swap_bytes(x))
}

/// The number with these bytes, the least significant first.
#[device(library, unchecked)]
pub fn from_le_bytes<T: Int, const N: usize>(bytes: [u8; N]) -> T {
    let mut x = T::ZERO;
    for k in 0..N {
        x |= wrapping_shl(bytes[k].cast::<T>(), 8 * k as u32);
    }
    x
}

/// The number with these bytes, the most significant first.
#[device(library)]
pub fn from_be_bytes<T: Int, const N: usize>(bytes: [u8; N]) -> T {
    swap_bytes(from_le_bytes::<T, N>(bytes))
}

/// The bytes of a float, the least significant first.
#[device(library)]
pub fn float_to_le_bytes<T: Bits, const N: usize>(x: T) -> [u8; N] {
    to_le_bytes::<T::Bits, N>(to_bits(x))
}

/// The bytes of a float, the most significant first.
#[device(library)]
pub fn float_to_be_bytes<T: Bits, const N: usize>(x: T) -> [u8; N] {
    to_be_bytes::<T::Bits, N>(to_bits(x))
}

/// The float with these bytes, the least significant first.
#[device(library)]
pub fn float_from_le_bytes<T: Bits, const N: usize>(bytes: [u8; N]) -> T {
    of_bits(from_le_bytes::<T::Bits, N>(bytes))
}

/// The float with these bytes, the most significant first.
#[device(library)]
pub fn float_from_be_bytes<T: Bits, const N: usize>(bytes: [u8; N]) -> T {
    of_bits(from_be_bytes::<T::Bits, N>(bytes))
}

/// The hidden methods of integers of `N` bytes.
///
/// Nothing unsafe relies on an implementation.
pub trait IntegerBytes<const N: usize>: Int {
    cuda_jit_macros::device_methods! {
        fn to_be(self) -> Self = swap_bytes<Self>;
        fn to_le(self) -> Self = little_endian<Self>;
        fn from_be(x: Self) -> Self = swap_bytes<Self>;
        fn from_le(x: Self) -> Self = little_endian<Self>;
        fn to_be_bytes(self) -> [u8; N] = to_be_bytes<Self, N>;
        fn to_le_bytes(self) -> [u8; N] = to_le_bytes<Self, N>;
        fn to_ne_bytes(self) -> [u8; N] = to_le_bytes<Self, N>;
        fn from_be_bytes(bytes: [u8; N]) -> Self = from_be_bytes<Self, N>;
        fn from_le_bytes(bytes: [u8; N]) -> Self = from_le_bytes<Self, N>;
        fn from_ne_bytes(bytes: [u8; N]) -> Self = from_le_bytes<Self, N>;
    }
}

/// The hidden methods of floats of `N` bytes.
///
/// Nothing unsafe relies on an implementation.
pub trait FloatBytes<const N: usize>: Bits {
    cuda_jit_macros::device_methods! {
        fn to_be_bytes(self) -> [u8; N] = float_to_be_bytes<Self, N>;
        fn to_le_bytes(self) -> [u8; N] = float_to_le_bytes<Self, N>;
        fn to_ne_bytes(self) -> [u8; N] = float_to_le_bytes<Self, N>;
        fn from_be_bytes(bytes: [u8; N]) -> Self = float_from_be_bytes<Self, N>;
        fn from_le_bytes(bytes: [u8; N]) -> Self = float_from_le_bytes<Self, N>;
        fn from_ne_bytes(bytes: [u8; N]) -> Self = float_from_le_bytes<Self, N>;
    }
}

macro_rules! bytes {
    ($($methods:ident: $($ty:ty)*;)*) => { $($( impl $methods<{ size_of::<$ty>() }> for $ty {} )*)* };
}

bytes! {
    IntegerBytes: i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize;
    FloatBytes: f32 f64 half::f16 half::bf16;
}
