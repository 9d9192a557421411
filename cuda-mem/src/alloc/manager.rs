//! [`MemoryManager`]: a custom allocator in place of the driver's, like Numba's External Memory Management plug-in.
//!
//! # Safety
//!
//! The trait and its free are `unsafe`; their contracts stand there. Nothing is called here that has a contract.

use std::fmt;
use std::sync::Arc;

use cuda_driver::{Context, MemoryInfo, Stream};
use cuda_sys::CUdeviceptr;

use super::memory::Memory;
use crate::error::{Error, Result};

/// An allocator of device memory for every buffer of a context, in place of the driver; see [`set_memory_manager`].
///
/// Memory is allocated and freed in stream order. A manager that reuses memory on another stream than the one it was
/// freed on makes the other stream wait. It is called from any thread. It must make no buffers of the same context,
/// which would call it again. It lives as long as the context and must hold no handle of it ([`Context`], [`Stream`],
/// [`Event`](cuda_driver::Event)), or the context does not end.
///
/// Errors reach the caller as [`Error::Manager`], with the manager's name. On an error for which
/// [`Error::is_out_of_memory`] holds, the crate makes the pending frees, calls [`flush`](MemoryManager::flush), and
/// tries once more. `cuda_driver::Error::other` makes an error of any other type.
///
/// [`CachingManager`](crate::CachingManager) is a manager; the crate's example `counting_manager` is another one,
/// around it.
///
/// # Safety
///
/// Other code relies on the following: [`allocate`](MemoryManager::allocate) returns an address of at least `bytes`
/// bytes of the stream's context, aligned to 256 bytes, which kernels and copies can use on that stream from then on,
/// and on other streams that wait for it. Nothing else uses them, and they stay allocated, until
/// [`free`](MemoryManager::free) was called with the address, and the work that was enqueued on its stream before has
/// finished.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use cuda_driver::{Context, Stream, driver_call};
/// use cuda_mem::{MemoryManager, Result, set_memory_manager, zeros};
/// use cuda_sys::CUdeviceptr;
///
/// /// Takes each allocation from the driver, in the order of streams.
/// #[derive(Debug)]
/// struct Direct;
///
/// // SAFETY: the driver's functions keep the contract.
/// unsafe impl MemoryManager for Direct {
///     fn name(&self) -> &str {
///         "direct"
///     }
///
///     fn allocate(&self, bytes: usize, stream: &Stream) -> Result<CUdeviceptr> {
///         let mut address = 0;
///         // SAFETY: `address` lives through the call.
///         unsafe { driver_call!(stream.context(), cuMemAllocAsync(&mut address, bytes, stream.as_raw())) }?;
///         Ok(address)
///     }
///
///     unsafe fn free(&self, address: CUdeviceptr, _bytes: usize, stream: &Stream) -> Result<()> {
///         // SAFETY: the caller keeps the same contract.
///         Ok(unsafe { driver_call!(stream.context(), cuMemFreeAsync(address, stream.as_raw())) }?)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// set_memory_manager(&context, Arc::new(Direct))?;
/// let x = zeros::<f32, _>(&context, 4)?;
/// # Ok(())
/// # }
/// ```
pub unsafe trait MemoryManager: fmt::Debug + Send + Sync + 'static {
    /// The manager's name, for errors.
    fn name(&self) -> &str;

    /// Allocates `bytes`, at least 1, for use on `stream` first.
    ///
    /// # Errors
    ///
    /// The reason why it cannot allocate.
    fn allocate(&self, bytes: usize, stream: &Stream) -> Result<CUdeviceptr>;

    /// Frees memory, in the order of `stream`.
    ///
    /// # Errors
    ///
    /// The reason why it cannot free; it is logged by `tracing`, and the manager keeps the memory.
    ///
    /// # Safety
    ///
    /// `address` came from [`allocate`](MemoryManager::allocate) of the same context with the same `bytes`, and was not
    /// freed since. Every access to the memory is ordered before on `stream`.
    unsafe fn free(&self, address: CUdeviceptr, bytes: usize, stream: &Stream) -> Result<()>;

    /// Free and total memory, as the manager reports it.
    ///
    /// # Errors
    ///
    /// If it cannot report it.
    fn memory_info(&self, context: &Context) -> Result<MemoryInfo> {
        Ok(context.memory_info()?)
    }

    /// Returns the unused memory that it caches for `context` to the driver. It is called when there is no room, and
    /// when the context ends, after the last free.
    ///
    /// # Errors
    ///
    /// The first error of a free.
    fn flush(&self, context: &Context) -> Result<()> {
        let _ = context;
        Ok(())
    }
}

/// Makes `manager` allocate every buffer of the context. It is set before the first buffer and cannot be changed later.
///
/// Memory of a chosen [`MemoryPool`](crate::MemoryPool) does not come from it.
///
/// # Errors
///
/// [`Error::ManagerTooLate`] if a buffer was allocated or a manager was set before.
pub fn set_memory_manager(context: &Context, manager: Arc<dyn MemoryManager>) -> Result<()> {
    let decided = &Memory::of(context).manager;
    decided.set(Some(manager)).map_err(|refused| Error::ManagerTooLate {
        manager: refused.map_or_else(Box::default, |manager| manager.name().into()),
        device: context.device().ordinal(),
        current: decided.get().and_then(Option::as_ref).map(|manager| manager.name().into()),
    })
}

/// Free and total memory of the context's device, as the driver or the context's manager reports it.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let memory = cuda_mem::memory_info(&context)?;
/// assert!(memory.free <= memory.total);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::Driver`] with the driver's status; [`Error::Manager`] with the manager's error.
pub fn memory_info(context: &Context) -> Result<MemoryInfo> {
    match Memory::of(context).manager.get() {
        Some(Some(manager)) => manager.named("report its memory", manager.memory_info(context)),
        _ => Ok(context.memory_info()?),
    }
}

/// Adds the manager's name to errors.
pub(crate) trait Named {
    fn named<T>(&self, action: &'static str, result: Result<T>) -> Result<T>;
}

impl Named for Arc<dyn MemoryManager> {
    #[inline]
    fn named<T>(&self, action: &'static str, result: Result<T>) -> Result<T> {
        result.map_err(|cause| Error::Manager { manager: self.name().into(), action, cause: Box::new(cause) })
    }
}
