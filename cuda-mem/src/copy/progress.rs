//! Long copies between host and device in pieces, with progress reports.

use std::ops::{ControlFlow, Range};

use ndarray::{ArrayBase, ArrayView, ArrayViewMut, Axis, Data, DataMut, Dimension, Order, Slice};

use crate::Element;
use crate::array::storage::{Storage, StorageMut};
use crate::array::{DeviceArray, DeviceArrayView, DeviceArrayViewMut};
use crate::copy::staging::for_each_piece;
use crate::error::{Error, Result};
use crate::layout::Layout;

/// The size of a piece in bytes: large enough for the full speed of the bus, small enough for many reports a second.
const PIECE: usize = 8 << 20;

/// The progress of a copy.
///
/// # Examples
///
/// ```
/// use std::ops::ControlFlow;
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_mem::Progress;
///
/// let mut share = 0;
/// let x = cuda_mem::zeros::<u8, _>(&context, 20 << 20)?;
/// let mut host = ndarray::Array1::zeros(20 << 20);
/// x.copy_to_host_with(&mut host, |Progress { done, total, .. }| {
///     share = 100 * done / total;
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(share, 100);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes copied so far.
    pub done: usize,
    /// Bytes of all elements.
    pub total: usize,
}

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// As [`copy_from_host`](DeviceArray::copy_from_host), in pieces of some MiB: `progress` is called after each, and
    /// may stop the copy. If it panics, the copy stops.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let host = ndarray::Array1::<u8>::ones(20 << 20);
    /// let mut x = cuda_mem::zeros::<u8, _>(&context, 20 << 20)?;
    /// x.copy_from_host_with(&host, |progress| {
    ///     println!("{} of {} bytes", progress.done, progress.total);
    ///     ControlFlow::Continue(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`copy_from_host`](DeviceArray::copy_from_host); [`Error::Interrupted`] if `progress` stopped the copy before
    /// the end: the array keeps the copied elements.
    pub fn copy_from_host_with<H: Data<Elem = T>>(
        &mut self,
        host: &ArrayBase<H, D>,
        progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        self.expect_shape(host.shape())?;
        if self.layout().order() == Order::ColumnMajor {
            return write(self.view_mut().reversed_axes(), host.t(), progress);
        }
        write(self.view_mut(), host.view(), progress)
    }
}

impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// As [`copy_to_host_into`](DeviceArray::copy_to_host_into), in pieces of some MiB: `progress` is called after
    /// each, and may stop the copy. If it panics, the copy stops.
    ///
    /// # Errors
    ///
    /// As [`copy_to_host_into`](DeviceArray::copy_to_host_into); [`Error::Interrupted`] if `progress` stopped the copy
    /// before the end: `host` keeps the copied elements.
    pub fn copy_to_host_with<H: DataMut<Elem = T>>(
        &self,
        host: &mut ArrayBase<H, D>,
        progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        self.expect_shape(host.shape())?;
        if self.layout().order() == Order::ColumnMajor {
            return read(&self.t(), host.view_mut().reversed_axes(), progress);
        }
        read(&self.view(), host.view_mut(), progress)
    }
}

fn write<T: Element, D: Dimension>(
    mut device: DeviceArrayViewMut<'_, T, D>,
    host: ArrayView<'_, T, D>,
    progress: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<()> {
    let layout = device.layout().clone();
    in_pieces::<T, D>(&layout, progress, |ranges| {
        let part = host.slice_each_axis(|axis| Slice::from(ranges[axis.axis.index()].clone()));
        device.borrowed_mut::<T, D>(part_of(&layout, ranges)).copy_from_host(&part)
    })
}

fn read<T: Element, D: Dimension>(
    device: &DeviceArrayView<'_, T, D>,
    mut host: ArrayViewMut<'_, T, D>,
    progress: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<()> {
    let layout = device.layout();
    in_pieces::<T, D>(layout, progress, |ranges| {
        let mut part = host.slice_each_axis_mut(|axis| Slice::from(ranges[axis.axis.index()].clone()));
        device.borrowed::<T, D>(part_of(layout, ranges)).copy_to_host_into(&mut part)
    })
}

/// Calls `copy` for each piece of an array, and `progress` after it.
fn in_pieces<T: Element, D: Dimension>(
    layout: &Layout<D>,
    mut progress: impl FnMut(Progress) -> ControlFlow<()>,
    mut copy: impl FnMut(&[Range<usize>]) -> Result<()>,
) -> Result<()> {
    let (mut done, total) = (0, layout.len() * size_of::<T>());
    if total == 0 {
        return Ok(());
    }
    for_each_piece(layout.shape(), (PIECE / size_of::<T>()).max(1), |_, ranges| {
        copy(ranges)?;
        done += ranges.iter().map(ExactSizeIterator::len).product::<usize>() * size_of::<T>();
        match progress(Progress { done, total }) {
            ControlFlow::Break(()) if done < total => Err(Error::Interrupted { done, total }),
            _ => Ok(()),
        }
    })
}

fn part_of<D: Dimension>(layout: &Layout<D>, ranges: &[Range<usize>]) -> Layout<D> {
    let parts = ranges.iter().enumerate();
    parts.fold(layout.clone(), |part, (axis, range)| part.slice_axis(Axis(axis), Slice::from(range.clone())))
}
