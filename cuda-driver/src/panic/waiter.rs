//! [`Waiter`]: the thread that waits, and the launches whose panics its wait reports.
//!
//! A panic is reported to the thread that launched the kernel, by the first of its waits that covers the launch. So
//! threads that launch in one stream, such as the default stream, do not take each other's panics. An explicit wait for
//! a stream, an event or the context reports the panics of all launches in it; a panic that it reports to another
//! thread is also reported to the thread that launched. Of earlier streams, which the stream has waited for on the
//! device, it reports the thread's own launches and those of threads that have ended. A wait for memory (a copy, or
//! another host access) reports the launches of its own thread, and those of the threads that have written the memory.

use super::log::FoundPanic;
use crate::sync::{AtomicU64, Ordering};
use crate::thread;

/// The thread that waits and the launches whose panics its wait reports.
pub(crate) struct Waiter<'a> {
    thread: u32,
    others: OtherThreads<'a>,
    is_running: fn(u32) -> bool,
}

/// The other threads whose launches' panics a wait reports.
#[derive(Clone, Copy)]
enum OtherThreads<'a> {
    All,
    /// The threads that have ended.
    Ended,
    /// The threads that write the memory.
    Writers(&'a Writers),
}

/// The decision about one panic that a wait has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is not reported by this wait and stays in the log.
    Keep,
    /// It was already reported to all threads concerned, and leaves the log.
    Remove,
    /// It is reported and leaves the log.
    ReportAndRemove,
    /// It is reported and stays in the log for the thread that launched the kernel.
    ReportAndKeep,
}

impl<'a> Waiter<'a> {
    /// The calling thread, which waits for a stream, an event or the context.
    pub(crate) fn explicit() -> Self {
        Waiter { thread: thread::number(), others: OtherThreads::All, is_running: thread::is_running }
    }

    /// The waiter for launches in earlier streams, which the stream has waited for on the device.
    pub(crate) fn of_earlier_streams(&self) -> Self {
        let others = if let OtherThreads::All = self.others { OtherThreads::Ended } else { self.others };
        Waiter { others, ..*self }
    }

    /// The calling thread, which waits for accesses to memory.
    pub(crate) fn of_memory(writers: &'a Writers) -> Self {
        Waiter { others: OtherThreads::Writers(writers), ..Waiter::explicit() }
    }

    /// The end of the context or the process, which reports all panics that no wait has reported.
    pub(crate) fn last() -> Self {
        Waiter { thread: 0, others: OtherThreads::All, is_running: |_| false }
    }

    #[cfg(all(test, loom))]
    pub(crate) fn of_thread(thread: u32) -> Self {
        Waiter { thread, others: OtherThreads::All, is_running: |_| true }
    }

    pub(crate) fn verdict(&self, found: &FoundPanic) -> Verdict {
        let FoundPanic { owner, reported, .. } = *found;
        if owner == self.thread {
            return Verdict::ReportAndRemove;
        }
        let runs = owner != 0 && (self.is_running)(owner);
        let concerns = match self.others {
            OtherThreads::All => true,
            OtherThreads::Ended => !runs,
            OtherThreads::Writers(writers) => writers.may_be(owner),
        };
        if !concerns {
            return Verdict::Keep;
        }
        match (runs, reported) {
            (true, true) => Verdict::Keep,
            (true, false) => Verdict::ReportAndKeep,
            (false, true) => Verdict::Remove,
            (false, false) => Verdict::ReportAndRemove,
        }
    }
}

/// The threads whose launches write an allocation: up to two, such as the one that made it and the one that fills it,
/// or "many", which are not distinguished.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Writers(AtomicU64);

/// Stands for more than two threads.
const MANY: u64 = u64::MAX;

impl Writers {
    /// Notes that the calling thread is going to write the memory.
    #[doc(hidden)]
    #[inline]
    pub fn note(&self) {
        let thread = thread::number();
        if !self.may_be(thread) {
            self.add(thread);
        }
    }

