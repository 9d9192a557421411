//! [`Memory`]: the allocator state of a context, and the execution of pending frees.
//!
//! It is attached to the context and holds no handle of it, so that it does not keep the context alive. A pending free
//! has no access records: all work of the context is waited for before it is made.
//!
//! # Safety
//!
//! The block frees memory that its buffer has moved to the queue, after a wait for all work of the context.

use std::sync::{Arc, OnceLock};

use cuda_driver::{Attached, Context};
use cuda_sys::CUdeviceptr;

use super::cleanup::Limits;
use super::manager::MemoryManager;
use super::pending::{Batch, Pending};
use super::source::Source;
use super::statistics::Statistics;
use crate::error::Result;

/// Memory of a dropped buffer that is still to be freed.
pub(crate) struct Freed {
    pub(crate) address: CUdeviceptr,
    pub(crate) bytes: usize,
    pub(crate) source: Source,
}

#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) statistics: Statistics,
    /// Shared with the guards, so that a forgotten guard keeps no context alive.
    pub(crate) pending: Arc<Pending<Freed>>,
    pub(crate) limits: Limits,
    /// The custom manager, if any; decided by the first allocation.
    pub(crate) manager: OnceLock<Option<Arc<dyn MemoryManager>>>,
}

impl Memory {
    #[inline]
    pub(crate) fn of(context: &Context) -> &Memory {
        context.attached(Memory::default)
    }

    /// Adds a free to the queue, and makes all pending frees if they exceed the limits.
    pub(crate) fn defer(&self, freed: Freed, context: &Context) {
        let (max_count, max_bytes) = self.limits.get(context);
        let bytes = freed.bytes;
        if let Some(batch) = self.pending.add(freed, bytes, max_count, max_bytes)
            && let Err(error) = self.free(batch, context)
        {
            tracing::debug!(%error, "pending frees of device memory stay pending");
        }
    }

    /// Makes the frees that are pending, unless they are deferred.
    pub(crate) fn free_pending(&self, context: &Context) -> Result<()> {
        self.pending.take().map_or(Ok(()), |batch| self.free(batch, context))
    }

    /// Waits for all work of the context, and frees the memory. If the wait fails, all of it is pending again.
    fn free(&self, batch: Batch<Freed>, context: &Context) -> Result<()> {
        if let Err(error) = context.wait_for_all() {
            self.pending.put_back(batch);
            return Err(error.into());
        }
        for mut freed in batch.items {
            // SAFETY: the queue owns the memory, and all work has been waited for since its buffer was dropped.
            let done = unsafe { freed.source.free(freed.address, freed.bytes, context, None) };
            if let Err(error) = done {
                tracing::warn!(%error, bytes = freed.bytes, "device memory could not be freed");
            }
        }
        Ok(())
    }
}

impl Attached for Memory {
    fn close(&self, context: &Context) {
        let batch = self.pending.take_all();
        let freed = if batch.items.is_empty() { Ok(()) } else { self.free(batch, context) };
        let flushed = match self.manager.get() {
            Some(Some(manager)) => freed.and_then(|()| manager.flush(context)),
            _ => freed,
        };
        if let Err(error) = flushed {
            tracing::warn!(%error, "device memory could not be freed at the end of its context");
        }
    }
}
