//! Hidden functions by which kernels call `half`'s.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the types here.

use std::marker::PhantomData;

use half::{bf16, f16};

use crate::typeinfo::{Body, DeviceFn, Instance, Intrinsic, Returned, ScalarType, Untied, type_arg};

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
