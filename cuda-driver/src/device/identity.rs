//! Identities of a device that hold outside of the process, where its ordinal may differ: [`Uuid`] and the PCI bus
//! address.

use std::fmt;
use std::str::FromStr;

use crate::device::Device;
use crate::driver::Driver;
use crate::error::{Error, Result};

/// A device's identity. Prints as `GPU-` and groups of 8, 4, 4, 4 and 12 hexadecimal digits.
///
/// # Examples
///
/// ```
/// let uuid = cuda_driver::Uuid([0xab; 16]);
/// assert_eq!(uuid.to_string(), "GPU-abababab-abab-abab-abab-abababababab");
/// assert_eq!("GPU-abababab-abab-abab-abab-abababababab".parse::<cuda_driver::Uuid>().unwrap(), uuid);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU")?;
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 0 | 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for Uuid {
    type Err = Error;

    /// Parses a UUID, with or without the prefix `GPU-`, in digits of either case.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::invalid(format!("{text:?} is no UUID of a device, which is GPU- and digits in groups of 8-4-4-4-12"))
        };
        let digits = text.strip_prefix("GPU-").unwrap_or(text);
        let groups: Vec<&str> = digits.split('-').collect();
        let whole = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]);
        // `u128` would take a sign too.
        if !whole || !digits.bytes().all(|digit| digit == b'-' || digit.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let number = u128::from_str_radix(&groups.concat(), 16).map_err(|_| wrong())?;
        Ok(Uuid(number.to_be_bytes()))
    }
}

impl Driver {
    /// The device with this UUID.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Driver, Uuid};
    ///
    /// let driver = Driver::new(cuda_sim::driver_api())?;
    /// let written = driver.device(0)?.uuid()?.to_string();             // in a file, or by another process
    /// assert_eq!(driver.device_by_uuid(written.parse()?)?.ordinal(), 0);
    /// let error = driver.device_by_uuid(Uuid([0xab; 16])).unwrap_err();
    /// assert!(error.to_string().starts_with("no device is GPU-abababab-abab-abab-abab-abababababab; there is GPU-"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], with the UUIDs of all devices, if no device has this one; [`Error::Driver`] with the
    /// driver's status.
    pub fn device_by_uuid(&self, uuid: Uuid) -> Result<Device> {
        self.find_device(&uuid.to_string(), |device| device.uuid().map(|uuid| uuid.to_string()))
    }

    /// The device at this PCI bus address, as [`Device::pci_bus_id`] returns it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let driver = cuda_driver::Driver::new(cuda_sim::driver_api())?;
    /// let address = driver.device(0)?.pci_bus_id()?;
    /// assert_eq!(driver.device_by_pci_bus_id(&address.to_lowercase())?.ordinal(), 0);
    /// let error = driver.device_by_pci_bus_id("ffff:ff:ff.f").unwrap_err();
    /// assert!(error.to_string().starts_with("no device is ffff:ff:ff.f; there is 0000:"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], with the addresses of all devices, if no device has this one; [`Error::Driver`] with the
    /// driver's status.
    pub fn device_by_pci_bus_id(&self, address: &str) -> Result<Device> {
        self.find_device(address, Device::pci_bus_id)
    }

    /// The device whose identity by `known_by` equals `wanted`, in either case.
    fn find_device(&self, wanted: &str, known_by: impl Fn(&Device) -> Result<String>) -> Result<Device> {
        let mut others = Vec::new();
        for device in self.devices()? {
            match known_by(&device)? {
                known if known.eq_ignore_ascii_case(wanted) => return Ok(device),
                other => others.push(other),
            }
        }
        Err(Error::invalid(format!("no device is {wanted}; there is {}", others.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_as_it_is_written() {
        let uuid = Uuid(std::array::from_fn(|at| at as u8 * 17));
        assert_eq!(uuid.to_string(), "GPU-00112233-4455-6677-8899-aabbccddeeff");
        for text in [uuid.to_string(), "00112233-4455-6677-8899-AABBCCDDEEFF".to_owned()] {
            assert_eq!(text.parse::<Uuid>().unwrap(), uuid);
        }
        let wrong = ["", "GPU-", "00112233-4455-6677-8899-aabbccddeef", "0011223344-55-6677-8899-aabbccddeeff"];
        for text in
            wrong.into_iter().chain(["+0112233-4455-6677-8899-aabbccddeeff", "g0112233-4455-6677-8899-aabbccddeeff"])
        {
            assert_eq!(
                text.parse::<Uuid>().unwrap_err().to_string(),
                format!("{text:?} is no UUID of a device, which is GPU- and digits in groups of 8-4-4-4-12")
            );
        }
    }
}
