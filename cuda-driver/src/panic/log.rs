//! [`LaunchLog`]: the launches of one stream, with their panics.
//!
//! Each thread that launches in the stream has its own log there, with numbered launches and a ring of records, so that
//! a launch takes no lock and makes no atomic exchange. A wait covers the launches whose calls had returned when it
//! began: after it, the records of those launches that no wait has covered before are scanned. Nothing here makes a
//! driver call.
//!
//! Invariants: only a log's own thread begins launches in it; a record is freed only when the launch that wrote it has
//! been waited for, since its other threads may read it until then; a panic is in its record, or in `found`, or was
//! reported; launches are marked as scanned after their panics are in `found`, those of graphs too, since launches that are
//! marked, with nothing in `found`, count as reported.

use std::sync::Arc;

use smallvec::SmallVec;

use super::RawPanic;
use super::graph::GraphRecords;
use super::record::COUNT;
use super::set::{LaunchId, LaunchSet};
use super::waiter::{Verdict, Waiter};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex, MutexGuard, OnceLock, Ordering};

/// The records that launches write to.
pub(crate) trait RecordSlots {
    /// Returns true if no kernel has claimed the record.
    fn is_free(&self, slot: usize) -> bool;

    /// The panic in the record and the number of its launch; `None` while it is being written.
    fn read(&self, slot: usize) -> Option<(RawPanic, u32)>;

    /// Frees the record for the next launch.
    fn free(&self, slot: usize);
}

/// A panic that has been found and not reported to its own thread.
#[derive(Clone, Debug)]
pub(crate) struct FoundPanic {
    pub(crate) launch: LaunchId,
    /// The number of the thread that launched it; 0 if that is not known.
    pub(crate) owner: u32,
    /// True once it was reported to another thread.
    pub(crate) reported: bool,
    pub(crate) raw: RawPanic,
}

/// Launches of a graph by one thread that were not waited for: the first, and the number of the last.
struct GraphLaunches<R> {
    first: LaunchId,
    last: u64,
    owner: u32,
    records: Arc<GraphRecords<R>>,
    /// The number of panics in the records before the first launch.
    before: u64,
}

/// Launches of other streams: the stream's index in the context's list, and the launches.
pub(crate) type OtherLaunches = SmallVec<[(u32, LaunchSet); 1]>;

struct State<R> {
    found: Vec<FoundPanic>,
    graphs: Vec<GraphLaunches<R>>,
    /// Launches of other streams that the stream's next work is ordered after.
    predecessors: OtherLaunches,
}

/// The launches of a stream.
pub(crate) struct LaunchLog<R> {
    first: OnceLock<Box<ThreadLog<R>>>,
    /// False if the state is empty.
    has_state: AtomicBool,
    /// True while found panics are still to be reported.
    any_found: AtomicBool,
    state: Mutex<State<R>>,
}

/// The launches of one thread in a stream, as a node of a list that only grows; the log of a thread that has ended is
/// reused by another thread.
pub(crate) struct ThreadLog<R> {
    index: u32,
    owner: AtomicU32,
    /// The number of the last launch that has begun.
    begun: AtomicU64,
    /// The calls of all launches up to this number have returned.
    returned: AtomicU64,
    /// Launches up to this number were waited for, and their panics found.
    scanned: AtomicU64,
    /// Made by the first launch of a kernel that may panic.
    records: OnceLock<R>,
    next: OnceLock<Box<ThreadLog<R>>>,
}

impl<R> Default for LaunchLog<R> {
    fn default() -> Self {
        LaunchLog {
            first: OnceLock::new(),
            has_state: AtomicBool::new(false),
            any_found: AtomicBool::new(false),
            state: Mutex::new(State { found: Vec::new(), graphs: Vec::new(), predecessors: OtherLaunches::new() }),
        }
    }
}

pub(crate) const fn slot_of(launch: u64) -> usize {
    (launch % COUNT as u64) as usize
}

impl<R: RecordSlots> ThreadLog<R> {
    fn new(index: u32, owner: u32) -> Box<Self> {
        let number = || AtomicU64::new(0);
        let (begun, returned, scanned) = (number(), number(), number());
        let owner = AtomicU32::new(owner);
        Box::new(ThreadLog { index, owner, begun, returned, scanned, records: OnceLock::new(), next: OnceLock::new() })
    }

    /// The records, made by `make` for the first launch.
    #[inline]
    pub(crate) fn records<E>(&self, make: impl FnOnce() -> Result<R, E>) -> Result<&R, E> {
        match self.records.get() {
            Some(records) => Ok(records),
            None => make().map(|records| self.records.get_or_init(|| records)),
        }
    }

    /// Begins a launch of the log's own thread. Returns its number, which determines its record.
    ///
    /// Records with a panic that was not waited for are skipped. If all have one, the launch shares a record, and its
    /// own panic is lost behind the earlier one.
    #[inline]
    pub(crate) fn begin(&self, records: &R) -> u64 {
        let mut launch = self.begun.load(Ordering::Relaxed) + 1;
        if !records.is_free(slot_of(launch)) {
            launch = (launch..launch + COUNT as u64).find(|next| records.is_free(slot_of(*next))).unwrap_or(launch);
        }
        self.set_begun(launch)
    }

