//! Pools of spare events and streams of a context: creating one costs the driver far more than taking one from a list.
//!
//! A pooled object behaves as a new one. A stream is returned, or destroyed, only when it is idle. An event may be
//! returned at any time: every enqueued wait keeps the record that it found, and [`Event`](crate::Event) queries an
//! event only after its own owner has recorded it.
//!
//! # Safety
//!
//! The raw objects belong to the context whose pool this is; each has one owner at a time.

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

/// The maximum number of spare objects of a kind; further ones are destroyed.
const MAX_SPARE: usize = 64;

/// Spare objects of one kind.
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(Mutex::new(Vec::new()))
    }
}

impl<T> Pool<T> {
    /// Takes a spare object.
    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().pop()
    }

    /// Puts an object back; returns it if the pool is full.
    pub(crate) fn put(&self, spare: T) -> Option<T> {
        let mut all = self.0.lock();
        if all.len() == MAX_SPARE {
            return Some(spare);
        }
        all.push(spare);
        None
    }

    /// Takes all spare objects.
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

    /// Takes or creates an event.
    pub(crate) fn take(&self, context: &Context, timing: bool) -> Result<CUevent> {
        // A lost context refuses this like every other call.
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

    /// Puts an event back whose owner is dropped.
    pub(crate) fn put(&self, context: &Context, timing: bool, event: CUevent) {
        if let Some(event) = self.of(timing).put(event) {
            destroy_event(&context.0, event);
        }
    }

    /// Orders later work of the stream `after` after all present work of `before`.
    ///
    /// # Safety
    ///
    /// Both are live streams of `context`.
    pub(crate) unsafe fn order(&self, context: &Context, before: CUstream, after: CUstream) -> Result<()> {
        let event = self.take(context, false)?;
        // SAFETY: the event has no other owner; the caller promises a live stream.
        let recorded = unsafe { driver_call!(context, cuEventRecord(event, before)) };
        // SAFETY: the event has no other owner, and the caller promises a live stream. The wait keeps the record that
        // it found, so that the event can be reused.
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

/// Destroys an event.
pub(crate) fn destroy_event(context: &ContextInner, event: CUevent) {
    // SAFETY: the event was created in this context and has no owner.
    if let Err(error) = unsafe { driver_call!(context, cuEventDestroy_v2(event)) } {
        tracing::warn!(%error, "an event could not be destroyed");
    }
}

/// A driver's stream with the log of its launches.
pub(crate) struct Queue {
    pub(crate) raw: CUstream,
    pub(crate) panics: Arc<StreamPanics>,
}

/// A context's spare streams, independent of the legacy default stream and of priority 0, and streams without an owner
/// that still have work.
#[derive(Default)]
pub(crate) struct StreamPool {
    spare: Pool<Queue>,
    /// Each with true if it returns to the pool.
    busy: Mutex<VecDeque<(Queue, bool)>>,
}

/// The number of busy streams queried whenever a stream is taken or put back: more than one, so that their number
/// shrinks.
const QUERIES: usize = 2;

impl StreamPool {
    /// Takes or creates an idle stream.
    pub(crate) fn take(&self, context: &Context, id: StreamId) -> Result<Queue> {
        // A lost context refuses this like every other call.
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

    /// Puts a stream back whose owner is dropped. A busy stream waits until it is idle.
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

    /// Queries some of the busy streams, and puts back those that are idle.
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

    /// Destroys an idle stream.
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
    // SAFETY: the stream is live, and has no other owner.
    unsafe { driver_query!(context, cuStreamQuery(stream)) }.unwrap_or(false)
}

pub(crate) fn destroy_stream(context: &ContextInner, stream: CUstream) {
    if context.is_lost() {
        return;
    }
    // SAFETY: the stream has no owner; the driver lets enqueued work finish.
    if let Err(error) = unsafe { driver_call!(context, cuStreamDestroy_v2(stream)) } {
        tracing::warn!(%error, "a stream could not be destroyed");
    }
}
