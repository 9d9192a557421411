//! The functions that make device arrays: uninitialised, zeroed, or copied from the host.

use cuda_driver::Context;
use ndarray::{ArrayBase, Data, Dimension, IntoDimension, Ix1};

use crate::array::DeviceArray;
use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::Result;
use crate::layout;

/// An array of `shape` in the context's memory, with unspecified contents.
///
/// Reading it before it was written is safe, because every bit pattern is a value of the element type; which value, is
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
pub fn device_array<T: Element, Sh: IntoDimension>(context: &Context, shape: Sh) -> Result<DeviceArray<T, Sh::Dim>> {
    let dim = shape.into_dimension();
    let bytes = layout::byte_size(dim.slice(), size_of::<T>())?;
    Ok(DeviceArray::from_parts(Buffer::new(&context.default_stream(), bytes)?, dim))
}

/// An array of the shape, element type and context of `other`, with unspecified contents; see [`device_array`].
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
pub fn device_array_like<T: Element, D: Dimension>(other: &DeviceArray<T, D>) -> Result<DeviceArray<T, D>> {
    device_array(other.context(), other.raw_dim())
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
pub fn zeros<T: Element, Sh: IntoDimension>(context: &Context, shape: Sh) -> Result<DeviceArray<T, Sh::Dim>> {
    let mut array = device_array(context, shape)?;
    array.buffer_mut().fill(0, &context.default_stream())?;
    Ok(array)
}

/// A copy of a host array of any layout in the context's memory.
///
/// An array in C order is copied as it lies; any other layout is packed on the host first.
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
pub fn to_device<S, D>(context: &Context, host: &ArrayBase<S, D>) -> Result<DeviceArray<S::Elem, D>>
where
    S: Data,
    S::Elem: Element,
    D: Dimension,
{
    let mut array = device_array(context, host.raw_dim())?;
    array.copy_from_host(host)?;
    Ok(array)
}

/// A one-dimensional copy of a slice in the context's memory.
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
pub fn from_slice<T: Element>(context: &Context, host: &[T]) -> Result<DeviceArray<T, Ix1>> {
    let mut array = device_array(context, host.len())?;
    array.buffer_mut().write(0, host)?;
    Ok(array)
}
