//! Which driver the process uses; decided once, by DESIGN's rule.

use std::ffi::OsString;
use std::sync::Arc;

use cuda_driver::Driver;
use cuda_sys::DriverApi;
use once_cell::sync::OnceCell;

use crate::{Error, Result};

/// The environment variable that names the driver: a library's file, or `sim`.
pub const DRIVER_VARIABLE: &str = "CUDA_DRIVER_PATH";

/// What the variable says for the software device.
const SIM: &str = "sim";

/// A driver that was chosen.
struct Chosen {
    driver: Driver,
    simulated: bool,
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

/// Whether the process's driver is the software device.
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
/// As for [`driver`].
pub fn is_simulated() -> Result<bool> {
    Ok(chosen()?.simulated)
}

fn chosen() -> Result<&'static Chosen> {
    CHOSEN.get_or_try_init(|| choose(std::env::var_os(DRIVER_VARIABLE)))
}

fn choose(variable: Option<OsString>) -> Result<Chosen> {
    match variable.filter(|value| !value.is_empty()) {
        Some(value) if value == SIM => simulated(),
        Some(path) => {
            let api = DriverApi::load_from(&path).map_err(|error| Error::NoDevice(Box::new(error)))?;
            Ok(Chosen { driver: Driver::new(Arc::new(api))?, simulated: false })
        }
        None => match installed() {
            Ok(driver) => Ok(Chosen { driver, simulated: false }),
            Err(reason) => {
                eprintln!("{}", notice(&reason));
                simulated()
            }
        },
    }
}

/// The line that says why the software device is used.
fn notice(reason: &str) -> String {
    format!(
        "cuda: {reason}; kernels run on the software device. {DRIVER_VARIABLE}={SIM} silences this line, \
         {DRIVER_VARIABLE}=libcuda.so.1 makes it an error."
    )
}

/// The installed driver, if it has a device, or why not.
fn installed() -> Result<Driver, String> {
    with_device(DriverApi::load().map_err(|error| error.to_string())?)
}

/// A driver, if it has a device, or why not.
fn with_device(api: DriverApi) -> Result<Driver, String> {
    let driver = Driver::new(Arc::new(api)).map_err(|error| error.to_string())?;
    match driver.device_count() {
        Ok(0) => Err("the driver has no device".to_owned()),
        Ok(_) => Ok(driver),
        Err(error) => Err(error.to_string()),
    }
}

fn simulated() -> Result<Chosen> {
    Ok(Chosen { driver: Driver::new(cuda_sim::driver_api())?, simulated: true })
}

#[cfg(test)]
mod tests {
    use cuda_sys::{CUresult, DriverFns};

    use super::*;

    #[test]
    fn a_path_that_leads_nowhere_is_named() {
        let error = choose(Some("/nowhere/libcuda.so.1".into())).err().expect("there is no such file");
        assert!(error.to_string().contains("/nowhere/libcuda.so.1"), "{error}");
    }

    #[test]
    fn a_driver_without_a_device_is_passed_over_and_said() {
        extern "C" fn init(_: u32) -> CUresult {
            CUresult::CUDA_SUCCESS
        }
        // What it would write to is 0 already.
        extern "C" fn count(_: *mut i32) -> CUresult {
            CUresult::CUDA_SUCCESS
        }
        let mut fns = DriverFns { cuInit: Some(init), ..DriverFns::default() };
        let error = with_device(DriverApi::from_fns(&fns)).unwrap_err();
        assert!(error.contains("has no function `cuDeviceGetCount`"), "{error}");
        fns.cuDeviceGetCount = Some(count);
        let reason = with_device(DriverApi::from_fns(&fns)).unwrap_err();
        assert_eq!(
            notice(&reason),
            "cuda: the driver has no device; kernels run on the software device. CUDA_DRIVER_PATH=sim silences this line, \
             CUDA_DRIVER_PATH=libcuda.so.1 makes it an error."
        );
    }

    #[test]
    fn the_software_device_can_be_asked_for() {
        assert!(choose(Some(SIM.into())).expect("it needs nothing").simulated);
    }
}
