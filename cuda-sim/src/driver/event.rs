//! Events: they carry the real time at which they were recorded.
//!
//! # Safety
//!
//! See the parent module: pointers are C's, null or valid.

use super::state::{Event, OBJECTS, handle, ready};
use super::stream::stream;
use super::{Status, api, put};
use cuda_sys::{CUevent, CUresult, CUstream};
use parking_lot::Mutex;
use std::ffi::c_uint;
use std::sync::Arc;
use std::time::Instant;

const DISABLE_TIMING: u32 = 2;
/// Blocking synchronisation, no timing, between processes.
const FLAGS: u32 = 7;

pub(super) fn event(event: CUevent) -> Result<Arc<Event>, CUresult> {
    OBJECTS.lock().events.get(&event.addr()).cloned().ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

fn record(target: CUevent, on: CUstream) -> Status {
    ready()?;
    stream(on)?;
    *event(target)?.recorded.lock() = Some(Instant::now());
    Ok(())
}

fn elapsed(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Status {
    ready()?;
    let (start, end) = (event(start)?, event(end)?);
    if (start.flags | end.flags) & DISABLE_TIMING != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let (from, to) = (*start.recorded.lock(), *end.recorded.lock());
    let (Some(from), Some(to)) = (from, to) else { return Err(CUresult::CUDA_ERROR_INVALID_HANDLE) };
    let forward = to.saturating_duration_since(from).as_secs_f64();
    let backward = from.saturating_duration_since(to).as_secs_f64();
    put(milliseconds, ((forward - backward) * 1e3) as f32)
}

api! {
    fn cuEventCreate(out: *mut CUevent, flags: c_uint) {
        ready()?;
        if flags & !FLAGS != 0 || (flags & 4 != 0 && flags & DISABLE_TIMING == 0) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let new = handle();
        put(out, std::ptr::without_provenance_mut(new))?;
        OBJECTS.lock().events.insert(new, Arc::new(Event { flags, recorded: Mutex::new(None) }));
        Ok(())
    }
    fn cuEventDestroy_v2(old: CUevent) {
        super::state::bound()?;
        OBJECTS.lock().events.remove(&old.addr()).map(|_| ()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }
    fn cuEventRecord(target: CUevent, on: CUstream) { record(target, on) }
    fn cuEventRecordWithFlags(target: CUevent, on: CUstream, flags: c_uint) {
        if flags > 1 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        record(target, on)
    }
    fn cuEventQuery(target: CUevent) {
        ready()?;
        event(target).map(|_| ())
    }
    fn cuEventSynchronize(target: CUevent) {
        ready()?;
        event(target).map(|_| ())
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) { elapsed(milliseconds, start, end) }
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent) { elapsed(milliseconds, start, end) }
}
