//! [`Device`]: one device of a driver, its names, identity and attributes.
//!
//! It holds no context: [`Device::primary_context`] makes one.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a device that exists (a `Device` is only made for one) and
//! pointers that live through the call.

pub(crate) mod attributes;
pub(crate) mod identity;
pub(crate) mod limits;

use std::ffi::CStr;
use std::fmt;

use cuda_sys::{CUdevice, CUdevice_attribute, CUuuid};

use crate::context::Context;
use crate::context::current::CurrentGuard;
use crate::device::identity::Uuid;
use crate::device::limits::DeviceLimits;
use crate::driver::{DeviceFacts, Driver};
use crate::driver_call;
use crate::error::Result;

/// A device of a [`Driver`]. Clones are cheap.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// let device = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?;
/// let (major, minor) = device.compute_capability()?;
/// println!("{}: {major}.{minor}, {} bytes, {}", device.name()?, device.total_memory()?, device.uuid()?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Device {
    driver: Driver,
    ordinal: usize,
}

impl Device {
    /// The device `ordinal`, which the caller has checked against the count.
    pub(crate) fn new(driver: Driver, ordinal: usize) -> Self {
        Device { driver, ordinal }
    }

    /// The driver that the device belongs to.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let driver = cuda_driver::Driver::new(cuda_sim::driver_api())?;
    /// assert_eq!(driver.device(0)?.driver(), &driver);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The driver's ordinal of the device, from 0.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let driver = cuda_driver::Driver::new(cuda_sim::driver_api())?;
    /// for (number, device) in driver.devices()?.iter().enumerate() {
    ///     assert_eq!(device.ordinal(), number);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The raw handle.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let device = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?;
    /// let (mut bytes, raw) = (0, device.as_raw()?);
    /// // SAFETY: the integer lives through the call.
    /// unsafe { (device.driver().api().cuDeviceTotalMem_v2()?)(&mut bytes, raw) };
    /// assert_eq!(bytes, device.total_memory()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Forked`](crate::Error::Forked) in a forked child.
    pub fn as_raw(&self) -> Result<CUdevice> {
        Ok(self.facts()?.raw)
    }

