//! The traits of `sum` and `product`.

use half::{bf16, f16};
use num_complex::Complex;

use super::DeviceIterator;
use crate::device;

/// A sum of elements of type `A`.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait DeviceSum<A>: Sized {
    /// Adds the elements.
    fn total<I: DeviceIterator<Item = A>>(iter: I) -> Self;
}

/// A product of elements of type `A`.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait DeviceProduct<A>: Sized {
    /// Multiplies the elements.
    fn whole<I: DeviceIterator<Item = A>>(iter: I) -> Self;
}

/// Implements [`DeviceSum`] and [`DeviceProduct`] for numbers and references to them: the type, and the sum and the product
/// of no elements.
macro_rules! numbers {
    ($($ty:ty: $zero:expr, $one:expr;)*) => { $(
        #[device(library)]
        impl DeviceSum<$ty> for $ty {
            fn total<I: DeviceIterator<Item = $ty>>(iter: I) -> $ty {
                iter.fold($zero, |sum, item| sum + item)
            }
        }

        #[device(library)]
        impl<'a> DeviceSum<&'a $ty> for $ty {
            fn total<I: DeviceIterator<Item = &'a $ty>>(iter: I) -> $ty {
                iter.fold($zero, |sum, item| sum + *item)
            }
        }

        #[device(library)]
        impl DeviceProduct<$ty> for $ty {
            fn whole<I: DeviceIterator<Item = $ty>>(iter: I) -> $ty {
                iter.fold($one, |product, item| product * item)
            }
        }

        #[device(library)]
        impl<'a> DeviceProduct<&'a $ty> for $ty {
            fn whole<I: DeviceIterator<Item = &'a $ty>>(iter: I) -> $ty {
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
            fn total<I: DeviceIterator<Item = $ty>>(iter: I) -> $ty {
                <$ty>::from_f32(iter.fold(-0.0f32, |sum, item| sum + item.to_f32()))
            }
        }

        #[device(library)]
        impl<'a> DeviceSum<&'a $ty> for $ty {
            fn total<I: DeviceIterator<Item = &'a $ty>>(iter: I) -> $ty {
                <$ty>::from_f32(iter.fold(-0.0f32, |sum, item| sum + item.to_f32()))
            }
        }

        #[device(library)]
        impl DeviceProduct<$ty> for $ty {
            fn whole<I: DeviceIterator<Item = $ty>>(iter: I) -> $ty {
                <$ty>::from_f32(iter.fold(1.0f32, |product, item| product * item.to_f32()))
            }
        }

        #[device(library)]
        impl<'a> DeviceProduct<&'a $ty> for $ty {
            fn whole<I: DeviceIterator<Item = &'a $ty>>(iter: I) -> $ty {
                <$ty>::from_f32(iter.fold(1.0f32, |product, item| product * item.to_f32()))
            }
        }
    )* };
}

halves! { f16 bf16 }
