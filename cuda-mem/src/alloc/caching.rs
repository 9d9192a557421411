//! [`CachingManager`]: a caching allocator, which keeps freed blocks and reuses them without a call to allocate.
//!
//! Each block has an event, recorded where it was freed; another stream waits for it before it gets the block.
//!
//! # Safety
//!
//! Blocks and events are created here, and are in the free list, in the list of used blocks, or owned by the one call
//! that took them from there. Raw events are addresses that the driver accepts on any thread.

use std::collections::HashMap;

use cuda_driver::{Context, Stream, driver_call};
use cuda_sys::{CUdeviceptr, CUevent, CUevent_flags};
use parking_lot::Mutex;

use super::free_list::{FreeBlock, FreeList, round_up};
use super::manager::MemoryManager;
use crate::error::{Error, Result};

/// A manager that caches freed blocks, and reuses them for requests that are at most a quarter smaller.
///
/// It allocates with `cuMemAlloc`: for devices without stream-ordered pools, or to keep all memory for the process.
/// Cached blocks are returned to the driver when memory runs out, by [`trim`](CachingManager::trim), and at the end of
/// the context. One manager may serve several contexts.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use cuda_mem::{CachingManager, set_memory_manager, zeros};
///
/// # fn main() -> cuda_mem::Result<()> {
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let manager = Arc::new(CachingManager::new());
/// set_memory_manager(&context, manager.clone())?;
/// let first = zeros::<f32, _>(&context, 1000)?.device_ptr();
/// assert_eq!(manager.cached_bytes(), 4096);
/// assert_eq!(zeros::<f32, _>(&context, 900)?.device_ptr(), first);
/// manager.trim(&context)?;
/// assert_eq!(manager.cached_bytes(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct CachingManager {
    free_list: FreeList<FreeEvent>,
    /// The size and the event of each used block.
    used: Mutex<HashMap<CUdeviceptr, (usize, FreeEvent)>>,
}

/// The raw event of a block, which lives as long as the block.
#[derive(Clone, Copy)]
struct FreeEvent(CUevent);

// SAFETY: the raw event is an address that the driver accepts on any thread.
unsafe impl Send for FreeEvent {}
// SAFETY: the driver's own locks protect the event that the address names.
unsafe impl Sync for FreeEvent {}

impl CachingManager {
    /// A manager with an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes of the cached, unused blocks.
    #[must_use]
    pub fn cached_bytes(&self) -> usize {
        self.free_list.bytes()
    }

    /// Returns the cached blocks of `context` to the driver, after its work.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] if the wait for the work fails (then all blocks stay cached), or the first error of a free.
    pub fn trim(&self, context: &Context) -> Result<()> {
        context.wait_for_all()?;
        let blocks = self.free_list.drain(context.id());
        // SAFETY: the blocks are unused, and the work that used them has finished.
        let freed = blocks.into_iter().map(|block| unsafe { release(context, block.address, block.freed) });
        freed.fold(Ok(()), Result::and)
    }

    /// Allocates a block from the driver, with its event.
    fn make(&self, bytes: usize, context: &Context) -> Result<CUdeviceptr> {
        let (mut address, mut event) = (0, std::ptr::null_mut());
        let flags = CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
        // SAFETY: `event` lives through the call.
        unsafe { driver_call!(context, cuEventCreate(&mut event, flags)) }?;
        // SAFETY: `address` lives through the call.
        if let Err(error) = unsafe { driver_call!(context, cuMemAlloc_v2(&mut address, bytes)) } {
            // SAFETY: the event is new and unused.
            let _ = unsafe { driver_call!(context, cuEventDestroy_v2(event)) };
            return Err(error.into());
        }
        self.used.lock().insert(address, (bytes, FreeEvent(event)));
        Ok(address)
    }

    /// Reuses a cached block; `stream` waits for its event.
    fn reuse(&self, block: FreeBlock<FreeEvent>, stream: &Stream) -> Result<CUdeviceptr> {
        if block.stream != stream.id().number() {
            // SAFETY: the event is the block's, and the stream is live.
            let waits = unsafe { driver_call!(stream.context(), cuStreamWaitEvent(stream.as_raw(), block.freed.0, 0)) };
            if let Err(error) = waits {
                self.free_list.put(block);
                return Err(error.into());
            }
        }
        self.used.lock().insert(block.address, (block.bytes, block.freed));
        Ok(block.address)
    }
}

/// Frees a block and destroys its event.
///
/// # Safety
///
/// The caller owns both, and nothing uses them any more.
unsafe fn release(context: &Context, address: CUdeviceptr, mark: FreeEvent) -> Result<()> {
    // SAFETY: the caller owns both, and nothing uses them.
    let event = unsafe { driver_call!(context, cuEventDestroy_v2(mark.0)) };
    // SAFETY: the caller owns both, and nothing uses them.
    let memory = unsafe { driver_call!(context, cuMemFree_v2(address)) };
    Ok(event.and(memory)?)
}

// SAFETY: a block comes from `cuMemAlloc`, is at least as large as requested, and is handed out only when it is new or
// from the free list, which it enters by its free. It was freed in the order of a stream: the same stream may reuse it
// at once, and another one waits for the event that was recorded then.
unsafe impl MemoryManager for CachingManager {
    fn name(&self) -> &'static str {
        "caching manager"
    }

    fn allocate(&self, bytes: usize, stream: &Stream) -> Result<CUdeviceptr> {
        let bytes = round_up(bytes);
        match self.free_list.take(bytes, stream.context().id(), stream.id().number()) {
            Some(block) => self.reuse(block, stream),
            None => self.make(bytes, stream.context()),
        }
    }

    unsafe fn free(&self, address: CUdeviceptr, _bytes: usize, stream: &Stream) -> Result<()> {
        let context = stream.context();
        let Some((bytes, freed)) = self.used.lock().remove(&address) else {
            let text = format!("the manager has not allocated memory at {address:#x}");
            return Err(Error::Driver(cuda_driver::Error::other(std::io::Error::other(text))));
        };
        // SAFETY: the event is the block's, and the stream is live.
        if let Err(error) = unsafe { driver_call!(context, cuEventRecord(freed.0, stream.as_raw())) } {
            context.wait_for_all()?;
            // SAFETY: the caller owns the memory, and all accesses have finished.
            unsafe { release(context, address, freed) }?;
            tracing::debug!(%error, "a freed block could not be cached");
            return Ok(());
        }
        self.free_list.put(FreeBlock { address, bytes, context: context.id(), stream: stream.id().number(), freed });
        Ok(())
    }

    fn flush(&self, context: &Context) -> Result<()> {
        self.trim(context)
    }
}

impl std::fmt::Debug for CachingManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CachingManager").field("cached_bytes", &self.cached_bytes()).finish_non_exhaustive()
    }
}
