//! Rows and columns of matrices.

use ndarray::{Axis, Ix1, Ix2};

use crate::Element;
use crate::array::storage::{Storage, StorageMut};
use crate::array::{DeviceArray, DeviceArrayView, DeviceArrayViewMut};

impl<T: Element, S: Storage> DeviceArray<T, Ix2, S> {
    /// The number of rows of a matrix.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::to_device(&context, &ndarray::array![[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!((x.nrows(), x.ncols()), (2, 3));
    /// assert_eq!(x.row(1).copy_to_host()?.to_vec(), [4, 5, 6]);
    /// assert_eq!(x.column(1).copy_to_host()?.to_vec(), [2, 5]);
    /// x.row_mut(0).fill(0)?;
    /// x.column_mut(2).fill(9)?;
    /// assert_eq!(x.copy_to_host()?, ndarray::array![[0, 0, 9], [4, 5, 9]]);
    /// # Ok(())
    /// # }
    /// ```
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
