//! The types and constants that a typing probe reports.

use super::{ConstValue, DeviceType, Key, Ty};

/// The types that these functions report.
pub fn report(types: &[fn() -> Ty]) -> Vec<Ty> {
    types.iter().map(|ty| ty()).collect()
}

/// Unifies a witness with the closure that returns a constant of the same type as a value: a variant without fields may
/// belong to an enum whose generic arguments its path leaves open.
pub fn constant_like<T, F: Fn() -> TypedConstant<T>>(_: &T, _: *const F, _: F) {}

/// A constant as a value.
#[derive(Debug)]
pub struct TypedConstant<T>(pub T);

/// The constant that a path names. Nothing unsafe relies on an implementation.
pub trait ToConstant {
    /// The constant.
    fn into_constant(self) -> ConstValue;
}

impl ToConstant for ConstValue {
    fn into_constant(self) -> ConstValue {
        self
    }
}

impl<T: DeviceType> ToConstant for TypedConstant<T> {
    fn into_constant(self) -> ConstValue {
        let mut cells = Vec::new();
        self.0.__cells(&mut |cell| cells.push(cell));
        ConstValue { ty: T::K::ty(), cells, host_constant: None }
    }
}
