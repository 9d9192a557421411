//! Methods of ordered types.
//!
//! # Safety
//!
//! The only unsafe code is the `DeviceFn` implementations, which describe the operations here to the compiler.

use std::cmp::Ordering;

use super::integers;
use crate::device;
use crate::typeinfo::{Body, Callee, DeviceFn, DeviceType, Instance, Operation, Returned, Typing, Unconstrained};

macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident -> $result:ty => $operation:ident;)*) => { $(
        $(#[$doc])*
        #[expect(non_camel_case_types, reason = "it stands for the method of this name")]
        #[derive(Debug)]
        pub struct $name<T: ?Sized> {
            _of: std::marker::PhantomData<fn(&T)>,
        }

        // SAFETY: the instance is the comparison that the type is named after, with these parameters and this result.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: ?Sized> DeviceFn for $name<T>
        where
            for<'a> &'a T: DeviceType,
        {
            type Args = Unconstrained;
            type Output = Unconstrained;

            fn instance() -> Instance {
                let body = Body::Operation(Operation::$operation, Typing::of::<(&T, &T), $result>);
                Instance { body, generics: Vec::new() }
            }
        }
    )* };
}

orders! {
    /// The order of two values by `Ord`.
    cmp -> Ordering => Order;
    /// The order of two values by `PartialOrd`.
    partial_cmp -> Option<Ordering> => PartialOrder;
}

/// The larger value; the second of two equal ones.
#[device(library)]
pub fn max<T: PartialOrd>(a: T, b: T) -> T {
    if b < a { a } else { b }
}

/// The smaller value; the first of two equal ones.
#[device(library)]
pub fn min<T: PartialOrd>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

/// The value clamped to a range.
#[device(library)]
#[track_caller]
pub fn clamp<T: PartialOrd>(x: T, low: T, high: T) -> T {
    if high < low {
        panic!("the lower bound of `clamp` is greater than the upper bound");
    }
    if x < low {
        low
    } else if high < x {
        high
    } else {
        x
    }
}

/// An ordered type that is no number, with its hidden methods; rustc reports methods that the type does not have.
///
/// Nothing unsafe relies on an implementation: the front end reports a missing comparison.
pub trait Ordered: Sized {
    cuda_jit_macros::device_methods! {
        fn clamp(self, low: Self, high: Self) -> Self = clamp<Self>;
        fn cmp(&self, other: &Self) -> Ordering = cmp<Self>;
        fn max(self, other: Self) -> Self = max<Self>;
        fn min(self, other: Self) -> Self = min<Self>;
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> = partial_cmp<Self>;
    }
}

/// The hidden methods of integers that `Ord` has.
///
/// Nothing unsafe relies on an implementation.
pub trait OrderedInteger: Sized {
    cuda_jit_macros::device_methods! {
        fn clamp(self, low: Self, high: Self) -> Self = integers::clamp<Self>;
        fn cmp(&self, other: &Self) -> Ordering = cmp<Self>;
        fn max(self, other: Self) -> Self = integers::max<Self>;
        fn min(self, other: Self) -> Self = integers::min<Self>;
    }
}

/// The hidden methods of numbers that `PartialOrd` has.
///
/// Nothing unsafe relies on an implementation.
pub trait OrderedNumber: Sized {
    cuda_jit_macros::device_methods! {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> = partial_cmp<Self>;
    }
}

/// The hidden methods of slices that are ordered.
///
/// Nothing unsafe relies on an implementation.
pub trait OrderedSlice {
    cuda_jit_macros::device_methods! {
        fn cmp(&self, other: &Self) -> Ordering = cmp<Self>;
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> = partial_cmp<Self>;
    }
}

impl<T> OrderedSlice for [T] {}

/// The hidden methods of a type parameter that is bound by `Ord`, which adds this bound in a typing probe.
///
/// Nothing unsafe relies on an implementation.
pub trait BoundByOrd: Ord + Sized {
    cuda_jit_macros::device_methods! {
        fn clamp(self, low: Self, high: Self) -> Self = clamp<Self>;
        fn cmp(&self, other: &Self) -> Ordering = cmp<Self>;
        fn max(self, other: Self) -> Self = max<Self>;
        fn min(self, other: Self) -> Self = min<Self>;
    }
}

impl<T: Ord> BoundByOrd for T {}

/// The hidden method of a type parameter that is bound by `PartialOrd`.
///
/// Nothing unsafe relies on an implementation.
pub trait BoundByPartialOrd: PartialOrd + Sized {
    cuda_jit_macros::device_methods! {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> = partial_cmp<Self>;
    }
}

impl<T: PartialOrd> BoundByPartialOrd for T {}

macro_rules! ordered {
    ($($of:ident: $($ty:ty)*;)*) => { $($( impl $of for $ty {} )*)* };
}

ordered! {
    OrderedNumber: i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 half::f16 half::bf16;
    OrderedInteger: i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize;
    Ordered: bool char Ordering;
}

impl<T> Ordered for Option<T> {}
impl<T, E> Ordered for Result<T, E> {}
impl<T, const N: usize> Ordered for [T; N] {}

macro_rules! tuples {
    ($(($($name:ident)+))*) => { $( impl<$($name),+> Ordered for ($($name,)+) {} )* };
}

tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }
