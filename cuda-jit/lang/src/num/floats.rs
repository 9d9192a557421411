//! Methods of floats.
//!
//! # Safety
//!
//! The only unsafe code is the `DeviceFn` implementations, which describe the operations here to the compiler.

use std::cmp::Ordering;
use std::num::FpCategory;

use half::{bf16, f16};

use super::integers::{Int, wrapping_add};
use super::{Float, Num};
use crate::device;
use crate::kir::{BinaryOp, UnaryOp};
use crate::typeinfo::operation::operations;
use crate::typeinfo::{Callee, Math, Operation, Returned};

/// A float type as the device library uses it.
///
/// Sealed: it is for types with [`ScalarType`](crate::typeinfo::ScalarType) alone.
pub trait Bits: Float {
    /// The unsigned integer of the same width.
    type Bits: Int;
    /// The signed integer of the same width.
    type Signed: Int;
    /// Infinity.
    const INFINITE: Self;
    /// The least positive normal number.
    const LEAST_NORMAL: Self;
}

operations! {
    /// The absolute value.
    abs[T: Float](T) -> T => Operation::Abs;
    /// The square root.
    sqrt[T: Float](T) -> T => Operation::Unary(UnaryOp::Sqrt);
    /// The number rounded toward negative infinity.
    floor[T: Float](T) -> T => Operation::Unary(UnaryOp::Floor);
    /// The number rounded toward positive infinity.
    ceil[T: Float](T) -> T => Operation::Unary(UnaryOp::Ceil);
    /// The number rounded toward zero.
    trunc[T: Float](T) -> T => Operation::Unary(UnaryOp::Trunc);
    /// The number rounded to the nearest integer, ties to even.
    round_ties_even[T: Float](T) -> T => Operation::Unary(UnaryOp::RoundTiesEven);
    /// The smaller number; the other one if one is NaN.
    min[T: Float](T, T) -> T => Operation::Binary(BinaryOp::Min);
    /// The larger number; the other one if one is NaN.
    max[T: Float](T, T) -> T => Operation::Binary(BinaryOp::Max);
    /// The number with the sign of another.
    copysign[T: Float](T, T) -> T => Operation::Binary(BinaryOp::CopySign);
    /// The product of two numbers plus a third, rounded once.
    mul_add[T: Float](T, T, T) -> T => Operation::Fma;
    /// The bits.
    to_bits[T: Bits](T) -> T::Bits => Operation::Bits;
    /// The number with these bits.
    of_bits[T: Bits](T::Bits) -> T => Operation::Bits;
    /// The bits as a signed number.
    signed_bits[T: Bits](T) -> T::Signed => Operation::Bits;
    /// The number with these bits, given as a signed number.
    of_signed_bits[T: Bits](T::Signed) -> T => Operation::Bits;
    /// The number as `f32`.
    to_f32[T: Float](T) -> f32 => Operation::Cast;
    /// The number as `f64`.
    to_f64[T: Float](T) -> f64 => Operation::Cast;
    /// `acos`
    acos[T: Float](T) -> T => Operation::Math(Math::Acos);
    /// `acosh`
    acosh[T: Float](T) -> T => Operation::Math(Math::Acosh);
    /// `asin`
    asin[T: Float](T) -> T => Operation::Math(Math::Asin);
    /// `asinh`
    asinh[T: Float](T) -> T => Operation::Math(Math::Asinh);
    /// `atan`
    atan[T: Float](T) -> T => Operation::Math(Math::Atan);
    /// `atan2`
    atan2[T: Float](T, T) -> T => Operation::Math(Math::Atan2);
    /// `atanh`
    atanh[T: Float](T) -> T => Operation::Math(Math::Atanh);
    /// `cbrt`
    cbrt[T: Float](T) -> T => Operation::Math(Math::Cbrt);
    /// `cos`
    cos[T: Float](T) -> T => Operation::Math(Math::Cos);
    /// `cosh`
    cosh[T: Float](T) -> T => Operation::Math(Math::Cosh);
    /// `div_euclid`
    div_euclid[T: Float](T, T) -> T => Operation::Math(Math::DivEuclid);
    /// `exp`
    exp[T: Float](T) -> T => Operation::Math(Math::Exp);
    /// `exp2`
    exp2[T: Float](T) -> T => Operation::Math(Math::Exp2);
    /// `exp_m1`
    exp_m1[T: Float](T) -> T => Operation::Math(Math::ExpM1);
    /// `hypot`
    hypot[T: Float](T, T) -> T => Operation::Math(Math::Hypot);
    /// `ln`
    ln[T: Float](T) -> T => Operation::Math(Math::Ln);
    /// `ln_1p`
    ln_1p[T: Float](T) -> T => Operation::Math(Math::Ln1p);
    /// `log10`
    log10[T: Float](T) -> T => Operation::Math(Math::Log10);
    /// `log2`
    log2[T: Float](T) -> T => Operation::Math(Math::Log2);
    /// `powf`
    powf[T: Float](T, T) -> T => Operation::Math(Math::Powf);
    /// `powi`
    powi[T: Float](T, i32) -> T => Operation::Math(Math::Powi);
    /// `rem_euclid`
    rem_euclid[T: Float](T, T) -> T => Operation::Math(Math::RemEuclid);
    /// `round`
    round[T: Float](T) -> T => Operation::Math(Math::Round);
    /// `sin`
    sin[T: Float](T) -> T => Operation::Math(Math::Sin);
    /// `sinh`
    sinh[T: Float](T) -> T => Operation::Math(Math::Sinh);
    /// `tan`
    tan[T: Float](T) -> T => Operation::Math(Math::Tan);
    /// `tanh`
    tanh[T: Float](T) -> T => Operation::Math(Math::Tanh);
    /// `to_degrees`
    to_degrees[T: Float](T) -> T => Operation::Math(Math::ToDegrees);
    /// `to_radians`
    to_radians[T: Float](T) -> T => Operation::Math(Math::ToRadians);
}

