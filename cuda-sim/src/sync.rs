//! The locks, atomics and threads of everything that queues, waits or wakes: [`crate::queue`] and the worker pool.
//!
//! There is one name for each primitive, which `--cfg loom` replaces by loom's, so that the models run the code that
//! ships. There is no logic here. Under loom a wait never times out.
//!
//! The models: `RUSTFLAGS="--cfg loom" cargo test -p cuda-sim --lib loom --profile loom`.

#[cfg(not(loom))]
mod real {
    pub(crate) use parking_lot::MutexGuard;
    pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    #[derive(Default)]
    pub(crate) struct Mutex<T>(parking_lot::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Mutex<T> {
            Mutex(parking_lot::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock()
        }
    }

    #[derive(Default)]
    pub(crate) struct Condvar(parking_lot::Condvar);

    impl Condvar {
        pub(crate) fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(&mut guard);
            guard
        }

        /// As `wait`; the flag is true if the time has passed.
        pub(crate) fn wait_for<'a, T>(
            &self,
            mut guard: MutexGuard<'a, T>,
            time: Duration,
        ) -> (MutexGuard<'a, T>, bool) {
            let timed_out = self.0.wait_for(&mut guard, time).timed_out();
            (guard, timed_out)
        }

        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    /// Starts a thread; returns false if the system gives none.
    pub(crate) fn spawn(name: String, stack: usize, body: impl FnOnce() + Send + 'static) -> bool {
        std::thread::Builder::new().name(name).stack_size(stack).spawn(body).is_ok()
    }

    /// Polls `done` for a moment that is shorter than sleeping and being woken.
    pub(crate) fn spin(mut done: impl FnMut() -> bool) -> bool {
        (0..SPINS).any(|_| {
            std::hint::spin_loop();
            done()
        })
    }

    /// About ten microseconds.
    const SPINS: u32 = 300;
}

#[cfg(loom)]
mod real {
    pub(crate) use loom::sync::MutexGuard;
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    #[derive(Default)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Mutex<T> {
            Mutex(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
        }
    }

    #[derive(Default)]
    pub(crate) struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
        }

        pub(crate) fn wait_for<'a, T>(&self, guard: MutexGuard<'a, T>, _: Duration) -> (MutexGuard<'a, T>, bool) {
            (self.wait(guard), false)
        }

        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    pub(crate) fn spawn(_: String, _: usize, body: impl FnOnce() + Send + 'static) -> bool {
        loom::thread::spawn(body);
        true
    }

    pub(crate) fn spin(_: impl FnMut() -> bool) -> bool {
        false
    }
}

pub(crate) use real::*;
