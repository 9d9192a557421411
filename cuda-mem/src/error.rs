//! [`Error`]: errors of device memory, beside the driver's own.

use std::fmt;

use cuda_driver::{Context, MemoryInfo, Stream};
use ndarray::Dimension;

use crate::Element;
use crate::array::DeviceArray;
use crate::array::storage::Storage;
use crate::share::exchange::ExchangeError;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of device memory.
///
/// # Examples
///
/// ```
/// use ndarray::{Array1, array};
///
/// # fn main() -> cuda_mem::Result<()> {
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::to_device(&context, &array![1, 2, 3])?;
/// let error = x.copy_to_host_into(&mut Array1::zeros(4)).unwrap_err();
/// assert_eq!(error.to_string(), "shapes differ: the device array has [3], the host array has [4]");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver returned an error, or a kernel panicked.
    #[error(transparent)]
    Driver(#[from] cuda_driver::Error),
    /// The device has no room.
    #[error(transparent)]
    OutOfMemory(Box<OutOfMemory>),
    /// The host has no room for device-accessible memory.
    #[error("the host has no room for {bytes} bytes of {kind} memory ({cause})")]
    HostMemory {
        /// The requested bytes.
        bytes: usize,
        /// The kind of memory.
        kind: &'static str,
        /// The driver's error.
        cause: cuda_driver::Error,
    },
    /// Host memory cannot be page-locked, since it or a part of it already is.
    #[error(
        "{bytes} bytes of host memory at {address:#x} cannot be page-locked, since some of them already are; end the \
         earlier `pinned` or `mapped` first, or use its array"
    )]
    AlreadyPinned {
        /// The address of the memory.
        address: usize,
        /// The size of the memory in bytes.
        bytes: usize,
    },
    /// The driver or the device does not support the operation.
    #[error("device {device} has no {what}; {instead}")]
    Unsupported {
        /// Number of the device.
        device: usize,
        /// The requested operation.
        what: &'static str,
        /// The alternative.
        instead: &'static str,
    },
    /// External memory cannot be an array of this shape and type.
    #[error(
        "memory at {address:#x} cannot be an array of shape {shape:?} with strides {strides:?} of `{element}`: {what}"
    )]
    External {
        /// The address of the first element.
        address: u64,
        /// The shape.
        shape: Box<[usize]>,
        /// The strides, in elements.
        strides: Box<[isize]>,
        /// The element type.
        element: &'static str,
        /// The reason.
        what: &'static str,
    },
    /// An array could not be exchanged with another library or process.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// A copy was stopped by its progress callback.
    #[error("the progress callback stopped the copy after {done} of {total} bytes; the copied bytes stay")]
    Interrupted {
        /// Bytes that were copied.
        done: usize,
        /// Bytes of all elements.
        total: usize,
    },
    /// Two arrays have different shapes.
    #[error("shapes differ: the device array has {device:?}, the host array has {host:?}")]
    Shape {
        /// The device array's shape.
        device: Box<[usize]>,
        /// The host array's shape.
        host: Box<[usize]>,
    },
    /// An array does not broadcast to a shape.
    #[error("an array of shape {from:?} does not broadcast to {to:?}")]
    Broadcast {
        /// The shape of the array to broadcast.
        from: Box<[usize]>,
        /// The target shape.
        to: Box<[usize]>,
    },
    /// The array would exceed the address space.
    #[error("an array of shape {shape:?} with elements of {element_bytes} bytes is larger than the address space")]
    TooLarge {
        /// The requested shape.
        shape: Box<[usize]>,
        /// Bytes of one element.
        element_bytes: usize,
    },
    /// The operation needs another memory layout of the elements.
    #[error(
        "an array of shape {shape:?} with strides {strides:?} does not allow {what}; make a contiguous copy first \
         (`to_c_order`)"
    )]
    NotContiguous {
        /// The array's shape.
        shape: Box<[usize]>,
        /// Its strides, in elements.
        strides: Box<[isize]>,
        /// The requested operation.
        what: &'static str,
    },
    /// A new shape has another number of elements.
    #[error("an array of shape {from:?} has {} elements, the shape {to:?} has {}", elements(from), elements(to))]
    Reshape {
        /// The array's shape.
        from: Box<[usize]>,
        /// The requested shape.
        to: Box<[usize]>,
    },
    /// The number of axes differs from that of the requested type.
    #[error("an array of shape {shape:?} has {} axes, not {wanted}", shape.len())]
    Axes {
        /// The array's shape.
        shape: Box<[usize]>,
        /// The requested number of axes.
        wanted: usize,
    },
    /// The elements cannot be viewed as another type.
    #[error(
        "an array of shape {shape:?} with strides {strides:?} of `{}` ({} bytes) at {address:#x} cannot be viewed as `{}` \
         ({} bytes, aligned to {}): the last axis must be contiguous, hold a whole number of the new elements, and be aligned for them",
        from.0, from.1, to.0, to.1, to.2
    )]
    Cast {
        /// The array's shape.
        shape: Box<[usize]>,
        /// Its strides, in elements.
        strides: Box<[isize]>,
        /// The address of its first element.
        address: u64,
        /// Its element type: name and bytes.
        from: (&'static str, usize),
        /// The requested element type: name, bytes and alignment.
        to: (&'static str, usize, usize),
    },
    /// An axis cannot be split into equal parts.
    #[error(
        "axis {axis} of extent {extent} cannot be split into {sections} equal parts; `axis_chunks` allows a smaller last part"
    )]
    Split {
        /// The axis.
        axis: usize,
        /// Its extent.
        extent: usize,
        /// The requested number of parts.
        sections: usize,
    },
    /// A buffer cannot be used on a stream of another context.
    #[error(
        "memory of device {memory} cannot be used in {stream}, which belongs to device {device}; copy it to that device \
         first"
    )]
    OtherContext {
        /// Number of the device that the memory is on.
        memory: usize,
        /// The stream, as it prints.
        stream: Box<str>,
        /// Number of the stream's device.
        device: usize,
    },
    /// The context's memory manager failed.
    #[error("the memory manager `{manager}` could not {action}: {cause}")]
    Manager {
        /// The manager's name.
        manager: Box<str>,
        /// The failed operation.
        action: &'static str,
        /// Its error.
        #[source]
        cause: Box<Error>,
    },
    /// A memory manager was set after the context's memory was allocated by another source.
    #[error(
        "the memory manager `{manager}` comes too late: {} allocates the memory of device {device} already; set it before \
         the first array",
        current.as_ref().map_or("the driver".to_owned(), |current| format!("`{current}`"))
    )]
    ManagerTooLate {
        /// The manager's name.
        manager: Box<str>,
        /// Number of the device.
        device: usize,
        /// The name of the manager that was set before, if there was one.
        current: Option<Box<str>>,
    },
}

