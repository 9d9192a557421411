//! Methods of integers that mix signed with unsigned numbers, and those that take or return a carry.

use super::Num as _;
use super::integers::{
    Int, add_overflows, leading_zeros, overflowing_add, some_where, sub_overflows, wrapping_add, wrapping_mul,
    wrapping_shr, wrapping_sub,
};
use crate::device;
use crate::typeinfo::operation::operations;
use crate::typeinfo::{Callee, Operation, Returned};

operations! {
    /// The number of the same width with the other signedness, and the same bits.
    reinterpret[T: Int](T) -> T::Counterpart => Operation::Bits;
}

/// Returns true if the top bit is set.
#[device(library)]
fn has_top_bit<T: Int>(x: T) -> bool {
    leading_zeros(x) == 0
}

/// Returns true if the sum does not fit.
#[device(library)]
fn mixed_add_overflows<T: Int>(a: T, b: T::Counterpart) -> bool {
    add_overflows(a, reinterpret(b)) != has_top_bit(b)
}

/// Returns true if the difference does not fit.
#[device(library)]
fn mixed_sub_overflows<T: Int>(a: T, b: T::Counterpart) -> bool {
    sub_overflows(a, reinterpret(b)) != has_top_bit(b)
}

/// The wrapping sum.
#[device(library)]
pub fn mixed_wrapping_add<T: Int>(a: T, b: T::Counterpart) -> T {
    wrapping_add(a, reinterpret(b))
}

/// The wrapping difference.
#[device(library)]
pub fn mixed_wrapping_sub<T: Int>(a: T, b: T::Counterpart) -> T {
    wrapping_sub(a, reinterpret(b))
}

/// The sum, if it fits.
#[device(library)]
pub fn mixed_checked_add<T: Int>(a: T, b: T::Counterpart) -> Option<T> {
    let exact = mixed_wrapping_add(a, b);
    some_where(!mixed_add_overflows(a, b), exact)
}

/// The difference, if it fits.
#[device(library)]
pub fn mixed_checked_sub<T: Int>(a: T, b: T::Counterpart) -> Option<T> {
    let exact = mixed_wrapping_sub(a, b);
    some_where(!mixed_sub_overflows(a, b), exact)
}

/// The wrapping sum, and true if it overflows.
#[device(library)]
pub fn mixed_overflowing_add<T: Int>(a: T, b: T::Counterpart) -> (T, bool) {
    (mixed_wrapping_add(a, b), mixed_add_overflows(a, b))
}

/// The wrapping difference, and true if it overflows.
#[device(library)]
pub fn mixed_overflowing_sub<T: Int>(a: T, b: T::Counterpart) -> (T, bool) {
    (mixed_wrapping_sub(a, b), mixed_sub_overflows(a, b))
}

/// The sum, saturated at the limit that it exceeds: below only if the second number is negative.
#[device(library)]
pub fn mixed_saturating_add<T: Int>(a: T, b: T::Counterpart) -> T {
    let (exact, limit) = (mixed_wrapping_add(a, b), if !T::IS_SIGNED & has_top_bit(b) { T::MIN } else { T::MAX });
    if mixed_add_overflows(a, b) { limit } else { exact }
}

/// The difference, saturated at the limit that it exceeds: above only if the second number is negative.
#[device(library)]
pub fn mixed_saturating_sub<T: Int>(a: T, b: T::Counterpart) -> T {
    let (exact, limit) = (mixed_wrapping_sub(a, b), if !T::IS_SIGNED & has_top_bit(b) { T::MAX } else { T::MIN });
    if mixed_sub_overflows(a, b) { limit } else { exact }
}

/// The difference of two unsigned numbers as a signed number, if it fits.
#[device(library)]
pub fn checked_signed_diff<T: Int>(a: T, b: T) -> Option<T::Counterpart> {
    let exact = wrapping_sub(a, b);
    some_where((a >= b) != has_top_bit(exact), reinterpret(exact))
}

/// The sum with a carry, and the carry out.
#[device(library)]
pub fn carrying_add<T: Int>(a: T, b: T, carry: bool) -> (T, bool) {
    let (low, one) = (wrapping_add(a, b), if carry { T::ONE } else { T::ZERO });
    (wrapping_add(low, one), add_overflows(a, b) | add_overflows(low, one))
}

/// The difference with a borrow, and the borrow out.
#[device(library)]
pub fn borrowing_sub<T: Int>(a: T, b: T, borrow: bool) -> (T, bool) {
    let (low, one) = (wrapping_sub(a, b), if borrow { T::ONE } else { T::ZERO });
    (wrapping_sub(low, one), sub_overflows(a, b) | sub_overflows(low, one))
}

/// The low and the high half of the product of two unsigned numbers plus two others, which always fits.
#[device(library)]
pub fn carrying_mul_add<T: Product>(a: T, b: T, carry: T, add: T) -> (T, T) {
    let product = wrapping_mul(a.cast::<T::Wide>(), b.cast::<T::Wide>());
    let all = wrapping_add(wrapping_add(product, carry.cast::<T::Wide>()), add.cast::<T::Wide>());
    (all.cast::<T>(), wrapping_shr(all, T::BITS).cast::<T>())
}

/// The low and the high half of the product of two unsigned numbers plus another one.
#[device(library)]
pub fn carrying_mul<T: Product>(a: T, b: T, carry: T) -> (T, T) {
    carrying_mul_add(a, b, carry, T::ZERO)
}

