//! [`Done`]: a future of a stream's present work.
//!
//! The driver calls back with a status once that work is done or has failed: a host function would not be called after
//! a failure, and the future would never resolve. Invariant: a completion is completed once; this wakes the last stored
//! waker, and a later poll finds the status.
//!
//! # Safety
//!
//! The pointer that the driver gets owns one reference to the completion. Exactly one of [`on_completed`] (called by
//! the driver) and [`Done::new`] (when the driver refused it) takes it back.

use std::ffi::c_void;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{self, Poll, Waker};

use cuda_sys::{CUresult, CUstream};

use crate::driver_call;
use crate::error::Result;
use crate::panic::StreamPosition;
use crate::stream::Stream;
use crate::stream::deferred_drop::in_host_fn;
use crate::stream::host_fn::panic_text;
use crate::sync::{Arc, Mutex};

/// A future that resolves when the work that a stream had at the call of [`Stream::done`] is done; for any executor.
///
/// It may be dropped at any time, which cancels nothing. Once it has resolved, it always resolves to the same result.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::Stream;
///
/// let stream = Stream::new(&context)?;
/// stream.launch_host_fn(|| println!("in the stream"))?;
/// pollster::block_on(stream.done())?;             // or any other executor's
/// # Ok(())
/// # }
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct Done {
    stream: Stream,
    /// The stream's launches at that time.
    position: StreamPosition,
    completion: Arc<Completion>,
    /// The result, or the driver's error if it refused the callback.
    outcome: Option<Result<()>>,
}

/// The status of the work once it is done, and the waker to call until then.
pub(crate) struct Completion(Mutex<State>);

enum State {
    Waiting(Option<Waker>),
    Complete(CUresult),
}

impl Completion {
    pub(crate) fn new() -> Self {
        Completion(Mutex::new(State::Waiting(None)))
    }

    /// Stores the status of the work. The waker is called outside the lock, since it may poll at once.
    pub(crate) fn complete(&self, status: CUresult) {
        let before = std::mem::replace(&mut *self.0.lock(), State::Complete(status));
        if let State::Waiting(Some(waker)) = before {
            waker.wake();
        }
    }

    /// Returns the status if there is one; else stores the waker in place of the previous one. Wakers are cloned and
    /// dropped outside the lock, since both may run any code.
    pub(crate) fn poll(&self, waker: &Waker) -> Option<CUresult> {
        match &*self.0.lock() {
            State::Complete(status) => return Some(*status),
            State::Waiting(Some(known)) if known.will_wake(waker) => return None,
            State::Waiting(_) => {}
        }
        let waker = waker.clone();
        let mut state = self.0.lock();
        let (status, replaced) = match &mut *state {
            State::Complete(status) => (Some(*status), Some(waker)),
            State::Waiting(known) => (None, known.replace(waker)),
        };
        drop(state);
        drop(replaced);
        status
    }
}

impl Completion {
    /// Removes the waker. It is dropped outside the lock, since its drop may run any code.
    pub(crate) fn abandon(&self) {
        let left = match &mut *self.0.lock() {
            State::Waiting(waker) => waker.take(),
            State::Complete(_) => None,
        };
        drop(left);
    }
}

impl Done {
    pub(crate) fn new(stream: &Stream) -> Self {
        let (completion, position) = (Arc::new(Completion::new()), stream.position());
        let data = Arc::into_raw(completion.clone()).cast_mut().cast::<c_void>();
        // SAFETY: the stream is live; the driver calls the function once with the data that was made for it.
        let asked = unsafe {
            driver_call!(stream.context(), cuStreamAddCallback(stream.as_raw(), Some(on_completed), data, 0))
        };
        if asked.is_err() {
            // SAFETY: the driver refused, so it will not call the function, and the reference is still owned here.
            drop(unsafe { Arc::from_raw(data.cast::<Completion>()) });
        }
        Done { stream: stream.clone(), position, completion, outcome: asked.err().map(Err) }
    }

    /// Converts the status of the work into a result, and reports kernel panics.
    fn outcome(&self, status: CUresult) -> Result<()> {
        self.stream.context().check(status, "cuStreamAddCallback")?;
        self.position.report_panics()
    }
}

/// Completes the completion; called by the driver.
///
/// # Safety
///
/// `data` came from [`Arc::into_raw`] of a [`Completion`] and is used for the first time.
unsafe extern "C" fn on_completed(_: CUstream, status: CUresult, data: *mut c_void) {
    // SAFETY: by this function's precondition the pointer owns a reference to a completion.
    let completion = unsafe { Arc::from_raw(data.cast::<Completion>()) };
    // A waker may drop objects whose drop makes driver calls, which the driver refuses here.
    if let Err(panic) = in_host_fn(|| catch_unwind(AssertUnwindSafe(|| completion.complete(status)))) {
        tracing::error!(message = panic_text(&*panic), "a waker panicked when a stream's work was done");
        // The payload's own drop may panic, and nothing may unwind into the driver.
        std::mem::forget(panic);
    }
}

impl Future for Done {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Result<()>> {
        if self.outcome.is_none() {
            let Some(status) = self.completion.poll(context.waker()) else { return Poll::Pending };
            self.outcome = Some(self.outcome(status));
        }
        self.outcome.clone().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        self.completion.abandon();
    }
}

impl fmt::Debug for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Done").field("stream", &self.stream).field("outcome", &self.outcome).finish_non_exhaustive()
    }
}
