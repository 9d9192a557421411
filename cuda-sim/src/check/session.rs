//! Sessions: checkers that are on for what one thread does meanwhile, whatever the environment says.
//!
//! A session belongs to a thread. What the thread enqueues carries it to wherever that runs, and reports go to it alone.
//! While a session looks for uninitialised memory, all other launches of the process record what they write, and report
//! nothing; memory that is older than that counts as written.

use super::events;
use super::report::{Report, Reports};
use crate::environment::{Checks, ENVIRONMENT};
use crate::memory::MEMORY;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A session of a thread.
#[derive(Debug)]
pub(crate) struct Session {
    checks: Checks,
    reports: Mutex<Reports>,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Session>>> = const { RefCell::new(None) };
}

/// The numbers of sessions, and of those that look for uninitialised memory.
static ACTIVE: Mutex<[usize; 2]> = Mutex::new([0; 2]);
/// True if there is a session that looks for uninitialised memory.
static INIT: AtomicU64 = AtomicU64::new(0);
/// The number of times at which the checkers began to be told of memory.
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// The last allocation that was made before they were told what is written.
static TOLD_SINCE: AtomicU64 = AtomicU64::new(0);

/// Returns the session of this thread, or of the operation that it runs. A thread that has no locals any more, as at the end
/// of a process, has none.
pub(crate) fn current() -> Option<Arc<Session>> {
    CURRENT.try_with(|session| session.borrow().clone()).ok().flatten()
}

/// Returns what `ask` returns for the session of this thread.
fn ask<T>(ask: impl FnOnce(&Session) -> T) -> Option<T> {
    CURRENT.try_with(|session| session.borrow().as_deref().map(ask)).ok().flatten()
}

/// Returns the checkers for what this thread launches.
pub(crate) fn checks() -> Checks {
    let own = ask(|session| session.checks).unwrap_or_default();
    let silent = if INIT.load(Ordering::Relaxed) != 0 { Checks::INIT } else { Checks::default() };
    ENVIRONMENT.check.and(own).and(silent)
}

/// Returns true if a checker of this thread's session finds the mistakes of one of these.
pub(crate) fn covers(checks: Checks) -> bool {
    ask(|session| session.checks.has(checks)).unwrap_or(false)
}

/// Returns the number of times at which the checkers began to be told of memory.
pub(super) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Returns true if an allocation was made before the checkers were told what is written.
pub(super) fn is_older(allocation: u64) -> bool {
    allocation <= TOLD_SINCE.load(Ordering::Relaxed)
}

/// Gives a report to this thread's session, if that wants it. Returns it otherwise.
pub(super) fn take(report: Report) -> Option<Report> {
    let Some(session) = current().filter(|session| session.checks.has(Checks::named(report.check))) else {
        return Some(report);
    };
    session.reports.lock().add(report);
    None
}

/// Runs an operation that was enqueued in a session.
pub(crate) fn within<T>(session: Option<Arc<Session>>, run: impl FnOnce() -> T) -> T {
    /// Restores the session of the thread, also if the operation panics.
    struct Restore(Option<Arc<Session>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(session));
    run()
}

impl Session {
    fn begin(checks: Checks) -> Arc<Session> {
        let mut active = ACTIVE.lock();
        let first = active[0] == 0 && !ENVIRONMENT.check.of_kernels();
        let first_init = checks.has(Checks::INIT) && active[1] == 0 && !ENVIRONMENT.check.has(Checks::INIT);
        active[0] += 1;
        active[1] += usize::from(checks.has(Checks::INIT));
        events::enable(false, true);
        if checks.has(Checks::RACE) {
            super::order::enable();
        }
        if first_init {
            TOLD_SINCE.store(MEMORY.last_id(), Ordering::Relaxed);
        }
        if first || first_init {
            GENERATION.fetch_add(1, Ordering::Relaxed);
        }
        INIT.store(active[1] as u64, Ordering::Relaxed);
        Arc::new(Session { checks, reports: Mutex::default() })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let mut active = ACTIVE.lock();
        active[0] -= 1;
        active[1] -= usize::from(self.checks.has(Checks::INIT));
        INIT.store(active[1] as u64, Ordering::Relaxed);
        if active[0] == 0 && !ENVIRONMENT.check.of_kernels() {
            events::forget_queue();
        }
    }
}

/// Runs a closure with these checkers, by their names in `CUDA_SIM_CHECK`, and `finish` after it, which waits for what
/// the closure has launched. Returns the closure's value and the reports.
pub fn check_with<T>(checkers: &[&str], run: impl FnOnce() -> T, finish: impl FnOnce()) -> (T, Vec<Report>) {
    let checks = checkers.iter().fold(Checks::default(), |all, name| all.and(Checks::named(name)));
    let session = Session::begin(checks);
    let value = within(Some(Arc::clone(&session)), || {
        let value = run();
        finish();
        value
    });
    let reports = std::mem::take(&mut session.reports.lock().all);
    (value, reports)
}
