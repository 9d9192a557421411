//! Views of device arrays: slices, permutations of axes, reshapes, other element types. No element moves.
//!
//! The methods have ndarray's names and behaviour, panics included. Operations that depend on the strides and would
//! have to move elements return an error instead.

use ndarray::{Axis, Dimension, Ix1, Ix2, IxDyn, Order, RemoveAxis, ShapeArg, Slice, SliceArg};

use crate::Element;
use crate::array::storage::{Storage, StorageMut};
use crate::array::{DeviceArray, DeviceArrayView, DeviceArrayViewMut};
use crate::error::{Error, Refused, Result};
use crate::layout::{self, Layout};

/// Shared views of an array with any storage.
impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// A view of the whole array.
    #[must_use]
    pub fn view(&self) -> DeviceArrayView<'_, T, D> {
        self.borrowed(self.layout().clone())
    }

    /// A slice of the array; see [`ndarray::s!`].
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::{array, s};
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &array![[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(x.slice(s![.., ..;-2]).copy_to_host()?, array![[3, 1], [6, 4]]);
    /// assert_eq!(x.slice(s![1, 1..]).copy_to_host()?, array![5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// For a bound outside its axis, a step of 0, or another number of axes.
    #[track_caller]
    #[must_use]
    pub fn slice<I: SliceArg<D>>(&self, info: I) -> DeviceArrayView<'_, T, I::OutDim> {
        self.borrowed(self.layout().slice(&info))
    }

    /// A view with one axis sliced.
    ///
    /// # Panics
    ///
    /// As [`slice`](DeviceArray::slice).
    #[track_caller]
    #[must_use]
    pub fn slice_axis(&self, axis: Axis, part: Slice) -> DeviceArrayView<'_, T, D> {
        self.borrowed(self.layout().slice_axis(axis, part))
    }

    /// The subview at one index of an axis.
    ///
    /// # Panics
    ///
    /// If the index is outside the axis.
    #[track_caller]
    #[must_use]
    pub fn index_axis(&self, axis: Axis, index: usize) -> DeviceArrayView<'_, T, D::Smaller>
    where
        D: RemoveAxis,
    {
        self.borrowed(self.layout().index_axis(axis, index))
    }

    /// The array with its axes in reverse order: a matrix transposed.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &ndarray::array![[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(x.t().copy_to_host()?, ndarray::array![[1, 4], [2, 5], [3, 6]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn t(&self) -> DeviceArrayView<'_, T, D> {
        self.borrowed(self.layout().reversed())
    }

    /// The array broadcast to `shape`, repeated along axes of extent 1 and along new leading axes; `None` if the shapes
    /// do not fit, or if the product of the extents of `shape` other than 0 exceeds `isize::MAX`, as in ndarray.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1, 2])?;
    /// let rows = x.broadcast((3, 2)).expect("two elements broadcast to rows of two");
    /// assert_eq!(rows.copy_to_host()?, ndarray::array![[1, 2], [1, 2], [1, 2]]);
    /// assert!(x.broadcast((usize::MAX, 2)).is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn broadcast<E: ndarray::IntoDimension>(&self, shape: E) -> Option<DeviceArrayView<'_, T, E::Dim>> {
        Some(self.borrowed(self.layout().broadcast(shape.into_dimension())?))
    }

    /// The same elements in another shape, in C order unless `shape` names another.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x.reshape((2, 3))?.copy_to_host()?, ndarray::array![[1, 2, 3], [4, 5, 6]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Reshape`] if the number of elements differs; [`Error::NotContiguous`] if elements would have to move, as in
    /// a transposed matrix: then make a [contiguous copy](DeviceArray::to_c_order) first.
    pub fn reshape<E: ShapeArg>(&self, shape: E) -> Result<DeviceArrayView<'_, T, E::Dim>> {
        Ok(self.borrowed(reshaped(self, shape)?))
    }

    /// The elements as one axis, in C order.
    ///
    /// # Errors
    ///
    /// [`Error::NotContiguous`] as for [`reshape`](DeviceArray::reshape).
    pub fn ravel(&self) -> Result<DeviceArrayView<'_, T, Ix1>> {
        self.reshape(self.len())
    }

    /// The array without its axes of extent 1.
    #[must_use]
    pub fn squeeze(&self) -> DeviceArrayView<'_, T, IxDyn> {
        self.borrowed(self.layout().squeezed())
    }

    /// The same bytes as elements of another type, which are split or joined along the last axis.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1.0_f32, -0.0])?;
    /// assert_eq!(x.view_as::<u32>()?.copy_to_host()?.to_vec(), [0x3f80_0000, 0x8000_0000]);
    /// assert_eq!(x.view_as::<[f32; 2]>()?.shape(), [1]);
    /// assert!(x.view_as::<[f32; 3]>().is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Cast`] if the last axis has gaps, does not hold a whole number of the new elements, or is not aligned
    /// for them, or if a broadcast array would have more than `isize::MAX` new elements.
    pub fn view_as<U: Element>(&self) -> Result<DeviceArrayView<'_, U, D>> {
        Ok(self.borrowed(cast::<T, U, D, S>(self)?))
    }

    /// Splits an axis into `sections` equal parts, in order.
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::Axis;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1, 2, 3, 4, 5, 6])?;
    /// let parts: Vec<_> = x.split(Axis(0), 3)?.collect();
    /// assert_eq!(parts[2].copy_to_host()?.to_vec(), [5, 6]);
    /// assert!(x.split(Axis(0), 4).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Split`] if the extent is not a multiple of `sections`.
    pub fn split(
        &self,
        axis: Axis,
        sections: usize,
    ) -> Result<impl ExactSizeIterator<Item = DeviceArrayView<'_, T, D>>> {
        let size = section(self, axis, sections)?;
        Ok((0..sections).map(move |index| self.borrowed(part_of(self.layout(), axis, index * size, size))))
    }

    /// Chunks of an axis with `size` indices each; the last may have fewer.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    pub fn axis_chunks(&self, axis: Axis, size: usize) -> impl ExactSizeIterator<Item = DeviceArrayView<'_, T, D>> {
        let extent = self.len_of(axis);
        let part = move |index: usize| part_of(self.layout(), axis, index * size, size.min(extent - index * size));
        (0..extent.div_ceil(size)).map(move |index| self.borrowed(part(index)))
    }
}

