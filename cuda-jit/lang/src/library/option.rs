//! `Option`.
//!
//! # Safety
//!
//! The unsafe code stands for a value that the caller guarantees never to be needed.

#![expect(
    clippy::redundant_pattern_matching,
    clippy::manual_map,
    clippy::manual_unwrap_or_default,
    clippy::mem_replace_option_with_none,
    clippy::mem_replace_option_with_some,
    reason = "these are the methods that clippy would call"
)]

use std::mem;

use crate::device;
use crate::device::library::{duplicate, uninit_array};
use crate::library::default::DeviceDefault;

/// The methods of `Option`.
#[device(extension)]
impl<T> OptionMethods<T> for Option<T> {
    /// `is_some`
    fn is_some(&self) -> bool {
        match self {
            Some(_) => true,
            None => false,
        }
    }

    /// `is_none`
    fn is_none(&self) -> bool {
        match self {
            Some(_) => false,
            None => true,
        }
    }

    /// `is_some_and`
    fn is_some_and<F: FnOnce(T) -> bool>(self, f: F) -> bool {
        match self {
            Some(value) => f(value),
            None => false,
        }
    }

    /// `is_none_or`
    fn is_none_or<F: FnOnce(T) -> bool>(self, f: F) -> bool {
        match self {
            Some(value) => f(value),
            None => true,
        }
    }

    /// `as_ref`
    fn as_ref(&self) -> Option<&T> {
        match self {
            Some(value) => Some(value),
            None => None,
        }
    }

    /// `as_mut`
    fn as_mut(&mut self) -> Option<&mut T> {
        match self {
            Some(value) => Some(value),
            None => None,
        }
    }

    /// `expect`
    #[track_caller]
    fn expect(self, message: &str) -> T {
        match self {
            Some(value) => value,
            None => panic!("{message}"),
        }
    }

    /// `unwrap`
    #[track_caller]
    fn unwrap(self) -> T {
        match self {
            Some(value) => value,
            None => panic!("called `Option::unwrap()` on a `None` value"),
        }
    }

    /// `unwrap_or`
    fn unwrap_or(self, default: T) -> T {
        match self {
            Some(value) => value,
            None => default,
        }
    }

    /// `unwrap_or_else`
    fn unwrap_or_else<F: FnOnce() -> T>(self, f: F) -> T {
        match self {
            Some(value) => value,
            None => f(),
        }
    }

    /// `unwrap_or_default`
    fn unwrap_or_default(self) -> T
    where
        T: DeviceDefault,
    {
        match self {
            Some(value) => value,
            None => T::default(),
        }
    }

    /// `map`
    fn map<U, F: FnOnce(T) -> U>(self, f: F) -> Option<U> {
        match self {
            Some(value) => Some(f(value)),
            None => None,
        }
    }

    /// `inspect`
    fn inspect<F: FnOnce(&T)>(self, f: F) -> Option<T> {
        if let Some(value) = &self {
            f(value);
        }
        self
    }

    /// `map_or`
    fn map_or<U, F: FnOnce(T) -> U>(self, default: U, f: F) -> U {
        match self {
            Some(value) => f(value),
            None => default,
        }
    }

    /// `map_or_else`
    fn map_or_else<U, D: FnOnce() -> U, F: FnOnce(T) -> U>(self, default: D, f: F) -> U {
        match self {
            Some(value) => f(value),
            None => default(),
        }
    }

    /// `and`
    fn and<U>(self, other: Option<U>) -> Option<U> {
        match self {
            Some(_) => other,
            None => None,
        }
    }

    /// `and_then`
    fn and_then<U, F: FnOnce(T) -> Option<U>>(self, f: F) -> Option<U> {
        match self {
            Some(value) => f(value),
            None => None,
        }
    }

    /// `ok_or`
    fn ok_or<E>(self, error: E) -> Result<T, E> {
        match self {
            Some(value) => Ok(value),
            None => Err(error),
        }
    }

    /// `ok_or_else`
    fn ok_or_else<E, F: FnOnce() -> E>(self, error: F) -> Result<T, E> {
        match self {
            Some(value) => Ok(value),
            None => Err(error()),
        }
    }

