//! Views of device arrays: slices, permutations of axes, reshapes, other element types. No element moves.
//!
//! The methods have ndarray's names and behaviour, panics included. Operations that depend on the strides and would
//! have to move elements return an error instead.

use ndarray::{Axis, Dimension, Ix1, IxDyn, RemoveAxis, ShapeArg, Slice, SliceArg};

use crate::Element;
use crate::array::relayout::reshaped;
use crate::array::storage::{Storage, StorageMut};
use crate::array::{DeviceArray, DeviceArrayView, DeviceArrayViewMut};
use crate::error::{Error, Result};
use crate::layout::{self, Layout};

/// Shared views of an array with any storage.
impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// A view of the whole array.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1, 2, 3])?;
    /// let whole = x.view();
    /// assert_eq!(whole.clone().copy_to_host()?, whole.copy_to_host()?);
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// use ndarray::{Axis, Slice, array};
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &array![[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(x.slice_axis(Axis(1), Slice::from(1..)).copy_to_host()?, array![[2, 3], [5, 6]]);
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// use ndarray::{Axis, array};
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &array![[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(x.index_axis(Axis(1), 2).copy_to_host()?, array![3, 6]);
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::to_device(&context, &ndarray::array![[1, 2], [3, 4]])?;
    /// assert_eq!(x.ravel()?.copy_to_host()?.to_vec(), [1, 2, 3, 4]);
    /// assert!(x.t().ravel().is_err()); // elements would have to move
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotContiguous`] as for [`reshape`](DeviceArray::reshape).
    pub fn ravel(&self) -> Result<DeviceArrayView<'_, T, Ix1>> {
        self.reshape(self.len())
    }

    /// The array without its axes of extent 1.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::zeros::<f32, _>(&context, (1, 3, 1))?;
    /// assert_eq!(x.squeeze().shape(), [3]);
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1, 2, 3, 4, 5])?;
    /// let chunks: Vec<_> = x.axis_chunks(ndarray::Axis(0), 2).map(|chunk| chunk.len()).collect();
    /// assert_eq!(chunks, [2, 2, 1]);
    /// # Ok(())
    /// # }
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<i32, _>(&context, 3)?;
    /// x.view_mut().fill(1)?;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [1, 1, 1]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn view_mut(&mut self) -> DeviceArrayViewMut<'_, T, D> {
        let layout = self.layout().clone();
        self.borrowed_mut(layout)
    }

    /// A mutable slice of the array; see [`slice`](DeviceArray::slice).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<i32, _>(&context, (2, 3))?;
    /// x.slice_mut(ndarray::s![.., 1..]).fill(1)?;
    /// assert_eq!(x.copy_to_host()?, ndarray::array![[0, 1, 1], [0, 1, 1]]);
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// use ndarray::{Axis, Slice, array};
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<i32, _>(&context, (2, 3))?;
    /// x.slice_axis_mut(Axis(1), Slice::from(..1)).fill(1)?;
    /// assert_eq!(x.copy_to_host()?, array![[1, 0, 0], [1, 0, 0]]);
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// use ndarray::{Axis, array};
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<i32, _>(&context, (2, 2))?;
    /// x.index_axis_mut(Axis(0), 1).fill(1)?;
    /// assert_eq!(x.copy_to_host()?, array![[0, 0], [1, 1]]);
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<i32, _>(&context, 4)?;
    /// x.reshape_mut((2, 2))?.column_mut(1).fill(1)?;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [0, 1, 0, 1]);
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<f32, _>(&context, 2)?;
    /// x.view_as_mut::<u32>()?.fill(0x3f80_0000)?;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [1.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<i32, _>(&context, 4)?;
    /// for (number, mut half) in (1..).zip(x.split_mut(ndarray::Axis(0), 2)?) {
    ///     half.fill(number)?;
    /// }
    /// assert_eq!(x.copy_to_host()?.to_vec(), [1, 1, 2, 2]);
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<i32, _>(&context, 5)?;
    /// for (number, mut chunk) in (1..).zip(x.axis_chunks_mut(ndarray::Axis(0), 2)) {
    ///     chunk.fill(number)?;
    /// }
    /// assert_eq!(x.copy_to_host()?.to_vec(), [1, 1, 2, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
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

impl<T: Element, D: Dimension> DeviceArrayView<'_, T, D> {
    /// Splits the view at `index` of an axis.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1, 2, 3])?;
    /// let (first, rest) = x.view().split_at(ndarray::Axis(0), 1);
    /// assert_eq!((first.len(), rest.len()), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
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
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::from_slice(&context, &[1, 2, 3])?;
    /// let (mut first, rest) = x.view_mut().split_at(ndarray::Axis(0), 1);
    /// first.assign(&rest.slice(ndarray::s![1..]))?;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [3, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
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
