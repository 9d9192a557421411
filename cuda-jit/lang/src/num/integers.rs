//! Methods of integers. Values that need no check are computed before the selection, so that the selection is one
//! instruction.
//!
//! # Safety
//!
//! The only unsafe code is the `DeviceFn` implementations, which describe the operations here to the compiler.

use super::Integer;
use super::arithmetic::*;
use super::strict::strict_abs;
use crate::device;
use crate::kir::{BinaryOp, UnaryOp};
use crate::typeinfo::operation::operations;
use crate::typeinfo::{Callee, Operation, Returned};

/// An integer type as the device library uses it.
///
/// Sealed: it is for types with [`ScalarType`](crate::typeinfo::ScalarType) alone.
pub trait Int: Integer {
    /// The unsigned type of the same width.
    type Unsigned: Int;
    /// The type of the same width with the other signedness.
    type Counterpart: Int<Counterpart = Self>;
    /// The width.
    const BITS: u32;
    /// True of types with negative numbers.
    const IS_SIGNED: bool;
}

operations! {
    /// The wrapping sum.
    wrapping_add[T: Int](T, T) -> T => Operation::Binary(BinaryOp::Add);
    /// The wrapping difference.
    wrapping_sub[T: Int](T, T) -> T => Operation::Binary(BinaryOp::Sub);
    /// The wrapping product.
    wrapping_mul[T: Int](T, T) -> T => Operation::Binary(BinaryOp::Mul);
    /// The quotient, which must exist.
    quotient[T: Int](T, T) -> T => Operation::Binary(BinaryOp::Div);
    /// The remainder, which must exist.
    remainder[T: Int](T, T) -> T => Operation::Binary(BinaryOp::Rem);
    /// The smaller number.
    min[T: Integer](T, T) -> T => Operation::Binary(BinaryOp::Min);
    /// The larger number.
    max[T: Integer](T, T) -> T => Operation::Binary(BinaryOp::Max);
    /// The number shifted left by an amount modulo the width.
    wrapping_shl[T: Int](T, u32) -> T => Operation::Shift(BinaryOp::Shl);
    /// The number shifted right by an amount modulo the width.
    wrapping_shr[T: Int](T, u32) -> T => Operation::Shift(BinaryOp::Shr);
    /// The bits rotated to the left.
    rotate_left[T: Int](T, u32) -> T => Operation::Rotate { left: true };
    /// The bits rotated to the right.
    rotate_right[T: Int](T, u32) -> T => Operation::Rotate { left: false };
    /// Returns true if the sum does not fit.
    add_overflows[T: Int](T, T) -> bool => Operation::Overflows(BinaryOp::Add);
    /// Returns true if the difference does not fit.
    sub_overflows[T: Int](T, T) -> bool => Operation::Overflows(BinaryOp::Sub);
    /// Returns true if the product does not fit.
    mul_overflows[T: Int](T, T) -> bool => Operation::Overflows(BinaryOp::Mul);
    /// The number of ones.
    count_ones[T: Int](T) -> u32 => Operation::Count(UnaryOp::CountOnes);
    /// The number of leading zeros.
    leading_zeros[T: Int](T) -> u32 => Operation::Count(UnaryOp::LeadingZeros);
    /// The number of trailing zeros.
    trailing_zeros[T: Int](T) -> u32 => Operation::Count(UnaryOp::TrailingZeros);
    /// The bits in the opposite order.
    reverse_bits[T: Int](T) -> T => Operation::Unary(UnaryOp::ReverseBits);
    /// The bytes in the opposite order.
    swap_bytes[T: Int](T) -> T => Operation::SwapBytes;
    /// The absolute value.
    abs[T: Int](T) -> T => Operation::Abs;
    /// The wrapping absolute value.
    wrapping_abs[T: Int](T) -> T => Operation::Unary(UnaryOp::Abs);
    /// The number in `Some` if a condition is true; it is computed in either case.
    some_where[T: Int](bool, T) -> Option<T> => Operation::SomeWhere;
    /// The number of the unsigned type with the same bits.
    unsigned[T: Int](T) -> T::Unsigned => Operation::Bits;
}

/// The number of zeros.
#[device(library)]
pub fn count_zeros<T: Int>(x: T) -> u32 {
    count_ones(!x)
}

/// The number of leading ones.
#[device(library)]
pub fn leading_ones<T: Int>(x: T) -> u32 {
    leading_zeros(!x)
}

