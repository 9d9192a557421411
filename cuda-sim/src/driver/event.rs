//! Events: places in a stream, with the real time at which the stream came there.
//!
//! # Safety
//!
//! See the parent module: pointers are C's, null or valid.

use super::ipc::SharedEvent;
use super::state::{ENGINE, OBJECTS, bound, handle, healthy};
use super::stream::target;
use super::trace::Track;
use super::work::{Item, Op, Recorded};
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

/// The last record of an event: its place, and what it notes there.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) point: Point,
    pub(super) noted: Arc<Recorded>,
}

#[derive(Debug)]
pub(super) struct Event {
    flags: u32,
    record: Mutex<Option<Record>>,
    /// What it has in common with other processes.
    pub(super) shared: Option<Arc<SharedEvent>>,
}

impl Event {
    fn new(flags: u32, shared: Option<SharedEvent>) -> Event {
        Event { flags, record: Mutex::new(None), shared: shared.map(Arc::new) }
    }

    /// One of another process.
    pub(super) fn shared(with: SharedEvent) -> Event {
        Event::new(INTERPROCESS | DISABLE_TIMING, Some(with))
    }

    /// Whether its records have times.
    pub(super) fn is_timed(&self) -> bool {
        self.flags & DISABLE_TIMING == 0
    }

    /// The number of its last record among all processes, if that was not reached yet.
    pub(super) fn pending(&self) -> Option<u64> {
        self.shared.as_ref()?.pending()
    }

    /// The last record.
    pub(super) fn record(&self) -> Option<Record> {
        self.record.lock().clone()
    }

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
    let track = Track { device: context.device, stream: stream.id };
    let shared = event.shared.as_ref().map(|shared| (Arc::clone(shared), shared.enqueue()));
    let noted = Arc::new(Recorded { track, time: AtomicU64::new(0), shared });
    // Held until the place is known, so that another thread's wait finds it.
    let mut last = event.record.lock();
    let item = Item { context, stream: stream.id, op: Op::Record(Arc::clone(&noted)) };
    let point = ENGINE.submit(stream.queue, Vec::new(), Some(item), Start::Here);
    *last = Some(Record { point, noted });
    Ok(())
}

fn elapsed(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Status {
    healthy()?;
    let (start, end) = (event(start)?, event(end)?);
    if (start.flags | end.flags) & DISABLE_TIMING != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let (from, to) = (start.record(), end.record());
    let (Some(from), Some(to)) = (from, to) else { return Err(CUresult::CUDA_ERROR_INVALID_HANDLE) };
    let (from, to) = (from.noted.time.load(Ordering::Acquire), to.noted.time.load(Ordering::Acquire));
    if from == 0 || to == 0 {
        return Err(CUresult::CUDA_ERROR_NOT_READY);
    }
    put(milliseconds, (to.wrapping_sub(from).cast_signed() as f64 / 1e6) as f32)
}

/// Gives an event a handle of the current context.
pub(super) fn insert(out: *mut CUevent, event: Event) -> Status {
    let new = handle();
    put(out, std::ptr::without_provenance_mut(new))?;
    OBJECTS.lock().events.insert(new, Arc::new(event));
    Ok(())
}

fn destroy(old: CUevent) -> Status {
    bound()?;
    OBJECTS.lock().events.remove(&old.addr()).map(|_| ()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

api! {
    fn cuEventCreate(out: *mut CUevent, flags: c_uint) {
        let context = healthy()?;
        if flags & !FLAGS != 0 || (flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0) || out.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let shared = (flags & INTERPROCESS != 0).then(|| SharedEvent::new(context.device)).transpose()?;
        insert(out, Event::new(flags, shared))
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
        let event = event(target)?;
        if event.pending().is_some() {
            return Err(CUresult::CUDA_ERROR_NOT_READY);
        }
        match event.point() {
            Some(point) if !ENGINE.reached(point) => Err(CUresult::CUDA_ERROR_NOT_READY),
            _ => context.fault(),
        }
    }
    fn cuEventSynchronize(target: CUevent) {
        let context = healthy()?;
        let event = event(target)?;
        let pending = event.pending();
        if let Some(point) = event.point() {
            ENGINE.wait(point);
        }
        if let Some((shared, number)) = event.shared.as_ref().zip(pending) {
            shared.wait(number);
        }
        super::pool::trim_synchronised(context.device);
        context.fault()
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) { elapsed(milliseconds, start, end) }
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent) { elapsed(milliseconds, start, end) }
}
