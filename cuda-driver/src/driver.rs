//! [`Driver`]: one initialised CUDA driver, its version and its devices.
//!
//! It never chooses a driver; it is passed a table of functions. Invariant: one table has one [`Driver`] state in the
//! process while any clone of it lives, so that a device has one [`Context`](crate::Context) object.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose only obligations are pointers that live through the call.

use std::ffi::CStr;
use std::fmt;

use cuda_sys::{CUdevice, CUresult, DriverApi};

use crate::context::current;
use crate::context::{Context, ContextInner};
use crate::device::Device;
use crate::device::limits::DeviceLimits;
use crate::driver_call;
use crate::error::{DriverError, Error, Result};
use crate::fork;
use crate::registry::Registry;
use crate::sync::statics::LazyLock;
use crate::sync::{Arc, OnceLock};

/// An initialised CUDA driver. Clones are cheap and mean the same driver.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// let driver = cuda_driver::Driver::new(cuda_sim::driver_api())?;
/// let (major, _minor) = driver.version()?;
/// assert!(major >= 12);
/// for device in driver.devices()? {
///     println!("{device}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Driver(Arc<DriverInner>);

struct DriverInner {
    api: Arc<DriverApi>,
    /// The cached properties of each device, in the driver's order; filled on first use.
    devices: OnceLock<Box<[DeviceFacts]>>,
}

/// Properties of a device that are queried once.
pub(crate) struct DeviceFacts {
    pub(crate) raw: CUdevice,
    pub(crate) limits: OnceLock<DeviceLimits>,
    /// The one context object of this device, as long as anything holds it.
    pub(crate) context: Registry<ContextInner>,
}

/// All drivers of the process that are still held, so that one table has one state.
static DRIVERS: LazyLock<Registry<DriverInner>> = LazyLock::new(Registry::default);

impl Driver {
    /// Initialises the driver behind `api` (`cuInit`).
    ///
    /// A second call with the same table returns the same driver.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::Driver;
    ///
    /// let driver = Driver::new(cuda_sim::driver_api())?;
    /// assert_eq!(driver, Driver::new(cuda_sim::driver_api())?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::MissingSymbol`] if the table has no `cuInit`; [`Error::Driver`] if the driver refuses to start, for
    /// example with `CUDA_ERROR_NO_DEVICE`; [`Error::Forked`] in a child of a process that had initialised a driver.
    pub fn new(api: Arc<DriverApi>) -> Result<Self> {
        if fork::is_forked_child() {
            // Before the lock, which another thread of the parent may have held.
            return Err(Error::Forked { call: "cuInit" });
        }
        let start = || {
            let driver = Driver(Arc::new(DriverInner { api: api.clone(), devices: OnceLock::new() }));
            // SAFETY: cuInit has no precondition; its flags must be 0.
            unsafe { driver_call!(&driver, cuInit(0)) }?;
            fork::watch();
            Ok(driver.0)
        };
        DRIVERS.find_or_make(|driver| Arc::ptr_eq(&driver.api, &api), start).map(Driver)
    }

    /// The newest CUDA version that the driver supports, as (major, minor).
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn version(&self) -> Result<(u32, u32)> {
        let mut version = 0;
        // SAFETY: `version` lives through the call.
        unsafe { driver_call!(self, cuDriverGetVersion(&mut version)) }?;
        let version = version.unsigned_abs();
        Ok((version / 1000, version % 1000 / 10))
    }

