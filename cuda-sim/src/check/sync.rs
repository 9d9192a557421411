//! Barriers and warp operations: what they order, and mistakes in their use.

use super::access::global;
use super::report::Report;
use super::shadow::place;
use super::with;
use crate::codegen::abi::{Context, encode_position};
use crate::environment::Checks;
use crate::ir::sync::Site;
use std::ops::Range;

/// A block begins; the one whose place it takes has ended.
pub(crate) fn begins(own: &Context, before: Option<u64>) {
    with(|checker| {
        if let Some(before) = before {
            checker.race.leave(before);
        }
        checker.enter(own);
    });
}

/// All threads of a block that have not finished meet at a barrier.
pub(crate) fn meet_whole(own: &Context) {
    with(|checker| {
        if checker.checks.has(Checks::RACE) {
            checker.enter(own);
            checker.race.barrier();
        }
    });
}

/// These threads meet at a barrier of the block, or at one of their warp (`None`).
pub(crate) fn meet(own: &Context, barrier: Option<u32>, threads: &[usize]) {
    with(|checker| {
        if checker.checks.has(Checks::RACE) {
            checker.enter(own);
            checker.race.meet(barrier, threads);
        }
    });
}

/// A thread arrives at a barrier of the block and does not wait.
pub(crate) fn arrives(own: &Context, barrier: u32, thread: usize) {
    with(|checker| {
        if checker.checks.has(Checks::RACE) {
            checker.enter(own);
            checker.race.arrive(barrier, thread);
        }
    });
}

/// A block of a cluster whose barrier opens.
pub(crate) struct ClusterMember {
    pub(crate) block: u64,
    /// The threads that wait, and true if all do that have not ended; the others may do something else before their wait.
    pub(crate) waiting: Vec<usize>,
    pub(crate) all_wait: bool,
    /// The threads that have ended.
    pub(crate) ended: Vec<usize>,
}

/// These threads arrive at the barrier of their cluster; with `is_whole` they are all of the block that have not ended.
pub(crate) fn arrives_in_cluster(own: &Context, threads: Range<usize>, is_whole: bool, is_relaxed: bool) {
    with(|checker| {
        if checker.checks.has(Checks::RACE) {
            checker.enter(own);
            checker.race.arrive_in_cluster(threads, is_whole, is_relaxed);
        }
    });
}

/// These threads reach their wait at the barrier of their cluster, which has opened before.
pub(crate) fn waited_in_cluster(own: &Context, threads: Range<usize>) {
    with(|checker| {
        if checker.checks.has(Checks::RACE) {
            checker.enter(own);
            threads.for_each(|thread| checker.race.wait_in_cluster(thread));
        }
    });
}

/// The barrier of a cluster with these blocks opens; others of the cluster have ended.
pub(crate) fn meet_cluster(members: &[ClusterMember], ended: &[u64]) {
    with(|checker| {
        if checker.checks.has(Checks::RACE) {
            checker.race.open_cluster(members, ended);
        }
    });
}

/// Returns true if mistakes in the use of barriers are looked for.
pub(crate) fn looks() -> bool {
    with(|checker| checker.checks.has(Checks::SYNC)).unwrap_or(false)
}

/// A mistake in the use of barriers, found at one site for a thread, and perhaps at another one for another thread.
pub(crate) fn mistake(own: &Context, kind: &'static str, at: &[(&Site, usize)], note: String) {
    with(|checker| {
        let of = |(site, thread): &(&Site, usize)| {
            let at = place(encode_position(site.position));
            checker.accessed(site.name.clone(), global(own, *thread as u64), at, None)
        };
        let accesses = at.iter().map(of).collect();
        let kernel = checker.kernel_name();
        checker.report(Report { check: "sync", kind, kernel, note: Some(note), accesses, ..Report::default() });
    });
}

/// Threads wait for each other: the lines of the driver's report.
pub(crate) fn deadlock(lines: &[String]) {
    with(|checker| {
        if checker.checks.has(Checks::SYNC) {
            let (kernel, note) = (checker.kernel_name(), Some(lines.join("\n    ")));
            checker.report(Report { check: "sync", kind: "deadlock", kernel, note, ..Report::default() });
        }
    });
}