    /// The device's name, such as `NVIDIA H200`.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn name(&self) -> Result<String> {
        let raw = self.as_raw()?;
        let mut name = [0 as std::ffi::c_char; 256];
        // SAFETY: the buffer lives through the call, and its length is passed.
        unsafe { driver_call!(&self.driver, cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, raw)) }?;
        Ok(text_of(&mut name))
    }

    /// The device's identity, which stays the same across processes and reboots.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn uuid(&self) -> Result<Uuid> {
        let raw = self.as_raw()?;
        let mut uuid = CUuuid::default();
        // SAFETY: `uuid` lives through the call.
        unsafe { driver_call!(&self.driver, cuDeviceGetUuid_v2(&mut uuid, raw)) }?;
        Ok(Uuid(uuid.bytes.map(|byte| byte as u8)))
    }

    /// The compute capability as (major, minor).
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn compute_capability(&self) -> Result<(u32, u32)> {
        let major = self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok((major.unsigned_abs(), minor.unsigned_abs()))
    }

    /// Returns true if kernels on the device compute with floats of 16 bits: from compute capability 5.3 on.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let device = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?;
    /// let since = |capability| device.compute_capability().map(|own| own >= capability);
    /// assert_eq!(device.supports_float16()?, since((5, 3))?);
    /// assert_eq!(device.supports_bfloat16()?, since((8, 0))?);
    /// assert_eq!(device.supports_float8()?, since((8, 9))?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn supports_float16(&self) -> Result<bool> {
        Ok(self.compute_capability()? >= (5, 3))
    }

    /// Returns true if the device has instructions for `bf16`, floats of 16 bits with the exponent of `f32`: from
    /// compute capability 8.0 on.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn supports_bfloat16(&self) -> Result<bool> {
        Ok(self.compute_capability()? >= (8, 0))
    }

    /// Returns true if the device has instructions for floats of 8 bits: from compute capability 8.9 on.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn supports_float8(&self) -> Result<bool> {
        Ok(self.compute_capability()? >= (8, 9))
    }

    /// The value of any attribute.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::cuda_sys::CUdevice_attribute;
    ///
    /// let warp = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE;
    /// assert_eq!(context.device().attribute(warp)?, 32);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with `CUDA_ERROR_INVALID_VALUE` if the driver does not know the attribute.
    pub fn attribute(&self, attribute: CUdevice_attribute) -> Result<i32> {
        let raw = self.as_raw()?;
        let mut value = 0;
        // SAFETY: `value` lives through the call; an unknown attribute is refused with a status.
        unsafe { driver_call!(&self.driver, cuDeviceGetAttribute(&mut value, attribute, raw)) }?;
        Ok(value)
    }

    /// The device's memory in bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn total_memory(&self) -> Result<usize> {
        let raw = self.as_raw()?;
        let mut bytes = 0;
        // SAFETY: `bytes` lives through the call.
        unsafe { driver_call!(&self.driver, cuDeviceTotalMem_v2(&mut bytes, raw)) }?;
        Ok(bytes)
    }

    /// The limits for launches, queried once and cached.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// assert_eq!(context.device().limits()?.warp_size, 32);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn limits(&self) -> Result<&DeviceLimits> {
        let facts = self.facts()?;
        if let Some(limits) = facts.limits.get() {
            return Ok(limits);
        }
        let limits = DeviceLimits::query(self)?;
        Ok(facts.limits.get_or_init(|| limits))
    }

    /// The device's primary context: the one that all libraries of the process share.
    ///
    /// While any object holds it, every call returns the same context; the first retains it, dropping the last releases
    /// it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Driver;
    ///
    /// let device = Driver::new(cuda_sim::driver_api())?.device(0)?;
    /// assert_eq!(device.primary_context()?, context);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn primary_context(&self) -> Result<Context> {
        Context::primary(self)
    }

    /// Destroys everything in the primary context, for all libraries of the process, and resets it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let device = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?;
    /// let context = device.primary_context()?;
    /// // SAFETY: nothing else uses the device.
    /// let error = unsafe { device.reset() }.unwrap_err();
    /// assert!(error.to_string().starts_with("device 0 is in use"));
    /// drop(context);
    /// // SAFETY: nothing else uses the device, and the context was dropped.
    /// unsafe { device.reset() }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) while a [`Context`] of the device, or anything in it, is held;
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    ///
    /// # Safety
    ///
    /// No other library of the process uses the device's primary context.
    pub unsafe fn reset(&self) -> Result<()> {
        self.driver.enter("cuDevicePrimaryCtxReset_v2")?;
        let facts = self.facts()?;
        let reset = || {
            // SAFETY: the device exists, and this crate holds nothing in its primary context; the caller promises the
            // same for other libraries.
            unsafe { driver_call!(&self.driver, cuDevicePrimaryCtxReset_v2(facts.raw)) }
        };
        facts.context.while_empty(reset).unwrap_or_else(|| {
            let text = format!(
                "device {} is in use: contexts, arrays, streams or other objects of it are held; drop them before the reset",
                self.ordinal
            );
            Err(crate::Error::invalid(text))
        })
    }

    /// The device's address on the PCI bus, such as `0000:65:00.0`.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// assert!(context.device().pci_bus_id()?.ends_with(".0"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn pci_bus_id(&self) -> Result<String> {
        let raw = self.as_raw()?;
        let mut text = [0 as std::ffi::c_char; 32];
        // SAFETY: the buffer lives through the call, and its length is passed.
        unsafe { driver_call!(&self.driver, cuDeviceGetPCIBusId(text.as_mut_ptr(), text.len() as i32, raw)) }?;
        Ok(text_of(&mut text))
    }

    /// Selects the primary context for the thread until the guard is dropped, which restores the one before.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let _selected = context.device().select()?;
    /// assert_eq!(cuda_driver::Context::current(), Some(context));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn select(&self) -> Result<CurrentGuard> {
        Ok(self.primary_context()?.select())
    }

    pub(crate) fn facts(&self) -> Result<&DeviceFacts> {
        self.driver.facts(self.ordinal)
    }
}

/// The NUL-terminated text in a buffer that the driver has filled.
fn text_of(buffer: &mut [std::ffi::c_char]) -> String {
    if let Some(last) = buffer.last_mut() {
        *last = 0;
    }
    // SAFETY: the buffer ends in NUL and lives through the use.
    let text = unsafe { CStr::from_ptr(buffer.as_ptr()) };
    text.to_string_lossy().into_owned()
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("ordinal", &self.ordinal).finish_non_exhaustive()
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Ok(name) => write!(f, "device {} ({name})", self.ordinal),
            Err(_) => write!(f, "device {}", self.ordinal),
        }
    }
}