    /// `filter`
    fn filter<F: FnOnce(&T) -> bool>(self, f: F) -> Option<T> {
        if let Some(value) = self
            && f(&value)
        {
            return Some(value);
        }
        None
    }

    /// `or`
    fn or(self, other: Option<T>) -> Option<T> {
        match self {
            Some(value) => Some(value),
            None => other,
        }
    }

    /// `or_else`
    fn or_else<F: FnOnce() -> Option<T>>(self, f: F) -> Option<T> {
        match self {
            Some(value) => Some(value),
            None => f(),
        }
    }

    /// `xor`
    fn xor(self, other: Option<T>) -> Option<T> {
        match (self, other) {
            (Some(value), None) => Some(value),
            (None, Some(value)) => Some(value),
            _ => None,
        }
    }

    /// `insert`
    fn insert(&mut self, value: T) -> &mut T {
        *self = Some(value);
        match self {
            None => unreachable!(),
            Some(value) => value,
        }
    }

    /// `get_or_insert`
    fn get_or_insert(&mut self, value: T) -> &mut T {
        if let None = self {
            *self = Some(value);
        }
        match self {
            None => unreachable!(),
            Some(value) => value,
        }
    }

    /// `get_or_insert_with`
    fn get_or_insert_with<F: FnOnce() -> T>(&mut self, f: F) -> &mut T {
        if let None = self {
            *self = Some(f());
        }
        match self {
            None => unreachable!(),
            Some(value) => value,
        }
    }

    /// `get_or_insert_default`
    fn get_or_insert_default(&mut self) -> &mut T
    where
        T: DeviceDefault,
    {
        self.get_or_insert_with(|| T::default())
    }

    /// `unwrap_unchecked`
    fn unwrap_unchecked(self) -> T {
        match self {
            Some(value) => value,
            // SAFETY: the caller guarantees that there is a value, so that this one is never read.
            None => duplicate(&unsafe { uninit_array::<[T; 1]>() }[0]),
        }
    }

    /// `take`
    fn take(&mut self) -> Option<T> {
        mem::replace(self, None)
    }

    /// `take_if`
    fn take_if<F: FnOnce(&mut T) -> bool>(&mut self, f: F) -> Option<T> {
        let taken = match self {
            Some(value) => f(value),
            None => false,
        };
        if taken { mem::replace(self, None) } else { None }
    }

    /// `replace`
    fn replace(&mut self, value: T) -> Option<T> {
        mem::replace(self, Some(value))
    }

    /// `zip`
    fn zip<U>(self, other: Option<U>) -> Option<(T, U)> {
        match (self, other) {
            (Some(a), Some(b)) => Some((a, b)),
            _ => None,
        }
    }
}

/// The methods of an `Option` of a reference.
#[device(extension)]
impl<T: Copy> OptionRef<T> for Option<&T> {
    /// `copied`
    fn copied(self) -> Option<T> {
        match self {
            Some(value) => Some(*value),
            None => None,
        }
    }

    /// `cloned`
    fn cloned(self) -> Option<T> {
        match self {
            Some(value) => Some(*value),
            None => None,
        }
    }
}

/// The methods of an `Option` of a mutable reference.
#[device(extension)]
impl<T: Copy> OptionMut<T> for Option<&mut T> {
    /// `copied`
    fn copied(self) -> Option<T> {
        match self {
            Some(value) => Some(*value),
            None => None,
        }
    }

    /// `cloned`
    fn cloned(self) -> Option<T> {
        match self {
            Some(value) => Some(*value),
            None => None,
        }
    }
}

/// The methods of an `Option` of an `Option`.
#[device(extension)]
impl<T> OptionOption<T> for Option<Option<T>> {
    /// `flatten`
    fn flatten(self) -> Option<T> {
        match self {
            Some(inner) => inner,
            None => None,
        }
    }
}

/// The methods of an `Option` of a pair.
#[device(extension)]
impl<T, U> OptionPair<T, U> for Option<(T, U)> {
    /// `unzip`
    fn unzip(self) -> (Option<T>, Option<U>) {
        match self {
            Some((a, b)) => (Some(a), Some(b)),
            None => (None, None),
        }
    }
}
