//! A ring of slots from one rank to another: one producer, one consumer, and their two counters.
//!
//! It knows counters only: the bytes of the slots are the caller's. Invariant: the producer writes a slot before it
//! publishes it and not again before the consumer has released it; the consumer reads between the two.

use crate::sync::{AtomicU64, Ordering};

/// The counters of a ring, on cache lines of their own.
#[repr(C)]
#[derive(Default)]
pub(crate) struct RingFlags {
    published: Line,
    released: Line,
}

#[repr(C, align(64))]
#[derive(Default)]
struct Line(AtomicU64);

impl RingFlags {
    /// Returns the slot that the producer may write, if one is free.
    pub(crate) fn writable(&self, slots: u64) -> Option<usize> {
        let next = self.published.0.load(Ordering::Relaxed);
        let free = next - self.released.0.load(Ordering::Acquire) < slots;
        free.then_some((next % slots) as usize)
    }

    /// Hands the written slot to the consumer.
    pub(crate) fn publish(&self) {
        let next = self.published.0.load(Ordering::Relaxed);
        self.published.0.store(next + 1, Ordering::Release);
    }

    /// Returns the slot that the consumer may read, if one is published.
    pub(crate) fn readable(&self, slots: u64) -> Option<usize> {
        let next = self.released.0.load(Ordering::Relaxed);
        let full = self.published.0.load(Ordering::Acquire) > next;
        full.then_some((next % slots) as usize)
    }

    /// Hands the read slot back to the producer.
    pub(crate) fn release(&self) {
        let next = self.released.0.load(Ordering::Relaxed);
        self.released.0.store(next + 1, Ordering::Release);
    }
}
