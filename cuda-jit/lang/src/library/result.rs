//! `Result`.
//!
//! # Safety
//!
//! The unsafe code stands for a value that the caller guarantees never to be needed.

#![expect(
    clippy::manual_ok_err,
    clippy::manual_unwrap_or_default,
    clippy::redundant_pattern_matching,
    reason = "these are the methods that clippy would call"
)]

use std::fmt::Debug;

use crate::device;
use crate::device::library::{duplicate, uninit_array};
use crate::library::default::DeviceDefault;

/// The methods of `Result`.
#[device(extension)]
impl<T, E> ResultMethods<T, E> for Result<T, E> {
    /// `is_ok`
    fn is_ok(&self) -> bool {
        match self {
            Ok(_) => true,
            Err(_) => false,
        }
    }

    /// `is_err`
    fn is_err(&self) -> bool {
        match self {
            Ok(_) => false,
            Err(_) => true,
        }
    }

    /// `is_ok_and`
    fn is_ok_and<F: FnOnce(T) -> bool>(self, f: F) -> bool {
        match self {
            Ok(value) => f(value),
            Err(_) => false,
        }
    }

    /// `is_err_and`
    fn is_err_and<F: FnOnce(E) -> bool>(self, f: F) -> bool {
        match self {
            Ok(_) => false,
            Err(error) => f(error),
        }
    }

    /// `ok`
    fn ok(self) -> Option<T> {
        match self {
            Ok(value) => Some(value),
            Err(_) => None,
        }
    }

    /// `err`
    fn err(self) -> Option<E> {
        match self {
            Ok(_) => None,
            Err(error) => Some(error),
        }
    }

    /// `as_ref`
    fn as_ref(&self) -> Result<&T, &E> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(error),
        }
    }

    /// `as_mut`
    fn as_mut(&mut self) -> Result<&mut T, &mut E> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(error),
        }
    }

    /// `map`
    fn map<U, F: FnOnce(T) -> U>(self, f: F) -> Result<U, E> {
        match self {
            Ok(value) => Ok(f(value)),
            Err(error) => Err(error),
        }
    }

    /// `map_or`
    fn map_or<U, F: FnOnce(T) -> U>(self, default: U, f: F) -> U {
        match self {
            Ok(value) => f(value),
            Err(_) => default,
        }
    }

    /// `map_or_else`
    fn map_or_else<U, D: FnOnce(E) -> U, F: FnOnce(T) -> U>(self, default: D, f: F) -> U {
        match self {
            Ok(value) => f(value),
            Err(error) => default(error),
        }
    }

    /// `map_err`
    fn map_err<O, F: FnOnce(E) -> O>(self, f: F) -> Result<T, O> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(f(error)),
        }
    }

    /// `inspect`
    fn inspect<F: FnOnce(&T)>(self, f: F) -> Result<T, E> {
        if let Ok(value) = &self {
            f(value);
        }
        self
    }

    /// `inspect_err`
    fn inspect_err<F: FnOnce(&E)>(self, f: F) -> Result<T, E> {
        if let Err(error) = &self {
            f(error);
        }
        self
    }

    /// `and`
    fn and<U>(self, other: Result<U, E>) -> Result<U, E> {
        match self {
            Ok(_) => other,
            Err(error) => Err(error),
        }
    }

    /// `and_then`
    fn and_then<U, F: FnOnce(T) -> Result<U, E>>(self, f: F) -> Result<U, E> {
        match self {
            Ok(value) => f(value),
            Err(error) => Err(error),
        }
    }

    /// `or`
    fn or<O>(self, other: Result<T, O>) -> Result<T, O> {
        match self {
            Ok(value) => Ok(value),
            Err(_) => other,
        }
    }

    /// `or_else`
    fn or_else<O, F: FnOnce(E) -> Result<T, O>>(self, f: F) -> Result<T, O> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => f(error),
        }
    }

    /// `expect`
    #[track_caller]
    fn expect(self, message: &str) -> T
    where
        E: Debug,
    {
        match self {
            Ok(value) => value,
            Err(error) => panic!("{message}: {error:?}"),
        }
    }

    /// `unwrap`
    #[track_caller]
    fn unwrap(self) -> T
    where
        E: Debug,
    {
        match self {
            Ok(value) => value,
            Err(error) => panic!("called `Result::unwrap()` on an `Err` value: {error:?}"),
        }
    }

    /// `unwrap_unchecked`
    fn unwrap_unchecked(self) -> T {
        match self {
            Ok(value) => value,
            // SAFETY: the caller guarantees that there is a value, so that this one is never read.
            Err(_) => duplicate(&unsafe { uninit_array::<[T; 1]>() }[0]),
        }
    }

    /// `unwrap_err_unchecked`
    fn unwrap_err_unchecked(self) -> E {
        match self {
            // SAFETY: the caller guarantees that there is an error, so that this one is never read.
            Ok(_) => duplicate(&unsafe { uninit_array::<[E; 1]>() }[0]),
            Err(error) => error,
        }
    }

    /// `expect_err`
    #[track_caller]
    fn expect_err(self, message: &str) -> E
    where
        T: Debug,
    {
        match self {
            Ok(value) => panic!("{message}: {value:?}"),
            Err(error) => error,
        }
    }

    /// `unwrap_err`
    #[track_caller]
    fn unwrap_err(self) -> E
    where
        T: Debug,
    {
        match self {
            Ok(value) => panic!("called `Result::unwrap_err()` on an `Ok` value: {value:?}"),
            Err(error) => error,
        }
    }

    /// `unwrap_or`
    fn unwrap_or(self, default: T) -> T {
        match self {
            Ok(value) => value,
            Err(_) => default,
        }
    }

    /// `unwrap_or_else`
    fn unwrap_or_else<F: FnOnce(E) -> T>(self, f: F) -> T {
        match self {
            Ok(value) => value,
            Err(error) => f(error),
        }
    }

    /// `unwrap_or_default`
    fn unwrap_or_default(self) -> T
    where
        T: DeviceDefault,
    {
        match self {
            Ok(value) => value,
            Err(_) => T::default(),
        }
    }
}

