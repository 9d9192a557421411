//! Queues of work, as streams need them: each in order, all of them at once, on threads that only busy queues have.
//!
//! A [`Point`] is a place in a queue: "everything submitted so far". An entry runs when the entries before it in its
//! queue have finished and the points that it depends on are reached; that is all that events, waits between streams and
//! the rules of the legacy default stream need. Queues belong to a group (a context), where one may be the legacy one:
//! its entries depend on every blocking queue of the group, and theirs on it. A batch of entries with dependencies among
//! them, which is what a launch of a graph is, goes into several queues in one step.
//!
//! Entries run on drivers: threads that are started when a queue has work and nobody is free, and that end after a while
//! without any. A thread that waits for a point may run the entries before it itself where no driver has taken them yet
//! ([`Task::anywhere`] allows it): a launch that is synchronised at once then costs no change of threads. What this
//! module does not know: what an entry does, and errors.
//!
//! Invariant, kept under the one lock: a queue is `Running` for exactly one thread; `Blocked` exactly while its first
//! entry depends on a point that is not reached, where it is registered; `Ready` otherwise if it has entries, and then
//! either listed for the drivers or about to be taken by the thread that made it so; else `Idle`.

mod engine;
#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use engine::{DRIVERS, Engine};

/// One entry's work.
pub(crate) trait Task: Send + 'static {
    /// Runs to its end. Must not panic.
    fn run(self);

    /// Returns true if any thread that waits may run it; otherwise it runs on a driver.
    fn anywhere(&self) -> bool;
}

/// A queue's name. Names are not given out again, so one of a closed queue is harmless: all its points are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QueueId {
    index: u32,
    serial: u64,
}

/// A group's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GroupId(u32);

/// A place in a queue: reached when that many entries have finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) queue: QueueId,
    number: u64,
}

/// How a queue stands to the legacy default stream of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Legacy,
    Blocking,
    NonBlocking,
}

/// When an entry starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// On a driver.
    Driver,
    /// On the calling thread where nothing is before it, else on a driver: for entries that are shorter than waking one.
    Here,
    /// When the calling thread waits for it, which it does next.
    Wait,
}

/// Where a batch's entries go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Queue(QueueId),
    /// A queue of that group and priority for this batch alone, which the legacy one does not wait for.
    New(GroupId, i32),
}

/// One entry of a batch.
pub(crate) struct Step<T> {
    /// Its queue, as an index of the batch's lanes.
    pub(crate) lane: usize,
    /// Points from before the batch.
    pub(crate) depends: Vec<Point>,
    /// Earlier entries of the batch that it comes after, by index.
    pub(crate) after: Vec<usize>,
    pub(crate) task: Option<T>,
}
