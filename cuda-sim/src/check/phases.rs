//! The clocks that threads have released at barrier objects (`mbarrier`), by phase: a test that finds a phase complete acquires what was
//! released for it and for those before, and nothing of the phase that has begun since.
//!
//! The phase is known by its parity, which each arrival and each test looks up: between two of them it ends once at most. Where
//! copies arrive later, or complete bytes, that is not so, and everything counts as released for a phase that is complete.

use super::clocks::{self, Known};
use std::collections::HashMap;

/// A barrier object.
struct Object {
    /// The parity of the phase for which `current` was released.
    odd: bool,
    current: Known,
    /// The clock that was released for the phases that are complete.
    complete: Known,
    /// True if not every arrival is one of a thread.
    is_mixed: bool,
}

/// The barrier objects of a launch, by address.
#[derive(Default)]
pub(super) struct Objects(HashMap<u64, Object>);

impl Object {
    /// Ends the phase if another one has begun.
    fn catch_up(&mut self, odd: bool) {
        if self.is_mixed || self.odd != odd {
            clocks::join(&mut self.complete, &self.current.take());
            self.odd = odd;
        }
    }
}

impl Objects {
    /// A thread is about to arrive at an object, whose phase has this parity. With `mixed` it arrives some time later, or
    /// completes bytes.
    pub(super) fn release(&mut self, address: u64, odd: bool, mixed: bool, released: &Known) {
        let object =
            self.0.entry(address).or_insert_with(|| Object { odd, current: None, complete: None, is_mixed: false });
        object.is_mixed |= mixed;
        object.catch_up(odd);
        let to = if object.is_mixed { &mut object.complete } else { &mut object.current };
        clocks::join(to, released);
    }

    /// The use of an object begins or ends.
    pub(super) fn forget(&mut self, address: u64) {
        self.0.remove(&address);
    }

    /// Returns what was released for the phases of an object that are complete, when its phase has this parity.
    pub(super) fn acquire(&mut self, address: u64, odd: bool) -> Known {
        let object = self.0.get_mut(&address)?;
        object.catch_up(odd);
        object.complete.clone()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::clocks::{Clock, Key, covers};
    use super::*;
    use std::rc::Rc;

    fn of(thread: u64) -> Known {
        Some(Rc::new(Clock::of(vec![(Key::thread(thread), 5)])))
    }

    #[test]
    fn a_phase_has_what_was_released_for_it_and_before() {
        let mut objects = Objects::default();
        objects.release(8, false, false, &of(1));
        assert_eq!(objects.acquire(8, false), None);
        objects.release(8, false, false, &of(2));
        // The next phase has begun, and a thread arrives at it.
        objects.release(8, true, false, &of(3));
        let first = objects.acquire(8, true);
        assert!(covers(&first, 1, 0) && covers(&first, 2, 0) && !covers(&first, 3, 0));
        let second = objects.acquire(8, false);
        assert!((1..4).all(|thread| covers(&second, thread, 0)));
        objects.forget(8);
        assert_eq!(objects.acquire(8, true), None);
    }

    #[test]
    fn an_object_with_copies_has_all_that_was_released() {
        let mut objects = Objects::default();
        objects.release(8, false, false, &of(1));
        objects.release(8, false, true, &of(2));
        objects.release(8, false, false, &of(3));
        let all = objects.acquire(8, false);
        assert!((1..4).all(|thread| covers(&all, thread, 0)));
    }
}