    /// The number of devices.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn device_count(&self) -> Result<usize> {
        Ok(self.device_table()?.len())
    }

    /// The device numbered `ordinal`, from 0.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::Driver;
    ///
    /// let driver = Driver::new(cuda_sim::driver_api())?;
    /// assert_eq!(driver.device(0)?.ordinal(), 0);
    /// let error = driver.device(1000).unwrap_err();
    /// assert!(error.to_string().starts_with("there is no device 1000"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchDevice`] if there are fewer devices.
    pub fn device(&self, ordinal: usize) -> Result<Device> {
        let count = self.device_count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice { ordinal, count });
        }
        Ok(Device::new(self.clone(), ordinal))
    }

    /// All devices, in the driver's order.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::Driver;
    ///
    /// let driver = Driver::new(cuda_sim::driver_api())?;
    /// assert_eq!(driver.devices()?.len(), driver.device_count()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn devices(&self) -> Result<Vec<Device>> {
        Ok((0..self.device_count()?).map(|ordinal| Device::new(self.clone(), ordinal)).collect())
    }

    /// The context that is bound to the calling thread, by this crate or another library; `None` where there is none.
    ///
    /// A program can use it to continue in the context that another library has chosen, if that is the primary context
    /// of its device.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let driver = cuda_driver::Driver::new(cuda_sim::driver_api())?;
    /// assert!(driver.bound_context()?.is_none());
    /// let context = driver.device(0)?.primary_context()?;
    /// context.synchronize()?;                     // binds it
    /// assert_eq!(driver.bound_context()?, Some(context));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ForeignContext`] if it is not the primary context of its device; [`Error::Driver`] with the driver's
    /// status.
    pub fn bound_context(&self) -> Result<Option<Context>> {
        let (mut raw, mut device) = (std::ptr::null_mut(), 0);
        // SAFETY: `raw` lives through the call.
        unsafe { driver_call!(self, cuCtxGetCurrent(&mut raw)) }?;
        if raw.is_null() {
            return Ok(None);
        }
        // SAFETY: a context is bound, and `device` lives through the call.
        unsafe { driver_call!(self, cuCtxGetDevice(&mut device)) }?;
        let ordinal = self.device_table()?.iter().position(|facts| facts.raw == device);
        let context = ordinal.map(|ordinal| Device::new(self.clone(), ordinal).primary_context()).transpose()?;
        match context.filter(|context| context.as_raw() == raw) {
            Some(context) => Ok(Some(context)),
            None => Err(Error::ForeignContext { context: raw.addr(), device: ordinal.unwrap_or_default() }),
        }
    }

    /// The context that another library has bound to the calling thread; `None` where there is none, and where this crate
    /// has bound one.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let driver = cuda_driver::Driver::new(cuda_sim::driver_api())?;
    /// assert_eq!(driver.adopted_context()?, None);                   // no library has bound one
    /// let context = driver.device(0)?.primary_context()?;
    /// // SAFETY: another library binds the primary context.
    /// unsafe { (driver.api().cuCtxSetCurrent()?)(context.as_raw()) };
    /// assert_eq!(driver.adopted_context()?, Some(context));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`bound_context`](Driver::bound_context).
    pub fn adopted_context(&self) -> Result<Option<Context>> {
        let bound_here = current::current(&self.0.api).is_ok_and(current::is_bound_here);
        if bound_here { Ok(None) } else { self.bound_context() }
    }

    /// The table of functions that this driver calls.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let driver = cuda_driver::Driver::new(cuda_sim::driver_api())?;
    /// println!("the functions are those of {}", driver.api().origin());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn api(&self) -> &Arc<DriverApi> {
        &self.0.api
    }

    /// The cached properties of the device `ordinal`, which exists because a [`Device`] has that ordinal.
    pub(crate) fn facts(&self, ordinal: usize) -> Result<&DeviceFacts> {
        let table = self.device_table()?;
        table.get(ordinal).ok_or(Error::NoSuchDevice { ordinal, count: table.len() })
    }

    fn device_table(&self) -> Result<&[DeviceFacts]> {
        if let Some(devices) = self.0.devices.get() {
            return Ok(devices);
        }
        let devices = self.enumerate()?;
        Ok(self.0.devices.get_or_init(|| devices))
    }

    fn enumerate(&self) -> Result<Box<[DeviceFacts]>> {
        let mut count = 0;
        // SAFETY: `count` lives through the call.
        unsafe { driver_call!(self, cuDeviceGetCount(&mut count)) }?;
        let facts = |ordinal| {
            let mut raw = 0;
            // SAFETY: `raw` lives through the call, and the ordinal is below the count.
            unsafe { driver_call!(self, cuDeviceGet(&mut raw, ordinal)) }?;
            Ok(DeviceFacts { raw, limits: OnceLock::new(), context: Registry::default() })
        };
        (0..count).map(facts).collect()
    }

    /// Prepares a call: refuses a forked child. For [`driver_call!`](crate::driver_call).
    ///
    /// # Errors
    ///
    /// [`Error::Forked`].
    #[doc(hidden)]
    #[inline]
    pub fn enter(&self, call: &'static str) -> Result<&DriverApi> {
        if fork::is_forked_child() {
            return Err(Error::Forked { call });
        }
        Ok(&self.0.api)
    }

    /// Turns the status that `call` returned into a result. For [`driver_call!`](crate::driver_call).
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] for every status but success.
    #[doc(hidden)]
    #[inline]
    pub fn check(&self, code: CUresult, call: &'static str) -> Result<()> {
        if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(describe(&self.0.api, code, call).into()) }
    }
}

impl PartialEq for Driver {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Driver {}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("api", &self.0.api).finish_non_exhaustive()
    }
}

/// The error for `code`, with the driver's name and text for it.
#[cold]
pub(crate) fn describe(api: &DriverApi, code: CUresult, call: &'static str) -> DriverError {
    let known_name = || code.name().map_or_else(|| format!("status {}", code.0), str::to_owned);
    let name = error_text(api.cuGetErrorName(), code).unwrap_or_else(known_name);
    let text = error_text(api.cuGetErrorString(), code).unwrap_or_default();
    DriverError { code, call, name, text }
}

/// The C type of `cuGetErrorName` and `cuGetErrorString`.
type TextFunction = unsafe extern "C" fn(CUresult, *mut *const std::ffi::c_char) -> CUresult;

fn error_text<E>(function: Result<TextFunction, E>, code: CUresult) -> Option<String> {
    let mut text = std::ptr::null();
    // SAFETY: `text` lives through the call; any code may be asked for.
    let status = unsafe { function.ok()?(code, &mut text) };
    if status != CUresult::CUDA_SUCCESS || text.is_null() {
        return None;
    }
    // SAFETY: on success the driver gives a NUL-terminated string that is never freed.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
