//! The traits of `sum` and `product`.

use std::num::{Saturating, Wrapping};

use half::{bf16, f16};
use num_complex::Complex;

use super::DeviceIterator;
use crate::device;
use crate::num::integers::{Int, saturating_add, saturating_mul, wrapping_add, wrapping_mul};

/// A sum of elements of type `A`.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[diagnostic::on_unimplemented(
    message = "kernels have no sum of `{A}` as `{Self}`",
    label = "its elements are of type `{A}`",
    note = "of types of your own, write `#[device]` before the `impl Sum`; others are added by `fold`"
)]
#[device(library)]
pub trait DeviceSum<A>: Sized {
    /// Adds the elements.
    fn sum<I: DeviceIterator<Item = A>>(iter: I) -> Self;
}

/// A product of elements of type `A`.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[diagnostic::on_unimplemented(
    message = "kernels have no product of `{A}` as `{Self}`",
    label = "its elements are of type `{A}`",
    note = "of types of your own, write `#[device]` before the `impl Product`; others are multiplied by `fold`"
)]
#[device(library)]
pub trait DeviceProduct<A>: Sized {
    /// Multiplies the elements.
    fn product<I: DeviceIterator<Item = A>>(iter: I) -> Self;
}

/// Implements [`DeviceSum`] and [`DeviceProduct`] for numbers and references to them: the type, and the sum and the product
/// of no elements.
macro_rules! numbers {
    ($($ty:ty: $zero:expr, $one:expr;)*) => { $(
        #[device(library)]
        impl DeviceSum<$ty> for $ty {
            fn sum<I: DeviceIterator<Item = $ty>>(iter: I) -> $ty {
                iter.fold($zero, |sum, item| sum + item)
            }
        }

        #[device(library)]
        impl<'a> DeviceSum<&'a $ty> for $ty {
            fn sum<I: DeviceIterator<Item = &'a $ty>>(iter: I) -> $ty {
                iter.fold($zero, |sum, item| sum + *item)
            }
        }

        #[device(library)]
        impl DeviceProduct<$ty> for $ty {
            fn product<I: DeviceIterator<Item = $ty>>(iter: I) -> $ty {
                iter.fold($one, |product, item| product * item)
            }
        }

        #[device(library)]
        impl<'a> DeviceProduct<&'a $ty> for $ty {
            fn product<I: DeviceIterator<Item = &'a $ty>>(iter: I) -> $ty {
                iter.fold($one, |product, item| product * *item)
            }
        }
    )* };
}

numbers! {
    u8: 0, 1;
    u16: 0, 1;
    u32: 0, 1;
    u64: 0, 1;
    u128: 0, 1;
    usize: 0, 1;
    i8: 0, 1;
    i16: 0, 1;
    i32: 0, 1;
    i64: 0, 1;
    i128: 0, 1;
    isize: 0, 1;
    f32: -0.0, 1.0;
    f64: -0.0, 1.0;
    Complex<f32>: Complex::new(0.0, 0.0), Complex::new(1.0, 0.0);
    Complex<f64>: Complex::new(0.0, 0.0), Complex::new(1.0, 0.0);
}

/// Implements the traits for 16-bit floats, which are added and multiplied as `f32`, as `half` does it.
macro_rules! halves {
    ($($ty:ty)*) => { $(
        #[device(library)]
        impl DeviceSum<$ty> for $ty {
            fn sum<I: DeviceIterator<Item = $ty>>(iter: I) -> $ty {
                <$ty>::from_f32(iter.fold(-0.0f32, |sum, item| sum + item.to_f32()))
            }
        }

        #[device(library)]
        impl<'a> DeviceSum<&'a $ty> for $ty {
            fn sum<I: DeviceIterator<Item = &'a $ty>>(iter: I) -> $ty {
                <$ty>::from_f32(iter.fold(-0.0f32, |sum, item| sum + item.to_f32()))
            }
        }

        #[device(library)]
        impl DeviceProduct<$ty> for $ty {
            fn product<I: DeviceIterator<Item = $ty>>(iter: I) -> $ty {
                <$ty>::from_f32(iter.fold(1.0f32, |product, item| product * item.to_f32()))
            }
        }

        #[device(library)]
        impl<'a> DeviceProduct<&'a $ty> for $ty {
            fn product<I: DeviceIterator<Item = &'a $ty>>(iter: I) -> $ty {
                <$ty>::from_f32(iter.fold(1.0f32, |product, item| product * item.to_f32()))
            }
        }
    )* };
}

halves! { f16 bf16 }

/// Implements the traits for structs of one integer: the struct, and the functions that add and multiply the integers.
macro_rules! integers {
    ($($of:ident $add:ident $mul:ident)*) => { $(
        #[device(library)]
        impl<T: Int> DeviceSum<$of<T>> for $of<T> {
            fn sum<I: DeviceIterator<Item = $of<T>>>(iter: I) -> $of<T> {
                $of(iter.fold(T::ZERO, |sum, item| $add(sum, item.0)))
            }
        }

        #[device(library)]
        impl<'a, T: Int> DeviceSum<&'a $of<T>> for $of<T> {
            fn sum<I: DeviceIterator<Item = &'a $of<T>>>(iter: I) -> $of<T> {
                $of(iter.fold(T::ZERO, |sum, item| $add(sum, item.0)))
            }
        }

        #[device(library)]
        impl<T: Int> DeviceProduct<$of<T>> for $of<T> {
            fn product<I: DeviceIterator<Item = $of<T>>>(iter: I) -> $of<T> {
                $of(iter.fold(T::ONE, |product, item| $mul(product, item.0)))
            }
        }

        #[device(library)]
        impl<'a, T: Int> DeviceProduct<&'a $of<T>> for $of<T> {
            fn product<I: DeviceIterator<Item = &'a $of<T>>>(iter: I) -> $of<T> {
                $of(iter.fold(T::ONE, |product, item| $mul(product, item.0)))
            }
        }
    )* };
}

integers! {
    Wrapping wrapping_add wrapping_mul
    Saturating saturating_add saturating_mul
}