/// The low and the high half of the product of two `u128` plus two others, by the products of their halves.
#[device(library)]
pub fn widest_carrying_mul_add(a: u128, b: u128, carry: u128, add: u128) -> (u128, u128) {
    let mask = u64::MAX as u128;
    let (a_low, a_high, b_low, b_high) = (a & mask, a >> 64, b & mask, b >> 64);
    // each of these fits: (2^64 - 1)^2 + 2 * (2^64 - 1) = 2^128 - 1
    let low = wrapping_mul(a_low, b_low);
    let middle = wrapping_add(wrapping_mul(a_low, b_high), low >> 64);
    let upper = wrapping_add(wrapping_mul(a_high, b_low), middle & mask);
    let high = wrapping_add(wrapping_add(wrapping_mul(a_high, b_high), middle >> 64), upper >> 64);
    let (sum, first) = overflowing_add(upper << 64 | low & mask, carry);
    let (sum, second) = overflowing_add(sum, add);
    (sum, wrapping_add(high, first as u128 + second as u128))
}

/// The low and the high half of the product of two `u128` plus another one.
#[device(library)]
pub fn widest_carrying_mul(a: u128, b: u128, carry: u128) -> (u128, u128) {
    widest_carrying_mul_add(a, b, carry, 0)
}

/// An unsigned type whose products fit into another type.
///
/// Sealed: it is for types with [`ScalarType`](crate::typeinfo::ScalarType) alone.
pub trait Product: Int {
    /// The unsigned type of twice the width.
    type Wide: Int;
}

/// The hidden methods of unsigned numbers that take signed ones, or a carry.
///
/// Nothing unsafe relies on an implementation.
pub trait UnsignedMixed: Int {
    cuda_jit_macros::device_methods! {
        fn borrowing_sub(self, other: Self, borrow: bool) -> (Self, bool) = borrowing_sub<Self>;
        fn carrying_add(self, other: Self, carry: bool) -> (Self, bool) = carrying_add<Self>;
        fn cast_signed(self) -> Self::Counterpart = reinterpret<Self>;
        fn checked_add_signed(self, other: Self::Counterpart) -> Option<Self> = mixed_checked_add<Self>;
        fn checked_signed_diff(self, other: Self) -> Option<Self::Counterpart> = checked_signed_diff<Self>;
        fn checked_sub_signed(self, other: Self::Counterpart) -> Option<Self> = mixed_checked_sub<Self>;
        fn overflowing_add_signed(self, other: Self::Counterpart) -> (Self, bool) = mixed_overflowing_add<Self>;
        fn overflowing_sub_signed(self, other: Self::Counterpart) -> (Self, bool) = mixed_overflowing_sub<Self>;
        fn saturating_add_signed(self, other: Self::Counterpart) -> Self = mixed_saturating_add<Self>;
        fn saturating_sub_signed(self, other: Self::Counterpart) -> Self = mixed_saturating_sub<Self>;
        fn wrapping_add_signed(self, other: Self::Counterpart) -> Self = mixed_wrapping_add<Self>;
        fn wrapping_sub_signed(self, other: Self::Counterpart) -> Self = mixed_wrapping_sub<Self>;
    }
}

/// The hidden methods of signed numbers that take unsigned ones.
///
/// Nothing unsafe relies on an implementation.
pub trait SignedMixed: Int {
    cuda_jit_macros::device_methods! {
        fn cast_unsigned(self) -> Self::Counterpart = reinterpret<Self>;
        fn checked_add_unsigned(self, other: Self::Counterpart) -> Option<Self> = mixed_checked_add<Self>;
        fn checked_sub_unsigned(self, other: Self::Counterpart) -> Option<Self> = mixed_checked_sub<Self>;
        fn overflowing_add_unsigned(self, other: Self::Counterpart) -> (Self, bool) = mixed_overflowing_add<Self>;
        fn overflowing_sub_unsigned(self, other: Self::Counterpart) -> (Self, bool) = mixed_overflowing_sub<Self>;
        fn saturating_add_unsigned(self, other: Self::Counterpart) -> Self = mixed_saturating_add<Self>;
        fn saturating_sub_unsigned(self, other: Self::Counterpart) -> Self = mixed_saturating_sub<Self>;
        fn wrapping_add_unsigned(self, other: Self::Counterpart) -> Self = mixed_wrapping_add<Self>;
        fn wrapping_sub_unsigned(self, other: Self::Counterpart) -> Self = mixed_wrapping_sub<Self>;
    }
}

/// The hidden methods of unsigned numbers whose products fit into another type.
///
/// Nothing unsafe relies on an implementation.
pub trait ProductMethods: Product {
    cuda_jit_macros::device_methods! {
        fn carrying_mul(self, other: Self, carry: Self) -> (Self, Self) = carrying_mul<Self>;
        fn carrying_mul_add(self, other: Self, carry: Self, add: Self) -> (Self, Self) = carrying_mul_add<Self>;
    }
}

/// The hidden methods of `u128`, whose products fit into no type.
///
/// Nothing unsafe relies on an implementation.
pub trait WidestProductMethods: Int {
    cuda_jit_macros::device_methods! {
        fn carrying_mul(self, other: Self, carry: Self) -> (Self, Self) = widest_carrying_mul;
        fn carrying_mul_add(self, other: Self, carry: Self, add: Self) -> (Self, Self) = widest_carrying_mul_add;
    }
}

macro_rules! mixed {
    ($($methods:ident: $($ty:ident)*;)*) => { $($( impl $methods for $ty {} )*)* };
}

mixed! {
    UnsignedMixed: u8 u16 u32 u64 u128 usize;
    SignedMixed: i8 i16 i32 i64 i128 isize;
    WidestProductMethods: u128;
    ProductMethods: u8 u16 u32 u64 usize;
}

macro_rules! products {
    ($($ty:ident $wide:ident;)*) => { $( impl Product for $ty { type Wide = $wide; } )* };
}

products! { u8 u16; u16 u32; u32 u64; u64 u128; usize u128; }