/// Mutable views.
impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// A view of the whole array.
    #[must_use]
    pub fn view_mut(&mut self) -> DeviceArrayViewMut<'_, T, D> {
        let layout = self.layout().clone();
        self.borrowed_mut(layout)
    }

    /// A mutable slice of the array; see [`slice`](DeviceArray::slice).
    ///
    /// # Panics
    ///
    /// As [`slice`](DeviceArray::slice).
    #[track_caller]
    #[must_use]
    pub fn slice_mut<I: SliceArg<D>>(&mut self, info: I) -> DeviceArrayViewMut<'_, T, I::OutDim> {
        let layout = self.layout().slice(&info);
        self.borrowed_mut(layout)
    }

    /// A view with one axis sliced.
    ///
    /// # Panics
    ///
    /// As [`slice`](DeviceArray::slice).
    #[track_caller]
    #[must_use]
    pub fn slice_axis_mut(&mut self, axis: Axis, part: Slice) -> DeviceArrayViewMut<'_, T, D> {
        let layout = self.layout().slice_axis(axis, part);
        self.borrowed_mut(layout)
    }

    /// The subview at one index of an axis.
    ///
    /// # Panics
    ///
    /// If the index is outside the axis.
    #[track_caller]
    #[must_use]
    pub fn index_axis_mut(&mut self, axis: Axis, index: usize) -> DeviceArrayViewMut<'_, T, D::Smaller>
    where
        D: RemoveAxis,
    {
        let layout = self.layout().index_axis(axis, index);
        self.borrowed_mut(layout)
    }

    /// The same elements in another shape; see [`reshape`](DeviceArray::reshape).
    ///
    /// # Errors
    ///
    /// As [`reshape`](DeviceArray::reshape).
    pub fn reshape_mut<E: ShapeArg>(&mut self, shape: E) -> Result<DeviceArrayViewMut<'_, T, E::Dim>> {
        let layout = reshaped(self, shape)?;
        Ok(self.borrowed_mut(layout))
    }

    /// The same bytes as elements of another type; see [`view_as`](DeviceArray::view_as).
    ///
    /// # Errors
    ///
    /// As [`view_as`](DeviceArray::view_as).
    pub fn view_as_mut<U: Element>(&mut self) -> Result<DeviceArrayViewMut<'_, U, D>> {
        let layout = cast::<T, U, D, S>(self)?;
        Ok(self.borrowed_mut(layout))
    }

    /// Splits an axis into `sections` equal parts, in order; see [`split`](DeviceArray::split).
    ///
    /// # Errors
    ///
    /// As [`split`](DeviceArray::split).
    pub fn split_mut(
        &mut self,
        axis: Axis,
        sections: usize,
    ) -> Result<impl ExactSizeIterator<Item = DeviceArrayViewMut<'_, T, D>>> {
        let size = section(self, axis, sections)?;
        Ok(self.chunks(axis, sections, size))
    }

    /// Chunks of an axis with `size` indices each; the last may have fewer.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    pub fn axis_chunks_mut(
        &mut self,
        axis: Axis,
        size: usize,
    ) -> impl ExactSizeIterator<Item = DeviceArrayViewMut<'_, T, D>> {
        let count = self.len_of(axis).div_ceil(size);
        self.chunks(axis, count, size)
    }

    /// `count` chunks of an axis, each of `size` indices as long as there are enough.
    fn chunks(
        &mut self,
        axis: Axis,
        count: usize,
        size: usize,
    ) -> impl ExactSizeIterator<Item = DeviceArrayViewMut<'_, T, D>> {
        let mut rest = Some(self.view_mut());
        (0..count).map(move |_| {
            let all = rest.take().expect("each part leaves the rest");
            let end = size.min(all.len_of(axis));
            let (part, others) = all.split_at(axis, end);
            rest = Some(others);
            part
        })
    }
}

