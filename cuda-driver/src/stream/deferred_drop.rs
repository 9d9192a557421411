//! Deferred drops: values that are dropped inside a host function of a stream, where no driver call can be made.
//!
//! A driver refuses every call from its callback threads. `stream.launch_host_fn(move || drop(buffer))` is the usual
//! way to keep a buffer alive until work is done, so values that are dropped there are queued, and dropped by the next
//! wait or allocation of any thread.

use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

thread_local! {
    static IN_HOST_FN: Cell<bool> = const { Cell::new(false) };
}

static DEFERRED: Mutex<Vec<Box<dyn Any + Send>>> = Mutex::new(Vec::new());
static ANY_DEFERRED: AtomicBool = AtomicBool::new(false);

/// Runs a host function of a stream.
pub(crate) fn in_host_fn<R>(work: impl FnOnce() -> R) -> R {
    let before = IN_HOST_FN.replace(true);
    let result = work();
    IN_HOST_FN.set(before);
    result
}

/// Returns true inside a host function of a stream, where no call can be made.
#[doc(hidden)]
#[must_use]
#[inline]
pub fn is_in_host_fn() -> bool {
    IN_HOST_FN.get()
}

/// Queues a value whose drop makes driver calls, until calls can be made.
#[doc(hidden)]
pub fn defer_drop(value: Box<dyn Any + Send>) {
    DEFERRED.lock().push(value);
    ANY_DEFERRED.store(true, Ordering::Release);
}

/// Drops the queued values. Returns true if there were any. Does nothing inside a host function.
#[doc(hidden)]
#[inline]
pub fn drop_deferred() -> bool {
    ANY_DEFERRED.load(Ordering::Acquire) && drop_all()
}

#[cold]
fn drop_all() -> bool {
    if is_in_host_fn() {
        return false;
    }
    let deferred = {
        let mut deferred = DEFERRED.lock();
        ANY_DEFERRED.store(false, Ordering::Release);
        std::mem::take(&mut *deferred)
    };
    // Outside the lock, since a drop may queue further values.
    !deferred.is_empty()
}
