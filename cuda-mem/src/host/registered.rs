//! Registered memory: existing host memory that is page-locked for the duration of a closure.
//!
//! It is unregistered at the closure's end, also after a panic, before anything else happens: it does not pass through
//! the queue of deferred frees, so that the same memory can be page-locked again at once. Invariant: no work of a
//! device accesses it then, also in a lost context.
//!
//! # Safety
//!
//! The `unsafe` blocks register memory that is borrowed exclusively, and unregister it before the borrow ends.

use std::ffi::c_void;

use cuda_driver::{Context, driver_call, withholding_panics};
use cuda_sys::{CU_MEMHOSTREGISTER_DEVICEMAP, CUresult};
use ndarray::{ArrayBase, DataMut, Dimension};

use crate::Element;
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::host::array::{HostArray, HostKind, Registered, RegisteredMapped};
use crate::host::memory::{device_address, report};
use crate::layout::Layout;

/// A host array that is page-locked for copies; from [`pinned`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_mem::PinnedView;
/// use ndarray::Ix1;
///
/// fn sum(host: &PinnedView<'_, f32, Ix1>) -> cuda_mem::Result<f32> {
///     Ok(host.view()?.sum())
/// }
///
/// let mut host = ndarray::Array1::<f32>::ones(10);
/// assert_eq!(cuda_mem::pinned(&context, &mut host, |host| sum(host))??, 10.0);
/// # Ok(())
/// # }
/// ```
pub type PinnedView<'a, T, D> = HostArray<T, D, Registered<'a>>;

/// A host array that is page-locked and that kernels access in place; from [`mapped`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_mem::MappedView;
/// use ndarray::Ix1;
///
/// fn clear(host: &mut MappedView<'_, f32, Ix1>) -> cuda_mem::Result<()> {
///     host.device_mut().fill(0.0) // on the device
/// }
///
/// let mut host = ndarray::Array1::<f32>::ones(10);
/// cuda_mem::mapped(&context, &mut host, clear)??;
/// assert_eq!(host.sum(), 0.0);
/// # Ok(())
/// # }
/// ```
pub type MappedView<'a, T, D> = HostArray<T, D, RegisteredMapped<'a>>;

/// Page-locks the memory of `array`, which is in C or Fortran order, while `work` runs, so that devices copy it
/// asynchronously.
///
/// At the end it waits for the copies and unregisters the memory, also after a panic.
///
/// # Examples
///
/// ```
/// use cuda_driver::Stream;
/// use ndarray::Array2;
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut host = Array2::<f32>::ones((3, 4));
/// let mut x = cuda_mem::zeros::<f32, _>(&context, (3, 4))?;
/// let stream = Stream::new(&context)?;
/// cuda_mem::pinned(&context, &mut host, |host| x.copy_from_pinned_ref(host, &stream))??;
/// assert_eq!(x.copy_to_host()?, host);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::AlreadyPinned`] if some of the memory is page-locked; [`Error::NotContiguous`] for an array with gaps, or
/// in another order; [`Error::Driver`] if the memory cannot be page-locked, as beyond the system's limit, or if the
/// wait at the end fails.
pub fn pinned<T, S, D, R>(
    context: &Context,
    array: &mut ArrayBase<S, D>,
    work: impl for<'a> FnOnce(&mut PinnedView<'a, T, D>) -> R,
) -> Result<R>
where
    T: Element,
    S: DataMut<Elem = T>,
    D: Dimension,
{
    registered(context, array, work)
}

/// Page-locks the memory of `array`, which is in C or Fortran order, while `work` runs, and maps it for kernels:
/// launches take the array that `work` gets like a mapped array.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut host = ndarray::Array1::<u8>::zeros(5);
/// cuda_mem::mapped(&context, &mut host, |x| x.device_mut().fill(9))??;
/// assert_eq!(host.to_vec(), [9; 5]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`pinned`].
pub fn mapped<T, S, D, R>(
    context: &Context,
    array: &mut ArrayBase<S, D>,
    work: impl for<'a> FnOnce(&mut MappedView<'a, T, D>) -> R,
) -> Result<R>
where
    T: Element,
    S: DataMut<Elem = T>,
    D: Dimension,
{
    registered(context, array, work)
}

