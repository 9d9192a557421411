//! Stream management: queues of the engine with a handle, the default streams, waits for events, and host functions.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. Host functions are the
//! client's, and are called as documented.

pub(super) mod attributes;
pub(super) mod memory_operations;

use super::event::Event;
use super::graph::{Work, capture};
use super::operations::{ClientPointer, Item, Op};
use super::state::{Context, ENGINE, OBJECTS, current, drained, handle, healthy, require_releasable};
use super::{Status, api, put};
use crate::queue::{GroupId, Order, Point, QueueId, Start, Task};
use cuda_sys::{CUcontext, CUdevice, CUevent, CUgreenCtx, CUhostFn, CUresult, CUstream, CUstreamCallback};
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stream. Its operations are in the engine, or in the graph into which it is captured.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) queue: QueueId,
    pub(super) order: Order,
    pub(super) context: u32,
    pub(super) device: usize,
    pub(super) flags: u32,
    pub(super) priority: i32,
    pub(super) id: u64,
    /// The id of the capture sequence to which it belongs; 0 for none. Only [`capture`] changes it.
    pub(super) capture: AtomicU64,
}

const NON_BLOCKING: u32 = 1;
/// The lowest priority, which is the default, and the highest.
pub(super) const PRIORITIES: (i32, i32) = (0, -5);

impl Stream {
    /// Creates the legacy or a per-thread default stream of a context.
    pub(super) fn default_one(context: u32, device: usize, group: GroupId, order: Order) -> Stream {
        let id = if order == Order::Legacy { 1 } else { NEXT_ID.fetch_add(1, Ordering::Relaxed) };
        let (queue, capture) = (ENGINE.queue(group, order, 0), AtomicU64::new(0));
        Stream { queue, order, context, device, flags: 0, priority: 0, id, capture }
    }

    /// Returns true if the stream's operations are captured into a graph.
    pub(super) fn is_capturing(&self) -> bool {
        self.capture.load(Ordering::Acquire) != 0
    }

    /// Enqueues an operation, or captures it.
    pub(super) fn submit(&self, context: &Arc<Context>, op: Op, start: Start) -> Status {
        if self.is_capturing() {
            return capture::add(self, Work::Op(Arc::clone(context), op)).map(|_| ());
        }
        self.enqueue(context, op, start);
        Ok(())
    }

    /// Enqueues an operation.
    pub(super) fn enqueue(&self, context: &Arc<Context>, op: Op, start: Start) -> Point {
        let item = Item::new(Arc::clone(context), self.id, 0, op);
        ENGINE.submit(self.queue, Vec::new(), Some(item), start)
    }

    /// Orders later operations after the last record of an event. Without one there is nothing to wait for.
    pub(super) fn wait_for(&self, context: &Arc<Context>, event: &Event) {
        if let Some(wait) = event.remote_wait() {
            self.enqueue(context, wait, Start::Driver);
        }
        let Some(record) = event.record() else { return };
        let shown = super::trace::wanted();
        if shown || Item::records_order() || !ENGINE.reached(record.point) {
            let item = || Item::new(Arc::clone(context), self.id, 0, Op::WaitEnded(record.noted));
            ENGINE.submit(self.queue, vec![record.point], shown.then(item), Start::Here);
        }
    }

    /// Waits for everything that is enqueued now.
    pub(super) fn synchronize(&self) {
        ENGINE.tails(self.queue).into_iter().for_each(|point| ENGINE.wait(point));
    }

    /// Returns true if everything that is enqueued now has finished.
    pub(super) fn is_done(&self) -> bool {
        ENGINE.tails(self.queue).into_iter().all(|point| ENGINE.reached(point))
    }
}

/// The next stream id; 1 is that of every context's legacy stream.
static NEXT_ID: AtomicU64 = AtomicU64::new(2);

/// A thread's default streams, one for each context in which it has used one.
struct ThreadStreams(Vec<(u32, u64, Arc<Stream>)>);

impl Drop for ThreadStreams {
    fn drop(&mut self) {
        for (_, _, stream) in &self.0 {
            capture::abandon(stream);
            ENGINE.close(stream.queue);
        }
    }
}

thread_local! {
    static OWN: RefCell<ThreadStreams> = const { RefCell::new(ThreadStreams(Vec::new())) };
    /// True if stream 0 means the per-thread default stream, as in functions whose names end in `_ptsz` or `_ptds`.
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function with the per-thread default stream as stream 0.
pub(super) fn per_thread(call: impl FnOnce() -> CUresult) -> CUresult {
    let before = PER_THREAD.replace(true);
    let result = call();
    PER_THREAD.set(before);
    result
}

/// Returns the calling thread's default stream.
fn own(context: &Context) -> Arc<Stream> {
    let generation = context.generation.load(Ordering::Acquire);
    OWN.with_borrow_mut(|own| {
        if let Some((_, _, stream)) = own.0.iter().find(|(c, g, _)| (*c, *g) == (context.id, generation)) {
            return Arc::clone(stream);
        }
        // A stream of before a reset is closed already or never used again.
        own.0.retain(|(c, _, stream)| *c != context.id || (ENGINE.close(stream.queue), false).1);
        crate::check::order::created(true);
        let stream = Arc::new(Stream::default_one(context.id, context.device, context.group, Order::Blocking));
        own.0.push((context.id, generation, Arc::clone(&stream)));
        stream
    })
}

/// Looks up a stream; 0, 1 and 2 are default streams of the context.
pub(super) fn stream_of(context: &Context, stream: CUstream) -> Result<Arc<Stream>, CUresult> {
    match stream.addr() {
        0 if PER_THREAD.get() => Ok(own(context)),
        0 | 1 => Ok(Arc::clone(&context.legacy.read())),
        2 => Ok(own(context)),
        id => OBJECTS.lock().streams.get(&id).cloned().ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE),
    }
}

