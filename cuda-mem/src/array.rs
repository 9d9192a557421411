//! [`DeviceArray`]: an ndarray shape over a [`Buffer`].
//!
//! Arrays are made in `create`, cut and turned in `view`, filled and copied on the device in `assign` and to and from the host
//! in `host_copy`. Invariants: every element lies in the buffer, aligned for its type; the elements of an array that can be
//! written lie apart from each other.
//!
//! # Safety
//!
//! One block reads a slice of `usize` as one of `isize`.

use std::fmt;
use std::marker::PhantomData;

use cuda_driver::{Context, Stream};
use cuda_sys::CUdeviceptr;
use ndarray::Dimension;

use crate::Element;
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::storage::{Owned, Storage, StorageMut, View, ViewMut};
use crate::uses::Reach;

/// An array in a device's memory, with the shape and the strides of an [`ndarray::Array`].
///
/// `S` says whose memory it is: a `DeviceArray<T, D>` owns it and frees it, when it is dropped, after all work that uses it.
/// [`DeviceArrayView`] and [`DeviceArrayViewMut`] borrow a part of another's, and are made as ndarray's are: by
/// [`view`](DeviceArray::view), [`slice`](DeviceArray::slice), [`t`](DeviceArray::t), and their mutable forms.
///
/// Kernels take arrays as slices, for which the elements have to lie in C order, or as ndarray views of any strides.
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

/// An array in memory that another array owns, for reading.
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

/// An array in memory that another array owns, for writing.
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

/// The bytes that the elements of a layout lie in.
fn reach<T: Element, D: Dimension>(layout: &Layout<D>) -> Reach {
    if layout.is_c_contiguous() {
        // As nearly all are, and launches ask.
        let start = layout.offset();
        return Reach::all_of(start * size_of::<T>()..(start + layout.len()) * size_of::<T>());
    }
    let elements = layout.span();
    let dense = elements.len() == layout.len() && !layout.repeats();
    Reach { bytes: elements.start * size_of::<T>()..elements.end * size_of::<T>(), dense }
}

impl<T: Element, D: Dimension> DeviceArray<T, D> {
    /// An array over `buffer`, which has the bytes of this layout.
    pub(crate) fn from_parts(buffer: Buffer, layout: Layout<D>) -> Self {
        Self::with_storage(Owned(buffer), layout)
    }
}

impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// An array over memory that has the bytes of this layout.
    pub(crate) fn with_storage(storage: S, layout: Layout<D>) -> Self {
        debug_assert!(layout.len() == 0 || layout.span().end * size_of::<T>() <= storage.buffer().len());
        DeviceArray { storage, layout, element: PhantomData }
    }

    /// An array in the same memory with another layout, which stays inside the old one's elements.
    pub(crate) fn with_layout<E: Dimension>(self, layout: Layout<E>) -> DeviceArray<T, E, S> {
        DeviceArray { storage: self.storage, layout, element: PhantomData }
    }

    /// A reading borrow with another layout, which stays inside this one's elements.
    #[inline]
    pub(crate) fn borrowed<U: Element, E: Dimension>(&self, layout: Layout<E>) -> DeviceArrayView<'_, U, E> {
        DeviceArray { storage: View(self.storage.buffer()), layout, element: PhantomData }
    }

    pub(crate) fn layout(&self) -> &Layout<D> {
        &self.layout
    }

    /// The extent of each axis.
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

    /// How many axes there are.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.layout.dim().ndim()
    }

    /// How many elements there are.
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

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all elements; `usize::MAX` if they are more than that, as those of a broadcast array may be.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.len().saturating_mul(size_of::<T>())
    }

    /// Whether the elements lie in C order without gaps: the last axis fastest. What kernels take as a slice does.
    #[must_use]
    #[inline]
    pub fn is_c_contiguous(&self) -> bool {
        self.layout.is_c_contiguous()
    }

    /// Whether the elements lie in Fortran order without gaps: the first axis fastest.
    #[must_use]
    pub fn is_f_contiguous(&self) -> bool {
        self.layout.is_f_contiguous()
    }

    /// Refuses an array whose elements do not lie in C order without gaps, for something that needs it.
    ///
    /// # Errors
    ///
    /// [`Error::NotContiguous`], which says `what`.
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

    /// The memory below, of which a view is a part.
    #[must_use]
    #[inline]
    pub fn buffer(&self) -> &Buffer {
        self.storage.buffer()
    }

    /// The address of the first element on the device; never 0, also without elements. That of a whole array which
    /// was allocated here is aligned to 256 bytes.
    ///
    /// Using it takes a raw launch or a raw copy, which have to be ordered with
    /// [`prepare_read`](DeviceArray::prepare_read) or [`prepare_write`](DeviceArray::prepare_write).
    #[must_use]
    #[inline]
    pub fn device_ptr(&self) -> CUdeviceptr {
        self.buffer().address() + (self.layout.offset() * size_of::<T>()) as u64
    }

    /// The bytes of the buffer that the elements lie in.
    pub(crate) fn reach(&self) -> Reach {
        reach::<T, D>(&self.layout)
    }

    /// Orders a read of the array on `stream` after the last write, and records it; see [`Buffer::prepare_read`].
    ///
    /// # Errors
    ///
    /// As [`Buffer::prepare_read`].
    #[inline]
    pub fn prepare_read(&self, stream: &Stream) -> Result<()> {
        self.buffer().prepare_read_of(|| self.reach(), stream)
    }
}

impl<T: Element, D: Dimension> DeviceArray<T, D> {
    /// The memory below, without the shape.
    pub(crate) fn into_buffer(self) -> Buffer {
        self.storage.0
    }

    /// The memory below, for writing.
    pub(crate) fn buffer_mut(&mut self) -> &mut Buffer {
        &mut self.storage.0
    }
}

impl<T: Element, D: Dimension, S: StorageMut> DeviceArray<T, D, S> {
    /// A writing borrow with another layout, which stays inside this one's elements.
    #[inline]
    pub(crate) fn borrowed_mut<U: Element, E: Dimension>(&mut self, layout: Layout<E>) -> DeviceArrayViewMut<'_, U, E> {
        let storage = ViewMut { buffer: self.storage.buffer(), exclusive: PhantomData };
        DeviceArray { storage, layout, element: PhantomData }
    }

    /// Orders a write of the array on `stream` after every earlier use, and records it; see [`Buffer::prepare_write`].
    ///
    /// # Errors
    ///
    /// As [`Buffer::prepare_write`].
    #[inline]
    pub fn prepare_write(&mut self, stream: &Stream) -> Result<()> {
        let layout = &self.layout;
        self.storage.prepare_write(|| reach::<T, D>(layout), stream)
    }
}

impl<'a, T: Element, D: Dimension> DeviceArrayView<'a, T, D> {
    /// The same memory for the view's own lifetime.
    pub(crate) fn reborrowed<E: Dimension>(&self, layout: Layout<E>) -> DeviceArrayView<'a, T, E> {
        DeviceArray { storage: View(self.storage.0), layout, element: PhantomData }
    }
}

impl<'a, T: Element, D: Dimension> DeviceArrayViewMut<'a, T, D> {
    /// Two views for the view's own lifetime, whose layouts have no element in common.
    pub(crate) fn parted(self, parts: (Layout<D>, Layout<D>)) -> (Self, Self) {
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