/// The fractional part.
#[device(library)]
pub fn fract<T: Float>(x: T) -> T {
    x - trunc(x)
}

/// One divided by the number.
#[device(library)]
pub fn recip<T: Float>(x: T) -> T {
    T::ONE / x
}

/// 1 with the sign of the number; NaN for NaN.
#[device(library)]
pub fn signum<T: Float>(x: T) -> T {
    if x != x { x } else { copysign(T::ONE, x) }
}

/// The number clamped to a range.
#[device(library)]
#[track_caller]
pub fn clamp<T: Float>(x: T, low: T, high: T) -> T {
    if !(low <= high) {
        panic!("the lower bound of `clamp` is greater than the upper bound");
    }
    let raised = if x < low { low } else { x };
    if raised > high { high } else { raised }
}

/// Sine and cosine.
#[device(library)]
pub fn sin_cos<T: Float>(x: T) -> (T, T) {
    (sin(x), cos(x))
}

/// The logarithm in a base.
#[device(library)]
pub fn log<T: Float>(x: T, base: T) -> T {
    ln(x) / ln(base)
}

/// The mean, which is right also where the sum would overflow.
#[device(library)]
pub fn midpoint<T: Bits>(a: T, b: T) -> T {
    let half = T::ONE / (T::ONE + T::ONE);
    let largest = T::MAX * half;
    if (abs(a) <= largest) & (abs(b) <= largest) { (a + b) * half } else { a * half + b * half }
}

/// Returns true for NaN.
#[device(library)]
pub fn is_nan<T: Float>(x: T) -> bool {
    x != x
}

/// Returns true for numbers that are neither infinite nor NaN.
#[device(library)]
pub fn is_finite<T: Bits>(x: T) -> bool {
    abs(x) < T::INFINITE
}

/// Returns true for an infinity.
#[device(library)]
pub fn is_infinite<T: Bits>(x: T) -> bool {
    abs(x) == T::INFINITE
}