/// Returns a stream and its context. Neither that nor the current one may have an error.
///
/// They are mostly the same, but copies may be enqueued in streams of other contexts.
pub(super) fn target(stream: CUstream) -> Result<(Arc<Context>, Arc<Stream>), CUresult> {
    let context = healthy()?;
    let stream = stream_of(&context, stream)?;
    capture::check_implicit_sync(&stream)?;
    if stream.context == context.id {
        return Ok((context, stream));
    }
    let owner = super::state::context_by_id(stream.context)?;
    owner.fault()?;
    Ok((owner, stream))
}

/// Returns the current context and a stream, even if an error has occurred.
pub(super) fn known(stream: CUstream) -> Result<(Arc<Context>, Arc<Stream>), CUresult> {
    let context = current()?;
    let stream = stream_of(&context, stream)?;
    Ok((context, stream))
}

fn create(out: *mut CUstream, flags: c_uint, priority: c_int) -> Status {
    let context = healthy()?;
    if flags > NON_BLOCKING || out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let order = if flags == NON_BLOCKING { Order::NonBlocking } else { Order::Blocking };
    let priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
    let queue = ENGINE.queue(context.group, order, priority);
    crate::check::order::created(order == Order::Blocking);
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let capture = AtomicU64::new(0);
    let (own, device) = (context.id, context.device);
    let stream = Stream { queue, order, context: own, device, flags, priority, id, capture };
    let new = handle();
    OBJECTS.lock().streams.insert(new, Arc::new(stream));
    put(out, std::ptr::without_provenance_mut(new))
}

fn destroy(old: CUstream) -> Status {
    require_releasable()?;
    let found = OBJECTS.lock().streams.remove(&old.addr()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
    capture::abandon(&found);
    // Enqueued operations still run.
    ENGINE.close(found.queue);
    Ok(())
}

/// Writes a value through an optional pointer.
pub(super) fn put_optional<T>(to: *mut T, value: T) -> Status {
    if to.is_null() { Ok(()) } else { put(to, value) }
}

api! {
    fn cuStreamCreate(out: *mut CUstream, flags: c_uint) { create(out, flags, 0) }
    fn cuStreamCreateWithPriority(out: *mut CUstream, flags: c_uint, priority: c_int) { create(out, flags, priority) }
    fn cuStreamDestroy(old: CUstream) { destroy(old) }
    fn cuStreamDestroy_v2(old: CUstream) { destroy(old) }
    fn cuStreamSynchronize / cuStreamSynchronize_ptsz(of: CUstream) {
        let (context, stream) = drained(target(of))?;
        capture::refuse(&stream)?;
        capture::check_permitted()?;
        stream.synchronize();
        super::memory::pool::trim_synchronised(context.device);
        drained(context.fault())
    }
    fn cuStreamQuery / cuStreamQuery_ptsz(of: CUstream) {
        let (context, stream) = target(of)?;
        capture::refuse(&stream)?;
        capture::check_permitted()?;
        match ENGINE.is_done(stream.queue) {
            true => context.fault(),
            false => Err(CUresult::CUDA_ERROR_NOT_READY),
        }
    }
    fn cuStreamWaitEvent / cuStreamWaitEvent_ptsz(of: CUstream, on: CUevent, flags: c_uint) {
        super::event::wait(of, on, flags)
    }
    fn cuStreamGetFlags / cuStreamGetFlags_ptsz(of: CUstream, flags: *mut c_uint) { put(flags, known(of)?.1.flags) }
    fn cuStreamGetPriority / cuStreamGetPriority_ptsz(of: CUstream, priority: *mut c_int) {
        put(priority, known(of)?.1.priority)
    }
    fn cuStreamGetId / cuStreamGetId_ptsz(of: CUstream, id: *mut c_ulonglong) { put(id, known(of)?.1.id) }
    fn cuStreamGetDevice / cuStreamGetDevice_ptsz(of: CUstream, device: *mut CUdevice) {
        put(device, known(of)?.1.device as CUdevice)
    }
    fn cuStreamGetCtx / cuStreamGetCtx_ptsz(of: CUstream, context: *mut CUcontext) {
        let (_, stream) = known(of)?;
        put(context, super::context::raw_of(stream.context)?)
    }
    fn cuStreamGetCtx_v2 / cuStreamGetCtx_v2_ptsz(of: CUstream, context: *mut CUcontext, green: *mut CUgreenCtx) {
        let (_, stream) = known(of)?;
        put(context, super::context::raw_of(stream.context)?)?;
        put_optional(green, std::ptr::null_mut())
    }
    fn cuStreamAddCallback / cuStreamAddCallback_ptsz(
        of: CUstream,
        callback: CUstreamCallback,
        data: *mut c_void,
        flags: c_uint,
    ) {
        let (context, stream) = target(of)?;
        let callback = callback.filter(|_| flags == 0).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        capture::refuse(&stream)?;
        stream.submit(&context, Op::Callback(callback, of.addr(), ClientPointer(data)), Start::Driver)
    }
    fn cuLaunchHostFunc / cuLaunchHostFunc_ptsz(of: CUstream, function: CUhostFn, data: *mut c_void) {
        let (context, stream) = target(of)?;
        let function = function.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        stream.submit(&context, Op::Host(function, ClientPointer(data)), Start::Driver)
    }
}
