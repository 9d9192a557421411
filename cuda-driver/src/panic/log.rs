//! [`LaunchLog`]: the launches of one stream by their numbers, and which of them have panicked.
//!
//! A launch takes the next number, a lane for the time of its call, and the record of its number, modulo the number of
//! records. A wait covers the launches whose calls had returned when it began: whoever has waited looks at the records of
//! those of them that nobody has waited for before. It makes no calls, and a launch takes no lock.
//!
//! Invariants: a record is freed only when the launch that wrote it has been waited for, since its other threads may look
//! at it until then; it is not used again before the call of the launch that has it has returned; a panic is in its record,
//! or in `found`, or was reported.

use std::sync::Arc;

use smallvec::SmallVec;

use super::RawPanic;
use super::asker::{Answer, Asker};
use super::graph::GraphRecords;
use super::record::COUNT;
use super::set::{LaunchId, LaunchSet};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, thread};

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
    pub(crate) launch: LaunchId,
    /// The number of the thread that launched it; 0 if that is not known.
    pub(crate) owner: u32,
    /// Whether another thread was told.
    pub(crate) told: bool,
    pub(crate) raw: RawPanic,
}

/// Launches of a graph that were not waited for: the first and the last.
struct GraphLaunches {
    first: LaunchId,
    last: LaunchId,
    owner: u32,
    records: Arc<GraphRecords>,
}

/// Streams by their places in the context's list, and which launches of each are meant.
pub(crate) type Others = SmallVec<[(u32, LaunchSet); 1]>;

#[derive(Default)]
struct State {
    found: Vec<Found>,
    graphs: Vec<GraphLaunches>,
    /// Launches of other streams that come before what follows.
    after: Others,
}

/// How many calls are made at once in one stream; more wait.
const LANES: u32 = 16;

/// What is known of the launch that has a record.
struct Slot {
    /// The low half of the number of the last launch that took it.
    taken: AtomicU32,
    /// The same, of the last whose call has returned.
    returned: AtomicU32,
    /// The thread and the lane of the last one.
    owner: AtomicU32,
    lane: AtomicU32,
}

/// The launches of a stream.
pub(crate) struct LaunchLog {
    /// The number of the last launch that has begun, above a bit for each lane in which a call is being made.
    begun: AtomicU64,
    /// For each lane the number of the last launch whose call has returned.
    returned: [AtomicU64; LANES as usize],
    /// Launches up to this number were waited for, and their panics found.
    seen: AtomicU64,
    slots: Box<[Slot; COUNT]>,
    /// Whether there is anything in the state.
    eventful: AtomicBool,
    /// Whether panics were found that somebody is still to be told of. It is set before `seen`.
    keeps: AtomicBool,
    state: Mutex<State>,
}

impl Default for LaunchLog {
    fn default() -> Self {
        let zero = || AtomicU32::new(0);
        let slot = |_| Slot { taken: zero(), returned: zero(), owner: zero(), lane: zero() };
        LaunchLog {
            begun: AtomicU64::new(0),
            returned: std::array::from_fn(|_| AtomicU64::new(0)),
            seen: AtomicU64::new(0),
            slots: Box::new(std::array::from_fn(slot)),
            eventful: AtomicBool::new(false),
            keeps: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }
}

pub(crate) const fn slot_of(launch: u64) -> usize {
    (launch % COUNT as u64) as usize
}

impl LaunchLog {
    /// Begins a launch of the thread `owner`; its number tells its record. The caller ends it by [`end`](LaunchLog::end).
    ///
    /// Records with a panic that was not waited for, and those of launches whose calls are being made, are passed over. If
    /// there is no other, the launch shares one: its own panic may then be lost behind the earlier one.
    #[inline]
    pub(crate) fn begin(&self, records: &impl Slots, owner: u32) -> LaunchId {
        let mut launch = self.next();
        if !self.is_unused(records, launch.number) {
            launch = self.pass_over(records, launch);
        }
        let slot = &self.slots[slot_of(launch.number)];
        slot.taken.store(launch.number as u32, Ordering::Relaxed);
        slot.owner.store(owner, Ordering::Relaxed);
        slot.lane.store(launch.lane.into(), Ordering::Relaxed);
        launch
    }

