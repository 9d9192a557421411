//! Methods of floats.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the operations here.

use half::{bf16, f16};

use crate::harvest::operation::operations;
use crate::harvest::{Callee, Operation, Returned};
use crate::kir::UnaryOp;
use crate::num::Float;

operations! {
    /// `floor`
    floor[T: Float](T) -> T => Operation::Unary(UnaryOp::Floor);
    /// `ceil`
    ceil[T: Float](T) -> T => Operation::Unary(UnaryOp::Ceil);
    /// `trunc`
    trunc[T: Float](T) -> T => Operation::Unary(UnaryOp::Trunc);
    /// `round_ties_even`
    round_ties_even[T: Float](T) -> T => Operation::Unary(UnaryOp::RoundTiesEven);
}

/// The hidden methods of floats.
///
/// Nothing unsafe relies on an implementation.
pub trait FloatMethods: Sized {
    cuda_jit_macros::device_methods! {
        fn floor(self) -> Self = floor<Self>;
        fn ceil(self) -> Self = ceil<Self>;
        fn trunc(self) -> Self = trunc<Self>;
        fn round_ties_even(self) -> Self = round_ties_even<Self>;
    }
}

impl FloatMethods for f32 {}
impl FloatMethods for f64 {}
impl FloatMethods for f16 {}
impl FloatMethods for bf16 {}
