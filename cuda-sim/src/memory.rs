//! The devices' memory: one reserved range of addresses from which everything is allocated.
//!
//! Device pointers are host pointers inside the range. Each allocation has inaccessible pages on both sides and ends as
//! close to the upper ones as its alignment allows. Freed addresses become inaccessible and are not reused before the
//! whole range was used once, so a wild or stale access faults instead of hitting other data. If there are very many
//! allocations, further ones share the mappings of their pages ([`chunks`]). Huge pages are not requested: the kernel's
//! compaction then delayed the first launch by 30 ms.
//!
//! Both ends of the range, and wide areas around two more addresses in it, are never allocated ([`Guards`]). Compiled
//! code checks only the part of an address that is unbounded, and replaces an invalid one by one of those two
//! addresses. What it adds afterwards is bounded, so the result stays in the range, where the processor detects the
//! access at no cost.
//!
//! Each device has its own total, against which its allocations count. The system provides pages when they are first
//! accessed, so a device may report more memory than the machine has.
//!
//! # Safety
//!
//! Pages of the reserved range are mapped and unmapped. Invariant, kept by the one lock: live allocations and free
//! ranges never overlap, and only pages inside the reserved range are accessed.

mod chunks;
mod kind;
pub(crate) mod partitions;
pub(crate) mod shared;

use crate::check::events as check;
use crate::device::{DEVICES, TOTAL_MEMORY};
use chunks::Chunks;
pub(crate) use kind::{AllocationKind, PoolId, PoolMemory};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use partitions::Partitions;
use shared::SharedFile;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The system's page size in bytes: 4 KiB, on AArch64 also 16 or 64.
pub(crate) static PAGE: Lazy<u64> = Lazy::new(|| {
    // SAFETY: `sysconf` takes a number and has no preconditions.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
});
/// The alignment of every allocation, as on NVIDIA's devices.
pub(crate) const ALIGN: u64 = 256;

/// The owner of an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) context: u32,
    pub(crate) device: usize,
}

/// The reason why a memory operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryError {
    OutOfMemory,
    /// The address is not the start of a live allocation of the expected kind.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: AllocationKind,
    pub(crate) owner: Owner,
    /// Unique among all allocations ever made.
    pub(crate) id: u64,
    /// The addresses that it takes, including guards.
    start: u64,
    taken: u64,
    /// Its accessible pages, and their bytes.
    pub(crate) pages: u64,
    pub(crate) mapped: u64,
    /// The chunk that contains its pages, if they share one.
    chunk: Option<u64>,
    /// The number of system mappings of its own.
    mappings: u64,
}

impl Allocation {
    /// Returns the offset of its start in its first page.
    pub(crate) fn offset(&self) -> u64 {
        self.base - self.pages
    }
}

/// Registered host memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registration {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    pub(crate) flags: u32,
    pub(crate) owner: Owner,
}

struct State {
    id: u64,
    live: BTreeMap<u64, Allocation>,
    partitions: Partitions,
    chunks: Chunks,
    /// The allocations that were freed last, for reports.
    freed: VecDeque<Allocation>,
    registered: BTreeMap<u64, Registration>,
    /// Files behind allocations, by their base.
    files: HashMap<u64, Arc<SharedFile>>,
    /// Address ranges that clients reserved: bytes, and the addresses taken.
    reserved: BTreeMap<u64, (u64, u64, u64)>,
}

/// The addresses of a new allocation, and its pages.
struct Placement {
    start: u64,
    taken: u64,
    pages: u64,
    chunk: Option<u64>,
}

impl State {
    /// Takes pages of a partition with inaccessible ones on both sides.
    fn take_alone(
        &mut self,
        partition: usize,
        mapped: u64,
        guard: u64,
        kind: AllocationKind,
    ) -> Result<Placement, MemoryError> {
        if kind == AllocationKind::Internal { self.chunks.charge_internal() } else { self.chunks.charge() }?;
        let taken = guard + mapped + guard;
        let start = self.partitions.all[partition].take(taken);
        if let Some(start) = start.filter(|start| protect(start + guard, mapped, true).is_ok()) {
            return Ok(Placement { start, taken, pages: start + guard, chunk: None });
        }
        self.chunks.discharge(chunks::EACH);
        self.partitions.all[partition].free.extend(start.map(|start| (start, taken)));
        Err(MemoryError::OutOfMemory)
    }
}

