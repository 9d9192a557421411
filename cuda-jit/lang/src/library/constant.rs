//! `Constant`.
//!
//! # Safety
//!
//! There is no unsafe code but the promise that the compiler is told the truth about the operation here.

use crate::typeinfo::operation::operations;
use crate::typeinfo::{Callee, DeviceType, Operation, Returned};

operations! {
    /// `get`
    get[T: DeviceType]() -> T => Operation::HeldValue;
}

/// The hidden methods of constants.
///
/// Nothing unsafe relies on an implementation.
pub trait ConstantMethods<T> {
    cuda_jit_macros::device_methods! {
        fn get(&self) -> T = get<T>;
    }
}