/// The array itself with another layout.
impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// The axes in another order: axis `i` is what axis `axes[i]` was.
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
    #[must_use]
    pub fn reversed_axes(self) -> Self {
        let layout = self.layout().reversed();
        self.with_layout(layout)
    }

    /// The array restricted to a slice.
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
    #[must_use]
    pub fn insert_axis(self, axis: Axis) -> DeviceArray<T, D::Larger, S> {
        let layout = self.layout().insert_axis(axis);
        self.with_layout(layout)
    }

    /// The same array in another shape; see [`reshape`](DeviceArray::reshape).
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

impl<T: Element, S: Storage> DeviceArray<T, Ix2, S> {
    /// The number of rows of a matrix.
    #[must_use]
    pub fn nrows(&self) -> usize {
        self.len_of(Axis(0))
    }

    /// The number of columns of a matrix.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.len_of(Axis(1))
    }

    /// A row of a matrix.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[track_caller]
    #[must_use]
    pub fn row(&self, index: usize) -> DeviceArrayView<'_, T, Ix1> {
        self.index_axis(Axis(0), index)
    }

    /// A column of a matrix.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[track_caller]
    #[must_use]
    pub fn column(&self, index: usize) -> DeviceArrayView<'_, T, Ix1> {
        self.index_axis(Axis(1), index)
    }
}

impl<T: Element, S: StorageMut> DeviceArray<T, Ix2, S> {
    /// A mutable row of a matrix.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[track_caller]
    #[must_use]
    pub fn row_mut(&mut self, index: usize) -> DeviceArrayViewMut<'_, T, Ix1> {
        self.index_axis_mut(Axis(0), index)
    }

    /// A mutable column of a matrix.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[track_caller]
    #[must_use]
    pub fn column_mut(&mut self, index: usize) -> DeviceArrayViewMut<'_, T, Ix1> {
        self.index_axis_mut(Axis(1), index)
    }
}

impl<T: Element, D: Dimension> DeviceArrayView<'_, T, D> {
    /// Splits the view at `index` of an axis.
    ///
    /// # Panics
    ///
    /// If `index` is beyond the axis.
    #[track_caller]
    #[must_use]
    pub fn split_at(self, axis: Axis, index: usize) -> (Self, Self) {
        let (left, right) = self.layout().split_at(axis, index);
        (self.reborrowed(left), self.reborrowed(right))
    }
}

impl<T: Element, D: Dimension> DeviceArrayViewMut<'_, T, D> {
    /// Splits the view at `index` of an axis.
    ///
    /// # Panics
    ///
    /// If `index` is beyond the axis.
    #[track_caller]
    #[must_use]
    pub fn split_at(self, axis: Axis, index: usize) -> (Self, Self) {
        let parts = self.layout().split_at(axis, index);
        self.split_parts(parts)
    }
}

fn reshaped<T, D, S, E>(array: &DeviceArray<T, D, S>, shape: E) -> Result<Layout<E::Dim>>
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

fn cast<T: Element, U: Element, D: Dimension, S: Storage>(array: &DeviceArray<T, D, S>) -> Result<Layout<D>> {
    let aligned = array.device_ptr().is_multiple_of(align_of::<U>() as u64);
    let layout = layout::cast(array.layout(), size_of::<T>(), size_of::<U>()).filter(|_| aligned);
    layout.ok_or_else(|| Error::Cast {
        shape: array.shape().into(),
        strides: array.strides().into(),
        address: array.device_ptr(),
        from: (std::any::type_name::<T>(), size_of::<T>()),
        to: (std::any::type_name::<U>(), size_of::<U>(), align_of::<U>()),
    })
}

/// The extent of one of `sections` equal parts.
fn section<T: Element, D: Dimension, S: Storage>(
    array: &DeviceArray<T, D, S>,
    axis: Axis,
    sections: usize,
) -> Result<usize> {
    let extent = array.len_of(axis);
    if sections == 0 || !extent.is_multiple_of(sections) {
        return Err(Error::Split { axis: axis.index(), extent, sections });
    }
    Ok(extent / sections)
}

/// The `extent` indices of an axis from `start` on.
fn part_of<D: Dimension>(layout: &Layout<D>, axis: Axis, start: usize, extent: usize) -> Layout<D> {
    layout.slice_axis(axis, Slice::from(start..start + extent))
}
