//! Thread numbers, and the set of threads that still run.
//!
//! Kernel panics are reported to the thread that launched them, and per-thread streams belong to a thread; both outlive
//! threads.

use std::cell::Cell;
use std::collections::HashSet;

use parking_lot::Mutex;

use crate::fork;

static RUNNING: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

thread_local! {
    static NUMBER: Cell<u32> = const { Cell::new(0) };
    static END: End = const { End };
}

/// Removes the thread's number from the running ones when the thread ends.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        if fork::is_forked_child() {
            return;
        }
        if let Some(running) = RUNNING.lock().as_mut() {
            running.remove(&NUMBER.get());
        }
    }
}

/// The number of the calling thread, from 1, which no other thread of the process ever has.
#[inline]
pub(crate) fn number() -> u32 {
    match NUMBER.get() {
        0 => assign(),
        number => number,
    }
}

#[cold]
fn assign() -> u32 {
    static NEXT: crate::sync::Counter = crate::sync::Counter::new();
    // Beyond 2^32 - 1 threads, all share the last number.
    let number = u32::try_from(NEXT.next()).unwrap_or(u32::MAX);
    NUMBER.set(number);
    // While a thread exits, no destructor can be registered: then it counts as ended from the start. In a forked child,
    // which is refused every call, another thread of the parent may have held the lock.
    if !fork::is_forked_child() && END.try_with(|_| ()).is_ok() {
        RUNNING.lock().get_or_insert_default().insert(number);
    }
    number
}

/// Returns true if the thread with this number has not ended.
pub(crate) fn is_running(number: u32) -> bool {
    RUNNING.lock().as_ref().is_some_and(|running| running.contains(&number))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_runs_until_it_ends_and_its_number_is_its_own() {
        let own = number();
        assert_eq!((number(), is_running(own), is_running(u32::MAX)), (own, true, false));
        let (other, ran) = std::thread::spawn(|| (number(), is_running(number()))).join().unwrap();
        assert!(other != own && ran && !is_running(other) && is_running(own));
    }
}
