//! `Constant`.
//!
//! # Safety
//!
//! The only unsafe code is the `DeviceFn` implementation, which describes the operation here to the compiler.

use crate::typeinfo::operation::operations;
use crate::typeinfo::{Callee, DeviceType, Operation, Returned};

operations! {
    /// `get`
    get[T: DeviceType]() -> T => Operation::HostConstantValue;
}

/// The hidden methods of constants.
///
/// Nothing unsafe relies on an implementation.
pub trait ConstantMethods<T> {
    cuda_jit_macros::device_methods! {
        fn get(&self) -> T = get<T>;
    }
}
