//! [`HostArray`]: an ndarray on the host in device-accessible memory.
//!
//! Its kinds differ in the origin of the memory (`memory`, `registered`) and in whether kernels can access it.
//! Invariants: both sides see the same elements; the host's views wait for the device's accesses, and their borrows
//! keep later accesses away.
//!
//! # Safety
//!
//! The `unsafe` blocks make views of memory that lives with the array, after every conflicting access of a device has
//! finished.

use std::fmt;
use std::marker::PhantomData;

use cuda_driver::{Bind, Context, GraphLaunch};
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension, RawArrayViewMut};

use crate::Element;
use crate::array::{DeviceArray, DeviceArrayView, DeviceArrayViewMut};
use crate::buffer::Buffer;
use crate::error::Result;
use crate::layout::Layout;

/// An array in device-accessible host memory: [`PinnedArray`](crate::PinnedArray), [`MappedArray`](crate::MappedArray),
/// [`ManagedArray`](crate::ManagedArray), or host memory that is [page-locked temporarily](crate::pinned()).
///
/// The host accesses it as an ndarray, by [`view`](HostArray::view) and [`view_mut`](HostArray::view_mut), which first
/// wait for conflicting accesses of devices. Its drop waits too.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut x = cuda_mem::mapped_array::<f32, _>(&context, (2, 3))?;
/// x.view_mut()?.fill(1.0);
/// x.device_mut().fill(2.0)?;          // on the device
/// assert_eq!(x.view()?.sum(), 12.0);  // waits for it
/// # Ok(())
/// # }
/// ```
pub struct HostArray<T: Element, D: Dimension, K: HostKind> {
    array: DeviceArray<T, D>,
    /// The same elements by their host addresses.
    host: RawArrayViewMut<T, D>,
    kind: PhantomData<K>,
}

// SAFETY: the elements are plain data that the array owns, or borrows exclusively for the lifetime in its kind; nothing
// in it is bound to a thread.
unsafe impl<T: Element, D: Dimension, K: HostKind> Send for HostArray<T, D, K> {}
// SAFETY: the elements are plain data, and a shared borrow only reads them.
unsafe impl<T: Element, D: Dimension, K: HostKind> Sync for HostArray<T, D, K> {}

/// The kind of host memory of a [`HostArray`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_mem::{Element, HostArray, HostKind, OnDevice, PageLocked, Pinned};
/// use ndarray::Ix1;
///
/// /// The sum of an array of any kind of host memory.
/// fn sum<K: HostKind>(x: &HostArray<f32, Ix1, K>) -> cuda_mem::Result<f32> {
///     Ok(x.view()?.sum())
/// }
///
/// /// An array that kernels can access in place, which they cannot with [`Pinned`].
/// fn clear<K: OnDevice>(x: &mut HostArray<f32, Ix1, K>) -> cuda_mem::Result<()> {
///     x.device_mut().fill(0.0)
/// }
///
/// /// An array that a device copies asynchronously.
/// fn is_page_locked<K: PageLocked>(_: &HostArray<f32, Ix1, K>) -> bool {
///     true
/// }
///
/// let mut pinned: HostArray<f32, Ix1, Pinned> = cuda_mem::pinned_array(&context, 3)?;
/// pinned.view_mut()?.fill(1.0);
/// assert!(sum(&pinned)? == 3.0 && is_page_locked(&pinned));
/// let mut mapped = cuda_mem::mapped_array(&context, 3)?;
/// clear(&mut mapped)?;
/// assert_eq!(sum(&mapped)?, 0.0);
/// # Ok(())
/// # }
/// ```
pub trait HostKind: sealed::Sealed {
    /// Its name.
    #[doc(hidden)]
    const NAME: &'static str;
}

/// Page-locked host memory, which a device copies asynchronously.
///
/// Sealed, as [`HostKind`] is.
pub trait PageLocked: HostKind {}

/// Host memory that kernels can access in place.
///
/// Sealed, as [`HostKind`] is.
pub trait OnDevice: HostKind {}

macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident $(<$life:lifetime>)?, $name:literal;)*) => { $(
        $(#[$about])*
        #[derive(Debug)]
        pub struct $kind $(<$life>(PhantomData<fn(&$life ()) -> &$life ()>))?;
        impl$(<$life>)? sealed::Sealed for $kind$(<$life>)? {}
        impl$(<$life>)? HostKind for $kind$(<$life>)? {
            const NAME: &'static str = $name;
        }
    )* };
}

kinds! {
    /// Page-locked memory for copies.
    Pinned, "PinnedArray";
    /// Page-locked memory in the device's address space.
    Mapped, "MappedArray";
    /// Managed memory, which migrates to the host or the device that accesses it.
    Managed, "ManagedArray";
    /// Memory of another array, page-locked for copies for the duration of the lifetime.
    Registered<'a>, "PinnedView";
    /// Memory of another array, page-locked and mapped into the device's address space for the duration of the
    /// lifetime.
    RegisteredMapped<'a>, "MappedView";
}

impl PageLocked for Pinned {}
impl PageLocked for Mapped {}
impl PageLocked for Registered<'_> {}
impl PageLocked for RegisteredMapped<'_> {}

