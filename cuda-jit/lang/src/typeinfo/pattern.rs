//! Patterns: how a typing probe asks rustc what a name or path in a pattern is.
//!
//! Each question is a closure, of which the probe keeps the type. A name that is bound is captured by the closure that
//! reads it, which then has a size; a constant is not, and the closure is run. A path in a pattern is read as a constant,
//! or applied by rustc to a value of each variant.
//!
//! Nothing ties the type arguments of an enum to what the pattern matches. Where its path leaves them open, rustc is given those of
//! its [`Representative`], whose variants are the same.
//!
//! # Safety
//!
//! A closure without a size captures nothing, so that there is a value of its type anywhere.

use std::marker::PhantomData;

use super::{ConstValue, DeviceType, Key, Resolved};

/// Ties witnesses to a name in a pattern and to the closure that reads it.
pub fn name<T, R: Answer, F: Fn() -> R>(_: *const T, _: &T, _: *const F, _: F) {}

/// Ties a witness to the closure that reads or applies a path in a pattern.
pub fn path<R: Answer, F: Fn() -> R>(_: *const F, _: F) {}

/// Ties a witness to the closure that applies a path to values of the same type as another one.
pub fn like<T, F: Fn() -> Valued<T>>(_: &T, _: *const F, _: F) {}

/// The answer to a question, of its witness; none of a name that is bound.
///
/// # Safety
///
/// All captures of the closure are by reference.
pub unsafe fn answer<F: Question>(question: *const F) -> Option<Resolved> {
    // SAFETY: the caller promises it.
    unsafe { F::answer(question) }
}

/// A closure that tells an answer. Nothing unsafe relies on an implementation.
pub trait Question {
    /// The answer.
    ///
    /// # Safety
    ///
    /// All captures of the closure are by reference.
    unsafe fn answer(question: *const Self) -> Option<Resolved>;
}

impl<R: Answer, F: Fn() -> R> Question for F {
    unsafe fn answer(question: *const F) -> Option<Resolved> {
        // SAFETY: the caller promises it.
        unsafe { super::run(question) }.and_then(Answer::resolved)
    }
}

/// The answer to a question about a path, of its witness.
///
/// # Safety
///
/// All captures of the closure are by reference.
pub unsafe fn path_answer<F: Question>(question: *const F) -> Option<Resolved> {
    const { item::<F>() };
    // SAFETY: the caller promises it.
    unsafe { answer(question) }
}

/// Refuses a variable that a pattern takes for a path, which the closure of the question captures.
///
/// # Panics
///
/// If it captures something: in a constant, an error of the compilation.
pub const fn item<F>() {
    assert!(
        size_of::<F>() == 0,
        "a variable in the case of types, such as `Value`, stands in a pattern that may not match, where kernels take it for a \
         variant: write it in lower case"
    );
}

/// An answer to what a name or path is. Nothing unsafe relies on an implementation.
pub trait Answer {
    /// The item that rustc resolved it to, if that is known.
    fn resolved(self) -> Option<Resolved>;
}

impl Answer for Option<Resolved> {
    fn resolved(self) -> Option<Resolved> {
        self
    }
}

impl<T> Answer for Valued<T> {
    fn resolved(self) -> Option<Resolved> {
        self.0
    }
}

impl<T, P: Fn(&T) -> bool> Applied<T, P> {
    /// The variant that the path is among values of each, or the only one of which there is no value.
    fn among(&self, values: Vec<Option<T>>) -> Option<Resolved> {
        let matches = |value: &Option<T>| value.as_ref().is_some_and(&self.0);
        let open: Vec<usize> = (0..values.len()).filter(|index| values[*index].is_none()).collect();
        let found = values.iter().position(matches).or(if let [one] = open[..] { Some(one) } else { None });
        // values are of types that may be the user's, whose destructors are not to run
        std::mem::forget(values);
        found.map(Resolved::Variant)
    }
}

/// A value's type and the bits of the numbers in it.
pub fn value<T: DeviceType>(value: &T) -> Option<Resolved> {
    let mut cells = Vec::new();
    value.__cells(&mut |cell| cells.push(cell));
    Some(Resolved::Constant(ConstValue { ty: T::K::ty(), cells, held: None }))
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

/// The place of a path of a type among the type's values.
#[derive(Debug)]
pub struct Valued<T>(Option<Resolved>, PhantomData<fn(&T)>);

/// The answer for a path of a type that is told elsewhere. Nothing unsafe relies on an implementation.
pub trait OfDevice<T> {
    /// The answer.
    fn __cuda_jit_valued(self) -> Valued<T>;
}

impl<T: DeviceType, F: Fn(&T) -> bool> OfDevice<T> for Applied<T, F> {
    fn __cuda_jit_valued(self) -> Valued<T> {
        Valued(self.among(T::__variants()), PhantomData)
    }
}

/// The answer for a path of a type that kernels do not know, or that stands beside a device function: there is none.
///
/// Nothing unsafe relies on an implementation.
pub trait OfOther<T> {
    /// The answer.
    fn __cuda_jit_valued(self) -> Valued<T>;
}

impl<T, F> OfOther<T> for &Applied<T, F> {
    fn __cuda_jit_valued(self) -> Valued<T> {
        Valued(None, PhantomData)
    }
}

/// The instance of a generic type that stands for all where nothing tells its arguments. `#[derive(DeviceType)]` implements it.
///
/// Nothing unsafe relies on an implementation: the variants of all are the same.
pub trait Representative: Sized {
    /// A value of each variant in order, or none.
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

impl Representative for num_complex::Complex<()> {}

/// The question of a path whose type arguments may be open: rustc looks for this before [`OfKnown`].
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

/// The question of a path of any other type.
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

/// The question of a path of a type that kernels do not know: the error is where the value comes from.
///
/// Nothing unsafe relies on an implementation.
pub trait OfUnknown<T> {
    /// Nothing.
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