/// Runs `work` with the array page-locked. `work` can neither keep the array nor swap it with another one, since its
/// kind has a lifetime that no other array has: `K` is one of a `for<'a>`.
fn registered<T, S, D, K, R>(
    context: &Context,
    array: &mut ArrayBase<S, D>,
    work: impl FnOnce(&mut HostArray<T, D, K>) -> R,
) -> Result<R>
where
    T: Element,
    S: DataMut<Elem = T>,
    D: Dimension,
    K: HostKind,
{
    let layout = layout(array)?;
    let bytes = layout.len() * size_of::<T>();
    let host = array.raw_view_mut();
    let buffer = match bytes {
        // SAFETY: the buffer has no bytes, so nothing is accessed.
        0 => unsafe { Buffer::external(context, 0, 0, ()) },
        _ => {
            let registration = Registration::new(context, host.as_ptr().cast_mut().cast(), bytes)?;
            let device = device_address(context, registration.host())?;
            // SAFETY: the device can access the memory until it is unregistered, which is before the borrow of the
            // array ends.
            unsafe { Buffer::external(context, device, bytes, registration) }
        }
    };
    // SAFETY: the layouts are the same, and the elements are borrowed exclusively until the array is dropped here.
    let mut borrowed = Borrowed(unsafe { HostArray::<T, D, K>::new(buffer, layout, host) });
    let value = work(&mut borrowed.0);
    borrowed.end_borrow()?;
    Ok(value)
}

/// An array of borrowed memory, whose borrow never ends before all accesses have finished.
struct Borrowed<T: Element, D: Dimension, K: HostKind>(HostArray<T, D, K>);

impl<T: Element, D: Dimension, K: HostKind> Borrowed<T, D, K> {
    /// Waits for the accesses. If that fails, their state is unknown, so it waits for all work of the context.
    fn end_borrow(&mut self) -> Result<()> {
        let waited = self.0.view_mut().map(drop);
        if matches!(&waited, Err(error) if error.kernel_panic().is_none()) {
            self.0.context().wait_until_idle_or_abort();
            self.0.memory_mut().buffer_mut().forget_all();
        }
        waited
    }
}

impl<T: Element, D: Dimension, K: HostKind> Drop for Borrowed<T, D, K> {
    fn drop(&mut self) {
        // A kernel panic, which a drop cannot return, is left to the next wait.
        if let Err(error) = withholding_panics(|| self.end_borrow()) {
            tracing::debug!(%error, "a borrow of page-locked memory ended in a lost context");
        }
    }
}

fn layout<S: DataMut, D: Dimension>(array: &ArrayBase<S, D>) -> Result<Layout<D>> {
    if array.is_standard_layout() {
        return Ok(Layout::c_order(array.raw_dim()));
    }
    if array.t().is_standard_layout() {
        return Ok(Layout::f_order(array.raw_dim()));
    }
    let (shape, strides) = (array.shape().into(), array.strides().into());
    Err(Error::NotContiguous { shape, strides, what: "page-locking, which takes a contiguous array" })
}

/// Memory that is page-locked until this is dropped.
struct Registration {
    context: Context,
    address: usize,
}

impl Registration {
    fn new(context: &Context, address: *mut c_void, bytes: usize) -> Result<Self> {
        let flags = CU_MEMHOSTREGISTER_DEVICEMAP;
        // SAFETY: the memory is live as long as it is registered.
        match unsafe { driver_call!(context, cuMemHostRegister_v2(address, bytes, flags)) } {
            Ok(()) => Ok(Registration { context: context.clone(), address: address.expose_provenance() }),
            Err(error) if error.code() == Some(CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) => {
                Err(Error::AlreadyPinned { address: address.addr(), bytes })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn host(&self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.address)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // SAFETY: this value has registered the memory, and is dropped when nothing accesses it.
        let unregistered = unsafe { driver_call!(&self.context, cuMemHostUnregister(self.host())) };
        report(unregistered, "page-locked memory could not be unregistered");
    }
}
