//! Puts operations into streams, through the driver's public functions.
//!
//! An operation is a callback in its stream (`cuStreamAddCallback`, which also runs in a context that has faulted, so that the
//! peers learn of it), or, while the stream is captured, a host function, which the graph keeps alive by a user object.
//! Operations of a communicator run in the order of the calls on all its streams: an event orders a stream after the one that
//! was used before. A graph's launch is not ordered after operations outside of it, nor after other graphs; the client does
//! that, as for all its work.
//!
//! # Safety
//!
//! The callbacks get the pointer that was enqueued with them: an operation that a callback consumes, or one of which the graph
//! holds a reference as long as the host function can be called.

use crate::abi::{Code, RawStream};
use crate::call::Call;
use crate::communicator::{Communicator, locked};
use crate::driver::{self, call};
use crate::failure::{Failure, Level, Result, message};
use crate::run::run;
use cuda_sys::{CUcontext, CUevent, CUgraph, CUresult, CUstream, CUstreamCaptureStatus, CUuserObject};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An operation of one communicator: the calls of a group, or a single one.
pub(crate) struct Operation {
    communicator: Arc<Communicator>,
    collectives: Vec<Call>,
    messages: Vec<Call>,
}

/// An event, as a number, so that it can be shared.
#[derive(Clone, Copy)]
struct Event(usize);

/// The stream that a communicator was used with last, and the events that order others after it.
#[derive(Default)]
pub(crate) struct StreamOrder {
    last: Option<usize>,
    event: Option<Event>,
    /// The same within a capture, whose number comes first.
    captured: Option<(u64, usize, Event)>,
}

impl Event {
    fn new() -> Result<Event> {
        let mut event: CUevent = std::ptr::null_mut();
        // 2 is CU_EVENT_DISABLE_TIMING.
        call!(cuEventCreate(&raw mut event, 2))?;
        Ok(Event(event.expose_provenance()))
    }

    fn raw(self) -> CUevent {
        std::ptr::with_exposed_provenance_mut(self.0)
    }

    fn record(self, stream: CUstream) -> Result<()> {
        call!(cuEventRecord(self.raw(), stream))
    }

    fn holds(self, stream: CUstream) -> Result<()> {
        call!(cuStreamWaitEvent(stream, self.raw(), 0))
    }

    fn destroy(self) -> Result<()> {
        call!(cuEventDestroy_v2(self.raw()))
    }
}

/// The capture that a stream takes part in: its number and graph.
fn capture_of(stream: CUstream) -> Result<Option<(u64, CUgraph)>> {
    let (mut status, mut id) = (CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, 0);
    let mut graph: CUgraph = std::ptr::null_mut();
    let (nodes, count) = (std::ptr::null_mut(), std::ptr::null_mut());
    call!(cuStreamGetCaptureInfo_v2(stream, &raw mut status, &raw mut id, &raw mut graph, nodes, count))?;
    match status {
        CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE => Ok(None),
        CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE => Ok(Some((id, graph))),
        _ => driver::check("a captured stream", CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED).map(|()| None),
    }
}

/// Requires that a stream belongs to the communicator's device.
fn check_stream(communicator: &Communicator, stream: CUstream) -> Result<()> {
    // The default streams are those of the current context, which is the device's.
    if stream.addr() <= 2 {
        return Ok(());
    }
    let mut context: CUcontext = std::ptr::null_mut();
    call!(cuStreamGetCtx(stream, &raw mut context))?;
    call!(cuCtxPushCurrent_v2(context))?;
    let device = driver::current_device();
    let mut popped: CUcontext = std::ptr::null_mut();
    call!(cuCtxPopCurrent_v2(&raw mut popped))?;
    let device = device?;
    if device == communicator.device {
        return Ok(());
    }
    let text = format!(
        "Cuda failure 400 'invalid resource handle': the stream is of device {device}, the communicator of device {}",
        communicator.device
    );
    Err(Failure::new(Code::ncclUnhandledCudaError, text))
}

/// Enqueues the calls of one communicator that a group has, in the first one's stream; the others wait for it and it for them.
///
/// # Errors
///
/// The driver refuses something, in which case nothing was enqueued; or a stream is another device's.
pub(crate) fn enqueue(communicator: &Arc<Communicator>, calls: Vec<(RawStream, Call)>) -> Result<()> {
    let Some(first) = calls.first().map(|(stream, _)| *stream) else { return Ok(()) };
    let mut streams: Vec<RawStream> = Vec::new();
    for (stream, _) in &calls {
        if !streams.contains(stream) {
            streams.push(*stream);
        }
    }
    let (collectives, messages) =
        calls.into_iter().map(|(_, call)| call).partition(|call: &Call| call.function.is_collective());
    let operation = Operation { communicator: Arc::clone(communicator), collectives, messages };
    let raw = |stream: RawStream| stream.cast();
    communicator.context()?.within(|| {
        streams.iter().try_for_each(|stream| check_stream(communicator, raw(*stream)))?;
        let mut order = locked(&communicator.order);
        let capture = capture_of(raw(first))?;
        order.follow(first, capture.map(|(id, _)| id))?;
        let forks = &streams[1..];
        let fork = if forks.is_empty() { None } else { Some(Event::new()?) };
        if let Some(event) = fork {
            for stream in forks {
                event.record(raw(*stream))?;
                event.holds(raw(first))?;
            }
        }
        match capture {
            None => submit(raw(first), operation)?,
            Some((_, graph)) => add_to(graph, raw(first), operation)?,
        }
        if let Some(event) = fork {
            event.record(raw(first))?;
            forks.iter().try_for_each(|stream| event.holds(raw(*stream)))?;
            event.destroy()?;
        }
        order.note(first, capture.map(|(id, _)| id))
    })
}

