//! What the host needs to compute with 16-bit floats as devices do, and `half` does not have; and how kernels call
//! `half`'s functions.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the types here.

use std::marker::PhantomData;

use half::{bf16, f16};

use crate::device;
use crate::harvest::{Body, DeviceFn, Instance, Intrinsic, Returned, ScalarType, Untied, type_arg};

/// What stands for a function that makes a `To` of a `From`.
#[derive(Debug)]
pub struct Converted<From, To>(PhantomData<(From, To)>);

// SAFETY: the instance is the function that this type stands beside, with these arguments and this result.
unsafe impl<From: ScalarType, To: ScalarType> DeviceFn for Converted<From, To> {
    type Args = Untied;
    type Output = Untied;

    fn instance() -> Instance {
        let generics = vec![type_arg::<To>()];
        Instance { body: Body::Intrinsic(Intrinsic::Number(From::SCALAR)), generics }
    }
}

/// The hidden functions of the functions that are called by the type's path.
///
/// Nothing unsafe relies on an implementation: the front end knows the methods of the types that it knows, and refuses
/// others.
pub trait HalfFunctions: Sized {
    /// `f16::from_f32`
    fn __call_from_f32(_: f32) -> Returned<Converted<f32, Self>, Self> {
        Returned::new()
    }

    /// `f16::from_f32_const`
    fn __call_from_f32_const(_: f32) -> Returned<Converted<f32, Self>, Self> {
        Returned::new()
    }

    /// `f16::from_f64`
    fn __call_from_f64(_: f64) -> Returned<Converted<f64, Self>, Self> {
        Returned::new()
    }

    /// `f16::from_f64_const`
    fn __call_from_f64_const(_: f64) -> Returned<Converted<f64, Self>, Self> {
        Returned::new()
    }
}

impl HalfFunctions for f16 {}
impl HalfFunctions for bf16 {}

/// `a * b + c` of values that 16-bit floats have, rounded to odd: of the two `f32` around the exact result the one whose
/// last bit is set. Rounding that to 16 bits is rounding the exact result.
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
    // what the sum lost is part of what lies beside it
    let inward = (lost < 0.0) != sum.is_sign_negative();
    to_odd(f64::from_bits((sum.to_bits() - u64::from(inward)) | 1))
}

/// An `f64` rounded to odd: where it is no `f32`, the one of the two around it whose last bit is set.
#[device]
pub(crate) fn to_odd(exact: f64) -> f32 {
    let near = exact as f32;
    if near as f64 == exact {
        return near;
    }
    f32::from_bits((near.to_bits() - ((near as f64).abs() > exact.abs()) as u32) | 1)
}
