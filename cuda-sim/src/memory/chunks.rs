//! Allocations that share their system mappings, for processes with very many allocations.
//!
//! An allocation with inaccessible pages around it takes two of the system's mappings, of which a process has 65,530
//! (`vm.max_map_count`). When a quarter of them are in use, allocations that need no wider guard come from chunks
//! instead: areas of accessible pages with a gap of one page between allocations, which take two mappings for each
//! chunk. Addresses are still not reused before the chunk is empty and the whole range was used once, and the page
//! between allocations belongs to none. But a wild or stale access inside a chunk is not detected, and freed memory
//! reads as zeros.
//!
//! The rest of the process keeps some of the mappings. Allocations that cannot share fail when three quarters are in
//! use, chunks when seven eighths are, and the device's own memory, which launches need, when fifteen sixteenths are.
//!
//! # Safety
//!
//! Only pages inside the reserved range are remapped or released, under its lock, and they belong to an allocation that
//! is being made or freed.

use super::{MemoryError, PAGE, State, protect};
use once_cell::sync::Lazy;
use std::collections::{BTreeMap, HashMap};

/// Bytes of a chunk.
const CHUNK: u64 = 64 << 20;
/// Bytes of the largest allocation in a chunk; there are few larger ones.
const LARGEST: u64 = CHUNK / 4;
/// The number of mappings of an allocation or a chunk, at most: its pages, and the inaccessible ones next to them.
pub(super) const EACH: u64 = 2;

/// The system's limit on the mappings of a process.
static LIMIT: Lazy<u64> = Lazy::new(|| {
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok();
    limit.and_then(|text| text.trim().parse().ok()).unwrap_or(65530)
});

/// Pages that allocations share.
struct Chunk {
    partition: usize,
    /// The addresses that it takes, including guards.
    start: u64,
    taken: u64,
    /// The pages that were not allocated yet.
    next: u64,
    end: u64,
    live: u64,
}

/// The chunks, by their first page, and the number of mappings of all allocations.
#[derive(Default)]
pub(super) struct Chunks {
    all: BTreeMap<u64, Chunk>,
    /// The chunk of each partition from which allocations are taken.
    open: HashMap<usize, u64>,
    mappings: u64,
}

impl Chunks {
    /// Returns true if an allocation with this many bytes of pages goes into a chunk.
    pub(super) fn takes(&self, mapped: u64) -> bool {
        mapped <= LARGEST && self.mappings >= *LIMIT / 4
    }

    /// Counts the mappings of a client's allocation that does not share.
    pub(super) fn charge(&mut self) -> Result<(), MemoryError> {
        self.charge_up_to(*LIMIT / 4 * 3)
    }

    /// Counts the mappings of the device's own memory, which has a higher limit than clients' allocations.
    pub(super) fn charge_internal(&mut self) -> Result<(), MemoryError> {
        self.charge_up_to(*LIMIT / 16 * 15)
    }

    fn charge_up_to(&mut self, most: u64) -> Result<(), MemoryError> {
        if self.mappings + EACH > most {
            return Err(MemoryError::OutOfMemory);
        }
        self.mappings += EACH;
        Ok(())
    }

    /// Subtracts mappings that were released.
    pub(super) fn discharge(&mut self, mappings: u64) {
        self.mappings -= mappings;
    }
}

impl State {
    /// Takes pages in a chunk of a partition: returns their start, and the chunk.
    pub(super) fn take_shared(&mut self, partition: usize, mapped: u64) -> Result<(u64, u64), MemoryError> {
        let needed = mapped + *PAGE;
        let open = self.chunks.open.get(&partition).copied();
        let fits = |at: &u64| self.chunks.all.get(at).is_some_and(|chunk| chunk.end - chunk.next >= needed);
        let at = match open.filter(fits) {
            Some(at) => at,
            None => self.open_chunk(partition)?,
        };
        let chunk = self.chunks.all.get_mut(&at).ok_or(MemoryError::OutOfMemory)?;
        let pages = chunk.next;
        chunk.next += needed;
        chunk.live += 1;
        Ok((pages, at))
    }

    fn open_chunk(&mut self, partition: usize) -> Result<u64, MemoryError> {
        let taken = CHUNK + 2 * *PAGE;
        self.chunks.charge_up_to(*LIMIT / 8 * 7)?;
        let start = self.partitions.all[partition].take(taken);
        let Some(start) = start.filter(|start| protect(start + *PAGE, CHUNK, true).is_ok()) else {
            self.chunks.discharge(EACH);
            if let Some(start) = start {
                self.partitions.all[partition].free.push_back((start, taken));
            }
            return Err(MemoryError::OutOfMemory);
        };
        let at = start + *PAGE;
        self.chunks.all.insert(at, Chunk { partition, start, taken, next: at, end: at + CHUNK, live: 0 });
        if let Some(full) = self.chunks.open.insert(partition, at) {
            self.close_if_empty(full);
        }
        Ok(at)
    }

    /// Returns an allocation's pages to the system, and with the last one the chunk.
    pub(super) fn release_shared(&mut self, pages: u64, mapped: u64, chunk: u64, file: bool) {
        let (at, length) = (pages as *mut libc::c_void, mapped as usize);
        if file {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: replaces a file's pages, which belonged to the allocation being freed, by private ones of the
            // chunk.
            unsafe { libc::mmap(at, length, access, flags, -1, 0) };
        } else {
            // SAFETY: releases pages that belonged to the allocation being freed.
            unsafe { libc::madvise(at, length, libc::MADV_DONTNEED) };
        }
        if let Some(found) = self.chunks.all.get_mut(&chunk) {
            found.live -= 1;
            if self.chunks.open.get(&found.partition) != Some(&chunk) {
                self.close_if_empty(chunk);
            }
        }
    }

    fn close_if_empty(&mut self, at: u64) {
        if self.chunks.all.get(&at).is_none_or(|chunk| chunk.live != 0) {
            return;
        }
        let Some(Chunk { partition, start, taken, .. }) = self.chunks.all.remove(&at) else { return };
        if protect(at, CHUNK, false).is_ok() {
            self.chunks.discharge(EACH);
            self.partitions.all[partition].free.push_back((start, taken));
        }
    }
}
