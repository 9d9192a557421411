//! Events without timing, kept for reuse: ordering two streams needs one for the length of two calls.
//!
//! An event may be recorded again as soon as every wait on it has been enqueued, because a wait keeps the state that it
//! found. The pool is not for events that users hold.
//!
//! # Safety
//!
//! The raw events belong to the context whose pool this is; they leave the pool for one caller at a time.

use cuda_sys::{CUevent, CUevent_flags};

use crate::context::{Context, ContextInner};
use crate::driver_call;
use crate::error::Result;
use crate::sync::Mutex;

/// A context's spare events.
#[derive(Default)]
pub(crate) struct EventPool {
    spare: Mutex<Vec<CUevent>>,
}

impl EventPool {
    /// Runs `work` with an event that nobody else uses meanwhile.
    pub(crate) fn with_event<R>(&self, context: &Context, work: impl FnOnce(CUevent) -> Result<R>) -> Result<R> {
        let spare = self.spare.lock().pop();
        let event = match spare {
            Some(event) => event,
            None => create(context, CUevent_flags::CU_EVENT_DISABLE_TIMING)?,
        };
        let result = work(event);
        self.spare.lock().push(event);
        result
    }

    /// Destroys the spare events, when the context ends.
    pub(crate) fn close(&self, context: &ContextInner) {
        for event in self.spare.lock().drain(..) {
            // SAFETY: the event was made in this context and is in nobody's hands.
            if let Err(error) = unsafe { driver_call!(context, cuEventDestroy_v2(event)) } {
                tracing::warn!(%error, "an event could not be destroyed");
            }
        }
    }
}

/// A new raw event.
pub(crate) fn create(context: &Context, flags: CUevent_flags) -> Result<CUevent> {
    let mut event = std::ptr::null_mut();
    // SAFETY: `event` lives through the call.
    unsafe { driver_call!(context, cuEventCreate(&mut event, flags.0)) }?;
    Ok(event)
}
