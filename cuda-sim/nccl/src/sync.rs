//! The atomics and the sleeping of everything that ranks share, which `--cfg loom` replaces by loom's, so that the models run
//! the code that ships.
//!
//! The models: `RUSTFLAGS="--cfg loom" cargo test -p cuda-nccl-sim --lib loom --profile loom`.
//!
//! # Safety
//!
//! The one `unsafe` block is the system call `futex` on a word that the caller holds a reference to.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use std::time::Duration;

/// The bit of a doorbell that says that a thread sleeps, or is about to.
const SLEEPS: u32 = 1;
/// The distance of two states of a doorbell.
const STEP: u32 = 2;

/// A word that a rank sleeps on while it can make no progress, and that its peers change when they give it work: an event
/// count, of which one bit says that somebody sleeps.
#[repr(C, align(64))]
pub(crate) struct Doorbell {
    word: AtomicU32,
    #[cfg(loom)]
    sleepers: loom::sync::Mutex<()>,
    #[cfg(loom)]
    woken: loom::sync::Condvar,
}

#[cfg(loom)]
impl Default for Doorbell {
    fn default() -> Doorbell {
        Doorbell { word: AtomicU32::new(0), sleepers: loom::sync::Mutex::new(()), woken: loom::sync::Condvar::new() }
    }
}

impl Doorbell {
    /// Returns the state that [`wait`](Self::wait) compares: read before looking for work.
    pub(crate) fn ticket(&self) -> u32 {
        self.word.load(Ordering::Acquire) & !SLEEPS
    }

    /// Announces work, and wakes all sleepers.
    pub(crate) fn ring(&self) {
        let before = self.word.fetch_add(STEP, Ordering::AcqRel);
        if before & SLEEPS != 0 {
            self.word.fetch_and(!SLEEPS, Ordering::AcqRel);
            self.wake();
        }
    }

    /// Sleeps until the doorbell rings, at most for `limit`; returns at once if it has rung since the ticket.
    pub(crate) fn wait(&self, ticket: u32, limit: Duration) {
        let asleep = ticket | SLEEPS;
        match self.word.compare_exchange(ticket, asleep, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => self.sleep(asleep, limit),
            Err(found) if found == asleep => self.sleep(asleep, limit),
            Err(_) => {}
        }
    }

    #[cfg(not(loom))]
    fn sleep(&self, expected: u32, limit: Duration) {
        let time = libc::timespec { tv_sec: limit.as_secs().cast_signed(), tv_nsec: limit.subsec_nanos().into() };
        // SAFETY: the word and the time live through the call; the system only compares the word.
        unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), libc::FUTEX_WAIT, expected, &raw const time) };
    }

    #[cfg(not(loom))]
    fn wake(&self) {
        // SAFETY: the word lives through the call, which does not access it.
        unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }

    #[cfg(loom)]
    fn sleep(&self, expected: u32, _: Duration) {
        let guard = self.sleepers.lock().unwrap();
        if self.word.load(Ordering::Acquire) == expected {
            drop(self.woken.wait(guard).unwrap());
        }
    }

    #[cfg(loom)]
    fn wake(&self) {
        drop(self.sleepers.lock().unwrap());
        self.woken.notify_all();
    }
}
