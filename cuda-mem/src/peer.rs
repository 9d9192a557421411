//! Copies from one device to another, for which no host waits.
//!
//! A record of uses holds streams of its own context alone. So the source's read is recorded on a stream of the source's context
//! that has nothing else to do: the copy waits for that stream, and then that stream for the copy, so that whatever waits for
//! the read waits for the copy.
//!
//! # Safety
//!
//! The blocks copy between memory whose uses are ordered, and make a stream wait for an event; all of these are live.

use cuda_driver::{Event, Stream, driver_call};
use ndarray::{Dimension, Order};

use crate::Element;
use crate::array::{DeviceArray, DeviceArrayView};
use crate::create::new_array;
use crate::error::Result;
use crate::spans;
use crate::storage::StorageMut;

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// Copies the elements of `source`, an array with elements and of this shape in another context, in the order of `stream`.
    /// What has gaps is packed on its own device first.
    pub(crate) fn take_from_peer(&mut self, source: &DeviceArrayView<'_, T, D>, stream: &Stream) -> Result<()> {
        let theirs = Stream::new(source.context())?;
        if !source.is_c_contiguous() {
            return self.take_from_peer(&source.to_c_order_on(&theirs)?.view(), stream);
        }
        if !self.is_c_contiguous() {
            let mut packed = new_array(stream, self.raw_dim(), Order::RowMajor)?;
            packed.take_from_peer(source, stream)?;
            return self.assign_on(&packed, stream);
        }
        source.prepare_read(&theirs)?;
        self.prepare_write(stream)?;
        order(&theirs, stream)?;
        let (to, here) = (self.device_ptr(), self.context().as_raw());
        let (from, there, bytes) = (source.device_ptr(), source.context().as_raw(), self.byte_len());
        let _span = spans::copy("device", "another device", bytes, Some(stream));
        // SAFETY: both lie without gaps in live memory, and are borrowed until the copy is enqueued. The target's other uses come
        // before on the stream, and so does what wrote the source, which `theirs` has waited for.
        unsafe { driver_call!(self.context(), cuMemcpyPeerAsync(to, here, from, there, bytes, stream.as_raw())) }?;
        order(stream, &theirs).or_else(|error| {
            // Else the source could be written or freed before the copy has read it.
            tracing::debug!(%error, "a copy between devices could not be ordered, so it is waited for");
            Ok(stream.synchronize()?)
        })
    }
}

/// Makes what comes on the stream `after` come after all work that `before`, of another device, has now.
fn order(before: &Stream, after: &Stream) -> Result<()> {
    let event = Event::without_timing(before.context())?;
    event.record(before)?;
    // SAFETY: stream and event are live; a stream may wait for the event of another device.
    Ok(unsafe { driver_call!(after.context(), cuStreamWaitEvent(after.as_raw(), event.as_raw(), 0)) }?)
}
