//! Device arrays in the current context.

use cuda_jit::launch::HostMemory;
use cuda_mem::{DeferCleanup, DeviceArray, Element, Like};
use ndarray::{Ix1, ShapeArg};

use crate::{Result, current_context};

/// Copies a host array of any layout, a `Vec`, a slice or an array to the current device.
///
/// # Examples
///
/// ```
/// use ndarray::array;
///
/// let x = cuda_prelude::to_device(&array![[1, 2], [3, 4]])?;
/// assert_eq!(x.shape(), [2, 2]);
/// let y = cuda_prelude::to_device(&vec![1.0, 2.0, 3.0])?;
/// assert_eq!(y.shape(), [3]);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or it has not enough memory.
pub fn to_device<H: HostMemory + ?Sized>(host: &H) -> Result<DeviceArray<H::Elem, H::Dim>> {
    let context = current_context()?;
    Ok(cuda_mem::to_device(&context, &host.elements()?)?)
}

/// Copies a host slice to the current device.
///
/// # Examples
///
/// ```
/// let x = cuda_prelude::from_slice(&[1.0f32, 2.0])?;
/// assert_eq!(x.len(), 2);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or it has not enough memory.
pub fn from_slice<T: Element>(host: &[T]) -> Result<DeviceArray<T, Ix1>> {
    Ok(cuda_mem::from_slice(&current_context()?, host)?)
}

/// Allocates an array on the current device. Its contents are unspecified.
///
/// # Examples
///
/// ```
/// let mut x = cuda_prelude::device_array::<f32, _>((2, 3))?;
/// x.fill(1.0)?;
/// assert_eq!(x.copy_to_host()?.sum(), 6.0);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or it has not enough memory.
pub fn device_array<T: Element, Sh: ShapeArg>(shape: Sh) -> Result<DeviceArray<T, Sh::Dim>> {
    Ok(cuda_mem::device_array(&current_context()?, shape)?)
}

/// Allocates an array of zeros on the current device.
///
/// # Errors
///
/// If there is no device, or it has not enough memory.
pub fn zeros<T: Element, Sh: ShapeArg>(shape: Sh) -> Result<DeviceArray<T, Sh::Dim>> {
    Ok(cuda_mem::zeros(&current_context()?, shape)?)
}

/// Allocates an array with the element type and shape of another array, on its device, or on the current device if the other is
/// a host array. Its contents are unspecified.
///
/// # Examples
///
/// ```
/// use ndarray::Array2;
///
/// let host = Array2::<f32>::zeros((2, 3));
/// assert_eq!(cuda_prelude::device_array_like(&host)?.shape(), [2, 3]);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or it has not enough memory.
pub fn device_array_like<L: Like>(other: &L) -> Result<DeviceArray<L::Element, L::Dim>> {
    let context = other.device_context().cloned().map_or_else(current_context, Ok)?;
    Ok(cuda_mem::device_array(&context, other.shape_and_order())?)
}

/// Allocates an array on the current device, in memory that other processes can open by its
/// [handle](DeviceArray::ipc_handle). Its contents are unspecified. See [`cuda_mem::shareable_array`].
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// let mut x = shareable_array::<f32, _>((2, 3))?;
/// x.fill(1.0)?;
/// let bytes = x.ipc_handle()?.to_bytes(); // for another process, which calls `open_ipc_array` with them
/// assert!(bytes.len() > 64);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or it has not enough memory.
pub fn shareable_array<T: Element, Sh: ShapeArg>(shape: Sh) -> Result<DeviceArray<T, Sh::Dim>> {
    Ok(cuda_mem::shareable_array(&current_context()?, shape)?)
}

/// Keeps every free in the current context pending while the guard lives; see [`cuda_mem::defer_cleanup`].
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// let guard = defer_cleanup()?;
/// for _ in 0..20 {
///     zeros::<f32, _>(100)?; // dropped, and not freed yet
/// }
/// drop(guard);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If there is no device.
pub fn defer_cleanup() -> Result<DeferCleanup> {
    Ok(cuda_mem::defer_cleanup(&current_context()?))
}
