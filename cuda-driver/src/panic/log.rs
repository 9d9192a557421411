//! [`LaunchLog`]: the launches of one stream by their numbers, and which of them have panicked.
//!
//! A launch takes the next number and the record of that number, modulo the number of records. Whoever has waited for the
//! launches up to a number looks at the records of those that nobody has waited for before. It makes no calls, and a launch
//! takes no lock.
//!
//! Invariants: a record is freed only when the launch that wrote it has been waited for, since its other threads may look
//! at it until then; a panic is in its record, or in `found`, or was reported.

use std::sync::Arc;

use smallvec::SmallVec;

use super::RawPanic;
use super::asker::{Answer, Asker};
use super::graph::GraphRecords;
use super::record::COUNT;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering};

/// The records that launches write to.
pub(crate) trait Slots {
    /// Whether no kernel has claimed the record.
    fn is_free(&self, slot: usize) -> bool;

    /// The panic in the record and the number of its launch; `None` while it is being written.
    fn read(&self, slot: usize) -> Option<(RawPanic, u32)>;

    /// Frees the record for the next launch.
    fn free(&self, slot: usize);
}

/// A panic that has been found and not reported to its own thread.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The number of its launch.
    pub(crate) launch: u64,
    /// The number of the thread that launched it; 0 if that is not known.
    pub(crate) owner: u32,
    /// Whether another thread was told.
    pub(crate) told: bool,
    pub(crate) raw: RawPanic,
}

/// Launches of a graph that were not waited for: the first and the last number.
struct GraphLaunches {
    first: u64,
    last: u64,
    owner: u32,
    records: Arc<GraphRecords>,
}

/// Streams by their places in the context's list, and the last launch of each that is meant.
pub(crate) type Others = SmallVec<[(u32, u64); 2]>;

#[derive(Default)]
struct State {
    found: Vec<Found>,
    graphs: Vec<GraphLaunches>,
    /// Launches of other streams that come before what follows.
    after: Others,
}

/// What is known of the launches that use a record.
struct Slot {
    /// The thread of the last one.
    owner: AtomicU32,
    /// The number (its low half) of the last one whose call has returned.
    returned: AtomicU32,
}

/// The launches of a stream.
pub(crate) struct LaunchLog {
    /// The number of the last launch that has begun.
    begun: AtomicU64,
    /// Launches up to this number were waited for, and their panics found.
    seen: AtomicU64,
    slots: Box<[Slot; COUNT]>,
    /// Whether there is anything in the state.
    eventful: AtomicBool,
    state: Mutex<State>,
}

impl Default for LaunchLog {
    fn default() -> Self {
        let slot = |_| Slot { owner: AtomicU32::new(0), returned: AtomicU32::new(0) };
        LaunchLog {
            begun: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            slots: Box::new(std::array::from_fn(slot)),
            eventful: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }
}

pub(crate) const fn slot_of(launch: u64) -> usize {
    (launch % COUNT as u64) as usize
}

impl LaunchLog {
    /// Begins a launch of the thread `owner`, and returns its number, which tells its record. The caller ends it by
    /// [`end`](LaunchLog::end).
    ///
    /// Records with a panic that was not waited for are passed over. If all have one, the launch shares a record: its own
    /// panic is then lost behind the earlier one.
    #[inline]
    pub(crate) fn begin(&self, records: &impl Slots, owner: u32) -> u64 {
        let launch = self.next();
        let launch = if records.is_free(slot_of(launch)) { launch } else { self.pass_over(records, launch) };
        self.slots[slot_of(launch)].owner.store(owner, Ordering::Relaxed);
        launch
    }

    #[inline]
    fn next(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::AcqRel) + 1
    }

    #[cold]
    fn pass_over(&self, records: &impl Slots, mut launch: u64) -> u64 {
        for _ in 0..COUNT {
            self.end(launch);
            launch = self.next();
            if records.is_free(slot_of(launch)) {
                break;
            }
        }
        launch
    }

    /// The call of a launch has returned.
    #[inline]
    pub(crate) fn end(&self, launch: u64) {
        self.slots[slot_of(launch)].returned.store(launch as u32, Ordering::Release);
    }

    /// Begins a launch of a graph whose kernels write to those records, and returns its number.
    pub(crate) fn begin_graph(&self, all: &[Arc<GraphRecords>], owner: u32) -> u64 {
        let launch = self.next();
        let mut state = self.lock();
        for records in all {
            match state.graphs.iter_mut().find(|known| known.owner == owner && Arc::ptr_eq(&known.records, records)) {
                Some(known) => known.last = launch,
                None => {
                    state.graphs.push(GraphLaunches { first: launch, last: launch, owner, records: records.clone() })
                }
            }
        }
        self.eventful.store(true, Ordering::Release);
        drop(state);
        launch
    }

