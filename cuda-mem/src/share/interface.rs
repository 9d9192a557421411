//! The [CUDA Array Interface](https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html): an array as the
//! dictionary that Python's libraries exchange. Exported is version 3; imported also version 2, which names no stream. The
//! module `json` has its text form.
//!
//! # Safety
//!
//! The `unsafe` blocks pass on the caller's guarantees about the memory and the stream.

use std::any::Any;

use cuda_driver::{Context, Stream};
use ndarray::Dimension;

use crate::Exchanged;
use crate::array::DeviceArray;
use crate::array::storage::{ReadOnly, Storage, StorageMut};
use crate::error::Result;
use crate::share::exchange::{ExchangeError, type_string};

/// An array as the CUDA Array Interface describes it, field by field. It owns nothing: the array has to outlive every
/// use of the description.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::zeros::<f32, _>(&context, (2, 3))?;
/// let interface = x.t().cuda_array_interface(&context.default_stream())?;
/// assert_eq!((interface.typestr.as_str(), interface.shape), ("<f4", vec![3, 2]));
/// assert_eq!(interface.strides, Some(vec![4, 12]));
/// assert_eq!((interface.version, interface.stream), (3, Some(1)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaArrayInterface {
    /// The extent of each axis.
    pub shape: Vec<usize>,
    /// NumPy's type string of the elements, such as `<f4`.
    pub typestr: String,
    /// The address of the first element (0 without elements), and true if the memory is read-only.
    pub data: (u64, bool),
    /// The distance between neighbours along each axis, in bytes; `None` in C order without gaps.
    pub strides: Option<Vec<isize>>,
    /// The version of the protocol: 3, or 2 of libraries that do not name a stream, such as PyTorch.
    pub version: u32,
    /// The stream on which the memory can be accessed at once: 1 the legacy default stream, 2 the per-thread one, else
    /// a stream's handle; `None` for any stream.
    pub stream: Option<u64>,
    /// True if there is a mask, which is not supported.
    pub masked: bool,
}

impl<T: Exchanged, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// Describes the array for libraries that read it on `stream`, after all work that writes it.
    ///
    /// # Errors
    ///
    /// [`ExchangeError::NoTypeString`] for types that NumPy does not have, such as `bf16`; as
    /// [`prepare_read`](DeviceArray::prepare_read).
    pub fn cuda_array_interface(&self, stream: &Stream) -> Result<CudaArrayInterface> {
        self.prepare_read(stream)?;
        self.described(stream, true)
    }

    fn described(&self, stream: &Stream, read_only: bool) -> Result<CudaArrayInterface> {
        let bytes = |stride: &isize| stride * size_of::<T>() as isize;
        Ok(CudaArrayInterface {
            shape: self.shape().to_vec(),
            typestr: type_string::<T>()?,
            data: (if self.is_empty() { 0 } else { self.device_ptr() }, read_only),
            strides: (!self.is_c_contiguous()).then(|| self.strides().iter().map(bytes).collect()),
            version: 3,
            stream: Some((stream.as_raw().addr() as u64).max(1)),
            masked: false,
        })
    }
}

impl<T: Exchanged, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// Describes the array for libraries that write it on `stream`, after all work that accesses it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::zeros::<f32, _>(&context, 3)?;
    /// let described = x.cuda_array_interface_mut(&context.default_stream())?;
    /// assert_eq!(described.data, (x.device_ptr(), false)); // not read-only
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`cuda_array_interface`](DeviceArray::cuda_array_interface).
    pub fn cuda_array_interface_mut(&mut self, stream: &Stream) -> Result<CudaArrayInterface> {
        self.prepare_write(stream)?;
        self.described(stream, false)
    }
}

impl<T: Exchanged, D: Dimension> DeviceArray<T, D> {
    /// The array that `interface` describes and `owner` keeps alive. Waits for the work of the interface's stream; for
    /// that of the whole context if the interface has version 2, in which nothing says where the memory was written.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::DeviceArray;
    /// use ndarray::Ix1;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut theirs = cuda_mem::from_slice(&context, &[1.0_f32, 2.0])?;
    /// let described = theirs.cuda_array_interface_mut(&context.default_stream())?;
    /// // SAFETY: the elements lie in `theirs`, which is used in no other way.
    /// let x = unsafe { DeviceArray::<f32, Ix1>::from_cuda_array_interface(&context, &described, theirs) }?;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Exchange`](crate::Error::Exchange), which names the mismatch or the unsupported field;
    /// [`Error::External`](crate::Error::External) for an impossible layout. `owner` is dropped.
    ///
    /// # Safety
    ///
    /// As for [`from_raw_parts`](DeviceArray::from_raw_parts); the stream, if there is one, is live.
    pub unsafe fn from_cuda_array_interface(
        context: &Context,
        interface: &CudaArrayInterface,
        owner: impl Any + Send + Sync,
    ) -> Result<Self> {
        if interface.data.1 {
            return Err(ExchangeError::ReadOnly.into());
        }
        let (dim, strides) = read::<T, D>(interface)?;
        wait(context, interface)?;
        // SAFETY: the caller answers for the memory, until `owner` is dropped.
        unsafe { DeviceArray::from_raw_parts(context, interface.data.0, dim, &strides, owner) }
    }
}

