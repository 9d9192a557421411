//! [`Pinned`]: page-locked host memory that the device and MPI both access.
//!
//! # Safety
//!
//! The blocks allocate memory and free it once. Nothing is accessed here: who does so says why nobody else accesses the same bytes.

use std::ffi::c_void;
use std::ptr::NonNull;

use cuda_driver::{Context, driver_call};
use cuda_sys::CU_MEMHOSTALLOC_DEVICEMAP;

use crate::error::Result;

/// Page-locked memory, with the addresses that the host and the device have for it.
pub(super) struct Pinned {
    context: Context,
    host: NonNull<u8>,
    device: u64,
}

// SAFETY: the memory is accessed through raw pointers alone, by those who own its parts at the time.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Allocates memory, filled with zeros.
    pub(super) fn new(context: &Context, bytes: usize) -> Result<Pinned> {
        let mut host: *mut c_void = std::ptr::null_mut();
        // SAFETY: the pointer lives through the call.
        unsafe { driver_call!(context, cuMemHostAlloc(&mut host, bytes, CU_MEMHOSTALLOC_DEVICEMAP)) }?;
        let Some(host) = NonNull::new(host.cast::<u8>()) else {
            return Err(crate::error::Error::invalid("the driver has returned no page-locked memory"));
        };
        let mut pinned = Pinned { context: context.clone(), host, device: 0 };
        // SAFETY: the memory is new and has so many bytes.
        unsafe { std::ptr::write_bytes(host.as_ptr(), 0, bytes) };
        // SAFETY: the address lives through the call, and the memory is mapped.
        unsafe {
            driver_call!(context, cuMemHostGetDevicePointer_v2(&mut pinned.device, host.as_ptr().cast::<c_void>(), 0))
        }?;
        Ok(pinned)
    }

    /// The host's address of the byte at an offset, which is within the memory.
    pub(super) fn host(&self, offset: usize) -> *mut u8 {
        self.host.as_ptr().wrapping_add(offset)
    }

    /// The device's address of the byte at an offset.
    pub(super) fn device(&self, offset: usize) -> u64 {
        self.device + offset as u64
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: this value owns the memory, and the streams that access it have ended.
        let freed = unsafe { driver_call!(&self.context, cuMemFreeHost(self.host.as_ptr().cast::<c_void>())) };
        if let Err(error) = freed {
            tracing::warn!(%error, "page-locked memory could not be freed");
        }
    }
}
