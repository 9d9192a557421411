//! A memory manager around another one, which counts its calls: `cargo run -p cuda-mem --example counting_manager`.
//!
//! # Safety
//!
//! The implementation forwards to a manager that keeps the contract.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_driver::{Context, Driver, MemoryInfo, Stream};
use cuda_mem::{CachingManager, MemoryManager, Result, set_memory_manager, zeros};
use cuda_sys::CUdeviceptr;

/// Counts the allocations and frees of another manager.
#[derive(Debug, Default)]
struct CountingManager<M> {
    inner: M,
    allocations: AtomicUsize,
    frees: AtomicUsize,
}

// SAFETY: every call is forwarded to the inner manager, which keeps the contract.
unsafe impl<M: MemoryManager> MemoryManager for CountingManager<M> {
    fn name(&self) -> &'static str {
        "counting manager"
    }

    fn allocate(&self, bytes: usize, stream: &Stream) -> Result<CUdeviceptr> {
        let address = self.inner.allocate(bytes, stream)?;
        self.allocations.fetch_add(1, Ordering::Relaxed);
        Ok(address)
    }

    unsafe fn free(&self, address: CUdeviceptr, bytes: usize, stream: &Stream) -> Result<()> {
        self.frees.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the same contract.
        unsafe { self.inner.free(address, bytes, stream) }
    }

    fn memory_info(&self, context: &Context) -> Result<MemoryInfo> {
        self.inner.memory_info(context)
    }

    fn flush(&self, context: &Context) -> Result<()> {
        self.inner.flush(context)
    }
}

/// Makes and drops five arrays and holds a sixth. Returns the allocations and frees so far, and the bytes that the
/// inner manager caches.
pub(crate) fn counted() -> Result<(usize, usize, usize)> {
    let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    let manager = Arc::new(CountingManager::<CachingManager>::default());
    set_memory_manager(&context, manager.clone())?;
    for _ in 0..5 {
        zeros::<f32, _>(&context, 1000)?;
    }
    let _held = zeros::<f32, _>(&context, 1000)?;
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    Ok((count(&manager.allocations), count(&manager.frees), manager.inner.cached_bytes()))
}

fn main() -> Result<()> {
    let (allocations, frees, kept) = counted()?;
    println!("{allocations} allocations, {frees} frees, {kept} bytes kept");
    Ok(())
}
