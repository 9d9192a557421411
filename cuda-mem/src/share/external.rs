//! Arrays over external memory, with any strides, which are checked.
//!
//! # Safety
//!
//! The `unsafe` blocks pass on the callers' guarantees about the memory, for the bytes of the checked layout.

use std::any::Any;

use cuda_driver::{Context, Stream};
use cuda_sys::CUdeviceptr;
use ndarray::{Dimension, IntoDimension};

use crate::Element;
use crate::array::DeviceArray;
use crate::array::storage::{Owned, ReadOnly};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::layout::{self, Layout};

impl<T: Element, D: Dimension> DeviceArray<T, D> {
    /// An array over memory that `owner` keeps alive: it is dropped after the array and every access. `first` is the
    /// address of the first element; `strides` count elements and may be negative.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::DeviceArray;
    /// use ndarray::Ix2;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let owner = cuda_mem::from_slice(&context, &[1, 2, 3, 4, 5, 6])?;
    /// let first = owner.device_ptr();
    /// // SAFETY: the six elements lie in `owner`, which is used in no other way.
    /// let x = unsafe { DeviceArray::<i32, Ix2>::from_raw_parts(&context, first, (2, 3), &[3, 1], owner) }?;
    /// assert_eq!(x.copy_to_host()?, ndarray::array![[1, 2, 3], [4, 5, 6]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::External`] for an address that is 0 or not aligned, strides of another number of axes or beyond the
    /// address space, and overlapping elements; [`Error::TooLarge`] for a shape beyond the address space. `owner` is
    /// dropped.
    ///
    /// # Safety
    ///
    /// As for [`Buffer::external`], for the bytes from the lowest element to the highest.
    pub unsafe fn from_raw_parts(
        context: &Context,
        first: CUdeviceptr,
        shape: impl IntoDimension<Dim = D>,
        strides: &[isize],
        owner: impl Any + Send + Sync,
    ) -> Result<Self> {
        let (start, layout) = checked_layout::<T, D>(first, shape.into_dimension(), strides)?;
        if layout.repeats() {
            let what =
                "several indices share an element, so that the array cannot be written; use `from_raw_parts_read_only`";
            return Err(refused::<T>(first, layout.shape(), strides, what));
        }
        // SAFETY: the caller answers for the bytes of the layout, until `owner` is dropped.
        let buffer = unsafe { Buffer::external(context, start, layout.span().end * size_of::<T>(), owner) };
        Ok(DeviceArray::with_storage(Owned(buffer), layout))
    }
}

impl<T: Element, D: Dimension> DeviceArray<T, D> {
    /// Ends an array over memory that something else keeps, without a wait on the host: what comes on `stream` afterwards comes
    /// after every use. Returns the owner; `None` if the array's memory is its own, which is freed as by dropping the array.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::DeviceArray;
    /// use ndarray::Ix1;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = context.default_stream();
    /// let theirs = cuda_mem::from_slice(&context, &[1, 2, 3])?;
    /// let first = theirs.device_ptr();
    /// // SAFETY: the three elements lie in `theirs`, which is used in no other way.
    /// let mut x = unsafe { DeviceArray::<i32, Ix1>::from_raw_parts(&context, first, 3, &[1], theirs) }?;
    /// x.fill(7)?;
    /// // SAFETY: an array is freed and used in the order of its stream, which is this one.
    /// let owner = unsafe { x.into_owner(&stream) }?;
    /// let owner = owner.and_then(|owner| owner.downcast::<DeviceArray<i32, Ix1>>().ok());
    /// assert_eq!(owner.expect("it was lent by an array").copy_to_host()?.to_vec(), [7; 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherContext`] for a stream of another device; [`Error::Driver`] if ordering fails. The array and its owner are
    /// dropped, after every use.
    ///
    /// # Safety
    ///
    /// As [`Buffer::into_owner`].
    pub unsafe fn into_owner(self, stream: &Stream) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        // SAFETY: the caller's promise.
        unsafe { self.into_buffer().into_owner(stream) }
    }

    /// The owner of the memory of an array from [`from_raw_parts`](DeviceArray::from_raw_parts) and its kin; `None` for memory that
    /// is the array's own.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::DeviceArray;
    /// use ndarray::Ix1;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let owner = cuda_mem::from_slice(&context, &[1, 2, 3])?;
    /// assert!(owner.owner().is_none());
    /// // SAFETY: the three elements lie in `owner`, which is used in no other way.
    /// let x = unsafe { DeviceArray::<i32, Ix1>::from_raw_parts(&context, owner.device_ptr(), 3, &[1], owner) }?;
    /// assert!(x.owner().is_some_and(|owner| owner.is::<DeviceArray<i32, Ix1>>()));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn owner(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.buffer().owner()
    }
}

