//! Pinned, mapped and managed arrays: host memory that the driver allocates.
//!
//! # Safety
//!
//! The `unsafe` blocks allocate and free such memory, which only its array accesses.

use std::ffi::c_void;

use cuda_driver::{Context, driver_call};
use cuda_sys::{
    CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_WRITECOMBINED, CUdevice_attribute,
    CUdeviceptr, CUmemAttach_flags,
};
use ndarray::{Dimension, Order, RawArrayViewMut, ShapeArg, ShapeBuilder};

use crate::Element;
use crate::alloc::Source;
use crate::array::like::Like;
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::host::array::{HostArray, HostKind, Managed, Mapped, Pinned};
use crate::layout::{self, Layout};

/// An array in page-locked (pinned) host memory, which devices copy asynchronously; see
/// [`copy_from_pinned`](crate::DeviceArray::copy_from_pinned).
///
/// Page-locked memory is scarce: the system cannot page it out.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut staging = cuda_mem::pinned_array::<f32, _>(&context, 4)?;
/// staging.view_mut()?.fill(0.5);
/// assert_eq!(staging.view()?.to_vec(), [0.5; 4]);
/// # Ok(())
/// # }
/// ```
pub type PinnedArray<T, D> = HostArray<T, D, Pinned>;

/// An array in page-locked host memory that kernels read and write in place, over the bus, without copies.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut x = cuda_mem::mapped_array::<u8, _>(&context, 4)?;
/// x.device_mut().fill(3)?;
/// assert_eq!(x.view()?.to_vec(), [3; 4]);
/// # Ok(())
/// # }
/// ```
pub type MappedArray<T, D> = HostArray<T, D, Mapped>;

/// An array in managed memory, which the driver migrates to the host or the device that accesses it.
///
/// # Examples
///
/// ```
/// use cuda_mem::MemoryLocation;
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut x = cuda_mem::managed_array::<u8, _>(&context, 4)?;
/// x.view_mut()?.fill(1);
/// x.prefetch(MemoryLocation::Device(0), &context.default_stream())?;
/// assert_eq!(x.device().copy_to_host()?.to_vec(), [1; 4]);
/// # Ok(())
/// # }
/// ```
pub type ManagedArray<T, D> = HostArray<T, D, Managed>;

/// Options for the allocation of page-locked memory.
///
/// # Examples
///
/// ```
/// use cuda_mem::{HostOptions, PinnedArray};
/// use ndarray::Ix1;
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let options = HostOptions::new().portable(true).write_combined(true);
/// let staging = PinnedArray::<f32, Ix1>::with_options(&context, 1000, options)?;
/// assert_eq!(staging.len(), 1000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct HostOptions {
    portable: bool,
    write_combined: bool,
}

impl HostOptions {
    /// The defaults: page-locked for the one context, cached by the host.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the memory is portable: page-locked for all devices.
    pub fn portable(mut self, portable: bool) -> Self {
        self.portable = portable;
        self
    }

    /// Sets whether the memory is write-combined: uncached on the host, faster for the device to read, very slow for
    /// the host to read.
    pub fn write_combined(mut self, write_combined: bool) -> Self {
        self.write_combined = write_combined;
        self
    }

    fn flags(self) -> u32 {
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        flag(self.portable, CU_MEMHOSTALLOC_PORTABLE) | flag(self.write_combined, CU_MEMHOSTALLOC_WRITECOMBINED)
    }
}

/// Page-locked memory that the driver allocated.
struct HostAllocation {
    context: Context,
    address: usize,
}

impl HostAllocation {
    fn new(context: &Context, bytes: usize, flags: u32, kind: &'static str) -> Result<Self> {
        let mut address = std::ptr::null_mut();
        // SAFETY: `address` lives through the call.
        let allocated = unsafe { driver_call!(context, cuMemHostAlloc(&mut address, bytes, flags)) };
        allocated.map_err(|cause| no_room(cause, bytes, kind))?;
        Ok(HostAllocation { context: context.clone(), address: address.expose_provenance() })
    }

    fn host(&self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.address)
    }
}

