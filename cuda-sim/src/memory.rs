//! The device's memory: one reserved range of addresses from which everything is taken.
//!
//! Device pointers are host pointers inside the range. Each allocation has inaccessible pages on both sides and ends as
//! close to the upper ones as its alignment allows; freed addresses become inaccessible and are not given out again
//! before the whole range was used once, so a wild or stale access faults instead of hitting something else. Huge
//! pages are not asked for: the kernel's compaction then stalled the first launch by 30 ms.
//!
//! # Safety
//!
//! `unsafe` stands where pages of the reserved range are mapped and unmapped. Invariant, kept by the one lock: live
//! allocations and free ranges never overlap, and only pages inside the reserved range are ever touched.

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};

const PAGE: u64 = 4096;
/// What every allocation is aligned to, as on NVIDIA's devices.
pub(crate) const ALIGN: u64 = 256;

/// What an allocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Device,
    Managed,
    /// Page-locked host memory with the flags it was made with.
    Host(u32),
    /// Of the device itself: module data, scratch memory of workers.
    Internal,
}

/// Why memory was not given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryError {
    OutOfMemory,
    /// The address is not the start of a live allocation of that kind.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
    /// Addresses taken, guards included.
    start: u64,
    taken: u64,
    /// The pages that are accessible, and their bytes.
    pages: u64,
    mapped: u64,
}

struct State {
    next: u64,
    live: BTreeMap<u64, Allocation>,
    free: VecDeque<(u64, u64)>,
    /// Host memory of others that was registered: start to length and flags.
    registered: BTreeMap<u64, (u64, u32)>,
    used: u64,
}

/// The range and what is in it.
pub(crate) struct Memory {
    start: u64,
    end: u64,
    total: u64,
    state: Mutex<State>,
}

/// The process's device memory.
pub(crate) static MEMORY: Lazy<Memory> = Lazy::new(Memory::reserve);

fn physical_bytes() -> u64 {
    // SAFETY: sysconf takes a constant and has no preconditions.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    u64::try_from(pages).unwrap_or(1 << 20) * PAGE
}

impl Memory {
    fn reserve() -> Memory {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        for shift in [42, 40, 38, 36, 34, 32] {
            // SAFETY: a new anonymous mapping without access at an address that the kernel chooses.
            let start = unsafe { libc::mmap(std::ptr::null_mut(), 1 << shift, libc::PROT_NONE, flags, -1, 0) };
            if start != libc::MAP_FAILED {
                let start = start as u64;
                return Memory::over(start, start + (1 << shift));
            }
        }
        // Every allocation will fail with "out of memory", which is what it is.
        Memory::over(0, 0)
    }

    fn over(start: u64, end: u64) -> Memory {
        let next = start;
        let state = State { next, live: BTreeMap::new(), free: VecDeque::new(), registered: BTreeMap::new(), used: 0 };
        Memory { start, end, total: (physical_bytes() / 2).min((end - start) / 2), state: Mutex::new(state) }
    }

    /// Free and total bytes.
    pub(crate) fn info(&self) -> (u64, u64) {
        (self.total.saturating_sub(self.state.lock().used), self.total)
    }

    pub(crate) fn alloc(&self, bytes: u64, kind: Kind) -> Result<u64, MemoryError> {
        self.alloc_guarded(bytes, kind, PAGE)
    }

    /// Allocates with at least `guard` inaccessible bytes behind.
    pub(crate) fn alloc_guarded(&self, bytes: u64, kind: Kind, guard: u64) -> Result<u64, MemoryError> {
        if bytes > self.total {
            return Err(MemoryError::OutOfMemory);
        }
        let room = bytes.max(1).next_multiple_of(ALIGN);
        let mapped = room.next_multiple_of(PAGE);
        let guard = guard.min((self.end - self.start) / 256).next_multiple_of(PAGE);
        let taken = PAGE + mapped + guard;
        let mut state = self.state.lock();
        if kind != Kind::Internal && state.used + mapped > self.total {
            return Err(MemoryError::OutOfMemory);
        }
        let start = self.take(&mut state, taken).ok_or(MemoryError::OutOfMemory)?;
        let pages = start + PAGE;
        protect(pages, mapped, true).map_err(|()| {
            state.free.push_back((start, taken));
            MemoryError::OutOfMemory
        })?;
        let base = pages + (mapped - room);
        if kind != Kind::Internal {
            state.used += mapped;
        }
        state.live.insert(base, Allocation { base, bytes, kind, start, taken, pages, mapped });
        Ok(base)
    }

    /// Addresses never used before, or else the ones freed longest ago.
    fn take(&self, state: &mut State, taken: u64) -> Option<u64> {
        let start = state.next;
        if start.checked_add(taken)? <= self.end {
            state.next = start + taken;
            return Some(start);
        }
        let index = state.free.iter().position(|(_, bytes)| *bytes >= taken)?;
        let (start, bytes) = state.free.remove(index)?;
        if bytes > taken {
            state.free.push_back((start + taken, bytes - taken));
        }
        Some(start)
    }

