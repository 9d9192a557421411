//! The array itself with another layout: permuted or reversed axes, a slice, another shape. No element moves.

use ndarray::{Axis, Dimension, IxDyn, Order, RemoveAxis, ShapeArg, SliceArg};

use crate::Element;
use crate::array::DeviceArray;
use crate::array::storage::Storage;
use crate::error::{Error, Refused, Result};
use crate::layout::{self, Layout};

/// The array itself with another layout.
impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// The axes in another order: axis `i` is what axis `axes[i]` was.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::zeros::<f32, _>(&context, (2, 3, 4))?;
    /// assert_eq!(x.permuted_axes([2, 0, 1]).dim(), (4, 2, 3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Unless each axis is named once.
    #[track_caller]
    #[must_use]
    pub fn permuted_axes(self, axes: impl ndarray::IntoDimension<Dim = D>) -> Self {
        let layout = self.layout().permuted(&axes.into_dimension());
        self.with_layout(layout)
    }

    /// The axes in reverse order; see [`t`](DeviceArray::t).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &ndarray::array![[1, 2, 3]])?;
    /// assert_eq!(x.reversed_axes().copy_to_host()?, ndarray::array![[1], [2], [3]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn reversed_axes(self) -> Self {
        let layout = self.layout().reversed();
        self.with_layout(layout)
    }

    /// The array restricted to a slice.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1, 2, 3, 4])?;
    /// assert_eq!(x.slice_move(ndarray::s![..;-1]).copy_to_host()?.to_vec(), [4, 3, 2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// As [`slice`](DeviceArray::slice).
    #[track_caller]
    #[must_use]
    pub fn slice_move<I: SliceArg<D>>(self, info: I) -> DeviceArray<T, I::OutDim, S> {
        let layout = self.layout().slice(&info);
        self.with_layout(layout)
    }

    /// The array restricted to one index of an axis.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &ndarray::array![[1, 2], [3, 4]])?;
    /// assert_eq!(x.index_axis_move(ndarray::Axis(0), 1).copy_to_host()?.to_vec(), [3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the index is outside the axis.
    #[track_caller]
    #[must_use]
    pub fn index_axis_move(self, axis: Axis, index: usize) -> DeviceArray<T, D::Smaller, S>
    where
        D: RemoveAxis,
    {
        let layout = self.layout().index_axis(axis, index);
        self.with_layout(layout)
    }

    /// The array with a new axis of extent 1.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::zeros::<f32, _>(&context, 3)?;
    /// assert_eq!(x.insert_axis(ndarray::Axis(0)).dim(), (1, 3));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn insert_axis(self, axis: Axis) -> DeviceArray<T, D::Larger, S> {
        let layout = self.layout().insert_axis(axis);
        self.with_layout(layout)
    }

    /// The same array in another shape; see [`reshape`](DeviceArray::reshape).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1, 2, 3, 4])?;
    /// let refused = x.into_shape((3, 2)).unwrap_err();
    /// let x = refused.array.into_shape((2, 2))?;
    /// assert_eq!(x.copy_to_host()?, ndarray::array![[1, 2], [3, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`reshape`](DeviceArray::reshape); the error returns the array.
    pub fn into_shape<E: ShapeArg>(self, shape: E) -> Result<DeviceArray<T, E::Dim, S>, Refused<Self>> {
        match reshaped(&self, shape) {
            Ok(layout) => Ok(self.with_layout(layout)),
            Err(error) => Err(Refused { array: self, error }),
        }
    }

    /// The same array with a dynamic number of axes.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::zeros::<f32, _>(&context, (2, 3))?.into_dyn();
    /// assert_eq!(x.ndim(), 2);
    /// let x = x.into_dimensionality::<ndarray::Ix2>()?;
    /// assert_eq!(x.dim(), (2, 3));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn into_dyn(self) -> DeviceArray<T, IxDyn, S> {
        let layout = self.layout().clone().into_dyn();
        self.with_layout(layout)
    }

    /// The same array with a static number of axes.
    ///
    /// # Errors
    ///
    /// [`Error::Axes`] if it has another number; the error returns the array.
    pub fn into_dimensionality<E: Dimension>(self) -> Result<DeviceArray<T, E, S>, Refused<Self>> {
        match self.layout().clone().into_dimensionality() {
            Some(layout) => Ok(self.with_layout(layout)),
            None => {
                let error = Error::Axes { shape: self.shape().into(), wanted: E::NDIM.unwrap_or_default() };
                Err(Refused { array: self, error })
            }
        }
    }
}

/// The layout of the same elements in another shape.
pub(super) fn reshaped<T, D, S, E>(array: &DeviceArray<T, D, S>, shape: E) -> Result<Layout<E::Dim>>
where
    T: Element,
    D: Dimension,
    S: Storage,
    E: ShapeArg,
{
    let (dim, order) = shape.into_shape_and_order();
    if layout::checked_len(dim.slice()) != Some(array.len()) {
        return Err(Error::Reshape { from: array.shape().into(), to: dim.slice().into() });
    }
    let reshaped = layout::reshape(array.layout(), dim, order.unwrap_or(Order::RowMajor));
    reshaped.ok_or_else(|| Error::not_contiguous(array, "a reshape without moving elements"))
}
