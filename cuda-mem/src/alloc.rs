//! Where device memory comes from and goes: the device's stream-ordered pool where it has one, else `cuMemAlloc`.
//!
//! It knows nothing of who uses the memory; [`Buffer`](crate::Buffer) does.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions that allocate, which only need results that live through the call, and functions
//! that free, whose callers own the memory and have ordered the free after all uses.

use cuda_driver::{Context, Stream, driver_call};
use cuda_sys::CUdeviceptr;

use crate::error::{Error, OutOfMemory, Result};

/// Where an allocation came from, which decides how it is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The device's pool: in the order of a stream.
    Pool,
    /// `cuMemAlloc`: at once, for all streams.
    Plain,
}

/// Which source the context's device has.
pub(crate) fn source(context: &Context) -> Source {
    if context.limits().memory_pools { Source::Pool } else { Source::Plain }
}

/// Allocates `bytes`, at least 1, for use on `stream`. When there is no room, gives back what was freed and tries again.
pub(crate) fn allocate(source: Source, bytes: usize, stream: &Stream) -> Result<CUdeviceptr> {
    match attempt(source, bytes, stream) {
        Err(error) if error.is_out_of_memory() => {
            flush(source, stream.context());
            attempt(source, bytes, stream).map_err(|error| explain(error, bytes, stream.context()))
        }
        result => Ok(result?),
    }
}

fn attempt(source: Source, bytes: usize, stream: &Stream) -> cuda_driver::Result<CUdeviceptr> {
    let context = stream.context();
    let mut address = 0;
    match source {
        // SAFETY: `address` lives through the call, and the stream is live.
        Source::Pool => unsafe { driver_call!(context, cuMemAllocAsync(&mut address, bytes, stream.as_raw())) }?,
        // SAFETY: `address` lives through the call.
        Source::Plain => unsafe { driver_call!(context, cuMemAlloc_v2(&mut address, bytes)) }?,
    }
    Ok(address)
}

/// Waits until everything that was freed is free, and returns it to the device. A failure leaves less room, no harm.
fn flush(source: Source, context: &Context) {
    let flushed = || -> cuda_driver::Result<()> {
        context.wait_for_all()?;
        if source == Source::Plain {
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

/// Frees memory of the pool in the order of `stream`.
///
/// # Safety
///
/// The memory is the caller's, came from [`Source::Pool`], and every use of it comes before on `stream`.
pub(crate) unsafe fn free_in_order(address: CUdeviceptr, stream: &Stream) -> cuda_driver::Result<()> {
    // SAFETY: the caller's promise.
    unsafe { driver_call!(stream.context(), cuMemFreeAsync(address, stream.as_raw())) }
}

/// Frees memory of either source at once.
///
/// # Safety
///
/// The memory is the caller's, and no use of it runs or will.
pub(crate) unsafe fn free_now(address: CUdeviceptr, context: &Context) -> cuda_driver::Result<()> {
    // SAFETY: the caller's promise.
    unsafe { driver_call!(context, cuMemFree_v2(address)) }
}
