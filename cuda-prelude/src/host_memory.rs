//! Host memory that the current device can access.

use cuda_mem::{Element, Like, ManagedArray, MappedArray, MappedView, PinnedArray, PinnedView};
use ndarray::{ArrayBase, DataMut, Dimension, ShapeArg};

use crate::{Result, current_context};

/// Allocates an array in page-locked host memory, for asynchronous copies. Its contents are unspecified.
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// let mut staging = pinned_array::<f32, _>(4)?;
/// staging.view_mut()?.fill(0.5);
/// let mut x = zeros::<f32, _>(4)?;
/// let transfer = x.copy_from_pinned(staging, &default_stream()?)?;    // returns at once
/// let staging = transfer.wait()?;
/// assert_eq!(staging.view()?.sum(), 2.0);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or not enough memory.
pub fn pinned_array<T: Element, Sh: ShapeArg>(shape: Sh) -> Result<PinnedArray<T, Sh::Dim>> {
    Ok(cuda_mem::pinned_array(&current_context()?, shape)?)
}

/// Allocates a [`pinned_array`] with the shape, order and element type of a host or device array.
///
/// # Examples
///
/// ```
/// let x = ndarray::Array2::<f32>::zeros((2, 3));
/// assert_eq!(cuda_prelude::pinned_array_like(&x)?.dim(), (2, 3));
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or not enough memory.
pub fn pinned_array_like<L: Like>(other: &L) -> Result<PinnedArray<L::Element, L::Dim>> {
    Ok(cuda_mem::pinned_array_like(&current_context()?, other)?)
}

/// Allocates an array in page-locked host memory that kernels access in place. Its contents are unspecified.
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// let mut x = mapped_array::<f32, _>((2, 3))?;
/// x.device_mut().fill(1.0)?;
/// assert_eq!(x.view()?.sum(), 6.0);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or not enough memory.
pub fn mapped_array<T: Element, Sh: ShapeArg>(shape: Sh) -> Result<MappedArray<T, Sh::Dim>> {
    Ok(cuda_mem::mapped_array(&current_context()?, shape)?)
}

/// Allocates a [`mapped_array`] with the shape, order and element type of a host or device array.
///
/// # Examples
///
/// ```
/// let x = ndarray::Array2::<f32>::zeros((2, 3));
/// assert_eq!(cuda_prelude::mapped_array_like(&x)?.dim(), (2, 3));
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or not enough memory.
pub fn mapped_array_like<L: Like>(other: &L) -> Result<MappedArray<L::Element, L::Dim>> {
    Ok(cuda_mem::mapped_array_like(&current_context()?, other)?)
}

/// Allocates an array in managed memory, which migrates between host and device on access. Its contents are unspecified.
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// let mut x = managed_array::<u8, _>(5)?;
/// x.view_mut()?.fill(1);
/// assert_eq!(x.device().copy_to_host()?.sum(), 5);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or not enough memory.
pub fn managed_array<T: Element, Sh: ShapeArg>(shape: Sh) -> Result<ManagedArray<T, Sh::Dim>> {
    Ok(cuda_mem::managed_array(&current_context()?, shape)?)
}

/// Allocates a [`managed_array`] with the shape, order and element type of a host or device array.
///
/// # Examples
///
/// ```
/// let x = ndarray::Array2::<f32>::zeros((2, 3));
/// assert_eq!(cuda_prelude::managed_array_like(&x)?.dim(), (2, 3));
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or not enough memory.
pub fn managed_array_like<L: Like>(other: &L) -> Result<ManagedArray<L::Element, L::Dim>> {
    Ok(cuda_mem::managed_array_like(&current_context()?, other)?)
}

/// Page-locks a host array while `work` runs, for asynchronous copies; see [`cuda_mem::pinned`](cuda_mem::pinned()).
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// let (mut host, mut x, stream) = (ndarray::Array1::<f32>::ones(4), zeros::<f32, _>(4)?, stream()?);
/// pinned(&mut host, |host| x.copy_from_pinned_ref(host, &stream))??;
/// assert_eq!(x.copy_to_host()?, host);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, some of the memory is page-locked already, or the array has gaps.
pub fn pinned<T, S, D, R>(
    array: &mut ArrayBase<S, D>,
    work: impl for<'a> FnOnce(&mut PinnedView<'a, T, D>) -> R,
) -> Result<R>
where
    T: Element,
    S: DataMut<Elem = T>,
    D: Dimension,
{
    Ok(cuda_mem::pinned(&current_context()?, array, work)?)
}

/// Page-locks a host array while `work` runs, and lets kernels access it in place; see [`cuda_mem::mapped`](cuda_mem::mapped()).
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// let mut host = ndarray::Array1::<f32>::ones(4);
/// mapped(&mut host, |host| host.device_mut().fill(2.0))??;
/// assert_eq!(host.sum(), 8.0);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, some of the memory is page-locked already, or the array has gaps.
pub fn mapped<T, S, D, R>(
    array: &mut ArrayBase<S, D>,
    work: impl for<'a> FnOnce(&mut MappedView<'a, T, D>) -> R,
) -> Result<R>
where
    T: Element,
    S: DataMut<Elem = T>,
    D: Dimension,
{
    Ok(cuda_mem::mapped(&current_context()?, array, work)?)
}