impl OnDevice for Mapped {}
impl OnDevice for Managed {}
impl OnDevice for RegisteredMapped<'_> {}

mod sealed {
    pub trait Sealed {}
}

impl<T: Element, D: Dimension, K: HostKind> HostArray<T, D, K> {
    /// An array of the elements that lie at `host` for the host and, by `layout`, in `buffer` for the device.
    ///
    /// # Safety
    ///
    /// Both are the same elements, initialised, and live as long as the buffer; nothing else on the host accesses them
    /// while the array lives.
    pub(crate) unsafe fn new(buffer: Buffer, layout: Layout<D>, host: RawArrayViewMut<T, D>) -> Self {
        debug_assert_eq!(layout.shape(), host.shape());
        HostArray { array: DeviceArray::from_parts(buffer, layout), host, kind: PhantomData }
    }

    /// The array on the device's side, for every kind. Never returned to users by exclusive reference, which could be
    /// swapped with another array's.
    pub(crate) fn memory(&self) -> &DeviceArray<T, D> {
        &self.array
    }

    pub(crate) fn memory_mut(&mut self) -> &mut DeviceArray<T, D> {
        &mut self.array
    }

    pub(crate) fn host_ptr(&self) -> *mut T {
        self.host.as_ptr().cast_mut()
    }

    /// The elements for reading on the host, after every write of them on a device.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) if the wait fails, or if a kernel panicked.
    pub fn view(&self) -> Result<ArrayView<'_, T, D>> {
        self.array.buffer().finish_writes()?;
        // SAFETY: the elements live as long as `self`; no device writes them now, and, as `self` is borrowed, none will.
        Ok(unsafe { self.host.raw_view().deref_into_view() })
    }

    /// The elements for writing on the host, after every access to them on a device.
    ///
    /// # Errors
    ///
    /// As [`view`](HostArray::view).
    pub fn view_mut(&mut self) -> Result<ArrayViewMut<'_, T, D>> {
        self.array.buffer_mut().finish_accesses()?;
        // SAFETY: the elements live as long as `self`; no device accesses them now, and, as `self` is borrowed
        // exclusively, none will.
        Ok(unsafe { self.host.raw_view_mut().deref_into_view_mut() })
    }

    /// A copy in pageable memory, after every write on a device.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut x = cuda_mem::pinned_array::<i32, _>(&context, (2, 3))?;
    /// x.view_mut()?.fill(1);
    /// assert_eq!(x.to_owned()?, ndarray::Array2::<i32>::ones((2, 3)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`view`](HostArray::view).
    pub fn to_owned(&self) -> Result<Array<T, D>> {
        Ok(self.view()?.to_owned())
    }

    /// The extent of each axis.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::pinned_array::<f32, _>(&context, (2, 3))?;
    /// assert_eq!((x.shape(), x.dim(), x.raw_dim()), (&[2, 3][..], (2, 3), ndarray::Dim([2, 3])));
    /// assert_eq!((x.strides(), x.len(), x.is_empty()), (&[3, 1][..], 6, false));
    /// assert!(x.context() == &context);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.array.shape()
    }

    /// The shape as ndarray's dimension pattern: a number, a tuple, or `IxDyn`.
    #[must_use]
    pub fn dim(&self) -> D::Pattern {
        self.array.dim()
    }

    /// The shape as ndarray's dimension.
    #[must_use]
    pub fn raw_dim(&self) -> D {
        self.array.raw_dim()
    }

    /// The distance in elements between neighbours along each axis.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        self.array.strides()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Returns true if there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// The context whose device can access the memory.
    #[must_use]
    #[inline]
    pub fn context(&self) -> &Context {
        self.array.context()
    }
}

impl<T: Element, D: Dimension, K: OnDevice> HostArray<T, D, K> {
    /// The same elements as a device array, for reading.
    #[must_use]
    #[inline]
    pub fn device(&self) -> DeviceArrayView<'_, T, D> {
        self.array.view()
    }

    /// The same elements as a device array, for writing.
    #[must_use]
    #[inline]
    pub fn device_mut(&mut self) -> DeviceArrayViewMut<'_, T, D> {
        self.array.view_mut()
    }
}

// SAFETY: the memory is that of the inner array, whose implementation keeps the contract.
unsafe impl<T: Element, D: Dimension, K: OnDevice> Bind for &HostArray<T, D, K> {
    fn bind(self, launch: &mut GraphLaunch<'_>) -> cuda_driver::Result<()> {
        self.array.bind(launch)
    }
}

// SAFETY: the memory is that of the inner array, whose implementation keeps the contract.
unsafe impl<T: Element, D: Dimension, K: OnDevice> Bind for &mut HostArray<T, D, K> {
    fn bind(self, launch: &mut GraphLaunch<'_>) -> cuda_driver::Result<()> {
        (&mut self.array).bind(launch)
    }
}

impl<T: Element, D: Dimension, K: HostKind> fmt::Debug for HostArray<T, D, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(K::NAME)
            .field("element", &std::any::type_name::<T>())
            .field("shape", &self.shape())
            .field("strides", &self.strides())
            .field("device", &self.context().device().ordinal())
            .field("address", &self.host.as_ptr())
            .finish()
    }
}
