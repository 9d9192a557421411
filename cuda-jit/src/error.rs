//! The errors of compiling and launching kernels.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::target::{ComputeCapability, TargetError};
use crate::warnings::UnknownWarning;
#[cfg(feature = "compiler")]
use crate::{back::llvm::EmitError, front::LowerError, races::Races};

/// The result of compiling or launching.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Result, kernel};
///
/// #[kernel]
/// fn first(out: &mut [u32]) {
///     out[0] = 1;
/// }
///
/// fn run() -> Result<()> {
///     first::launch((1, 1), &mut vec![0; 1])
/// }
///
/// // No context is selected on this thread.
/// assert!(run().is_err());
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of compiling, launching or running a kernel.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Error, kernel};
///
/// #[kernel]
/// fn first(out: &mut [u32], at: usize) {
///     out[at] = 1;
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut out = vec![0; 4];
/// let error = first::launch((1, 2000), &mut out, 0_usize).unwrap_err();
/// assert!(matches!(error, Error::Driver(_)) && error.to_string().starts_with("block of 2000 threads"));
/// let error = first::launch((1, 1), &mut out, 9_usize).unwrap_err();
/// let panic = error.kernel_panic().expect("the index is too large");
/// assert_eq!(panic.message, "index out of bounds: the len is 4 but the index is 9");
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the driver or a launch configuration, or a panic in a kernel.
    #[error(transparent)]
    Driver(#[from] cuda_driver::Error),
    /// An error of device memory.
    #[error(transparent)]
    Memory(#[from] cuda_mem::Error),
    /// The kernel uses a construct that the device language does not support for its types.
    #[cfg(feature = "compiler")]
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The back end could not compile it.
    #[cfg(feature = "compiler")]
    #[error("{file}:{line}: kernel `{kernel}`: {source}")]
    Emit {
        /// The kernel.
        kernel: &'static str,
        /// The source file.
        file: &'static str,
        /// The line of the kernel's name.
        line: u32,
        /// The back end's error.
        #[source]
        source: Box<EmitError>,
    },
    /// A `race_free` kernel is not proved to be free of data races.
    #[cfg(feature = "compiler")]
    #[error("{file}:{line}: kernel `{kernel}` is `race_free`, but it is {races}")]
    Races {
        /// The kernel.
        kernel: &'static str,
        /// The source file.
        file: &'static str,
        /// The line of the kernel's name.
        line: u32,
        /// The places where the proof fails.
        races: Box<Races>,
    },
    /// The launch of a `race_free` kernel is none that its proof covers.
    #[error("kernel `{kernel}` is `race_free`, but not in this launch: {reason}")]
    NotRaceFree {
        /// The kernel.
        kernel: String,
        /// The reason.
        reason: String,
    },
    /// The compiler does not know the compute capability.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The program has no compiler, and no compiled code for the kernel.
    #[error("no code of kernel `{kernel}` for {device}: {reason}")]
    NotBundled {
        /// The kernel's path with its generic arguments, and its parameters' types.
        kernel: String,
        /// The device's compute capability.
        device: ComputeCapability,
        /// The reason.
        reason: NotBundled,
    },
    /// The bytes of an embedded bundle are no bundle.
    #[error("the bundle is damaged at byte {at}")]
    Bundle {
        /// The offset of the damaged entry.
        at: usize,
    },
    /// A compiled kernel could not be added to a bundle's file.
    #[error("cannot record into {}: {source}", file.display())]
    Record {
        /// The file.
        file: PathBuf,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// `CUDA_JIT_WARNINGS` has an unknown name.
    #[error(transparent)]
    Warning(#[from] UnknownWarning),
    /// The thread has no current context.
    #[error("no current context: call `Context::set_current`, pass a device array or a stream, or use `cuda_prelude`")]
    NoContext,
    /// A tool of NVIDIA's toolkit is missing, or failed.
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

/// The reason why an embedded bundle has no code for a kernel.
///
/// # Examples
///
/// ```
/// use cuda_jit::NotBundled;
///
/// let reason = NotBundled::OtherTargets(vec![(9, 0).into()]);
/// assert!(reason.to_string().starts_with("it was recorded for sm_90; add the device's to CUDA_JIT_RECORD_TARGETS"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotBundled {
    /// No bundle has been embedded yet.
    NothingEmbedded,
    /// The bundles do not have the kernel for these types.
    Absent,
    /// The kernel, or a function that it calls, has changed since it was recorded.
    Changed,
    /// The bundles have it for these targets only, whose code does not run on the device.
    OtherTargets(Vec<ComputeCapability>),
    /// It was recorded by this other version of the crate.
    OtherVersion(String),
    /// The bundle is damaged at this byte.
    Damaged(usize),
}

impl fmt::Display for NotBundled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const RECORD: &str = "record it: build the program with the feature `compiler`, run it with CUDA_JIT_RECORD set to the \
                              bundle's file, and build this one again";
        match self {
            NotBundled::NothingEmbedded => f.write_str(
                "this program is built without the compiler, and no bundle of kernels was embedded before this launch; \
                 call `embed_kernels!` at its beginning",
            ),
            NotBundled::Absent => write!(f, "no embedded bundle has it for these types; {RECORD}"),
            NotBundled::Changed => {
                write!(f, "its source, or that of a function that it calls, is not the one that was recorded; {RECORD}")
            }
            NotBundled::OtherTargets(targets) => {
                let targets: Vec<String> = targets.iter().map(ComputeCapability::to_string).collect();
                let list = targets.join(", ");
                write!(f, "it was recorded for {list}; add the device's to CUDA_JIT_RECORD_TARGETS and {RECORD}")
            }
            NotBundled::OtherVersion(version) => {
                write!(f, "it was recorded by cuda-jit {version}, and this is {}; {RECORD}", env!("CARGO_PKG_VERSION"))
            }
            NotBundled::Damaged(at) => write!(f, "the bundle is damaged at byte {at}; remove its file and {RECORD}"),
        }
    }
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

/// The same as `Display`, since `fn main() -> Result<()>` prints errors by `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Allows `?` on a launch where the driver's own errors are expected, as inside `Stream::scope`.
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
