//! `Wrapping`, `Saturating` and `Reverse` of the standard library in kernels: their operators and methods as `#[device]`
//! functions of this crate.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

use std::cmp::{Ordering, Reverse};
use std::num::{Saturating, Wrapping};
use std::sync::Arc;

use crate::device;
use crate::num::arithmetic::{saturating_div, saturating_neg, saturating_pow};
use crate::num::integers::*;
use crate::typeinfo::pattern::Representative;
use crate::typeinfo::{
    Arithmetic, Callee, DeviceFn, DeviceType, ElementType, Field, KernelParam, Key, Operator, Returned, StructTy, Ty,
    ValueType, any_value, ty_of,
};

/// Implements the device's traits for a tuple struct of one number.
macro_rules! numbers {
    ($($of:ident $operators:ident)*) => { $(
        // SAFETY: `ty` describes the type whose key this is: the one number, which has the struct's size and alignment.
        unsafe impl<T: Int> Key for $of<T> {
            fn ty() -> Ty {
                Ty::Struct(Arc::new(StructTy {
                    name: std::any::type_name::<Self>(),
                    fields: vec![Field { name: "0", ty: ty_of::<T>(), offset: 0 }],
                    size: size_of::<Self>(),
                    align: align_of::<Self>(),
                    operators: $operators::<T>,
                    arithmetic: Arithmetic::Compared(true),
                }))
            }
        }

        // SAFETY: the key describes this very type.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Int> DeviceType for $of<T> {
            type K = Self;

            fn __cells(&self, push: &mut dyn FnMut(u128)) {
                self.0.__cells(push);
            }

            fn __variants() -> Vec<Option<Self>> {
                vec![any_value().map($of)]
            }
        }

        // SAFETY: the cell is that of the number.
        unsafe impl<T: Int> ValueType for $of<T> {
            const CELLS: usize = T::CELLS;
        }

        // SAFETY: it is a `repr(transparent)` struct of an integer, of which every bit pattern is a value.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Int> ElementType for $of<T> {}
        #[diagnostic::do_not_recommend]
        impl<T: Int> KernelParam for $of<T> {}

        impl Representative for $of<()> {}
    )* };
}

numbers! { Wrapping wrapping Saturating saturating }

/// Defines the operators of a tuple struct of one number, and the function that lists them: those with a number on each side
/// by the method that computes them, with their assignments.
macro_rules! operators {
    ($of:ident $list:ident {
        $($name:literal $operator:ident, $assign_name:literal $assign:ident $assign_number:ident
            = |$a:ident, $b:ident| $result:expr;)*
    } { $($other:literal $right:ty, $function:ident;)* }) => {
        $(
            #[doc = concat!("`", $name, "`")]
            #[device(library)]
            #[track_caller]
            pub fn $operator<T: Int>(left: $of<T>, right: $of<T>) -> $of<T> {
                let ($a, $b) = (left.0, right.0);
                $of($result)
            }

            #[doc = concat!("`", $assign_name, "`")]
            #[device(library)]
            #[track_caller]
            pub fn $assign<T: Int>(left: &mut $of<T>, right: $of<T>) {
                let ($a, $b) = (left.0, right.0);
                left.0 = $result;
            }

            #[doc = concat!("`", $assign_name, "` with a number")]
            #[device(library)]
            #[track_caller]
            pub fn $assign_number<T: Int>(left: &mut $of<T>, right: T) {
                let ($a, $b) = (left.0, right);
                left.0 = $result;
            }
        )*

        fn $list<T: Int>() -> Vec<Operator> {
            let operator = |name, right, instance| Operator { name, left: None, right, instance };
            vec![
                $(
                    operator($name, ty_of::<$of<T>>(), $operator::<T>::instance()),
                    operator($assign_name, ty_of::<$of<T>>(), $assign::<T>::instance()),
                    operator($assign_name, ty_of::<T>(), $assign_number::<T>::instance()),
                )*
                $(operator($other, ty_of::<$right>(), $function::<T>::instance()),)*
            ]
        }
    };
}