    #[inline]
    fn is_unused(&self, records: &impl Slots, launch: u64) -> bool {
        let slot = &self.slots[slot_of(launch)];
        records.is_free(slot_of(launch)) && slot.taken.load(Ordering::Relaxed) == slot.returned.load(Ordering::Acquire)
    }

    #[cold]
    fn pass_over(&self, records: &impl Slots, mut launch: LaunchId) -> LaunchId {
        for _ in 0..COUNT {
            self.leave(launch);
            launch = self.next();
            if self.is_unused(records, launch.number) {
                break;
            }
        }
        launch
    }

    /// Takes a number and a lane.
    #[inline]
    fn next(&self) -> LaunchId {
        let mut begun = self.begun.load(Ordering::Relaxed);
        loop {
            let lane = (begun as u16).trailing_ones();
            if lane == LANES {
                thread::yield_now();
                begun = self.begun.load(Ordering::Relaxed);
                continue;
            }
            let next = (begun + (1 << LANES)) | 1 << lane;
            match self.begun.compare_exchange_weak(begun, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return LaunchId { number: next >> LANES, lane: lane as u8 },
                Err(other) => begun = other,
            }
        }
    }

    /// The call of a launch has returned.
    #[inline]
    pub(crate) fn end(&self, launch: LaunchId) {
        self.slots[slot_of(launch.number)].returned.store(launch.number as u32, Ordering::Release);
        self.leave(launch);
    }

    /// Gives the lane back.
    #[inline]
    fn leave(&self, launch: LaunchId) {
        self.returned[launch.lane as usize].store(launch.number, Ordering::Relaxed);
        self.begun.fetch_and(!(1 << launch.lane), Ordering::AcqRel);
    }

