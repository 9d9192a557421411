//! Operations within device memory: assignment, copies, fills.
//!
//! Each runs in the order of a stream; functions without a stream argument use the context's default stream.
//!
//! # Safety
//!
//! The `unsafe` blocks copy between arrays whose accesses were prepared on the stream; the borrows keep the arrays
//! disjoint.

use cuda_driver::{Stream, driver_call};
use ndarray::{Dimension, Ix0, Order};

use crate::Element;
use crate::array::DeviceArray;
use crate::array::create::new_array;
use crate::array::storage::{Storage, StorageMut};
use crate::copy::pitched::{Endpoint, Pitched};
use crate::copy::strided;
use crate::error::{Error, Result};
use crate::layout::{CopyPlan, Layout};

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// Copies the elements of `source` to this array, on the context's default stream. A smaller `source` is repeated
    /// by [broadcasting](DeviceArray::broadcast). An array of another device is copied from device to device; later
    /// accesses to either array wait for that on their devices.
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::{array, s};
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<i32, _>(&context, (2, 3))?;
    /// let row = cuda_mem::from_slice(&context, &[1, 2])?;
    /// x.slice_mut(s![.., 1..]).assign(&row)?;
    /// assert_eq!(x.copy_to_host()?, array![[0, 1, 2], [0, 1, 2]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Broadcast`] if the shapes do not fit; [`Error::Driver`] with the driver's status.
    pub fn assign<E: Dimension, R: Storage>(&mut self, source: &DeviceArray<T, E, R>) -> Result<()> {
        let stream = self.context().default_stream();
        self.assign_on(source, &stream)
    }

    /// As [`assign`](DeviceArray::assign), in the order of `stream`.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = cuda_driver::Stream::new(&context)?;
    /// let mut x = cuda_mem::zeros::<i32, _>(&context, (2, 2))?;
    /// x.fill_on(1, &stream)?;
    /// x.column_mut(1).assign_on(&cuda_mem::from_slice(&context, &[5, 6])?, &stream)?;
    /// assert_eq!(x.copy_to_host()?, ndarray::array![[1, 5], [1, 6]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`assign`](DeviceArray::assign).
    pub fn assign_on<E: Dimension, R: Storage>(
        &mut self,
        source: &DeviceArray<T, E, R>,
        stream: &Stream,
    ) -> Result<()> {
        let from = source.layout().broadcast(self.raw_dim());
        let from = from.ok_or_else(|| Error::Broadcast { from: source.shape().into(), to: self.shape().into() })?;
        self.copy_elements(&from, source, stream)
    }

    /// Sets every element to `value`, on the context's default stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::{array, s};
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<f32, _>(&context, (2, 3))?;
    /// x.slice_mut(s![.., ..;2]).fill(0.5)?;
    /// assert_eq!(x.copy_to_host()?, array![[0.5, 0.0, 0.5], [0.5, 0.0, 0.5]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn fill(&mut self, value: T) -> Result<()> {
        let stream = self.context().default_stream();
        self.fill_on(value, &stream)
    }

    /// As [`fill`](DeviceArray::fill), in the order of `stream`.
    ///
    /// # Errors
    ///
    /// [`Error::OtherContext`] for a stream of another context; [`Error::Driver`] with the driver's status.
    pub fn fill_on(&mut self, value: T, stream: &Stream) -> Result<()> {
        if self.is_empty() || size_of::<T>() == 0 {
            return Ok(());
        }
        let without_gaps = self.is_c_contiguous() || self.is_f_contiguous();
        if let Some(pattern) = Pattern::of(&value, self.device_ptr()).filter(|_| without_gaps) {
            self.prepare_write(stream)?;
            // SAFETY: the elements are contiguous, and the write was prepared.
            return unsafe { pattern.fill(self.device_ptr(), self.byte_len(), stream) };
        }
        let mut one = new_array::<T, _>(stream, Ix0(), Order::RowMajor)?;
        one.buffer_mut().write(0, &[value])?;
        self.assign_on(&one, stream)
    }

    /// Copies the elements at `from`, a layout of `source`'s memory with this array's shape.
    fn copy_elements<E: Dimension, R: Storage>(
        &mut self,
        from: &Layout<D>,
        source: &DeviceArray<T, E, R>,
        stream: &Stream,
    ) -> Result<()> {
        if self.is_empty() || size_of::<T>() == 0 {
            return Ok(());
        }
        if source.context() != self.context() {
            return self.copy_from_peer(&source.borrowed(from.clone()), stream);
        }
        source.prepare_read(stream)?;
        self.prepare_write(stream)?;
        let plan = CopyPlan::between(self.layout(), from);
        let (to, from, bytes) = (self.device_ptr(), source.device_ptr(), size_of::<T>());
        match Pitched::new(&plan, bytes) {
            // SAFETY: both arrays' accesses were prepared on the stream, and their borrows last until the copy is
            // enqueued; the target is borrowed exclusively, so that it does not overlap the source.
            Some(rows) => unsafe {
                rows.copy(stream.context(), Endpoint::Device(to), Endpoint::Device(from), Some(stream))
            },
            // SAFETY: both arrays' accesses were prepared on the stream, and their borrows last until the copy is
            // enqueued; the elements of a writable array do not overlap, and the exclusive borrow keeps them apart from
            // the source.
            None => unsafe { strided::copy(stream, &plan, bytes, to, from) },
        }
    }
}

impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// A contiguous copy in new memory: in Fortran order if the array is, else in C order.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1, 2])?;
    /// let mut copy = x.try_clone()?;
    /// copy.fill(0)?;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if the device has no room; [`Error::Driver`] with the driver's status.
    pub fn try_clone(&self) -> Result<DeviceArray<T, D>> {
        self.copied(self.layout().order(), &self.context().default_stream())
    }

    /// A copy in new memory, in C order.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &ndarray::array![[1, 2, 3], [4, 5, 6]])?;
    /// let columns = x.t().to_c_order()?;
    /// assert_eq!(columns.ravel()?.copy_to_host()?.to_vec(), [1, 4, 2, 5, 3, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`try_clone`](DeviceArray::try_clone).
    pub fn to_c_order(&self) -> Result<DeviceArray<T, D>> {
        self.to_c_order_on(&self.context().default_stream())
    }

    /// As [`to_c_order`](DeviceArray::to_c_order), in the order of `stream`.
    ///
    /// # Errors
    ///
    /// As [`try_clone`](DeviceArray::try_clone).
    pub fn to_c_order_on(&self, stream: &Stream) -> Result<DeviceArray<T, D>> {
        self.copied(Order::RowMajor, stream)
    }

    /// A copy in new memory, in Fortran order.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &ndarray::array![[1, 2, 3], [4, 5, 6]])?;
    /// let columns = x.to_f_order()?;
    /// assert!(columns.is_f_contiguous() && columns.to_c_order_on(&context.default_stream())?.is_c_contiguous());
    /// assert_eq!(columns.copy_to_host()?, x.copy_to_host()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`try_clone`](DeviceArray::try_clone).
    pub fn to_f_order(&self) -> Result<DeviceArray<T, D>> {
        self.copied(Order::ColumnMajor, &self.context().default_stream())
    }

    fn copied(&self, order: Order, stream: &Stream) -> Result<DeviceArray<T, D>> {
        let mut copy = new_array(stream, self.raw_dim(), order)?;
        copy.copy_elements(self.layout(), self, stream)?;
        Ok(copy)
    }
}

/// A pattern of bytes that the driver's memset can repeat.
enum Pattern {
    One(u8),
    Two(u16),
    Four(u32),
}

impl Pattern {
    /// The shortest pattern of a value, for memory at an address that is aligned for it.
    fn of<T: Element>(value: &T, address: u64) -> Option<Self> {
        // SAFETY: plain data has no padding, so that every byte is initialised; the borrow is as long.
        let bytes = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) };
        let repeats = |unit: usize| {
            bytes.len().is_multiple_of(unit)
                && address.is_multiple_of(unit as u64)
                && bytes.chunks(unit).all(|part| part == &bytes[..unit])
        };
        match *bytes {
            [first, ..] if repeats(1) => Some(Pattern::One(first)),
            [first, second, ..] if repeats(2) => Some(Pattern::Two(u16::from_ne_bytes([first, second]))),
            [a, b, c, d, ..] if repeats(4) => Some(Pattern::Four(u32::from_ne_bytes([a, b, c, d]))),
            _ => None,
        }
    }

    /// Fills `bytes` bytes, a multiple of the pattern's size.
    ///
    /// # Safety
    ///
    /// They lie in live memory, aligned for the pattern, and a write of them is ordered on the stream.
    unsafe fn fill(self, address: u64, bytes: usize, stream: &Stream) -> Result<()> {
        let (context, raw) = (stream.context(), stream.as_raw());
        let filled = match self {
            // SAFETY: the caller promises live memory of that many bytes, and an ordered write.
            Pattern::One(value) => unsafe { driver_call!(context, cuMemsetD8Async(address, value, bytes, raw)) },
            // SAFETY: the caller promises live, aligned memory of that many bytes, which are half as many values of two
            // bytes.
            Pattern::Two(value) => unsafe { driver_call!(context, cuMemsetD16Async(address, value, bytes / 2, raw)) },
            // SAFETY: the caller promises live, aligned memory of that many bytes, which are a quarter as many values
            // of four bytes.
            Pattern::Four(value) => unsafe { driver_call!(context, cuMemsetD32Async(address, value, bytes / 4, raw)) },
        };
        Ok(filled?)
    }
}
