//! Functions that `cuGetProcAddress` finds but the library does not export.
//!
//! These variants of CUDA 13 take a context, the older ones do not. A client such as Numba's that looks up `name_v2`
//! among the exports, and calls it like `name`, would pass too few arguments.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::graph::capture;
use super::state::{Context, context, drained, healthy};
use super::{guarded, put};
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

unsafe extern "C" fn device_of(out: *mut CUdevice, handle: CUcontext) -> CUresult {
    guarded("cuCtxGetDevice_v2", || put(out, context_or_current(handle)?.device as CUdevice))
}

unsafe extern "C" fn synchronize(handle: CUcontext) -> CUresult {
    guarded("cuCtxSynchronize_v2", || {
        let context = drained(context_or_current(handle))?;
        capture::check_permitted()?;
        capture::refuse_context(context.id)?;
        context.synchronize()
    })
}

/// Adds the functions to the table.
pub(super) fn fill(fns: &mut DriverFns) {
    fns.cuCtxGetDevice_v2 = Some(device_of);
    fns.cuCtxSynchronize_v2 = Some(synchronize);
}
