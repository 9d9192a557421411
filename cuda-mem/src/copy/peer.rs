//! Copies between devices, for which the host does not wait.
//!
//! Access records hold only streams of their own context. So the source's read is recorded on an idle stream of the
//! source's context: the copy waits for that stream, and then that stream for the copy, so that everything that waits
//! for the read waits for the copy.
//!
//! # Safety
//!
//! The blocks copy between memory whose accesses are ordered, and make a stream wait for an event; all of these are
//! live.

use cuda_driver::{Event, Stream, driver_call};
use ndarray::{Dimension, Order};

use crate::Element;
use crate::array::create::new_array;
use crate::array::storage::StorageMut;
use crate::array::{DeviceArray, DeviceArrayView};
use crate::error::Result;
use crate::spans;

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// Copies the elements of `source`, an array with elements and of this shape in another context, in the order of
    /// `stream`. An array with gaps is packed on its own device first.
    pub(crate) fn copy_from_peer(&mut self, source: &DeviceArrayView<'_, T, D>, stream: &Stream) -> Result<()> {
        let theirs = Stream::new(source.context())?;
        if !source.is_c_contiguous() {
            return self.copy_from_peer(&source.to_c_order_on(&theirs)?.view(), stream);
        }
        if !self.is_c_contiguous() {
            let mut packed = new_array(stream, self.raw_dim(), Order::RowMajor)?;
            packed.copy_from_peer(source, stream)?;
            return self.assign_on(&packed, stream);
        }
        source.prepare_read(&theirs)?;
        self.prepare_write(stream)?;
        order(&theirs, stream)?;
        let (to, here) = (self.device_ptr(), self.context().as_raw());
        let (from, there, bytes) = (source.device_ptr(), source.context().as_raw(), self.byte_len());
        let _span = spans::copy("device", "another device", bytes, Some(stream));
        // SAFETY: both arrays are contiguous in live memory, and borrowed until the copy is enqueued. The target's
        // other accesses are ordered before on the stream, and so are the writes of the source, which `theirs` has
        // waited for.
        unsafe { driver_call!(self.context(), cuMemcpyPeerAsync(to, here, from, there, bytes, stream.as_raw())) }?;
        order(stream, &theirs).or_else(|error| {
            // Otherwise the source could be written or freed before the copy has read it.
            tracing::debug!(%error, "a copy between devices could not be ordered, so it is waited for");
            Ok(stream.synchronize()?)
        })
    }
}

/// Orders later work of the stream `after` after all present work of `before`, which belongs to another device.
fn order(before: &Stream, after: &Stream) -> Result<()> {
    let event = Event::without_timing(before.context())?;
    event.record(before)?;
    // SAFETY: stream and event are live; a stream may wait for the event of another device.
    Ok(unsafe { driver_call!(after.context(), cuStreamWaitEvent(after.as_raw(), event.as_raw(), 0)) }?)
}
