//! A context's device heap: a first-fit allocator in one area of device memory, with its metadata outside of it.
//!
//! Invariant: live and free ranges tile the area. A kernel that writes out of bounds cannot corrupt the metadata.

use crate::check::events;
use crate::memory::{AllocationKind, MEMORY};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};

/// CUDA's default for `CU_LIMIT_MALLOC_HEAP_SIZE`.
const BYTES: u64 = 8 << 20;
/// The alignment of `malloc`.
const ALIGN: u64 = 16;

#[derive(Default)]
struct Heap {
    base: u64,
    /// The value of `CU_LIMIT_MALLOC_HEAP_SIZE`, if it was set.
    limit: Option<u64>,
    free: BTreeMap<u64, u64>,
    live: BTreeMap<u64, u64>,
}

/// The heap of each context, by its id.
static HEAPS: Lazy<Mutex<HashMap<u32, Heap>>> = Lazy::new(Mutex::default);

impl Heap {
    fn allocate(&mut self, bytes: u64) -> Option<u64> {
        if self.base == 0 {
            let bytes = self.limit.unwrap_or(BYTES).next_multiple_of(ALIGN);
            self.base = MEMORY.alloc(bytes, AllocationKind::Internal).ok()?;
            self.free.insert(self.base, bytes);
        }
        // The checkers find accesses past the end of a block only if the next one does not begin there.
        let gap = if events::enabled() { ALIGN } else { 0 };
        let wanted = bytes.max(1).checked_next_multiple_of(ALIGN)?.checked_add(gap)?;
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

pub(super) fn allocate(context: u32, bytes: u64) -> Option<u64> {
    HEAPS.lock().entry(context).or_default().allocate(bytes)
}

/// Returns true if the address was live.
pub(super) fn release(context: u32, address: u64) -> bool {
    HEAPS.lock().get_mut(&context).is_some_and(|heap| heap.release(address))
}

/// Sets the size of a context's heap. A heap that is in use keeps its size.
pub(crate) fn limit(context: u32, bytes: u64) {
    HEAPS.lock().entry(context).or_default().limit = Some(bytes);
}

/// Keeps blocks of a context's heap that are not freed from being reported.
pub(crate) fn ignore_leaks(context: u32) {
    if let Some(heap) = HEAPS.lock().get(&context).filter(|heap| heap.base != 0) {
        let bytes: u64 = heap.free.values().chain(heap.live.values()).sum();
        events::ignore_heap(heap.base..heap.base + bytes);
    }
}

/// Frees a context's whole heap, at its reset.
pub(crate) fn reset(context: u32) {
    let old = HEAPS.lock().remove(&context);
    if let Some(old) = old.filter(|heap| heap.base != 0) {
        let bytes: u64 = old.free.values().chain(old.live.values()).sum();
        crate::check::heap::left(old.base..old.base + bytes, "its context");
        events::forget_variables(old.base..old.base + bytes);
        // Allocated by `allocate`, so freeing it cannot fail.
        let _ = MEMORY.free(old.base, |kind| kind == AllocationKind::Internal);
    }
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

    #[test]
    fn contexts_have_heaps_of_their_own() {
        let (one, two) = (u32::MAX, u32::MAX - 1);
        let (a, b) = (allocate(one, 8).unwrap(), allocate(two, 8).unwrap());
        assert!(!release(two, a) && !release(one, b));
        reset(one);
        assert!(!release(one, a) && release(two, b));
        reset(two);
    }

    #[test]
    fn a_limit_is_the_size_of_a_heap_that_is_not_in_use() {
        let mut heap = Heap { limit: Some(100), ..Heap::default() };
        let all = heap.allocate(112);
        assert!(all.is_some());
        assert_eq!(heap.allocate(1), None);
        heap.limit = Some(1 << 20);
        assert_eq!(heap.allocate(1), None);
        MEMORY.free(heap.base, |_| true).unwrap();
    }
}
