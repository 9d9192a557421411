//! Events: positions in a stream, with the time at which the stream reached them.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::graph::{Work, capture};
use super::memory::ipc::SharedEvent;
use super::operations::{Item, Op, Recorded};
use super::state::{ENGINE, OBJECTS, drained, handle, healthy, require_releasable};
use super::stream::target;
use super::trace::Track;
use super::{Status, api, put};
use crate::queue::{Point, Start, Task};
use cuda_sys::{CUevent, CUresult, CUstream};
use parking_lot::{Mutex, MutexGuard};
use std::ffi::c_uint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
/// All flags: blocking synchronisation, no timing, interprocess.
const FLAGS: u32 = 7;
/// A flag of a record or wait in a captured stream: it becomes a graph node rather than an edge.
const EXTERNAL: u32 = 1;

/// The last record of an event: its position in the queue, and its time stamp.
#[derive(Clone, Debug)]
pub(super) struct EventRecord {
    pub(super) point: Point,
    pub(super) noted: Arc<Recorded>,
}

/// The last record of an event.
#[derive(Clone, Debug, Default)]
pub(super) enum Mark {
    /// The event was never recorded.
    #[default]
    Nothing,
    Record(EventRecord),
    /// Nodes of a graph, with the id of the capture sequence that contains them.
    Captured(u64, Vec<usize>),
}

#[derive(Debug)]
pub(super) struct Event {
    flags: u32,
    mark: Mutex<Mark>,
    /// The counters that it shares with other processes.
    pub(super) shared: Option<Arc<SharedEvent>>,
}

impl Event {
    fn new(flags: u32, shared: Option<SharedEvent>) -> Event {
        Event { flags, mark: Mutex::default(), shared: shared.map(Arc::new) }
    }

    /// Creates an event that was exported by another process.
    pub(super) fn shared(with: SharedEvent) -> Event {
        Event::new(INTERPROCESS | DISABLE_TIMING, Some(with))
    }

    /// Returns true if its records have time stamps.
    pub(super) fn is_timed(&self) -> bool {
        self.flags & DISABLE_TIMING == 0
    }

    /// Returns the number of its last record in all processes, if that was not reached yet.
    pub(super) fn pending(&self) -> Option<u64> {
        self.shared.as_ref()?.pending()
    }

    /// Creates the time stamp of a new record.
    pub(super) fn note(&self, track: Track) -> Arc<Recorded> {
        let shared = self.shared.as_ref().map(|shared| (Arc::clone(shared), shared.enqueue()));
        Arc::new(Recorded { track, time: AtomicU64::new(0), shared })
    }

    /// Returns the wait for the last record if that is another process's, which blocks a thread.
    pub(super) fn remote_wait(&self) -> Option<Op> {
        let own = self.record().and_then(|record| record.noted.shared.as_ref().map(|(_, number)| *number));
        let other = self.pending().filter(|number| Some(*number) != own);
        self.shared.as_ref().zip(other).map(|(shared, number)| Op::AwaitRemote(Arc::clone(shared), number))
    }

    /// Returns the last record, if it is in a stream.
    pub(super) fn record(&self) -> Option<EventRecord> {
        match &*self.mark.lock() {
            Mark::Record(record) => Some(record.clone()),
            Mark::Nothing | Mark::Captured(..) => None,
        }
    }

    /// Returns the position of the last record, if it is in a stream.
    pub(super) fn point(&self) -> Option<Point> {
        match &*self.mark.lock() {
            Mark::Record(record) => Some(record.point),
            Mark::Nothing | Mark::Captured(..) => None,
        }
    }

    /// Locks the mark, so that another thread's wait sees the next one.
    pub(super) fn lock_mark(&self) -> MutexGuard<'_, Mark> {
        self.mark.lock()
    }

    /// Returns the position of the last record. A captured record is an error, which invalidates a running capture.
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