    #[inline]
    fn set_begun(&self, launch: u64) -> u64 {
        // Only the log's own thread writes it.
        self.begun.store(launch, Ordering::Relaxed);
        launch
    }

    /// Notes that the call of the last launch of the log's own thread has returned, or that earlier launches were given
    /// up.
    #[inline]
    pub(crate) fn end(&self) {
        self.returned.store(self.begun.load(Ordering::Relaxed), Ordering::Release);
    }

    #[cfg(all(test, loom))]
    pub(crate) fn id(&self, number: u64) -> LaunchId {
        LaunchId { log: self.index, number }
    }

    /// Scans the records of the launches in the set, all of which have finished.
    fn scan(&self, launches: &LaunchSet, log: &LaunchLog<R>) {
        let (scanned, last) = (self.scanned.load(Ordering::Acquire), launches.last(self.index));
        if scanned >= last {
            return;
        }
        if let Some(records) = self.records.get() {
            let first = (scanned + 1).max(last.saturating_sub(COUNT as u64 - 1));
            let slots = (first..=last).map(slot_of).filter(|slot| !records.is_free(*slot));
            slots.for_each(|slot| self.take(records, slot, last, log));
        }
        self.scanned.fetch_max(last, Ordering::AcqRel);
    }

    /// Takes the panic of one of the launches from its record.
    #[cold]
    fn take(&self, records: &R, slot: usize, last: u64, log: &LaunchLog<R>) {
        let mut state = log.lock();
        let Some((raw, low)) = records.read(slot) else { return };
        // The record has the low half of the launch's number.
        let distance = (last as u32).wrapping_sub(low).cast_signed();
        let Ok(distance) = u64::try_from(distance) else { return };
        let launch = LaunchId { log: self.index, number: last.saturating_sub(distance) };
        // Set before the record is freed, so that every thread finds the panic in one of the two.
        log.has_state.store(true, Ordering::Release);
        let owner = self.owner.load(Ordering::Relaxed);
        state.found.push(FoundPanic { launch, owner, reported: false, raw });
        log.any_found.store(true, Ordering::Release);
        records.free(slot);
    }
}

impl<R: RecordSlots> LaunchLog<R> {
    /// The logs of all threads, the oldest first.
    fn threads(&self) -> impl Iterator<Item = &ThreadLog<R>> {
        std::iter::successors(self.first.get(), |log| log.next.get()).map(|log| &**log)
    }

    /// The log of the thread `owner`. `is_running` says which threads have not ended.
    #[inline]
    pub(crate) fn of_thread(&self, owner: u32, is_running: fn(u32) -> bool) -> &ThreadLog<R> {
        match self.first.get() {
            Some(first) if first.owner.load(Ordering::Relaxed) == owner => first,
            _ => self.find_thread(owner, is_running),
        }
    }

    fn find_thread(&self, owner: u32, is_running: fn(u32) -> bool) -> &ThreadLog<R> {
        let known = self.threads().find(|log| log.owner.load(Ordering::Relaxed) == owner);
        known.unwrap_or_else(|| self.add_thread(owner, is_running))
    }

    #[cold]
    fn add_thread(&self, owner: u32, is_running: fn(u32) -> bool) -> &ThreadLog<R> {
        // Under the lock, so that no two threads take one log or one place.
        let _state = self.lock();
        let is_unused = |log: &&ThreadLog<R>| {
            let all_scanned = log.scanned.load(Ordering::Acquire) >= log.begun.load(Ordering::Relaxed);
            all_scanned && !is_running(log.owner.load(Ordering::Relaxed))
        };
        if let Some(unused) = self.threads().find(is_unused) {
            unused.owner.store(owner, Ordering::Relaxed);
            return unused;
        }
        let new = |index| ThreadLog::new(index, owner);
        match self.threads().last() {
            None => self.first.get_or_init(|| new(0)),
            Some(last) => last.next.get_or_init(|| new(last.index + 1)),
        }
    }

    /// Begins a launch of a graph by the log's thread, whose kernels write to `all`; [`ThreadLog::end`] ends it.
    pub(crate) fn begin_graph(&self, log: &ThreadLog<R>, all: &[Arc<GraphRecords<R>>], owner: u32) -> LaunchId {
        let number = log.set_begun(log.begun.load(Ordering::Relaxed) + 1);
        let launch = LaunchId { log: log.index, number };
        if all.is_empty() {
            return launch;
        }
        let mut state = self.lock();
        for records in all {
            let known = |known: &&mut GraphLaunches<R>| {
                known.first.log == log.index && known.owner == owner && Arc::ptr_eq(&known.records, records)
            };
            match state.graphs.iter_mut().find(known) {
                Some(known) => known.last = number,
                None => {
                    let (records, before) = (records.clone(), records.begin());
                    state.graphs.push(GraphLaunches { first: launch, last: number, owner, records, before });
                }
            }
        }
        self.has_state.store(true, Ordering::Release);
        drop(state);
        launch
    }

