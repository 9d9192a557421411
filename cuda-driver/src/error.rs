//! [`Error`]: all errors that the calls of this crate return.
//!
//! Each variant names the object, its value and the remedy. Errors are cheap to move (one pointer) and can be cloned,
//! so that one cause can be reported many times.

use std::fmt;
use std::sync::Arc;

use cuda_sys::{CUresult, MissingSymbol};

use crate::graph::GraphError;
use crate::launch::error::LaunchConfigError;
use crate::module::jit_log::JitError;
use crate::panic::KernelPanic;
use crate::status;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a driver call, or the reason why no call was made.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// let driver = cuda_driver::Driver::new(cuda_sim::driver_api())?;
/// let error = driver.device(1000).unwrap_err();
/// assert!(error.to_string().starts_with("there is no device 1000"));
/// assert!(!error.is_sticky());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver returned a status other than success.
    #[error(transparent)]
    Driver(Box<DriverError>),
    /// The driver's library lacks the function.
    #[error(transparent)]
    MissingSymbol(MissingSymbol),
    /// The process was forked after a driver had been initialised; CUDA does not survive that.
    #[error(
        "{call} not called: this process was forked after CUDA had been initialised, and a driver does not survive a \
         fork; fork before the first CUDA call, or start the child with exec"
    )]
    Forked {
        /// The call that was refused.
        call: &'static str,
    },
    /// An earlier call on this context failed for good.
    #[error(transparent)]
    Poisoned(Box<Poisoned>),
    /// The launch configuration is not possible; nothing was launched.
    #[error(transparent)]
    LaunchConfig(Box<LaunchConfigError>),
    /// The driver's compiler refused a module.
    #[error(transparent)]
    Jit(Box<JitError>),
    /// A graph cannot be built, changed or launched in this way.
    #[error(transparent)]
    Graph(Box<GraphError>),
    /// A kernel panicked.
    #[error(transparent)]
    KernelPanic(Box<KernelPanic>),
    /// A module has no function or variable of this name.
    #[error(transparent)]
    NotInModule(Box<NotInModule>),
    /// There is no device with this ordinal.
    #[error("there is no device {ordinal}: the driver has {count}, numbered from 0")]
    NoSuchDevice {
        /// The requested ordinal.
        ordinal: usize,
        /// The number of devices.
        count: usize,
    },
    /// The thread's context was made by another library, and is not its device's primary one.
    #[error(
        "the thread's context {context:#x} was made by another library and is not the primary context of device {device}, \
         which all libraries share; select the device, or let that library use the primary context"
    )]
    ForeignContext {
        /// The raw context.
        context: usize,
        /// The number of its device.
        device: usize,
    },
    /// The arguments are invalid; the driver was not called.
    #[error("{0}")]
    Invalid(Box<str>),
    /// An error of a crate built on this one, carried through this crate's results.
    #[error(transparent)]
    Other(Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// The driver's status code, where the driver gave one.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let driver = cuda_driver::Driver::new(cuda_sim::driver_api())?;
    /// let error = driver.device(1000).unwrap_err();
    /// assert_eq!(error.code(), None);         // found before any driver call
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn code(&self) -> Option<CUresult> {
        match self {
            Error::Driver(error) => Some(error.code),
            Error::Poisoned(error) => Some(error.first.code),
            Error::Jit(error) => Some(error.code),
            Error::NotInModule(missing) => Some(missing.error.code),
            _ => None,
        }
    }

    /// The panic, if a kernel panicked, also inside an [`Error::Other`].
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// if let Err(error) = context.synchronize() {
    ///     match error.kernel_panic() {
    ///         Some(panic) => println!("line {}: {}", panic.line, panic.message),
    ///         None => return Err(error),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn kernel_panic(&self) -> Option<&KernelPanic> {
        match self {
            Error::KernelPanic(panic) => Some(panic),
            Error::Other(other) => {
                let first: &(dyn std::error::Error + 'static) = &**other;
                std::iter::successors(Some(first), |error| error.source()).find_map(|error| {
                    let own = error.downcast_ref::<Error>().and_then(Error::kernel_panic);
                    own.or_else(|| error.downcast_ref::<KernelPanic>())
                })
            }
            _ => None,
        }
    }

    /// Returns true if every later call on the same context will fail too.
    #[must_use]
    pub fn is_sticky(&self) -> bool {
        match self {
            Error::Poisoned(_) | Error::Forked { .. } => true,
            _ => self.code().is_some_and(status::is_sticky),
        }
    }

    /// Returns true if the device, or the host's pinned memory, had no room.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::driver_call;
    ///
    /// let mut memory = 0;
    /// // SAFETY: the address lives through the call.
    /// let error = unsafe { driver_call!(&context, cuMemAlloc_v2(&mut memory, 1 << 50)) }.unwrap_err();
    /// assert!(error.is_out_of_memory() && !error.is_sticky());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Error::Driver(error) if error.code == CUresult::CUDA_ERROR_OUT_OF_MEMORY)
    }

    /// Wraps an error of a crate built on this one, so that closures passed to this crate can return it.
    ///
    /// # Examples
    ///
    /// ```
    /// let error = cuda_driver::Error::other(std::fmt::Error);
    /// assert_eq!(error.to_string(), std::fmt::Error.to_string());
    /// ```
    pub fn other(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Error::Other(Arc::new(error))
    }

    /// Converts the driver's "not found" of a symbol look-up into [`Error::NotInModule`].
    pub(crate) fn of_symbol(self, what: &'static str, name: &str) -> Self {
        match self {
            Error::Driver(error) if error.code == CUresult::CUDA_ERROR_NOT_FOUND => {
                Error::NotInModule(Box::new(NotInModule { what, name: name.to_owned(), error: *error }))
            }
            other => other,
        }
    }

    /// An [`Error::Invalid`] with this text.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Error::Invalid(text.into().into_boxed_str())
    }
}

