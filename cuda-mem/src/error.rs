//! [`Error`]: what device memory can report beside the driver's own errors.

use std::fmt;

use cuda_driver::MemoryInfo;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong with device memory.
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
    /// The driver reports an error, or a kernel panicked.
    #[error(transparent)]
    Driver(#[from] cuda_driver::Error),
    /// The device has no room.
    #[error(transparent)]
    OutOfMemory(Box<OutOfMemory>),
    /// Two arrays have different shapes.
    #[error("shapes differ: the device array has {device:?}, the host array has {host:?}")]
    Shape {
        /// The device array's shape.
        device: Box<[usize]>,
        /// The host array's shape.
        host: Box<[usize]>,
    },
    /// The array would be larger than the address space.
    #[error("an array of shape {shape:?} with elements of {element_bytes} bytes is larger than the address space")]
    TooLarge {
        /// The shape asked for.
        shape: Box<[usize]>,
        /// Bytes of one element.
        element_bytes: usize,
    },
    /// A buffer was to be used on a stream of another context.
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
}

impl Error {
    /// Whether the device had no room.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            Error::OutOfMemory(_) => true,
            Error::Driver(error) => error.is_out_of_memory(),
            _ => false,
        }
    }

    /// Whether every later call on the same context will fail too.
    #[must_use]
    pub fn is_sticky(&self) -> bool {
        matches!(self, Error::Driver(error) if error.is_sticky())
    }
}

/// The device had no room, also after everything that was freed had been given back.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub requested: usize,
    /// Number of the device.
    pub device: usize,
    /// What the device had then, if it could tell.
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
