//! The global allocator of the benchmarks: the system's, which counts each thread's allocations.
//!
//! # Safety
//!
//! Every call is forwarded to [`System`] unchanged, so a caller that keeps the contract of this allocator keeps that of `System`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The counting allocator.
pub(crate) struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The number of allocations and reallocations that `work` makes on this thread.
pub(crate) fn count(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

fn increment() {
    // A cell without a destructor lives as long as its thread.
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: `System` is a global allocator, and counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        increment();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        increment();
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        increment();
        // SAFETY: the caller keeps the contract of `realloc`; the memory is `System`'s, as all memory of this allocator is.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`; the memory is `System`'s, as all memory of this allocator is.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn allocations_are_counted_and_frees_are_not() {
        let boxed = Box::new(1);
        assert_eq!(count(|| drop(boxed)), 0);
        assert_eq!(count(|| drop(std::hint::black_box(Box::new(1)))), 1);
        let mut list = Vec::with_capacity(1);
        assert_eq!(count(|| list.extend([1, 2])), 1);
    }
}
