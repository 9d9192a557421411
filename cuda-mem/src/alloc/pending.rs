//! [`Pending`]: the queue of frees that have not been made yet.
//!
//! It makes no driver calls. Invariant: an item is in the queue, or was taken by one caller; while any guard defers,
//! only the end of the context takes items.

use crate::sync::{AtomicUsize, Mutex, Ordering};

/// The pending frees.
pub(crate) struct Pending<T> {
    queue: Mutex<Queue<T>>,
    /// The number of guards that defer.
    guards: AtomicUsize,
}

struct Queue<T> {
    items: Vec<T>,
    bytes: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue { items: Vec::new(), bytes: 0 }
    }
}

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Pending { queue: Mutex::default(), guards: AtomicUsize::new(0) }
    }
}

/// Items that were taken out of the queue together, with their bytes.
pub(crate) struct Batch<T> {
    pub(crate) items: Vec<T>,
    bytes: usize,
}

impl<T> Pending<T> {
    /// Returns true while a guard defers all frees.
    #[inline]
    pub(crate) fn is_deferring(&self) -> bool {
        self.guards.load(Ordering::Acquire) != 0
    }

    pub(crate) fn defer(&self) {
        self.guards.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn resume(&self) {
        self.guards.fetch_sub(1, Ordering::AcqRel);
    }

    /// Adds a free. Beyond `max_count` frees or `max_bytes` bytes it takes and returns all of them, to be made now.
    pub(crate) fn add(&self, item: T, bytes: usize, max_count: usize, max_bytes: usize) -> Option<Batch<T>> {
        let mut queue = self.queue.lock();
        queue.items.push(item);
        queue.bytes = queue.bytes.saturating_add(bytes);
        let full = queue.items.len() > max_count || queue.bytes > max_bytes;
        (full && !self.is_deferring()).then(|| queue.take())
    }

    /// Takes all pending frees, unless a guard defers.
    pub(crate) fn take(&self) -> Option<Batch<T>> {
        let mut queue = self.queue.lock();
        (!self.is_deferring() && !queue.items.is_empty()).then(|| queue.take())
    }

    /// Takes all pending frees even if a guard defers: for the end of a context.
    pub(crate) fn take_all(&self) -> Batch<T> {
        self.queue.lock().take()
    }

    /// Puts back items that could not be freed, in front of items that were added meanwhile.
    pub(crate) fn put_back(&self, batch: Batch<T>) {
        let mut queue = self.queue.lock();
        queue.bytes = queue.bytes.saturating_add(batch.bytes);
        queue.items.splice(0..0, batch.items);
    }

    /// The number of pending frees, and their bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let queue = self.queue.lock();
        (queue.items.len(), queue.bytes)
    }
}

impl<T> Queue<T> {
    fn take(&mut self) -> Batch<T> {
        Batch { items: std::mem::take(&mut self.items), bytes: std::mem::take(&mut self.bytes) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn items_that_are_put_back_come_before_newer_ones() {
        let pending = Pending::default();
        assert!(pending.add(1, 8, 9, 99).is_none() && pending.add(2, 8, 9, 99).is_none());
        let batch = pending.take().unwrap();
        assert_eq!((batch.items.clone(), pending.size()), (vec![1, 2], (0, 0)));
        assert!(pending.add(3, 4, 9, 99).is_none());
        pending.put_back(batch);
        assert_eq!(pending.size(), (3, 20));
        assert_eq!(pending.take().unwrap().items, [1, 2, 3]);
        assert!(pending.take().is_none());
    }
}
