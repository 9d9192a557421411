//! Spare events and streams of a context: making one costs the driver far more than taking one from a list.
//!
//! An object taken from a pool cannot be told from a new one. A stream goes in, or is destroyed, only when it is idle. An event may go in at any
//! time: every wait on it keeps what it found, and [`Event`](crate::Event) asks the driver about an event only after its own
//! owner has recorded it.
//!
//! # Safety
//!
//! The raw objects belong to the context whose pool this is; they leave the pool for one owner at a time.

use std::collections::VecDeque;

use cuda_sys::{CUevent, CUevent_flags, CUstream, CUstream_flags};

use crate::call::driver_query;
use crate::context::{Context, ContextInner};
use crate::driver_call;
use crate::error::Result;
use crate::panic::StreamPanics;
use crate::stream::StreamId;
use crate::stream::deferred_drop::is_in_host_fn;
use crate::sync::{Arc, Mutex};

/// How many of a kind are kept; more are given back to the driver.
const MAX_SPARE: usize = 64;

/// Spare things of one kind.
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(Mutex::new(Vec::new()))
    }
}

impl<T> Pool<T> {
    /// A spare one, which nobody else has.
    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().pop()
    }

    /// Takes one back; returns it where there are enough.
    pub(crate) fn put(&self, spare: T) -> Option<T> {
        let mut all = self.0.lock();
        if all.len() == MAX_SPARE {
            return Some(spare);
        }
        all.push(spare);
        None
    }

    /// Takes all out.
    fn drain(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// A context's spare events.
#[derive(Default)]
pub(crate) struct EventPool {
    timed: Pool<CUevent>,
    untimed: Pool<CUevent>,
}

impl EventPool {
    fn of(&self, timing: bool) -> &Pool<CUevent> {
        if timing { &self.timed } else { &self.untimed }
    }

    /// An event that nobody else has.
    pub(crate) fn take(&self, context: &Context, timing: bool) -> Result<CUevent> {
        // A context that is lost refuses this as it does every call.
        context.0.admit("cuEventCreate")?;
        if let Some(event) = self.of(timing).take() {
            return Ok(event);
        }
        let flags = match timing {
            true => CUevent_flags::CU_EVENT_DEFAULT,
            false => CUevent_flags::CU_EVENT_DISABLE_TIMING,
        };
        let mut event = std::ptr::null_mut();
        // SAFETY: `event` lives through the call.
        unsafe { driver_call!(context, cuEventCreate(&mut event, flags.0)) }?;
        Ok(event)
    }

    /// Takes an event back that nobody has any more.
    pub(crate) fn put(&self, context: &Context, timing: bool, event: CUevent) {
        if let Some(event) = self.of(timing).put(event) {
            destroy_event(&context.0, event);
        }
    }

    /// Makes what comes on the stream `after` come after all work that `before` has now.
    ///
    /// # Safety
    ///
    /// Both are live streams of `context`.
    pub(crate) unsafe fn order(&self, context: &Context, before: CUstream, after: CUstream) -> Result<()> {
        let event = self.take(context, false)?;
        // SAFETY: the event is in nobody else's hands; the stream is the caller's promise.
        let recorded = unsafe { driver_call!(context, cuEventRecord(event, before)) };
        // SAFETY: as above; the wait keeps what it found, so that the event is free again.
        let waited = recorded.and_then(|()| unsafe { driver_call!(context, cuStreamWaitEvent(after, event, 0)) });
        self.put(context, false, event);
        waited
    }

    /// Destroys the spare events, when the context ends.
    pub(crate) fn close(&self, context: &ContextInner) {
        let events = self.timed.drain().into_iter().chain(self.untimed.drain());
        events.for_each(|event| destroy_event(context, event));
    }
}

/// Gives an event back to the driver.
pub(crate) fn destroy_event(context: &ContextInner, event: CUevent) {
    // SAFETY: the event was made in this context and is in nobody's hands.
    if let Err(error) = unsafe { driver_call!(context, cuEventDestroy_v2(event)) } {
        tracing::warn!(%error, "an event could not be destroyed");
    }
}

/// A driver's stream with what is known of its launches.
pub(crate) struct Queue {
    pub(crate) raw: CUstream,
    pub(crate) panics: Arc<StreamPanics>,
}

/// A context's spare streams, independent of the legacy default stream and of priority 0, and those that nobody has any more
/// but which still have work.
#[derive(Default)]
pub(crate) struct StreamPool {
    spare: Pool<Queue>,
    /// With whether it becomes a spare one.
    busy: Mutex<VecDeque<(Queue, bool)>>,
}

/// The number of busy streams queried whenever a stream comes or goes: more than one, so that they become fewer.
const QUERIES: usize = 2;

impl StreamPool {
    /// A stream without work that nobody else has.
    pub(crate) fn take(&self, context: &Context, id: StreamId) -> Result<Queue> {
        // A context that is lost refuses this as it does every call.
        context.0.admit("cuStreamCreate")?;
        self.reclaim_idle(context);
        if let Some(queue) = self.spare.take() {
            queue.panics.set_id(id);
            return Ok(queue);
        }
        let mut raw = std::ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
        // SAFETY: `raw` lives through the call.
        unsafe { driver_call!(context, cuStreamCreate(&mut raw, flags)) }?;
        Ok(Queue { raw, panics: context.panics().of_stream(id) })
    }

    /// Takes a stream back that nobody has any more. One with work waits until it has none.
    pub(crate) fn put(&self, context: &Context, queue: Queue, pooled: bool) {
        if is_in_host_fn() {
            return self.busy.lock().push_back((queue, pooled));
        }
        self.reclaim_idle(context);
        match is_idle(context, queue.raw) {
            true => self.put_idle(context, queue, pooled),
            false => self.busy.lock().push_back((queue, pooled)),
        }
    }

    fn put_idle(&self, context: &Context, queue: Queue, pooled: bool) {
        let surplus = match pooled {
            true => self.spare.put(Queue { panics: context.panics().recycle(queue.panics), ..queue }),
            false => Some(queue),
        };
        if let Some(queue) = surplus {
            self.destroy(context, queue);
        }
    }

    /// Asks some of the busy streams whether they still are.
    fn reclaim_idle(&self, context: &Context) {
        let count = self.busy.lock().len().min(QUERIES);
        for _ in 0..count {
            let Some((queue, pooled)) = self.busy.lock().pop_front() else { return };
            match is_idle(context, queue.raw) {
                true => self.put_idle(context, queue, pooled),
                false => self.busy.lock().push_back((queue, pooled)),
            }
        }
    }

    /// Gives a stream without work back to the driver.
    pub(crate) fn destroy(&self, context: &Context, queue: Queue) {
        destroy_stream(&context.0, queue.raw);
        context.panics().give_back(queue.panics);
    }

    /// Destroys the streams, when the context ends.
    pub(crate) fn close(&self, context: &ContextInner) {
        let busy = std::mem::take(&mut *self.busy.lock());
        let all = self.spare.drain().into_iter().chain(busy.into_iter().map(|(queue, _)| queue));
        all.for_each(|queue| destroy_stream(context, queue.raw));
    }
}

/// Returns true if a stream has no work; one whose work has failed counts as busy.
pub(crate) fn is_idle(context: &Context, stream: CUstream) -> bool {
    // SAFETY: the stream is live, and in nobody else's hands.
    unsafe { driver_query!(context, cuStreamQuery(stream)) }.unwrap_or(false)
}

pub(crate) fn destroy_stream(context: &ContextInner, stream: CUstream) {
    if context.is_lost() {
        return;
    }
    // SAFETY: nobody has the stream any more; the driver lets enqueued work finish.
    if let Err(error) = unsafe { driver_call!(context, cuStreamDestroy_v2(stream)) } {
        tracing::warn!(%error, "a stream could not be destroyed");
    }
}
