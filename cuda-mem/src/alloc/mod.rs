//! Allocation of device memory.
//!
//! A [`Source`] allocates and frees; [`Memory`] is the allocator state of a context: statistics, pending frees, and the
//! custom manager, if there is one. None of it tracks accesses to the memory; [`Buffer`](crate::Buffer) does.

mod caching;
mod cleanup;
mod free_list;
mod manager;
mod memory;
mod pending;
mod pool;
mod source;
mod statistics;

pub use caching::CachingManager;
pub use cleanup::{DeferCleanup, PendingLimits, defer_cleanup, free_pending, set_pending_limits};
pub use manager::{MemoryManager, memory_info, set_memory_manager};
pub use pool::{MemoryPool, PoolReuse, PoolStatistics};
pub use statistics::{MemoryStatistics, memory_statistics, reset_peak};

pub(crate) use memory::{Freed, Memory};
pub(crate) use source::Source;
#[cfg(all(test, loom))]
pub(crate) use {
    free_list::{FreeBlock, FreeList},
    pending::Pending,
    statistics::Statistics,
};
