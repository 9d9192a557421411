//! cudarc's slices as device arrays: owned, or borrowed for a call.
//!
//! Invariant: the array's first use record is a write on the slice's own stream, which has waited for cudarc's uses; so every
//! use of the array waits for them. When the array ends, that stream waits for the array's uses, and cudarc's event is recorded
//! there; so every later use of the slice, and its end, waits for them.
//!
//! # Safety
//!
//! The blocks make arrays of a slice's memory while the slice is owned or borrowed, and of its own length.

use std::mem;

use cuda_driver::Stream;
use cuda_mem::{DeviceArray, DeviceArrayView, DeviceArrayViewMut, Element};
use cudarc::driver::{
    CudaSlice, CudaView, CudaViewMut, DevicePtr as _, DevicePtrMut as _, DeviceSlice as _, SyncOnDrop,
};
use ndarray::{Dimension, Ix1};

use crate::bridge::Bridge;
use crate::error::{Error, Result};

impl Bridge {
    /// cudarc's slice as a device array, without a copy. cudarc frees the memory when the array is dropped and every use of it is
    /// over; [`into_slice`](Bridge::into_slice) gives it back.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = software_device().primary_context()?;
    /// let bridge = cuda_cudarc::Bridge::open(&context)?;
    /// let slice = bridge.cudarc_context().new_stream()?.clone_htod(&[1, 2, 3, 4])?;
    /// let mut x = bridge.import_slice(slice)?;
    /// x.slice_mut(ndarray::s![..2]).fill(7)?;
    /// assert_eq!(x.reshape((2, 2))?.copy_to_host()?, ndarray::array![[7, 7], [3, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherCudarcContext`] for a slice of another context; [`Error::PerThreadStream`] for one of that stream;
    /// [`Error::Cudarc`] or [`Error::Memory`] if ordering fails. The slice is dropped.
    pub fn import_slice<T: Element>(&self, mut slice: CudaSlice<T>) -> Result<DeviceArray<T, Ix1>> {
        let theirs = slice.stream().clone();
        self.expect_theirs(theirs.context(), "the slice")?;
        let stream = self.import_stream(&theirs)?;
        let address = self.apart_from_earlier_errors(|| {
            let (address, recorded) = slice.device_ptr_mut(&theirs);
            drop(recorded);
            theirs.context().check_err()?;
            Ok(address)
        })?;
        let len = slice.len();
        // SAFETY: the owner keeps so many elements, which nothing else uses any more; the record below orders earlier uses.
        let mut array = unsafe { DeviceArray::from_raw_parts(self.context(), address, len, &[1], slice) }?;
        array.prepare_write(&stream)?;
        Ok(array)
    }

    /// The slice that an array was made of by [`import_slice`](Bridge::import_slice), whole, whatever the array's shape is now.
    /// Its stream waits for the array's uses; the host does not.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = software_device().primary_context()?;
    /// let bridge = cuda_cudarc::Bridge::open(&context)?;
    /// let theirs = bridge.cudarc_context().default_stream();
    /// let mut x = bridge.import_slice(theirs.alloc_zeros::<f64>(3)?)?;
    /// x.fill(0.5)?;
    /// let slice = bridge.into_slice(x)?;
    /// assert_eq!(theirs.clone_dtoh(&slice)?, [0.5; 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotASlice`] if the array is of other memory; [`Error::OtherCudarcContext`] for a slice of another `CudaContext`; [`Error::Memory`] if ordering fails. The array is dropped.
    pub fn into_slice<T: Element, D: Dimension>(&self, array: DeviceArray<T, D>) -> Result<CudaSlice<T>> {
        self.expect_ours(array.context(), "the array")?;
        let not_a_slice = || Error::NotASlice { element: std::any::type_name::<T>() };
        // Another owner stays with the array, whose end waits for its uses.
        let slice = array.owner().and_then(|owner| owner.downcast_ref::<CudaSlice<T>>()).ok_or_else(not_a_slice)?;
        let theirs = slice.stream().clone();
        let stream = self.import_stream(&theirs)?;
        // SAFETY: the owner is a slice. cudarc uses and frees it in the order of its own stream, which is this one, or of streams
        // that wait for the event of its last write, which is recorded there below.
        let owner = unsafe { array.into_owner(&stream) }?.ok_or_else(not_a_slice)?;
        let mut slice = *owner.downcast::<CudaSlice<T>>().map_err(|_| not_a_slice())?;
        // cudarc's event of the last write is recorded behind the uses.
        self.apart_from_earlier_errors(|| {
            drop(slice.device_ptr_mut(&theirs).1);
            Ok(theirs.context().check_err()?)
        })?;
        Ok(slice)
    }