    /// The number of the last launch that has begun.
    #[inline]
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Acquire)
    }

    /// The launches of other streams that come before what the stream gets next.
    #[inline]
    pub(crate) fn after(&self) -> Others {
        if self.eventful.load(Ordering::Acquire) { self.lock().after.clone() } else { Others::new() }
    }

    /// Notes that what the stream gets next comes after launches of another stream. `is_seen` says of which all is known.
    pub(crate) fn come_after(&self, stream: u32, launch: u64, is_seen: impl Fn(u32, u64) -> bool) {
        let mut state = self.lock();
        match state.after.iter_mut().find(|(known, _)| *known == stream) {
            Some((_, known)) => *known = launch.max(*known),
            None => {
                state.after.retain(|(stream, launch)| !is_seen(*stream, *launch));
                state.after.push((stream, launch));
            }
        }
        self.eventful.store(true, Ordering::Release);
    }

    /// Whether all is known of the launches up to this number.
    pub(crate) fn is_seen(&self, launch: u64) -> bool {
        self.seen.load(Ordering::Acquire) >= launch
    }

    /// Finds the panics of the launches up to `launch`, all of which are over unless their calls have not returned yet.
    /// Returns whether there may be something to report.
    #[inline]
    pub(crate) fn find(&self, records: Option<&impl Slots>, launch: u64) -> bool {
        let seen = self.seen.load(Ordering::Acquire);
        if seen < launch {
            self.look(records, seen, launch);
        }
        self.eventful.load(Ordering::Acquire)
    }

    fn look(&self, records: Option<&impl Slots>, seen: u64, launch: u64) {
        let first = (seen + 1).max(launch.saturating_sub(COUNT as u64 - 1));
        let mut all_returned = true;
        for number in first..=launch {
            let slot = slot_of(number);
            let returned = self.slots[slot].returned.load(Ordering::Acquire);
            if returned.wrapping_sub(number as u32).cast_signed() < 0 {
                all_returned = false;
            } else if let Some(records) = records
                && !records.is_free(slot)
            {
                self.take(records, slot, launch);
            }
        }
        if self.eventful.load(Ordering::Acquire) {
            self.take_from_graphs(launch);
        }
        if all_returned {
            self.seen.fetch_max(launch, Ordering::AcqRel);
        }
    }

    /// Takes the panic of one of the launches up to `launch` from its record.
    #[cold]
    fn take(&self, records: &impl Slots, slot: usize, launch: u64) {
        let mut state = self.lock();
        let Some((raw, low)) = records.read(slot) else { return };
        let distance = (launch as u32).wrapping_sub(low).cast_signed();
        let Ok(distance) = u64::try_from(distance) else { return };
        // Before the record is free, so that nobody finds neither.
        self.eventful.store(true, Ordering::Release);
        let owner = self.slots[slot].owner.load(Ordering::Relaxed);
        state.found.push(Found { launch: launch.saturating_sub(distance), owner, told: false, raw });
        records.free(slot);
    }

    #[cold]
    fn take_from_graphs(&self, launch: u64) {
        let mut state = self.lock();
        let State { found, graphs, .. } = &mut *state;
        graphs.retain_mut(|graph| {
            if graph.first > launch {
                return true;
            }
            let (first, owner) = (graph.first, graph.owner);
            graph.records.take(|raw| found.push(Found { launch: first, owner, told: false, raw }));
            graph.first = launch + 1;
            graph.last > launch
        });
    }

    /// Takes what `asker` is to be told of the launches up to `launch`.
    pub(crate) fn report(&self, launch: u64, asker: &Asker<'_>, mut report: impl FnMut(u64, RawPanic)) {
        let mut state = self.lock();
        state.found.retain_mut(|found| {
            if found.launch > launch {
                return true;
            }
            match asker.answer(found) {
                Answer::Keep => true,
                Answer::Forget => false,
                Answer::TellAndForget => {
                    report(found.launch, found.raw);
                    false
                }
                Answer::TellAndKeep => {
                    report(found.launch, found.raw);
                    found.told = true;
                    true
                }
            }
        });
        let empty = state.found.is_empty() && state.graphs.is_empty() && state.after.is_empty();
        self.eventful.store(!empty, Ordering::Release);
    }

    /// Empties the log for a stream's next life, when it has no work, and returns the panics that nobody was told of.
    pub(crate) fn recycle(&self, records: Option<&impl Slots>) -> Vec<Found> {
        self.find(records, self.begun());
        let mut state = self.lock();
        state.after.clear();
        state.graphs.clear();
        self.eventful.store(false, Ordering::Release);
        std::mem::take(&mut state.found)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
