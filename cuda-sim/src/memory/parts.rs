//! The partition of the devices' range among devices, if there are several.
//!
//! Each device has a slot range for its allocations and one for its default pool. A pool that a client creates and a
//! range that it reserves get one of their own while any are free. Memory that all devices can access, host and managed
//! memory, is in the first one, and so is everything that finds no other. A launch has a mask with a bit for each slot,
//! and compiled code looks up the slot of an address in it. A single device has one slot range and no look-up.
//!
//! There is no separation between contexts of one device, of module variables and the heap of `malloc` (they are in the
//! first slot range), or of mappings inside one reserved range.
//!
//! Invariant: slot ranges consist of whole slots, in ascending order, and at both ends of each there is a guard that is
//! never allocated, as large as what compiled code adds to an address after its check.

use super::{Kind, Memory, Owner};
use crate::device::DEVICES;
use std::collections::VecDeque;

/// The range is divided into `1 << SLOTS` slots, counted over the addresses that can be allocated.
const SLOTS: u32 = 6;
/// Slots of the first slot range: 32-bit offsets stay inside the guards of the shared windows that are in it.
const COMMON_SLOTS: u64 = 8;
/// The slot range that all devices can access.
pub(crate) const COMMON: usize = 0;

/// A slot range.
pub(super) struct Part {
    /// The addresses never used before, and the end of the allocatable ones.
    next: u64,
    end: u64,
    pub(super) free: VecDeque<(u64, u64)>,
    /// A bit set of its slots.
    slots: u64,
    /// A bit set of the devices that can access it; 0 for a free one.
    devices: u32,
}

impl Part {
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

/// The slot ranges, and the mapping from addresses to slots.
pub(super) struct Parts {
    pub(super) all: Vec<Part>,
    /// Allocatable bytes of the first slot range, and of each other one.
    pub(super) common_bytes: u64,
    pub(super) bytes: u64,
    /// The guard on both sides of every slot range.
    pub(super) guard: u64,
    /// The shift that turns an address's offset into a slot number; `None` if there is one slot range.
    pub(super) shift: Option<u32>,
}

impl Parts {
    /// Divides the allocatable addresses of a range of `whole` bytes among this many devices.
    pub(super) fn of(start: u64, end: u64, whole: u64, devices: usize) -> Parts {
        let everyone = u32::MAX;
        if devices == 1 || whole == 0 {
            let one = Part { next: start, end, free: VecDeque::new(), slots: u64::MAX, devices: everyone };
            return Parts { all: vec![one], common_bytes: end - start, bytes: end - start, guard: 0, shift: None };
        }
        let slot = whole >> SLOTS;
        let guard = slot / 8;
        let count = (end - start) / slot;
        let part = |first: u64, slots: u64, devices| Part {
            next: start + first * slot + guard,
            end: start + (first + slots) * slot - guard,
            free: VecDeque::new(),
            slots: ((1 << slots) - 1) << first,
            devices,
        };
        let mut all = vec![part(0, COMMON_SLOTS, everyone)];
        let owned = (0..2 * devices).map(|n| 1 << (n % devices)).chain(std::iter::repeat(0));
        all.extend((COMMON_SLOTS..count).zip(owned).map(|(n, devices)| part(n, 1, devices)));
        let (common_bytes, bytes) = (COMMON_SLOTS * slot - 2 * guard, slot - 2 * guard);
        Parts { all, common_bytes, bytes, guard, shift: Some(slot.trailing_zeros()) }
    }

    /// Returns the slot range that contains an address.
    pub(super) fn containing(&mut self, address: u64) -> &mut Part {
        let at = self.position(address);
        &mut self.all[at]
    }

    fn position(&self, address: u64) -> usize {
        self.all.partition_point(|part| part.end <= address).min(self.all.len() - 1)
    }
}

/// Returns the slot range of a device's own memory.
fn own(device: usize) -> usize {
    if *DEVICES == 1 { COMMON } else { 1 + device }
}

/// Returns the slot range of a device's default pool.
pub(crate) fn default_pool(device: usize) -> usize {
    if *DEVICES == 1 { COMMON } else { 1 + *DEVICES + device }
}

/// Returns the slot range of an allocation that is not from a pool.
pub(super) fn of(owner: Owner, kind: Kind) -> usize {
    match kind {
        Kind::Device => own(owner.device),
        Kind::Graph(_) | Kind::Pooled(_) | Kind::Cached(_) => default_pool(owner.device),
        Kind::Managed | Kind::Host(_) | Kind::Imported | Kind::External | Kind::Mapped(_) | Kind::Internal => COMMON,
    }
}

impl Memory {
    /// Opens a free slot range for devices; returns the first one if there is none.
    pub(crate) fn open_part(&self, devices: u32) -> usize {
        let mut state = self.state.lock();
        let free = state.parts.all.iter().position(|part| part.devices == 0);
        if let Some(at) = free {
            // The highest bit stands for the owner, so that a slot range which no device can access yet is not free.
            state.parts.all[at].devices = devices | OWNED;
        }
        free.unwrap_or(COMMON)
    }

    /// Closes a slot range without live allocations.
    pub(crate) fn close_part(&self, part: usize) {
        self.admit(part, 0, 0);
    }

    /// Sets the devices that can access an open slot range.
    pub(crate) fn admit_to(&self, part: usize, devices: u32) {
        self.admit(part, 0, devices | OWNED);
    }

    /// Adds or removes a device that can access a slot range.
    pub(crate) fn admit_one(&self, part: usize, device: usize, admitted: bool) {
        let bit = 1 << device;
        if admitted { self.admit(part, u32::MAX, bit) } else { self.admit(part, !bit, 0) }
    }

    fn admit(&self, part: usize, keep: u32, add: u32) {
        if part != COMMON {
            let mut state = self.state.lock();
            let devices = &mut state.parts.all[part].devices;
            *devices = *devices & keep | add;
        }
    }

    /// Returns the slot range that contains an address.
    pub(crate) fn part_of(&self, address: u64) -> usize {
        self.state.lock().parts.position(address)
    }

    /// Returns the slots that launches on a device can access: its own, and those of peers whose memory it may access.
    pub(crate) fn reached(&self, device: usize, peers: impl Iterator<Item = usize>) -> u64 {
        let state = self.state.lock();
        let open = state.parts.all.iter().filter(|part| part.devices >> device & 1 != 0);
        let slots = open.fold(0, |mask, part| mask | part.slots);
        peers.fold(slots, |mask, peer| mask | state.parts.all[own(peer)].slots)
    }

    /// Returns true if an address is in a slot of a mask.
    pub(crate) fn reaches(&self, slots: u64, address: u64) -> bool {
        let super::Guards { first, slot, .. } = self.guards;
        slot.is_none_or(|shift| slots >> (address.wrapping_sub(first) >> shift & 63) & 1 != 0)
    }
}

/// Set in the devices of a slot range that belongs to a pool or a reserved range.
const OWNED: u32 = 1 << 31;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn freed_neighbours_are_one_range_again() {
        let mut part = Part { next: 0, end: 100, free: VecDeque::new(), slots: 1, devices: 0 };
        assert_eq!([25; 5].map(|bytes| part.take(bytes)), [Some(0), Some(25), Some(50), Some(75), None]);
        part.free.extend([(50, 25), (0, 25)]);
        // They are not adjacent.
        assert_eq!(part.take(50), None);
        part.free.push_back((25, 25));
        assert_eq!([60, 20].map(|bytes| part.take(bytes)), [Some(0), None]);
        assert_eq!(part.take(15), Some(60));
    }
}