/// The device address of mapped memory.
pub(crate) fn device_address(context: &Context, host: *mut c_void) -> Result<CUdeviceptr> {
    let mut address = 0;
    // SAFETY: `address` lives through the call; the driver refuses memory that is not mapped.
    unsafe { driver_call!(context, cuMemHostGetDevicePointer_v2(&mut address, host, 0)) }?;
    Ok(address)
}

impl Drop for HostAllocation {
    fn drop(&mut self) {
        // SAFETY: this value owns the memory and is dropped when nothing accesses it.
        report(
            unsafe { driver_call!(&self.context, cuMemFreeHost(self.host())) },
            "page-locked memory could not be freed",
        );
    }
}

/// Logs an error of a free. In a lost context the memory is gone already.
pub(crate) fn report(freed: cuda_driver::Result<()>, what: &str) {
    if let Err(error) = freed {
        tracing::warn!(%error, "{what}");
    }
}

fn no_room(cause: cuda_driver::Error, bytes: usize, kind: &'static str) -> Error {
    if cause.is_out_of_memory() { Error::HostMemory { bytes, kind, cause } } else { cause.into() }
}

/// A contiguous array of a shape in memory from `allocate`, which gets the size in bytes and returns the buffer and the
/// host address.
fn new_array<T: Element, Sh: ShapeArg, K: HostKind>(
    context: &Context,
    shape: Sh,
    allocate: impl FnOnce(usize) -> Result<(Buffer, *mut c_void)>,
) -> Result<HostArray<T, Sh::Dim, K>> {
    let (dim, order) = shape.into_shape_and_order();
    let fortran = order == Some(Order::ColumnMajor);
    let bytes = layout::byte_size(dim.slice(), size_of::<T>())?;
    let layout = if fortran { Layout::f_order(dim.clone()) } else { Layout::c_order(dim.clone()) };
    let (buffer, host) = match bytes {
        // SAFETY: the buffer has no bytes, so nothing is accessed.
        0 => (unsafe { Buffer::external(context, 0, 0, ()) }, std::ptr::dangling_mut::<T>()),
        _ => allocate(bytes).map(|(buffer, host)| (buffer, host.cast()))?,
    };
    // SAFETY: the memory has the bytes of the shape, which do not exceed `isize`, and is aligned to a page.
    let host = unsafe { RawArrayViewMut::from_shape_ptr(dim.set_f(fortran), host) };
    // SAFETY: the buffer keeps the memory alive, with the same layout for host and device. It is new from the system,
    // whose pages are initialised, and every bit pattern is an element.
    Ok(unsafe { HostArray::new(buffer, layout, host) })
}

impl<T: Element, D: Dimension> PinnedArray<T, D> {
    /// An array of unspecified contents in page-locked memory; see [`pinned_array`].
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::{HostOptions, PinnedArray};
    /// use ndarray::Ix1;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = PinnedArray::<f32, Ix1>::with_options(&context, 1000, HostOptions::new().portable(true))?;
    /// assert_eq!(x.len(), 1000);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`pinned_array`].
    pub fn with_options(context: &Context, shape: impl ShapeArg<Dim = D>, options: HostOptions) -> Result<Self> {
        new_array(context, shape, |bytes| {
            let memory = HostAllocation::new(context, bytes, options.flags(), "pinned")?;
            let host = memory.host();
            // SAFETY: with unified addressing, which every current device has, page-locked memory has one address for
            // host and devices; it lives with its owner, and nothing else has its address.
            Ok((unsafe { Buffer::external(context, memory.address as u64, bytes, memory) }, host))
        })
    }
}

impl<T: Element, D: Dimension> MappedArray<T, D> {
    /// An array of unspecified contents in page-locked memory that kernels use in place; see [`mapped_array`].
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::{HostOptions, MappedArray};
    /// use ndarray::Ix1;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = MappedArray::<f32, Ix1>::with_options(&context, 1000, HostOptions::new().write_combined(true))?;
    /// assert_eq!(x.len(), 1000);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`mapped_array`].
    pub fn with_options(context: &Context, shape: impl ShapeArg<Dim = D>, options: HostOptions) -> Result<Self> {
        new_array(context, shape, |bytes| {
            let memory = HostAllocation::new(context, bytes, options.flags() | CU_MEMHOSTALLOC_DEVICEMAP, "mapped")?;
            let (host, device) = (memory.host(), device_address(context, memory.host())?);
            // SAFETY: the device can access the memory at that address as long as its owner lives, and nothing else has
            // its address.
            Ok((unsafe { Buffer::external(context, device, bytes, memory) }, host))
        })
    }
}

