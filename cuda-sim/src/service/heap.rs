//! The heap of device-side `malloc`: first fit in one area of memory, with its books kept outside of it.
//!
//! One heap for the process: what kernels allocate lives until kernels free it.
//!
//! Invariant: live and free ranges tile the area, so a kernel that writes out of bounds cannot break the heap itself.

use crate::memory::{Kind, MEMORY};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// CUDA's default for `CU_LIMIT_MALLOC_HEAP_SIZE`.
const BYTES: u64 = 8 << 20;

static LIMIT: AtomicU64 = AtomicU64::new(BYTES);

/// What `malloc` aligns to.
const ALIGN: u64 = 16;

#[derive(Default)]
struct Heap {
    base: u64,
    free: BTreeMap<u64, u64>,
    live: BTreeMap<u64, u64>,
}

static HEAP: Lazy<Mutex<Heap>> = Lazy::new(Mutex::default);

impl Heap {
    fn allocate(&mut self, bytes: u64) -> Option<u64> {
        if self.base == 0 {
            let bytes = LIMIT.load(Ordering::Relaxed).next_multiple_of(ALIGN);
            self.base = MEMORY.alloc(bytes, Kind::Internal).ok()?;
            self.free.insert(self.base, bytes);
        }
        let wanted = bytes.max(1).checked_next_multiple_of(ALIGN)?;
        let (&at, &room) = self.free.iter().find(|(_, room)| **room >= wanted)?;
        self.free.remove(&at);
        if room > wanted {
            self.free.insert(at + wanted, room - wanted);
        }
        self.live.insert(at, wanted);
        Some(at)
    }

    fn release(&mut self, address: u64) -> bool {
        let Some(mut bytes) = self.live.remove(&address) else { return false };
        let mut at = address;
        if let Some(after) = self.free.remove(&(at + bytes)) {
            bytes += after;
        }
        if let Some((&before, &room)) = self.free.range(..at).next_back()
            && before + room == at
        {
            (at, bytes) = (before, bytes + room);
        }
        self.free.insert(at, bytes);
        true
    }
}

pub(super) fn allocate(bytes: u64) -> Option<u64> {
    HEAP.lock().allocate(bytes)
}

/// Whether the address was live.
pub(super) fn release(address: u64) -> bool {
    HEAP.lock().release(address)
}

/// Sets the size that the heap will have; nothing once it is in use.
pub(crate) fn limit_heap(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_tile_and_merge() {
        let mut heap = Heap::default();
        let three: Vec<u64> = (0..3).map(|_| heap.allocate(40).unwrap()).collect();
        assert_eq!(three[1] - three[0], 48);
        assert!(three.iter().all(|a| a % ALIGN == 0));
        assert!(heap.release(three[0]) && heap.release(three[2]) && heap.release(three[1]));
        assert!(!heap.release(three[1]));
        assert_eq!(heap.free.len(), 1);
        assert_eq!(heap.allocate(BYTES), Some(three[0]));
        assert_eq!(heap.allocate(1), None);
        assert_eq!(heap.allocate(u64::MAX), None);
        MEMORY.free(heap.base, |_| true).unwrap();
    }
}
