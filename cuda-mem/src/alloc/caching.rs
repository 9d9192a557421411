//! [`CachingManager`]: keeps freed memory and gives it out again without a call to allocate.
//!
//! Each block has an event, recorded where it was freed; a stream other than that one waits for it before it gets the block.
//!
//! # Safety
//!
//! Blocks and events are made here, and are on the shelf, in the list of blocks in use, or with the one call that took them
//! from there. Raw events are addresses that the driver accepts on any thread.

use std::collections::HashMap;

use cuda_driver::{Context, Stream, driver_call};
use cuda_sys::{CUdeviceptr, CUevent, CUevent_flags};
use parking_lot::Mutex;

use super::free_list::{FreeBlock, FreeList, round_up};
use super::manager::MemoryManager;
use crate::error::{Error, Result};

/// A manager that keeps what is freed, and gives it out again for sizes that are at most a quarter smaller.
///
/// It takes memory from `cuMemAlloc`: for devices without stream-ordered pools, or to keep all memory for the process. What it
/// keeps goes back to the driver when there is no room, by [`trim`](CachingManager::trim), and with the context. One manager
/// may serve several contexts.
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
    /// Bytes and event of each block that is in use.
    used: Mutex<HashMap<CUdeviceptr, (usize, FreeEvent)>>,
}

/// The raw event of a block, which lives as long as the block.
#[derive(Clone, Copy)]
struct FreeEvent(CUevent);

// SAFETY: an address that the driver accepts on any thread.
unsafe impl Send for FreeEvent {}
// SAFETY: as above; the driver's own locks protect what it names.
unsafe impl Sync for FreeEvent {}

impl CachingManager {
    /// A manager that keeps nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes that are kept and in nobody's use.
    #[must_use]
    pub fn cached_bytes(&self) -> usize {
        self.free_list.bytes()
    }

    /// Gives back to the driver what is kept for `context`, after its work.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] if the work cannot be waited for, and then all is kept, or with the first failure of a free.
    pub fn trim(&self, context: &Context) -> Result<()> {
        context.wait_for_all()?;
        let blocks = self.free_list.drain(context.id());
        // SAFETY: the blocks are in nobody's use, and the work that used them is over.
        let freed = blocks.into_iter().map(|block| unsafe { release(context, block.address, block.freed) });
        freed.fold(Ok(()), Result::and)
    }

    /// A new block from the driver, with its event.
    fn make(&self, bytes: usize, context: &Context) -> Result<CUdeviceptr> {
        let (mut address, mut event) = (0, std::ptr::null_mut());
        let flags = CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
        // SAFETY: `event` lives through the call.
        unsafe { driver_call!(context, cuEventCreate(&mut event, flags)) }?;
        // SAFETY: `address` lives through the call.
        if let Err(error) = unsafe { driver_call!(context, cuMemAlloc_v2(&mut address, bytes)) } {
            // SAFETY: the event is new and in nobody's hands.
            let _ = unsafe { driver_call!(context, cuEventDestroy_v2(event)) };
            return Err(error.into());
        }
        self.used.lock().insert(address, (bytes, FreeEvent(event)));
        Ok(address)
    }

    /// Gives out a kept block, for which `stream` waits.
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
/// Both are the caller's, and nothing uses them any more.
unsafe fn release(context: &Context, address: CUdeviceptr, mark: FreeEvent) -> Result<()> {
    // SAFETY: the caller's promise.
    let event = unsafe { driver_call!(context, cuEventDestroy_v2(mark.0)) };
    // SAFETY: the caller's promise.
    let memory = unsafe { driver_call!(context, cuMemFree_v2(address)) };
    Ok(event.and(memory)?)
}

// SAFETY: a block is `cuMemAlloc`'s, at least as large as what was asked for, and given out only from the shelf, where it has
// come by its free, or when it is new. It was freed in the order of a stream: the same stream may have it at once, another
// waits for the event that was recorded then.
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
            let text = format!("it gave out no memory at {address:#x}");
            return Err(Error::Driver(cuda_driver::Error::other(std::io::Error::other(text))));
        };
        // SAFETY: the event is the block's, and the stream is live.
        if let Err(error) = unsafe { driver_call!(context, cuEventRecord(freed.0, stream.as_raw())) } {
            context.wait_for_all()?;
            // SAFETY: the caller's promise, and all uses are over.
            unsafe { release(context, address, freed) }?;
            tracing::debug!(%error, "freed memory could not be kept");
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
