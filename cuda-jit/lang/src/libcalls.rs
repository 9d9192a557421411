//! Functions of the language that the compiler calls for operations without an instruction.

pub use crate::device::atomics::emulated;
pub use crate::device::groups::coalesced::{lane_at, lane_down, lane_up, lane_xor, packed};
pub use crate::math::division::{divide_signed, divide_unsigned};
pub use crate::math::{instance as math_function, of_libdevice};
pub use crate::print::{significant, write_digits};
pub use crate::types::float8::widening;

use crate::typeinfo::{Ty, ty_of};

/// The type of the error for a slice that is too short for a view's shape.
pub fn shape_error() -> Ty {
    ty_of::<ndarray::ShapeError>()
}
