//! The order of the operations of streams: which of them CUDA's rules order, whatever the schedule did.
//!
//! Every entry of a queue has a clock: for each queue the entries that are ordered before it, by its own queue, by the
//! default stream's rules, by waits for events, and by what a thread of the client had waited for when it submitted the entry.
//! Threads of the client are taken as ordered among each other.
//!
//! Clocks are recorded once the race checker was on, since it may be turned on again. Two operations can only be unordered
//! if there is a stream beside the default one.

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A position in the queues of all streams: the queue's number, and the entry's in it.
pub(crate) type Position = (u64, u64);

/// The last entry of each queue that is ordered before something.
type Clock = HashMap<u64, u64>;

/// An operation of a stream, while it is enqueued and runs.
#[derive(Debug)]
pub(crate) struct Operation {
    at: Position,
    known: Arc<Clock>,
    /// The stream's id.
    pub(super) stream: u64,
}

/// The clocks of a queue.
#[derive(Default)]
struct Queue {
    /// The first entry with each clock, and the clock, in the order of the entries.
    clocks: VecDeque<(u64, Arc<Clock>)>,
    /// The clock of the next entry.
    next: Arc<Clock>,
}

#[derive(Default)]
struct Known {
    queues: HashMap<u64, Queue>,
    /// The entries that the client has waited for.
    host: Arc<Clock>,
}

static KNOWN: Lazy<Mutex<Known>> = Lazy::new(Mutex::default);
static RECORDS: AtomicBool = AtomicBool::new(false);
/// The streams that were created, without default streams of contexts; a stream that does not wait for those counts twice.
static STREAMS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The operation that this thread runs.
    static CURRENT: RefCell<Option<Arc<Operation>>> = const { RefCell::new(None) };
}

/// Records the order of operations from now on.
pub(super) fn enable() {
    RECORDS.store(true, Ordering::Relaxed);
}

/// Returns true if the order of operations is recorded.
pub(crate) fn is_recorded() -> bool {
    RECORDS.load(Ordering::Relaxed)
}

/// A stream is created, which the legacy default stream waits for, or not.
pub(crate) fn created(blocking: bool) {
    STREAMS.fetch_add(if blocking { 1 } else { 2 }, Ordering::Relaxed);
}

/// Returns the clock with all entries of both.
fn joined(one: &Arc<Clock>, other: &Arc<Clock>) -> Arc<Clock> {
    if Arc::ptr_eq(one, other) || other.iter().all(|(queue, number)| covers(one, (*queue, *number))) {
        return Arc::clone(one);
    }
    let mut all = (**one).clone();
    for (queue, number) in other.iter() {
        let last = all.entry(*queue).or_default();
        *last = (*last).max(*number);
    }
    Arc::new(all)
}

/// Returns the clock with one more position.
fn with(clock: &Arc<Clock>, (queue, number): Position) -> Arc<Clock> {
    if covers(clock, (queue, number)) {
        return Arc::clone(clock);
    }
    let mut all = (**clock).clone();
    all.insert(queue, number);
    Arc::new(all)
}

fn covers(clock: &Clock, (queue, number): Position) -> bool {
    clock.get(&queue).is_some_and(|last| *last >= number)
}

impl Known {
    /// Returns the clock with a position, and with all that is ordered before that.
    fn after(&self, clock: &Arc<Clock>, at: Position) -> Arc<Clock> {
        let of = self.queues.get(&at.0).and_then(|queue| queue.clocks.iter().rev().find(|(first, _)| *first <= at.1));
        let clock = of.map_or_else(|| Arc::clone(clock), |(_, known)| joined(clock, known));
        with(&clock, at)
    }
}

