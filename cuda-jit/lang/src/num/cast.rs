//! The conversion of a number of any type to any other, for generic kernels: `x.cast::<T>()` and `T::cast_from(x)`.
//!
//! # Safety
//!
//! There is no unsafe code but the promise that the compiler is told the truth about the operation here.

use super::Num;
use crate::typeinfo::operation::operations;
use crate::typeinfo::{Callee, Operation, Returned};

operations! {
    /// The number converted, as by `as`.
    cast[T: Num, U: Num](T) -> U => Operation::Cast;
}

/// A number of any type, without loss: how the host converts.
#[derive(Clone, Copy, Debug)]
pub enum Widest {
    /// Of signed integers.
    Signed(i128),
    /// Of unsigned integers.
    Unsigned(u128),
    /// Of floats of up to 32 bits.
    Single(f32),
    /// Of `f64`.
    Double(f64),
}

/// The hidden methods of the conversion.
///
/// Nothing unsafe relies on an implementation.
pub trait CastNumber: Sized {
    cuda_jit_macros::device_methods! {
        fn cast<U>(self) -> U = cast<Self, U>;
        fn cast_from<U>(value: U) -> Self = cast<U, Self>;
    }
}

impl<T: Num> CastNumber for T {}
