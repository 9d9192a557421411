//! The partition of the devices' range among devices, if there are several.
//!
//! Each device has a partition for its allocations and one for its default pool. A pool that a client creates and a
//! range that it reserves get one of their own while any are free. Memory that all devices can access, host and managed
//! memory, is in the first one, and so is everything that finds no other. A launch has a mask with a bit for each slot,
//! and compiled code looks up the slot of an address in it. A single device has one partition and no look-up.
//!
//! There is no separation between contexts of one device, of module variables and the heap of `malloc` (they are in the
//! first partition), or of mappings inside one reserved range.
//!
//! Invariant: partitions consist of whole slots, in ascending order, and at both ends of each there is a guard that is
//! never allocated, as large as what compiled code adds to an address after its check.

use super::{AllocationKind, Memory, Owner, PoolMemory};
use crate::device::DEVICES;
use std::collections::VecDeque;

/// A slot is `1 / 2^SLOT_BITS` of the range. Only slots that can be allocated are used.
const SLOT_BITS: u32 = 6;
/// Slots of the first partition: 32-bit offsets stay inside the guards of the shared windows that are in it.
const COMMON_SLOTS: u64 = 8;
/// The partition that all devices can access.
pub(crate) const COMMON: usize = 0;

/// A partition.
pub(super) struct Partition {
    /// The addresses never used before, and the end of the allocatable ones.
    next: u64,
    end: u64,
    pub(super) free: VecDeque<(u64, u64)>,
    /// A bit set of its slots.
    slots: u64,
    /// A bit set of the devices that can access it; 0 for a free one.
    devices: u32,
}

impl Partition {
    /// Takes addresses never used before, or else those that were freed first.
    pub(super) fn take(&mut self, taken: u64) -> Option<u64> {
        let start = self.next;
        if start.checked_add(taken)? <= self.end {
            self.next = start + taken;
            return Some(start);
        }
        self.take_freed(taken).or_else(|| {
            self.join();
            self.take_freed(taken)
        })
    }

    /// Merges adjacent free ranges. The order in which they were freed is lost.
    fn join(&mut self) {
        let mut joined: Vec<(u64, u64)> = Vec::new();
        self.free.make_contiguous().sort_unstable();
        for (start, bytes) in self.free.drain(..) {
            match joined.last_mut() {
                Some((before, length)) if *before + *length == start => *length += bytes,
                _ => joined.push((start, bytes)),
            }
        }
        self.free.extend(joined);
    }

    fn take_freed(&mut self, taken: u64) -> Option<u64> {
        let index = self.free.iter().position(|(_, bytes)| *bytes >= taken)?;
        let (start, bytes) = self.free.remove(index)?;
        if bytes > taken {
            self.free.push_back((start + taken, bytes - taken));
        }
        Some(start)
    }
}

/// The partitions, and the mapping from addresses to slots.
pub(super) struct Partitions {
    pub(super) all: Vec<Partition>,
    /// Allocatable bytes of the first partition, and of each other one.
    pub(super) common_bytes: u64,
    pub(super) bytes: u64,
    /// The guard on both sides of every partition.
    pub(super) guard: u64,
    /// The shift that turns an address's offset into a slot number; `None` if there is one partition.
    pub(super) shift: Option<u32>,
}

impl Partitions {
    /// Divides the allocatable addresses of a range of `whole` bytes among this many devices.
    pub(super) fn of(start: u64, end: u64, whole: u64, devices: usize) -> Partitions {
        let everyone = u32::MAX;
        if devices == 1 || whole == 0 {
            let one = Partition { next: start, end, free: VecDeque::new(), slots: u64::MAX, devices: everyone };
            return Partitions { all: vec![one], common_bytes: end - start, bytes: end - start, guard: 0, shift: None };
        }
        let slot = whole >> SLOT_BITS;
        let guard = slot / 8;
        let count = (end - start) / slot;
        let partition = |first: u64, slots: u64, devices| Partition {
            next: start + first * slot + guard,
            end: start + (first + slots) * slot - guard,
            free: VecDeque::new(),
            slots: ((1 << slots) - 1) << first,
            devices,
        };
        let mut all = vec![partition(0, COMMON_SLOTS, everyone)];
        let owned = (0..2 * devices).map(|n| 1 << (n % devices)).chain(std::iter::repeat(0));
        all.extend((COMMON_SLOTS..count).zip(owned).map(|(n, devices)| partition(n, 1, devices)));
        let (common_bytes, bytes) = (COMMON_SLOTS * slot - 2 * guard, slot - 2 * guard);
        Partitions { all, common_bytes, bytes, guard, shift: Some(slot.trailing_zeros()) }
    }

