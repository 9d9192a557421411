//! Driver and device: versions, identity, attributes, and missing functions.

use std::sync::Arc;

use cuda_driver::{Driver, Error};
use cuda_sys::{CUdevice_attribute, CUresult, DriverApi, DriverFns};

use crate::support::Session;

#[test]
fn a_driver_has_a_version_and_devices() {
    let session = Session::new();
    let driver = session.driver();
    assert_eq!(driver.version().unwrap(), (13, 0));
    assert_eq!(driver.device_count().unwrap(), 2);
    let device = driver.devices().unwrap().remove(1);
    assert_eq!((device.ordinal(), device.name().unwrap().as_str()), (1, "traced"));
    assert_eq!(device.uuid().unwrap().to_string(), "GPU-1f000000-0000-0000-0000-000000000000");
    assert_eq!(device.compute_capability().unwrap(), (9, 0));
    assert_eq!(device.to_string(), "device 1 (traced)");
}

#[test]
fn one_table_is_initialised_once() {
    let session = Session::new();
    let driver = session.driver();
    assert_eq!(driver, session.driver());
    assert_eq!(session.count("cuInit"), 1);
    assert_eq!(driver.device(0).unwrap().limits().unwrap().warp_size, 32);
    session.forget();
    driver.device(0).unwrap().limits().unwrap();
    assert_eq!(session.names(), [""; 0], "limits are asked once");
}

#[test]
fn a_missing_device_is_named() {
    let session = Session::new();
    let error = session.driver().device(2).unwrap_err();
    assert_eq!(error.to_string(), "there is no device 2: the driver has 2, numbered from 0");
}

#[test]
fn a_device_is_found_by_its_address_in_letters_of_either_case() {
    let driver = Session::new().driver();
    for address in ["0000:ab:01.0", "0000:AB:01.0"] {
        assert_eq!(driver.device_by_pci_bus_id(address).unwrap().ordinal(), 1);
    }
    let error = driver.device_by_pci_bus_id("0000:cd:00.0").unwrap_err();
    assert_eq!(error.to_string(), "no device is 0000:cd:00.0; there is 0000:AB:00.0, 0000:AB:01.0");
}

#[test]
fn an_unknown_attribute_is_an_error_with_code_call_and_text() {
    let session = Session::new();
    let error = session.driver().device(0).unwrap().attribute(CUdevice_attribute(9999)).unwrap_err();
    assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_INVALID_VALUE));
    assert_eq!(
        error.to_string(),
        "cuDeviceGetAttribute: CUDA_ERROR_INVALID_VALUE (1): text of the traced driver; an argument of this call is \
         outside what the driver accepts"
    );
}

#[test]
fn a_driver_without_the_symbol_is_an_error_that_names_it() {
    // SAFETY: the table holds no function.
    let api = Arc::new(unsafe { DriverApi::from_fns(&DriverFns::default()) });
    let error = Driver::new(api).unwrap_err();
    assert!(matches!(error, Error::MissingSymbol(_)));
    assert!(error.to_string().contains("cuInit"), "{error}");
}

#[test]
fn a_driver_that_does_not_start_is_retried() {
    let session = Session::new();
    session.fail("cuInit", 1, CUresult::CUDA_ERROR_NO_DEVICE);
    let error = Driver::new(session.api()).unwrap_err();
    assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_NO_DEVICE));
    assert!(error.to_string().starts_with("cuInit: CUDA_ERROR_NO_DEVICE (100)"), "{error}");
    assert!(Driver::new(session.api()).is_ok());
}
