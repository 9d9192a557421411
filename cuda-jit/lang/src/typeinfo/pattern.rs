//! Patterns: resolves the names and paths in them by rustc.
//!
//! Each query is a closure, whose type the probe keeps. A closure that reads a binding captures it, and thus has a size;
//! one that reads a constant does not, and is called. A path in a pattern is read as a constant, or matched by rustc
//! against a value of each variant.
//!
//! Nothing relates the type arguments of an enum to the matched value. If its path leaves them open, rustc uses those of
//! its [`Representative`], which has the same variants.
//!
//! # Safety
//!
//! A closure without a size captures nothing, so that a dangling pointer points to a value of its type.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use super::{ConstValue, DeviceType, Key, Resolved};

/// Unifies witnesses with a name in a pattern and with the closure that reads it.
pub fn name<T, R: Answer, F: Fn() -> R>(_: *const T, _: &T, _: *const F, _: F) {}

/// Unifies a witness with the closure that reads or applies a path in a pattern.
pub fn path<R: Answer, F: Fn() -> R>(_: *const F, _: F) {}

/// Unifies a witness with the closure that applies a path to values of the same type as another one.
pub fn like<T, F: Fn() -> VariantOf<T>>(_: &T, _: *const F, _: F) {}

/// The answer to a query, by its witness; `None` for a name that is a binding.
///
/// # Safety
///
/// All captures of the closure are by reference.
pub unsafe fn answer<F: Query>(query: *const F) -> Option<Resolved> {
    // SAFETY: the caller guarantees that all captures are by reference, which is the contract of `Query::answer`.
    unsafe { F::answer(query) }
}

/// A closure that returns an answer. Nothing unsafe relies on an implementation.
pub trait Query {
    /// The answer.
    ///
    /// # Safety
    ///
    /// All captures of the closure are by reference.
    unsafe fn answer(query: *const Self) -> Option<Resolved>;
}

impl<R: Answer, F: Fn() -> R> Query for F {
    unsafe fn answer(_: *const F) -> Option<Resolved> {
        // A constant, so that rustc compiles no closure that is not called: most names are bindings.
        if const { size_of::<F>() != 0 } {
            return None;
        }
        // SAFETY: the closure has no size, and the caller guarantees that all captures are by reference.
        unsafe { super::run::<R, F>() }.resolved()
    }
}

/// The answer to a query about a path, by its witness.
///
/// # Safety
///
/// All captures of the closure are by reference.
pub unsafe fn path_answer<F: Query>(query: *const F) -> Option<Resolved> {
    const { item::<F>() };
    // SAFETY: the caller guarantees that all captures are by reference, which is the contract of `Query::answer`.
    unsafe { F::answer(query) }
}

/// Refuses a variable in a pattern that the macro took for a path, and that the query's closure captures.
///
/// # Panics
///
/// If it captures something. In a constant, this is a compile error.
pub const fn item<F>() {
    assert!(
        size_of::<F>() == 0,
        "a variable in the case of types, such as `Value`, stands in a pattern that may not match, where kernels take it for a \
         variant: write it in lower case"
    );
}

/// The resolution of a name or path. Nothing unsafe relies on an implementation.
pub trait Answer {
    /// The item that rustc resolved it to, if it is known.
    fn resolved(self) -> Option<Resolved>;
}

impl Answer for Option<Resolved> {
    fn resolved(self) -> Option<Resolved> {
        self
    }
}

impl<T> Answer for VariantOf<T> {
    fn resolved(self) -> Option<Resolved> {
        self.0
    }
}

impl<T, P: Fn(&T) -> bool> Applied<T, P> {
    /// The variant that the path matches among values of each; otherwise the variant without a value, if there is only one.
    fn among(&self, values: Vec<Option<T>>) -> Option<Resolved> {
        #[expect(clippy::manual_map, reason = "rustc would compile one more function for each path")]
        let matches = |index| match &values[index] {
            Some(value) => Some((self.0)(value)),
            None => None,
        };
        let found = matched(values.len(), &matches);
        // their types may be the user's, whose destructors must not run
        std::mem::forget(values);
        found
    }
}

/// The first value that `matches` returns true for; otherwise the only one that it has no answer for. It is compiled once, and
/// not for each path.
fn matched(count: usize, matches: &dyn Fn(usize) -> Option<bool>) -> Option<Resolved> {
    let answers: Vec<Option<bool>> = (0..count).map(matches).collect();
    let mut open = (0..count).filter(|index| answers[*index].is_none());
    let only = open.next().filter(|_| open.next().is_none());
    answers.iter().position(|answer| *answer == Some(true)).or(only).map(Resolved::Variant)
}

/// A value's type and the bits of the numbers in it.
pub fn value<T: DeviceType>(value: &T) -> Option<Resolved> {
    let mut cells = Vec::new();
    value.__cells(&mut |cell| cells.push(cell));
    Some(Resolved::Constant(ConstValue { ty: T::K::ty(), cells, host_constant: None }))
}

