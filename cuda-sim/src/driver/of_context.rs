//! Functions of CUDA 13 that take a context, where the older ones of the same name take none.
//!
//! `cuGetProcAddress` returns them to clients that know CUDA 13. The library exports others under the same names: cudarc
//! requires the names, and clients older than CUDA 13, such as Numba 0.61, look up `name_v2` before `name` and call it
//! like `name`, so that the context is whatever was in the register. There, a number that is no live context means the
//! current one, and a synchronisation waits for the current one as well.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module). A
//! context's handle is only compared.

use super::graph::capture;
use super::state::{Context, context, drained, healthy};
use super::{Status, guarded, put};
use cuda_sys::{CUcontext, CUdevice, CUresult, DriverFns};
use std::sync::Arc;

/// Returns the context with this handle; null means the current one. Neither that nor the current one may have an
/// error.
fn context_or_current(handle: CUcontext) -> Result<Arc<Context>, CUresult> {
    if handle.is_null() {
        return healthy();
    }
    let context = context(handle)?;
    context.fault().inspect_err(|_| context.drain())?;
    Ok(context)
}

/// Returns the handle, or null if it is not that of a live context.
#[cfg(any(test, feature = "exports"))]
fn live(handle: CUcontext) -> CUcontext {
    context(handle).map_or(std::ptr::null_mut(), |_| handle)
}

fn wait(handle: CUcontext) -> Status {
    let context = drained(context_or_current(handle))?;
    capture::check_permitted()?;
    capture::refuse_context(context.id)?;
    context.synchronize()
}

unsafe extern "C" fn device_of(out: *mut CUdevice, handle: CUcontext) -> CUresult {
    guarded("cuCtxGetDevice_v2", || put(out, context_or_current(handle)?.device as CUdevice))
}

unsafe extern "C" fn synchronize(handle: CUcontext) -> CUresult {
    guarded("cuCtxSynchronize_v2", || wait(handle))
}

/// The function that the library exports as `cuCtxGetDevice_v2`.
#[cfg(any(test, feature = "exports"))]
#[cfg_attr(feature = "exports", unsafe(export_name = "cuCtxGetDevice_v2"))]
unsafe extern "C" fn exported_device_of(out: *mut CUdevice, handle: CUcontext) -> CUresult {
    guarded("cuCtxGetDevice_v2", || put(out, context_or_current(live(handle))?.device as CUdevice))
}

/// The function that the library exports as `cuCtxSynchronize_v2`.
#[cfg(any(test, feature = "exports"))]
#[cfg_attr(feature = "exports", unsafe(export_name = "cuCtxSynchronize_v2"))]
unsafe extern "C" fn exported_synchronize(handle: CUcontext) -> CUresult {
    guarded("cuCtxSynchronize_v2", || {
        let handle = live(handle);
        wait(handle)?;
        let is_current = handle.is_null() || healthy().is_ok_and(|context| context.raw() == handle);
        if is_current { Ok(()) } else { wait(std::ptr::null_mut()) }
    })
}

/// Adds the functions to the table.
pub(super) fn fill(fns: &mut DriverFns) {
    fns.cuCtxGetDevice_v2 = Some(device_of);
    fns.cuCtxSynchronize_v2 = Some(synchronize);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::driver::driver_api;
    use std::ptr::null_mut;

    /// Calls of clients that pass no context: the second register holds anything.
    #[test]
    fn a_number_that_is_no_context_means_the_current_one() {
        let (api, mut current, mut device) = (driver_api(), null_mut(), 9);
        // SAFETY: CUDA's contract: it takes flags only.
        assert_eq!(unsafe { api.cuInit().unwrap()(0) }, CUresult::CUDA_SUCCESS);
        // SAFETY: CUDA's contract: the result is a live local.
        let retained = unsafe { api.cuDevicePrimaryCtxRetain().unwrap()(&mut current, 0) };
        assert_eq!(retained, CUresult::CUDA_SUCCESS);
        // SAFETY: CUDA's contract: the context was just retained.
        assert_eq!(unsafe { api.cuCtxSetCurrent().unwrap()(current) }, CUresult::CUDA_SUCCESS);
        let garbage = std::ptr::without_provenance_mut(0xdead_beef_0123);
        for handle in [garbage, null_mut(), current] {
            // SAFETY: the result is a live local, and handles are only compared.
            assert_eq!(unsafe { exported_device_of(&mut device, handle) }, CUresult::CUDA_SUCCESS);
            assert_eq!(device, 0);
            // SAFETY: handles are only compared.
            assert_eq!(unsafe { exported_synchronize(handle) }, CUresult::CUDA_SUCCESS);
        }
        // A client that asks for the function of CUDA 13 passes a context.
        // SAFETY: the result is a live local, and handles are only compared.
        assert_eq!(unsafe { device_of(&mut device, garbage) }, CUresult::CUDA_ERROR_INVALID_CONTEXT);
        // SAFETY: handles are only compared.
        assert_eq!(unsafe { synchronize(garbage) }, CUresult::CUDA_ERROR_INVALID_CONTEXT);
        // SAFETY: null is allowed and means no context.
        assert_eq!(unsafe { api.cuCtxSetCurrent().unwrap()(null_mut()) }, CUresult::CUDA_SUCCESS);
        // SAFETY: the result is a live local, and handles are only compared.
        assert_eq!(unsafe { exported_device_of(&mut device, garbage) }, CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
}