/// Returns true for numbers that are neither zero, subnormal, infinite nor NaN.
#[device(library)]
pub fn is_normal<T: Bits>(x: T) -> bool {
    is_finite(x) & (abs(x) >= T::LEAST_NORMAL)
}

/// Returns true for subnormal numbers.
#[device(library)]
pub fn is_subnormal<T: Bits>(x: T) -> bool {
    let bits = signed_bits(x) & T::Signed::MAX;
    (bits != T::Signed::ZERO) & (bits < signed_bits(T::LEAST_NORMAL))
}

/// The least number that is greater; NaN and infinity as they are.
#[device(library)]
pub fn next_up<T: Bits>(x: T) -> T {
    let bits = signed_bits(x);
    if is_nan(x) | (x == T::INFINITE) {
        x
    } else if x == T::ZERO {
        of_signed_bits(T::Signed::ONE)
    } else {
        of_signed_bits(wrapping_add(bits, if bits < T::Signed::ZERO { !T::Signed::ZERO } else { T::Signed::ONE }))
    }
}

/// The greatest number that is less; NaN and negative infinity as they are.
#[device(library)]
pub fn next_down<T: Bits>(x: T) -> T {
    of_signed_bits(signed_bits(next_up(of_signed_bits::<T>(signed_bits(x) ^ T::Signed::MIN))) ^ T::Signed::MIN)
}

/// Returns true if the sign bit is set.
#[device(library)]
pub fn is_sign_negative<T: Bits>(x: T) -> bool {
    signed_bits(x) < T::Signed::ZERO
}

/// Returns true if the sign bit is not set.
#[device(library)]
pub fn is_sign_positive<T: Bits>(x: T) -> bool {
    signed_bits(x) >= T::Signed::ZERO
}

/// The category of the number.
#[device(library)]
pub fn classify<T: Bits>(x: T) -> FpCategory {
    if is_normal(x) {
        FpCategory::Normal
    } else if is_nan(x) {
        FpCategory::Nan
    } else if is_infinite(x) {
        FpCategory::Infinite
    } else if is_subnormal(x) {
        FpCategory::Subnormal
    } else {
        FpCategory::Zero
    }
}

/// The bits as a signed integer with the total order of floats: if the sign is set, the other bits are inverted.
#[device(library)]
pub fn ordered_bits<T: Bits>(x: T) -> T::Signed {
    let bits = signed_bits(x);
    if bits < T::Signed::ZERO { bits ^ T::Signed::MAX } else { bits }
}

/// The total order of all floats, NaN included.
#[device(library)]
pub fn total_cmp<T: Bits>(a: &T, b: &T) -> Ordering {
    ordered_bits(*a).cmp(&ordered_bits(*b))
}