operators! {
    Wrapping wrapping {
        "Add" wrapping_sum, "AddAssign" wrapping_add_assign wrapping_add_number = |a, b| wrapping_add(a, b);
        "Sub" wrapping_difference, "SubAssign" wrapping_sub_assign wrapping_sub_number = |a, b| wrapping_sub(a, b);
        "Mul" wrapping_product, "MulAssign" wrapping_mul_assign wrapping_mul_number = |a, b| wrapping_mul(a, b);
        "Div" wrapping_quotient, "DivAssign" wrapping_div_assign wrapping_div_number = |a, b| wrapping_div(a, b);
        "Rem" wrapping_remainder, "RemAssign" wrapping_rem_assign wrapping_rem_number = |a, b| wrapping_rem(a, b);
        "BitAnd" wrapping_and, "BitAndAssign" wrapping_and_assign wrapping_and_number = |a, b| a & b;
        "BitOr" wrapping_or, "BitOrAssign" wrapping_or_assign wrapping_or_number = |a, b| a | b;
        "BitXor" wrapping_xor, "BitXorAssign" wrapping_xor_assign wrapping_xor_number = |a, b| a ^ b;
    } {
        "Shl" usize, wrapping_left;
        "Shr" usize, wrapping_right;
        "ShlAssign" usize, wrapping_left_assign;
        "ShrAssign" usize, wrapping_right_assign;
        "Neg" Wrapping<T>, wrapping_negated;
        "Not" Wrapping<T>, wrapping_inverted;
    }
}

operators! {
    Saturating saturating {
        "Add" saturating_sum, "AddAssign" saturating_add_assign saturating_add_number = |a, b| saturating_add(a, b);
        "Sub" saturating_difference, "SubAssign" saturating_sub_assign saturating_sub_number = |a, b| saturating_sub(a, b);
        "Mul" saturating_product, "MulAssign" saturating_mul_assign saturating_mul_number = |a, b| saturating_mul(a, b);
        "Div" saturating_quotient, "DivAssign" saturating_div_assign saturating_div_number = |a, b| saturating_div(a, b);
        "Rem" saturating_remainder, "RemAssign" saturating_rem_assign saturating_rem_number = |a, b| a % b;
        "BitAnd" saturating_and, "BitAndAssign" saturating_and_assign saturating_and_number = |a, b| a & b;
        "BitOr" saturating_or, "BitOrAssign" saturating_or_assign saturating_or_number = |a, b| a | b;
        "BitXor" saturating_xor, "BitXorAssign" saturating_xor_assign saturating_xor_number = |a, b| a ^ b;
    } {
        "Neg" Saturating<T>, saturating_negated;
        "Not" Saturating<T>, saturating_inverted;
    }
}

/// `<<`, by an amount modulo the width.
#[device(library)]
pub fn wrapping_left<T: Int>(left: Wrapping<T>, by: usize) -> Wrapping<T> {
    Wrapping(wrapping_shl(left.0, by as u32))
}

/// `>>`, by an amount modulo the width.
#[device(library)]
pub fn wrapping_right<T: Int>(left: Wrapping<T>, by: usize) -> Wrapping<T> {
    Wrapping(wrapping_shr(left.0, by as u32))
}

/// `<<=`
#[device(library)]
pub fn wrapping_left_assign<T: Int>(left: &mut Wrapping<T>, by: usize) {
    left.0 = wrapping_shl(left.0, by as u32);
}

/// `>>=`
#[device(library)]
pub fn wrapping_right_assign<T: Int>(left: &mut Wrapping<T>, by: usize) {
    left.0 = wrapping_shr(left.0, by as u32);
}

/// `-`
#[device(library)]
pub fn wrapping_negated<T: Int>(of: Wrapping<T>) -> Wrapping<T> {
    Wrapping(wrapping_neg(of.0))
}