/// The constants by which compiled code keeps every access inside the reserved range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guards {
    /// The range in which an address may be before up to `reach` is added or subtracted.
    pub(crate) first: u64,
    pub(crate) bytes: u64,
    /// An address around which nothing within `reach` is ever accessible. It replaces an address outside of the range.
    pub(crate) outside: u64,
    /// As `outside`, for a misaligned address.
    pub(crate) misaligned: u64,
    pub(crate) reach: u64,
    /// Shared windows have at least twice this many inaccessible bytes on both sides.
    pub(crate) shared: u64,
    /// The shift that turns an address's distance from `first` into a slot number; `None` with one device, which can
    /// access all slots.
    pub(crate) slot: Option<u32>,
}

/// The kind of an illegal access, as derived from its fault address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IllegalAccess {
    /// The address was misaligned.
    Misaligned,
    /// The address was outside of the devices' range.
    Outside,
    /// The address was in the devices' range.
    At(u64),
}

/// The reserved range and its allocations.
pub(crate) struct Memory {
    /// The start of the addresses that can be allocated.
    start: u64,
    end: u64,
    guards: Guards,
    /// The largest guard on one side of an allocation.
    widest: u64,
    total: u64,
    /// The number of registrations; written under the lock.
    registrations: AtomicUsize,
    state: Mutex<State>,
}

/// The process's device memory.
pub(crate) static MEMORY: Lazy<Memory> = Lazy::new(Memory::reserve);

/// Bytes in use on each device; increased only under the lock of the state.
static USED: Lazy<Vec<AtomicU64>> = Lazy::new(|| (0..*DEVICES).map(|_| AtomicU64::new(0)).collect());

/// The preferred start of the range: far from the places of programs, libraries and stacks, and of sanitizers' shadow
/// memory. Compiled code contains the range's addresses, so it can be reused by processes with the same ones.
const PREFERRED_START: usize = 1 << 45;

impl Memory {
    fn reserve() -> Memory {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        for shift in [45, 43, 42, 40, 38, 36, 34, 32] {
            // SAFETY: an anonymous mapping without access, for which the address is a hint, replaces no existing one.
            let start = unsafe { libc::mmap(PREFERRED_START as *mut _, 1 << shift, libc::PROT_NONE, flags, -1, 0) };
            if start != libc::MAP_FAILED {
                let start = start as u64;
                return Memory::over(start, start + (1 << shift));
            }
        }
        // Every allocation will fail with "out of memory", which is the case.
        Memory::over(0, 0)
    }

    /// Creates the range between two addresses. The first and the last five of its sixteenths are guards.
    fn over(first: u64, last: u64) -> Memory {
        let margin = (last - first) / 16;
        let (start, end) = (first + margin, last - 5 * margin);
        let partitions = Partitions::of(start, end, last - first, *DEVICES);
        let beyond = if partitions.shift.is_some() { 0 } else { margin / 2 };
        let guards = Guards {
            first: start - beyond,
            bytes: end - start + 2 * beyond,
            outside: last - margin,
            misaligned: last - 3 * margin,
            reach: if partitions.shift.is_some() { partitions.guard } else { margin / 2 },
            shared: (1 << 34).min(partitions.common_bytes / 1024),
            slot: partitions.shift,
        };
        let total = (*TOTAL_MEMORY).min(partitions.bytes / 2);
        let widest = partitions.common_bytes / 256;
        let state = State {
            id: 0,
            live: BTreeMap::new(),
            partitions,
            chunks: Chunks::default(),
            freed: VecDeque::new(),
            registered: BTreeMap::new(),
            files: HashMap::new(),
            reserved: BTreeMap::new(),
        };
        Memory { start, end, guards, widest, total, registrations: AtomicUsize::new(0), state: Mutex::new(state) }
    }

    /// Returns the id of the allocation that was made last.
    pub(crate) fn last_id(&self) -> u64 {
        self.state.lock().id
    }

    pub(crate) fn guards(&self) -> Guards {
        self.guards
    }

    /// Interprets the address of a fault.
    pub(crate) fn illegal_access(&self, address: u64) -> IllegalAccess {
        let Guards { outside, misaligned, reach, .. } = self.guards;
        match address {
            a if a.abs_diff(misaligned) <= 2 * reach => IllegalAccess::Misaligned,
            a if a.abs_diff(outside) <= 2 * reach => IllegalAccess::Outside,
            a => IllegalAccess::At(a),
        }
    }

