//! Work queues for streams: each queue runs in order, all of them concurrently, on threads that exist only while there
//! is work.
//!
//! A [`Point`] is a position in a queue: "everything submitted so far". An entry runs when the earlier entries of its
//! queue have finished and the points on which it depends are reached. Events, waits between streams and the rules of
//! the legacy default stream need nothing more. Queues belong to a group (a context), one of which may be the legacy
//! queue: its entries depend on every blocking queue of the group, and theirs on it. A batch of entries with
//! dependencies among them, such as a graph launch, is submitted to several queues in one step.
//!
//! Entries run on drivers: threads that are started when a queue has work and no driver is free, and that end after
//! some time without work. A thread that waits for a point may itself run the entries before it if no driver has taken
//! them yet and [`Task::runs_on_any_thread`] allows it: a launch that is synchronised at once then needs no thread switch. This
//! module does not know what an entry does, and has no errors.
//!
//! Invariant, kept under the one lock: a queue is `Running` on exactly one thread; `Blocked` exactly while its first
//! entry depends on a point that is not reached, where it is registered; `Ready` otherwise if it has entries, and then
//! either listed for the drivers or about to be taken by the thread that made it ready; else `Idle`.

mod engine;
#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use engine::{DRIVERS, Engine};

/// The work of one entry.
pub(crate) trait Task: Send + 'static {
    /// Runs to completion. It must not panic.
    fn run(self);

    /// Returns true if any waiting thread may run it; otherwise only a driver runs it.
    fn runs_on_any_thread(&self) -> bool;

    /// Returns true if [`Task::submitted`] wants to know all that orders entries, also what has finished already.
    fn records_order() -> bool {
        false
    }

    /// An entry has its point, and is ordered after earlier entries of its queue and after other points. Called with the
    /// engine's lock held.
    fn submitted(_task: Option<&mut Self>, _point: Point, _after: &[Point])
    where
        Self: Sized,
    {
    }

    /// A thread of the client has waited for a point.
    fn waited(_point: Point) {}
}

/// The id of a queue. Ids are not reused, so one of a closed queue is harmless: all its points are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QueueId {
    index: u32,
    serial: u64,
}

impl QueueId {
    /// Returns its number, which no other queue of the process has.
    pub(crate) fn number(self) -> u64 {
        self.serial
    }
}

/// The id of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GroupId(u32);

/// A position in a queue: it is reached when this many entries have finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) queue: QueueId,
    number: u64,
}

impl Point {
    /// Returns numbers that identify it in the process: the queue's, and the entry's in it.
    pub(crate) fn numbers(self) -> (u64, u64) {
        (self.queue.serial, self.number)
    }
}

/// The relation of a queue to the legacy default stream of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Legacy,
    Blocking,
    NonBlocking,
}

/// The thread that starts an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// A driver.
    Driver,
    /// The calling thread if the queue is idle, else a driver: for entries that are shorter than waking one.
    Here,
    /// The calling thread, which waits for the entry next.
    Wait,
}

/// The queue of a batch's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Queue(QueueId),
    /// A queue of this group and priority for this batch alone, for which the legacy one does not wait.
    New(GroupId, i32),
}

/// One entry of a batch.
pub(crate) struct BatchEntry<T> {
    /// Its queue, as an index into the batch's lanes.
    pub(crate) lane: usize,
    /// Points from before the batch on which it depends.
    pub(crate) depends: Vec<Point>,
    /// Indices of earlier entries of the batch on which it depends.
    pub(crate) after: Vec<usize>,
    pub(crate) task: Option<T>,
}
