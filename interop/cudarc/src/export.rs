//! Device arrays as cudarc's slices: owned by an [`ExportedSlice`], or borrowed for a call.
//!
//! Invariant: cudarc never frees the memory, since the slice is leaked where it ends. The array is used again, or freed, after
//! all work of the context, for which the host waits: of several reads of a slice, on several streams, cudarc 0.19 keeps the last
//! one's event only, so that its events do not tell when all of them are over.
//!
//! # Safety
//!
//! The blocks make slices of an array's memory, of the array's length, while the array is owned or borrowed.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use cuda_mem::{DeviceArray, Element, Storage, StorageMut};
use cudarc::driver::{CudaSlice, CudaStream, CudaView, CudaViewMut};
use ndarray::Dimension;

use crate::bridge::Bridge;
use crate::error::{Error, Result};

impl Bridge {
    /// A device array as cudarc's slice, without a copy, to be used on `stream` first. The memory stays the array's, and comes
    /// back by [`ExportedSlice::into_array`].
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = software_device().primary_context()?;
    /// let bridge = cuda_cudarc::Bridge::open(&context)?;
    /// let theirs = bridge.cudarc_context().new_stream()?;
    /// let x = cuda_mem::to_device(&context, &ndarray::array![[1, 2], [3, 4]])?;
    /// let mut slice = bridge.export_array(x, &theirs)?;
    /// theirs.memset_zeros(&mut slice.view_mut().slice_mut(..1))?;
    /// assert_eq!(theirs.clone_dtoh(&*slice)?, [0, 2, 3, 4]);
    /// let x = slice.into_array()?;
    /// assert_eq!(x.copy_to_host()?, ndarray::array![[0, 2], [3, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotContiguous`] if the elements do not lie in C order; [`Error::OtherContext`] and [`Error::OtherCudarcContext`]
    /// for an array or a stream of another context; [`Error::PerThreadStream`]; [`Error::Driver`] inside a capture of the calling
    /// thread, since the memory comes back by a wait; [`Error::Memory`] if ordering fails. The array is dropped.
    pub fn export_array<T: Element, D: Dimension + 'static>(
        &self,
        mut array: DeviceArray<T, D>,
        stream: &Arc<CudaStream>,
    ) -> Result<ExportedSlice<T, D>> {
        self.expect_slice(&array)?;
        array.prepare_write(&self.import_stream(stream)?)?;
        let lent = self.lend(&array, stream)?;
        Ok(ExportedSlice { lent, array: Some(array) })
    }

    /// Runs `work` with a device array as cudarc's slice, which is read, on `stream` first. Waits for the context's work before it
    /// returns.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = software_device().primary_context()?;
    /// let bridge = cuda_cudarc::Bridge::open(&context)?;
    /// let theirs = bridge.cudarc_context().new_stream()?;
    /// let x = cuda_mem::from_slice(&context, &[1, 2, 3])?;
    /// assert_eq!(bridge.with_array(&x, &theirs, |slice| theirs.clone_dtoh(slice))??, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`export_array`](Bridge::export_array), all of them before `work`.
    ///
    /// # Panics
    ///
    /// With the panic of `work`, after the wait. If the wait is not possible, as while cudarc captures a graph on another thread, the
    /// process aborts: work could still use the borrowed memory.
    pub fn with_array<T: Element, D: Dimension, S: Storage, R>(
        &self,
        array: &DeviceArray<T, D, S>,
        stream: &Arc<CudaStream>,
        work: impl FnOnce(&CudaSlice<T>) -> R,
    ) -> Result<R> {
        self.expect_slice(array)?;
        array.prepare_read(&self.import_stream(stream)?)?;
        let lent = Borrowed(self.lend(array, stream)?);
        Ok(work(lent.0.slice()))
    }

    /// As [`with_array`](Bridge::with_array), with a view that is written.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = software_device().primary_context()?;
    /// let bridge = cuda_cudarc::Bridge::open(&context)?;
    /// let theirs = bridge.cudarc_context().new_stream()?;
    /// let mut x = cuda_mem::from_slice(&context, &[1, 2, 3])?;
    /// bridge.with_array_mut(&mut x, &theirs, |mut view| theirs.memcpy_htod(&[7, 8, 9], &mut view))??;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [7, 8, 9]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`with_array`](Bridge::with_array).
    ///
    /// # Panics
    ///
    /// As [`with_array`](Bridge::with_array).
    pub fn with_array_mut<T: Element, D: Dimension, S: StorageMut, R>(
        &self,
        array: &mut DeviceArray<T, D, S>,
        stream: &Arc<CudaStream>,
        work: impl FnOnce(CudaViewMut<'_, T>) -> R,
    ) -> Result<R> {
        self.expect_slice(array)?;
        array.prepare_write(&self.import_stream(stream)?)?;
        let mut lent = Borrowed(self.lend(array, stream)?);
        Ok(work(lent.0.slice_mut().as_view_mut()))
    }

    /// Refuses arrays of another context, others than slices, and captures, in which the wait at the end is not possible.
    fn expect_slice<T: Element, D: Dimension, S: Storage>(&self, array: &DeviceArray<T, D, S>) -> Result<()> {
        self.expect_ours(array.context(), "the array")?;
        self.context().expect_no_capture()?;
        if array.is_c_contiguous() {
            return Ok(());
        }
        Err(Error::NotContiguous { shape: array.shape().into(), strides: array.strides().into() })
    }

    /// A slice of the array's elements, which the array outlives; its uses on the stream have been prepared.
    fn lend<T: Element, D: Dimension, S: Storage>(
        &self,
        array: &DeviceArray<T, D, S>,
        stream: &Arc<CudaStream>,
    ) -> Result<Lent<T>> {
        let slice = self.apart_from_earlier_errors(|| {
            // cudarc makes the slice's events, and panics where the context cannot be bound.
            self.cudarc_context().bind_to_thread()?;
            // SAFETY: the array has so many initialised elements there, and the slice is never dropped but leaked.
            Ok(unsafe { stream.upgrade_device_ptr::<T>(array.device_ptr(), array.len()) })
        })?;
        Ok(Lent { slice: Some(slice), bridge: self.clone() })
    }
}

