//! Streams and host callbacks.
//!
//! # Safety
//!
//! See the parent module: pointers are C's, null or valid. Callbacks are the client's functions, called as documented.

use super::event::event;
use super::state::{OBJECTS, Stream, bound, context_handle, handle, ready};
use super::{Status, api, put};
use cuda_sys::CUstreamCaptureStatus;
use cuda_sys::{CUcontext, CUdevice, CUevent, CUgreenCtx, CUhostFn, CUresult, CUstream, CUstreamCallback};
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::Arc;

/// Looks a stream up; 0, 1 and 2 are the default streams.
pub(super) fn stream(stream: CUstream) -> Result<Arc<Stream>, CUresult> {
    match stream.addr() {
        id @ 0..=2 => Ok(Arc::new(Stream { flags: 0, priority: 0, id: id as u64 })),
        id => OBJECTS.lock().streams.get(&id).cloned().ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE),
    }
}

fn create(out: *mut CUstream, flags: c_uint, priority: c_int) -> Status {
    ready()?;
    if flags > 1 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let new = handle();
    put(out, std::ptr::without_provenance_mut(new))?;
    let object = Stream { flags, priority: priority.clamp(-5, 0), id: new as u64 };
    OBJECTS.lock().streams.insert(new, Arc::new(object));
    Ok(())
}

api! {
    fn cuStreamCreate(out: *mut CUstream, flags: c_uint) { create(out, flags, 0) }
    fn cuStreamCreateWithPriority(out: *mut CUstream, flags: c_uint, priority: c_int) { create(out, flags, priority) }
    fn cuStreamDestroy_v2(old: CUstream) {
        bound()?;
        OBJECTS.lock().streams.remove(&old.addr()).map(|_| ()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }
    fn cuStreamSynchronize(of: CUstream) {
        ready()?;
        stream(of).map(|_| ())
    }
    fn cuStreamQuery(of: CUstream) {
        ready()?;
        stream(of).map(|_| ())
    }
    fn cuStreamWaitEvent(of: CUstream, on: CUevent, _flags: c_uint) {
        ready()?;
        stream(of)?;
        event(on).map(|_| ())
    }
    fn cuStreamGetFlags(of: CUstream, flags: *mut c_uint) {
        bound()?;
        put(flags, stream(of)?.flags)
    }
    fn cuStreamGetPriority(of: CUstream, priority: *mut c_int) {
        bound()?;
        put(priority, stream(of)?.priority)
    }
    fn cuStreamGetId(of: CUstream, id: *mut c_ulonglong) {
        bound()?;
        put(id, stream(of)?.id)
    }
    fn cuStreamGetDevice(of: CUstream, device: *mut CUdevice) {
        bound()?;
        stream(of)?;
        put(device, 0)
    }
    fn cuStreamGetCtx(of: CUstream, context: *mut CUcontext) {
        bound()?;
        stream(of)?;
        put(context, context_handle())
    }
    fn cuStreamGetCtx_v2(of: CUstream, context: *mut CUcontext, green: *mut CUgreenCtx) {
        bound()?;
        stream(of)?;
        put(context, context_handle())?;
        if green.is_null() { Ok(()) } else { put(green, std::ptr::null_mut()) }
    }
    fn cuStreamIsCapturing(of: CUstream, status: *mut CUstreamCaptureStatus) {
        ready()?;
        stream(of)?;
        put(status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }
    fn cuStreamAddCallback(of: CUstream, callback: CUstreamCallback, data: *mut c_void, flags: c_uint) {
        ready()?;
        stream(of)?;
        let callback = callback.filter(|_| flags == 0).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        // SAFETY: the client's callback with the client's data, on a stream whose work is finished.
        unsafe { callback(of, CUresult::CUDA_SUCCESS, data) };
        Ok(())
    }
    fn cuLaunchHostFunc(of: CUstream, function: CUhostFn, data: *mut c_void) {
        ready()?;
        stream(of)?;
        let function = function.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        // SAFETY: the client's function with the client's data, on a stream whose work is finished.
        unsafe { function(data) };
        Ok(())
    }
}
