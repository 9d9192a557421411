//! Constructors: how a typing probe learns that a call makes a value of a tuple struct, or of a variant.
//!
//! A tuple struct's type stands beside its constructor as a device function's type stands beside the function, with the
//! same hidden `__callee`: one form of the probe serves both, and rustc resolves the path.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the types here.

use std::cell::Cell;
use std::marker::PhantomData;

use super::{Body, DeviceFn, DeviceType, Instance, Returned, Untied, ty_of};

/// The callee of a constructor: of a tuple struct or, of an `Option`, `Some`.
#[derive(Debug)]
pub struct Constructor<T>(PhantomData<fn() -> T>);

// SAFETY: the instance is the constructor of this type; its call's path says all generic arguments.
unsafe impl<T: DeviceType> DeviceFn for Constructor<T> {
    type Args = Untied;
    type Output = Untied;

    fn instance() -> Instance {
        Instance { body: Body::Constructor(ty_of::<T>), generics: Vec::new() }
    }
}

/// A constructor whose generic arguments rustc infers from a call.
#[derive(Debug)]
pub struct Constructs<T>(PhantomData<Cell<T>>);

impl<T> Default for Constructs<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Constructs<T> {
    /// A constructor, whose generic arguments may still be open.
    pub const fn new() -> Self {
        Constructs(PhantomData)
    }

    /// Ties the generic arguments to those of a function value.
    pub fn see<Args, V: Makes<Args, T>>(self, _: &V) -> Self {
        self
    }

    /// Shows the constructor to its observer.
    pub fn of(self, _: *const Constructor<T>) -> Self {
        self
    }
}

/// A function value that makes a `T` of `Args`, a tuple.
///
/// Nothing unsafe relies on an implementation: the compiler compares a call's arguments with the struct's fields.
pub trait Makes<Args, T> {}

macro_rules! makes {
    ($(($($name:ident),*))*) => { $(
        impl<V, T, $($name),*> Makes<($($name,)*), T> for V where V: Fn($($name),*) -> T {}
    )* };
}

makes! { () (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G)
(A, B, C, D, E, F, G, H) (A, B, C, D, E, F, G, H, I) (A, B, C, D, E, F, G, H, I, J)
(A, B, C, D, E, F, G, H, I, J, K) (A, B, C, D, E, F, G, H, I, J, K, L) }

/// The hidden functions of `Option`'s variants, which its type names: `Option::Some(1)`.
///
/// Nothing unsafe relies on an implementation.
#[expect(non_snake_case, reason = "a hidden function has its variant's name")]
pub trait OptionVariants<T>: Sized {
    /// `Some`
    fn __call_Some(_: T) -> Returned<Constructor<Option<T>>, Option<T>> {
        Returned::new()
    }
}

impl<T> OptionVariants<T> for Option<T> {}
