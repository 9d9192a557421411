//! Streams both ways.
//!
//! Invariant: a stream lives as long as what stands for it on the other side. cudarc's are kept by the [`Stream`]s made of them.
//! Ours are kept in a list, with the `CudaStream` that stands for each, until nobody else has that one.
//!
//! # Safety
//!
//! The blocks wrap live streams of the bridge's context, which the owner or the list keeps.

use std::sync::Arc;

use cuda_driver::Stream;
use cudarc::driver::CudaStream;
use parking_lot::Mutex;

use crate::bridge::Bridge;
use crate::error::{Error, Result};

/// A stream of this stack's that cudarc uses.
struct Exported {
    stream: Stream,
    wrapped: Arc<CudaStream>,
    /// Has cudarc track uses on the stream, of which it does not count wrapped ones.
    _bridge: Bridge,
}

static EXPORTED: Mutex<Vec<Exported>> = Mutex::new(Vec::new());

/// `CU_STREAM_PER_THREAD`.
const PER_THREAD: usize = 2;

impl Bridge {
    /// cudarc's stream as one of this stack's, which keeps it. Launches, copies and arrays take it as any other.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = software_device().primary_context()?;
    /// let bridge = cuda_cudarc::Bridge::open(&context)?;
    /// let theirs = bridge.cudarc_context().new_stream()?;
    /// let stream = bridge.import_stream(&theirs)?;
    /// let x = cuda_mem::zeros::<f32, _>(&stream, 100)?; // in the order of cudarc's stream
    /// theirs.synchronize()?;
    /// # assert_eq!(x.len(), 100);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::PerThreadStream`] for `CudaContext::per_thread_stream`; [`Error::OtherCudarcContext`] for a stream of another
    /// context.
    pub fn import_stream(&self, theirs: &Arc<CudaStream>) -> Result<Stream> {
        self.expect_theirs(theirs.context(), "the stream")?;
        if theirs.cu_stream().addr() == PER_THREAD {
            return Err(Error::PerThreadStream);
        }
        release_exported();
        // One of ours comes back as itself.
        if let Some(known) = EXPORTED.lock().iter().find(|it| Arc::ptr_eq(&it.wrapped, theirs)) {
            return Ok(known.stream.clone());
        }
        // SAFETY: the stream is of the bridge's context, and the owner keeps it.
        Ok(unsafe { Stream::external_with_owner(self.context(), theirs.cu_stream().cast(), theirs.clone()) })
    }

    /// This stack's stream as one of cudarc's. It lives at least until nothing has the returned value any more, and ends by the next
    /// use of a bridge's streams or the next [`Bridge::open`].
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = software_device().primary_context()?;
    /// let bridge = cuda_cudarc::Bridge::open(&context)?;
    /// let stream = bridge.export_stream(&cuda_driver::Stream::new(&context)?)?;
    /// let slice = stream.clone_htod(&[1, 2, 3])?;
    /// assert_eq!(stream.clone_dtoh(&slice)?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherContext`] for a stream of another device.
    pub fn export_stream(&self, stream: &Stream) -> Result<Arc<CudaStream>> {
        self.expect_ours(stream.context(), "the stream")?;
        release_exported();
        let theirs = self.cudarc_context();
        // The null stream and the legacy default stream are one queue.
        if stream.as_raw().addr() <= 1 {
            return Ok(theirs.default_stream());
        }
        let mut exported = EXPORTED.lock();
        let same = |it: &&Exported| it.stream.id() == stream.id() && Arc::ptr_eq(it.wrapped.context(), theirs);
        if let Some(known) = exported.iter().find(same) {
            return Ok(known.wrapped.clone());
        }
        // SAFETY: the stream is of cudarc's context, and the list keeps it as long as anything has the wrapper.
        let wrapped = unsafe { theirs.wrap_borrowed_stream(stream.as_raw().cast()) };
        exported.push(Exported { stream: stream.clone(), wrapped: wrapped.clone(), _bridge: self.clone() });
        Ok(wrapped)
    }
}

/// Ends the exported streams that cudarc does not use any more.
pub(crate) fn release_exported() {
    let mut ended = Vec::new();
    {
        let mut exported = EXPORTED.lock();
        let mut at = 0;
        while at < exported.len() {
            // Only the list has it.
            if Arc::get_mut(&mut exported[at].wrapped).is_some() {
                ended.push(exported.swap_remove(at));
            } else {
                at += 1;
            }
        }
    }
    // Outside the lock: with a bridge a context may end.
    drop(ended);
}
