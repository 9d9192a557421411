//! Blocking copies between device arrays and host arrays of any layout.
//!
//! Layouts that the driver's copies support, rows and planes of rows included, are copied directly. Other host layouts
//! are packed in pieces on the host, other device layouts as a whole on the device; an element that a broadcast host
//! array repeats is sent once. Packing takes a few MiB of host memory, whatever the array's size.
//!
//! # Safety
//!
//! The `unsafe` blocks treat host arrays as uninitialised memory, and as initialised after the copy has filled them.

use std::mem::MaybeUninit;

use ndarray::{Array, ArrayBase, ArrayView, ArrayViewMut, Axis, Data, DataMut, Dimension, Order, ShapeBuilder, Slice};

use crate::Element;
use crate::array::create::new_array;
use crate::array::storage::{Storage, StorageMut};
use crate::array::{DeviceArray, DeviceArrayViewMut};
use crate::copy::pitched::{Endpoint, Pitched};
use crate::copy::staging;
use crate::error::{Error, Result};
use crate::layout::{CopyPlan, byte_size};

impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// Copies the array to the host, after all work that writes it: in Fortran order if the array is, else in C order.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &ndarray::array![[1, 2], [3, 4]])?;
    /// assert_eq!(x.copy_to_host()?, ndarray::array![[1, 2], [3, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status, or for a kernel that panicked; [`Error::TooLarge`] if a broadcast array,
    /// written out, would exceed the address space.
    pub fn copy_to_host(&self) -> Result<Array<T, D>> {
        byte_size(self.shape(), size_of::<T>())?;
        let fortran = self.layout().order() == Order::ColumnMajor;
        let mut host = Array::<T, D>::uninit(self.raw_dim().set_f(fortran));
        self.read_to(host.view_mut())?;
        // SAFETY: the read has written every element.
        Ok(unsafe { host.assume_init() })
    }

    /// Copies the array to `host`, of the same shape and any layout, after all work that writes it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &ndarray::array![[1, 2], [3, 4]])?;
    /// let mut host = ndarray::Array2::zeros((2, 2));
    /// x.copy_to_host_into(&mut host.view_mut().reversed_axes())?;
    /// assert_eq!(host, ndarray::array![[1, 3], [2, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the shapes differ; [`Error::Driver`] with the driver's status, or for a kernel that
    /// panicked. On an error `host` may be partly written.
    pub fn copy_to_host_into<H: DataMut<Elem = T>>(&self, host: &mut ArrayBase<H, D>) -> Result<()> {
        self.expect_shape(host.shape())?;
        // SAFETY: the view has the same elements, borrowed for as long. It is only passed to copies of initialised
        // elements, so that none becomes uninitialised.
        self.read_to(unsafe { host.raw_view_mut().cast::<MaybeUninit<T>>().deref_into_view_mut() })
    }

    pub(crate) fn expect_shape(&self, host: &[usize]) -> Result<()> {
        if self.shape() == host {
            return Ok(());
        }
        Err(Error::Shape { device: self.shape().into(), host: host.into() })
    }

    /// Fills `host`, of the same shape, with a blocking copy.
    fn read_to(&self, mut host: ArrayViewMut<'_, MaybeUninit<T>, D>) -> Result<()> {
        if self.is_empty() || size_of::<T>() == 0 {
            return Ok(());
        }
        if self.layout().order() == Order::ColumnMajor {
            return self.t().read_to(host.reversed_axes());
        }
        let plan = CopyPlan::new(self.shape(), &|axis| host.strides()[axis], &|axis| self.layout().stride(axis));
        match Pitched::new(&plan, size_of::<T>()) {
            Some(rows) => {
                let position = self.buffer().prepare_host_read(&self.byte_range())?;
                let (to, from) = (Endpoint::Host(host.as_mut_ptr().cast()), Endpoint::Device(self.device_ptr()));
                // SAFETY: the plan comes from the two arrays' strides; the writes are ordered before in the default
                // stream, in which the driver copies, and the host array is borrowed exclusively until the call
                // returns.
                unsafe { rows.copy(self.context(), to, from, None) }?;
                self.buffer().report_panics(&position)
            }
            None if self.is_c_contiguous() => self.read_packed(host),
            None => self.to_c_order()?.read_to(host),
        }
    }
}

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// Copies `host`, of the same shape and any layout, to the array, after all work that accesses it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<i32, _>(&context, (2, 2))?;
    /// let host = ndarray::array![[1, 2], [3, 4]];
    /// x.copy_from_host(&host.t())?;
    /// assert_eq!(x.copy_to_host()?, host.t());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the shapes differ; [`Error::Driver`] with the driver's status.
    pub fn copy_from_host<H: Data<Elem = T>>(&mut self, host: &ArrayBase<H, D>) -> Result<()> {
        self.expect_shape(host.shape())?;
        self.view_mut().write_from(host.view())
    }
}

impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// Fills `host` piece by piece; this array is in C order.
    fn read_packed(&self, mut host: ArrayViewMut<'_, MaybeUninit<T>, D>) -> Result<()> {
        let mut staging = staging::buffer::<T>(self.len());
        let start = self.layout().offset();
        staging::for_each_piece(self.shape(), staging.len(), |first, ranges| {
            let mut part = host.slice_each_axis_mut(|axis| Slice::from(ranges[axis.axis.index()].clone()));
            let values = self.buffer().read((start + first) * size_of::<T>(), &mut staging[..part.len()])?;
            let Ok(values) = ArrayView::from_shape(part.raw_dim(), values) else {
                unreachable!("as many as the part has")
            };
            values.assign_to(&mut part);
            Ok(())
        })
    }
}

impl<T: Element, D: Dimension> DeviceArrayViewMut<'_, T, D> {
    /// Copies the elements of `host`, of the same shape, with a blocking copy.
    fn write_from(mut self, host: ArrayView<'_, T, D>) -> Result<()> {
        if self.is_empty() || size_of::<T>() == 0 {
            return Ok(());
        }
        if self.layout().order() == Order::ColumnMajor {
            return self.reversed_axes().write_from(host.reversed_axes());
        }
        if let Some(without_repeats) = without_repeats(&host) {
            let mut once = new_array(self.context(), without_repeats.raw_dim(), Order::RowMajor)?;
            once.view_mut().write_from(without_repeats)?;
            return self.assign(&once);
        }
        let plan = CopyPlan::new(self.shape(), &|axis| self.layout().stride(axis), &|axis| host.strides()[axis]);
        match Pitched::new(&plan, size_of::<T>()) {
            Some(rows) => {
                self.prepare_write(&self.context().default_stream())?;
                let (to, from) = (Endpoint::Device(self.device_ptr()), Endpoint::Host(host.as_ptr().cast_mut().cast()));
                // SAFETY: the plan comes from the two arrays' strides; every other access is ordered before in the
                // default stream, in which the driver copies, and the host array is borrowed until the call returns.
                unsafe { rows.copy(self.context(), to, from, None) }
            }
            None if self.is_c_contiguous() => self.write_packed(host),
            None => {
                let mut packed = new_array(self.context(), self.raw_dim(), Order::RowMajor)?;
                packed.view_mut().write_from(host)?;
                self.assign(&packed)
            }
        }
    }

    /// Copies the elements of `host` piece by piece; this array is in C order.
    fn write_packed(&mut self, host: ArrayView<'_, T, D>) -> Result<()> {
        let mut staging = staging::buffer::<T>(self.len());
        let start = self.layout().offset();
        staging::for_each_piece(self.shape(), staging.len(), |first, ranges| {
            let part = host.slice_each_axis(|axis| Slice::from(ranges[axis.axis.index()].clone()));
            let values = staging::pack(&part, &mut staging);
            self.buffer().write_shared((start + first) * size_of::<T>(), values)
        })
    }
}

/// The distinct elements of a broadcast host array: its axes of stride 0 reduced to one index.
fn without_repeats<'a, T, D: Dimension>(host: &ArrayView<'a, T, D>) -> Option<ArrayView<'a, T, D>> {
    let repeats = |axis: usize| host.strides()[axis] == 0 && host.shape()[axis] > 1;
    if !(0..host.ndim()).any(repeats) {
        return None;
    }
    let mut without_repeats = host.clone();
    for axis in (0..host.ndim()).filter(|axis| repeats(*axis)) {
        without_repeats.slice_axis_inplace(Axis(axis), Slice::from(..1));
    }
    Some(without_repeats)
}
