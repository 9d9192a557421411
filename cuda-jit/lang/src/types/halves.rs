//! The hidden counterparts of `half`'s functions, which kernels call.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

use std::marker::PhantomData;

use half::{bf16, f16};

use crate::typeinfo::{Body, DeviceFn, Instance, Intrinsic, Returned, ScalarType, Unconstrained, type_arg};

/// The callee of a function that converts a `From` to a `To`.
#[derive(Debug)]
pub struct Converted<From, To>(PhantomData<(From, To)>);

// SAFETY: the instance is the conversion from `From` to `To`, as by `as`.
unsafe impl<From: ScalarType, To: ScalarType> DeviceFn for Converted<From, To> {
    type Args = Unconstrained;
    type Output = Unconstrained;

    fn instance() -> Instance {
        let generics = vec![type_arg::<To>()];
        Instance { body: Body::Intrinsic(Intrinsic::Number(From::SCALAR)), generics }
    }
}

/// The hidden counterparts of the functions that are called by the type's path.
///
/// Nothing unsafe relies on an implementation: the front end checks the types of the arguments, and refuses types that it
/// does not know.
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
