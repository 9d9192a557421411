//! [`DeviceArray`]: an ndarray shape over a [`Buffer`].
//!
//! Arrays are made in `create` and copied in `host_copy`. Invariants: the buffer has exactly the bytes of the shape; the
//! elements lie in C order.

use std::fmt;
use std::marker::PhantomData;

use cuda_driver::{Context, Stream};
use cuda_sys::CUdeviceptr;
use ndarray::Dimension;

use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::Result;
use crate::layout;

/// An array in a device's memory, with the shape of an [`ndarray::Array`] and its elements in C order.
///
/// Kernels take it as a slice or as an ndarray view. Dropping it frees the memory after all work that uses it.
///
/// # Examples
///
/// ```
/// use cuda_mem::{DeviceArray, zeros};
/// use ndarray::Ix2;
///
/// # fn main() -> cuda_mem::Result<()> {
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let a: DeviceArray<f32, Ix2> = zeros(&context, (480, 640))?;
/// assert_eq!((a.dim(), a.len(), a.ndim()), ((480, 640), 307_200, 2));
/// assert_eq!(a.strides(), [640, 1]);
/// # Ok(())
/// # }
/// ```
pub struct DeviceArray<T: Element, D: Dimension> {
    buffer: Buffer,
    dim: D,
    /// In elements; not larger than `isize::MAX`.
    strides: D,
    element: PhantomData<T>,
}

impl<T: Element, D: Dimension> DeviceArray<T, D> {
    /// An array over `buffer`, which has the bytes of this shape.
    pub(crate) fn from_parts(buffer: Buffer, dim: D) -> Self {
        debug_assert_eq!(layout::byte_size(dim.slice(), size_of::<T>()).ok(), Some(buffer.len()));
        let strides = layout::c_strides(&dim);
        DeviceArray { buffer, dim, strides, element: PhantomData }
    }

    /// The extent of each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.dim.slice()
    }

    /// The shape as ndarray's dimension pattern: a number, a tuple, or `IxDyn`.
    #[must_use]
    pub fn dim(&self) -> D::Pattern {
        self.dim.clone().into_pattern()
    }

    /// The shape as ndarray's dimension.
    #[must_use]
    pub fn raw_dim(&self) -> D {
        self.dim.clone()
    }

    /// The distance in elements between neighbours along each axis; all 0 in an array without elements.
    ///
    /// Strides are never larger than `isize::MAX`.
    #[must_use]
    pub fn strides(&self) -> &[usize] {
        self.strides.slice()
    }

    /// How many axes there are.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.dim.ndim()
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dim.size()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The context that the memory belongs to.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.buffer.context()
    }

    /// The memory below.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The memory below, for writing.
    pub(crate) fn buffer_mut(&mut self) -> &mut Buffer {
        &mut self.buffer
    }

    /// The address of the first element on the device; aligned to 256 bytes and never 0, also without elements.
    ///
    /// Using it takes a raw launch or a raw copy, which have to be ordered with
    /// [`prepare_read`](DeviceArray::prepare_read) or [`prepare_write`](DeviceArray::prepare_write).
    #[must_use]
    pub fn device_ptr(&self) -> CUdeviceptr {
        self.buffer.address()
    }

    /// Orders a read of the array on `stream` after the last write, and records it; see [`Buffer::prepare_read`].
    ///
    /// # Errors
    ///
    /// As [`Buffer::prepare_read`].
    #[inline]
    pub fn prepare_read(&self, stream: &Stream) -> Result<()> {
        self.buffer.prepare_read(stream)
    }

    /// Orders a write of the array on `stream` after every earlier use, and records it; see [`Buffer::prepare_write`].
    ///
    /// # Errors
    ///
    /// As [`Buffer::prepare_write`].
    #[inline]
    pub fn prepare_write(&mut self, stream: &Stream) -> Result<()> {
        self.buffer.prepare_write(stream)
    }
}

impl<T: Element, D: Dimension> fmt::Debug for DeviceArray<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceArray")
            .field("element", &std::any::type_name::<T>())
            .field("shape", &self.shape())
            .field("strides", &self.strides())
            .field("device", &self.context().device().ordinal())
            .field("address", &format_args!("{:#x}", self.device_ptr()))
            .finish()
    }
}