    #[cold]
    fn add(&self, thread: u32) {
        let with = |known: u64| match (known as u32, known >> 32) {
            (0, _) => u64::from(thread),
            (_, 0) => known | u64::from(thread) << 32,
            _ => MANY,
        };
        let new = |known| (!is_one_of(known, thread)).then(|| with(known));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, new);
    }

    #[inline]
    fn may_be(&self, thread: u32) -> bool {
        is_one_of(self.0.load(Ordering::Relaxed), thread)
    }
}

#[inline]
fn is_one_of(known: u64, thread: u32) -> bool {
    known == MANY || thread != 0 && [known as u32, (known >> 32) as u32].contains(&thread)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::RawPanic;
    use super::super::set::LaunchId;
    use super::*;

    fn verdict(waiter: (u32, Option<&Writers>), owner: u32, reported: bool) -> Verdict {
        let (thread, memory) = waiter;
        ask(thread, memory.map_or(OtherThreads::All, OtherThreads::Writers), owner, reported)
    }

    fn ask(thread: u32, others: OtherThreads<'_>, owner: u32, reported: bool) -> Verdict {
        let raw = RawPanic { kernel: 1, site: 0, block: [0; 3], thread: [0; 3], args: [0; 8] };
        let waiter = Waiter { thread, others, is_running: |thread| thread < 10 };
        waiter.verdict(&FoundPanic { launch: LaunchId::default(), owner, reported, raw })
    }

    #[test]
    fn a_threads_own_panics_are_reported_once_by_any_wait() {
        let memory = Writers::default();
        for reported in [false, true] {
            assert_eq!(verdict((1, None), 1, reported), Verdict::ReportAndRemove);
            assert_eq!(verdict((1, Some(&memory)), 1, reported), Verdict::ReportAndRemove);
        }
    }

    #[test]
    fn other_threads_get_a_panic_once_and_keep_it_for_the_running_owner() {
        assert_eq!(verdict((1, None), 2, false), Verdict::ReportAndKeep);
        assert_eq!(verdict((1, None), 2, true), Verdict::Keep);
        assert_eq!(verdict((1, None), 20, false), Verdict::ReportAndRemove);
        assert_eq!(verdict((1, None), 20, true), Verdict::Remove);
        assert_eq!(verdict((1, None), 0, false), Verdict::ReportAndRemove);
    }

    #[test]
    fn earlier_streams_report_the_threads_own_launches_and_those_of_ended_threads() {
        let reported = [1, 2, 20].map(|owner| ask(1, OtherThreads::Ended, owner, false));
        assert_eq!(reported, [Verdict::ReportAndRemove, Verdict::Keep, Verdict::ReportAndRemove]);
        assert!(matches!(Waiter::explicit().of_earlier_streams().others, OtherThreads::Ended));
    }

    #[test]
    fn waits_for_memory_report_the_threads_that_write_it() {
        let memory = Writers::default();
        assert_eq!(verdict((1, Some(&memory)), 2, false), Verdict::Keep);
        memory.add(2);
        assert_eq!(verdict((1, Some(&memory)), 2, false), Verdict::ReportAndKeep);
        assert_eq!(verdict((1, Some(&memory)), 20, false), Verdict::Keep);
        memory.add(2);
        memory.add(3);
        assert_eq!(verdict((1, Some(&memory)), 2, false), Verdict::ReportAndKeep);
        assert_eq!(verdict((1, Some(&memory)), 3, false), Verdict::ReportAndKeep);
        assert_eq!(verdict((1, Some(&memory)), 20, false), Verdict::Keep);
        assert_eq!(verdict((1, Some(&memory)), 0, false), Verdict::Keep);
        memory.add(4);
        assert_eq!(verdict((1, Some(&memory)), 20, false), Verdict::ReportAndRemove);
    }
}
