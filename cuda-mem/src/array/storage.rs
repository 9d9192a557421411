//! Ownership of an array's memory: a buffer of its own, or a part of another array's buffer that it borrows.
//!
//! Invariant: while a [`ViewMut`] lives, the bytes of its array's layout are accessed through it alone.

use std::marker::PhantomData;

use cuda_driver::Stream;

use crate::buffer::Buffer;
use crate::buffer::access::ByteRange;
use crate::error::Result;

/// Memory that an array owns.
#[derive(Debug)]
pub struct Owned(pub(crate) Buffer);

/// Memory that an array owns and never writes, such as memory of another library that is only readable.
///
/// # Examples
///
/// ```
/// use cuda_mem::{DeviceArray, ReadOnly};
/// use ndarray::Ix1;
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let owner = cuda_mem::from_slice(&context, &[1, 2, 3])?;
/// let first = owner.device_ptr();
/// // SAFETY: the three elements lie in `owner`, which is used in no other way.
/// let x: DeviceArray<i32, Ix1, ReadOnly> =
///     unsafe { DeviceArray::from_raw_parts_read_only(&context, first, 3, &[1], owner) }?;
/// assert_eq!(x.copy_to_host()?.to_vec(), [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ReadOnly(pub(crate) Buffer);

/// Memory of another array, borrowed for reading.
#[derive(Clone, Copy, Debug)]
pub struct View<'a>(pub(crate) &'a Buffer);

/// Memory of another array, borrowed for writing. Other bytes of it may be borrowed at the same time.
#[derive(Debug)]
pub struct ViewMut<'a> {
    pub(crate) buffer: &'a Buffer,
    pub(crate) exclusive: PhantomData<&'a mut Buffer>,
}

/// The ownership of a [`DeviceArray`](crate::DeviceArray)'s memory: [`Owned`], [`ReadOnly`], [`View`] or [`ViewMut`].
///
/// # Examples
///
/// ```
/// use cuda_mem::{DeviceArray, Element, Owned, Storage, StorageMut, View, ViewMut};
/// use ndarray::{Ix1, s};
///
/// /// The number of elements of any array.
/// fn elements<T: Element, S: Storage>(x: &DeviceArray<T, Ix1, S>) -> usize {
///     x.len()
/// }
///
/// /// Sets the elements of an array that can be written: one that owns its memory, or a mutable view.
/// fn clear<S: StorageMut>(x: &mut DeviceArray<i32, Ix1, S>) -> cuda_mem::Result<()> {
///     x.fill(0)
/// }
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut x: DeviceArray<i32, Ix1, Owned> = cuda_mem::from_slice(&context, &[1, 2, 3])?;
/// let view: DeviceArray<i32, Ix1, View<'_>> = x.view();
/// assert_eq!(elements(&view), 3);
/// let mut part: DeviceArray<i32, Ix1, ViewMut<'_>> = x.slice_mut(s![1..]);
/// clear(&mut part)?;
/// assert_eq!(x.copy_to_host()?.to_vec(), [1, 0, 0]);
/// # Ok(())
/// # }
/// ```
pub trait Storage: sealed::Sealed {
    /// The underlying buffer.
    #[doc(hidden)]
    fn buffer(&self) -> &Buffer;
}

/// The ownership of a writable array's memory: [`Owned`] or [`ViewMut`].
///
/// Sealed, as [`Storage`] is.
pub trait StorageMut: Storage {
    /// Orders a write of the bytes on `stream` after every earlier access, and records it.
    #[doc(hidden)]
    fn prepare_write(&mut self, range: impl FnOnce() -> ByteRange, stream: &Stream) -> Result<()>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Owned {}
    impl Sealed for super::ReadOnly {}
    impl Sealed for super::View<'_> {}
    impl Sealed for super::ViewMut<'_> {}
}

impl Storage for Owned {
    #[inline]
    fn buffer(&self) -> &Buffer {
        &self.0
    }
}

impl Storage for ReadOnly {
    #[inline]
    fn buffer(&self) -> &Buffer {
        &self.0
    }
}

impl Storage for View<'_> {
    #[inline]
    fn buffer(&self) -> &Buffer {
        self.0
    }
}

impl Storage for ViewMut<'_> {
    #[inline]
    fn buffer(&self) -> &Buffer {
        self.buffer
    }
}

impl StorageMut for Owned {
    #[inline]
    fn prepare_write(&mut self, range: impl FnOnce() -> ByteRange, stream: &Stream) -> Result<()> {
        self.0.prepare_write_of(range, stream)
    }
}

impl StorageMut for ViewMut<'_> {
    fn prepare_write(&mut self, range: impl FnOnce() -> ByteRange, stream: &Stream) -> Result<()> {
        self.buffer.prepare_shared_write(range(), stream)
    }
}
