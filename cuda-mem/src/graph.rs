//! Device memory in graphs: the memory that captured kernels access is recorded in the capture, and bound again to each
//! launch.
//!
//! A capture adds no access records to the memory, since nothing runs. Each launch of the graph adds them, and borrows
//! the memory as a launch of a kernel does.
//!
//! # Safety
//!
//! The `unsafe` implementations and blocks follow one rule: an access of the graph is recorded in the capture before it
//! is captured, and at each launch it is ordered and recorded by the bound memory, which is borrowed meanwhile.

use cuda_driver::{Access, Bind, Capture, GraphLaunch, OpenCapture, driver_call};
use ndarray::Dimension;

use crate::Element;
use crate::array::DeviceArray;
use crate::array::storage::{Storage, StorageMut};
use crate::buffer::Buffer;
use crate::error::{Error, Result};

impl Buffer {
    /// Records that the next captured operation reads the memory. `what` describes the access, such as "argument 0 of
    /// kernel `add`".
    ///
    /// Call it before the read is captured, and keep the borrow until then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Graph, Stream};
    /// use cuda_mem::Buffer;
    ///
    /// let stream = Stream::new(&context)?;
    /// let (mut x, mut y) = (Buffer::new(&stream, 64)?, Buffer::new(&stream, 64)?);
    /// let graph = Graph::capture(&context, |c| {
    ///     let mut open = c.open()?;
    ///     // What is enqueued into `open` after these reads `x` and writes `y`.
    ///     x.capture_read(&mut open, || "the first operand".to_owned())?;
    ///     y.capture_write(&mut open, || "the result".to_owned())?;
    ///     Ok(())
    /// })?;
    /// graph.instantiate()?.launch(&stream, (&x, &mut y))?;
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherContext`] for a capture of another device; [`Error::Driver`] if it cannot be ordered after an earlier
    /// write of the graph.
    pub fn capture_read(&self, capture: &mut OpenCapture<'_>, what: impl FnOnce() -> String) -> Result<()> {
        self.capture_access(capture, false, what)
    }

    /// Records that the next captured operation writes the memory, and may read it; see [`Buffer::capture_read`].
    ///
    /// # Errors
    ///
    /// As [`Buffer::capture_read`].
    pub fn capture_write(&mut self, capture: &mut OpenCapture<'_>, what: impl FnOnce() -> String) -> Result<()> {
        self.capture_access(capture, true, what)
    }

    fn capture_access(&self, capture: &mut OpenCapture<'_>, writes: bool, what: impl FnOnce() -> String) -> Result<()> {
        if capture.context() != self.context() {
            return Err(Error::OtherContext {
                memory: self.context().device().ordinal(),
                stream: "a capture".into(),
                device: capture.context().device().ordinal(),
            });
        }
        if !self.is_empty() {
            capture.record_access(self.id(), writes, || format!("{} ({} bytes)", what(), self.len()))?;
        }
        Ok(())
    }

    /// Captures a fill of every byte with `value`, at each launch of the graph.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use std::mem::MaybeUninit;
    ///
    /// use cuda_driver::{Graph, Stream};
    /// use cuda_mem::Buffer;
    ///
    /// let stream = Stream::new(&context)?;
    /// let (mut x, mut y) = (Buffer::new(&stream, 4)?, Buffer::new(&stream, 4)?);
    /// let graph = Graph::capture(&context, |c| {
    ///     x.capture_fill(7, c)?;
    ///     y.capture_copy(&x, c)?;
    ///     Ok(())
    /// })?;
    /// graph.instantiate()?.launch(&stream, (&mut x, &mut y))?;
    /// assert_eq!(y.read(0, &mut [MaybeUninit::<u8>::uninit(); 4])?, [7; 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Buffer::capture_read`]; [`Error::Driver`] if the capture has ended.
    pub fn capture_fill(&mut self, value: u8, capture: &Capture) -> Result<()> {
        let (address, bytes, context) = (self.address(), self.len(), self.context().clone());
        let mut open = capture.open()?;
        self.capture_write(&mut open, || "the filled buffer".to_owned())?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the stream is captured and of this context; the range is the memory.
        let fill = |stream| unsafe { driver_call!(&context, cuMemsetD8Async(address, value, bytes, stream)) };
        // SAFETY: the fill is only enqueued. The access has been recorded in the capture, so that at each launch the
        // memory is bound and ordered.
        unsafe { open.enqueue(fill) }?;
        Ok(())
    }

    /// Captures a copy of all bytes of `source`, which has as many, at each launch of the graph.
    ///
    /// # Errors
    ///
    /// As [`Buffer::capture_fill`].
    ///
    /// # Panics
    ///
    /// If the two have different sizes.
    pub fn capture_copy(&mut self, source: &Buffer, capture: &Capture) -> Result<()> {
        assert_eq!(self.len(), source.len(), "a copy is between buffers of one size");
        let (to, from, bytes, context) = (self.address(), source.address(), self.len(), self.context().clone());
        let mut open = capture.open()?;
        source.capture_read(&mut open, || "the source of a copy".to_owned())?;
        self.capture_write(&mut open, || "the target of a copy".to_owned())?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the stream is captured and of this context; the ranges are the two memories, which do not overlap.
        let copy = |stream| unsafe { driver_call!(&context, cuMemcpyDtoDAsync_v2(to, from, bytes, stream)) };
        // SAFETY: the copy is only enqueued. Both accesses have been recorded in the capture, so that at each launch
        // the memory is bound and ordered.
        unsafe { open.enqueue(copy) }?;
        Ok(())
    }
}

impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// As [`Buffer::capture_read`]. For a view, the array that it is a part of is bound to each launch.
    ///
    /// # Errors
    ///
    /// As [`Buffer::capture_read`].
    pub fn capture_read(&self, capture: &mut OpenCapture<'_>, what: impl FnOnce() -> String) -> Result<()> {
        self.buffer().capture_read(capture, what)
    }
}

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// As [`Buffer::capture_write`]. For a view, the array that it is a part of is bound to each launch.
    ///
    /// # Errors
    ///
    /// As [`Buffer::capture_read`].
    pub fn capture_write(&mut self, capture: &mut OpenCapture<'_>, what: impl FnOnce() -> String) -> Result<()> {
        self.buffer().capture_access(capture, true, what)
    }
}

/// Converts the error for the driver's results.
fn passed(result: Result<()>) -> cuda_driver::Result<()> {
    Ok(result?)
}

// SAFETY: the memory is borrowed, and the read is ordered and recorded as for a launch of a kernel.
unsafe impl Bind for &Buffer {
    fn bind(self, launch: &mut GraphLaunch<'_>) -> cuda_driver::Result<()> {
        match launch.bind(self.id(), false)? {
            Some(Access::Read) => passed(self.prepare_read(launch.stream())),
            Some(Access::Write) => unreachable!("a shared borrow is refused for writing"),
            None => Ok(()),
        }
    }
}

// SAFETY: the memory is borrowed exclusively, and the access is ordered and recorded as for a launch of a kernel.
unsafe impl Bind for &mut Buffer {
    fn bind(self, launch: &mut GraphLaunch<'_>) -> cuda_driver::Result<()> {
        match launch.bind(self.id(), true)? {
            Some(Access::Read) => passed(self.prepare_read(launch.stream())),
            Some(Access::Write) => passed(self.prepare_write(launch.stream())),
            None => Ok(()),
        }
    }
}

// SAFETY: an array's memory is its buffer, whose implementation keeps the contract.
unsafe impl<T: Element, D: Dimension> Bind for &DeviceArray<T, D> {
    fn bind(self, launch: &mut GraphLaunch<'_>) -> cuda_driver::Result<()> {
        self.buffer().bind(launch)
    }
}

// SAFETY: an array's memory is its buffer, whose implementation keeps the contract.
unsafe impl<T: Element, D: Dimension> Bind for &mut DeviceArray<T, D> {
    fn bind(self, launch: &mut GraphLaunch<'_>) -> cuda_driver::Result<()> {
        self.buffer_mut().bind(launch)
    }
}