/// The number of trailing ones.
#[device(library)]
pub fn trailing_ones<T: Int>(x: T) -> u32 {
    trailing_zeros(!x)
}

/// The negated number, wrapping.
#[device(library)]
pub fn wrapping_neg<T: Int>(x: T) -> T {
    wrapping_sub(T::ZERO, x)
}

/// The power, by squaring.
#[device(library)]
#[track_caller]
pub fn pow<T: Int>(base: T, exponent: u32) -> T {
    let mut power = T::ONE;
    let mut square = base;
    let mut left = exponent;
    while left != 0 {
        if left & 1 == 1 {
            power *= square;
        }
        left >>= 1;
        // the last square is not needed, and may overflow although the power does not
        if left != 0 {
            square *= square;
        }
    }
    power
}

/// The wrapping power.
#[device(library)]
pub fn wrapping_pow<T: Int>(base: T, exponent: u32) -> T {
    let mut power = T::ONE;
    let mut square = base;
    let mut left = exponent;
    while left != 0 {
        if left & 1 == 1 {
            power = wrapping_mul(power, square);
        }
        left >>= 1;
        square = wrapping_mul(square, square);
    }
    power
}

/// The number clamped to a range.
#[device(library)]
#[track_caller]
pub fn clamp<T: Integer>(x: T, low: T, high: T) -> T {
    if low > high {
        panic!("the lower bound of `clamp` is greater than the upper bound");
    }
    min(max(x, low), high)
}

/// The distance of two numbers.
#[device(library)]
pub fn abs_diff<T: Int>(a: T, b: T) -> T::Unsigned {
    let (up, down) = (wrapping_sub(b, a), wrapping_sub(a, b));
    unsigned(if a < b { up } else { down })
}

/// The absolute value as an unsigned number.
#[device(library)]
pub fn unsigned_abs<T: Int>(x: T) -> T::Unsigned {
    unsigned(wrapping_abs(x))
}

/// Returns true for a number above 0.
#[device(library)]
pub fn is_positive<T: Int>(x: T) -> bool {
    x > T::ZERO
}

/// Returns true for a number below 0.
#[device(library)]
pub fn is_negative<T: Int>(x: T) -> bool {
    x < T::ZERO
}

/// The sign: -1, 0 or 1.
#[device(library)]
pub fn signum<T: Int>(x: T) -> T {
    if x > T::ZERO {
        T::ONE
    } else if x < T::ZERO {
        !T::ZERO
    } else {
        T::ZERO
    }
}

/// Returns true for a power of two.
#[device(library)]
pub fn is_power_of_two<T: Int>(x: T) -> bool {
    count_ones(x) == 1
}

/// The least power of two that is not smaller.
#[device(library)]
#[track_caller]
pub fn next_power_of_two<T: Int>(x: T) -> T {
    if x <= T::ONE {
        return T::ONE;
    }
    wrapping_shr(T::MAX, leading_zeros(wrapping_sub(x, T::ONE))) + T::ONE
}

/// The logarithm in base 2, rounded down.
#[device(library)]
#[track_caller]
pub fn ilog2<T: Int>(x: T) -> u32 {
    if x <= T::ZERO {
        panic!("argument of integer logarithm must be positive");
    }
    wrapping_sub(T::BITS - 1, leading_zeros(x))
}

/// The quotient, rounded up.
#[device(library)]
#[track_caller]
pub fn div_ceil<T: Int>(a: T, b: T) -> T {
    let whole = a / b;
    let more = wrapping_add(whole, T::ONE);
    if remainder(a, b) == T::ZERO { whole } else { more }
}

/// The quotient with a non-negative remainder.
#[device(library)]
#[track_caller]
pub fn div_euclid<T: Int>(a: T, b: T) -> T {
    let whole = a / b;
    let (down, up) = (wrapping_sub(whole, T::ONE), wrapping_add(whole, T::ONE));
    let moved = if b > T::ZERO { down } else { up };
    if remainder(a, b) < T::ZERO { moved } else { whole }
}

/// The non-negative remainder.
#[device(library)]
#[track_caller]
pub fn rem_euclid<T: Int>(a: T, b: T) -> T {
    let rest = a % b;
    let (down, up) = (wrapping_sub(rest, b), wrapping_add(rest, b));
    let moved = if b < T::ZERO { down } else { up };
    if rest < T::ZERO { moved } else { rest }
}

/// Returns true for the minimum divided by -1.
#[device(library)]
pub fn division_overflows<T: Int>(a: T, b: T) -> bool {
    T::IS_SIGNED & (b == !T::ZERO) & (a == T::MIN)
}

