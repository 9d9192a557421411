//! Patterns: how a typing probe asks rustc what a name or path in a pattern is.
//!
//! Each question is a closure, of which the probe keeps the type. A name that is bound is captured by the closure that
//! reads it, which then has a size; a constant is not, and the closure is run. A path in a pattern is read as a constant,
//! or applied by rustc to a value of each variant.
//!
//! # Safety
//!
//! A closure without a size captures nothing, so that there is a value of its type anywhere.

use std::marker::PhantomData;

use ndarray::{ErrorKind, ShapeError};

use super::{ConstValue, DeviceType, Key};

/// Ties observers to a name in a pattern and to the closure that reads it.
pub fn name<T, F: Fn() -> Option<ConstValue>>(_: *const T, _: &T, _: *const F, _: F) {}

/// Ties an observer to the closure that reads or applies a path in a pattern.
pub fn path<F: Fn() -> Option<ConstValue>>(_: *const F, _: F) {}

/// The answer to a question of a pattern, of its observer: a constant, or none for a name that is bound.
///
/// # Safety
///
/// All captures of the closure are by reference.
pub unsafe fn answer<F: Fn() -> Option<ConstValue>>(question: *const F) -> Option<ConstValue> {
    // SAFETY: the caller promises it.
    unsafe { super::run(question) }.flatten()
}

/// A value's type and the bits of the numbers in it.
pub fn value<T: DeviceType>(value: &T) -> Option<ConstValue> {
    let mut cells = Vec::new();
    value.__cells(&mut |cell| cells.push(cell));
    Some(ConstValue { ty: T::K::ty(), cells, held: None })
}

/// A path in a pattern, by its value.
#[derive(Debug)]
pub struct Path<'a, T>(pub &'a T);

/// A path in a pattern, by what it matches.
#[derive(Debug)]
pub struct Applied<T, F>(F, PhantomData<fn(&T)>);

/// A path in a pattern, by a closure that tells what it matches.
pub fn applied<T, F: Fn(&T) -> bool>(matches: F) -> Applied<T, F> {
    Applied(matches, PhantomData)
}

impl<T: DeviceType, F: Fn(&T) -> bool> Applied<T, F> {
    fn constant(&self) -> Option<ConstValue> {
        T::__variants().iter().find(|variant| (self.0)(variant)).and_then(value)
    }
}

/// The constant that a path of an `Option` or `Result` is. Nothing ties its type to what the pattern matches, so that rustc
/// is given one: it looks for this before [`Constant`].
///
/// Nothing unsafe relies on an implementation.
pub trait ConstantOption {
    /// The constant; none of what has fields.
    fn __cuda_jit_constant(self) -> Option<ConstValue>;
}

impl ConstantOption for Path<'_, Option<()>> {
    fn __cuda_jit_constant(self) -> Option<ConstValue> {
        value(self.0)
    }
}

impl<F: Fn(&Option<()>) -> bool> ConstantOption for Applied<Option<()>, F> {
    fn __cuda_jit_constant(self) -> Option<ConstValue> {
        self.constant()
    }
}

/// An `Err` is the `None` that stands for it on the device, and an `Ok` has fields.
impl<F: Fn(&Result<(), ShapeError>) -> bool> ConstantOption for Applied<Result<(), ShapeError>, F> {
    fn __cuda_jit_constant(self) -> Option<ConstValue> {
        let error = Err(ShapeError::from_kind(ErrorKind::OutOfBounds));
        if (self.0)(&error) { value(&None::<()>) } else { None }
    }
}

/// The constant that a path of any other type is.
///
/// Nothing unsafe relies on an implementation.
pub trait Constant {
    /// The constant; none of what has fields.
    fn __cuda_jit_constant(self) -> Option<ConstValue>;
}

impl<T: DeviceType> Constant for &Path<'_, T> {
    fn __cuda_jit_constant(self) -> Option<ConstValue> {
        value(self.0)
    }
}

impl<T: DeviceType, F: Fn(&T) -> bool> Constant for &Applied<T, F> {
    fn __cuda_jit_constant(self) -> Option<ConstValue> {
        self.constant()
    }
}

/// The path of a type that kernels do not know: the error is where the value comes from.
///
/// Nothing unsafe relies on an implementation.
pub trait NoConstant {
    /// Nothing.
    fn __cuda_jit_constant(self) -> Option<ConstValue>;
}

impl<T> NoConstant for &mut Path<'_, T> {
    fn __cuda_jit_constant(self) -> Option<ConstValue> {
        None
    }
}

impl<T, F: Fn(&T) -> bool> NoConstant for &mut Applied<T, F> {
    fn __cuda_jit_constant(self) -> Option<ConstValue> {
        None
    }
}
