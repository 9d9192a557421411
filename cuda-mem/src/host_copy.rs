//! Blocking copies between device arrays and host arrays of any layout.
//!
//! Host memory in C order is copied as it lies; any other layout takes one packed copy on the host.
//!
//! # Safety
//!
//! One block takes an array as filled after the buffer's copy has filled it.

use std::mem::MaybeUninit;

use ndarray::{Array, ArrayBase, Data, DataMut, Dimension};

use crate::array::DeviceArray;
use crate::element::Element;
use crate::error::{Error, Result};

impl<T: Element, D: Dimension> DeviceArray<T, D> {
    /// A copy of the array on the host, after all work that writes it.
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
    /// [`Error::Driver`] with the driver's status, or for a kernel that panicked.
    pub fn copy_to_host(&self) -> Result<Array<T, D>> {
        let mut host = Array::<T, D>::uninit(self.raw_dim());
        let Some(slice) = host.as_slice_mut() else { unreachable!("a new array is in C order") };
        self.buffer().read(0, slice)?;
        // SAFETY: the slice is all of the array, and the read has filled it.
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
    /// [`Error::Shape`] if the shapes differ; [`Error::Driver`] with the driver's status, or for a kernel that panicked.
    /// On an error `host` may be changed.
    pub fn copy_to_host_into<S: DataMut<Elem = T>>(&self, host: &mut ArrayBase<S, D>) -> Result<()> {
        self.expect_shape(host.shape())?;
        match host.as_slice_mut() {
            Some(slice) => {
                self.buffer().read(0, as_uninit(slice))?;
            }
            None => host.assign(&self.copy_to_host()?),
        }
        Ok(())
    }

    /// Copies `host`, of the same shape and any layout, to the array, after all work that uses it.
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
    pub fn copy_from_host<S: Data<Elem = T>>(&mut self, host: &ArrayBase<S, D>) -> Result<()> {
        self.expect_shape(host.shape())?;
        let packed = host.as_standard_layout();
        // The standard layout is C order without gaps, so it has a slice.
        match packed.as_slice() {
            Some(slice) => self.buffer_mut().write(0, slice),
            None => Ok(()),
        }
    }

    fn expect_shape(&self, host: &[usize]) -> Result<()> {
        if self.shape() == host {
            return Ok(());
        }
        Err(Error::Shape { device: self.shape().into(), host: host.into() })
    }
}

/// A slice that may be overwritten, as one that will be.
fn as_uninit<T: Element>(slice: &mut [T]) -> &mut [MaybeUninit<T>] {
    let (start, len) = (slice.as_mut_ptr().cast::<MaybeUninit<T>>(), slice.len());
    // SAFETY: the same memory, borrowed for as long. It is only handed to a copy of initialised bytes, so it never becomes
    // uninitialised.
    unsafe { std::slice::from_raw_parts_mut(start, len) }
}