    /// Begins a launch of a graph whose kernels write to those records. The caller ends it by
    /// [`end_graph`](LaunchLog::end_graph).
    pub(crate) fn begin_graph(&self, all: &[Arc<GraphRecords>], owner: u32) -> LaunchId {
        let launch = self.next();
        if all.is_empty() {
            return launch;
        }
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

    /// The call of a graph's launch has returned.
    pub(crate) fn end_graph(&self, launch: LaunchId) {
        self.leave(launch);
    }

    /// The launches whose calls have returned: a wait that begins now covers these.
    #[inline]
    pub(crate) fn returned(&self) -> LaunchSet {
        let begun = self.begun.load(Ordering::Acquire);
        let (last, busy) = (begun >> LANES, begun as u16);
        if busy == 0 { LaunchSet::up_to(last) } else { self.returned_but(last, busy) }
    }

    #[cold]
    fn returned_but(&self, last: u64, busy: u16) -> LaunchSet {
        let lanes = (0..LANES as u8).filter(|lane| busy >> lane & 1 != 0);
        // A lane may be given back meanwhile, and then the launch that had it is counted.
        LaunchSet::without(last, lanes.map(|lane| (lane, self.returned[lane as usize].load(Ordering::Acquire))))
    }

    /// The launches of other streams that come before what the stream gets next.
    #[inline]
    pub(crate) fn after(&self) -> Others {
        if self.eventful.load(Ordering::Acquire) { self.lock().after.clone() } else { Others::new() }
    }

    /// Notes that what the stream gets next comes after launches of another stream. `is_settled` says of which
    /// nobody is to be told any more.
    pub(crate) fn come_after(&self, stream: u32, launches: &LaunchSet, is_settled: impl Fn(u32, &LaunchSet) -> bool) {
        let mut state = self.lock();
        match state.after.iter_mut().find(|(known, _)| *known == stream) {
            Some((_, known)) => known.join(launches),
            None => {
                state.after.retain(|(stream, launches)| !is_settled(*stream, launches));
                state.after.push((stream, launches.clone()));
            }
        }
        self.eventful.store(true, Ordering::Release);
    }

    /// Whether nobody is to be told of those launches any more. It takes no lock, since other logs ask under theirs.
    pub(crate) fn is_settled(&self, launches: &LaunchSet) -> bool {
        self.seen.load(Ordering::Acquire) >= launches.last() && !self.keeps.load(Ordering::Acquire)
    }

    /// Finds the panics of the launches, all of which are over. Returns whether there may be something to report.
    #[inline]
    pub(crate) fn find(&self, records: Option<&impl Slots>, launches: &LaunchSet) -> bool {
        let seen = self.seen.load(Ordering::Acquire);
        if seen < launches.last() {
            self.look(records, seen, launches);
        }
        self.eventful.load(Ordering::Acquire)
    }

    fn look(&self, records: Option<&impl Slots>, seen: u64, launches: &LaunchSet) {
        if let Some(records) = records {
            let first = (seen + 1).max(launches.last().saturating_sub(COUNT as u64 - 1));
            let slots = (first..=launches.last()).map(slot_of).filter(|slot| !records.is_free(*slot));
            slots.for_each(|slot| self.take(records, slot, launches));
        }
        if self.eventful.load(Ordering::Acquire) {
            self.take_from_graphs(launches);
        }
        self.seen.fetch_max(launches.all(), Ordering::AcqRel);
    }

    /// Takes the panic of one of the launches from its record.
    #[cold]
    fn take(&self, records: &impl Slots, slot: usize, launches: &LaunchSet) {
        let mut state = self.lock();
        let Some((raw, low)) = records.read(slot) else { return };
        // The record has the low half of the number.
        let distance = low.wrapping_sub(launches.last() as u32).cast_signed();
        let number = launches.last().saturating_add_signed(distance.into());
        let known = &self.slots[slot];
        let (owner, lane) = (known.owner.load(Ordering::Relaxed), known.lane.load(Ordering::Relaxed) as u8);
        let launch = LaunchId { number, lane };
        if !launches.contains(launch) {
            return;
        }
        // Before the record is free, so that nobody finds neither.
        self.eventful.store(true, Ordering::Release);
        self.keeps.store(true, Ordering::Release);
        state.found.push(Found { launch, owner, told: false, raw });
        records.free(slot);
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
            graph.records.take(|raw| found.push(Found { launch, owner, told: false, raw }));
            graph.first = graph.last;
            !launches.contains(graph.last)
        });
        self.keeps.store(!found.is_empty(), Ordering::Release);
    }

    /// Takes what `asker` is to be told of the launches.
    pub(crate) fn report(&self, launches: &LaunchSet, asker: &Asker<'_>, mut report: impl FnMut(u64, RawPanic)) {
        let mut state = self.lock();
        state.found.retain_mut(|found| {
            if !launches.contains(found.launch) {
                return true;
            }
            let answer = asker.answer(found);
            if matches!(answer, Answer::TellAndForget | Answer::TellAndKeep) {
                report(found.launch.number, found.raw);
                found.told = true;
            }
            matches!(answer, Answer::Keep | Answer::TellAndKeep)
        });
        self.keeps.store(!state.found.is_empty(), Ordering::Release);
        let empty = state.found.is_empty() && state.graphs.is_empty() && state.after.is_empty();
        self.eventful.store(!empty, Ordering::Release);
    }

    /// Empties the log for a stream's next life, when it has no work, and returns the panics of which somebody is still to be
    /// told; calls `leaves` before, if there are any.
    pub(crate) fn recycle(&self, records: Option<&impl Slots>, leaves: impl FnOnce()) -> Vec<Found> {
        self.find(records, &self.returned());
        let mut state = self.lock();
        if !state.found.is_empty() {
            leaves();
        }
        state.after.clear();
        state.graphs.clear();
        self.eventful.store(false, Ordering::Release);
        self.keeps.store(false, Ordering::Release);
        std::mem::take(&mut state.found)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
