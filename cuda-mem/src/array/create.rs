//! Constructors of device arrays: uninitialised, zeroed, or copied from the host.

use ndarray::{ArrayBase, Data, Dimension, Ix1, Order, ShapeArg};

use crate::Element;
use crate::array::DeviceArray;
use crate::array::like::Like as _;
use crate::array::storage::Storage;
use crate::array::target::AllocTarget;
use crate::buffer::Buffer;
use crate::error::Result;
use crate::layout::{self, Layout};

/// An array of `shape` in an [allocation target](AllocTarget), such as a context, with unspecified contents: in C
/// order, unless the shape names another, as in `((2, 3), Order::F)`.
///
/// Reading it before it was written is safe, because every bit pattern is a value of the element type; the value is
/// unspecified. The software device can report such reads.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let a = cuda_mem::device_array::<f64, _>(&context, (2, 3))?;
/// assert_eq!(a.shape(), [2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::TooLarge`](crate::Error::TooLarge) if the array would exceed the address space;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the device has no room.
pub fn device_array<T: Element, Sh: ShapeArg>(target: impl AllocTarget, shape: Sh) -> Result<DeviceArray<T, Sh::Dim>> {
    let (dim, order) = shape.into_shape_and_order();
    new_array(&target, dim, order.unwrap_or(Order::RowMajor))
}

/// A new contiguous array.
pub(crate) fn new_array<T: Element, D: Dimension>(
    target: impl AllocTarget,
    dim: D,
    order: Order,
) -> Result<DeviceArray<T, D>> {
    let bytes = layout::byte_size(dim.slice(), size_of::<T>())?;
    let layout = match order {
        Order::ColumnMajor => Layout::f_order(dim),
        _ => Layout::c_order(dim),
    };
    Ok(DeviceArray::from_parts(Buffer::allocate(target.source(), &target.stream(), bytes)?, layout))
}

/// An array of the shape, element type and context of `other`, with unspecified contents: in Fortran order if `other`
/// is, else in C order.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::from_slice(&context, &[1_u8, 2, 3])?;
/// assert_eq!(cuda_mem::device_array_like(&x)?.shape(), [3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the device has no room.
pub fn device_array_like<T: Element, D: Dimension, S: Storage>(
    other: &DeviceArray<T, D, S>,
) -> Result<DeviceArray<T, D>> {
    new_array(other.context(), other.raw_dim(), other.layout().order())
}

/// An array of `shape` in which every byte is 0.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let a = cuda_mem::zeros::<i32, _>(&context, 3)?;
/// assert_eq!(a.copy_to_host()?.to_vec(), [0, 0, 0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`device_array`].
pub fn zeros<T: Element, Sh: ShapeArg>(target: impl AllocTarget, shape: Sh) -> Result<DeviceArray<T, Sh::Dim>> {
    let mut array = device_array(&target, shape)?;
    array.buffer_mut().fill(0, &target.stream())?;
    Ok(array)
}

/// A copy of a host array of any layout in an [allocation target](AllocTarget), such as a context.
///
/// It is in Fortran order if the host array is, else in C order. A contiguous array is copied in one call, and rows of
/// contiguous elements without packing; other layouts are packed in small pieces. An element that a broadcast array
/// repeats is sent once.
///
/// # Examples
///
/// ```
/// use ndarray::{Array2, s};
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let host = Array2::from_shape_fn((4, 6), |(i, j)| (10 * i + j) as i32);
/// let every_second = cuda_mem::to_device(&context, &host.slice(s![.., ..;2]))?;
/// assert_eq!(every_second.copy_to_host()?, host.slice(s![.., ..;2]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the device has no room;
/// [`Error::TooLarge`](crate::Error::TooLarge) if a broadcast array, written out, would exceed the address space.
pub fn to_device<S, D>(target: impl AllocTarget, host: &ArrayBase<S, D>) -> Result<DeviceArray<S::Elem, D>>
where
    S: Data,
    S::Elem: Element,
    D: Dimension,
{
    let (dim, order) = host.shape_and_order();
    let mut array = new_array(&target, dim, order)?;
    array.copy_from_host(host)?;
    Ok(array)
}

/// A one-dimensional copy of a slice in an [allocation target](AllocTarget), such as a context.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::from_slice(&context, &[1.0_f32, 2.0])?;
/// assert_eq!(x.copy_to_host()?.to_vec(), [1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the device has no room.
pub fn from_slice<T: Element>(target: impl AllocTarget, host: &[T]) -> Result<DeviceArray<T, Ix1>> {
    let mut array = device_array(target, host.len())?;
    array.buffer_mut().write(0, host)?;
    Ok(array)
}
