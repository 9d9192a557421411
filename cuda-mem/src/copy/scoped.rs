//! Copies of host memory that is borrowed for as long as a stream's scope runs.
//!
//! The scope waits for its stream before the borrow ends, so that the host may do other work meanwhile. Pageable memory
//! is allowed: the call then may return only after the driver has staged the elements.
//!
//! # Safety
//!
//! The blocks copy between an array whose access was prepared on the stream and host memory that is borrowed beyond the
//! copy.

use cuda_driver::StreamScope;
use ndarray::{ArrayBase, Data, DataMut, Dimension};

use crate::Element;
use crate::array::DeviceArray;
use crate::array::storage::{Storage, StorageMut};
use crate::copy::pitched::{Endpoint, Pitched};
use crate::error::Result;
use crate::layout::CopyPlan;

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// Copies `host`, of the same shape and any layout, to the array in the order of the scope's stream. `host` stays borrowed
    /// until the scope ends, which waits for the copy.
    ///
    /// The driver may stage the elements of pageable memory, and return only then; page-locked memory is copied by the
    /// device asynchronously. A layout that the driver's copies do not support is packed before the call returns, as in
    /// [`copy_from_host`](DeviceArray::copy_from_host).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Stream;
    /// use ndarray::{Array1, array};
    ///
    /// let (stream, input, mut output) = (Stream::new(&context)?, array![1, 2, 3], Array1::zeros(3));
    /// let mut x = cuda_mem::device_array::<i32, _>(&stream, 3)?;
    /// stream.scope(|s| {
    ///     x.copy_from_host_in(&input, s)?;
    ///     Ok(x.copy_to_host_in(&mut output, s)?)
    /// })?;
    /// assert_eq!(output, input);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The memory cannot be used before:
    ///
    /// ```compile_fail,E0502
    /// # use cuda_driver::Stream;
    /// # fn refused(x: &mut cuda_mem::DeviceArray<i32, ndarray::Ix1>, stream: &Stream) -> cuda_driver::Result<()> {
    /// let mut output = ndarray::Array1::zeros(3);
    /// stream.scope(|s| {
    ///     x.copy_to_host_in(&mut output, s)?;
    ///     println!("{output}"); // the copy may still run
    ///     Ok(())
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Shape`](crate::Error::Shape) if the shapes differ;
    /// [`Error::OtherContext`](crate::Error::OtherContext) for a stream of another device;
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn copy_from_host_in<'scope, H: Data<Elem = T>>(
        &mut self,
        host: &'scope ArrayBase<H, D>,
        scope: &'scope StreamScope<'scope, '_>,
    ) -> Result<()> {
        self.expect_shape(host.shape())?;
        self.buffer().expect_context(scope)?;
        if self.is_empty() || size_of::<T>() == 0 {
            return Ok(());
        }
        let plan = CopyPlan::new(self.shape(), &|axis| self.layout().stride(axis), &|axis| host.strides()[axis]);
        let Some(rows) = Pitched::new(&plan, size_of::<T>()) else { return self.copy_from_host(host) };
        self.prepare_write(scope)?;
        let (to, from) = (Endpoint::Device(self.device_ptr()), Endpoint::Host(host.as_ptr().cast_mut().cast()));
        // SAFETY: the plan comes from the two arrays' strides. The write is prepared on the stream, and `host` is
        // borrowed until the scope has waited for it.
        unsafe { rows.copy(self.context(), to, from, Some(scope)) }
    }
}

impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// Copies the array to `host`, of the same shape and any layout, in the order of the scope's stream. `host` stays borrowed
    /// until the scope ends, which waits for the copy; see [`copy_from_host_in`](DeviceArray::copy_from_host_in).
    ///
    /// # Errors
    ///
    /// As [`copy_from_host_in`](DeviceArray::copy_from_host_in). On an error, also one of the scope, `host` may be
    /// partly written.
    pub fn copy_to_host_in<'scope, H: DataMut<Elem = T>>(
        &self,
        host: &'scope mut ArrayBase<H, D>,
        scope: &'scope StreamScope<'scope, '_>,
    ) -> Result<()> {
        self.expect_shape(host.shape())?;
        self.buffer().expect_context(scope)?;
        if self.is_empty() || size_of::<T>() == 0 {
            return Ok(());
        }
        let plan = CopyPlan::new(self.shape(), &|axis| host.strides()[axis], &|axis| self.layout().stride(axis));
        let Some(rows) = Pitched::new(&plan, size_of::<T>()) else { return self.copy_to_host_into(host) };
        self.prepare_read(scope)?;
        let (to, from) = (Endpoint::Host(host.as_mut_ptr().cast()), Endpoint::Device(self.device_ptr()));
        // SAFETY: the plan comes from the two arrays' strides. The read is prepared on the stream, and `host` is
        // borrowed exclusively until the scope has waited for it.
        unsafe { rows.copy(self.context(), to, from, Some(scope)) }
    }
}