/// The wrapping quotient.
#[device(library)]
#[track_caller]
pub fn wrapping_div<T: Int>(a: T, b: T) -> T {
    if b == T::ZERO {
        panic!("division by zero");
    }
    // the minimum divided by -1 wraps to itself, as it does divided by 1
    quotient(a, if division_overflows(a, b) { T::ONE } else { b })
}

/// The wrapping remainder.
#[device(library)]
#[track_caller]
pub fn wrapping_rem<T: Int>(a: T, b: T) -> T {
    if b == T::ZERO {
        panic!("remainder by zero");
    }
    remainder(a, if division_overflows(a, b) { T::ONE } else { b })
}

/// The sum, if it fits.
#[device(library)]
pub fn checked_add<T: Int>(a: T, b: T) -> Option<T> {
    let exact = wrapping_add(a, b);
    some_where(!add_overflows(a, b), exact)
}

/// The difference, if it fits.
#[device(library)]
pub fn checked_sub<T: Int>(a: T, b: T) -> Option<T> {
    let exact = wrapping_sub(a, b);
    some_where(!sub_overflows(a, b), exact)
}

/// The product, if it fits.
#[device(library)]
pub fn checked_mul<T: Int>(a: T, b: T) -> Option<T> {
    let exact = wrapping_mul(a, b);
    some_where(!mul_overflows(a, b), exact)
}

/// The quotient, if there is one.
#[device(library)]
pub fn checked_div<T: Int>(a: T, b: T) -> Option<T> {
    let undefined = (b == T::ZERO) | division_overflows(a, b);
    let result = quotient(a, if undefined { T::ONE } else { b });
    some_where(!undefined, result)
}

/// The remainder, if there is one.
#[device(library)]
pub fn checked_rem<T: Int>(a: T, b: T) -> Option<T> {
    let undefined = (b == T::ZERO) | division_overflows(a, b);
    let result = remainder(a, if undefined { T::ONE } else { b });
    some_where(!undefined, result)
}

/// The negated number, if it fits.
#[device(library)]
pub fn checked_neg<T: Int>(x: T) -> Option<T> {
    checked_sub(T::ZERO, x)
}

/// The number shifted left by an amount less than the width.
#[device(library)]
pub fn checked_shl<T: Int>(x: T, amount: u32) -> Option<T> {
    let shifted = wrapping_shl(x, amount);
    some_where(amount < T::BITS, shifted)
}

/// The number shifted right by an amount less than the width.
#[device(library)]
pub fn checked_shr<T: Int>(x: T, amount: u32) -> Option<T> {
    let shifted = wrapping_shr(x, amount);
    some_where(amount < T::BITS, shifted)
}

/// The wrapping sum, and true if it overflows.
#[device(library)]
pub fn overflowing_add<T: Int>(a: T, b: T) -> (T, bool) {
    (wrapping_add(a, b), add_overflows(a, b))
}

/// The wrapping difference, and true if it overflows.
#[device(library)]
pub fn overflowing_sub<T: Int>(a: T, b: T) -> (T, bool) {
    (wrapping_sub(a, b), sub_overflows(a, b))
}

/// The wrapping product, and true if it overflows.
#[device(library)]
pub fn overflowing_mul<T: Int>(a: T, b: T) -> (T, bool) {
    (wrapping_mul(a, b), mul_overflows(a, b))
}

/// The negated number, wrapping, and true if it overflows.
#[device(library)]
pub fn overflowing_neg<T: Int>(x: T) -> (T, bool) {
    overflowing_sub(T::ZERO, x)
}

/// The sum, saturated at the limit that it exceeds.
#[device(library)]
pub fn saturating_add<T: Int>(a: T, b: T) -> T {
    let (exact, limit) = (wrapping_add(a, b), if a < T::ZERO { T::MIN } else { T::MAX });
    if add_overflows(a, b) { limit } else { exact }
}

/// The difference, saturated at the limit that it exceeds.
#[device(library)]
pub fn saturating_sub<T: Int>(a: T, b: T) -> T {
    let (exact, limit) = (wrapping_sub(a, b), if T::IS_SIGNED && a >= T::ZERO { T::MAX } else { T::MIN });
    if sub_overflows(a, b) { limit } else { exact }
}

/// The product, saturated at the limit that it exceeds.
#[device(library)]
pub fn saturating_mul<T: Int>(a: T, b: T) -> T {
    let (exact, limit) = (wrapping_mul(a, b), if (a < T::ZERO) != (b < T::ZERO) { T::MIN } else { T::MAX });
    if mul_overflows(a, b) { limit } else { exact }
}

