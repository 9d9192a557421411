//! The methods of the device language's own that take functions: how the twin calls them, so that rustc types the closures.
//!
//! Each stands for a method of the same name without `__call_`, and takes and yields what that does.

use std::cmp::Ordering;

use super::{Builtin, Returned};

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident[$($generics:tt)*]($($this:tt)*)($($arg:ty),*) -> $result:ty;)*) => { $(
        $(#[$doc])*
        fn $name<$($generics)*>($($this)* $(, _: $arg)*) -> Returned<Builtin, $result> {
            Returned::new()
        }
    )* };
}

/// The hidden methods of slices.
///
/// Nothing unsafe relies on an implementation: the front end knows the methods of the types that it knows, and refuses
/// others.
pub trait SliceMethods<T> {
    methods! {
        /// `sort_unstable_by`
        __call_sort_unstable_by[F: FnMut(&T, &T) -> Ordering](&mut self)(F) -> ();
        /// `sort_unstable_by_key`
        __call_sort_unstable_by_key[K: Ord, F: FnMut(&T) -> K](&mut self)(F) -> ();
        /// `partition_point`
        __call_partition_point[P: FnMut(&T) -> bool](&self)(P) -> usize;
        /// `len`
        __call_len[](&self)() -> usize;
        /// `last`
        __call_last[](&self)() -> Option<&T>;
        /// `is_sorted`
        __call_is_sorted[](&self)() -> bool;
        /// `fill_with`
        __call_fill_with[F: FnMut() -> T](&mut self)(F) -> ();
    }
}

impl<T> SliceMethods<T> for [T] {}

/// The hidden methods of arrays that slices have not.
///
/// Nothing unsafe relies on an implementation: the front end knows the methods of the types that it knows, and refuses
/// others.
pub trait ArrayMethods<T, const N: usize>: Sized {
    methods! {
        /// `map`
        __call_map[U, F: FnMut(T) -> U](self)(F) -> [U; N];
    }
}

impl<T, const N: usize> ArrayMethods<T, N> for [T; N] {}
