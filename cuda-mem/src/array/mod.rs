//! [`DeviceArray`]: an ndarray shape over a [`Buffer`].
//!
//! `create` has the constructors, `view` slices and reshapes, `storage` the kinds of ownership, and `target` the choice
//! of allocator and stream; the copies are in the module `copy`. Invariants: every element lies in the buffer, aligned
//! for its type; the elements of a writable array do not overlap.
//!
//! # Safety
//!
//! One block reinterprets a slice of `usize` as one of `isize`.

pub(crate) mod create;
pub(crate) mod display;
pub(crate) mod index;
pub(crate) mod like;
mod matrix;
mod relayout;
pub(crate) mod storage;
pub(crate) mod target;
pub(crate) mod view;

use std::fmt;
use std::marker::PhantomData;

use cuda_driver::{Context, Stream};
use cuda_sys::CUdeviceptr;
use ndarray::Dimension;

use crate::Element;
use crate::array::storage::{Owned, Storage, StorageMut, View, ViewMut};
use crate::buffer::Buffer;
use crate::buffer::access::ByteRange;
use crate::error::{Error, Result};
use crate::layout::Layout;

/// An array in device memory, with the shape and the strides of an [`ndarray::Array`].
///
/// `S` is the ownership of the memory: a `DeviceArray<T, D>` owns it; its drop frees it after all work that accesses
/// it. [`DeviceArrayView`] and [`DeviceArrayViewMut`] borrow a part of another array, and are made as in ndarray: by
/// [`view`](DeviceArray::view), [`slice`](DeviceArray::slice), [`t`](DeviceArray::t), and their mutable forms.
///
/// Kernels take arrays as slices, which requires C-contiguous elements, or as ndarray views of any strides.
///
/// # Examples
///
/// ```
/// use cuda_mem::{DeviceArray, zeros};
/// use ndarray::{Ix2, s};
///
/// # fn main() -> cuda_mem::Result<()> {
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut a: DeviceArray<f32, Ix2> = zeros(&context, (480, 640))?;
/// assert_eq!((a.dim(), a.len(), a.ndim()), ((480, 640), 307_200, 2));
/// assert_eq!(a.strides(), [640, 1]);
///
/// a.slice_mut(s![..;2, 0]).fill(1.0)?;
/// let column = a.slice(s![..4, 0]);
/// assert_eq!(column.strides(), [640]);
/// assert_eq!(column.copy_to_host()?.to_vec(), [1.0, 0.0, 1.0, 0.0]);
/// # Ok(())
/// # }
/// ```
pub struct DeviceArray<T: Element, D: Dimension, S = Owned> {
    storage: S,
    layout: Layout<D>,
    element: PhantomData<T>,
}

/// A shared view of another array's memory.
///
/// # Examples
///
/// ```
/// use cuda_mem::DeviceArrayView;
/// use ndarray::Ix1;
///
/// fn sum(x: DeviceArrayView<'_, f64, Ix1>) -> cuda_mem::Result<f64> {
///     Ok(x.copy_to_host()?.sum())
/// }
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::from_slice(&context, &[1.0, 2.0, 4.0])?;
/// assert_eq!(sum(x.view())?, 7.0);
/// # Ok(())
/// # }
/// ```
pub type DeviceArrayView<'a, T, D> = DeviceArray<T, D, View<'a>>;

/// A mutable view of another array's memory.
///
/// # Examples
///
/// ```
/// use ndarray::Axis;
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut x = cuda_mem::zeros::<i32, _>(&context, 4)?;
/// let (mut left, mut right) = x.view_mut().split_at(Axis(0), 1);
/// left.fill(1)?;
/// right.fill(2)?;
/// assert_eq!(x.copy_to_host()?.to_vec(), [1, 2, 2, 2]);
/// # Ok(())
/// # }
/// ```
pub type DeviceArrayViewMut<'a, T, D> = DeviceArray<T, D, ViewMut<'a>>;

/// The byte range of the elements of a layout.
fn byte_range<T: Element, D: Dimension>(layout: &Layout<D>) -> ByteRange {
    if layout.is_c_contiguous() {
        // The fast path: nearly all arrays are contiguous, and every launch calls this.
        let start = layout.offset();
        return ByteRange::all_of(start * size_of::<T>()..(start + layout.len()) * size_of::<T>());
    }
    let elements = layout.span();
    let dense = elements.len() == layout.len() && !layout.repeats();
    ByteRange { bytes: elements.start * size_of::<T>()..elements.end * size_of::<T>(), dense }
}

