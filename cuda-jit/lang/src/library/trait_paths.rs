//! Calls by the path of one of the standard library's traits: `Default::default()`, `From::from(x)`, `Into::into(x)`.
//!
//! In such a call rustc infers the type that has the trait. The functions here do not depend on the device's traits: a bound that is
//! not met would be an error of its own, beside that of the callee, which has the device's words. Types have those of `Default` only
//! if they have it on the host, since rustc would propose the hidden names for others.

use super::default::DefaultOf;
use crate::typeinfo::{Callee, Conversion, IntoConversion, Returned, TryConversion, TryIntoConversion};

/// `Default::default`. Nothing unsafe relies on an implementation.
pub trait DefaultPath: Default {
    /// In a call.
    fn __call_default() -> Returned<DefaultOf<Self>, Self> {
        Returned::new()
    }

    /// As a value.
    fn __fn_default() -> Callee<DefaultOf<Self>> {
        Callee::new()
    }
}

impl<T: Default> DefaultPath for T {}

/// `From::from`. Nothing unsafe relies on an implementation.
pub trait FromPath<T>: Sized {
    /// In a call.
    fn __call_from(_: T) -> Returned<Conversion<T, Self>, Self> {
        Returned::new()
    }

    /// As a value.
    fn __fn_from() -> Callee<Conversion<T, Self>> {
        Callee::new()
    }
}

impl<T, U> FromPath<T> for U {}

/// `Into::into`. Nothing unsafe relies on an implementation.
pub trait IntoPath<U>: Sized {
    /// In a call.
    fn __call_into(self) -> Returned<IntoConversion<Self, U>, U> {
        Returned::new()
    }

    /// As a value.
    fn __fn_into() -> Callee<IntoConversion<Self, U>> {
        Callee::new()
    }
}

impl<U, T> IntoPath<U> for T {}

/// `TryFrom::try_from`. Nothing unsafe relies on an implementation.
pub trait TryFromPath<T>: TryFrom<T> {
    /// In a call.
    fn __call_try_from(_: T) -> Returned<TryConversion<T, Self, Self::Error>, Result<Self, Self::Error>> {
        Returned::new()
    }

    /// As a value.
    fn __fn_try_from() -> Callee<TryConversion<T, Self, Self::Error>> {
        Callee::new()
    }
}

impl<T, U: TryFrom<T>> TryFromPath<T> for U {}

/// `TryInto::try_into`. Nothing unsafe relies on an implementation.
pub trait TryIntoPath<U>: TryInto<U> {
    /// In a call.
    fn __call_try_into(self) -> Returned<TryIntoConversion<Self, U, Self::Error>, Result<U, Self::Error>> {
        Returned::new()
    }

    /// As a value.
    fn __fn_try_into() -> Callee<TryIntoConversion<Self, U, Self::Error>> {
        Callee::new()
    }
}

impl<U, T: TryInto<U>> TryIntoPath<U> for T {}
