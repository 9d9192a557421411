//! The bounds of generic kernels: [`Num`], [`Integer`], [`Float`] and [`Vector`].
//!
//! Each method is the primitive's own; in a kernel, the compiler lowers the primitive's operation instead. No method here
//! may have a name that a primitive gets from another trait (`Ord::min`), which would be ambiguous wherever this one is
//! imported. Methods that `half`'s floats lack are computed in `f32` and rounded.
//!
//! # Safety
//!
//! The `unsafe` trait, [`Vector`], guarantees a layout; nothing here relies on it.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul, MulAssign,
    Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use half::{bf16, f16};

use super::FloatMethods;
use super::cast::Widest;
use crate::device;
use crate::typeinfo::{ElementType, ScalarType};

/// A number that kernels compute with: every integer, `f32`, `f64`, and the `half` crate's `f16` and `bf16`.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Num, device::grid, kernel};
///
/// #[kernel]
/// fn scale<T: Num>(x: &mut [T], factor: T) {
///     let i = grid::<1>();
///     if i < x.len() {
///         x[i] = x[i] * factor + T::ONE;
///     }
/// }
/// assert!(scale::<i64>::compile_ptx((7, 5))?.contains(".entry scale_i64"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// Sealed: it is for types with [`ScalarType`](crate::typeinfo::ScalarType) alone.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a number type of kernels")]
pub trait Num:
    ScalarType
    + cuda_mem_element::Element
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + RemAssign
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// The smallest finite value.
    const MIN: Self;
    /// The largest finite value.
    const MAX: Self;

    /// Converts the number to another type, as `as` does: integers wrap, floats become the nearest integer toward zero
    /// or, beyond its range, the type's limit, and NaN becomes 0. Integers become `f16` and `bf16` by way of `f32`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{Num, device::grid, kernel};
    ///
    /// #[kernel]
    /// fn ramp<T: Num>(out: &mut [T]) {
    ///     let i = grid::<1>();
    ///     if i < out.len() {
    ///         out[i] = i.cast::<T>() * T::cast_from(0.5);
    ///     }
    /// }
    ///
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut out = cuda_mem::from_slice(&context, &[0.0_f32; 3])?;
    /// ramp::launch((1, 32), &mut out)?;
    /// assert_eq!(out.copy_to_host()?.to_vec(), [0.0, 0.5, 1.0]);
    /// assert_eq!((300_i32.cast::<u8>(), (-1.5_f64).cast::<u32>()), (44, 0));
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    #[must_use]
    fn cast<U: Num>(self) -> U {
        U::from_widest(self.widest())
    }

    /// Converts a number of another type to this one, as [`cast`](Self::cast) does. A literal without a type is an `i32` or `f64`:
    /// `T::cast_from(0.5)`.
    #[must_use]
    fn cast_from<U: Num>(value: U) -> Self {
        value.cast()
    }

    #[doc(hidden)]
    fn widest(self) -> Widest;

    #[doc(hidden)]
    fn from_widest(number: Widest) -> Self;
}

/// An integer type.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Integer, device::grid, kernel};
///
/// #[kernel]
/// fn toggle<T: Integer>(x: &mut [T], bits: T) {
///     let i = grid::<1>();
///     if i < x.len() {
///         x[i] ^= bits;
///         x[i] <<= 1;
///     }
/// }
/// assert!(toggle::<u128>::compile_ptx((7, 5))?.contains(".entry toggle_u128"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// Sealed: it is for types with [`ScalarType`](crate::typeinfo::ScalarType) alone.
pub trait Integer:
    Num
    + Eq
    + Ord
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + BitAndAssign
    + BitOrAssign
    + BitXorAssign
    + ShlAssign<u32>
    + ShrAssign<u32>
{
}

