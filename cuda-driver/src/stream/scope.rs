//! [`StreamScope`]: a stream inside [`Stream::scope`], which waits for the stream before it returns.
//!
//! Its two lifetimes are those of [`std::thread::Scope`]: `'env` outlives the scope, so work that is enqueued through
//! the scope may borrow for `'scope`. Invariant: the scope never exits before the wait, not even by a panic; if the
//! driver refuses the wait, as in a lost context, the exit waits for all of the context's work.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::context::idle::end_borrow;
use crate::error::{Error, Result};
use crate::panic::withholding_panics;
use crate::stream::Stream;
use crate::stream::deferred_drop::is_in_host_fn;

/// A stream that is waited for when its scope ends; from [`Stream::scope`].
///
/// It is used like the stream itself.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::{Event, Stream, StreamScope};
///
/// fn record(scope: &StreamScope<'_, '_>, event: &Event) -> cuda_driver::Result<()> {
///     event.record(scope)
/// }
///
/// let (stream, event) = (Stream::new(&context)?, Event::new(&context)?);
/// stream.scope(|s| record(s, &event))?;
/// assert!(event.query()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct StreamScope<'scope, 'env: 'scope> {
    stream: Stream,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl Deref for StreamScope<'_, '_> {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.stream
    }
}

/// Waits for the stream when a panic leaves the scope.
struct WaitOnUnwind<'a>(&'a Stream);

impl Drop for WaitOnUnwind<'_> {
    fn drop(&mut self) {
        wait_after_failure(self.0);
    }
}

fn wait_for(stream: &Stream) -> Result<()> {
    end_borrow(stream.context(), || stream.synchronize())
}

/// Waits for the stream after the scope's own failure, which is the result: kernel panics are left to the next wait,
/// and another error is logged.
fn wait_after_failure(stream: &Stream) {
    if let Err(error) = withholding_panics(|| wait_for(stream)) {
        tracing::warn!(%error, "waiting for a stream failed after its scope had failed");
    }
}

pub(crate) fn run<'env, R>(
    stream: &Stream,
    work: impl for<'scope> FnOnce(&'scope StreamScope<'scope, 'env>) -> Result<R>,
) -> Result<R> {
    if is_in_host_fn() {
        return Err(Error::invalid(
            "a stream's scope cannot begin inside a host function of a stream, where nothing can be enqueued or waited for; \
             begin it on another thread",
        ));
    }
    let scope = StreamScope { stream: stream.clone(), scope: PhantomData, env: PhantomData };
    let wait = WaitOnUnwind(stream);
    let worked = work(&scope);
    std::mem::forget(wait);
    match worked {
        Ok(value) => wait_for(stream).map(|()| value),
        Err(error) => {
            wait_after_failure(stream);
            Err(error)
        }
    }
}
