//! [`Error`]: what keeps arrays, streams and contexts from being shared.

use cudarc::driver::DriverError;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The errors between cudarc and this stack.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let context = software_device().primary_context()?;
/// use cuda_cudarc::{Bridge, Error};
///
/// let bridge = Bridge::open(&context)?;
/// let error = bridge.import_stream(&bridge.cudarc_context().per_thread_stream()).unwrap_err();
/// assert!(matches!(error, Error::PerThreadStream));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The two contexts are of different devices.
    #[error(
        "cudarc's context is of device {theirs}, and the other one of device {ours}; make both of the same device's number"
    )]
    OtherDevice {
        /// The number of the device in cudarc.
        theirs: usize,
        /// The number of the device in this stack.
        ours: usize,
    },
    /// cudarc's context is not its device's primary context.
    #[error(
        "cudarc's context is not the primary context of device {device}, the only one that this stack uses; make it by \
         `CudaContext::new({device})`"
    )]
    NotPrimary {
        /// The number of the device.
        device: usize,
    },
    /// cudarc has opened another driver library.
    #[error(
        "cudarc has opened another driver than {ours}, so that device {device} has two contexts; let `CUDA_DRIVER_PATH` name \
         the library that cudarc finds as `libcuda.so`, or open it before cudarc does"
    )]
    OtherDriver {
        /// The number of the device.
        device: usize,
        /// The library of this stack's functions.
        ours: String,
    },
    /// Something of cudarc's belongs to another `CudaContext`.
    #[error("{what} belongs to another `CudaContext` than the bridge; make a bridge of its own context")]
    OtherCudarcContext {
        /// The kind of the object.
        what: &'static str,
    },
    /// A stream or an array belongs to another context.
    #[error("{what} belongs to device {found}, and the bridge to device {wanted}; make a bridge of its own context")]
    OtherContext {
        /// The kind of the object.
        what: &'static str,
        /// The number of its device.
        found: usize,
        /// The number of the bridge's device.
        wanted: usize,
    },
    /// cudarc's per-thread stream means another queue on each thread.
    #[error(
        "cudarc's per-thread stream means another queue on each thread, so that nothing can be ordered after it; use one of \
         `CudaContext::new_stream` or the default stream"
    )]
    PerThreadStream,
    /// cudarc's slices have their elements in one piece.
    #[error(
        "an array of shape {shape:?} with strides {strides:?} is no slice; make a contiguous copy first (`to_c_order`)"
    )]
    NotContiguous {
        /// The array's shape.
        shape: Box<[usize]>,
        /// Its strides, in elements.
        strides: Box<[isize]>,
    },
    /// An array was not made of a slice of cudarc's with these elements.
    #[error("the array's memory is not a `CudaSlice<{element}>` of cudarc's; `export_array` lends any array to cudarc")]
    NotASlice {
        /// The element type that was asked for.
        element: &'static str,
    },
    /// cudarc reports an error.
    #[error("cudarc: {0}")]
    Cudarc(#[from] DriverError),
    /// The driver reports an error.
    #[error(transparent)]
    Driver(#[from] cuda_driver::Error),
    /// The array's memory is refused, or the driver reports an error.
    #[error(transparent)]
    Memory(#[from] cuda_mem::Error),
}
