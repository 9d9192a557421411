//! [`Source`]: the allocator of a buffer's memory.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions that allocate, which only need results that live through the call, and
//! functions that free, whose callers own the memory and have ordered the free after all accesses.

use std::any::Any;
use std::sync::Arc;

use cuda_driver::{Context, Stream, driver_call};
use cuda_sys::CUdeviceptr;

use super::manager::{MemoryManager, Named as _, memory_info};
use super::memory::Memory;
use super::pool::MemoryPool;
use crate::error::{Error, OutOfMemory, Result};

/// The allocator that a buffer's memory came from and that frees it.
pub(crate) enum Source {
    /// The device's default pool: stream-ordered.
    DefaultPool,
    /// A custom pool, which lives as long as its buffers: stream-ordered.
    CustomPool(MemoryPool),
    /// `cuMemAlloc`, or another function whose memory `cuMemFree` frees: not stream-ordered.
    MemAlloc,
    /// The context's manager: stream-ordered.
    Manager(Arc<dyn MemoryManager>),
    /// Memory of another owner, which is released by dropping it.
    External(Box<dyn Any + Send + Sync>),
}

impl Source {
    /// The default source of the context's memory.
    #[inline]
    pub(crate) fn of(context: &Context) -> Self {
        match Memory::of(context).manager.get_or_init(|| None) {
            Some(manager) => Source::Manager(manager.clone()),
            None if context.limits().memory_pools => Source::DefaultPool,
            None => Source::MemAlloc,
        }
    }

    /// Returns true if allocation and free are stream-ordered. Otherwise memory is available at once, and is freed
    /// after every access has finished.
    #[inline]
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self, Source::DefaultPool | Source::CustomPool(_) | Source::Manager(_))
    }

    /// Returns true if the memory belongs to another owner.
    #[inline]
    pub(crate) fn is_external(&self) -> bool {
        matches!(self, Source::External(_))
    }

    /// Allocates `bytes`, at least 1, for use on `stream`. If there is no room, it returns freed memory to the device
    /// and tries again.
    #[inline]
    pub(crate) fn allocate(&self, bytes: usize, stream: &Stream) -> Result<CUdeviceptr> {
        self.attempt(bytes, stream).or_else(|error| self.allocate_again(error, bytes, stream))
    }

    #[cold]
    fn allocate_again(&self, error: Error, bytes: usize, stream: &Stream) -> Result<CUdeviceptr> {
        if !error.is_out_of_memory() {
            return Err(error);
        }
        if let Err(error) = self.flush(stream.context()) {
            tracing::warn!(%error, "freed device memory could not be returned");
        }
        self.attempt(bytes, stream).map_err(|error| explain(error, bytes, stream.context()))
    }

    #[inline]
    fn attempt(&self, bytes: usize, stream: &Stream) -> Result<CUdeviceptr> {
        let (context, mut address) = (stream.context(), 0);
        match self {
            Source::DefaultPool => {
                // SAFETY: `address` lives through the call, and the stream is live.
                unsafe { driver_call!(context, cuMemAllocAsync(&mut address, bytes, stream.as_raw())) }?
            }
            Source::CustomPool(pool) => address = pool.allocate(bytes, stream)?,
            // SAFETY: `address` lives through the call.
            Source::MemAlloc => unsafe { driver_call!(context, cuMemAlloc_v2(&mut address, bytes)) }?,
            Source::Manager(manager) => address = manager.named("allocate", manager.allocate(bytes, stream))?,
            Source::External(_) => unreachable!("external memory is not allocated here"),
        }
        Ok(address)
    }

    /// Waits until all frees have completed, and returns the memory to the device.
    fn flush(&self, context: &Context) -> Result<()> {
        // Pending frees need this wait too; without any, stream-ordered frees need it.
        context.wait_for_all()?;
        Memory::of(context).free_pending(context)?;
        match self {
            Source::DefaultPool => MemoryPool::of_device(context)?.trim_to(0),
            Source::CustomPool(pool) => pool.trim_to(0),
            Source::Manager(manager) => manager.named("flush", manager.flush(context)),
            Source::MemAlloc | Source::External(_) => Ok(()),
        }
    }

    /// Frees memory: in the order of `stream`, or, without a stream, now.
    ///
    /// # Safety
    ///
    /// The caller owns the memory, which came from this source. Every access to it is ordered before on `stream`, or
    /// has finished.
    pub(crate) unsafe fn free(
        &mut self,
        address: CUdeviceptr,
        bytes: usize,
        context: &Context,
        stream: Option<&Stream>,
    ) -> Result<()> {
        match (self, stream) {
            (Source::External(owner), _) => *owner = Box::new(()),
            (Source::Manager(manager), on) => {
                let on = on.cloned().unwrap_or_else(|| context.default_stream());
                // SAFETY: the caller owns the memory; finished accesses are ordered before on every stream.
                let freed = unsafe { manager.free(address, bytes, &on) };
                manager.named("free", freed)?;
            }
            (Source::DefaultPool | Source::CustomPool(_), Some(on)) => {
                // SAFETY: the caller owns the memory, and its accesses are ordered before on the stream.
                unsafe { driver_call!(context, cuMemFreeAsync(address, on.as_raw())) }?;
            }
            // SAFETY: the caller owns the memory, whose accesses have finished; the function frees memory of pools too.
            _ => unsafe { driver_call!(context, cuMemFree_v2(address)) }?,
        }
        Ok(())
    }
}

fn explain(error: Error, requested: usize, context: &Context) -> Error {
    match error {
        Error::Driver(cause) if cause.is_out_of_memory() => {
            let (device, memory) = (context.device().ordinal(), memory_info(context).ok());
            Error::OutOfMemory(Box::new(OutOfMemory { requested, device, memory, cause }))
        }
        error => error,
    }
}
