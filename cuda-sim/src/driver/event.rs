//! Events: places in a stream, with the real time at which the stream came there.
//!
//! # Safety
//!
//! See the parent module: pointers are C's, null or valid.

use super::graph::{Work, capture};
use super::state::{ENGINE, OBJECTS, bound, handle, healthy};
use super::stream::target;
use super::work::{Item, Op};
use super::{Status, api, put};
use crate::queue::{Point, Start};
use cuda_sys::{CUevent, CUresult, CUstream};
use parking_lot::{Mutex, MutexGuard};
use std::ffi::c_uint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
/// Blocking synchronisation, no timing, between processes.
const FLAGS: u32 = 7;
/// Of a record or wait in a stream that is captured: a node of the graph, rather than an edge.
const EXTERNAL: u32 = 1;

/// The last record of an event: its place, and its time once it is reached (0 before).
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) point: Point,
    pub(super) time: Arc<AtomicU64>,
}

/// What an event stands for.
#[derive(Clone, Debug, Default)]
pub(super) enum Mark {
    /// It was never recorded.
    #[default]
    Nothing,
    Record(Record),
    /// Nodes of a graph, by the number of the sequence that captures them.
    Captured(u64, Vec<usize>),
}

#[derive(Debug)]
pub(super) struct Event {
    flags: u32,
    mark: Mutex<Mark>,
}

impl Event {
    /// The place of the last record, if it was one of a stream.
    pub(super) fn point(&self) -> Option<Point> {
        match &*self.mark.lock() {
            Mark::Record(record) => Some(record.point),
            Mark::Nothing | Mark::Captured(..) => None,
        }
    }

    /// The mark, held so that another thread's wait finds the next one.
    pub(super) fn held(&self) -> MutexGuard<'_, Mark> {
        self.mark.lock()
    }

    /// The place of the last record, which a capture must not have made; asking makes one in progress invalid.
    fn recorded(&self) -> Result<Option<Point>, CUresult> {
        let mark = self.mark.lock().clone();
        match mark {
            Mark::Nothing => Ok(None),
            Mark::Record(record) => Ok(Some(record.point)),
            Mark::Captured(sequence, _) => {
                capture::invalidate(sequence);
                Err(CUresult::CUDA_ERROR_CAPTURED_EVENT)
            }
        }
    }
}

pub(super) fn event(event: CUevent) -> Result<Arc<Event>, CUresult> {
    OBJECTS.lock().events.get(&event.addr()).cloned().ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

/// Records an event; in a stream that is captured it stands for what was captured last, or is a node (`external`).
pub(super) fn record(handle: CUevent, on: CUstream, external: bool) -> Status {
    let (context, stream) = target(on)?;
    let event = event(handle)?;
    // An event and the stream that it is recorded on are of one context.
    if !super::state::belongs(handle.addr(), stream.context) {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    if stream.is_capturing() {
        if external {
            return capture::add(&stream, Work::Record(handle.addr(), event)).map(|_| ());
        }
        let (sequence, nodes) = capture::frontier(&stream)?;
        *event.held() = Mark::Captured(sequence, nodes);
        return Ok(());
    }
    let time = Arc::new(AtomicU64::new(0));
    let mut mark = event.held();
    let item = Item { context, stream: stream.id, lane: 0, op: Op::Record(Arc::clone(&time)) };
    let point = ENGINE.submit(stream.queue, Vec::new(), Some(item), Start::Here);
    *mark = Mark::Record(Record { point, time });
    Ok(())
}

/// Makes a stream wait for the record that is the last one now. Without one there is nothing to wait for.
///
/// A captured record takes the stream into its capture.
pub(super) fn wait(of: CUstream, on: CUevent, flags: c_uint) -> Status {
    let (_, stream) = target(of)?;
    let event = event(on)?;
    if flags > EXTERNAL {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let mark = event.held().clone();
    match mark {
        Mark::Captured(sequence, nodes) => capture::join(&stream, sequence, &nodes),
        _ if stream.is_capturing() && flags == EXTERNAL => {
            capture::add(&stream, Work::Wait(on.addr(), event)).map(|_| ())
        }
        Mark::Nothing => Ok(()),
        Mark::Record(_) if stream.is_capturing() => capture::isolated(&stream),
        Mark::Record(record) => {
            if !ENGINE.reached(record.point) {
                ENGINE.submit(stream.queue, vec![record.point], None, Start::Here);
            }
            Ok(())
        }
    }
}

fn elapsed(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Status {
    healthy()?;
    let (start, end) = (event(start)?, event(end)?);
    if (start.flags | end.flags) & DISABLE_TIMING != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    start.recorded()?;
    end.recorded()?;
    let time = |event: &Event| match &*event.mark.lock() {
        Mark::Record(record) => Some(record.time.load(Ordering::Acquire)),
        Mark::Nothing | Mark::Captured(..) => None,
    };
    let (Some(from), Some(to)) = (time(&start), time(&end)) else { return Err(CUresult::CUDA_ERROR_INVALID_HANDLE) };
    if from == 0 || to == 0 {
        return Err(CUresult::CUDA_ERROR_NOT_READY);
    }
    put(milliseconds, (to.wrapping_sub(from).cast_signed() as f64 / 1e6) as f32)
}

fn destroy(old: CUevent) -> Status {
    bound()?;
    OBJECTS.lock().events.remove(&old.addr()).map(|_| ()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

api! {
    fn cuEventCreate(out: *mut CUevent, flags: c_uint) {
        healthy()?;
        if flags & !FLAGS != 0 || (flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0) || out.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let new = handle();
        OBJECTS.lock().events.insert(new, Arc::new(Event { flags, mark: Mutex::default() }));
        put(out, std::ptr::without_provenance_mut(new))
    }
    fn cuEventDestroy(old: CUevent) { destroy(old) }
    fn cuEventDestroy_v2(old: CUevent) { destroy(old) }
    fn cuEventRecord / cuEventRecord_ptsz(target: CUevent, on: CUstream) { record(target, on, false) }
    fn cuEventRecordWithFlags / cuEventRecordWithFlags_ptsz(target: CUevent, on: CUstream, flags: c_uint) {
        if flags > EXTERNAL {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        record(target, on, flags == EXTERNAL)
    }
    fn cuEventQuery(target: CUevent) {
        let context = healthy()?;
        let point = event(target)?.recorded()?;
        capture::permit()?;
        match point {
            Some(point) if !ENGINE.reached(point) => Err(CUresult::CUDA_ERROR_NOT_READY),
            _ => context.fault(),
        }
    }
    fn cuEventSynchronize(target: CUevent) {
        let context = healthy()?;
        let point = event(target)?.recorded()?;
        capture::permit()?;
        if let Some(point) = point {
            ENGINE.wait(point);
        }
        super::pool::trim_synchronised(context.device);
        context.fault()
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) { elapsed(milliseconds, start, end) }
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent) { elapsed(milliseconds, start, end) }
}
