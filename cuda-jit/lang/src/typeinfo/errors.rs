//! Errors of the standard library and of ndarray, as opaque values of kernels.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

use super::{DeviceType, Key, Ty};

macro_rules! opaque_errors {
    ($($ty:path, $name:literal, $text:literal: $value:expr;)*) => { $(
        // SAFETY: no field is described: on the device the type has one value.
        unsafe impl Key for $ty {
            fn ty() -> Ty {
                Ty::opaque_error($name, &[($text, 0)])
            }
        }

        // SAFETY: the key describes this very type.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceType for $ty {
            type K = Self;

            fn __cells(&self, push: &mut dyn FnMut(u128)) {
                push(0);
            }

            fn __variants() -> Vec<Option<Self>> {
                vec![$value]
            }
        }
    )* };
}

// The only operation in kernels that fails with `ShapeError` is to take a view of a slice that is too short.
opaque_errors! {
    ndarray::ShapeError, "ndarray::ShapeError", "ShapeError/OutOfBounds: out of bounds indexing":
        Some(ndarray::ShapeError::from_kind(ndarray::ErrorKind::OutOfBounds));
    std::array::TryFromSliceError, "core::array::TryFromSliceError", "TryFromSliceError(())":
        <[u8; 1]>::try_from(&[][..]).err();
    std::num::TryFromIntError, "core::num::TryFromIntError", "TryFromIntError(())": u8::try_from(256_u16).err();
}
