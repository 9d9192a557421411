//! Methods of comparison: those of `PartialEq`, `PartialOrd` and `Ord`, of all types that implement these.
//!
//! # Safety
//!
//! The only unsafe code is the `DeviceFn` implementations, which describe the operations here to the compiler.

use std::cmp::Ordering;
use std::marker::PhantomData;

use super::integers;
use crate::device;
use crate::kir::{BinaryOp, CompareOp, Scalar};
use crate::typeinfo::{
    Body, Callee, DeviceFn, DeviceType, Instance, Operation, Returned, Ty, Typing, Unconstrained, ty_of,
};

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident -> $result:ty => $operation:expr;)*) => { $(
        $(#[$doc])*
        #[expect(non_camel_case_types, reason = "it stands for the method of this name")]
        #[derive(Debug)]
        pub struct $name<T: ?Sized, U: ?Sized = T>(PhantomData<fn(&T, &U)>);

        // SAFETY: the instance is the comparison that the type is named after, with these parameters and this result.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: ?Sized, U: ?Sized> DeviceFn for $name<T, U>
        where
            for<'a> &'a T: DeviceType,
            for<'a> &'a U: DeviceType,
        {
            type Args = Unconstrained;
            type Output = Unconstrained;

            fn instance() -> Instance {
                let body = Body::Operation($operation, Typing::of::<(&T, &U), $result>);
                Instance { body, generics: Vec::new() }
            }
        }
    )* };
}

comparisons! {
    /// `==`
    eq -> bool => Operation::Compare(CompareOp::Eq);
    /// `!=`
    ne -> bool => Operation::Compare(CompareOp::Ne);
    /// `<`
    lt -> bool => Operation::Compare(CompareOp::Lt);
    /// `<=`
    le -> bool => Operation::Compare(CompareOp::Le);
    /// `>`
    gt -> bool => Operation::Compare(CompareOp::Gt);
    /// `>=`
    ge -> bool => Operation::Compare(CompareOp::Ge);
    /// The order of two values by `PartialOrd`.
    partial_cmp -> Option<Ordering> => Operation::PartialOrder;
    /// The order of two values by `Ord`.
    cmp -> Ordering => Operation::Order;
}

/// The methods that `Ord` provides.
///
/// Nothing unsafe relies on an implementation: there is only the blanket one.
#[device(library)]
pub trait ProvidedByOrd: Ord + Sized {
    /// The larger value; the second of two equal ones.
    fn larger(self, other: Self) -> Self {
        if other < self { self } else { other }
    }

    /// The smaller value; the first of two equal ones.
    fn smaller(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// The value clamped to a range.
    fn within(self, low: Self, high: Self) -> Self {
        if low <= high {
            if self < low {
                low
            } else if self > high {
                high
            } else {
                self
            }
        } else {
            panic!("the lower bound of `clamp` is greater than the upper bound")
        }
    }
}

impl<T: Ord> __ProvidedByOrdCalls for T {}
impl<T: Ord> ProvidedByOrd for T {}

/// Defines the callees of methods that `Ord` provides: of integers, an operation or a function with fewer instructions.
macro_rules! provided {
    ($($(#[$doc:meta])* $name:ident $args:tt, $library:ident, $of_integer:expr;)*) => { $(
        $(#[$doc])*
        #[expect(non_camel_case_types, reason = "it stands for the method of this name")]
        #[derive(Debug)]
        pub struct $name<T>(PhantomData<fn(T) -> T>);

        // SAFETY: the instance is the method that the type is named after, which the type has by `Ord`.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Ord + DeviceType> DeviceFn for $name<T> {
            type Args = $args;
            type Output = T;

            fn instance() -> Instance {
                let of_integer: fn(Scalar, fn() -> Typing) -> Option<Instance> = $of_integer;
                let instance = match ty_of::<T>() {
                    Ty::Scalar(scalar) if scalar.is_integer() => of_integer(scalar, Typing::of::<(T, T), T>),
                    _ => None,
                };
                instance.unwrap_or_else($library::<T>::instance)
            }
        }
    )* };
}

fn operation(op: BinaryOp, typing: fn() -> Typing) -> Option<Instance> {
    Some(Instance { body: Body::Operation(Operation::Binary(op), typing), generics: Vec::new() })
}

provided! {
    /// `max`
    max (T, T), __ProvidedByOrd_larger, |_, typing| operation(BinaryOp::Max, typing);
    /// `min`
    min (T, T), __ProvidedByOrd_smaller, |_, typing| operation(BinaryOp::Min, typing);
    /// `clamp`
    clamp (T, T, T), __ProvidedByOrd_within, |scalar, _| clamp_of(scalar);
}

/// The `clamp` of an integer type.
fn clamp_of(scalar: Scalar) -> Option<Instance> {
    macro_rules! clamps {
        ($($scalar:ident $ty:ty;)*) => {
            match scalar {
                $(Scalar::$scalar => Some(integers::clamp::<$ty>::instance()),)*
                _ => None,
            }
        };
    }
    clamps! { I8 i8; I16 i16; I32 i32; I64 i64; I128 i128; U8 u8; U16 u16; U32 u32; U64 u64; U128 u128; }
}

/// The hidden methods of `PartialEq`.
///
/// Nothing unsafe relies on an implementation: the front end reports a missing comparison.
pub trait EqualityMethods<Rhs: ?Sized = Self>: PartialEq<Rhs> {
    cuda_jit_macros::device_methods! {
        fn eq(&self, other: &Rhs) -> bool = eq<Self, Rhs>;
        fn ne(&self, other: &Rhs) -> bool = ne<Self, Rhs>;
    }
}

impl<T: PartialEq<Rhs> + ?Sized, Rhs: ?Sized> EqualityMethods<Rhs> for T {}

/// The hidden methods of `PartialOrd`.
///
/// Nothing unsafe relies on an implementation: the front end reports a missing comparison.
pub trait PartialOrderMethods<Rhs: ?Sized = Self>: PartialOrd<Rhs> {
    cuda_jit_macros::device_methods! {
        fn partial_cmp(&self, other: &Rhs) -> Option<Ordering> = partial_cmp<Self, Rhs>;
        fn lt(&self, other: &Rhs) -> bool = lt<Self, Rhs>;
        fn le(&self, other: &Rhs) -> bool = le<Self, Rhs>;
        fn gt(&self, other: &Rhs) -> bool = gt<Self, Rhs>;
        fn ge(&self, other: &Rhs) -> bool = ge<Self, Rhs>;
    }
}

impl<T: PartialOrd<Rhs> + ?Sized, Rhs: ?Sized> PartialOrderMethods<Rhs> for T {}

/// The hidden methods of `Ord`.
///
/// Nothing unsafe relies on an implementation: the front end reports a missing comparison.
pub trait OrderMethods: Ord {
    cuda_jit_macros::device_methods! {
        fn cmp(&self, other: &Self) -> Ordering = cmp<Self>;
        fn max(self, other: Self) -> Self where Self: Sized = max<Self>;
        fn min(self, other: Self) -> Self where Self: Sized = min<Self>;
        fn clamp(self, low: Self, high: Self) -> Self where Self: Sized = clamp<Self>;
    }
}

impl<T: Ord + ?Sized> OrderMethods for T {}
