//! [`Panics`]: the launches that panic, and the threads that got their reports.

use std::sync::Mutex;

use cuda_driver::StreamId;
use cuda_prelude::*;

/// The index of a thread that launches nothing.
pub(super) const NO_THREAD: usize = usize::MAX;

/// A launch that panics.
#[derive(Debug)]
struct Launch {
    thread: usize,
    /// True if its arrays are on the host, so that it reports its own panic.
    self_reporting: bool,
    /// True if it was refused, because its device was lost.
    refused: bool,
    reports_to_own: u32,
    reports_to_others: u32,
}

/// All launches of a program that panic, by their numbers.
#[derive(Default)]
pub(super) struct Panics(Mutex<Vec<Launch>>);

/// The panics that a call may report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    /// Those of any thread.
    Any,
    /// Those of the calling thread.
    Own,
    /// The panic with this number.
    Only(u32),
    None,
}

/// A launch of the thread itself that nothing has waited for.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) number: u32,
    pub(super) device: usize,
    pub(super) stream: StreamId,
    /// The index and the generation of the array that it writes.
    pub(super) array: Option<(usize, u32)>,
}

impl Panics {
    /// Registers a launch, and returns its number.
    pub(super) fn register(&self, thread: usize, self_reporting: bool) -> u32 {
        let mut launches = self.0.lock().unwrap();
        launches.push(Launch { thread, self_reporting, refused: false, reports_to_own: 0, reports_to_others: 0 });
        launches.len() as u32 - 1
    }

    pub(super) fn refused(&self, number: u32) {
        self.0.lock().unwrap()[number as usize].refused = true;
    }

    /// Records that panics were reported to `thread`, and returns their numbers.
    pub(super) fn record(&self, thread: usize, panic: &KernelPanic, allowed: Allowed) -> Vec<u32> {
        let numbers: Vec<u32> = [panic].into_iter().chain(&panic.others).map(number_of).collect();
        let mut launches = self.0.lock().unwrap();
        for &number in &numbers {
            let launch = &mut launches[number as usize];
            assert!(!launch.refused, "{number} was not launched");
            let own = launch.thread == thread;
            match allowed {
                Allowed::Any => assert!(!launch.self_reporting, "only the launch itself reports {number}"),
                Allowed::Own => {
                    assert!(own && !launch.self_reporting, "{number} is reported to thread {thread}: {launch:?}")
                }
                Allowed::Only(only) => assert_eq!(numbers, [only]),
                Allowed::None => panic!("{number} is reported by a call that reports no panics: {launch:?}"),
            }
            let reports = if own { launch.reports_to_own } else { launch.reports_to_others };
            assert_eq!(reports, 0, "{number} is reported again: {launch:?}");
            *if own { &mut launch.reports_to_own } else { &mut launch.reports_to_others } += 1;
        }
        numbers
    }

    /// Checks that every panic was reported, after all launches have been waited for.
    pub(super) fn expect_all_reported(&self) {
        for (number, launch) in self.0.lock().unwrap().iter().enumerate() {
            assert!(
                launch.refused || launch.reports_to_own + launch.reports_to_others > 0,
                "{number} is not reported: {launch:?}"
            );
        }
    }
}

fn number_of(panic: &KernelPanic) -> u32 {
    let number = panic.message.strip_prefix("number ").and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("`{}` is no number", panic.message))
}
