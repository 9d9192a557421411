//! Copies from one device to another.
//!
//! A record of uses holds streams of its own context, so that neither device waits for the other by itself: the host waits for
//! what writes the source before the copy, and for the copy after it.
//!
//! # Safety
//!
//! One block copies between memory whose other uses are over or ordered, and waits for the end.

use cuda_driver::{Stream, driver_call};
use ndarray::{Dimension, Order};

use crate::array::{DeviceArray, DeviceArrayView};
use crate::create::new_array;
use crate::element::Element;
use crate::error::Result;
use crate::storage::StorageMut;

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// Copies the elements of `source`, an array with elements and of this shape in another context. What has gaps is packed on
    /// its own device first.
    pub(crate) fn take_from_peer(&mut self, source: &DeviceArrayView<'_, T, D>, stream: &Stream) -> Result<()> {
        if !source.is_c_contiguous() {
            return self.take_from_peer(&source.to_c_order()?.view(), stream);
        }
        if !self.is_c_contiguous() {
            let mut packed = new_array(stream, self.raw_dim(), Order::RowMajor)?;
            packed.take_from_peer(source, stream)?;
            return self.assign_on(&packed, stream);
        }
        source.buffer().wait_for_writes(&source.reach())?;
        self.prepare_write(stream)?;
        let (to, here) = (self.device_ptr(), self.context().as_raw());
        let (from, there, bytes) = (source.device_ptr(), source.context().as_raw(), self.byte_len());
        // SAFETY: both lie without gaps in live memory; the source is borrowed, and what wrote it is over; the target's other
        // uses come before on the stream, and the copy is over before the borrows end.
        unsafe { driver_call!(self.context(), cuMemcpyPeerAsync(to, here, from, there, bytes, stream.as_raw())) }?;
        Ok(stream.synchronize()?)
    }
}
