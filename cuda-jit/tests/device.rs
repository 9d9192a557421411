//! The software device on which kernels run, and arrays on it.

use cuda_driver::{Context, Driver};
use cuda_mem::{DeviceArray, Element};
use ndarray::{Array1, Ix1};

/// The software device's context.
pub(crate) fn context() -> Context {
    let driver = Driver::new(cuda_tests_support::driver_api()).expect("the software device starts");
    let device = driver.device(0).expect("it has a device");
    device.primary_context().expect("the device has a context")
}

/// Copies a host array to the software device.
pub(crate) fn on_device<T: Element>(values: &[T]) -> DeviceArray<T, Ix1> {
    cuda_mem::from_slice(context(), values).expect("there is room")
}

/// The contents of a device array.
pub(crate) fn on_host<T: Element>(array: &DeviceArray<T, Ix1>) -> Vec<T> {
    let host: Array1<T> = array.copy_to_host().expect("the kernel has run");
    host.to_vec()
}