/// The hidden methods of floats.
///
/// Nothing unsafe relies on an implementation.
pub trait FloatMethods: Sized {
    cuda_jit_macros::device_methods! {
        fn abs(self) -> Self = abs<Self>;
        fn acos(self) -> Self = acos<Self>;
        fn acosh(self) -> Self = acosh<Self>;
        fn asin(self) -> Self = asin<Self>;
        fn asinh(self) -> Self = asinh<Self>;
        fn atan(self) -> Self = atan<Self>;
        fn atan2(self, x: Self) -> Self = atan2<Self>;
        fn atanh(self) -> Self = atanh<Self>;
        fn cbrt(self) -> Self = cbrt<Self>;
        fn ceil(self) -> Self = ceil<Self>;
        fn clamp(self, low: Self, high: Self) -> Self = clamp<Self>;
        fn copysign(self, sign: Self) -> Self = copysign<Self>;
        fn cos(self) -> Self = cos<Self>;
        fn cosh(self) -> Self = cosh<Self>;
        fn div_euclid(self, other: Self) -> Self = div_euclid<Self>;
        fn exp(self) -> Self = exp<Self>;
        fn exp2(self) -> Self = exp2<Self>;
        fn exp_m1(self) -> Self = exp_m1<Self>;
        fn floor(self) -> Self = floor<Self>;
        fn fract(self) -> Self = fract<Self>;
        fn hypot(self, other: Self) -> Self = hypot<Self>;
        fn is_finite(self) -> bool = is_finite<Self>;
        fn is_infinite(self) -> bool = is_infinite<Self>;
        fn is_nan(self) -> bool = is_nan<Self>;
        fn is_sign_negative(self) -> bool = is_sign_negative<Self>;
        fn is_sign_positive(self) -> bool = is_sign_positive<Self>;
        fn ln(self) -> Self = ln<Self>;
        fn ln_1p(self) -> Self = ln_1p<Self>;
        fn log(self, base: Self) -> Self = log<Self>;
        fn log10(self) -> Self = log10<Self>;
        fn log2(self) -> Self = log2<Self>;
        fn max(self, other: Self) -> Self = max<Self>;
        fn min(self, other: Self) -> Self = min<Self>;
        fn mul_add(self, a: Self, b: Self) -> Self = mul_add<Self>;
        fn powf(self, exponent: Self) -> Self = powf<Self>;
        fn powi(self, exponent: i32) -> Self = powi<Self>;
        fn recip(self) -> Self = recip<Self>;
        fn rem_euclid(self, other: Self) -> Self = rem_euclid<Self>;
        fn round(self) -> Self = round<Self>;
        fn round_ties_even(self) -> Self = round_ties_even<Self>;
        fn signum(self) -> Self = signum<Self>;
        fn sin(self) -> Self = sin<Self>;
        fn sin_cos(self) -> (Self, Self) = sin_cos<Self>;
        fn sinh(self) -> Self = sinh<Self>;
        fn sqrt(self) -> Self = sqrt<Self>;
        fn tan(self) -> Self = tan<Self>;
        fn tanh(self) -> Self = tanh<Self>;
        fn to_degrees(self) -> Self = to_degrees<Self>;
        fn to_radians(self) -> Self = to_radians<Self>;
        fn total_cmp(&self, other: &Self) -> Ordering = total_cmp<Self>;
        fn trunc(self) -> Self = trunc<Self>;
    }
}

/// The hidden methods of floats that look at their bits.
///
/// Nothing unsafe relies on an implementation.
pub trait FloatConversions: Bits {
    cuda_jit_macros::device_methods! {
        fn from_bits(bits: Self::Bits) -> Self = of_bits<Self>;
        fn classify(self) -> FpCategory = classify<Self>;
        fn is_normal(self) -> bool = is_normal<Self>;
        fn is_subnormal(self) -> bool = is_subnormal<Self>;
        fn midpoint(self, other: Self) -> Self = midpoint<Self>;
        fn next_down(self) -> Self = next_down<Self>;
        fn next_up(self) -> Self = next_up<Self>;
        fn to_bits(self) -> Self::Bits = to_bits<Self>;
    }
}

/// The hidden methods of 16-bit floats.
///
/// Nothing unsafe relies on an implementation.
pub trait HalfMethods: Float {
    cuda_jit_macros::device_methods! {
        fn to_f32(self) -> f32 = to_f32<Self>;
        fn to_f32_const(self) -> f32 = to_f32<Self>;
        fn to_f64(self) -> f64 = to_f64<Self>;
        fn to_f64_const(self) -> f64 = to_f64<Self>;
    }
}

macro_rules! floats {
    ($($ty:ident $bits:ident $signed:ident;)*) => { $(
        impl FloatMethods for $ty {}
        impl FloatConversions for $ty {}

        impl Bits for $ty {
            type Bits = $bits;
            type Signed = $signed;
            const INFINITE: Self = $ty::INFINITY;
            const LEAST_NORMAL: Self = $ty::MIN_POSITIVE;
        }
    )* };
}

floats! { f32 u32 i32; f64 u64 i64; f16 u16 i16; bf16 u16 i16; }

impl HalfMethods for f16 {}
impl HalfMethods for bf16 {}
