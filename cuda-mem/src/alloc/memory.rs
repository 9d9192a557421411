//! [`Memory`]: what a context keeps of its memory, and how pending frees are made.
//!
//! It hangs on the context and holds no handle of it, so that it keeps no context alive. A free that is pending has no use
//! records either: the context is waited for before any of them is made.
//!
//! # Safety
//!
//! The block frees memory that its buffer has left to the queue, after everything in the context was waited for.

use std::sync::{Arc, OnceLock};

use cuda_driver::{Attached, Context};
use cuda_sys::CUdeviceptr;

use super::cleanup::Limits;
use super::manager::MemoryManager;
use super::pending::{Batch, Pending};
use super::source::Source;
use super::statistics::Statistics;
use crate::error::Result;

/// Memory whose buffer is gone, and that was not given back yet.
pub(crate) struct Freed {
    pub(crate) address: CUdeviceptr,
    pub(crate) bytes: usize,
    pub(crate) source: Source,
}

#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) statistics: Statistics,
    /// Guards share it, so that one that is forgotten keeps no context alive.
    pub(crate) pending: Arc<Pending<Freed>>,
    pub(crate) limits: Limits,
    /// Decided by the first allocation: who allocates in place of the driver.
    pub(crate) manager: OnceLock<Option<Arc<dyn MemoryManager>>>,
}

impl Memory {
    #[inline]
    pub(crate) fn of(context: &Context) -> &Memory {
        context.attached(Memory::default)
    }

    /// Leaves a free to the queue, and makes all that are pending if they have become too many.
    pub(crate) fn defer(&self, freed: Freed, context: &Context) {
        let (max_count, max_bytes) = self.limits.get(context);
        let bytes = freed.bytes;
        if let Some(batch) = self.pending.add(freed, bytes, max_count, max_bytes)
            && let Err(error) = self.free(batch, context)
        {
            tracing::debug!(%error, "pending frees of device memory wait longer");
        }
    }

    /// Makes the frees that are pending, unless they are deferred.
    pub(crate) fn free_pending(&self, context: &Context) -> Result<()> {
        self.pending.take().map_or(Ok(()), |batch| self.free(batch, context))
    }

    /// Waits for all that may use the memory, and gives it back. If the wait fails, all of it is pending again.
    fn free(&self, batch: Batch<Freed>, context: &Context) -> Result<()> {
        if let Err(error) = context.wait_for_all() {
            self.pending.put_back(batch);
            return Err(error.into());
        }
        for mut freed in batch.items {
            // SAFETY: the buffer has left the memory to the queue, and all work was waited for since.
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
            tracing::warn!(%error, "device memory could not be given back at the end of its context");
        }
    }
}