/// An entry was submitted, which is ordered after other positions.
pub(crate) fn submitted(at: Position, after: impl Iterator<Item = Position>, stream: u64) -> Arc<Operation> {
    let mut known = KNOWN.lock();
    let own = known.queues.entry(at.0).or_default();
    let clock = Arc::clone(&own.next);
    let clock = joined(&clock, &known.host);
    let clock = after.fold(clock, |clock, point| known.after(&clock, point));
    let known = &mut *known;
    let (queue, host) = (known.queues.entry(at.0).or_default(), &known.host);
    if queue.clocks.back().is_none_or(|(_, last)| !Arc::ptr_eq(last, &clock)) {
        // What the client has waited for is ordered anyway.
        while queue.clocks.get(1).is_some_and(|(second, _)| covers(host, (at.0, second - 1))) {
            queue.clocks.pop_front();
        }
        queue.clocks.push_back((at.1, Arc::clone(&clock)));
    }
    queue.next = Arc::clone(&clock);
    Arc::new(Operation { at, known: clock, stream })
}

/// Orders the entries that a queue gets from now on after a position.
pub(crate) fn follows(queue: u64, at: Position) {
    if is_recorded() {
        let mut known = KNOWN.lock();
        let clock = known.queues.get(&queue).map(|queue| Arc::clone(&queue.next)).unwrap_or_default();
        let clock = known.after(&clock, at);
        known.queues.entry(queue).or_default().next = clock;
    }
}

/// The client has waited for a position.
pub(crate) fn waited(at: Position) {
    if is_recorded() {
        let mut known = KNOWN.lock();
        let host = known.after(&known.host, at);
        known.host = host;
    }
}

/// The running operation calls the client, which may tell any of its threads.
pub(crate) fn tells_host() {
    if let Some(operation) = current() {
        waited(operation.at);
    }
}

/// Returns the operation that this thread runs, if another one may be unordered.
pub(super) fn current() -> Option<Arc<Operation>> {
    if STREAMS.load(Ordering::Relaxed) < 2 {
        return None;
    }
    CURRENT.try_with(|operation| operation.borrow().clone()).ok().flatten()
}

/// Runs an operation, or a part of the one that runs.
pub(crate) fn within<T>(operation: Option<Arc<Operation>>, run: impl FnOnce() -> T) -> T {
    /// Restores the operation of the thread, also if this one panics.
    struct Restore(Option<Arc<Operation>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = operation.is_some().then(|| Restore(CURRENT.replace(operation)));
    run()
}

impl Operation {
    pub(super) fn position(&self) -> Position {
        self.at
    }

    /// Returns true if the entry at another position is ordered before this one.
    pub(super) fn is_after(&self, earlier: Position) -> bool {
        (earlier.0 == self.at.0 && earlier.1 <= self.at.1) || covers(&self.known, earlier)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::iter::empty;

    /// Queues of a test, which no other one has.
    fn queues() -> [u64; 3] {
        static NEXT: AtomicUsize = AtomicUsize::new(1 << 40);
        std::array::from_fn(|_| NEXT.fetch_add(1, Ordering::Relaxed) as u64)
    }

    #[test]
    fn entries_are_ordered_by_queues_and_by_waits() {
        let [a, b, c] = queues();
        let first = submitted((a, 1), empty(), 0);
        let second = submitted((a, 2), empty(), 0);
        assert!(second.is_after(first.at) && !first.is_after(second.at));
        // The wait of another queue is for the first one only, and is passed on.
        let waits = submitted((b, 1), [(a, 1)].into_iter(), 0);
        let after = submitted((b, 2), empty(), 0);
        let far = submitted((c, 1), [after.at].into_iter(), 0);
        for operation in [&waits, &after, &far] {
            assert!(operation.is_after(first.at) && !operation.is_after(second.at));
        }
        assert!(far.is_after(waits.at) && !after.is_after(far.at));
    }

    #[test]
    fn what_the_client_has_waited_for_is_ordered_before_what_it_submits() {
        enable();
        let [a, b, _] = queues();
        let first = submitted((a, 1), empty(), 0);
        let before = submitted((b, 1), empty(), 0);
        waited(first.at);
        let later = submitted((b, 2), empty(), 0);
        assert!(!before.is_after(first.at) && later.is_after(first.at));
        let second = submitted((a, 2), empty(), 0);
        assert!(!second.is_after(later.at) && second.is_after(first.at));
        follows(a, later.at);
        assert!(submitted((a, 3), empty(), 0).is_after(later.at));
    }
}
