//! Asynchronous copies between device arrays and page-locked memory.
//!
//! They do not take pageable memory. A device cannot copy it by itself, since the system may move it: the driver would
//! first stage it, and the call may return before or after that. Copies of pageable arrays therefore are blocking
//! (`host`), and those here take arrays that cannot be pageable.
//!
//! # Safety
//!
//! The blocks copy between two arrays whose accesses were both recorded on the stream.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use cuda_driver::{Event, Stream};
use ndarray::Dimension;

use crate::Element;
use crate::array::DeviceArray;
use crate::array::create::new_array;
use crate::array::storage::{Storage, StorageMut};
use crate::copy::pitched::{Endpoint, Pitched};
use crate::error::{Refused, Result};
use crate::host::array::{HostArray, PageLocked};
use crate::layout::CopyPlan;

/// The result of a copy that owns its page-locked array: the error returns the array.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::Stream;
/// use cuda_mem::{DeviceArray, GivenBack, Pinned, PinnedArray, Transfer};
/// use ndarray::Ix1;
///
/// /// Starts a copy, whose error returns the page-locked array.
/// fn start(
///     x: &DeviceArray<f32, Ix1>,
///     host: PinnedArray<f32, Ix1>,
///     stream: &Stream,
/// ) -> GivenBack<Transfer<f32, Ix1, Pinned>, f32, Ix1, Pinned> {
///     x.copy_to_pinned(host, stream)
/// }
///
/// let (stream, x) = (Stream::new(&context)?, cuda_mem::zeros::<f32, _>(&context, 4)?);
/// let refused = start(&x, cuda_mem::pinned_array(&context, 3)?, &stream).unwrap_err();
/// assert_eq!(refused.array.len(), 3);
/// let transfer = start(&x, cuda_mem::pinned_array(&context, 4)?, &stream)?;
/// stream.synchronize()?;
/// assert!(transfer.is_done()?);
/// assert_eq!(transfer.wait()?.view()?.sum(), 0.0);
/// # Ok(())
/// # }
/// ```
pub type GivenBack<V, T, D, K> = Result<V, Box<Refused<HostArray<T, D, K>>>>;

/// A running copy, with the page-locked array that it reads or fills.
///
/// [`wait`](Transfer::wait), or `.await` on any executor, returns the array. Dropping the transfer drops the array,
/// which waits for the copy; leaking it leaks the array, which the copy may continue to use.
///
/// # Examples
///
/// ```
/// use cuda_driver::Stream;
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let stream = Stream::new(&context)?;
/// let mut staging = cuda_mem::pinned_array::<f32, _>(&context, 4)?;
/// staging.view_mut()?.fill(0.5);
/// let mut x = cuda_mem::device_array::<f32, _>(&context, 4)?;
///
/// let transfer = x.copy_from_pinned(staging, &stream)?;
/// let staging = transfer.wait()?;
/// let staging = pollster::block_on(x.copy_to_pinned(staging, &stream)?)?;
/// assert_eq!(staging.view()?.to_vec(), [0.5; 4]);
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping a transfer waits for it"]
pub struct Transfer<T: Element, D: Dimension, K: PageLocked> {
    array: HostArray<T, D, K>,
    stream: Stream,
    /// The event recorded after the copy.
    done: Event,
}

impl<T: Element, D: Dimension, K: PageLocked> Transfer<T, D, K> {
    /// Waits on the host for the copy, not for later work of its stream, and returns the array.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) if work failed, or for a kernel that panicked; the error returns the
    /// array.
    pub fn wait(self) -> GivenBack<HostArray<T, D, K>, T, D, K> {
        let waited = self.done.synchronize();
        self.finished(waited)
    }

    /// Returns true if the copy is done; does not wait.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) if work failed.
    pub fn is_done(&self) -> Result<bool> {
        Ok(self.done.query()?)
    }

    fn finished(mut self, waited: cuda_driver::Result<()>) -> GivenBack<HostArray<T, D, K>, T, D, K> {
        if let Err(error) = waited {
            return Err(Box::new(Refused { array: self.array, error: error.into() }));
        }
        self.array.memory_mut().buffer_mut().forget(self.stream.id());
        Ok(self.array)
    }
}

impl<T, D, K> IntoFuture for Transfer<T, D, K>
where
    T: Element,
    D: Dimension + 'static,
    K: PageLocked + 'static,
{
    type Output = GivenBack<HostArray<T, D, K>, T, D, K>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Resolves when the stream's present work is done, without a waiting thread.
    fn into_future(self) -> Self::IntoFuture {
        let done = self.stream.done();
        Box::pin(async move {
            let waited = done.await;
            self.finished(waited)
        })
    }
}

