//! The locks and atomics that the crate uses, by one name each, so that `--cfg loom` replaces them by loom's and the
//! models in `loom_models.rs` run the shipped code.
//!
//! The models: `RUSTFLAGS="--cfg loom" cargo test -p cuda-mem --lib loom --profile loom`.

#[cfg(not(loom))]
mod real {
    pub(crate) use parking_lot::Mutex;
    pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
}

#[cfg(loom)]
mod real {
    pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::sync::PoisonError;

    #[derive(Default)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
        }
    }
}

pub(crate) use real::*;