/// The error of an operation that takes an array by value; it returns the array.
///
/// It becomes an [`Error`] by `?`, which drops the array.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::from_slice(&context, &[1, 2, 3])?;
/// let refused = x.into_shape((2, 2)).unwrap_err();
/// assert_eq!(refused.error.to_string(), "an array of shape [3] has 3 elements, the shape [2, 2] has 4");
/// assert_eq!(refused.array.len(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Refused<A: fmt::Debug> {
    /// The unchanged array.
    pub array: A,
    /// The reason.
    pub error: Error,
}

impl<A: fmt::Debug> From<Refused<A>> for Error {
    fn from(refused: Refused<A>) -> Self {
        refused.error
    }
}

impl<A: fmt::Debug> From<Box<Refused<A>>> for Error {
    fn from(refused: Box<Refused<A>>) -> Self {
        refused.error
    }
}

/// The error that [`Stream::scope`](cuda_driver::Stream::scope) and other closures of the driver crate return: the
/// driver's own error, or one with this as its source.
impl From<Error> for cuda_driver::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Driver(error) => error,
            other => cuda_driver::Error::other(other),
        }
    }
}

/// The number of elements of a shape, as text; "too many" on overflow.
fn elements(shape: &[usize]) -> String {
    let product = shape.iter().try_fold(1_usize, |product, extent| product.checked_mul(*extent));
    product.map_or_else(|| "too many".to_owned(), |product| product.to_string())
}

impl Error {
    /// Returns true for the driver's refusal of a call inside a host function.
    pub(crate) fn is_not_permitted(&self) -> bool {
        matches!(self, Error::Driver(error) if error.code() == Some(cuda_sys::CUresult::CUDA_ERROR_NOT_PERMITTED))
    }

    /// The panic, if a kernel panicked.
    #[must_use]
    pub fn kernel_panic(&self) -> Option<&cuda_driver::KernelPanic> {
        match self {
            Error::Driver(error) => error.kernel_panic(),
            _ => None,
        }
    }

    #[cold]
    pub(crate) fn not_contiguous<T: Element, D: Dimension, S: Storage>(
        array: &DeviceArray<T, D, S>,
        what: &'static str,
    ) -> Self {
        Error::NotContiguous { shape: array.shape().into(), strides: array.strides().into(), what }
    }

    #[cold]
    pub(crate) fn other_context(memory: &Context, stream: &Stream) -> Self {
        Error::OtherContext {
            memory: memory.device().ordinal(),
            stream: stream.to_string().into(),
            device: stream.context().device().ordinal(),
        }
    }

    /// Returns true if the device had no room.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let pool = cuda_mem::MemoryPool::with_limit(&context, 1 << 20)?;
    /// let error = cuda_mem::zeros::<u8, _>(&pool, 1 << 30).unwrap_err();
    /// assert!(error.is_out_of_memory() && !error.is_sticky() && error.kernel_panic().is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            Error::OutOfMemory(_) | Error::HostMemory { .. } => true,
            Error::Driver(error) => error.is_out_of_memory(),
            Error::Manager { cause, .. } => cause.is_out_of_memory(),
            _ => false,
        }
    }

    /// Returns true if every later call on the same context will fail too.
    #[must_use]
    pub fn is_sticky(&self) -> bool {
        match self {
            Error::Driver(error) => error.is_sticky(),
            Error::Manager { cause, .. } => cause.is_sticky(),
            _ => false,
        }
    }
}

/// The device had no room, even after all freed memory was returned.
///
/// # Examples
///
/// ```
/// use cuda_mem::{Error, OutOfMemory};
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let pool = cuda_mem::MemoryPool::with_limit(&context, 1 << 20)?;
/// match cuda_mem::zeros::<u8, _>(&pool, 1 << 30) {
///     Err(Error::OutOfMemory(found)) => {
///         let OutOfMemory { requested, device, .. } = *found;
///         assert_eq!((requested, device), (1 << 30, 0));
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutOfMemory {
    /// The requested bytes.
    pub requested: usize,
    /// Number of the device.
    pub device: usize,
    /// The device's memory at that time, if it is known.
    pub memory: Option<MemoryInfo>,
    /// The driver's error.
    pub cause: cuda_driver::Error,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device {} has no room for {} bytes", self.device, self.requested)?;
        if let Some(memory) = self.memory {
            write!(f, ": {} of its {} bytes are free", memory.free, memory.total)?;
        }
        write!(f, " ({})", self.cause)
    }
}

impl std::error::Error for OutOfMemory {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}
