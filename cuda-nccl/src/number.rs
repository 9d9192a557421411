//! Element types and reductions, as NCCL names them.

use std::any::TypeId;

use cuda_mem::Element;
use cuda_sys::nccl::{ncclDataType_t, ncclRedOp_t};
use half::{bf16, f16};

/// A reduction of the elements that the ranks have at the same position.
///
/// # Examples
///
/// ```
/// use cuda_nccl::Reduction;
///
/// assert_eq!(format!("{:?}", Reduction::Average), "Average");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// The sum; integers wrap around.
    Sum,
    /// The product; integers wrap around.
    Product,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The sum divided by the number of ranks; for integers rounded towards zero.
    Average,
}

impl Reduction {
    pub(crate) fn raw(self) -> ncclRedOp_t {
        match self {
            Reduction::Sum => ncclRedOp_t::ncclSum,
            Reduction::Product => ncclRedOp_t::ncclProd,
            Reduction::Min => ncclRedOp_t::ncclMin,
            Reduction::Max => ncclRedOp_t::ncclMax,
            Reduction::Average => ncclRedOp_t::ncclAvg,
        }
    }
}

/// A number that NCCL reduces: `i8`, `u8`, `i32`, `u32`, `i64`, `u64`, `isize`, `usize`, `f16`, `bf16`, `f32`, `f64`.
///
/// NCCL has no reductions of 16-bit and 128-bit integers; every [`Element`] can be moved. The trait is sealed.
///
/// # Examples
///
/// ```
/// fn sum<T: cuda_nccl::Number>(
///     communicator: &cuda_nccl::Communicator,
///     x: &mut cuda_mem::DeviceArray<T, ndarray::Ix1>,
///     stream: &cuda_driver::Stream,
/// ) -> cuda_nccl::Result<()> {
///     communicator.all_reduce_in_place(x, cuda_nccl::Reduction::Sum, stream)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "NCCL does not reduce arrays of `{Self}`",
    note = "it reduces integers of 8, 32 and 64 bits, `f16`, `bf16`, `f32` and `f64`; view complex numbers as floats: `view_as::<f32>()`"
)]
pub trait Number: Element + sealed::Sealed {
    /// NCCL's name of the type.
    #[doc(hidden)]
    const TYPE: ncclDataType_t;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($type:ty => $name:ident,)*) => {
        $(
            impl sealed::Sealed for $type {}
            impl Number for $type {
                const TYPE: ncclDataType_t = ncclDataType_t::$name;
            }
        )*

        /// NCCL's name of the elements of a type that are only moved, and how many of them an element has. A type that is no
        /// number is its bytes.
        #[inline]
        pub(crate) fn moved<T: Element>() -> (ncclDataType_t, usize) {
            let id = TypeId::of::<T>();
            $(if id == TypeId::of::<$type>() {
                return (ncclDataType_t::$name, 1);
            })*
            (ncclDataType_t::ncclUint8, size_of::<T>())
        }
    };
}

const _: () = assert!(size_of::<usize>() == 8, "NCCL has no 32-bit systems");

numbers! {
    i8 => ncclInt8,
    u8 => ncclUint8,
    i32 => ncclInt32,
    u32 => ncclUint32,
    i64 => ncclInt64,
    u64 => ncclUint64,
    isize => ncclInt64,
    usize => ncclUint64,
    f16 => ncclFloat16,
    bf16 => ncclBfloat16,
    f32 => ncclFloat32,
    f64 => ncclFloat64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_moved_as_numbers_and_other_elements_as_bytes() {
        assert_eq!(moved::<bf16>(), (ncclDataType_t::ncclBfloat16, 1));
        assert_eq!(moved::<[f32; 3]>(), (ncclDataType_t::ncclUint8, 12));
        assert_eq!(moved::<u16>(), (ncclDataType_t::ncclUint8, 2));
        assert_eq!(moved::<usize>(), (<usize as Number>::TYPE, 1));
    }
}
