//! Errors of the standard library and of ndarray that kernels hold without looking into them.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the types here.

use super::{DeviceType, Key, Ty};

macro_rules! opaque_errors {
    ($($ty:path, $name:literal, $text:literal: $value:expr;)*) => { $(
        // SAFETY: nothing in it is the type's own: on the device it has one value.
        unsafe impl Key for $ty {
            fn ty() -> Ty {
                Ty::opaque_error($name, &[($text, 0)])
            }
        }

        // SAFETY: the key tells this very type.
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

// What kernels do that fails with `ShapeError` is to take a view of too short a slice.
opaque_errors! {
    ndarray::ShapeError, "ndarray::ShapeError", "ShapeError/OutOfBounds: out of bounds indexing":
        Some(ndarray::ShapeError::from_kind(ndarray::ErrorKind::OutOfBounds));
    std::array::TryFromSliceError, "core::array::TryFromSliceError", "TryFromSliceError(())":
        <[u8; 1]>::try_from(&[][..]).err();
    std::num::TryFromIntError, "core::num::TryFromIntError", "TryFromIntError(())": u8::try_from(256_u16).err();
}
