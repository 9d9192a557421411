//! The choice of the process's driver, made once.

use std::ffi::OsString;
use std::sync::Arc;

use cuda_driver::Driver;
use cuda_jit::warnings::{self, Warning};
use cuda_sys::DriverApi;
use once_cell::sync::OnceCell;

use crate::{Error, Result};

/// The environment variable that names the driver: a library's file, or `sim`.
///
/// The library is trusted to be a CUDA driver: setting the variable promises that, as for `LD_LIBRARY_PATH`.
///
/// # Examples
///
/// ```
/// match std::env::var_os(cuda_prelude::DRIVER_VARIABLE) {
///     Some(library) => println!("the driver is {library:?}"),
///     None => println!("the driver is `libcuda.so.1`, or the software device"),
/// }
/// ```
pub const DRIVER_VARIABLE: &str = "CUDA_DRIVER_PATH";

/// The value of the variable that selects the software device.
const SIM: &str = "sim";

/// The first bytes of the UUID of a software device, of the one that is linked into the program and of `libcuda_sim.so`.
const SOFTWARE_UUID: &[u8] = b"cuda-sim";

/// The driver of the process.
struct Chosen {
    driver: Driver,
    simulated: bool,
    /// True for the software device that is linked into the program.
    linked: bool,
}

impl Chosen {
    fn new(driver: Driver) -> Chosen {
        let uuid = driver.device(0).and_then(|device| device.uuid());
        let simulated = uuid.is_ok_and(|uuid| uuid.0.starts_with(SOFTWARE_UUID));
        if simulated {
            // It reports a card's number of multiprocessors but runs on a few cores, so low occupancy does not matter.
            warnings::set_default(Warning::LowOccupancy, false);
        }
        Chosen { driver, simulated, linked: false }
    }
}

static CHOSEN: OnceCell<Chosen> = OnceCell::new();

/// The process's driver.
///
/// # Examples
///
/// ```
/// assert!(cuda_prelude::driver()?.device_count()? > 0);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If `CUDA_DRIVER_PATH` names a library that cannot be opened, which the error names, or a driver that fails to
/// start. The next call tries again.
pub fn driver() -> Result<&'static Driver> {
    Ok(&chosen()?.driver)
}

/// Returns true if the process's driver is the software device: the one that is linked into the program, or `libcuda_sim.so`, which
/// `CUDA_DRIVER_PATH` names or the loader finds as `libcuda.so.1`.
///
/// # Examples
///
/// ```
/// if cuda_prelude::is_simulated()? {
///     println!("kernels run on the software device");
/// }
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`driver`].
pub fn is_simulated() -> Result<bool> {
    Ok(chosen()?.simulated)
}

/// Returns true if the process's driver is the software device that is linked into the program.
pub(crate) fn is_linked() -> Result<bool> {
    Ok(chosen()?.linked)
}

fn chosen() -> Result<&'static Chosen> {
    CHOSEN.get_or_try_init(|| choose(std::env::var_os(DRIVER_VARIABLE)))
}

fn choose(variable: Option<OsString>) -> Result<Chosen> {
    // `libcuda_sim.so` reads the same variable, so that this holds for it too
    #[cfg(all(feature = "sim", feature = "compiler"))]
    if cuda_sim::is_checking() {
        cuda_jit::front::set_source_lines(true);
    }
    if variable.is_some_and(|value| value == SIM) {
        return simulated();
    }
    match DriverApi::from_environment().map_err(|error| Error::NoDevice(Box::new(error)))? {
        Some(api) => Ok(Chosen::new(Driver::new(Arc::new(api))?)),
        None => match installed() {
            Ok(driver) => Ok(Chosen::new(driver)),
            Err(reason) => without_gpu(&reason),
        },
    }
}

/// Chooses the software device, and prints the reason.
#[cfg(feature = "sim")]
fn without_gpu(reason: &str) -> Result<Chosen> {
    eprintln!("{}", notice(reason));
    simulated()
}

/// Returns an error, since this program has no software device.
#[cfg(not(feature = "sim"))]
fn without_gpu(reason: &str) -> Result<Chosen> {
    let text = format!(
        "{reason}; this program is built without the software device (the feature `sim` of cuda-prelude). \
         {DRIVER_VARIABLE} can name a driver's library, such as libcuda_sim.so"
    );
    Err(Error::NoDevice(text.into()))
}

/// The message that the software device is used, with the reason.
#[cfg(feature = "sim")]
fn notice(reason: &str) -> String {
    format!(
        "cuda: {reason}; kernels run on the software device. {DRIVER_VARIABLE}={SIM} silences this line, \
         {DRIVER_VARIABLE}=libcuda.so.1 makes it an error."
    )
}

/// The installed driver if it has a device, else the reason why it cannot be used.
fn installed() -> Result<Driver, String> {
    with_device(DriverApi::load().map_err(|error| error.to_string())?)
}

/// The driver of `api` if it has a device, else the reason why it cannot be used.
fn with_device(api: DriverApi) -> Result<Driver, String> {
    let driver = Driver::new(Arc::new(api)).map_err(|error| error.to_string())?;
    match driver.device_count() {
        Ok(0) => Err("the driver has no device".to_owned()),
        Ok(_) => Ok(driver),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(feature = "sim")]
fn simulated() -> Result<Chosen> {
    Ok(Chosen { linked: true, ..Chosen::new(Driver::new(cuda_sim::driver_api())?) })
}

#[cfg(not(feature = "sim"))]
fn simulated() -> Result<Chosen> {
    without_gpu(&format!("{DRIVER_VARIABLE} is `{SIM}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "sim"))]
    #[test]
    fn a_program_without_the_software_device_says_so() {
        let error = choose(Some(SIM.into())).err().expect("there is none").to_string();
        assert_eq!(
            error,
            "no device to run on: CUDA_DRIVER_PATH is `sim`; this program is built without the software device (the \
             feature `sim` of cuda-prelude). CUDA_DRIVER_PATH can name a driver's library, such as libcuda_sim.so"
        );
    }

    #[cfg(feature = "sim")]
    #[test]
    fn the_variable_selects_the_software_device() {
        let chosen = choose(Some(SIM.into())).expect("it needs nothing");
        assert!(chosen.simulated && chosen.linked);
    }
}
