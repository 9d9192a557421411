//! The locks, cells, atomics and thread-locals that the crate uses, by one name each.
//!
//! Everything that locks or wakes takes its primitives from here, so that `--cfg loom` replaces them by loom's, and the
//! models in `loom_models.rs` run the shipped code. It holds no logic. Primitives in statics and in memory that a
//! device writes stay the real ones under loom: [`Counter`], [`statics`], [`shared_with_device`].
//!
//! The models: `RUSTFLAGS="--cfg loom" cargo test -p cuda-driver --lib loom --profile loom`.
//!
//! # Safety
//!
//! Only for loom: the once cell is a pointer to a box, which is set under a lock and freed with the cell.

pub(crate) use std::sync::{Arc, Weak};

/// Primitives for statics.
pub(crate) mod statics {
    pub(crate) use std::sync::LazyLock;
    #[cfg(unix)]
    pub(crate) use std::sync::OnceLock;
    pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
}

/// Primitives for memory that a device writes, with the layout that it expects.
pub(crate) mod shared_with_device {
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
}

/// A source of unique numbers, from 1 on.
pub(crate) struct Counter(std::sync::atomic::AtomicU64);

impl Counter {
    pub(crate) const fn new() -> Self {
        Counter(std::sync::atomic::AtomicU64::new(1))
    }

    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }
}

#[cfg(not(loom))]
mod real {
    pub(crate) use parking_lot::{Mutex, MutexGuard, RwLock};
    pub(crate) use std::sync::OnceLock;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
    pub(crate) use std::thread::{self, ThreadId};

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
}

#[cfg(loom)]
#[expect(unsafe_code, reason = "loom has no cell that is filled once")]
mod real {
    pub(crate) use loom::sync::MutexGuard;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
    pub(crate) use loom::thread::{self, ThreadId};
    pub(crate) use parking_lot::RwLock;
    use std::sync::PoisonError;

    #[derive(Default)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Mutex(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
        }
    }

    #[derive(Default)]
    pub(crate) struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    /// A once cell of loom's atomics.
    pub(crate) struct OnceLock<T> {
        filling: Mutex<()>,
        value: loom::sync::atomic::AtomicPtr<T>,
        owned: std::marker::PhantomData<Box<T>>,
    }

    impl<T> OnceLock<T> {
        pub(crate) fn new() -> Self {
            let value = loom::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
            OnceLock { filling: Mutex::new(()), value, owned: std::marker::PhantomData }
        }

        pub(crate) fn get(&self) -> Option<&T> {
            // SAFETY: the pointer is null or a box that lives as long as `self`.
            unsafe { self.value.load(Ordering::Acquire).as_ref() }
        }

        pub(crate) fn set(&self, value: T) -> Result<(), T> {
            let _filling = self.filling.lock();
            if self.get().is_some() {
                return Err(value);
            }
            self.value.store(Box::into_raw(Box::new(value)), Ordering::Release);
            Ok(())
        }

        pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            if self.get().is_none() {
                let _ = self.set(make());
            }
            self.get().expect("it has just been filled")
        }

        pub(crate) fn take(&mut self) -> Option<T> {
            let value = self.value.swap(std::ptr::null_mut(), Ordering::AcqRel);
            // SAFETY: a pointer that is not null came from a box, and it has just been removed from the cell, so
            // nothing else has it.
            (!value.is_null()).then(|| *unsafe { Box::from_raw(value) })
        }
    }

    impl<T> Default for OnceLock<T> {
        fn default() -> Self {
            Self::new()
        }
    }

    impl<T> Drop for OnceLock<T> {
        fn drop(&mut self) {
            let value = self.value.load(Ordering::Acquire);
            if !value.is_null() {
                // SAFETY: the pointer came from a box, and the cell, its only owner, is being dropped.
                drop(unsafe { Box::from_raw(value) });
            }
        }
    }
}

pub(crate) use real::*;
