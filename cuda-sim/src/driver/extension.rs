//! Functions that NVIDIA's driver does not have. Clients ask for them by name, by `cuGetProcAddress` or in the library, and
//! know by the answer whether the driver has them.

use super::function;
use super::state::initialised;
use crate::check;
use crate::memory::MEMORY;
use cuda_sys::{CUdeviceptr, CUresult};
use std::ffi::c_void;

// Makes the allocation that contains an address none that the leak checker reports: its owner keeps it until the process or its
// context ends. As LeakSanitizer's `__lsan_ignore_object`.
function! {
    cuSimIgnoreLeak [] (address: CUdeviceptr) {
        initialised()?;
        let allocation = MEMORY.find(address).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        check::events::ignore_leak(allocation.base);
        Ok(())
    }
}

/// Returns the address of a function by its name.
pub(super) fn find(name: &str) -> Option<*mut c_void> {
    (name == "cuSimIgnoreLeak").then_some(cuSimIgnoreLeak as *mut c_void)
}
