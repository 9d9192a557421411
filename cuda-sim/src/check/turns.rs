//! Launches of several streams take turns: while all threads of a checked launch only poll, another one that waits for its
//! turn runs, since it may be the one that they wait for.
//!
//! Everything before a turn ends counts as ordered before what follows, as whole launches do.
//!
//! # Safety
//!
//! The checkers' lock is released and taken again by the thread that holds it, whose guard is further up on its stack and
//! unused meanwhile.

use super::history::Tracked;
use super::race::Race;
use super::{CHECKER, Checker, Owned, RUNNING, Running, with};
use crate::environment::Checks;
use crate::exec::search::Found;
use parking_lot::MutexGuard;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of launches that wait for the lock.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Waits for the turn of a launch.
pub(super) fn wait() -> MutexGuard<'static, Owned> {
    WAITING.fetch_add(1, Ordering::Relaxed);
    let guard = CHECKER.lock();
    WAITING.fetch_sub(1, Ordering::Relaxed);
    guard
}

/// The state of a launch whose turn has ended before it has.
struct Suspended {
    checks: Checks,
    race: Race,
    running: Option<Running>,
    found: Option<Found>,
    reported: bool,
    is_bounded: bool,
    tracked: Option<Tracked>,
}

/// Lets another launch run, if one waits for its turn. Compiled code of the running one does not run meanwhile.
pub(crate) fn give_way() {
    if WAITING.load(Ordering::Relaxed) == 0 {
        return;
    }
    let Some(suspended) = with(Checker::suspend) else { return };
    let checker = RUNNING.swap(std::ptr::null_mut(), Ordering::Relaxed);
    // SAFETY: this thread runs the launch, so it holds the lock.
    unsafe { CHECKER.force_unlock_fair() };
    std::mem::forget(wait());
    RUNNING.store(checker, Ordering::Relaxed);
    with(|checker| checker.resume(suspended));
}

impl Checker {
    fn suspend(&mut self) -> Suspended {
        self.suspended += 1;
        if let Some(tracked) = &mut self.tracked {
            tracked.gives_way();
        }
        Suspended {
            checks: self.checks,
            race: self.race.suspend(),
            running: self.running.take(),
            found: self.found.take(),
            reported: self.reported,
            is_bounded: self.is_bounded,
            tracked: self.tracked.take(),
        }
    }

    fn resume(&mut self, suspended: Suspended) {
        let Suspended { checks, race, running, found, reported, is_bounded, tracked } = suspended;
        self.suspended -= 1;
        self.race.resume(race);
        (self.checks, self.running, self.found) = (checks, running, found);
        (self.reported, self.is_bounded, self.tracked) = (reported, is_bounded, tracked);
        self.forget_areas();
    }
}
