//! [`Queue`]: what use records need of a stream, and no more.
//!
//! The device's streams are queues; `loom_models.rs` has others, which only note who waits for whom.
//!
//! # Safety
//!
//! The block waits for a stream that the caller has, by a C function that takes nothing else.

use cuda_driver::{Stream, StreamPosition, driver_call};

use crate::error::Result;

/// What runs in the order in which it is enqueued.
pub(crate) trait Queue: Clone {
    /// The position that was waited for.
    type Waited;

    /// The queue's number, never 0: equal numbers run in order.
    fn number(&self) -> u64;

    /// Makes what comes later on this queue wait, on the device, for what `earlier` has now.
    fn wait_for(&self, earlier: &Self) -> Result<()>;

    /// Waits on the host for what the queue has now.
    fn finish(&self) -> Result<Self::Waited>;
}

impl Queue for Stream {
    type Waited = StreamPosition;

    #[inline]
    fn number(&self) -> u64 {
        self.id().number()
    }

    fn wait_for(&self, earlier: &Self) -> Result<()> {
        Ok(Stream::wait_for(self, earlier)?)
    }

    fn finish(&self) -> Result<StreamPosition> {
        let position = self.position();
        // SAFETY: the stream is live, since `self` holds it.
        unsafe { driver_call!(self.context(), cuStreamSynchronize(self.as_raw())) }?;
        Ok(position)
    }
}