impl StreamOrder {
    /// Orders a stream after the one that was used last.
    fn follow(&self, stream: RawStream, capture: Option<u64>) -> Result<()> {
        let stream_raw: CUstream = stream.cast();
        match (capture, self.captured, self.event) {
            (Some(id), Some((known, last, event)), _) if known == id && last != stream.addr() => {
                event.holds(stream_raw)
            }
            (None, _, Some(event)) if self.last.is_some_and(|last| last != stream.addr()) => event.holds(stream_raw),
            _ => Ok(()),
        }
    }

    /// Notes that a stream was used.
    fn note(&mut self, stream: RawStream, capture: Option<u64>) -> Result<()> {
        let stream_raw: CUstream = stream.cast();
        let Some(id) = capture else {
            let event = self.event.map_or_else(Event::new, Ok)?;
            self.event = Some(event);
            self.last = Some(stream.addr());
            return event.record(stream_raw);
        };
        let event = self.captured.map_or_else(Event::new, |(.., event)| Ok(event))?;
        self.captured = Some((id, stream.addr(), event));
        event.record(stream_raw)
    }
}

/// Enqueues an operation that runs once.
fn submit(stream: CUstream, operation: Operation) -> Result<()> {
    let communicator = Arc::clone(&operation.communicator);
    let data = Box::into_raw(Box::new(operation));
    communicator.begin();
    let ended = call!(cuStreamAddCallback(stream, Some(run_once), data.cast(), 0));
    if ended.is_err() {
        communicator.end();
        // SAFETY: the driver has refused the callback, so the operation is still this function's.
        drop(unsafe { Box::from_raw(data) });
    }
    ended
}

/// Adds an operation to a graph that is being captured.
fn add_to(graph: CUgraph, stream: CUstream, operation: Operation) -> Result<()> {
    let data = Arc::into_raw(Arc::new(operation)).cast_mut().cast::<c_void>();
    let mut object: CUuserObject = std::ptr::null_mut();
    // 1 is CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, and below CU_GRAPH_USER_OBJECT_MOVE.
    let made = call!(cuUserObjectCreate(&raw mut object, data, Some(release), 1, 1));
    if made.is_err() {
        // SAFETY: no object was made, so the reference is still this function's.
        unsafe { release(data) };
        return made;
    }
    let kept = call!(cuGraphRetainUserObject(graph, object, 1, 1));
    if kept.is_err() {
        call!(cuUserObjectRelease(object, 1))?;
        return kept;
    }
    call!(cuLaunchHostFunc(stream, Some(run_captured), data))
}

/// Runs an operation and consumes it.
unsafe extern "C" fn run_once(_: CUstream, status: CUresult, data: *mut c_void) {
    // SAFETY: `submit` enqueued this operation, and the driver calls a callback once.
    let operation = unsafe { Box::from_raw(data.cast::<Operation>()) };
    operation.run(status);
    operation.communicator.end();
}

/// Runs an operation of a graph.
unsafe extern "C" fn run_captured(data: *mut c_void) {
    // SAFETY: the graph holds a reference while it runs.
    let operation = unsafe { &*data.cast::<Operation>() };
    operation.run(CUresult::CUDA_SUCCESS);
}

/// Releases a graph's reference.
unsafe extern "C" fn release(data: *mut c_void) {
    // SAFETY: the user object has one reference, which it releases once.
    drop(unsafe { Arc::from_raw(data.cast::<Operation>()) });
}

impl Operation {
    fn run(&self, status: CUresult) {
        // A panic, which would be a defect, must not unwind into the driver.
        let ended = catch_unwind(AssertUnwindSafe(|| self.try_run(status)));
        let ended = ended.unwrap_or_else(|_| {
            Err(Failure::new(Code::ncclInternalError, "an operation panicked: a defect of the software NCCL"))
        });
        if let Err(failure) = ended {
            self.communicator.fail(&failure);
        }
    }

    fn try_run(&self, status: CUresult) -> Result<()> {
        let segment = self.communicator.segment()?;
        let _turn = locked(&self.communicator.turn);
        if status != CUresult::CUDA_SUCCESS {
            let rank = self.communicator.rank;
            let text =
                format!("the context of rank {rank} has failed with {status:?}, so that its operation did not run");
            segment.raise(&Failure::new(Code::ncclRemoteError, text.clone()));
            return Err(Failure::new(Code::ncclUnhandledCudaError, text));
        }
        let first = self.collectives.iter().chain(&self.messages).next();
        message(Level::Info, Some(self.communicator.device), || {
            let calls = self.collectives.len() + self.messages.len();
            let first = first.map_or("nothing", |call| call.function.name());
            format!("comm {:#x} rank {} runs {first}, {calls} calls", self.communicator.handle, self.communicator.rank)
        });
        if self.communicator.stop.load(Ordering::Acquire) {
            return Err(Failure::usage("the communicator was aborted before its operation ran"));
        }
        run(segment, &self.communicator.stop, &self.collectives, &self.messages)
    }
}

impl Drop for StreamOrder {
    fn drop(&mut self) {
        // The driver may refuse here, where host functions run; then the event stays until the context ends.
        let events = self.event.into_iter().chain(self.captured.map(|(.., event)| event));
        events.for_each(|event| drop(event.destroy()));
    }
}
