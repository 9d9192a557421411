//! Where device memory comes from and goes: the device's stream-ordered pool where it has one, else `cuMemAlloc`.
//!
//! It knows nothing of who uses the memory; [`Buffer`](crate::Buffer) does.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions that allocate, which only need results that live through the call, and functions
//! that free, whose callers own the memory and have ordered the free after all uses.

use std::any::Any;

use cuda_driver::{Context, Stream, driver_call};
use cuda_sys::CUdeviceptr;

use crate::error::{Error, OutOfMemory, Result};

/// Where memory came from, which decides how it goes.
pub(crate) enum Source {
    /// The device's pool: in the order of a stream.
    Pool,
    /// `cuMemAlloc`, or another function whose memory `cuMemFree` frees: at once, for all streams.
    Plain,
    /// Someone else, who is told by dropping the owner.
    External(Box<dyn Any + Send + Sync>),
}

impl Source {
    /// Where memory of the context comes from where nothing else is said.
    pub(crate) fn of(context: &Context) -> Self {
        if context.limits().memory_pools { Source::Pool } else { Source::Plain }
    }

    /// Whether it gives and takes memory in the order of a stream. Else memory is there at once, and goes when every use is
    /// over.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self, Source::Pool)
    }

    /// Allocates `bytes`, at least 1, for use on `stream`. When there is no room, gives back what was freed and tries again.
    pub(crate) fn allocate(&self, bytes: usize, stream: &Stream) -> Result<CUdeviceptr> {
        match self.attempt(bytes, stream) {
            Err(error) if error.is_out_of_memory() => {
                flush(self, stream.context());
                self.attempt(bytes, stream).map_err(|error| explain(error, bytes, stream.context()))
            }
            result => Ok(result?),
        }
    }

    fn attempt(&self, bytes: usize, stream: &Stream) -> cuda_driver::Result<CUdeviceptr> {
        let context = stream.context();
        let mut address = 0;
        match self {
            // SAFETY: `address` lives through the call, and the stream is live.
            Source::Pool => unsafe { driver_call!(context, cuMemAllocAsync(&mut address, bytes, stream.as_raw())) }?,
            // SAFETY: `address` lives through the call.
            Source::Plain => unsafe { driver_call!(context, cuMemAlloc_v2(&mut address, bytes)) }?,
            Source::External(_) => unreachable!("others allocate their memory"),
        }
        Ok(address)
    }

    /// Gives memory back: in the order of `stream`, or, without one, now.
    ///
    /// # Safety
    ///
    /// The memory is the caller's and came from this source. Every use of it comes before on `stream`, or is over.
    pub(crate) unsafe fn free(
        &mut self,
        address: CUdeviceptr,
        context: &Context,
        stream: Option<&Stream>,
    ) -> Result<()> {
        match (self, stream) {
            (Source::External(owner), _) => *owner = Box::new(()),
            // SAFETY: the caller's promise.
            (Source::Pool, Some(on)) => unsafe { driver_call!(context, cuMemFreeAsync(address, on.as_raw())) }?,
            // SAFETY: the caller's promise; the function frees memory of pools too.
            (Source::Pool | Source::Plain, _) => unsafe { driver_call!(context, cuMemFree_v2(address)) }?,
        }
        Ok(())
    }
}

/// Waits until everything that was freed is free, and returns it to the device. A failure leaves less room, no harm.
fn flush(source: &Source, context: &Context) {
    let flushed = || -> cuda_driver::Result<()> {
        context.wait_for_all()?;
        if !source.is_ordered() {
            return Ok(());
        }
        let mut pool = std::ptr::null_mut();
        let device = context.device().as_raw()?;
        // SAFETY: `pool` lives through the call, and the device exists.
        unsafe { driver_call!(context, cuDeviceGetDefaultMemPool(&mut pool, device)) }?;
        // SAFETY: the pool is the device's own; memory in use stays.
        unsafe { driver_call!(context, cuMemPoolTrimTo(pool, 0)) }
    };
    if let Err(error) = flushed() {
        tracing::warn!(%error, "freed device memory could not be given back");
    }
}

fn explain(cause: cuda_driver::Error, requested: usize, context: &Context) -> Error {
    if !cause.is_out_of_memory() {
        return cause.into();
    }
    let (device, memory) = (context.device().ordinal(), context.memory_info().ok());
    Error::OutOfMemory(Box::new(OutOfMemory { requested, device, memory, cause }))
}
