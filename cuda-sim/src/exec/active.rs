//! The registry of running launches: which worker runs which launch, and how a launch that does not end by itself is
//! stopped.
//!
//! Each launch has a stop flag. Workers read it between calls of compiled code. Workers inside compiled code, which may
//! be in an infinite loop, are interrupted by a signal that leaves compiled code in the way that faults do
//! ([`fault::interrupt`]). Neither costs compiled code anything. An interrupt has no effect on a thread in a helper
//! function, which may hold a lock, so it is repeated until the worker has left.
//!
//! Invariant: a slot's entry is set exactly while its worker is in the launch, and the flag outlives the entry. The
//! entry is changed, and interrupts are sent, under the slot's lock.
//!
//! # Safety
//!
//! The one dereference is of a launch's flag through its entry; the invariant above keeps the flag alive.

use super::fault;
use super::pool::POOL;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A worker in a launch.
#[derive(Clone, Copy)]
struct RunningLaunch {
    context: u32,
    stop: *const AtomicBool,
    thread: libc::pid_t,
}

// SAFETY: the flag may be set from any thread, and the invariant in the header keeps it alive as long as the entry.
unsafe impl Send for RunningLaunch {}

/// A slot in a cache line of its own, since each worker writes to its slot in every launch.
#[repr(align(64))]
struct Slot(Mutex<Option<RunningLaunch>>);

static SLOTS: Lazy<Vec<Slot>> = Lazy::new(|| (0..POOL.slots()).map(|_| Slot(Mutex::new(None))).collect());

/// The calling thread's membership in a launch, which ends on drop.
pub(super) struct Active<'a> {
    worker: usize,
    before: *const AtomicBool,
    flag: PhantomData<&'a AtomicBool>,
}

/// Registers a worker in a launch of a context. From then on its compiled code is left once `stop` is set.
pub(super) fn enter(worker: usize, context: u32, stop: &AtomicBool) -> Active<'_> {
    thread_local! {
        // SAFETY: `gettid` takes no arguments and returns the calling thread's id.
        static THREAD: libc::pid_t = unsafe { libc::gettid() };
    }
    let before = fault::watch(stop);
    *SLOTS[worker].0.lock() = Some(RunningLaunch { context, stop, thread: THREAD.with(|thread| *thread) });
    Active { worker, before, flag: PhantomData }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        *SLOTS[self.worker].0.lock() = None;
        fault::watch(self.before);
    }
}

/// Sets the flags of the launches that `selected` selects and interrupts their workers. Returns true if there are any.
fn stop(selected: impl Fn(&RunningLaunch) -> bool, interrupts: bool) -> bool {
    let mut found = false;
    for slot in SLOTS.iter() {
        let running = slot.0.lock();
        let Some(running) = running.as_ref().filter(|running| selected(running)) else { continue };
        found = true;
        // SAFETY: under the slot's lock the worker is in the launch, so the invariant in the header keeps the flag
        // alive.
        unsafe { &*running.stop }.store(true, Ordering::Relaxed);
        if interrupts {
            fault::interrupt(running.thread);
        }
    }
    found
}

/// Rounds in which workers may leave by themselves before they are interrupted; most are about to.
const GRACE_ROUNDS: u32 = 4;

/// Stops workers until `done`, which is called in each round, returns true, or no worker is selected any more.
fn stop_until(selected: impl Fn(&RunningLaunch) -> bool, mut done: impl FnMut(bool) -> bool) {
    for round in 0_u32.. {
        let interrupts = round >= GRACE_ROUNDS;
        if interrupts {
            fault::find_code();
        }
        if done(stop(&selected, interrupts)) {
            return;
        }
        // A thread that was interrupted in a helper will soon be elsewhere.
        std::thread::sleep(Duration::from_micros(20 << round.min(7)));
    }
}

/// Stops a launch and waits until no worker is in it.
pub(super) fn stop_launch(flag: &AtomicBool) {
    stop_until(|running| std::ptr::eq(running.stop, flag), |found| !found);
}

/// Stops the launches of a context until the context is `idle`.
pub(crate) fn stop_context(context: u32, idle: impl Fn() -> bool) {
    if !idle() {
        stop_until(|running| running.context == context, |_| idle());
    }
}
