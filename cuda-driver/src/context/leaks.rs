//! Memory that its owner keeps to the end of the process.
//!
//! # Safety
//!
//! The `unsafe` blocks call a driver's functions by their names, with pointers that live through the call.

use std::ffi::c_void;
use std::ptr::null_mut;

use cuda_sys::{CUdeviceptr, CUresult, DriverApi};

use crate::context::Context;

/// The type of the software device's `cuSimIgnoreLeak`.
type IgnoreLeak = unsafe extern "C" fn(CUdeviceptr) -> CUresult;

impl Context {
    /// Makes the allocation that contains an address none that the driver's leak checker reports.
    ///
    /// For memory whose owner lives until the process ends, such as an array in a `static`, which is never dropped. The
    /// address is one on the device, or that of page-locked memory. The software device has a leak checker
    /// (`CUDA_SIM_CHECK=leak`); with any other driver, and for an address that is in no allocation, nothing happens.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::driver_call;
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut table = 0;
    /// // SAFETY: `table` lives through the call.
    /// unsafe { driver_call!(&context, cuMemAlloc_v2(&mut table, 1024)) }?;
    /// context.ignore_leak(table);
    /// # Ok(())
    /// # }
    /// ```
    pub fn ignore_leak(&self, address: CUdeviceptr) {
        if let Some(ignore) = ignore_leak(self.api()) {
            // SAFETY: the function looks the address up and accesses no memory there.
            let _ = unsafe { ignore(address) };
        }
    }
}

/// Asks a driver for `cuSimIgnoreLeak`.
fn ignore_leak(api: &DriverApi) -> Option<IgnoreLeak> {
    let (lookup, mut found) = (api.cuGetProcAddress_v2().ok()?, null_mut());
    // SAFETY: the name is a C string, the output lives through the call, and null is allowed for the status.
    let code = unsafe { lookup(c"cuSimIgnoreLeak".as_ptr(), &mut found, 13000, 0, null_mut()) };
    let is_found = code == CUresult::CUDA_SUCCESS && !found.is_null();
    // SAFETY: names that begin with `cuSim` are the software device's, whose function of this name has this type.
    is_found.then(|| unsafe { std::mem::transmute::<*mut c_void, IgnoreLeak>(found) })
}
