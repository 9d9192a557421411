//! The locks, cells and atomics that the crate uses, by one name each.
//!
//! Everything that locks or wakes takes its primitives from here, so that a model checker can replace them in one
//! place. It holds no logic.

pub(crate) use parking_lot::{Mutex, MutexGuard, RwLock};
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
pub(crate) use std::sync::{Arc, OnceLock, Weak};

#[derive(Default)]
pub(crate) struct Condvar(parking_lot::Condvar);

impl Condvar {
    pub(crate) fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(&mut guard);
        guard
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}