    /// Returns true if host memory is registered.
    pub(crate) fn has_registrations(&self) -> bool {
        self.registrations.load(Ordering::Acquire) != 0
    }

    /// Returns true if a word may be an address in registered memory, or a base from which it can be reached.
    pub(crate) fn near_registered(&self, word: u64) -> bool {
        const NEAR: u64 = 4 << 30;
        let state = self.state.lock();
        state
            .registered
            .values()
            .any(|r| word.wrapping_sub(r.start.wrapping_sub(NEAR)) < r.bytes.saturating_add(2 * NEAR))
    }

    /// Returns the address of an access of `bytes` bytes by a launch that can access these slots, or one in a guard
    /// area.
    pub(crate) fn mapped(&self, address: u64, bytes: u64, slots: u64) -> u64 {
        let Guards { first, bytes: size, outside, misaligned, .. } = self.guards;
        if !address.is_multiple_of(bytes) {
            misaligned
        } else if address.wrapping_sub(first) < size {
            if self.reaches(slots, address) { address } else { outside }
        } else {
            if self.is_registered(address, bytes) { address } else { outside }
        }
    }

    /// Returns true if the launch can access all these bytes: in its slots of the devices' range, or in registered
    /// memory.
    pub(crate) fn covers(&self, address: u64, bytes: u64, slots: u64) -> bool {
        let Guards { first, bytes: size, .. } = self.guards;
        let Some(last) = address.checked_add(bytes.saturating_sub(1)) else { return false };
        match address.wrapping_sub(first) < size {
            true => last - first < size && self.reaches(slots, address) && self.reaches(slots, last),
            false => self.is_registered(address, bytes),
        }
    }

    /// Returns true if all these bytes are in one registration.
    fn is_registered(&self, address: u64, bytes: u64) -> bool {
        let fits = |r: Registration| r.bytes.checked_sub(bytes).is_some_and(|room| address - r.start <= room);
        self.registration(address).is_some_and(fits)
    }

    /// Returns the free and total bytes of a device.
    pub(crate) fn info(&self, device: usize) -> (u64, u64) {
        (self.total.saturating_sub(USED[device].load(Ordering::Acquire)), self.total)
    }

    /// Allocates for the device itself, or for tests.
    pub(crate) fn alloc(&self, bytes: u64, kind: AllocationKind) -> Result<u64, MemoryError> {
        self.alloc_guarded(bytes, kind, *PAGE)
    }

    /// Allocates with at least `guard` inaccessible bytes on both sides.
    pub(crate) fn alloc_guarded(&self, bytes: u64, kind: AllocationKind, guard: u64) -> Result<u64, MemoryError> {
        self.alloc_for(Owner::default(), bytes, kind, guard)
    }

    /// Allocates for a context.
    pub(crate) fn alloc_for(
        &self,
        owner: Owner,
        bytes: u64,
        kind: AllocationKind,
        guard: u64,
    ) -> Result<u64, MemoryError> {
        self.alloc_in(partitions::of(owner, kind), owner, bytes, kind, guard)
    }

    /// Allocates for a context in a partition.
    pub(crate) fn alloc_in(
        &self,
        partition: usize,
        owner: Owner,
        bytes: u64,
        kind: AllocationKind,
        guard: u64,
    ) -> Result<u64, MemoryError> {
        if bytes > self.total {
            return Err(MemoryError::OutOfMemory);
        }
        let room = bytes.max(1).next_multiple_of(ALIGN);
        let mapped = room.next_multiple_of(*PAGE);
        let mut state = self.state.lock();
        if counts(kind) && USED[owner.device].load(Ordering::Acquire) + mapped > self.total {
            return Err(MemoryError::OutOfMemory);
        }
        // The protection of graphs' pages changes.
        let shares = guard <= *PAGE && !matches!(kind, AllocationKind::Graph(_)) && state.chunks.takes(mapped);
        let place = if shares {
            let (pages, chunk) = state.take_shared(partition, mapped)?;
            Placement { start: pages, taken: 0, pages, chunk: Some(chunk) }
        } else {
            let guard = guard.max(*PAGE).min(self.widest).next_multiple_of(*PAGE);
            state.take_alone(partition, mapped, guard, kind)?
        };
        let Placement { start, taken, pages, chunk } = place;
        let base = pages + (mapped - room);
        if counts(kind) {
            USED[owner.device].fetch_add(mapped, Ordering::AcqRel);
        }
        state.id += 1;
        let (id, mappings) = (state.id, if shares { 0 } else { chunks::EACH });
        let new = Allocation { base, bytes, kind, owner, id, start, taken, pages, mapped, chunk, mappings };
        state.live.insert(base, new);
        drop(state);
        if let Some(function) = kind.function() {
            check::allocated(base, bytes, function);
        }
        Ok(base)
    }

