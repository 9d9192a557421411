//! The devices' memory: one reserved range of addresses from which everything is taken.
//!
//! Device pointers are host pointers inside the range. Each allocation has inaccessible pages on both sides and ends as
//! close to the upper ones as its alignment allows; freed addresses become inaccessible and are not given out again
//! before the whole range was used once, so a wild or stale access faults instead of hitting something else. Huge
//! pages are not asked for: the kernel's compaction then stalled the first launch by 30 ms.
//!
//! Each device has its own total, which its allocations count against. Pages come from the system when they are first
//! touched, so a device may show more memory than the machine has.
//!
//! # Safety
//!
//! `unsafe` stands where pages of the reserved range are mapped and unmapped. Invariant, kept by the one lock: live
//! allocations and free ranges never overlap, and only pages inside the reserved range are ever touched.

pub(crate) mod shared;

use crate::device::{DEVICES, TOTAL_MEMORY};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use shared::{Access, SharedFile};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// From the stream-ordered pool with that handle.
    Pooled(usize),
    /// Freed into its pool, which keeps it.
    Cached(usize),
    /// Memory of another process, or a file's, mapped here.
    Imported,
    /// A buffer in external memory.
    External,
    /// Virtual memory that the client mapped itself.
    Mapped(Access),
    /// Of the device itself: module data, scratch memory of workers.
    Internal,
}

/// Whose an allocation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) context: u32,
    pub(crate) device: usize,
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
    pub(crate) owner: Owner,
    /// Unique among all allocations there ever were.
    pub(crate) id: u64,
    /// Addresses taken, guards included.
    start: u64,
    taken: u64,
    /// The pages that are accessible, and their bytes.
    pages: u64,
    pub(crate) mapped: u64,
}

impl Allocation {
    /// Where it begins in its first page.
    pub(crate) fn offset(&self) -> u64 {
        self.base - self.pages
    }
}

/// Host memory of others that was registered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registration {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    pub(crate) flags: u32,
    pub(crate) owner: Owner,
}