    /// Runs `work` with a view of cudarc's as a view of a device array, which is read. The slice's uses that come later wait for
    /// those of the array; the host does not.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = software_device().primary_context()?;
    /// let bridge = cuda_cudarc::Bridge::open(&context)?;
    /// let slice = bridge.cudarc_context().default_stream().clone_htod(&[1, 2, 3])?;
    /// let last = bridge.with_view(&slice.slice(1..), |x| x.copy_to_host())??;
    /// assert_eq!(last.to_vec(), [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`import_slice`](Bridge::import_slice). After `work`, if ordering fails: then the host has waited.
    ///
    /// # Panics
    ///
    /// With the panic of `work`, after the ordering.
    pub fn with_view<T: Element, R>(
        &self,
        view: &CudaView<'_, T>,
        work: impl FnOnce(DeviceArrayView<'_, T, Ix1>) -> R,
    ) -> Result<R> {
        let theirs = view.stream().clone();
        self.expect_theirs(theirs.context(), "the slice")?;
        let stream = self.import_stream(&theirs)?;
        let (address, recorded) = self.apart_from_earlier_errors(|| {
            let used = view.device_ptr(&theirs);
            theirs.context().check_err()?;
            Ok(used)
        })?;
        let array = self.borrowed(address, view.len(), &stream)?;
        let borrowed = Borrowed { bridge: self, array: Some(array), stream: &stream, recorded: Some(recorded) };
        let result = work(borrowed.array().view());
        borrowed.end()?;
        Ok(result)
    }

    /// As [`with_view`](Bridge::with_view), with a view that is written.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = software_device().primary_context()?;
    /// let bridge = cuda_cudarc::Bridge::open(&context)?;
    /// let theirs = bridge.cudarc_context().default_stream();
    /// let mut slice = theirs.clone_htod(&[1, 2, 3])?;
    /// bridge.with_view_mut(&mut slice.slice_mut(..2), |mut x| x.fill(0))??;
    /// assert_eq!(theirs.clone_dtoh(&slice)?, [0, 0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`with_view`](Bridge::with_view).
    ///
    /// # Panics
    ///
    /// As [`with_view`](Bridge::with_view).
    pub fn with_view_mut<T: Element, R>(
        &self,
        view: &mut CudaViewMut<'_, T>,
        work: impl FnOnce(DeviceArrayViewMut<'_, T, Ix1>) -> R,
    ) -> Result<R> {
        let theirs = view.stream().clone();
        self.expect_theirs(theirs.context(), "the slice")?;
        let stream = self.import_stream(&theirs)?;
        let len = view.len();
        let (address, recorded) = self.apart_from_earlier_errors(|| {
            let used = view.device_ptr_mut(&theirs);
            theirs.context().check_err()?;
            Ok(used)
        })?;
        let array = self.borrowed(address, len, &stream)?;
        let mut borrowed = Borrowed { bridge: self, array: Some(array), stream: &stream, recorded: Some(recorded) };
        let result = work(borrowed.array_mut().view_mut());
        borrowed.end()?;
        Ok(result)
    }

    /// An array of borrowed memory, whose uses come after what `stream` has now.
    fn borrowed<T: Element>(&self, address: u64, len: usize, stream: &Stream) -> Result<DeviceArray<T, Ix1>> {
        // SAFETY: the slice is borrowed until the array has ended, and its uses are ordered by the record and the events.
        let mut array = unsafe { DeviceArray::from_raw_parts(self.context(), address, len, &[1], ()) }?;
        array.prepare_write(stream)?;
        Ok(array)
    }
}

/// An array of borrowed memory, which ends before the borrow, also in a panic.
struct Borrowed<'a, T: Element> {
    bridge: &'a Bridge,
    array: Option<DeviceArray<T, Ix1>>,
    stream: &'a Stream,
    /// Records cudarc's event of the use when it is dropped, behind what the stream waits for.
    recorded: Option<SyncOnDrop<'a>>,
}

impl<T: Element> Borrowed<'_, T> {
    fn array(&self) -> &DeviceArray<T, Ix1> {
        self.array.as_ref().expect("it is there until the end")
    }

    fn array_mut(&mut self) -> &mut DeviceArray<T, Ix1> {
        self.array.as_mut().expect("it is there until the end")
    }

    /// Has the stream wait for the array's uses, then records cudarc's event.
    fn end(mut self) -> Result<()> {
        self.order()
    }

    fn order(&mut self) -> Result<()> {
        let Some(array) = self.array.take() else { return Ok(()) };
        // SAFETY: the owner is `()`; the borrowed slice is used in the order of the stream, on which cudarc's event is recorded next.
        let ordered = unsafe { array.into_owner(self.stream) };
        let recorded = self.bridge.apart_from_earlier_errors(|| {
            drop(mem::take(&mut self.recorded));
            Ok(self.bridge.cudarc_context().check_err()?)
        });
        if recorded.is_err() {
            // cudarc's event may not tell of the uses.
            self.bridge.context().wait_until_idle_or_abort();
        }
        ordered?;
        recorded
    }
}

impl<T: Element> Drop for Borrowed<'_, T> {
    fn drop(&mut self) {
        // Without an order the array's end has waited for its uses, so that nothing is lost but the error.
        if let Err(error) = self.order() {
            tracing::warn!(%error, "the uses of a borrowed slice were waited for, since they could not be ordered");
        }
    }
}