    /// The launches whose calls have returned: a wait that begins now covers these.
    #[inline]
    pub(crate) fn returned(&self) -> LaunchSet {
        let mut launches = LaunchSet::default();
        self.threads().for_each(|log| launches.push(log.returned.load(Ordering::Acquire)));
        launches
    }

    /// The launches of other streams that the stream's next work is ordered after, except those of stream `but`.
    #[inline]
    pub(crate) fn predecessors(&self, but: Option<u32>) -> OtherLaunches {
        if !self.has_state.load(Ordering::Acquire) {
            return OtherLaunches::new();
        }
        let state = self.lock();
        state.predecessors.iter().filter(|(stream, _)| Some(*stream) != but).cloned().collect()
    }

    /// Notes that the stream's next work is ordered after launches of another stream. Launches for which `is_reported`
    /// holds are dropped.
    pub(crate) fn add_predecessor(
        &self,
        stream: u32,
        launches: &LaunchSet,
        is_reported: impl Fn(u32, &LaunchSet) -> bool,
    ) {
        let mut state = self.lock();
        match state.predecessors.iter_mut().find(|(known, _)| *known == stream) {
            Some((_, known)) => known.join(launches),
            None => {
                state.predecessors.retain(|(stream, launches)| !is_reported(*stream, launches));
                state.predecessors.push((stream, launches.clone()));
            }
        }
        self.has_state.store(true, Ordering::Release);
    }

    /// Returns true if the launches were waited for and all panics found in the stream were reported. Takes no lock.
    pub(crate) fn is_reported(&self, launches: &LaunchSet) -> bool {
        self.threads().all(|log| log.scanned.load(Ordering::Acquire) >= launches.last(log.index)) && !self.has_found()
    }

    /// Finds the panics of the launches, all of which have finished. Returns true if there may be something to report.
    #[inline]
    pub(crate) fn find(&self, launches: &LaunchSet) -> bool {
        // Before the scan, after which the launches count as reported if no panic has been found.
        if self.has_state.load(Ordering::Acquire) {
            self.take_from_graphs(launches);
        }
        self.threads().for_each(|log| log.scan(launches, self));
        self.has_state.load(Ordering::Acquire)
    }

    #[cold]
    fn take_from_graphs(&self, launches: &LaunchSet) {
        let mut state = self.lock();
        let State { found, graphs, .. } = &mut *state;
        graphs.retain_mut(|graph| {
            if !launches.contains(graph.first) {
                return true;
            }
            let (launch, owner) = (graph.first, graph.owner);
            graph.records.take(&mut graph.before, |raw| found.push(FoundPanic { launch, owner, reported: false, raw }));
            graph.first.number = launches.last(launch.log) + 1;
            let is_over = graph.first.number > graph.last;
            if is_over {
                graph.records.end();
            }
            !is_over
        });
        self.any_found.store(!found.is_empty(), Ordering::Release);
    }

    /// Reports the panics of the launches that concern `waiter`.
    pub(crate) fn report(&self, launches: &LaunchSet, waiter: &Waiter<'_>, mut report: impl FnMut(LaunchId, RawPanic)) {
        let mut state = self.lock();
        state.found.retain_mut(|found| {
            if !launches.contains(found.launch) {
                return true;
            }
            let verdict = waiter.verdict(found);
            if matches!(verdict, Verdict::ReportAndRemove | Verdict::ReportAndKeep) {
                report(found.launch, found.raw);
                found.reported = true;
            }
            matches!(verdict, Verdict::Keep | Verdict::ReportAndKeep)
        });
        self.any_found.store(!state.found.is_empty(), Ordering::Release);
        let empty = state.found.is_empty() && state.graphs.is_empty() && state.predecessors.is_empty();
        self.has_state.store(!empty, Ordering::Release);
    }

    /// Finds the panics of an idle stream without an owner, and clears its predecessors. Returns true if another stream
    /// can reuse the log: all panics were reported.
    pub(crate) fn finish(&self) -> bool {
        self.find(&self.returned());
        let mut state = self.lock();
        state.predecessors.clear();
        state.graphs.drain(..).for_each(|graph| graph.records.end());
        let is_empty = state.found.is_empty();
        self.has_state.store(!is_empty, Ordering::Release);
        is_empty
    }

    /// True while found panics are still to be reported.
    pub(crate) fn has_found(&self) -> bool {
        self.any_found.load(Ordering::Acquire)
    }

    /// Takes the panics that are still to be reported from a log that is [finished](LaunchLog::finish).
    pub(crate) fn take_found(&self) -> Vec<FoundPanic> {
        let mut state = self.lock();
        self.any_found.store(false, Ordering::Release);
        self.has_state.store(false, Ordering::Release);
        std::mem::take(&mut state.found)
    }

    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock()
    }
}
