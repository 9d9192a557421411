//! [`Queue`]: the operations of a stream that access records need.
//!
//! The device's streams are queues; `loom_models.rs` has model queues, which only track the order.
//!
//! # Safety
//!
//! The block waits for a stream that the caller holds, by a C function that takes nothing else.

use cuda_driver::{Stream, StreamPosition, driver_call};

use crate::error::Result;

/// A queue whose operations run in the order in which they are enqueued.
pub(crate) trait Queue: Clone {
    /// The position that was waited for.
    type Waited;

    /// The queue's number, never 0: equal numbers run in order.
    fn number(&self) -> u64;

    /// Makes later work of this queue wait, on the device, for the present work of `earlier`.
    fn wait_for(&self, earlier: &Self) -> Result<()>;

    /// Waits on the host for the present work of the queue.
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