/// `!`
#[device(library)]
pub fn wrapping_inverted<T: Int>(of: Wrapping<T>) -> Wrapping<T> {
    Wrapping(!of.0)
}

/// `-`
#[device(library)]
pub fn saturating_negated<T: Int>(of: Saturating<T>) -> Saturating<T> {
    Saturating(saturating_neg(of.0))
}

/// `!`
#[device(library)]
pub fn saturating_inverted<T: Int>(of: Saturating<T>) -> Saturating<T> {
    Saturating(!of.0)
}

/// The hidden methods of `Saturating`.
///
/// Nothing unsafe relies on an implementation.
pub trait SaturatingMethods<T: Int>: Sized {
    cuda_jit_macros::device_methods! {
        fn count_ones(self) -> u32 = saturating_count_ones<T>;
        fn count_zeros(self) -> u32 = saturating_count_zeros<T>;
        fn leading_zeros(self) -> u32 = saturating_leading_zeros<T>;
        fn pow(self, exponent: u32) -> Saturating<T> = saturating_power<T>;
        fn trailing_zeros(self) -> u32 = saturating_trailing_zeros<T>;
    }
}

impl<T: Int> SaturatingMethods<T> for Saturating<T> {}

macro_rules! counts {
    ($($function:ident = $count:ident;)*) => { $(
        #[doc = concat!("`", stringify!($count), "`")]
        #[device(library)]
        pub fn $function<T: Int>(of: Saturating<T>) -> u32 {
            $count(of.0)
        }
    )* };
}

counts! {
    saturating_count_ones = count_ones;
    saturating_count_zeros = count_zeros;
    saturating_leading_zeros = leading_zeros;
    saturating_trailing_zeros = trailing_zeros;
}

/// `pow`
#[device(library)]
pub fn saturating_power<T: Int>(of: Saturating<T>, exponent: u32) -> Saturating<T> {
    Saturating(saturating_pow(of.0, exponent))
}

// SAFETY: `ty` describes the type whose key this is: the one value. The layout is the front end's, so that no size, alignment
// or offset has to match rustc's.
unsafe impl<T: ValueType + Ord> Key for Reverse<T> {
    fn ty() -> Ty {
        Ty::Struct(Arc::new(StructTy {
            name: std::any::type_name::<Self>(),
            fields: vec![Field { name: "0", ty: ty_of::<T>(), offset: 0 }],
            size: 0,
            align: 0,
            operators: reversed::<T>,
            arithmetic: Arithmetic::Compared(false),
        }))
    }
}

/// The operators of [`Reverse`].
fn reversed<T: ValueType + Ord>() -> Vec<Operator> {
    let operator = |name, instance| Operator { name, left: None, right: ty_of::<Reverse<T>>(), instance };
    vec![operator("PartialOrd", reverse_partial_cmp::<T>::instance()), operator("Ord", reverse_cmp::<T>::instance())]
}

/// `partial_cmp`
#[device(library)]
pub fn reverse_partial_cmp<T: ValueType + Ord>(left: &Reverse<T>, right: &Reverse<T>) -> Option<Ordering> {
    Some(right.0.cmp(&left.0))
}

/// `cmp`
#[device(library)]
pub fn reverse_cmp<T: ValueType + Ord>(left: &Reverse<T>, right: &Reverse<T>) -> Ordering {
    right.0.cmp(&left.0)
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: ValueType + Ord> DeviceType for Reverse<T> {
    type K = Self;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        self.0.__cells(push);
    }

    fn __variants() -> Vec<Option<Self>> {
        vec![any_value().map(Reverse)]
    }
}

// SAFETY: the cells are those of the value.
unsafe impl<T: ValueType + Ord> ValueType for Reverse<T> {
    const CELLS: usize = T::CELLS;
}

#[diagnostic::do_not_recommend]
impl<T: ValueType + Ord> KernelParam for Reverse<T> {}

impl Representative for Reverse<()> {}
