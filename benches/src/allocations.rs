//! The global allocator of the measurements: the system's, counting what each thread asks of it.
//!
//! # Safety
//!
//! Every call goes to [`System`] as it came, so that its contract is kept by whoever keeps ours.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts.
pub(crate) struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// How often `work` allocates or grows an allocation on this thread.
pub(crate) fn count(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

fn one_more() {
    // A cell without a destructor is there as long as its thread.
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: `System` is a global allocator, and counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        one_more();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        one_more();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        one_more();
        // SAFETY: the memory is `System`'s, since all of it is.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn what_allocates_is_counted_and_what_frees_is_not() {
        let boxed = Box::new(1);
        assert_eq!(count(|| drop(boxed)), 0);
        assert_eq!(count(|| drop(std::hint::black_box(Box::new(1)))), 1);
        let mut list = Vec::with_capacity(1);
        assert_eq!(count(|| list.extend([1, 2])), 1);
    }
}