/// An array of unspecified contents in page-locked host memory: in C order, unless the shape names another, as in `((2,
/// 3), Order::F)`. [`PinnedArray::with_options`] allocates portable or write-combined memory.
///
/// # Errors
///
/// [`Error::HostMemory`] if the host has no room; [`Error::TooLarge`] if the array would exceed the address space.
pub fn pinned_array<T: Element, Sh: ShapeArg>(context: &Context, shape: Sh) -> Result<PinnedArray<T, Sh::Dim>> {
    PinnedArray::with_options(context, shape, HostOptions::new())
}

/// A pinned array of the shape and element type of `other`, an array on the [host or a device](Like), with unspecified
/// contents: in Fortran order if `other` is, else in C order.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = ndarray::Array2::<f32>::zeros((2, 3));
/// assert_eq!(cuda_mem::pinned_array_like(&context, &x)?.dim(), (2, 3));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`pinned_array`].
pub fn pinned_array_like<L: Like>(context: &Context, other: &L) -> Result<PinnedArray<L::Element, L::Dim>> {
    pinned_array(context, other.shape_and_order())
}

/// An array of unspecified contents in page-locked host memory that kernels take like device arrays; as for
/// [`pinned_array`].
///
/// # Errors
///
/// As [`pinned_array`].
pub fn mapped_array<T: Element, Sh: ShapeArg>(context: &Context, shape: Sh) -> Result<MappedArray<T, Sh::Dim>> {
    MappedArray::with_options(context, shape, HostOptions::new())
}

/// A mapped array of the shape and element type of `other`; as for [`pinned_array_like`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = ndarray::Array2::<f32>::zeros((2, 3));
/// assert_eq!(cuda_mem::mapped_array_like(&context, &x)?.dim(), (2, 3));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`pinned_array`].
pub fn mapped_array_like<L: Like>(context: &Context, other: &L) -> Result<MappedArray<L::Element, L::Dim>> {
    mapped_array(context, other.shape_and_order())
}

/// An array of unspecified contents in managed memory, which kernels take like device arrays; as for
/// [`device_array`](crate::device_array).
///
/// # Errors
///
/// [`Error::Unsupported`] for a device without concurrent managed access, as before Pascal and on Windows;
/// [`Error::HostMemory`] if there is no room; [`Error::TooLarge`] if the array would exceed the address space.
pub fn managed_array<T: Element, Sh: ShapeArg>(context: &Context, shape: Sh) -> Result<ManagedArray<T, Sh::Dim>> {
    // Without it the host must not access managed memory while any kernel runs, which no borrow could prevent.
    let concurrent = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    if context.device().attribute(concurrent)? == 0 {
        let (what, instead) = ("managed memory that host and kernels can access concurrently", "use `mapped_array`");
        return Err(Error::Unsupported { device: context.device().ordinal(), what, instead });
    }
    new_array(context, shape, |bytes| {
        let mut address = 0;
        let flags = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL;
        // SAFETY: `address` lives through the call.
        let allocated = unsafe { driver_call!(context, cuMemAllocManaged(&mut address, bytes, flags.0)) };
        allocated.map_err(|cause| no_room(cause, bytes, "managed"))?;
        let buffer = Buffer::from_source(context, address, bytes, Source::MemAlloc);
        Ok((buffer, std::ptr::with_exposed_provenance_mut(address as usize)))
    })
}

/// A managed array of the shape and element type of `other`; as for [`pinned_array_like`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = ndarray::Array2::<f32>::zeros((2, 3));
/// assert_eq!(cuda_mem::managed_array_like(&context, &x)?.dim(), (2, 3));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`managed_array`].
pub fn managed_array_like<L: Like>(context: &Context, other: &L) -> Result<ManagedArray<L::Element, L::Dim>> {
    managed_array(context, other.shape_and_order())
}