/// A slice of memory that is not cudarc's, until it is taken back.
struct Lent<T> {
    /// `None` once it is taken back.
    slice: Option<CudaSlice<T>>,
    /// Has cudarc track uses of the slice.
    bridge: Bridge,
}

impl<T> Lent<T> {
    fn slice(&self) -> &CudaSlice<T> {
        self.slice.as_ref().expect("it is there until it is taken back")
    }

    fn slice_mut(&mut self) -> &mut CudaSlice<T> {
        self.slice.as_mut().expect("it is there until it is taken back")
    }

    /// Takes the slice from cudarc, and waits for all work of the context.
    fn take_back(&mut self) -> cuda_driver::Result<()> {
        match self.slice.take() {
            Some(slice) => {
                slice.leak();
                self.bridge.context().wait_until_idle()
            }
            None => Ok(()),
        }
    }
}

/// A slice of a borrowed array, which is taken back before the borrow ends, also in a panic.
struct Borrowed<T>(Lent<T>);

impl<T> Drop for Borrowed<T> {
    fn drop(&mut self) {
        if self.0.take_back().is_err() {
            // The array's owner has it back in any case.
            self.0.bridge.context().wait_until_idle_or_abort();
        }
    }
}

/// A device array as cudarc's slice; from [`Bridge::export_array`].
///
/// It is used as a [`CudaSlice`] is, by `&*slice`, [`view`](ExportedSlice::view) and [`view_mut`](ExportedSlice::view_mut). Where it
/// is dropped, the host waits for the context's work, and the array is dropped.
///
/// Graphs that cudarc captures hold addresses alone: one that names the slice is not launched after the slice has ended.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let context = software_device().primary_context()?;
/// use cuda_cudarc::{Bridge, ExportedSlice};
///
/// let bridge = Bridge::open(&context)?;
/// let theirs = bridge.cudarc_context().new_stream()?;
/// let x = cuda_mem::from_slice(&context, &[1, 2, 3])?;
/// let slice: ExportedSlice<i32, _> = bridge.export_array(x, &theirs)?;
/// assert_eq!(theirs.clone_dtoh(&slice.view().slice(1..))?, [2, 3]);
/// # Ok(())
/// # }
/// ```
pub struct ExportedSlice<T: Element, D: Dimension + 'static> {
    lent: Lent<T>,
    /// `None` once it is given back.
    array: Option<DeviceArray<T, D>>,
}

impl<T: Element, D: Dimension + 'static> ExportedSlice<T, D> {
    /// All elements, for reading.
    #[must_use]
    pub fn view(&self) -> CudaView<'_, T> {
        self.lent.slice().as_view()
    }

    /// All elements, for writing.
    #[must_use]
    pub fn view_mut(&mut self) -> CudaViewMut<'_, T> {
        self.lent.slice_mut().as_view_mut()
    }

    /// Waits on the host for the context's work, and gives the array back.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] if the driver does not wait, as inside a capture of the calling thread; the memory is kept for good.
    #[expect(clippy::missing_panics_doc, reason = "the array is there until this call takes it")]
    pub fn into_array(mut self) -> Result<DeviceArray<T, D>> {
        let array = self.array.take();
        if let Err(error) = self.lent.take_back() {
            std::mem::forget(array);
            return Err(error.into());
        }
        Ok(array.expect("it is there until it is given back"))
    }
}

impl<T: Element, D: Dimension + 'static> Deref for ExportedSlice<T, D> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        self.lent.slice()
    }
}

impl<T: Element, D: Dimension + 'static> Drop for ExportedSlice<T, D> {
    fn drop(&mut self) {
        if self.lent.slice.is_some() && cuda_driver::is_in_host_fn() {
            // Neither side can make a call here.
            let lent = Lent { slice: self.lent.slice.take(), bridge: self.lent.bridge.clone() };
            cuda_driver::defer_drop(Box::new(ExportedSlice { lent, array: self.array.take() }));
            return;
        }
        if let Err(error) = self.lent.take_back() {
            tracing::warn!(%error, "an array that was lent to cudarc is kept: work may still use it");
            std::mem::forget(self.array.take());
        }
    }
}

impl<T: Element, D: Dimension + 'static> fmt::Debug for ExportedSlice<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExportedSlice").field("len", &self.len()).field("stream", self.stream()).finish_non_exhaustive()
    }
}
