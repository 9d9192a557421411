//! [`Pending`]: the queue of frees that have not been made yet.
//!
//! It makes no calls. Invariant: what is put in comes out once, to one caller, or is in the queue; while anybody defers,
//! only the context's end takes anything out.

use crate::sync::{AtomicUsize, Mutex, Ordering};

/// Frees that wait.
pub(crate) struct Pending<T> {
    queue: Mutex<Queue<T>>,
    /// How many guards defer.
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

/// Items with their bytes, taken out of the queue together.
pub(crate) struct Batch<T> {
    pub(crate) items: Vec<T>,
    bytes: usize,
}

impl<T> Pending<T> {
    /// Returns true if no free may be made now.
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

    /// Adds a free. Once there are more than `max_count` or more bytes than `max_bytes`, returns all, to be made now.
    pub(crate) fn add(&self, item: T, bytes: usize, max_count: usize, max_bytes: usize) -> Option<Batch<T>> {
        let mut queue = self.queue.lock();
        queue.items.push(item);
        queue.bytes = queue.bytes.saturating_add(bytes);
        let full = queue.items.len() > max_count || queue.bytes > max_bytes;
        (full && !self.is_deferring()).then(|| queue.take())
    }

    /// Everything that may be freed now: nothing while anybody defers.
    pub(crate) fn take(&self) -> Option<Batch<T>> {
        let mut queue = self.queue.lock();
        (!self.is_deferring() && !queue.items.is_empty()).then(|| queue.take())
    }

    /// Everything, whoever defers: for the end of a context.
    pub(crate) fn take_all(&self) -> Batch<T> {
        self.queue.lock().take()
    }

    /// Puts back what could not be freed, before what has come meanwhile.
    pub(crate) fn put_back(&self, batch: Batch<T>) {
        let mut queue = self.queue.lock();
        queue.bytes = queue.bytes.saturating_add(batch.bytes);
        queue.items.splice(0..0, batch.items);
    }

    /// How many frees are pending, and of how many bytes.
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
    fn what_is_put_back_comes_before_what_has_come_meanwhile() {
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