impl<T: Element, D: Dimension, K: PageLocked> fmt::Debug for Transfer<T, D, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transfer").field("array", &self.array).field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// Starts a copy of `pinned`, of the same shape, to the array, in the order of `stream`.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`](crate::Error::Shape) if the shapes differ; [`Error::OtherContext`](crate::Error::OtherContext)
    /// for a stream of another context; [`Error::Driver`](crate::Error::Driver) with the driver's status. The error
    /// returns `pinned`.
    pub fn copy_from_pinned<K: PageLocked>(
        &mut self,
        pinned: HostArray<T, D, K>,
        stream: &Stream,
    ) -> GivenBack<Transfer<T, D, K>, T, D, K> {
        begin(pinned, stream, |pinned| self.copy_from_pinned_ref(pinned, stream))
    }

    /// As [`copy_from_pinned`](DeviceArray::copy_from_pinned), of an array that the caller keeps, such as one that is
    /// [page-locked temporarily](crate::pinned()) or outlives a [`Stream::scope`].
    ///
    /// The array may be used again at once: [`view_mut`](HostArray::view_mut) waits for the copy, and so does its drop.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let stream = cuda_driver::Stream::new(&context)?;
    /// let mut staging = cuda_mem::pinned_array::<u8, _>(&context, 3)?;
    /// staging.view_mut()?.fill(1);
    /// let mut x = cuda_mem::zeros::<u8, _>(&context, 3)?;
    /// stream.scope(|s| Ok(x.copy_from_pinned_ref(&staging, s)?))?;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [1, 1, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`copy_from_pinned`](DeviceArray::copy_from_pinned).
    pub fn copy_from_pinned_ref<K: PageLocked>(&mut self, pinned: &HostArray<T, D, K>, stream: &Stream) -> Result<()> {
        self.expect_shape(pinned.shape())?;
        if self.is_empty() || size_of::<T>() == 0 {
            return Ok(());
        }
        let Some(rows) = Pitched::new(&CopyPlan::between(self.layout(), pinned.memory().layout()), size_of::<T>())
        else {
            let mut packed = new_array(stream, self.raw_dim(), pinned.memory().layout().order())?;
            packed.copy_from_pinned_ref(pinned, stream)?;
            return self.assign_on(&packed, stream);
        };
        pinned.memory().prepare_read(stream)?;
        self.prepare_write(stream)?;
        let (to, from) = (Endpoint::Device(self.device_ptr()), Endpoint::Host(pinned.host_ptr().cast()));
        // SAFETY: the plan comes from the two layouts. Both accesses are recorded on the stream, so that neither memory
        // is freed, nor accessed in conflict by a device or the host, before the copy has finished.
        unsafe { rows.copy(self.context(), to, from, Some(stream)) }
    }
}

impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// Starts a copy of the array to `pinned`, of the same shape, in the order of `stream`.
    ///
    /// # Errors
    ///
    /// As [`copy_from_pinned`](DeviceArray::copy_from_pinned).
    pub fn copy_to_pinned<K: PageLocked>(
        &self,
        pinned: HostArray<T, D, K>,
        stream: &Stream,
    ) -> GivenBack<Transfer<T, D, K>, T, D, K> {
        begin(pinned, stream, |pinned| self.copy_to_pinned_mut(pinned, stream))
    }

    /// As [`copy_to_pinned`](DeviceArray::copy_to_pinned), to an array that the caller keeps; see
    /// [`copy_from_pinned_ref`](DeviceArray::copy_from_pinned_ref).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = cuda_driver::Stream::new(&context)?;
    /// let (x, mut host) = (cuda_mem::zeros::<f32, _>(&context, 4)?, cuda_mem::pinned_array(&context, 4)?);
    /// x.copy_to_pinned_mut(&mut host, &stream)?;
    /// assert_eq!(host.view()?.sum(), 0.0); // waits for the copy
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`copy_from_pinned`](DeviceArray::copy_from_pinned).
    pub fn copy_to_pinned_mut<K: PageLocked>(&self, pinned: &mut HostArray<T, D, K>, stream: &Stream) -> Result<()> {
        self.expect_shape(pinned.shape())?;
        if self.is_empty() || size_of::<T>() == 0 {
            return Ok(());
        }
        let Some(rows) = Pitched::new(&CopyPlan::between(pinned.memory().layout(), self.layout()), size_of::<T>())
        else {
            let mut packed = new_array(stream, self.raw_dim(), pinned.memory().layout().order())?;
            packed.assign_on(self, stream)?;
            return packed.copy_to_pinned_mut(pinned, stream);
        };
        self.prepare_read(stream)?;
        pinned.memory_mut().prepare_write(stream)?;
        let (to, from) = (Endpoint::Host(pinned.host_ptr().cast()), Endpoint::Device(self.device_ptr()));
        // SAFETY: the plan comes from the two layouts. Both accesses are recorded on the stream, so that neither memory
        // is freed, nor accessed in conflict by a device or the host, before the copy has finished.
        unsafe { rows.copy(self.context(), to, from, Some(stream)) }
    }
}

/// Enqueues a copy, and records an event after it.
fn begin<T: Element, D: Dimension, K: PageLocked>(
    mut pinned: HostArray<T, D, K>,
    stream: &Stream,
    copy: impl FnOnce(&mut HostArray<T, D, K>) -> Result<()>,
) -> GivenBack<Transfer<T, D, K>, T, D, K> {
    let begun = copy(&mut pinned).and_then(|()| {
        let done = Event::without_timing(stream.context())?;
        done.record(stream)?;
        Ok(done)
    });
    match begun {
        Ok(done) => Ok(Transfer { array: pinned, stream: stream.clone(), done }),
        Err(error) => Err(Box::new(Refused { array: pinned, error })),
    }
}