impl From<MissingSymbol> for Error {
    fn from(error: MissingSymbol) -> Self {
        Error::MissingSymbol(error)
    }
}

impl From<LaunchConfigError> for Error {
    fn from(error: LaunchConfigError) -> Self {
        Error::LaunchConfig(Box::new(error))
    }
}

impl From<KernelPanic> for Error {
    fn from(panic: KernelPanic) -> Self {
        Error::KernelPanic(Box::new(panic))
    }
}

/// A symbol that a module does not have.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Error, Module};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// // SAFETY: there is no code.
/// let module = unsafe { Module::load_ptx(&context, ".version 7.8\n.target sm_75\n.address_size 64\n") }?;
/// let Err(Error::NotInModule(missing)) = module.function("add") else { panic!() };
/// assert_eq!((missing.what, missing.name.as_str()), ("function", "add"));
/// assert!(missing.to_string().starts_with("the module has no function `add`; cuModuleGetFunction: "));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the module has no {what} `{name}`; {error}")]
#[non_exhaustive]
pub struct NotInModule {
    /// The kind of the symbol: `function` or `global variable`.
    pub what: &'static str,
    /// The symbol's name.
    pub name: String,
    /// The driver's error.
    pub error: DriverError,
}

/// A status other than success, with the call that returned it.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Error, cuda_sys::CUdevice_attribute};
///
/// let driver = Driver::new(cuda_sim::driver_api())?;
/// let Err(Error::Driver(error)) = driver.device(0)?.attribute(CUdevice_attribute(99_999)) else { panic!() };
/// assert_eq!(error.call, "cuDeviceGetAttribute");
/// assert_eq!(error.name, "CUDA_ERROR_INVALID_VALUE");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverError {
    /// The status code.
    pub code: CUresult,
    /// The C function that returned it. Errors of earlier, asynchronous work appear in later calls.
    pub call: &'static str,
    /// The code's name as the driver gives it, such as `CUDA_ERROR_INVALID_VALUE`.
    pub name: String,
    /// The driver's own one-line text; empty where it has none.
    pub text: String,
}