/// The hidden methods of all integers.
///
/// Nothing unsafe relies on an implementation.
pub trait IntegerMethods: Int {
    cuda_jit_macros::device_methods! {
        fn abs_diff(self, other: Self) -> Self::Unsigned = abs_diff<Self>;
        fn checked_add(self, other: Self) -> Option<Self> = checked_add<Self>;
        fn checked_div(self, other: Self) -> Option<Self> = checked_div<Self>;
        fn checked_div_euclid(self, other: Self) -> Option<Self> = checked_div_euclid<Self>;
        fn checked_ilog(self, base: Self) -> Option<u32> = checked_ilog<Self>;
        fn checked_ilog10(self) -> Option<u32> = checked_ilog10<Self>;
        fn checked_ilog2(self) -> Option<u32> = checked_ilog2<Self>;
        fn checked_mul(self, other: Self) -> Option<Self> = checked_mul<Self>;
        fn checked_neg(self) -> Option<Self> = checked_neg<Self>;
        fn checked_pow(self, exponent: u32) -> Option<Self> = checked_pow<Self>;
        fn checked_rem(self, other: Self) -> Option<Self> = checked_rem<Self>;
        fn checked_rem_euclid(self, other: Self) -> Option<Self> = checked_rem_euclid<Self>;
        fn checked_shl(self, amount: u32) -> Option<Self> = checked_shl<Self>;
        fn checked_shr(self, amount: u32) -> Option<Self> = checked_shr<Self>;
        fn checked_sub(self, other: Self) -> Option<Self> = checked_sub<Self>;
        fn count_ones(self) -> u32 = count_ones<Self>;
        fn count_zeros(self) -> u32 = count_zeros<Self>;
        fn div_euclid(self, other: Self) -> Self = div_euclid<Self>;
        fn ilog(self, base: Self) -> u32 = ilog<Self>;
        fn ilog10(self) -> u32 = ilog10<Self>;
        fn ilog2(self) -> u32 = ilog2<Self>;
        fn isqrt(self) -> Self = isqrt<Self>;
        fn leading_ones(self) -> u32 = leading_ones<Self>;
        fn leading_zeros(self) -> u32 = leading_zeros<Self>;
        fn midpoint(self, other: Self) -> Self = midpoint<Self>;
        fn overflowing_add(self, other: Self) -> (Self, bool) = overflowing_add<Self>;
        fn overflowing_div(self, other: Self) -> (Self, bool) = overflowing_div<Self>;
        fn overflowing_div_euclid(self, other: Self) -> (Self, bool) = overflowing_div_euclid<Self>;
        fn overflowing_mul(self, other: Self) -> (Self, bool) = overflowing_mul<Self>;
        fn overflowing_neg(self) -> (Self, bool) = overflowing_neg<Self>;
        fn overflowing_pow(self, exponent: u32) -> (Self, bool) = overflowing_pow<Self>;
        fn overflowing_rem(self, other: Self) -> (Self, bool) = overflowing_rem<Self>;
        fn overflowing_rem_euclid(self, other: Self) -> (Self, bool) = overflowing_rem_euclid<Self>;
        fn overflowing_shl(self, amount: u32) -> (Self, bool) = overflowing_shl<Self>;
        fn overflowing_shr(self, amount: u32) -> (Self, bool) = overflowing_shr<Self>;
        fn overflowing_sub(self, other: Self) -> (Self, bool) = overflowing_sub<Self>;
        fn pow(self, exponent: u32) -> Self = pow<Self>;
        fn rem_euclid(self, other: Self) -> Self = rem_euclid<Self>;
        fn reverse_bits(self) -> Self = reverse_bits<Self>;
        fn rotate_left(self, amount: u32) -> Self = rotate_left<Self>;
        fn rotate_right(self, amount: u32) -> Self = rotate_right<Self>;
        fn saturating_add(self, other: Self) -> Self = saturating_add<Self>;
        fn saturating_div(self, other: Self) -> Self = saturating_div<Self>;
        fn saturating_mul(self, other: Self) -> Self = saturating_mul<Self>;
        fn saturating_pow(self, exponent: u32) -> Self = saturating_pow<Self>;
        fn saturating_sub(self, other: Self) -> Self = saturating_sub<Self>;
        fn swap_bytes(self) -> Self = swap_bytes<Self>;
        fn trailing_ones(self) -> u32 = trailing_ones<Self>;
        fn trailing_zeros(self) -> u32 = trailing_zeros<Self>;
        fn unbounded_shl(self, amount: u32) -> Self = unbounded_shl<Self>;
        fn unbounded_shr(self, amount: u32) -> Self = unbounded_shr<Self>;
        fn unchecked_add(self, other: Self) -> Self = wrapping_add<Self>;
        fn unchecked_mul(self, other: Self) -> Self = wrapping_mul<Self>;
        fn unchecked_shl(self, amount: u32) -> Self = wrapping_shl<Self>;
        fn unchecked_shr(self, amount: u32) -> Self = wrapping_shr<Self>;
        fn unchecked_sub(self, other: Self) -> Self = wrapping_sub<Self>;
        fn wrapping_add(self, other: Self) -> Self = wrapping_add<Self>;
        fn wrapping_div(self, other: Self) -> Self = wrapping_div<Self>;
        fn wrapping_div_euclid(self, other: Self) -> Self = wrapping_div_euclid<Self>;
        fn wrapping_mul(self, other: Self) -> Self = wrapping_mul<Self>;
        fn wrapping_neg(self) -> Self = wrapping_neg<Self>;
        fn wrapping_pow(self, exponent: u32) -> Self = wrapping_pow<Self>;
        fn wrapping_rem(self, other: Self) -> Self = wrapping_rem<Self>;
        fn wrapping_rem_euclid(self, other: Self) -> Self = wrapping_rem_euclid<Self>;
        fn wrapping_shl(self, amount: u32) -> Self = wrapping_shl<Self>;
        fn wrapping_shr(self, amount: u32) -> Self = wrapping_shr<Self>;
        fn wrapping_sub(self, other: Self) -> Self = wrapping_sub<Self>;
    }
}