    /// Frees the allocation that starts at `base`, if `allowed` accepts its kind.
    pub(crate) fn free(&self, base: u64, allowed: impl Fn(Kind) -> bool) -> Result<(), MemoryError> {
        let mut state = self.state.lock();
        let allocation = *state.live.get(&base).ok_or(MemoryError::Unknown)?;
        if !allowed(allocation.kind) {
            return Err(MemoryError::Unknown);
        }
        self.release(&mut state, allocation);
        Ok(())
    }

    fn release(&self, state: &mut State, allocation: Allocation) {
        state.live.remove(&allocation.base);
        if allocation.kind != Kind::Internal {
            state.used -= allocation.mapped;
        }
        if protect(allocation.pages, allocation.mapped, false).is_ok() {
            state.free.push_back((allocation.start, allocation.taken));
        }
    }

    /// Frees everything that users allocated, as a reset of the context does.
    pub(crate) fn reset(&self) {
        let mut state = self.state.lock();
        let user: Vec<_> = state.live.values().filter(|a| a.kind != Kind::Internal).copied().collect();
        user.into_iter().for_each(|a| self.release(&mut state, a));
        state.registered.clear();
    }

    /// The live allocation that contains `address`.
    pub(crate) fn find(&self, address: u64) -> Option<Allocation> {
        let state = self.state.lock();
        let (_, allocation) = state.live.range(..=address).next_back()?;
        (address < allocation.base + allocation.bytes.max(1)).then_some(*allocation)
    }

    /// Whether an address lies in the device's range, allocated or not.
    pub(crate) fn owns(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    pub(crate) fn register(&self, start: u64, bytes: u64, flags: u32) -> Result<(), MemoryError> {
        let mut state = self.state.lock();
        let overlaps = state.registered.range(..start + bytes).next_back().is_some_and(|(s, (n, _))| s + n > start);
        if overlaps {
            return Err(MemoryError::Unknown);
        }
        state.registered.insert(start, (bytes, flags));
        Ok(())
    }

    pub(crate) fn unregister(&self, start: u64) -> Result<(), MemoryError> {
        self.state.lock().registered.remove(&start).map(|_| ()).ok_or(MemoryError::Unknown)
    }

    /// Flags of the registered range that contains `address`.
    pub(crate) fn registration(&self, address: u64) -> Option<u32> {
        let state = self.state.lock();
        let (start, (bytes, flags)) = state.registered.range(..=address).next_back()?;
        (address < start + bytes).then_some(*flags)
    }
}

/// Makes pages accessible, or gives them back and makes them inaccessible.
fn protect(start: u64, bytes: u64, accessible: bool) -> Result<(), ()> {
    let at = start as *mut libc::c_void;
    let failed = if accessible {
        // SAFETY: the pages lie in the reserved range and belong to no live allocation.
        unsafe { libc::mprotect(at, bytes as usize, libc::PROT_READ | libc::PROT_WRITE) != 0 }
    } else {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        // SAFETY: replaces pages of the reserved range, which belonged to the allocation being freed, by empty ones.
        unsafe { libc::mmap(at, bytes as usize, libc::PROT_NONE, flags, -1, 0) == libc::MAP_FAILED }
    };
    if failed { Err(()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_aligned_apart_and_not_reused() {
        let first = MEMORY.alloc(1000, Kind::Device).unwrap();
        assert_eq!(first % ALIGN, 0);
        assert_eq!(MEMORY.find(first + 999).unwrap().base, first);
        assert!(MEMORY.find(first + 1000).is_none());
        MEMORY.free(first, |k| k == Kind::Device).unwrap();
        assert_eq!(MEMORY.free(first, |_| true), Err(MemoryError::Unknown));
        let second = MEMORY.alloc(1000, Kind::Device).unwrap();
        assert_ne!(first, second);
        MEMORY.free(second, |_| true).unwrap();
    }

    #[test]
    fn large_allocations_can_be_written_to_their_end_and_freed() {
        for bytes in [1, 4096, 4097, (2 << 20) + 17, 5 << 20] {
            let base = MEMORY.alloc(bytes, Kind::Managed).unwrap();
            // SAFETY: the allocation was just made and is `bytes` long.
            unsafe { std::ptr::write_bytes(base as *mut u8, 0x5a, bytes as usize) };
            MEMORY.free(base, |_| true).unwrap();
        }
    }

    #[test]
    fn more_than_there_is_fails() {
        assert_eq!(MEMORY.alloc(u64::MAX / 2, Kind::Device), Err(MemoryError::OutOfMemory));
    }
}
