//! The items of `for` loops, and the function that returns a loop's next item.

use std::ops::{Range, RangeInclusive};

use ndarray::{ArrayBase, ArrayView, ArrayViewMut, Data, DataMut, Dimension};

use super::iterator::{__DeviceIntoIterator_into_iter, __DeviceIterator_next, DeviceIterator, OptionElements};
use crate::typeinfo::{DeviceFn, DeviceType, NoCallee};

/// A type that a `for` loop iterates over: arrays, slices and views, over whose elements the compiler iterates itself, iterators of
/// the device library and of the user, and types that convert into one.
///
/// Nothing unsafe relies on an implementation: the compiler refuses types that it does not know.
#[diagnostic::on_unimplemented(
    message = "kernels do not iterate over a `{Self}`",
    label = "this is not an iterator that kernels support",
    note = "loops run over ranges, slices, arrays, ndarray views, and iterators: those of the standard library's methods, and types with a `#[device] impl Iterator` or `IntoIterator`"
)]
pub trait LoopItems {
    /// The type of the item that the loop binds.
    type Item;
    /// The function that converts the value into an iterator, unless it is one.
    type Into: DeviceFn;
    /// The function that returns the next item.
    type Next: DeviceFn;
}

/// Unifies witnesses with the functions that convert a loop's source into an iterator and that return the next item.
pub fn items<T: LoopItems>(_: T, _: *const T::Into, _: *const T::Next) -> std::iter::Empty<T::Item> {
    std::iter::empty()
}

impl<I: DeviceIterator> LoopItems for I {
    type Item = I::Item;
    type Into = NoCallee;
    type Next = __DeviceIterator_next<I>;
}

macro_rules! elements {
    ($([$($parameters:tt)*] $ty:ty;)*) => { $(
        impl<$($parameters)*> LoopItems for $ty {
            type Item = <$ty as IntoIterator>::Item;
            type Into = NoCallee;
            type Next = NoCallee;
        }
    )* };
}

elements! {
    ['a, T] &'a [T];
    ['a, T] &'a mut [T];
    [T, const N: usize] [T; N];
    ['a, T, const N: usize] &'a [T; N];
    ['a, T, const N: usize] &'a mut [T; N];
    ['a, T, D: Dimension] ArrayView<'a, T, D>;
    ['a, T, D: Dimension] ArrayViewMut<'a, T, D>;
    ['a, S: Data, D: Dimension] &'a ArrayBase<S, D>;
    ['a, S: DataMut, D: Dimension] &'a mut ArrayBase<S, D>;
}

macro_rules! converted {
    ($([$($parameters:tt)*] $ty:ty: $item:ty;)*) => { $(
        impl<$($parameters)*> LoopItems for $ty {
            type Item = $item;
            type Into = __DeviceIntoIterator_into_iter<$ty>;
            type Next = __DeviceIterator_next<OptionElements<$item>>;
        }
    )* };
}

converted! {
    [T: DeviceType] Option<T>: T;
    ['a, T: DeviceType] &'a Option<T>: &'a T;
    ['a, T: DeviceType] &'a mut Option<T>: &'a mut T;
    [T: DeviceType, E: DeviceType] Result<T, E>: T;
    ['a, T: DeviceType, E: DeviceType] &'a Result<T, E>: &'a T;
    ['a, T: DeviceType, E: DeviceType] &'a mut Result<T, E>: &'a mut T;
}

/// A type over whose ranges kernels iterate: the integers, whose loops the compiler lowers itself, and `char`. `INCLUSIVE`
/// ranges contain their end.
///
/// Nothing unsafe relies on an implementation: the compiler refuses types that it does not know.
#[diagnostic::on_unimplemented(
    message = "kernels do not iterate over ranges of `{Self}`",
    label = "not a range of integers or `char`"
)]
pub trait RangeItem<const INCLUSIVE: bool> {
    /// The function that returns the next item.
    type Next: DeviceFn;
}

macro_rules! range_items {
    ($($ty:ty)*) => { $(
        impl<const INCLUSIVE: bool> RangeItem<INCLUSIVE> for $ty {
            type Next = NoCallee;
        }
    )* };
}

range_items! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

impl RangeItem<false> for char {
    type Next = __DeviceIterator_next<Range<char>>;
}

impl RangeItem<true> for char {
    type Next = __DeviceIterator_next<RangeInclusive<char>>;
}

/// Unifies a witness with the function that returns the next item of a range whose start has this type.
pub fn range_of<T: RangeItem<INCLUSIVE>, const INCLUSIVE: bool>(_: &T, _: *const T::Next) {}
