//! `mem::swap`, `mem::replace` and `mem::take`: how the twin tells them from other functions that are none of the device's.
//!
//! A function has a type of its own, and that of the standard library's is the same under each name that it is imported by. So
//! the twin passes them along with the function that is called, and a method is looked for that only two of one type have.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the types here.

use std::marker::PhantomData;

use super::plain::DeviceFunction;
use super::{Body, Builtin, Callee, Constructs, DeviceFn, DeviceType, FnLike, Instance, Intrinsic, Makes, type_arg};

/// A function of `std::mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// `mem::swap`
    Swap,
    /// `mem::replace`
    Replace,
    /// `mem::take`
    Take,
}

macro_rules! callees {
    ($($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<T>(PhantomData<fn(T)>);

        // SAFETY: the instance is the function that the type is named after.
        unsafe impl<T: DeviceType> DeviceFn for $name<T> {
            type Args = super::Untied;
            type Output = super::Untied;

            fn instance() -> Instance {
                Instance { body: Body::Intrinsic(Intrinsic::Exchange(Exchange::$name)), generics: vec![type_arg::<T>()] }
            }
        }
    )* };
}

callees! {
    /// The callee of `mem::swap`.
    Swap
    /// The callee of `mem::replace`.
    Replace
    /// The callee of `mem::take`.
    Take
}

impl<F> Callee<F> {
    /// Ties the generic arguments to those of a function value that is called with one argument.
    pub fn see_one<V>(self, function: &V, _: fn(&mut u8) -> u8) -> Self
    where
        F: DeviceFn,
        V: FnLike<F::Args, Output = F::Output>,
    {
        self.see(function)
    }

    /// The same with two arguments.
    pub fn see_two<V>(self, function: &V, _: fn(&mut u8, &mut u8), _: fn(&mut u8, u8) -> u8) -> Self
    where
        F: DeviceFn,
        V: FnLike<F::Args, Output = F::Output>,
    {
        self.see(function)
    }
}

impl<T, const VARIANT: usize> Constructs<T, VARIANT> {
    /// Ties the generic arguments to those of a constructor that is called with one argument.
    pub fn see_one<Args, V: Makes<Args, T>>(self, function: &V, _: fn(&mut u8) -> u8) -> Self {
        self.see(function)
    }

    /// The same with two arguments.
    pub fn see_two<Args, V: Makes<Args, T>>(
        self,
        function: &V,
        _: fn(&mut u8, &mut u8),
        _: fn(&mut u8, u8) -> u8,
    ) -> Self {
        self.see(function)
    }
}

/// A function `F` without code for the device that is called with one argument, and `mem::take` of a `T`.
#[derive(Debug)]
pub struct OneOf<F, K, T>(PhantomData<(F, K, T)>);

/// The same with two arguments, and `mem::swap` and `mem::replace`.
#[derive(Debug)]
pub struct TwoOf<F, S, R, T>(PhantomData<(F, S, R, T)>);

impl super::plain::PlainFunction {
    /// Compares the function with `mem::take`.
    pub fn see_one<F, K: Fn(&mut T) -> T, T>(self, _: &F, _: K) -> OneOf<F, K, T> {
        OneOf(PhantomData)
    }

    /// Compares the function with `mem::swap` and `mem::replace`.
    pub fn see_two<F, S: Fn(&mut T, &mut T), R: Fn(&mut T, T) -> T, T>(self, _: &F, _: S, _: R) -> TwoOf<F, S, R, T> {
        TwoOf(PhantomData)
    }
}

impl<F, T> OneOf<F, F, T> {
    /// The function is `mem::take`.
    pub fn of(self, _: *const Take<T>) {}
}

impl<F, R, T> TwoOf<F, F, R, T> {
    /// The function is `mem::swap`.
    pub fn of(self, _: *const Swap<T>) {}
}

/// The function is `mem::replace`. Nothing unsafe relies on an implementation.
pub trait IsReplace<T>: Sized {
    #[doc(hidden)]
    fn of(self, _: *const Replace<T>) {}
}

impl<F, S, T> IsReplace<T> for TwoOf<F, S, F, T> {}

/// The function is none of them. Nothing unsafe relies on an implementation.
pub trait IsPlain {
    #[doc(hidden)]
    type Function;

    #[doc(hidden)]
    fn of(&self, _: *const Builtin)
    where
        Self::Function: DeviceFunction,
    {
    }
}

impl<F, K, T> IsPlain for OneOf<F, K, T> {
    type Function = F;
}

impl<F, S, R, T> IsPlain for TwoOf<F, S, R, T> {
    type Function = F;
}