    /// Frees the allocation that starts at `base`, if `allowed` accepts its kind.
    pub(crate) fn free(&self, base: u64, allowed: impl Fn(AllocationKind) -> bool) -> Result<(), MemoryError> {
        let mut state = self.state.lock();
        let allocation = *state.live.get(&base).ok_or(MemoryError::Unknown)?;
        if !allowed(allocation.kind) {
            return Err(MemoryError::Unknown);
        }
        release(&mut state, allocation);
        Ok(())
    }

    /// Changes a live allocation of kind `from` to kind `to`, with this many bytes.
    ///
    /// The bytes must fit the block.
    pub(crate) fn change(
        &self,
        base: u64,
        from: AllocationKind,
        to: AllocationKind,
        bytes: u64,
    ) -> Result<(), MemoryError> {
        let mut state = self.state.lock();
        let id = state.id + 1;
        let allocation = state.live.get_mut(&base).filter(|a| a.kind == from).ok_or(MemoryError::Unknown)?;
        if allocation.base + bytes > allocation.pages + allocation.mapped {
            return Err(MemoryError::OutOfMemory);
        }
        (allocation.kind, allocation.bytes, allocation.id) = (to, bytes, id);
        state.id = id;
        drop(state);
        if let Some(function) = to.function() {
            check::allocated(base, bytes, function);
        }
        Ok(())
    }

