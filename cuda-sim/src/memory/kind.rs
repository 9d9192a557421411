//! The purposes of allocations.

use super::shared::Access;

/// The purpose of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllocationKind {
    Device,
    Managed,
    /// Page-locked host memory, with the flags of its allocation.
    Host(u32),
    /// An allocation from a memory pool.
    Pooled(PoolId),
    /// A freed block that a pool caches.
    Cached(PoolId),
    /// Graph memory with this number.
    Graph(u64),
    /// Memory of another process, or a file, that is mapped here.
    Imported,
    /// A buffer in external memory.
    External,
    /// A mapping in a range that the client reserved.
    Mapped(Access),
    /// The device's own memory: module data, scratch memory of workers.
    Internal,
}

/// A memory pool: its handle, and the memory of its allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolId {
    pub(crate) handle: usize,
    pub(crate) memory: PoolMemory,
}

/// The memory of a pool's allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PoolMemory {
    Device,
    /// Page-locked host memory.
    Host,
    Managed,
    /// Memory of another process's pool, which is mapped here.
    Imported,
}

impl AllocationKind {
    /// Returns true for page-locked host memory.
    pub(crate) fn is_host(self) -> bool {
        matches!(self, AllocationKind::Host(_) | AllocationKind::Pooled(PoolId { memory: PoolMemory::Host, .. }))
    }

    /// Returns true for managed memory.
    pub(crate) fn is_managed(self) -> bool {
        matches!(self, AllocationKind::Managed | AllocationKind::Pooled(PoolId { memory: PoolMemory::Managed, .. }))
    }

    /// Returns the function by which clients make allocations of this kind.
    pub(super) fn function(self) -> Option<&'static str> {
        match self {
            AllocationKind::Device => Some("cuMemAlloc_v2"),
            AllocationKind::Managed => Some("cuMemAllocManaged"),
            AllocationKind::Host(_) => Some("cuMemHostAlloc"),
            AllocationKind::Pooled(_) => Some("cuMemAllocAsync"),
            AllocationKind::Graph(_) => Some("a graph"),
            AllocationKind::Imported => Some("cuIpcOpenMemHandle"),
            AllocationKind::External => Some("cuExternalMemoryGetMappedBuffer"),
            AllocationKind::Mapped(_) => Some("cuMemMap"),
            AllocationKind::Cached(_) | AllocationKind::Internal => None,
        }
    }
}
