//! [`Source`]: who gives memory, and takes it back.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions that allocate, which only need results that live through the call, and functions
//! that free, whose callers own the memory and have ordered the free after all uses.

use std::any::Any;
use std::sync::Arc;

use cuda_driver::{Context, Stream, driver_call};
use cuda_sys::CUdeviceptr;

use super::manager::{MemoryManager, Named as _, memory_info};
use super::memory::Memory;
use super::pool::MemoryPool;
use crate::error::{Error, OutOfMemory, Result};

/// Where memory came from, which decides how it goes.
pub(crate) enum Source {
    /// The device's pool: in the order of a stream.
    DefaultPool,
    /// A pool of the program's own, which lives as long: in the order of a stream.
    CustomPool(MemoryPool),
    /// `cuMemAlloc`, or another function whose memory `cuMemFree` frees: at once, for all streams.
    MemAlloc,
    /// The program's manager: in the order of a stream.
    Manager(Arc<dyn MemoryManager>),
    /// Someone else, who is told by dropping the owner.
    External(Box<dyn Any + Send + Sync>),
}

impl Source {
    /// Where memory of the context comes from where nothing else is said.
    #[inline]
    pub(crate) fn of(context: &Context) -> Self {
        match Memory::of(context).manager.get_or_init(|| None) {
            Some(manager) => Source::Manager(manager.clone()),
            None if context.limits().memory_pools => Source::DefaultPool,
            None => Source::MemAlloc,
        }
    }

    /// Returns true if it gives and takes memory in the order of a stream. Else memory is there at once, and goes when
    /// every use is over.
    #[inline]
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self, Source::DefaultPool | Source::CustomPool(_) | Source::Manager(_))
    }

    /// Returns true if the memory is someone else's.
    #[inline]
    pub(crate) fn is_external(&self) -> bool {
        matches!(self, Source::External(_))
    }

    /// Allocates `bytes`, at least 1, for use on `stream`. When there is no room, gives back what was freed and tries again.
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
            tracing::warn!(%error, "freed device memory could not be given back");
        }
        self.attempt(bytes, stream).map_err(|error| explain(error, bytes, stream.context()))
    }

    #[inline]
    fn attempt(&self, bytes: usize, stream: &Stream) -> Result<CUdeviceptr> {
        let (context, mut address) = (stream.context(), 0);
        match self {
            // SAFETY: `address` lives through the call, and the stream is live.
            Source::DefaultPool => {
                unsafe { driver_call!(context, cuMemAllocAsync(&mut address, bytes, stream.as_raw())) }?
            }
            Source::CustomPool(pool) => address = pool.allocate(bytes, stream)?,
            // SAFETY: `address` lives through the call.
            Source::MemAlloc => unsafe { driver_call!(context, cuMemAlloc_v2(&mut address, bytes)) }?,
            Source::Manager(manager) => address = manager.named("allocate", manager.allocate(bytes, stream))?,
            Source::External(_) => unreachable!("others allocate their memory"),
        }
        Ok(address)
    }

    /// Waits until everything that was freed is free, and returns it to the device. A failure leaves less room, no harm.
    fn flush(&self, context: &Context) -> Result<()> {
        // Frees that are pending wait for the same; where there are none, those in the order of streams need it.
        context.wait_for_all()?;
        Memory::of(context).free_pending(context)?;
        match self {
            Source::DefaultPool => MemoryPool::of_device(context)?.trim_to(0),
            Source::CustomPool(pool) => pool.trim_to(0),
            Source::Manager(manager) => manager.named("flush", manager.flush(context)),
            Source::MemAlloc | Source::External(_) => Ok(()),
        }
    }

    /// Gives memory back: in the order of `stream`, or, without one, now.
    ///
    /// # Safety
    ///
    /// The memory is the caller's and came from this source. Every use of it comes before on `stream`, or is over.
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
                // SAFETY: the caller's promise; what is over comes before on every stream.
                let freed = unsafe { manager.free(address, bytes, &on) };
                manager.named("free", freed)?;
            }
            (Source::DefaultPool | Source::CustomPool(_), Some(on)) => {
                // SAFETY: the caller's promise.
                unsafe { driver_call!(context, cuMemFreeAsync(address, on.as_raw())) }?;
            }
            // SAFETY: the caller's promise; the function frees memory of pools too.
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