impl<T: Element, D: Dimension> DeviceArray<T, D, ReadOnly> {
    /// As [`from_raw_parts`](DeviceArray::from_raw_parts), of memory that is only read; indices may share elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::{DeviceArray, ReadOnly};
    /// use ndarray::Ix2;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let owner = cuda_mem::from_slice(&context, &[1, 2])?;
    /// let first = owner.device_ptr();
    /// // SAFETY: the two elements lie in `owner`, which is used in no other way.
    /// let x = unsafe { DeviceArray::<i32, Ix2, ReadOnly>::from_raw_parts_read_only(&context, first, (2, 2), &[0, 1], owner) }?;
    /// assert_eq!(x.copy_to_host()?, ndarray::array![[1, 2], [1, 2]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`from_raw_parts`](DeviceArray::from_raw_parts).
    ///
    /// # Safety
    ///
    /// As [`from_raw_parts`](DeviceArray::from_raw_parts), for a buffer that is never written.
    pub unsafe fn from_raw_parts_read_only(
        context: &Context,
        first: CUdeviceptr,
        shape: impl IntoDimension<Dim = D>,
        strides: &[isize],
        owner: impl Any + Send + Sync,
    ) -> Result<Self> {
        let (start, layout) = checked_layout::<T, D>(first, shape.into_dimension(), strides)?;
        // SAFETY: the caller answers for the bytes of the layout, until `owner` is dropped.
        let buffer = unsafe { Buffer::external(context, start, layout.span().end * size_of::<T>(), owner) };
        Ok(DeviceArray::with_storage(ReadOnly(buffer), layout))
    }
}

/// Checks the layout. Returns the address of the lowest element, and the layout from there.
fn checked_layout<T: Element, D: Dimension>(
    first: CUdeviceptr,
    dim: D,
    strides: &[isize],
) -> Result<(CUdeviceptr, Layout<D>)> {
    layout::byte_size(dim.slice(), size_of::<T>())?;
    let shape: Vec<usize> = dim.slice().to_vec();
    let refuse = |what| refused::<T>(first, &shape, strides, what);
    if strides.len() != dim.ndim() {
        return Err(refuse("there is not one stride for each axis"));
    }
    if dim.size() == 0 {
        return Ok((0, Layout::c_order(dim)));
    }
    if first == 0 || !first.is_multiple_of(align_of::<T>() as u64) {
        return Err(refuse("the address is 0 or not aligned for the elements"));
    }
    let beyond = || refuse("its elements exceed the address space");
    let below = Layout::elements_below(&dim, strides).ok_or_else(beyond)?;
    let layout = Layout::strided(dim, strides, below).ok_or_else(beyond)?;
    let bytes = |elements: usize| elements.checked_mul(size_of::<T>()).and_then(|bytes| u64::try_from(bytes).ok());
    let start = bytes(below).and_then(|below| first.checked_sub(below)).ok_or_else(beyond)?;
    bytes(layout.span().end).and_then(|all| start.checked_add(all)).ok_or_else(beyond)?;
    Ok((start, layout))
}

fn refused<T>(address: CUdeviceptr, shape: &[usize], strides: &[isize], what: &'static str) -> Error {
    let (shape, strides) = (shape.into(), strides.into());
    Error::External { address, shape, strides, element: std::any::type_name::<T>(), what }
}