/// Records an event. In a captured stream it refers to the nodes captured last, or becomes a node if `external`.
pub(super) fn record(handle: CUevent, on: CUstream, external: bool) -> Status {
    let (context, stream) = target(on)?;
    let event = event(handle)?;
    // An event and the stream in which it is recorded must belong to the same context.
    if !super::state::belongs(handle.addr(), stream.context) {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    if stream.is_capturing() {
        if external {
            return capture::add(&stream, Work::Record(handle.addr(), event)).map(|_| ());
        }
        let (sequence, nodes) = capture::frontier(&stream)?;
        *event.lock_mark() = Mark::Captured(sequence, nodes);
        return Ok(());
    }
    let noted = event.note(Track { device: context.device, stream: stream.id, lane: 0 });
    let mut mark = event.lock_mark();
    let item = Item::new(context, stream.id, 0, Op::Record(Arc::clone(&noted)));
    let point = ENGINE.submit(stream.queue, Vec::new(), Some(item), Start::Here);
    *mark = Mark::Record(EventRecord { point, noted });
    Ok(())
}

/// Makes a stream wait for the last record. Without one it does not wait.
///
/// A wait for a captured record makes the stream join that capture.
pub(super) fn wait(of: CUstream, on: CUevent, flags: c_uint) -> Status {
    let (context, stream) = target(of)?;
    let event = event(on)?;
    if flags > EXTERNAL {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let mark = event.lock_mark().clone();
    match mark {
        Mark::Captured(sequence, nodes) => return capture::join(&stream, sequence, &nodes),
        _ if stream.is_capturing() && flags == EXTERNAL => {
            return capture::add(&stream, Work::Wait(on.addr(), event)).map(|_| ());
        }
        Mark::Record(_) if stream.is_capturing() => return capture::isolated(&stream),
        Mark::Nothing if stream.is_capturing() => {}
        Mark::Nothing | Mark::Record(_) => stream.wait_for(&context, &event),
    }
    Ok(())
}

fn elapsed(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Status {
    healthy()?;
    let (start, end) = (event(start)?, event(end)?);
    if (start.flags | end.flags) & DISABLE_TIMING != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    start.recorded()?;
    end.recorded()?;
    let (from, to) = (start.record(), end.record());
    let (Some(from), Some(to)) = (from, to) else { return Err(CUresult::CUDA_ERROR_INVALID_HANDLE) };
    let points = [from.point, to.point];
    let (from, to) = (from.noted.time.load(Ordering::Acquire), to.noted.time.load(Ordering::Acquire));
    if from == 0 || to == 0 {
        return Err(CUresult::CUDA_ERROR_NOT_READY);
    }
    points.into_iter().for_each(Item::waited);
    put(milliseconds, (to.wrapping_sub(from).cast_signed() as f64 / 1e6) as f32)
}

/// Inserts an event under a new handle of the current context.
pub(super) fn insert(out: *mut CUevent, event: Event) -> Status {
    let new = handle();
    put(out, std::ptr::without_provenance_mut(new))?;
    OBJECTS.lock().events.insert(new, Arc::new(event));
    Ok(())
}

fn destroy(old: CUevent) -> Status {
    require_releasable()?;
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
    fn cuEventRecord / cuEventRecord_ptsz(target: CUevent, on: CUstream) { record(target, on, false) }
    fn cuEventRecordWithFlags / cuEventRecordWithFlags_ptsz(target: CUevent, on: CUstream, flags: c_uint) {
        if flags > EXTERNAL {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        record(target, on, flags == EXTERNAL)
    }
    fn cuEventQuery(target: CUevent) {
        let context = healthy()?;
        let event = event(target)?;
        let point = event.recorded()?;
        capture::check_permitted()?;
        if event.pending().is_some() {
            return Err(CUresult::CUDA_ERROR_NOT_READY);
        }
        match point {
            Some(point) if !ENGINE.reached(point) => Err(CUresult::CUDA_ERROR_NOT_READY),
            found => {
                found.into_iter().for_each(Item::waited);
                context.fault()
            }
        }
    }
    fn cuEventSynchronize(target: CUevent) {
        let context = drained(healthy())?;
        let event = event(target)?;
        let point = event.recorded()?;
        capture::check_permitted()?;
        let pending = event.pending();
        if let Some(point) = point {
            ENGINE.wait(point);
        }
        if let Some((shared, number)) = event.shared.as_ref().zip(pending) {
            shared.wait(number, || context.lost().is_err());
        }
        super::memory::pool::trim_synchronised(context.device);
        drained(context.fault())
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) { elapsed(milliseconds, start, end) }
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent) { elapsed(milliseconds, start, end) }
}