impl DriverError {
    /// This crate's explanation with the remedy; empty where the driver's text suffices.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Error, cuda_sys::CUdevice_attribute};
    ///
    /// let Err(Error::Driver(error)) = context.device().attribute(CUdevice_attribute(99_999)) else { panic!() };
    /// assert_eq!(error.explanation(), "an argument of this call is outside what the driver accepts");
    /// assert!(error.to_string().ends_with(error.explanation()));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn explanation(&self) -> &'static str {
        status::explanation(self.code)
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.call, self.name, self.code.0)?;
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        match self.explanation() {
            "" => Ok(()),
            explanation => write!(f, "; {explanation}"),
        }
    }
}

impl std::error::Error for DriverError {}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        Error::Driver(Box::new(error))
    }
}

/// A call that was not made because an earlier error lost the context.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::{Error, LaunchConfig, Module};
///
/// let ptx = "
///     .version 7.8
///     .target sm_75
///     .address_size 64
///     .visible .entry stray() { .reg .b64 %a; mov.b64 %a, 8; st.global.b64 [%a], %a; ret; }";
/// // SAFETY: the kernel faults on purpose; no live memory has this address.
/// let stray = unsafe { Module::load_ptx(&context, ptx) }?.function("stray")?;
/// // SAFETY: the kernel has no parameters.
/// unsafe { stray.launch(&LaunchConfig::new(1, 1), &context.default_stream(), &mut []) }?;
/// let first = context.synchronize().unwrap_err();
/// let Err(Error::Poisoned(later)) = context.memory_info() else { panic!() };
/// assert_eq!((Some(later.first.code), later.call), (first.code(), "cuMemGetInfo_v2"));
/// assert!(later.to_string().starts_with("cuMemGetInfo_v2 not called: the context of device 0 is lost since"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Poisoned {
    /// The call that was refused.
    pub call: &'static str,
    /// The number of the device whose context is lost.
    pub device: usize,
    /// The first sticky error.
    pub first: DriverError,
}

impl fmt::Display for Poisoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} not called: the context of device {} is lost since {}; only a new process can use the device again",
            self.call, self.device, self.first
        )
    }
}

impl std::error::Error for Poisoned {}

#[cfg(test)]
mod tests {
    use super::*;

    fn illegal_address() -> DriverError {
        DriverError {
            code: CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            call: "cuStreamSynchronize",
            name: "CUDA_ERROR_ILLEGAL_ADDRESS".into(),
            text: "an illegal memory access was encountered".into(),
        }
    }

    #[test]
    fn the_text_names_call_code_and_consequence() {
        assert_eq!(
            Error::from(illegal_address()).to_string(),
            "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered; a kernel \
             read or wrote memory outside every live allocation, or a recursion beyond its stack; the context is lost"
        );
    }

    #[test]
    fn a_poisoned_call_names_the_first_cause() {
        let error = Error::Poisoned(Box::new(Poisoned { call: "cuMemAlloc_v2", device: 3, first: illegal_address() }));
        let text = error.to_string();
        assert!(text.starts_with("cuMemAlloc_v2 not called: the context of device 3 is lost since cuStreamSynch"));
        assert!(text.ends_with("; only a new process can use the device again"), "{text}");
        assert!(error.is_sticky());
    }

    #[test]
    fn a_forked_child_gets_the_remedies() {
        let error = Error::Forked { call: "cuInit" };
        assert_eq!(
            error.to_string(),
            "cuInit not called: this process was forked after CUDA had been initialised, and a driver does not survive a fork; \
             fork before the first CUDA call, or start the child with exec"
        );
        assert!(error.is_sticky());
    }

    #[test]
    fn a_result_without_value_is_two_words() {
        assert!(std::mem::size_of::<Result<()>>() <= 24);
    }
}
