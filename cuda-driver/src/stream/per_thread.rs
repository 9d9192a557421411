//! [`PerThreadStreams`]: the per-thread default streams.
//!
//! The driver's own handle for it, `CU_STREAM_PER_THREAD`, means another queue on each thread, so that a value that is
//! sent to another thread would wait for the wrong one. Here each thread has its own stream, created at its first use.
//! It is ordered with the legacy default stream as the driver's is, and means the same queue everywhere.
//!
//! # Safety
//!
//! The raw streams are created here and destroyed with the context.

use std::collections::HashMap;

use cuda_sys::CUstream;

use crate::context::{Context, ContextInner};
use crate::error::Result;
use crate::panic::StreamPanics;
use crate::stream::pool::{destroy_stream, is_idle};
use crate::stream::{StreamId, StreamOptions, create};
use crate::sync::{Arc, Mutex};
use crate::thread;

/// The streams by their threads' numbers.
#[derive(Default)]
pub(crate) struct PerThreadStreams(Mutex<HashMap<u32, Arc<PerThreadStream>>>);

/// The default stream of a thread. After the thread has ended and nothing holds the stream, another thread reuses it.
pub(crate) struct PerThreadStream {
    pub(crate) raw: CUstream,
    pub(crate) id: StreamId,
    pub(crate) panics: Arc<StreamPanics>,
}

// SAFETY: the raw stream is an address that the driver accepts on any thread.
unsafe impl Send for PerThreadStream {}
// SAFETY: the driver's own locks protect the stream that the address names.
unsafe impl Sync for PerThreadStream {}

impl PerThreadStreams {
    /// The calling thread's stream.
    pub(crate) fn current(&self, context: &Context) -> Result<Arc<PerThreadStream>> {
        let thread = thread::number();
        // A forked child is refused before the lock, which another thread of the parent may have held.
        context.0.admit("cuStreamCreateWithPriority")?;
        let mut streams = self.0.lock();
        if let Some(stream) = streams.get(&thread) {
            return Ok(stream.clone());
        }
        let stream = match take_unused(&mut streams, context) {
            Some(stream) => stream,
            None => {
                let raw = create(context, StreamOptions::new().waits_for_legacy(true))?;
                let id = StreamId::unique();
                Arc::new(PerThreadStream { raw, id, panics: context.panics().of_stream(id) })
            }
        };
        streams.insert(thread, stream.clone());
        Ok(stream)
    }

    /// Destroys the streams, when the context ends.
    pub(crate) fn close(&self, context: &ContextInner) {
        self.0.lock().drain().for_each(|(_, stream)| destroy_stream(context, stream.raw));
    }
}

/// Takes an idle stream of a thread that has ended, and which nothing holds. Under the lock of the streams, no thread
/// can get it meanwhile.
fn take_unused(streams: &mut HashMap<u32, Arc<PerThreadStream>>, context: &Context) -> Option<Arc<PerThreadStream>> {
    let is_unused = |thread: u32, stream: &mut Arc<PerThreadStream>| {
        !thread::is_running(thread) && Arc::get_mut(stream).is_some_and(|stream| is_idle(context, stream.raw))
    };
    let thread = streams.iter_mut().find_map(|(thread, stream)| is_unused(*thread, stream).then_some(*thread))?;
    let PerThreadStream { raw, id, panics } = Arc::into_inner(streams.remove(&thread)?)?;
    let panics = context.panics().recycle(panics);
    panics.set_id(id);
    Some(Arc::new(PerThreadStream { raw, id, panics }))
}
