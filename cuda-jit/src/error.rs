//! What compiling and launching kernels can fail with.

use std::convert::Infallible;
use std::fmt;

use crate::back::llvm::EmitError;
use crate::front::LowerError;
use crate::target::TargetError;

/// The result of compiling or launching.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a kernel was not compiled or launched, or what it came to.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver, a launch configuration, or a panic in a kernel.
    #[error(transparent)]
    Driver(#[from] cuda_driver::Error),
    /// Device memory.
    #[error(transparent)]
    Memory(#[from] cuda_mem::Error),
    /// The kernel uses something that the device language does not have for its types.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The back end could not compile it.
    #[error("{file}:{line}: kernel `{kernel}`: {source}")]
    Emit {
        /// The kernel.
        kernel: &'static str,
        /// The source file.
        file: &'static str,
        /// The line of the kernel's name.
        line: u32,
        /// What the back end says.
        #[source]
        source: Box<EmitError>,
    },
    /// The compute capability is not one that the compiler knows.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The thread has no current context.
    #[error("no current context: call `Context::set_current`, pass a device array or a stream, or use `cuda_prelude`")]
    NoContext,
    /// A tool of NVIDIA's toolkit is needed for this and not there, or failed.
    #[error("{0}")]
    Tool(String),
    /// No device could be chosen to run on.
    #[error("no device to run on: {0}")]
    NoDevice(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An argument lies in another context than the launch.
    #[error("argument {index} of kernel `{kernel}` lies on device {found}, but the launch is on device {wanted}")]
    OtherContext {
        /// The kernel.
        kernel: &'static str,
        /// The argument, from 0.
        index: usize,
        /// The argument's device.
        found: usize,
        /// The launch's device.
        wanted: usize,
    },
}

impl Error {
    /// The panic, if a kernel panicked.
    pub fn kernel_panic(&self) -> Option<&cuda_driver::KernelPanic> {
        match self {
            Error::Driver(error) => error.kernel_panic(),
            Error::Memory(error) => error.kernel_panic(),
            _ => None,
        }
    }
}

/// As it displays: `fn main() -> Result<()>` prints errors by `Debug`, and a person reads them.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// So that `?` works on a launch where the driver's own errors are expected, as inside `Stream::scope`.
impl<A: std::fmt::Debug> From<cuda_mem::Refused<A>> for Error {
    fn from(refused: cuda_mem::Refused<A>) -> Self {
        Error::Memory(refused.into())
    }
}

impl<A: std::fmt::Debug> From<Box<cuda_mem::Refused<A>>> for Error {
    fn from(refused: Box<cuda_mem::Refused<A>>) -> Self {
        Error::Memory(refused.into())
    }
}

impl From<Error> for cuda_driver::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Driver(error) => error,
            other => cuda_driver::Error::other(other),
        }
    }
}

impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