    /// Makes the pages of a live allocation accessible or inaccessible; their contents stay.
    pub(crate) fn set_accessible(&self, base: u64, kind: AllocationKind, accessible: bool) -> Result<(), MemoryError> {
        let state = self.state.lock();
        let allocation = state.live.get(&base).filter(|a| a.kind == kind).ok_or(MemoryError::Unknown)?;
        let (pages, bytes) = (allocation.pages as *mut libc::c_void, allocation.mapped as usize);
        let rights = if accessible { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
        // SAFETY: the pages belong to this live allocation alone.
        let failed = unsafe { libc::mprotect(pages, bytes, rights) != 0 };
        if failed { Err(MemoryError::OutOfMemory) } else { Ok(()) }
    }

    /// Changes an allocation of kind `from` to kind `to`, and returns the usable size of the block.
    pub(crate) fn change_kind(&self, base: u64, from: AllocationKind, to: AllocationKind) -> Result<u64, MemoryError> {
        let mut state = self.state.lock();
        let allocation = state.live.get_mut(&base).filter(|a| a.kind == from).ok_or(MemoryError::Unknown)?;
        allocation.kind = to;
        Ok(allocation.pages + allocation.mapped - allocation.base)
    }

    /// Returns a context's share of a pool: mapped bytes in use, and those including cached blocks.
    pub(crate) fn pooled(&self, pool: usize, context: u32) -> (u64, u64) {
        let state = self.state.lock();
        let own = state.live.values().filter(|a| a.owner.context == context);
        own.fold((0, 0), |(used, reserved), a| match a.kind {
            AllocationKind::Pooled(p) if p.handle == pool => (used + a.mapped, reserved + a.mapped),
            AllocationKind::Cached(p) if p.handle == pool => (used, reserved + a.mapped),
            _ => (used, reserved),
        })
    }

    /// Makes what a context has allocated no leak.
    pub(crate) fn ignore_leaks(&self, context: u32) {
        if check::enabled() {
            let state = self.state.lock();
            let own = state.live.values().filter(|allocation| allocation.owner.context == context);
            own.for_each(|allocation| check::ignore_leak(allocation.base));
        }
    }

    /// Frees everything that a context has allocated, at its end.
    pub(crate) fn reset(&self, context: u32) {
        let mut state = self.state.lock();
        let own = |a: &&Allocation| a.kind != AllocationKind::Internal && a.owner.context == context;
        let user: Vec<_> = state.live.values().filter(own).copied().collect();
        if check::enabled() {
            crate::check::left_in_context(&user.iter().map(|a| a.base).collect::<Vec<_>>());
        }
        user.into_iter().for_each(|a| release(&mut state, a));
        state.registered.retain(|_, r| r.owner.context != context);
        self.registrations.store(state.registered.len(), Ordering::Release);
    }

    /// Returns the live allocation that contains `address`.
    pub(crate) fn find(&self, address: u64) -> Option<Allocation> {
        let state = self.state.lock();
        let (_, allocation) = state.live.range(..=address).next_back()?;
        let inside = address < allocation.base + allocation.bytes.max(1);
        (inside && !matches!(allocation.kind, AllocationKind::Cached(_))).then_some(*allocation)
    }

    /// As [`Memory::find`], also for memory of a pool that was freed.
    pub(crate) fn find_cached(&self, address: u64) -> Option<Allocation> {
        let state = self.state.lock();
        let (_, allocation) = state.live.range(..=address).next_back()?;
        (address < allocation.base + allocation.bytes.max(1)).then_some(*allocation)
    }

    /// Returns the accessible memory around an address: the pages of an allocation, or a registered range.
    pub(crate) fn accessible(&self, address: u64) -> Option<Range<u64>> {
        let state = self.state.lock();
        // Pages begin up to one page before the first byte of their allocation.
        let after = state.live.range(address..address.saturating_add(*PAGE)).next();
        let near = state.live.range(..=address).next_back().into_iter().chain(after);
        let pages = near.map(|(_, a)| a.pages..a.pages + a.mapped).find(|pages| pages.contains(&address));
        drop(state);
        pages.or_else(|| self.registration(address).map(|r| r.start..r.start + r.bytes))
    }

    /// Describes an address for an error report.
    pub(crate) fn describe(&self, address: u64) -> String {
        let state = self.state.lock();
        let of = |a: &Allocation| match a.kind {
            AllocationKind::Internal => format!("{} bytes of the device itself, such as a module's variables", a.bytes),
            _ => format!("an allocation of {} bytes", a.bytes),
        };
        let distance = |a: &&Allocation| address.saturating_sub(a.base + a.bytes).max(a.base.saturating_sub(address));
        let inside = |a: &&Allocation| {
            (a.start..a.start + a.taken).contains(&address) || (a.pages..a.pages + a.mapped).contains(&address)
        };
        let place = |a: &Allocation| match address.checked_sub(a.base) {
            None => format!("{} bytes before {}", a.base - address, of(a)),
            Some(offset) if offset < a.bytes => format!("{offset} bytes into {}", of(a)),
            Some(offset) => format!("{} bytes past the end of {}", offset - a.bytes, of(a)),
        };
        // Guards may be wide: the nearest allocation is one of the two neighbours.
        let below = state.live.range(..=address).next_back();
        let mut near = below.into_iter().chain(state.live.range(address..).next()).map(|(_, a)| a);
        // The guards of the device's own memory can be wide, and say nothing then.
        let tells = |a: &&Allocation| inside(a) && (a.kind != AllocationKind::Internal || distance(a) < *PAGE);
        if let Some(allocation) = near.find(tells) {
            return place(allocation);
        }
        if let Some(freed) = state.freed.iter().rev().find(tells) {
            return format!("{}, which was freed", place(freed));
        }
        if address < *PAGE {
            "a null pointer".to_owned()
        } else if (self.start..self.end).contains(&address) {
            let is_client_s = |a: &&Allocation| !matches!(a.kind, AllocationKind::Internal | AllocationKind::Cached(_));
            let below = state.live.range(..=address).rev().map(|(_, a)| a).find(is_client_s);
            let above = state.live.range(address..).map(|(_, a)| a).find(is_client_s);
            let nearest = below.into_iter().chain(above).min_by_key(distance);
            let nearest = nearest.map_or_else(String::new, |a| format!(", {}", place(a)));
            format!("memory that was never allocated{nearest}")
        } else {
            "neither device memory nor registered host memory".to_owned()
        }
    }

    /// Returns true if an address is in the devices' range, allocated or not.
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
        self.registrations.store(state.registered.len(), Ordering::Release);
        Ok(())
    }

    pub(crate) fn unregister(&self, start: u64) -> Result<(), MemoryError> {
        let mut state = self.state.lock();
        state.registered.remove(&start).ok_or(MemoryError::Unknown)?;
        self.registrations.store(state.registered.len(), Ordering::Release);
        Ok(())
    }

    /// Returns the registered range that contains `address`.
    pub(crate) fn registration(&self, address: u64) -> Option<Registration> {
        let state = self.state.lock();
        let (_, found) = state.registered.range(..=address).next_back()?;
        (address < found.start + found.bytes).then_some(*found)
    }
}

