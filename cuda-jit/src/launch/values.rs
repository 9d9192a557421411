//! Values that are passed to a kernel by value.
//!
//! # Safety
//!
//! The implementations are for types whose parameters are their cells, none of which is an address.

use std::marker::PhantomData;

use cuda_jit_lang::each_vector;
use num_complex::Complex;

use crate::device::Conditional;
use crate::typeinfo::ValueType;
use crate::{bf16, e4m3, e4m3x2, e5m2, e5m2x2, e8m0, e8m0x2, f16};

/// A [`ValueType`] that is passed to a kernel by value.
///
/// # Safety
///
/// A parameter of the type is its [`cells`](ValueType::cells). `#[derive(DeviceType)]` implements it.
#[cfg_attr(doc, doc(hidden))]
pub unsafe trait ArgType: ValueType {}

/// Implements [`ArgType`] for a type with a derive: generics, type, bounds.
#[doc(hidden)]
#[macro_export]
macro_rules! argument {
    ([$($generics:tt)*] [$($ty:tt)*] [$($bounds:tt)*]) => {
        // SAFETY: it is passed as its fields, which are values.
        unsafe impl $($generics)* $crate::launch::ArgType for $($ty)* $($bounds)* {}
    };
}

macro_rules! values {
    ($($ty:ty),*) => { $(
        // SAFETY: it is passed as the numbers that it consists of, which are its cells.
        unsafe impl ArgType for $ty {}
    )* };
}

macro_rules! vectors {
    ($($name:ident = $count:literal $number:ident [$($field:ident)*] align $align:literal as $c:literal;)*) => {
        values!($(crate::$name),*);
    };
}

values!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f16, bf16, f32, f64, bool, char);
values!(e4m3, e4m3x2, e5m2, e5m2x2, e8m0, e8m0x2, Conditional);
each_vector!(vectors);

// SAFETY: it is passed as its tag and its value, which are its cells.
unsafe impl<T: ValueType> ArgType for Option<T> {}
// SAFETY: it is passed as its tag and both values, which are its cells.
unsafe impl<T: ValueType, E: ValueType> ArgType for Result<T, E> {}
// SAFETY: it has no cells, and is passed as none.
unsafe impl<T: ?Sized + 'static> ArgType for PhantomData<T> {}
// SAFETY: it is passed as its real and its imaginary part, which are its cells.
unsafe impl<T> ArgType for Complex<T> where Complex<T>: ValueType {}