/// The hidden methods of signed integers.
///
/// Nothing unsafe relies on an implementation.
pub trait SignedMethods: Int {
    cuda_jit_macros::device_methods! {
        fn abs(self) -> Self = abs<Self>;
        fn checked_abs(self) -> Option<Self> = checked_abs<Self>;
        fn checked_isqrt(self) -> Option<Self> = checked_isqrt<Self>;
        fn is_negative(self) -> bool = is_negative<Self>;
        fn is_positive(self) -> bool = is_positive<Self>;
        fn overflowing_abs(self) -> (Self, bool) = overflowing_abs<Self>;
        fn saturating_abs(self) -> Self = saturating_abs<Self>;
        fn saturating_neg(self) -> Self = saturating_neg<Self>;
        fn signum(self) -> Self = signum<Self>;
        fn strict_abs(self) -> Self = strict_abs<Self>;
        fn unsigned_abs(self) -> Self::Unsigned = unsigned_abs<Self>;
        fn wrapping_abs(self) -> Self = wrapping_abs<Self>;
    }
}

/// The hidden methods of unsigned integers.
///
/// Nothing unsafe relies on an implementation.
pub trait UnsignedMethods: Int {
    cuda_jit_macros::device_methods! {
        fn checked_next_multiple_of(self, of: Self) -> Option<Self> = checked_next_multiple_of<Self>;
        fn checked_next_power_of_two(self) -> Option<Self> = checked_next_power_of_two<Self>;
        fn div_ceil(self, other: Self) -> Self = div_ceil<Self>;
        fn is_multiple_of(self, of: Self) -> bool = is_multiple_of<Self>;
        fn is_power_of_two(self) -> bool = is_power_of_two<Self>;
        fn next_multiple_of(self, of: Self) -> Self = next_multiple_of<Self>;
        fn next_power_of_two(self) -> Self = next_power_of_two<Self>;
    }
}

macro_rules! integers {
    ($($methods:ident $is_signed:literal: $($ty:ident $unsigned:ident $counterpart:ident)*;)*) => { $($(
        impl Int for $ty {
            type Unsigned = $unsigned;
            type Counterpart = $counterpart;
            const BITS: u32 = $ty::BITS;
            const IS_SIGNED: bool = $is_signed;
        }

        impl IntegerMethods for $ty {}
        impl $methods for $ty {}
    )*)* };
}

integers! {
    SignedMethods true: i8 u8 u8 i16 u16 u16 i32 u32 u32 i64 u64 u64 i128 u128 u128 isize usize usize;
    UnsignedMethods false: u8 u8 i8 u16 u16 i16 u32 u32 i32 u64 u64 i64 u128 u128 i128 usize usize isize;
}