/// Returns true if memory of this kind counts against a device's total.
fn counts(kind: AllocationKind) -> bool {
    match kind {
        AllocationKind::Internal
        | AllocationKind::Host(_)
        | AllocationKind::Imported
        | AllocationKind::External
        | AllocationKind::Mapped(_) => false,
        AllocationKind::Pooled(pool) | AllocationKind::Cached(pool) => {
            matches!(pool.memory, PoolMemory::Device | PoolMemory::Managed)
        }
        AllocationKind::Device | AllocationKind::Managed | AllocationKind::Graph(_) => true,
    }
}

/// The limit on the number of freed allocations that are remembered.
const MAX_FREED: usize = 4096;

fn release(state: &mut State, allocation: Allocation) {
    state.live.remove(&allocation.base);
    check::released(&allocation);
    if state.freed.len() == MAX_FREED {
        state.freed.pop_front();
    }
    state.freed.push_back(allocation);
    let file = state.files.remove(&allocation.base).is_some();
    if counts(allocation.kind) {
        USED[allocation.owner.device].fetch_sub(allocation.mapped, Ordering::AcqRel);
    }
    if let Some(chunk) = allocation.chunk {
        state.chunks.discharge(allocation.mappings);
        return state.release_shared(allocation.pages, allocation.mapped, chunk, file);
    }
    if protect(allocation.pages, allocation.mapped, false).is_ok() {
        state.chunks.discharge(allocation.mappings);
        // Addresses that a client reserved remain reserved.
        if allocation.taken != 0 {
            state.partitions.containing(allocation.start).free.push_back((allocation.start, allocation.taken));
        }
    }
}

/// Makes pages accessible, or releases them and makes them inaccessible.
fn protect(start: u64, bytes: u64, accessible: bool) -> Result<(), ()> {
    let at = start as *mut libc::c_void;
    let failed = if accessible {
        // SAFETY: the pages are in the reserved range and belong to no live allocation.
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
        let first = MEMORY.alloc(1000, AllocationKind::Device).unwrap();
        assert_eq!(first % ALIGN, 0);
        assert_eq!(MEMORY.find(first + 999).unwrap().base, first);
        assert!(MEMORY.find(first + 1000).is_none());
        MEMORY.free(first, |k| k == AllocationKind::Device).unwrap();
        assert_eq!(MEMORY.free(first, |_| true), Err(MemoryError::Unknown));
        let second = MEMORY.alloc(1000, AllocationKind::Device).unwrap();
        assert_ne!(first, second);
        MEMORY.free(second, |_| true).unwrap();
    }

    #[test]
    fn an_address_far_from_all_memory_is_told_by_an_allocation_of_a_client() {
        let mine = MEMORY.alloc(7 << 12, AllocationKind::Device).unwrap();
        let internal = MEMORY.alloc(12_345, AllocationKind::Internal).unwrap();
        // Other tests allocate at the same time, there as well.
        let text = MEMORY.describe(internal + (1 << 28));
        assert!(text.contains("an allocation of ") || text.contains("of the device itself"), "{text}");
        assert!(!text.contains("12345"), "{text}");
        assert!(MEMORY.describe(internal + 9).starts_with("9 bytes into 12345 bytes of the device itself"));
        for base in [internal, mine] {
            MEMORY.free(base, |_| true).unwrap();
        }
    }

    #[test]
    fn large_allocations_can_be_written_to_their_end_and_freed() {
        for bytes in [1, 4096, 4097, (2 << 20) + 17, 5 << 20] {
            let base = MEMORY.alloc(bytes, AllocationKind::Managed).unwrap();
            // SAFETY: the allocation was just made and is `bytes` long.
            unsafe { std::ptr::write_bytes(base as *mut u8, 0x5a, bytes as usize) };
            MEMORY.free(base, |_| true).unwrap();
        }
    }

    #[test]
    fn more_than_there_is_fails() {
        assert_eq!(MEMORY.alloc(u64::MAX / 2, AllocationKind::Device), Err(MemoryError::OutOfMemory));
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
        let own = MEMORY.alloc_for(owner, 10, AllocationKind::Device, *PAGE).unwrap();
        let other = MEMORY.alloc(10, AllocationKind::Device).unwrap();
        MEMORY.reset(77);
        assert!(MEMORY.find(own).is_none() && MEMORY.find(other).is_some());
        MEMORY.free(other, |_| true).unwrap();
    }
}
