//! The shared memory of a cluster's blocks: windows at equal distances, each of which can be closed.
//!
//! A shared-memory address consists of the rank of a block in its cluster and an offset in that block's window, so all
//! blocks of a cluster have the same addresses, relative to the first window ([`Windows::first`]). The memory between
//! windows is inaccessible, and so is the window of a block that has exited: PTX leaves such an access undefined, and
//! here it is a fault.
//!
//! # Safety
//!
//! Protections are changed for pages of the allocation that this owns, which no block of the cluster uses while it does
//! not run.

use super::launch::Fault;
use crate::codegen::abi::WINDOW;
use crate::memory::{ALIGN, AllocationKind, MEMORY, PAGE};

/// The windows of a cluster's blocks, reused for one cluster after another.
pub(super) struct Windows {
    base: u64,
    ranks: u32,
    /// Bytes of each window, rounded up like allocations, and bytes of its pages.
    bytes: u64,
    mapped: u64,
    /// A bit set of the accessible windows.
    open: u32,
}

impl Windows {
    /// Creates windows of `bytes` bytes for this many blocks, all open.
    pub(super) fn new(ranks: u32, bytes: u64, guard: u64) -> Result<Windows, Fault> {
        let bytes = bytes.max(1).next_multiple_of(ALIGN);
        let mapped = bytes.next_multiple_of(*PAGE);
        if mapped >= 1 << WINDOW {
            return Err(Fault::OutOfMemory);
        }
        let room = u64::from(ranks) << WINDOW;
        let base = MEMORY.alloc_guarded(room, AllocationKind::Internal, guard).map_err(|_| Fault::OutOfMemory)?;
        let mut this = Windows { base, ranks, bytes, mapped, open: 0 };
        this.protect(base, room, false)?;
        this.reopen()?;
        Ok(this)
    }

    /// Returns the start of the first block's window. It ends at the end of its last page, so that accesses beyond it
    /// hit the guard.
    pub(super) fn first(&self) -> u64 {
        self.base + self.mapped - self.bytes
    }

    pub(super) fn open(&self) -> u32 {
        self.open
    }

    /// Opens the windows of all blocks.
    pub(super) fn reopen(&mut self) -> Result<(), Fault> {
        for rank in (0..self.ranks).filter(|rank| self.open & 1 << rank == 0) {
            self.protect(self.base + (u64::from(rank) << WINDOW), self.mapped, true)?;
        }
        self.open = u32::MAX >> (32 - self.ranks);
        Ok(())
    }

    /// Closes the window of a block that has exited.
    pub(super) fn close(&mut self, rank: u32) -> Result<(), Fault> {
        self.open &= !(1 << rank);
        self.protect(self.base + (u64::from(rank) << WINDOW), self.mapped, false)
    }

    fn protect(&self, at: u64, bytes: u64, accessible: bool) -> Result<(), Fault> {
        let rights = if accessible { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
        // SAFETY: the pages are part of this allocation, which belongs to this cluster alone.
        let failed = unsafe { libc::mprotect(at as *mut libc::c_void, bytes as usize, rights) } != 0;
        if failed { Err(Fault::OutOfMemory) } else { Ok(()) }
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        // Allocated by `new` and freed only here.
        let _ = MEMORY.free(self.base, |kind| kind == AllocationKind::Internal);
    }
}