    /// Returns the partition that contains an address.
    pub(super) fn containing(&mut self, address: u64) -> &mut Partition {
        let at = self.position(address);
        &mut self.all[at]
    }

    fn position(&self, address: u64) -> usize {
        self.all.partition_point(|partition| partition.end <= address).min(self.all.len() - 1)
    }
}

/// Returns the partition of a device's own memory.
fn own(device: usize) -> usize {
    if *DEVICES == 1 { COMMON } else { 1 + device }
}

/// Returns the partition of a device's default pool.
pub(crate) fn default_pool(device: usize) -> usize {
    if *DEVICES == 1 { COMMON } else { 1 + *DEVICES + device }
}

/// Returns the partition of an allocation that is not from a pool.
pub(super) fn of(owner: Owner, kind: AllocationKind) -> usize {
    match kind {
        AllocationKind::Device => own(owner.device),
        AllocationKind::Graph(_) => default_pool(owner.device),
        AllocationKind::Pooled(pool) | AllocationKind::Cached(pool) if pool.memory == PoolMemory::Device => {
            default_pool(owner.device)
        }
        AllocationKind::Managed
        | AllocationKind::Host(_)
        | AllocationKind::Imported
        | AllocationKind::External
        | AllocationKind::Mapped(_)
        | AllocationKind::Pooled(_)
        | AllocationKind::Cached(_)
        | AllocationKind::Internal => COMMON,
    }
}

impl Memory {
    /// Opens a free partition for devices; returns the first one if there is none.
    pub(crate) fn open_partition(&self, devices: u32) -> usize {
        let mut state = self.state.lock();
        let free = state.partitions.all.iter().position(|partition| partition.devices == 0);
        if let Some(at) = free {
            // The highest bit stands for the owner, so that a partition which no device can access yet is not free.
            state.partitions.all[at].devices = devices | OWNED;
        }
        free.unwrap_or(COMMON)
    }

    /// Closes a partition without live allocations.
    pub(crate) fn close_partition(&self, partition: usize) {
        self.admit(partition, 0, 0);
    }

    /// Sets the devices that can access an open partition.
    pub(crate) fn admit_to(&self, partition: usize, devices: u32) {
        self.admit(partition, 0, devices | OWNED);
    }

    /// Adds or removes a device that can access a partition.
    pub(crate) fn admit_one(&self, partition: usize, device: usize, admitted: bool) {
        let bit = 1 << device;
        if admitted { self.admit(partition, u32::MAX, bit) } else { self.admit(partition, !bit, 0) }
    }

    fn admit(&self, partition: usize, keep: u32, add: u32) {
        if partition != COMMON {
            let mut state = self.state.lock();
            let devices = &mut state.partitions.all[partition].devices;
            *devices = *devices & keep | add;
        }
    }

    /// Returns the partition that contains an address.
    pub(crate) fn partition_of(&self, address: u64) -> usize {
        self.state.lock().partitions.position(address)
    }

    /// Returns the slots that launches on a device can access: its own, and those of peers whose memory it may access.
    pub(crate) fn reached(&self, device: usize, peers: impl Iterator<Item = usize>) -> u64 {
        let state = self.state.lock();
        let open = state.partitions.all.iter().filter(|partition| partition.devices >> device & 1 != 0);
        let slots = open.fold(0, |mask, partition| mask | partition.slots);
        peers.fold(slots, |mask, peer| mask | state.partitions.all[own(peer)].slots)
    }

    /// Returns true if an address is in a slot of a mask.
    pub(crate) fn reaches(&self, slots: u64, address: u64) -> bool {
        let super::Guards { first, slot, .. } = self.guards;
        slot.is_none_or(|shift| slots >> (address.wrapping_sub(first) >> shift & 63) & 1 != 0)
    }
}

/// Set in the devices of a partition that belongs to a pool or a reserved range.
const OWNED: u32 = 1 << 31;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn freed_neighbours_are_one_range_again() {
        let mut partition = Partition { next: 0, end: 100, free: VecDeque::new(), slots: 1, devices: 0 };
        assert_eq!([25; 5].map(|bytes| partition.take(bytes)), [Some(0), Some(25), Some(50), Some(75), None]);
        partition.free.extend([(50, 25), (0, 25)]);
        // They are not adjacent.
        assert_eq!(partition.take(50), None);
        partition.free.push_back((25, 25));
        assert_eq!([60, 20].map(|bytes| partition.take(bytes)), [Some(0), None]);
        assert_eq!(partition.take(15), Some(60));
    }
}
