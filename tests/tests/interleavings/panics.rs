//! [`Panics`]: the launches that panic, and who has been told of them.

use std::sync::Mutex;

use cuda_driver::StreamId;
use cuda_prelude::*;

/// A thread that launches nothing.
pub(super) const NOBODY: usize = usize::MAX;

/// A launch that panics.
#[derive(Debug)]
struct Launch {
    thread: usize,
    /// Its arrays are on the host, so that it reports its own panic.
    reports: bool,
    /// It was refused, because its device was lost.
    refused: bool,
    told_own: u32,
    told_others: u32,
}

/// All launches of a program that panic, by their numbers.
#[derive(Default)]
pub(super) struct Panics(Mutex<Vec<Launch>>);

/// Whose panics a call may report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Anybodys,
    Own,
    Only(u32),
    Nobodys,
}

/// A launch of the own thread that nobody has waited for.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) number: u32,
    pub(super) device: usize,
    pub(super) stream: StreamId,
    /// The array that it writes, and which of those that were in that place.
    pub(super) array: Option<(usize, u32)>,
}

impl Panics {
    /// A new launch's number.
    pub(super) fn number(&self, thread: usize, reports: bool) -> u32 {
        let mut launches = self.0.lock().unwrap();
        launches.push(Launch { thread, reports, refused: false, told_own: 0, told_others: 0 });
        launches.len() as u32 - 1
    }

    pub(super) fn refused(&self, number: u32) {
        self.0.lock().unwrap()[number as usize].refused = true;
    }

    /// Notes that `thread` was told of panics, and returns their numbers.
    pub(super) fn told(&self, thread: usize, panic: &KernelPanic, whose: Whose) -> Vec<u32> {
        let numbers: Vec<u32> = [panic].into_iter().chain(&panic.others).map(number_of).collect();
        let mut launches = self.0.lock().unwrap();
        for &number in &numbers {
            let launch = &mut launches[number as usize];
            assert!(!launch.refused, "{number} was not launched");
            let own = launch.thread == thread;
            match whose {
                Whose::Anybodys => assert!(!launch.reports, "only the launch itself tells of {number}"),
                Whose::Own => assert!(own && !launch.reports, "{number} is told to thread {thread}: {launch:?}"),
                Whose::Only(only) => assert_eq!(numbers, [only]),
                Whose::Nobodys => panic!("{number} is told by a call that tells of none: {launch:?}"),
            }
            assert_eq!(if own { launch.told_own } else { launch.told_others }, 0, "{number} is told again: {launch:?}");
            *if own { &mut launch.told_own } else { &mut launch.told_others } += 1;
        }
        numbers
    }

    /// All have been waited for, and everybody was told who is told.
    pub(super) fn expect_all_told(&self) {
        for (number, launch) in self.0.lock().unwrap().iter().enumerate() {
            assert!(
                launch.refused || launch.told_own + launch.told_others > 0,
                "nobody is told of {number}: {launch:?}"
            );
        }
    }
}

fn number_of(panic: &KernelPanic) -> u32 {
    let number = panic.message.strip_prefix("number ").and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("`{}` is no number", panic.message))
}
