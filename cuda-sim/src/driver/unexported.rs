//! Functions that `cuGetProcAddress` finds and the library does not export.
//!
//! These variants of CUDA 13 take a context, where the older ones take none. A client that looks for `name_v2` among the
//! exports and calls it like `name`, as Numba's does, would pass too few arguments.
//!
//! # Safety
//!
//! See the parent module: pointers are C's, null or valid.

use super::graph::capture;
use super::state::{Context, context, drained, healthy};
use super::{guarded, put};
use cuda_sys::{CUcontext, CUdevice, CUresult, DriverFns};
use std::sync::Arc;

/// The context of that handle, which like the current one is healthy; null means the current one.
fn meant(handle: CUcontext) -> Result<Arc<Context>, CUresult> {
    if handle.is_null() {
        return healthy();
    }
    let context = context(handle)?;
    context.fault().inspect_err(|_| context.drain())?;
    Ok(context)
}

unsafe extern "C" fn device_of(out: *mut CUdevice, handle: CUcontext) -> CUresult {
    guarded("cuCtxGetDevice_v2", || put(out, meant(handle)?.device as CUdevice))
}

unsafe extern "C" fn synchronize(handle: CUcontext) -> CUresult {
    guarded("cuCtxSynchronize_v2", || {
        let context = drained(meant(handle))?;
        capture::permit()?;
        capture::refuse_context(context.id)?;
        context.synchronize()
    })
}

/// Puts the functions into the table.
pub(super) fn fill(fns: &mut DriverFns) {
    fns.cuCtxGetDevice_v2 = Some(device_of);
    fns.cuCtxSynchronize_v2 = Some(synchronize);
}
