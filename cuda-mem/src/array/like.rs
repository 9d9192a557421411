//! [`Like`]: arrays that give the shape, order and element type of other arrays.

use cuda_driver::Context;
use ndarray::{ArrayBase, Data, Dimension, Order};

use crate::Element;
use crate::array::DeviceArray;
use crate::array::storage::Storage;
use crate::host::array::{HostArray, HostKind};

/// An array that gives the shape of another one: ndarray's on the host, a device array or a view of one, or an array in
/// device-accessible host memory.
///
/// # Examples
///
/// ```
/// use cuda_mem::{mapped_array_like, pinned_array_like};
/// use ndarray::{Array2, ShapeBuilder};
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::to_device(&context, &Array2::<f32>::zeros((2, 3).f()))?;
/// let staging = pinned_array_like(&context, &x)?;
/// assert_eq!((staging.shape(), staging.strides()), (&[2, 3][..], &[1, 2][..]));
/// assert_eq!(mapped_array_like(&context, &staging)?.strides(), [1, 2]);
/// # Ok(())
/// # }
/// ```
pub trait Like: sealed::Sealed {
    /// The type of its elements.
    type Element: Element;
    /// The type of its shape.
    type Dim: Dimension;

    /// The shape, and the order: Fortran if the array is only Fortran-contiguous, else C.
    #[doc(hidden)]
    fn shape_and_order(&self) -> (Self::Dim, Order);

    /// The context of an array in device memory; `None` for others.
    #[doc(hidden)]
    fn device_context(&self) -> Option<&Context> {
        None
    }
}

mod sealed {
    use super::{ArrayBase, Data, DeviceArray, Dimension, Element, HostArray, HostKind, Storage};

    pub trait Sealed {}
    impl<S: Data<Elem: Element>, D: Dimension> Sealed for ArrayBase<S, D> {}
    impl<T: Element, D: Dimension, S: Storage> Sealed for DeviceArray<T, D, S> {}
    impl<T: Element, D: Dimension, K: HostKind> Sealed for HostArray<T, D, K> {}
}

impl<S: Data<Elem: Element>, D: Dimension> Like for ArrayBase<S, D> {
    type Element = S::Elem;
    type Dim = D;

    fn shape_and_order(&self) -> (D, Order) {
        let fortran = self.t().is_standard_layout() && !self.is_standard_layout();
        (self.raw_dim(), if fortran { Order::ColumnMajor } else { Order::RowMajor })
    }
}

impl<T: Element, D: Dimension, S: Storage> Like for DeviceArray<T, D, S> {
    type Element = T;
    type Dim = D;

    fn shape_and_order(&self) -> (D, Order) {
        (self.raw_dim(), self.layout().order())
    }

    fn device_context(&self) -> Option<&Context> {
        Some(self.context())
    }
}

impl<T: Element, D: Dimension, K: HostKind> Like for HostArray<T, D, K> {
    type Element = T;
    type Dim = D;

    fn shape_and_order(&self) -> (D, Order) {
        self.memory().shape_and_order()
    }
}
