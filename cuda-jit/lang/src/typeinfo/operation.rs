//! Operations: functions and methods that the compiler lowers itself, each represented by an item of its own.
//!
//! An operation is a type, defined by [`operations!`], which represents the method: a probe's hidden method returns
//! [`Returned`](super::Returned) with it. rustc resolves the method, and the types of its parameters and its result. The
//! compiler matches [`Operation`] exhaustively, and does not compare names.
//!
//! # Safety
//!
//! The only unsafe code is the `DeviceFn` implementations, which describe the operations to the compiler, each with its
//! signature.

use super::{DeviceType, Ty, ty_of};
use crate::kir::{BinaryOp, CompareOp, UnaryOp};

/// The kind of an operation on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A unary operator on a number.
    Unary(UnaryOp),
    /// A binary operator on two numbers; integers wrap.
    Binary(BinaryOp),
    /// The absolute value of a number; overflow panics if overflow checks are on.
    Abs,
    /// A count of an integer's bits, as `u32`.
    Count(UnaryOp),
    /// The bytes of an integer in reverse order.
    SwapBytes,
    /// The bits of a number as another type of the same width.
    Bits,
    /// The number converted, as by `as`.
    Cast,
    /// A shift by a `u32`, modulo the width.
    Shift(BinaryOp),
    /// A rotation by a `u32`, modulo the width.
    Rotate {
        /// True of a rotation to the left.
        left: bool,
    },
    /// True if a binary operator on integers overflows.
    Overflows(BinaryOp),
    /// The product of two floats plus a third, rounded once.
    Fma,
    /// A mathematical function of a float.
    Math(Math),
    /// The dot product of two vectors.
    Dot,
    /// The elements of a vector as an array.
    ToArray,
    /// A comparison of two values behind references, by `PartialEq` or `PartialOrd`.
    Compare(CompareOp),
    /// The order of two values behind references, by `Ord`.
    Order,
    /// The order of two values behind references, by `PartialOrd`.
    PartialOrder,
    /// The length of a slice.
    Len,
    /// The value of a `Constant`, in place.
    HostConstantValue,
    /// An uninitialised array.
    UninitArray,
    /// The memory of a slice as a slice of a number of elements of another type.
    Regroup,
    /// `Some` of a value if a condition is true; the value is evaluated in either case.
    SomeWhere,
}

/// A mathematical function of a float, named as the method is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the standard library documents them")]
pub enum Math {
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atan2,
    Atanh,
    Cbrt,
    Cos,
    Cosh,
    DivEuclid,
    Exp,
    Exp2,
    ExpM1,
    Hypot,
    Ln,
    Ln1p,
    Log10,
    Log2,
    Powf,
    Powi,
    RemEuclid,
    Round,
    Sin,
    Sinh,
    Tan,
    Tanh,
    ToDegrees,
    ToRadians,
}

/// The types of an operation's parameters, the receiver's first, and of its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    /// The parameters' types.
    pub params: Vec<Ty>,
    /// The result's type.
    pub result: Ty,
}

impl Typing {
    /// The typing of parameters, as a tuple, and a result.
    pub fn of<P: Parameters, R: DeviceType>() -> Self {
        Typing { params: P::types(), result: ty_of::<R>() }
    }
}

/// The types of parameters, as a tuple.
///
/// Nothing unsafe relies on an implementation: only tuples implement it.
pub trait Parameters {
    /// The types in order.
    fn types() -> Vec<Ty>;
}

macro_rules! parameters {
    ($(($($name:ident)*))*) => { $(
        impl<$($name: DeviceType),*> Parameters for ($($name,)*) {
            fn types() -> Vec<Ty> {
                vec![$(ty_of::<$name>()),*]
            }
        }
    )* };
}

parameters! { () (A) (A B) (A B C) (A B C D) }

/// Defines the types that represent operations, generic over the types in brackets: the types of the parameters and of the
/// result, and the [`Operation`]. Beside each is a function, which the device library calls.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident[$($generic:ident: $bound:path),*]($($param:ty),*) -> $output:ty => $operation:expr;)*) => { $(
        $(#[$doc])*
        pub(crate) fn $name<$($generic: $bound),*>($(_: $param),*) -> $output {
            unreachable!("the device's own function")
        }

        $crate::typeinfo::by_path::callee! {
            $(#[$doc])*
            #[expect(non_camel_case_types, reason = "it stands for the method of this name")]
            pub $name[$($generic),*];
            #[diagnostic::do_not_recommend]
            where [$($generic: $bound),*] fn ($($param,)*) => $output {
                let _: fn($($param),*) -> $output = $name::<$($generic),*>;
                let typing = $crate::typeinfo::Typing::of::<($($param,)*), $output>;
                let body = $crate::typeinfo::Body::Operation($operation, typing);
                $crate::typeinfo::Instance { body, generics: Vec::new() }
            }
        }
    )* };
}

/// Defines operations whose path has all generic arguments, and whose types may contain references that are not `'static`.
macro_rules! unconstrained_operations {
    ($($(#[$doc:meta])* $vis:vis $name:ident[$($generic:ident),*]($($param:ty),*) -> $output:ty => $operation:expr;)*) => { $(
        $crate::typeinfo::by_path::callee! {
            $(#[$doc])*
            #[expect(non_camel_case_types, reason = "it stands for the method of this name")]
            $vis $name[$($generic),*];
            where [$($generic: $crate::typeinfo::DeviceType),*]
            fn $crate::typeinfo::Unconstrained => $crate::typeinfo::Unconstrained {
                let typing = || $crate::typeinfo::Typing {
                    params: vec![$($crate::typeinfo::ty_of::<$param>()),*],
                    result: $crate::typeinfo::ty_of::<$output>(),
                };
                let body = $crate::typeinfo::Body::Operation($operation, typing);
                $crate::typeinfo::Instance { body, generics: Vec::new() }
            }
        }
    )* };
}

pub(crate) use {operations, unconstrained_operations};
