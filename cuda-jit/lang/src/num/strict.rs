//! Methods of integers that panic on overflow, whether or not overflow checks are on.

use super::arithmetic::overflowing_pow;
use super::integers::{
    Int, add_overflows, div_euclid, division_overflows, mul_overflows, rem_euclid, sub_overflows, wrapping_abs,
    wrapping_add, wrapping_mul, wrapping_neg, wrapping_shl, wrapping_shr, wrapping_sub,
};
use crate::device;
use crate::typeinfo::{Callee, Returned};

macro_rules! strict {
    ($($name:ident($($arg:ident: $ty:ty),+), $overflows:expr, $message:literal, $result:expr;)*) => { $(
        /// The function of this name.
        #[device(library)]
        #[track_caller]
        pub fn $name<T: Int>($($arg: $ty),+) -> T {
            if $overflows {
                panic!($message);
            }
            $result
        }
    )* };
}

strict! {
    strict_abs(x: T), x == T::MIN, "attempt to negate with overflow", wrapping_abs(x);
    strict_add(a: T, b: T), add_overflows(a, b), "attempt to add with overflow", wrapping_add(a, b);
    strict_div(a: T, b: T), division_overflows(a, b), "attempt to divide with overflow", a / b;
    strict_div_euclid(a: T, b: T), division_overflows(a, b), "attempt to divide with overflow", div_euclid(a, b);
    strict_mul(a: T, b: T), mul_overflows(a, b), "attempt to multiply with overflow", wrapping_mul(a, b);
    strict_neg(x: T), sub_overflows(T::ZERO, x), "attempt to negate with overflow", wrapping_neg(x);
    strict_rem(a: T, b: T), division_overflows(a, b), "attempt to calculate the remainder with overflow", a % b;
    strict_rem_euclid(a: T, b: T), division_overflows(a, b), "attempt to calculate the remainder with overflow",
        rem_euclid(a, b);
    strict_shl(x: T, amount: u32), amount >= T::BITS, "attempt to shift left with overflow", wrapping_shl(x, amount);
    strict_shr(x: T, amount: u32), amount >= T::BITS, "attempt to shift right with overflow", wrapping_shr(x, amount);
    strict_sub(a: T, b: T), sub_overflows(a, b), "attempt to subtract with overflow", wrapping_sub(a, b);
}

/// The power.
#[device(library)]
#[track_caller]
pub fn strict_pow<T: Int>(base: T, exponent: u32) -> T {
    let (power, overflows) = overflowing_pow(base, exponent);
    if overflows {
        panic!("attempt to multiply with overflow");
    }
    power
}

/// The hidden strict methods of all integers.
///
/// Nothing unsafe relies on an implementation.
pub trait StrictMethods: Int {
    cuda_jit_macros::device_methods! {
        fn strict_add(self, other: Self) -> Self = strict_add<Self>;
        fn strict_div(self, other: Self) -> Self = strict_div<Self>;
        fn strict_div_euclid(self, other: Self) -> Self = strict_div_euclid<Self>;
        fn strict_mul(self, other: Self) -> Self = strict_mul<Self>;
        fn strict_neg(self) -> Self = strict_neg<Self>;
        fn strict_pow(self, exponent: u32) -> Self = strict_pow<Self>;
        fn strict_rem(self, other: Self) -> Self = strict_rem<Self>;
        fn strict_rem_euclid(self, other: Self) -> Self = strict_rem_euclid<Self>;
        fn strict_shl(self, amount: u32) -> Self = strict_shl<Self>;
        fn strict_shr(self, amount: u32) -> Self = strict_shr<Self>;
        fn strict_sub(self, other: Self) -> Self = strict_sub<Self>;
    }
}

impl<T: Int> StrictMethods for T {}