impl<T: Exchanged, D: Dimension> DeviceArray<T, D, ReadOnly> {
    /// As [`from_cuda_array_interface`](DeviceArray::from_cuda_array_interface), of memory that is only read.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::{DeviceArray, ReadOnly};
    /// use ndarray::Ix1;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let theirs = cuda_mem::from_slice(&context, &[1.0_f32, 2.0])?;
    /// let described = theirs.cuda_array_interface(&context.default_stream())?;
    /// // SAFETY: the elements lie in `theirs`, which is used in no other way.
    /// let x =
    ///     unsafe { DeviceArray::<f32, Ix1, ReadOnly>::from_cuda_array_interface_read_only(&context, &described, theirs) }?;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`from_cuda_array_interface`](DeviceArray::from_cuda_array_interface).
    ///
    /// # Safety
    ///
    /// As [`from_raw_parts_read_only`](DeviceArray::from_raw_parts_read_only); the stream, if there is one, is live.
    pub unsafe fn from_cuda_array_interface_read_only(
        context: &Context,
        interface: &CudaArrayInterface,
        owner: impl Any + Send + Sync,
    ) -> Result<Self> {
        let (dim, strides) = read::<T, D>(interface)?;
        wait(context, interface)?;
        // SAFETY: the caller answers for the memory, until `owner` is dropped.
        unsafe { DeviceArray::from_raw_parts_read_only(context, interface.data.0, dim, &strides, owner) }
    }
}

/// Shape and strides in elements of a description that fits the type.
fn read<T: Exchanged, D: Dimension>(interface: &CudaArrayInterface) -> Result<(D, Vec<isize>), ExchangeError> {
    let wanted = type_string::<T>()?;
    if !matches!(interface.version, 2 | 3) {
        return Err(ExchangeError::Version(interface.version));
    }
    if interface.masked {
        return Err(ExchangeError::Masked);
    }
    if interface.stream == Some(0) {
        return Err(ExchangeError::StreamZero);
    }
    if interface.typestr != wanted {
        return Err(ExchangeError::ElementType { found: interface.typestr.clone(), wanted });
    }
    let dim = dimension::<D>(&interface.shape)?;
    // For elements without bytes every stride is a multiple.
    let size = size_of::<T>().max(1) as isize;
    let strides = match &interface.strides {
        None => c_strides(&interface.shape),
        Some(bytes) if bytes.iter().all(|stride| stride % size == 0) => {
            bytes.iter().map(|stride| stride / size).collect()
        }
        Some(bytes) => return Err(ExchangeError::Strides { strides: bytes.clone(), element_bytes: size as usize }),
    };
    Ok((dim, strides))
}

/// Converts a shape; an error unless it has the type's number of axes.
pub(crate) fn dimension<D: Dimension>(shape: &[usize]) -> Result<D, ExchangeError> {
    let found = shape.len();
    if let Some(wanted) = D::NDIM.filter(|wanted| *wanted != found) {
        return Err(ExchangeError::Axes { found, wanted });
    }
    let mut dim = D::zeros(found);
    dim.slice_mut().copy_from_slice(shape);
    Ok(dim)
}

/// The strides of a C-contiguous array, saturated at `isize::MAX`.
pub(crate) fn c_strides(shape: &[usize]) -> Vec<isize> {
    let mut step = 1_isize;
    let mut strides: Vec<isize> = shape
        .iter()
        .rev()
        .map(|extent| {
            let stride = step;
            step = step.saturating_mul(isize::try_from(*extent).unwrap_or(isize::MAX));
            stride
        })
        .collect();
    strides.reverse();
    strides
}

/// Waits for the work that writes the described memory.
fn wait(context: &Context, interface: &CudaArrayInterface) -> Result<()> {
    if interface.version == 2 {
        return Ok(context.wait_until_idle()?);
    }
    let Some(stream) = interface.stream else { return Ok(()) };
    let raw = std::ptr::with_exposed_provenance_mut(stream as usize);
    // SAFETY: the stream is live, as the caller promised, and it is not kept.
    unsafe { Stream::external(context, raw) }.synchronize()?;
    Ok(())
}