impl<T: Element, D: Dimension> DeviceArray<T, D> {
    /// An array over `buffer`, which contains the bytes of this layout.
    pub(crate) fn from_parts(buffer: Buffer, layout: Layout<D>) -> Self {
        Self::with_storage(Owned(buffer), layout)
    }
}

impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// An array over memory that contains the bytes of this layout.
    pub(crate) fn with_storage(storage: S, layout: Layout<D>) -> Self {
        debug_assert!(layout.len() == 0 || layout.span().end * size_of::<T>() <= storage.buffer().len());
        DeviceArray { storage, layout, element: PhantomData }
    }

    /// The array with another layout, which contains no other elements.
    pub(crate) fn with_layout<E: Dimension>(self, layout: Layout<E>) -> DeviceArray<T, E, S> {
        DeviceArray { storage: self.storage, layout, element: PhantomData }
    }

    /// A shared view with another layout, which contains no other elements.
    #[inline]
    pub(crate) fn borrowed<U: Element, E: Dimension>(&self, layout: Layout<E>) -> DeviceArrayView<'_, U, E> {
        DeviceArray { storage: View(self.storage.buffer()), layout, element: PhantomData }
    }

    pub(crate) fn layout(&self) -> &Layout<D> {
        &self.layout
    }

    /// The extent of each axis.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::zeros::<f32, _>(&context, (2, 3))?;
    /// assert_eq!((x.shape(), x.dim(), x.raw_dim()), (&[2, 3][..], (2, 3), ndarray::Dim([2, 3])));
    /// assert_eq!((x.ndim(), x.len(), x.len_of(ndarray::Axis(1)), x.byte_len()), (2, 6, 3, 24));
    /// assert!(!x.is_empty() && x.context() == &context);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// The shape as ndarray's dimension pattern: a number, a tuple, or `IxDyn`.
    #[must_use]
    pub fn dim(&self) -> D::Pattern {
        self.raw_dim().into_pattern()
    }

    /// The shape as ndarray's dimension.
    #[must_use]
    pub fn raw_dim(&self) -> D {
        self.layout.dim().clone()
    }

    /// The distance in elements between neighbours along each axis, negative where the axis runs backwards; all 0 in a new
    /// array without elements.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        let bits: &[usize] = self.layout.stride_bits().slice();
        // SAFETY: the two types have the same size and alignment, and every bit pattern is a value of either; the borrow is
        // as long.
        unsafe { std::slice::from_raw_parts(bits.as_ptr().cast(), bits.len()) }
    }

    /// The number of axes.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.layout.dim().ndim()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// The extent of one axis.
    ///
    /// # Panics
    ///
    /// If there is no such axis.
    #[must_use]
    pub fn len_of(&self, axis: ndarray::Axis) -> usize {
        self.layout.dim()[axis.index()]
    }

    /// Returns true if there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of all elements, saturated at `usize::MAX`, since a broadcast array may have more.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.len().saturating_mul(size_of::<T>())
    }

    /// Returns true if the array is C-contiguous: no gaps, the last axis fastest. Kernels take such arrays as slices.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::zeros::<f32, _>(&context, (2, 3))?;
    /// assert!(x.is_c_contiguous() && !x.t().is_c_contiguous() && x.t().is_f_contiguous());
    /// let error = x.t().require_c_order("an argument that is a slice").unwrap_err();
    /// assert!(error.to_string().contains("an argument that is a slice"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[inline]
    pub fn is_c_contiguous(&self) -> bool {
        self.layout.is_c_contiguous()
    }

    /// Returns true if the array is Fortran-contiguous: no gaps, the first axis fastest.
    #[must_use]
    pub fn is_f_contiguous(&self) -> bool {
        self.layout.is_f_contiguous()
    }

    /// Returns an error unless the array is C-contiguous, for an operation that needs it.
    ///
    /// # Errors
    ///
    /// [`Error::NotContiguous`], which names `what`.
    #[inline]
    pub fn require_c_order(&self, what: &'static str) -> Result<()> {
        if self.is_c_contiguous() { Ok(()) } else { Err(Error::not_contiguous(self, what)) }
    }

    /// The context that the memory belongs to.
    #[must_use]
    #[inline]
    pub fn context(&self) -> &Context {
        self.storage.buffer().context()
    }

    /// The underlying buffer, of which a view is a part.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::zeros::<f32, _>(&context, 100)?;
    /// let part = x.slice(ndarray::s![10..]);
    /// assert_eq!(part.buffer().len(), 400);
    /// assert_eq!(part.device_ptr(), x.device_ptr() + 40);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[inline]
    pub fn buffer(&self) -> &Buffer {
        self.storage.buffer()
    }

    /// The address of the first element on the device; never 0, also without elements. The address of a whole array
    /// that this crate allocated is aligned to 256 bytes.
    ///
    /// Raw launches and raw copies that use it have to be ordered with [`prepare_read`](DeviceArray::prepare_read) or
    /// [`prepare_write`](DeviceArray::prepare_write).
    #[must_use]
    #[inline]
    pub fn device_ptr(&self) -> CUdeviceptr {
        self.buffer().address() + (self.layout.offset() * size_of::<T>()) as u64
    }

    /// The byte range of the elements in the buffer.
    pub(crate) fn byte_range(&self) -> ByteRange {
        byte_range::<T, D>(&self.layout)
    }

    /// Orders a read of the array on `stream` after the last write, and records it; see [`Buffer::prepare_read`].
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let (stream, other) = (cuda_driver::Stream::new(&context)?, cuda_driver::Stream::new(&context)?);
    /// let mut x = cuda_mem::zeros::<f32, _>(&stream, 100)?;
    /// x.prepare_read(&other)?;  // what is enqueued there now may read `device_ptr()`: it comes after the zeros
    /// x.prepare_write(&stream)?; // and what is enqueued here may write, after that read
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Buffer::prepare_read`].
    #[inline]
    pub fn prepare_read(&self, stream: &Stream) -> Result<()> {
        self.buffer().prepare_read_of(|| self.byte_range(), stream)
    }
}

impl<T: Element, D: Dimension> DeviceArray<T, D> {
    /// The underlying buffer, without the shape.
    pub(crate) fn into_buffer(self) -> Buffer {
        self.storage.0
    }

    /// The underlying buffer, for writing.
    pub(crate) fn buffer_mut(&mut self) -> &mut Buffer {
        &mut self.storage.0
    }
}

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// A mutable view with another layout, which contains no other elements.
    #[inline]
    pub(crate) fn borrowed_mut<U: Element, E: Dimension>(&mut self, layout: Layout<E>) -> DeviceArrayViewMut<'_, U, E> {
        let storage = ViewMut { buffer: self.storage.buffer(), exclusive: PhantomData };
        DeviceArray { storage, layout, element: PhantomData }
    }

    /// Orders a write of the array on `stream` after every earlier access, and records it; see
    /// [`Buffer::prepare_write`].
    ///
    /// # Errors
    ///
    /// As [`Buffer::prepare_write`].
    #[inline]
    pub fn prepare_write(&mut self, stream: &Stream) -> Result<()> {
        let layout = &self.layout;
        self.storage.prepare_write(|| byte_range::<T, D>(layout), stream)
    }
}

impl<'a, T: Element, D: Dimension> DeviceArrayView<'a, T, D> {
    /// The same memory, for the view's own lifetime.
    pub(crate) fn reborrowed<E: Dimension>(&self, layout: Layout<E>) -> DeviceArrayView<'a, T, E> {
        DeviceArray { storage: View(self.storage.0), layout, element: PhantomData }
    }
}

impl<'a, T: Element, D: Dimension> DeviceArrayViewMut<'a, T, D> {
    /// Splits the view into two for its own lifetime, whose layouts have no element in common.
    pub(crate) fn split_parts(self, parts: (Layout<D>, Layout<D>)) -> (Self, Self) {
        let part = |layout| {
            let storage = ViewMut { buffer: self.storage.buffer, exclusive: PhantomData };
            DeviceArray { storage, layout, element: PhantomData }
        };
        (part(parts.0), part(parts.1))
    }
}

impl<T: Element, D: Dimension> Clone for DeviceArrayView<'_, T, D> {
    fn clone(&self) -> Self {
        self.reborrowed(self.layout.clone())
    }
}

impl<T: Element, D: Dimension, S: Storage> fmt::Debug for DeviceArray<T, D, S> {
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
