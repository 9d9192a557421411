//! A device's attributes by the names that CUDA's headers give them.

use cuda_sys::CUdevice_attribute;

use crate::device::Device;
use crate::error::{Error, Result};

/// The prefix of the names in C.
const PREFIX: &str = "CU_DEVICE_ATTRIBUTE_";

/// All attributes that this crate's headers know, with their names.
fn known() -> impl Iterator<Item = (CUdevice_attribute, &'static str)> {
    let all = (1..CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX.0).map(CUdevice_attribute);
    all.filter_map(|attribute| Some((attribute, attribute.name()?.trim_start_matches(PREFIX))))
}

impl Device {
    /// The value of an attribute by its name in CUDA's headers, such as `MULTIPROCESSOR_COUNT`; with or without the
    /// prefix `CU_DEVICE_ATTRIBUTE_`, in either case.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let device = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?;
    /// assert_eq!(device.attribute_by_name("WARP_SIZE")?, 32);
    /// assert_eq!(device.attribute_by_name("cu_device_attribute_warp_size")?, 32);
    /// let error = device.attribute_by_name("WARP_LENGTH").unwrap_err();
    /// assert_eq!(error.to_string(), "no device attribute is named WARP_LENGTH; is it WARP_SIZE?");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for an unknown name, with the closest known one; [`Error::Driver`] with
    /// `CUDA_ERROR_INVALID_VALUE` if the driver is older than the attribute.
    pub fn attribute_by_name(&self, name: &str) -> Result<i32> {
        let wanted = name.to_ascii_uppercase();
        let wanted = wanted.trim_start_matches(PREFIX);
        match known().find(|(_, known)| *known == wanted) {
            Some((attribute, _)) => self.attribute(attribute),
            None => Err(unknown(name, wanted)),
        }
    }

    /// Every attribute that the driver knows, by name, in the order of their numbers.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let device = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?;
    /// assert!(device.attributes()?.contains(&("WARP_SIZE", 32)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn attributes(&self) -> Result<Vec<(&'static str, i32)>> {
        // One call up front, for errors that concern no single attribute.
        self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?;
        // The driver does not know attributes that are newer than itself.
        Ok(known().filter_map(|(attribute, name)| Some((name, self.attribute(attribute).ok()?))).collect())
    }
}

/// The error for an unknown name, with the known name that has the longest common prefix.
fn unknown(name: &str, wanted: &str) -> Error {
    let alike = |other: &str| other.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count();
    let hint = match known().max_by_key(|(_, other)| alike(other)) {
        Some((_, other)) if alike(other) >= 4 => format!("is it {other}?"),
        _ => "`Device::attributes` lists them".to_owned(),
    };
    Error::invalid(format!("no device attribute is named {name}; {hint}"))
}
