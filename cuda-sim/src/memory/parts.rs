//! Which device reaches what: the parts of the devices' range, where there is more than one device.
//!
//! Each device has a part for what it allocates and one for its default pool; a pool that a client makes and a range
//! that it reserves get one of their own while there are any. What all devices reach, host and managed memory, lies in
//! the first part, and so does what finds no other part. A launch has a mask with a bit for each slot of the range,
//! and compiled code looks up the slot of an address in it. One device has one part, and nothing is looked up.
//!
//! Not told apart: contexts of one device, variables of modules and the heap of `malloc` (they are in the first part),
//! and mappings inside one reserved range.
//!
//! Invariant: parts are whole slots, in ascending order, and next to both ends of each there is a guard that is never
//! given out, as wide as what compiled code adds to an address behind its check.

use super::{Kind, Memory, Owner};
use crate::device::DEVICES;
use std::collections::VecDeque;

/// A range is cut into so many slots, of which those that are given out count.
const SLOTS: u32 = 6;
/// Slots of the first part: offsets of 32 bits stay in the guards of the shared windows that lie there.
const COMMON_SLOTS: u64 = 8;
/// The part that all devices reach.
pub(crate) const COMMON: usize = 0;

/// A part of the range.
pub(super) struct Part {
    /// Addresses never used before, and the end of what is given out.
    next: u64,
    end: u64,
    pub(super) free: VecDeque<(u64, u64)>,
    /// The slots that it is, as bits.
    slots: u64,
    /// Devices that reach it, as bits; 0 for a part that nobody has.
    devices: u32,
}

impl Part {
    /// Addresses never used before, or else the ones freed longest ago.
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

    /// Joins free ranges that lie next to each other. What was freed when is forgotten.
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

/// The parts, and how the slot of an address is found.
pub(super) struct Parts {
    pub(super) all: Vec<Part>,
    /// Bytes that the first part gives out, and each other.
    pub(super) common_bytes: u64,
    pub(super) bytes: u64,
    /// On both sides of every part.
    pub(super) guard: u64,
    /// How far the number of an address's slot has to be shifted; `None` where there is one part.
    pub(super) shift: Option<u32>,
}

impl Parts {
    /// Divides what is given out of a range of `whole` bytes for that many devices.
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

    /// The part in which an address lies.
    pub(super) fn containing(&mut self, address: u64) -> &mut Part {
        let at = self.position(address);
        &mut self.all[at]
    }

    fn position(&self, address: u64) -> usize {
        self.all.partition_point(|part| part.end <= address).min(self.all.len() - 1)
    }
}

/// The part of a device's own memory.
fn own(device: usize) -> usize {
    if *DEVICES == 1 { COMMON } else { 1 + device }
}

/// The part of a device's default pool.
pub(crate) fn default_pool(device: usize) -> usize {
    if *DEVICES == 1 { COMMON } else { 1 + *DEVICES + device }
}

/// The part of an allocation that is not from a pool.
pub(super) fn of(owner: Owner, kind: Kind) -> usize {
    match kind {
        Kind::Device => own(owner.device),
        Kind::Graph(_) | Kind::Pooled(_) | Kind::Cached(_) => default_pool(owner.device),
        Kind::Managed | Kind::Host(_) | Kind::Imported | Kind::External | Kind::Mapped(_) | Kind::Internal => COMMON,
    }
}

impl Memory {
    /// A part that nobody had, for a device if there is one; the first part where all are taken.
    pub(crate) fn open_part(&self, devices: u32) -> usize {
        let mut state = self.state.lock();
        let free = state.parts.all.iter().position(|part| part.devices == 0);
        if let Some(at) = free {
            // The highest bit stands for the owner, so that a part which no device reaches yet is not free.
            state.parts.all[at].devices = devices | OWNED;
        }
        free.unwrap_or(COMMON)
    }

    /// Gives back a part in which nothing is live any more.
    pub(crate) fn close_part(&self, part: usize) {
        self.admit(part, 0, 0);
    }

    /// Says which devices reach a part that was opened.
    pub(crate) fn admit_to(&self, part: usize, devices: u32) {
        self.admit(part, 0, devices | OWNED);
    }

    /// Lets a device reach a part, or not any more.
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

    /// The part in which an address lies.
    pub(crate) fn part_of(&self, address: u64) -> usize {
        self.state.lock().parts.position(address)
    }

    /// The slots that launches on a device reach, and on others whose own memory they may access.
    pub(crate) fn reached(&self, device: usize, peers: impl Iterator<Item = usize>) -> u64 {
        let state = self.state.lock();
        let open = state.parts.all.iter().filter(|part| part.devices >> device & 1 != 0);
        let slots = open.fold(0, |mask, part| mask | part.slots);
        peers.fold(slots, |mask, peer| mask | state.parts.all[own(peer)].slots)
    }

    /// Returns true if an address of the range lies in a slot of a mask.
    pub(crate) fn reaches(&self, slots: u64, address: u64) -> bool {
        let super::Guards { first, slot, .. } = self.guards;
        slot.is_none_or(|shift| slots >> (address.wrapping_sub(first) >> shift & 63) & 1 != 0)
    }
}

/// Set in the devices of a part that a pool or a reserved range has.
const OWNED: u32 = 1 << 31;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn freed_neighbours_are_one_range_again() {
        let mut part = Part { next: 0, end: 100, free: VecDeque::new(), slots: 1, devices: 0 };
        assert_eq!([25; 5].map(|bytes| part.take(bytes)), [Some(0), Some(25), Some(50), Some(75), None]);
        part.free.extend([(50, 25), (0, 25)]);
        // They do not touch.
        assert_eq!(part.take(50), None);
        part.free.push_back((25, 25));
        assert_eq!([60, 20].map(|bytes| part.take(bytes)), [Some(0), None]);
        assert_eq!(part.take(15), Some(60));
    }
}
