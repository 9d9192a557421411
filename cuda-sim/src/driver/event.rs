//! Events: places in a stream, with the real time at which the stream came there.
//!
//! # Safety
//!
//! See the parent module: pointers are C's, null or valid.

use super::state::{ENGINE, OBJECTS, handle, healthy, releasing};
use super::stream::target;
use super::work::{Item, Op};
use super::{Status, api, put};
use crate::queue::{Point, Start};
use cuda_sys::{CUevent, CUresult, CUstream};
use parking_lot::Mutex;
use std::ffi::c_uint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
/// Blocking synchronisation, no timing, between processes.
const FLAGS: u32 = 7;

/// The last record of an event: its place, and its time once it is reached (0 before).
#[derive(Clone, Debug)]
struct Record {
    point: Point,
    time: Arc<AtomicU64>,
}

#[derive(Debug)]
pub(super) struct Event {
    flags: u32,
    record: Mutex<Option<Record>>,
}

impl Event {
    /// The place of the last record.
    pub(super) fn point(&self) -> Option<Point> {
        self.record.lock().as_ref().map(|record| record.point)
    }
}

pub(super) fn event(event: CUevent) -> Result<Arc<Event>, CUresult> {
    OBJECTS.lock().events.get(&event.addr()).cloned().ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

pub(super) fn record(target_event: CUevent, on: CUstream) -> Status {
    let (context, stream) = target(on)?;
    let event = event(target_event)?;
    // An event and the stream that it is recorded on are of one context.
    if !super::state::belongs(target_event.addr(), stream.context) {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let time = Arc::new(AtomicU64::new(0));
    // Held until the place is known, so that another thread's wait finds it.
    let mut last = event.record.lock();
    let item = Item { context, stream: stream.id, op: Op::Record(Arc::clone(&time)) };
    let point = ENGINE.submit(stream.queue, Vec::new(), Some(item), Start::Here);
    *last = Some(Record { point, time });
    Ok(())
}

fn elapsed(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Status {
    healthy()?;
    let (start, end) = (event(start)?, event(end)?);
    if (start.flags | end.flags) & DISABLE_TIMING != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let (from, to) = (start.record.lock().clone(), end.record.lock().clone());
    let (Some(from), Some(to)) = (from, to) else { return Err(CUresult::CUDA_ERROR_INVALID_HANDLE) };
    let (from, to) = (from.time.load(Ordering::Acquire), to.time.load(Ordering::Acquire));
    if from == 0 || to == 0 {
        return Err(CUresult::CUDA_ERROR_NOT_READY);
    }
    put(milliseconds, (to.wrapping_sub(from).cast_signed() as f64 / 1e6) as f32)
}

fn destroy(old: CUevent) -> Status {
    releasing()?;
    OBJECTS.lock().events.remove(&old.addr()).map(|_| ()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

api! {
    fn cuEventCreate(out: *mut CUevent, flags: c_uint) {
        healthy()?;
        if flags & !FLAGS != 0 || (flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0) || out.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let new = handle();
        OBJECTS.lock().events.insert(new, Arc::new(Event { flags, record: Mutex::new(None) }));
        put(out, std::ptr::without_provenance_mut(new))
    }
    fn cuEventDestroy(old: CUevent) { destroy(old) }
    fn cuEventDestroy_v2(old: CUevent) { destroy(old) }
    fn cuEventRecord / cuEventRecord_ptsz(target: CUevent, on: CUstream) { record(target, on) }
    fn cuEventRecordWithFlags / cuEventRecordWithFlags_ptsz(target: CUevent, on: CUstream, flags: c_uint) {
        if flags > 1 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        record(target, on)
    }
    fn cuEventQuery(target: CUevent) {
        let context = healthy()?;
        match event(target)?.point() {
            Some(point) if !ENGINE.reached(point) => Err(CUresult::CUDA_ERROR_NOT_READY),
            _ => context.fault(),
        }
    }
    fn cuEventSynchronize(target: CUevent) {
        let context = healthy()?;
        if let Some(point) = event(target)?.point() {
            ENGINE.wait(point);
        }
        super::pool::trim_synchronised(context.device);
        context.fault()
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) { elapsed(milliseconds, start, end) }
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent) { elapsed(milliseconds, start, end) }
}