/// `f32`, `f64`, or the `half` crate's `f16` or `bf16`.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Float, device::grid, f16, kernel};
///
/// #[kernel]
/// fn norms(x: &[f16], y: &[f16], out: &mut [f16]) {
///     let i = grid::<1>();
///     if i < out.len() {
///         out[i] = x[i].mul_add(x[i], y[i] * y[i]).sqrt();
///     }
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let halves = |values: [f32; 2]| cuda_mem::from_slice(&context, &values.map(f16::from_f32));
/// let mut out = halves([0.0; 2])?;
/// norms::launch((1, 32), &halves([3.0, 8.0])?, &halves([4.0, 15.0])?, &mut out)?;
/// assert_eq!(out.copy_to_host()?.to_vec(), [5.0, 17.0].map(f16::from_f32));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// Sealed: it is for types with [`ScalarType`](crate::typeinfo::ScalarType) alone.
pub trait Float: Num + Neg<Output = Self> + FloatMethods {
    /// The smaller of two; the other one if one is NaN.
    fn min(self, other: Self) -> Self;
    /// The larger of two; the other one if one is NaN.
    fn max(self, other: Self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Rounds toward negative infinity.
    fn floor(self) -> Self;
    /// Rounds toward positive infinity.
    fn ceil(self) -> Self;
    /// Rounds toward zero.
    fn trunc(self) -> Self;
    /// Rounds to the nearest integer, ties to even.
    fn round_ties_even(self) -> Self;
    /// One divided by this.
    fn recip(self) -> Self;
    /// The sine of an angle in radians.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    fn cos(self) -> Self;
    /// The tangent of an angle in radians.
    fn tan(self) -> Self;
    /// e to this power.
    fn exp(self) -> Self;
    /// 2 to this power.
    fn exp2(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The logarithm in base 2.
    fn log2(self) -> Self;
    /// The logarithm in base 10.
    fn log10(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The arc tangent, in radians.
    fn atan(self) -> Self;
    /// This to a power.
    fn powf(self, exponent: Self) -> Self;
    /// The angle of the point with this number as y, in radians.
    fn atan2(self, x: Self) -> Self;
    /// The length of the hypotenuse.
    fn hypot(self, other: Self) -> Self;
    /// This to an integer power.
    fn powi(self, exponent: i32) -> Self;
    /// Returns true for NaN.
    fn is_nan(self) -> bool;
}

macro_rules! nums {
    ($($form:ident $wide:ident: $($ty:ident)*;)*) => { $($(
        impl Num for $ty {
            const ZERO: Self = 0 as $ty;
            const ONE: Self = 1 as $ty;
            const MIN: Self = $ty::MIN;
            const MAX: Self = $ty::MAX;

            fn widest(self) -> Widest {
                Widest::$form(self as $wide)
            }

            fn from_widest(number: Widest) -> Self {
                match number {
                    Widest::Signed(number) => number as $ty,
                    Widest::Unsigned(number) => number as $ty,
                    Widest::Single(number) => number as $ty,
                    Widest::Double(number) => number as $ty,
                }
            }
        }
    )*)* };
}

nums! {
    Signed i128: i8 i16 i32 i64 i128 isize;
    Unsigned u128: u8 u16 u32 u64 u128 usize;
    Single f32: f32;
    Double f64: f64;
}

macro_rules! integers {
    ($($ty:ident)*) => { $( impl Integer for $ty {} )* };
}

integers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

/// Defines methods of [`Float`] for a type with a macro: those that `f16` and `bf16` compute as `f32`.
macro_rules! rounded_methods {
    ($define:ident! $ty:ident) => {
        $define! {
            $ty: sqrt() floor() ceil() trunc() round_ties_even() recip() sin() cos() tan() exp() exp2() ln() log2() log10()
            tanh() atan() powf(exponent) atan2(x) hypot(other)
        }
    };
}

/// Methods that call the type's own.
macro_rules! own {
    ($ty:ident: $($name:ident($($arg:ident)?))*) => { $(
        fn $name(self $(, $arg: Self)?) -> Self { $ty::$name(self $(, $arg)?) }
    )* };
}

/// Methods that call those of `f32`, and round the result.
macro_rules! of_single {
    ($ty:ident: $($name:ident($($arg:ident)?))*) => { $(
        fn $name(self $(, $arg: Self)?) -> Self { $ty::from_f32(self.to_f32().$name($($arg.to_f32())?)) }
    )* };
}

macro_rules! floats {
    ($($ty:ident)*) => { $(
        impl Float for $ty {
            rounded_methods! { own! $ty }
            own! { $ty: min(other) max(other) abs() }
            fn mul_add(self, a: Self, b: Self) -> Self { $ty::mul_add(self, a, b) }
            fn powi(self, exponent: i32) -> Self { $ty::powi(self, exponent) }
            fn is_nan(self) -> bool { $ty::is_nan(self) }
        }
    )* };
}

floats! { f32 f64 }

macro_rules! halves {
    ($($ty:ident)*) => { $(
        impl Num for $ty {
            const ZERO: Self = $ty::ZERO;
            const ONE: Self = $ty::ONE;
            const MIN: Self = $ty::MIN;
            const MAX: Self = $ty::MAX;

            fn widest(self) -> Widest {
                Widest::Single(self.to_f32())
            }

            fn from_widest(number: Widest) -> Self {
                match number {
                    Widest::Signed(number) => $ty::from_f32(number as f32),
                    Widest::Unsigned(number) => $ty::from_f32(number as f32),
                    Widest::Single(number) => $ty::from_f32(number),
                    Widest::Double(number) => $ty::from_f32(to_odd(number)),
                }
            }
        }

        impl Float for $ty {
            rounded_methods! { of_single! $ty }
            own! { $ty: min(other) max(other) }
            fn abs(self) -> Self { $ty::from_bits(self.to_bits() & 0x7fff) }
            fn mul_add(self, a: Self, b: Self) -> Self {
                $ty::from_f32(fused_to_odd(self.to_f32(), a.to_f32(), b.to_f32()))
            }
            fn powi(self, exponent: i32) -> Self { $ty::from_f32(self.to_f32().powi(exponent)) }
            fn is_nan(self) -> bool { $ty::is_nan(self) }
        }
    )* };
}

halves! { f16 bf16 }

/// `a * b + c` of values of 16-bit floats, rounded to odd: the one of the two adjacent `f32` whose last bit is set.
/// Rounding this to 16 bits is equivalent to rounding the exact result.
pub(crate) fn fused_to_odd(a: f32, b: f32, c: f32) -> f32 {
    let (product, addend) = (f64::from(a) * f64::from(b), f64::from(c)); // the product is exact
    let sum = product + addend;
    if !sum.is_finite() {
        return sum as f32;
    }
    let rest = sum - product;
    let lost = (product - (sum - rest)) + (addend - rest);
    if lost == 0.0 {
        return to_odd(sum);
    }
    // the sum's rounding error decides on which side the exact result lies
    let inward = (lost < 0.0) != sum.is_sign_negative();
    to_odd(f64::from_bits((sum.to_bits() - u64::from(inward)) | 1))
}

/// An `f64` rounded to odd: if it is no `f32`, the one of the two adjacent ones whose last bit is set.
#[device]
pub(crate) fn to_odd(exact: f64) -> f32 {
    let near = exact as f32;
    if near as f64 == exact {
        return near;
    }
    f32::from_bits((near.to_bits() - ((near as f64).abs() > exact.abs()) as u32) | 1)
}

/// A short vector, such as [`f32x4`](crate::f32x4).
///
/// # Examples
///
/// ```
/// use cuda_jit::{Vector, f32x4, u32x2};
///
/// /// The number of bytes of the numbers in a vector.
/// fn bytes<V: Vector>() -> usize {
///     V::COUNT * size_of::<V::Number>()
/// }
/// assert_eq!((bytes::<f32x4>(), bytes::<u32x2>()), (16, 8));
/// ```
///
/// # Safety
///
/// The type consists of `COUNT` consecutive values of type `Number`, without padding.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a vector", label = "vectors are `f32x4` and similar types")]
pub unsafe trait Vector: ElementType + cuda_mem_element::Element {
    /// The type of its numbers.
    type Number: ScalarType + cuda_mem_element::Element;
    /// The number of its elements.
    const COUNT: usize;
}