/// The methods of a `Result` of a reference.
#[device(extension)]
impl<T: Copy, E> ResultRef<T, E> for Result<&T, E> {
    /// `copied`
    fn copied(self) -> Result<T, E> {
        match self {
            Ok(value) => Ok(*value),
            Err(error) => Err(error),
        }
    }

    /// `cloned`
    fn cloned(self) -> Result<T, E> {
        match self {
            Ok(value) => Ok(*value),
            Err(error) => Err(error),
        }
    }
}

/// The methods of a `Result` of a mutable reference.
#[device(extension)]
impl<T: Copy, E> ResultMut<T, E> for Result<&mut T, E> {
    /// `copied`
    fn copied(self) -> Result<T, E> {
        match self {
            Ok(value) => Ok(*value),
            Err(error) => Err(error),
        }
    }

    /// `cloned`
    fn cloned(self) -> Result<T, E> {
        match self {
            Ok(value) => Ok(*value),
            Err(error) => Err(error),
        }
    }
}

/// The methods of a `Result` of a `Result`.
#[device(extension)]
impl<T, E> ResultResult<T, E> for Result<Result<T, E>, E> {
    /// `flatten`
    fn flatten(self) -> Result<T, E> {
        match self {
            Ok(inner) => inner,
            Err(error) => Err(error),
        }
    }
}

/// The methods of a `Result` of an `Option`.
#[device(extension)]
impl<T, E> ResultOption<T, E> for Result<Option<T>, E> {
    /// `transpose`
    fn transpose(self) -> Option<Result<T, E>> {
        match self {
            Ok(Some(value)) => Some(Ok(value)),
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// The methods of an `Option` of a `Result`.
#[device(extension)]
impl<T, E> OptionResult<T, E> for Option<Result<T, E>> {
    /// `transpose`
    fn transpose(self) -> Result<Option<T>, E> {
        match self {
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(error)) => Err(error),
            None => Ok(None),
        }
    }
}