/// A path in a pattern, by its value.
#[derive(Debug)]
pub struct Path<'a, T>(pub &'a T);

/// A path in a pattern, by the values that it matches.
#[derive(Debug)]
pub struct Applied<T, F>(F, PhantomData<fn(&T)>);

/// A path in a pattern, by a closure that tests if it matches a value.
pub fn applied<T, F: Fn(&T) -> bool>(matches: F) -> Applied<T, F> {
    Applied(matches, PhantomData)
}

/// The variant that a path of a type `T` resolves to.
#[derive(Debug)]
pub struct VariantOf<T>(Option<Resolved>, PhantomData<fn(&T)>);

/// The answer for a path of a device type. Nothing unsafe relies on an implementation.
pub trait OfDevice<T> {
    /// The answer.
    fn __cuda_jit_variant(self) -> VariantOf<T>;
}

impl<T: DeviceType, F: Fn(&T) -> bool> OfDevice<T> for Applied<T, F> {
    fn __cuda_jit_variant(self) -> VariantOf<T> {
        VariantOf(self.among(T::__variants()), PhantomData)
    }
}

/// The answer for a path of a type that is no device type, or of the type beside a device function: there is none.
///
/// Nothing unsafe relies on an implementation.
pub trait OfOther<T> {
    /// The answer.
    fn __cuda_jit_variant(self) -> VariantOf<T>;
}

impl<T, F> OfOther<T> for &Applied<T, F> {
    fn __cuda_jit_variant(self) -> VariantOf<T> {
        VariantOf(None, PhantomData)
    }
}

/// Implemented by each type for itself, so that rustc infers the argument of a representative from it.
///
/// Nothing unsafe relies on an implementation: there is one.
pub trait Represents<T: ?Sized> {}

impl<T: ?Sized> Represents<T> for T {}

/// The instance of a generic type that represents all others if its arguments are open. `#[derive(DeviceType)]` implements
/// it.
///
/// Nothing unsafe relies on an implementation: all instances have the same variants.
pub trait Representative: Sized {
    /// A value of each variant in order; `None` for one that cannot be constructed.
    #[doc(hidden)]
    fn __values() -> Vec<Option<Self>> {
        vec![None]
    }

    /// The number of the variant, if it has no fields.
    #[doc(hidden)]
    fn __unit(&self) -> Option<usize> {
        None
    }
}

impl Representative for Option<()> {
    fn __values() -> Vec<Option<Self>> {
        vec![Some(None), Some(Some(()))]
    }

    fn __unit(&self) -> Option<usize> {
        if self.is_none() { Some(0) } else { None }
    }
}

impl Representative for Result<(), ()> {
    fn __values() -> Vec<Option<Self>> {
        vec![Some(Ok(())), Some(Err(()))]
    }
}

impl Representative for ControlFlow<(), ()> {
    fn __values() -> Vec<Option<Self>> {
        vec![Some(ControlFlow::Continue(())), Some(ControlFlow::Break(()))]
    }
}

impl Representative for num_complex::Complex<()> {}

/// The query about a path whose type arguments may be open; rustc looks for this before [`OfKnown`].
///
/// Nothing unsafe relies on an implementation.
pub trait OfRepresentative {
    /// The answer.
    fn __cuda_jit_resolved(self) -> Option<Resolved>;
}

impl<T: Representative> OfRepresentative for Path<'_, T> {
    fn __cuda_jit_resolved(self) -> Option<Resolved> {
        self.0.__unit().map(Resolved::Variant)
    }
}

impl<T: Representative, F: Fn(&T) -> bool> OfRepresentative for Applied<T, F> {
    fn __cuda_jit_resolved(self) -> Option<Resolved> {
        self.among(T::__values())
    }
}

/// The query about a path of any other device type.
///
/// Nothing unsafe relies on an implementation.
pub trait OfKnown<T> {
    /// The answer.
    fn __cuda_jit_resolved(self) -> Option<Resolved>;
}

impl<T: DeviceType> OfKnown<T> for &Path<'_, T> {
    fn __cuda_jit_resolved(self) -> Option<Resolved> {
        value(self.0)
    }
}

impl<T: DeviceType, F: Fn(&T) -> bool> OfKnown<T> for &Applied<T, F> {
    fn __cuda_jit_resolved(self) -> Option<Resolved> {
        applied::<T, _>(&self.0).among(T::__variants())
    }
}

/// The query about a path of a type that is no device type: the error is reported for the matched value.
///
/// Nothing unsafe relies on an implementation.
pub trait OfUnknown<T> {
    /// None.
    fn __cuda_jit_resolved(self) -> Option<Resolved>;
}

impl<T> OfUnknown<T> for &mut Path<'_, T> {
    fn __cuda_jit_resolved(self) -> Option<Resolved> {
        None
    }
}

impl<T, F> OfUnknown<T> for &mut Applied<T, F> {
    fn __cuda_jit_resolved(self) -> Option<Resolved> {
        None
    }
}
