//! Which workers run which launch, and how a launch is stopped that does not end by itself.
//!
//! A launch has a flag for that. Workers look at it between calls of compiled code; those that are in compiled code, maybe in
//! a loop without end, are interrupted by a signal that takes the way out of faults ([`fault::interrupt`]). Neither costs
//! compiled code anything. An interrupt does nothing to a thread that is in a helper of compiled code, which may hold a
//! lock, so it is repeated until the worker has left.
//!
//! Invariant: a slot's entry is set exactly while its worker is in the launch, and the flag lives as long; the entry is
//! changed and interrupts are sent under the slot's lock.
//!
//! # Safety
//!
//! `unsafe` stands where the flag of a launch is reached through its entry.

use super::fault;
use super::pool::POOL;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A worker in a launch.
#[derive(Clone, Copy)]
struct Running {
    context: u32,
    stop: *const AtomicBool,
    thread: libc::pid_t,
}

// SAFETY: the flag may be set from any thread, and lives as long as the entry; see the header.
unsafe impl Send for Running {}

/// A slot on a cache line of its own, as each worker writes to its slot at every launch.
#[repr(align(64))]
struct Slot(Mutex<Option<Running>>);

static SLOTS: Lazy<Vec<Slot>> = Lazy::new(|| (0..POOL.slots()).map(|_| Slot(Mutex::new(None))).collect());

/// The calling thread's part in a launch, until this is dropped.
pub(super) struct Active<'a> {
    worker: usize,
    before: *const AtomicBool,
    flag: PhantomData<&'a AtomicBool>,
}

/// Enters a launch of a context as a worker. From now on compiled code of the thread is left once `stop` is set.
pub(super) fn enter(worker: usize, context: u32, stop: &AtomicBool) -> Active<'_> {
    thread_local! {
        // SAFETY: asks for the running thread's own number.
        static THREAD: libc::pid_t = unsafe { libc::gettid() };
    }
    let before = fault::watch(stop);
    *SLOTS[worker].0.lock() = Some(Running { context, stop, thread: THREAD.with(|thread| *thread) });
    Active { worker, before, flag: PhantomData }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        *SLOTS[self.worker].0.lock() = None;
        fault::watch(self.before);
    }
}

/// Sets the flags of the launches of those workers that are `meant`, and interrupts the workers; whether there are any.
fn stop(meant: impl Fn(&Running) -> bool, interrupts: bool) -> bool {
    let mut found = false;
    for slot in SLOTS.iter() {
        let running = slot.0.lock();
        let Some(running) = running.as_ref().filter(|running| meant(running)) else { continue };
        found = true;
        // SAFETY: the worker is in the launch while its slot is locked; see the header.
        unsafe { &*running.stop }.store(true, Ordering::Relaxed);
        if interrupts {
            fault::interrupt(running.thread);
        }
    }
    found
}

/// Rounds in which workers may leave by themselves, as most are about to.
const PATIENCE: u32 = 4;

/// Stops workers and returns when `done`, which is asked in each round, or when no worker is meant any more.
fn stop_until(meant: impl Fn(&Running) -> bool, mut done: impl FnMut(bool) -> bool) {
    for round in 0_u32.. {
        let interrupts = round >= PATIENCE;
        if interrupts {
            fault::find_code();
        }
        if done(stop(&meant, interrupts)) {
            return;
        }
        // A thread that was interrupted in a helper is elsewhere a moment later.
        std::thread::sleep(Duration::from_micros(20 << round.min(7)));
    }
}

/// Stops a launch and returns when no worker is in it.
pub(super) fn stop_launch(flag: &AtomicBool) {
    stop_until(|running| std::ptr::eq(running.stop, flag), |found| !found);
}

/// Stops the launches of a context until the context is `idle`.
pub(crate) fn stop_context(context: u32, idle: impl Fn() -> bool) {
    if !idle() {
        stop_until(|running| running.context == context, |_| idle());
    }
}