struct State {
    next: u64,
    id: u64,
    live: BTreeMap<u64, Allocation>,
    free: VecDeque<(u64, u64)>,
    registered: BTreeMap<u64, Registration>,
    /// Files behind allocations, by their base.
    files: HashMap<u64, Arc<SharedFile>>,
    /// Ranges of addresses that clients map memory into: bytes, and the addresses taken.
    reserved: BTreeMap<u64, (u64, u64, u64)>,
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

/// Bytes in use on each device; grows under the lock of the state only.
static USED: Lazy<Vec<AtomicU64>> = Lazy::new(|| (0..*DEVICES).map(|_| AtomicU64::new(0)).collect());

impl Memory {
    fn reserve() -> Memory {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        for shift in [43, 42, 40, 38, 36, 34, 32] {
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
        let state = State {
            next: start,
            id: 0,
            live: BTreeMap::new(),
            free: VecDeque::new(),
            registered: BTreeMap::new(),
            files: HashMap::new(),
            reserved: BTreeMap::new(),
        };
        let total = (*TOTAL_MEMORY).min((end - start) / 2 / *DEVICES as u64);
        Memory { start, end, total, state: Mutex::new(state) }
    }

    /// Free and total bytes of a device.
    pub(crate) fn info(&self, device: usize) -> (u64, u64) {
        (self.total.saturating_sub(USED[device].load(Ordering::Acquire)), self.total)
    }

    /// Allocates for the device itself, or for tests.
    pub(crate) fn alloc(&self, bytes: u64, kind: Kind) -> Result<u64, MemoryError> {
        self.alloc_guarded(bytes, kind, PAGE)
    }

    /// Allocates with at least `guard` inaccessible bytes behind.
    pub(crate) fn alloc_guarded(&self, bytes: u64, kind: Kind, guard: u64) -> Result<u64, MemoryError> {
        self.alloc_for(Owner::default(), bytes, kind, guard)
    }

    /// Allocates for a context.
    pub(crate) fn alloc_for(&self, owner: Owner, bytes: u64, kind: Kind, guard: u64) -> Result<u64, MemoryError> {
        if bytes > self.total {
            return Err(MemoryError::OutOfMemory);
        }
        let room = bytes.max(1).next_multiple_of(ALIGN);
        let mapped = room.next_multiple_of(PAGE);
        let guard = guard.max(PAGE).min((self.end - self.start) / 256).next_multiple_of(PAGE);
        let taken = PAGE + mapped + guard;
        let mut state = self.state.lock();
        if counts(kind) && USED[owner.device].load(Ordering::Acquire) + mapped > self.total {
            return Err(MemoryError::OutOfMemory);
        }
        let start = self.take(&mut state, taken).ok_or(MemoryError::OutOfMemory)?;
        let pages = start + PAGE;
        protect(pages, mapped, true).map_err(|()| {
            state.free.push_back((start, taken));
            MemoryError::OutOfMemory
        })?;
        let base = pages + (mapped - room);
        if counts(kind) {
            USED[owner.device].fetch_add(mapped, Ordering::AcqRel);
        }
        state.id += 1;
        let id = state.id;
        state.live.insert(base, Allocation { base, bytes, kind, owner, id, start, taken, pages, mapped });
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
        release(&mut state, allocation);
        Ok(())
    }

    /// Turns a live allocation that is `from` into one that is `to`, of that many bytes.
    ///
    /// The bytes must fit the allocation's own room.
    pub(crate) fn change(&self, base: u64, from: Kind, to: Kind, bytes: u64) -> Result<(), MemoryError> {
        let mut state = self.state.lock();
        let id = state.id + 1;
        let allocation = state.live.get_mut(&base).filter(|a| a.kind == from).ok_or(MemoryError::Unknown)?;
        if allocation.base + bytes > allocation.pages + allocation.mapped {
            return Err(MemoryError::OutOfMemory);
        }
        (allocation.kind, allocation.bytes, allocation.id) = (to, bytes, id);
        state.id = id;
        Ok(())
    }

    /// Turns an allocation that is `from` into one that is `to`; gives the bytes that fit there.
    pub(crate) fn shelve(&self, base: u64, from: Kind, to: Kind) -> Result<u64, MemoryError> {
        let mut state = self.state.lock();
        let allocation = state.live.get_mut(&base).filter(|a| a.kind == from).ok_or(MemoryError::Unknown)?;
        allocation.kind = to;
        Ok(allocation.pages + allocation.mapped - allocation.base)
    }

    /// What a context has of a pool: mapped bytes in use, and those with what the pool keeps.
    pub(crate) fn pooled(&self, pool: usize, context: u32) -> (u64, u64) {
        let state = self.state.lock();
        let own = state.live.values().filter(|a| a.owner.context == context);
        own.fold((0, 0), |(used, reserved), a| match a.kind {
            Kind::Pooled(p) if p == pool => (used + a.mapped, reserved + a.mapped),
            Kind::Cached(p) if p == pool => (used, reserved + a.mapped),
            _ => (used, reserved),
        })
    }

    /// Frees everything that a context allocated, as its end does.
    pub(crate) fn reset(&self, context: u32) {
        let mut state = self.state.lock();
        let own = |a: &&Allocation| a.kind != Kind::Internal && a.owner.context == context;
        let user: Vec<_> = state.live.values().filter(own).copied().collect();
        user.into_iter().for_each(|a| release(&mut state, a));
        state.registered.retain(|_, r| r.owner.context != context);
    }

    /// The live allocation that contains `address`.
    pub(crate) fn find(&self, address: u64) -> Option<Allocation> {
        let state = self.state.lock();
        let (_, allocation) = state.live.range(..=address).next_back()?;
        let inside = address < allocation.base + allocation.bytes.max(1);
        (inside && !matches!(allocation.kind, Kind::Cached(_))).then_some(*allocation)
    }

    /// Whether an address lies in the devices' range, allocated or not.
    pub(crate) fn owns(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    pub(crate) fn register(&self, registration: Registration) -> Result<(), MemoryError> {
        let mut state = self.state.lock();
        let Registration { start, bytes, .. } = registration;
        let end = start.checked_add(bytes).ok_or(MemoryError::Unknown)?;
        let before = state.registered.range(..end).next_back();
        if before.is_some_and(|(_, r)| r.start + r.bytes > start) || (start < self.end && end > self.start) {
            return Err(MemoryError::Unknown);
        }
        state.registered.insert(start, registration);
        Ok(())
    }

    pub(crate) fn unregister(&self, start: u64) -> Result<(), MemoryError> {
        self.state.lock().registered.remove(&start).map(|_| ()).ok_or(MemoryError::Unknown)
    }

    /// The registered range that contains `address`.
    pub(crate) fn registration(&self, address: u64) -> Option<Registration> {
        let state = self.state.lock();
        let (_, found) = state.registered.range(..=address).next_back()?;
        (address < found.start + found.bytes).then_some(*found)
    }
}

/// Whether memory of that kind counts against a device's total.
fn counts(kind: Kind) -> bool {
    !matches!(kind, Kind::Internal | Kind::Host(_) | Kind::Imported | Kind::External | Kind::Mapped(_))
}

fn release(state: &mut State, allocation: Allocation) {
    state.live.remove(&allocation.base);
    state.files.remove(&allocation.base);
    if counts(allocation.kind) {
        USED[allocation.owner.device].fetch_sub(allocation.mapped, Ordering::AcqRel);
    }
    // Addresses that a client reserved stay its own.
    let given_back = protect(allocation.pages, allocation.mapped, false).is_ok();
    if given_back && allocation.taken != 0 {
        state.free.push_back((allocation.start, allocation.taken));
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

#[cfg(all(test, not(loom)))]
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

    #[test]
    fn registered_ranges_do_not_overlap() {
        let range = |start, bytes| MEMORY.register(Registration { start, bytes, flags: 0, owner: Owner::default() });
        range(4096, 100).unwrap();
        assert_eq!(range(4100, 1), Err(MemoryError::Unknown));
        assert_eq!(range(4000, 97), Err(MemoryError::Unknown));
        range(4000, 96).unwrap();
        assert_eq!(MEMORY.registration(4195).unwrap().start, 4096);
        assert!(MEMORY.registration(4196).is_none());
        MEMORY.unregister(4096).unwrap();
        MEMORY.unregister(4000).unwrap();
        assert_eq!(MEMORY.unregister(4000), Err(MemoryError::Unknown));
    }

    #[test]
    fn a_context_takes_its_memory_along() {
        let owner = Owner { context: 77, device: 0 };
        let own = MEMORY.alloc_for(owner, 10, Kind::Device, PAGE).unwrap();
        let other = MEMORY.alloc(10, Kind::Device).unwrap();
        MEMORY.reset(77);
        assert!(MEMORY.find(own).is_none() && MEMORY.find(other).is_some());
        MEMORY.free(other, |_| true).unwrap();
    }
}
