//! Races: conflicting accesses that nothing orders, by the rules of PTX's memory model.
//!
//! It is a happens-before analysis in the manner of FastTrack, with clocks that have a level for blocks: a barrier of a
//! whole block is one number. A release pattern publishes the clock of its fence, or of itself, at the location that it
//! writes, at once and with the same thread's later strong writes to it; an acquire pattern collects what the location has
//! and adds it at its fence, or at once. Atomic operations continue release sequences, strong writes of other threads end
//! them. Each scope has a clock of its own.
//!
//! Two rules are weaker than the manual's, since correct programs in use rely on them: a barrier also acts as the fence
//! of an acquire pattern, and a strong write after a barrier publishes what the barrier's threads had fenced before it.
//! Lane exchanges, votes and matrix operations order nothing, but for `match.sync`, which CCCL's pipelines rely on.
//!
//! `race/records.rs` has the last accesses to each word, `race/synchronisation.rs` what orders accesses, and
//! `race/clusters.rs` the barriers of clusters.

mod clusters;
mod records;
mod synchronisation;

pub(super) use synchronisation::{Arrival, Strong};

use super::clocks::{self, Known, THREAD_BITS};
use super::log::Limits;
use super::pending::{Pending, Scoped};
use super::phases::Objects;
use super::shadow::{Cell, PageKind, Record};
use crate::codegen::abi::Scope;
use crate::exec::launch::Launch;
use crate::ir::sync::Site;
use clusters::ClusterArrivals;
use std::collections::HashMap;
use std::sync::Arc;

/// A thread's own knowledge, beyond that of its block.
#[derive(Clone, Default)]
struct ThreadClocks {
    known: Known,
    /// The accesses that its last fences of each scope, or a wider one, release.
    fenced: Scoped,
    pending: Pending,
    /// The clocks that its releases have published at each location: its later strong writes there are part of the same
    /// release pattern.
    released: HashMap<u64, Scoped>,
}

/// The clocks that were released at a location, by scope.
#[derive(Default)]
struct Location {
    device: Known,
    clusters: HashMap<u64, Known>,
    blocks: HashMap<u64, Known>,
}

/// The clocks of a block.
#[derive(Default)]
pub(super) struct BlockClocks {
    pub(super) number: u64,
    /// The time at which it began, and that of the last barrier of all its threads.
    pub(super) began: u32,
    pub(super) barrier: u32,
    /// The common knowledge of its threads.
    known: Known,
    fenced: Scoped,
    /// The number of its threads, and their own knowledge; empty as long as none has any.
    count: usize,
    threads: Vec<ThreadClocks>,
    /// True if a thread has knowledge of its own.
    active: bool,
    /// The clocks that threads which arrived without waiting have released at each barrier.
    arrived: HashMap<u32, Known>,
    cluster: ClusterArrivals,
    /// Locations in its shared memory.
    locations: HashMap<u64, Location>,
}

impl BlockClocks {
    /// The clocks of a block in whose launch only barriers order accesses.
    pub(super) fn at_barrier(number: u64, barrier: u32) -> BlockClocks {
        BlockClocks { number, barrier, ..BlockClocks::default() }
    }

    /// Returns the threads' own knowledge.
    fn own(&mut self) -> &mut [ThreadClocks] {
        if self.threads.is_empty() {
            self.threads.resize_with(self.count, ThreadClocks::default);
        }
        &mut self.threads
    }
}

/// The state of the analysis.
pub(super) struct Race {
    launch: Option<Arc<Launch>>,
    pub(super) time: u32,
    /// True if only barriers of whole blocks order accesses. Few records stand for all then ([`Race::is_implied`]).
    pub(super) simple: bool,
    /// True if the blocks of a cluster share their memory.
    has_clusters: bool,
    /// The time at which the launch began; everything before is ordered.
    start: u32,
    pub(super) block: BlockClocks,
    /// The other blocks that have begun and not ended.
    others: HashMap<u64, BlockClocks>,
    locations: HashMap<u64, Location>,
    /// Barrier objects in shared memory.
    objects: Objects,
    lists: Vec<Vec<Record>>,
    bytes: Vec<[Cell; 4]>,
    /// The numbers of lists and of bytes that no cell has any more.
    free_lists: Vec<u32>,
    free_bytes: Vec<u32>,
    random: u32,
    pub(super) limits: Limits,
    /// The number of times that a page was written which was known to be only read.
    pub(super) written_after_reads: u32,
}

/// Returns true if nothing but barriers of whole blocks orders accesses of a launch.
fn is_simple(launch: &Launch) -> bool {
    let orders =
        |site: &Site| site.is_of_cluster() || site.operation.orders_a_warp() || (site.is_barrier() && !site.is_whole());
    !launch.code.has_fences && launch.cluster.is_none() && !launch.code.plan().sites.iter().any(orders)
}

/// An access and an earlier one that races with it, and the byte of the access at which they meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub(super) earlier: Record,
    pub(super) at: u32,
}

impl Race {
    pub(super) fn new() -> Race {
        Race {
            launch: None,
            time: 1,
            simple: false,
            has_clusters: false,
            start: 1,
            block: BlockClocks { number: u64::MAX, ..BlockClocks::default() },
            others: HashMap::new(),
            locations: HashMap::new(),
            objects: Objects::default(),
            lists: Vec::new(),
            bytes: Vec::new(),
            free_lists: Vec::new(),
            free_bytes: Vec::new(),
            random: 1,
            limits: Limits::DEFAULT,
            written_after_reads: 0,
        }
    }

    /// Begins a launch. Returns true if the time starts again, so that all records have to be removed.
    pub(super) fn begin(&mut self, launch: &Arc<Launch>, may_restart: bool) -> bool {
        let restarts = may_restart && self.time > u32::MAX / 2;
        let time = if restarts { 1 } else { self.time + 1 };
        let (simple, has_clusters) = (is_simple(launch), launch.cluster.is_some());
        *self = Race { launch: Some(Arc::clone(launch)), time, start: time, simple, has_clusters, ..Race::new() };
        restarts
    }

    pub(super) fn end(&mut self) {
        self.suspend();
    }

    /// Takes the launch out, so that another one can begin.
    pub(super) fn suspend(&mut self) -> Race {
        let time = self.time;
        std::mem::replace(self, Race { time, ..Race::new() })
    }

    /// Continues a launch. Accesses before count as ordered.
    pub(super) fn resume(&mut self, launch: Race) {
        let time = self.time.max(launch.time).saturating_add(1);
        *self = Race { time, start: time, ..launch };
    }

    fn tick(&mut self) -> u32 {
        self.time = self.time.saturating_add(1);
        self.time
    }

    /// Makes a block the running one. Returns true if it begins.
    pub(super) fn enter(&mut self, number: u64, threads: usize, resident: bool) -> bool {
        if self.block.number == number {
            return false;
        }
        let next = self.others.remove(&number);
        let begins = next.is_none();
        let next = next.unwrap_or_else(|| {
            let began = self.tick();
            BlockClocks { number, began, barrier: began, count: threads, ..BlockClocks::default() }
        });
        let before = std::mem::replace(&mut self.block, next);
        if resident && before.number != u64::MAX {
            self.others.insert(before.number, before);
        }
        begins
    }

    /// Ends a block.
    pub(super) fn leave(&mut self, number: u64) {
        self.others.remove(&number);
        if self.block.number == number {
            self.block = BlockClocks { number: u64::MAX, ..BlockClocks::default() };
        }
    }

    /// The time from which on accesses to memory of this kind may race.
    pub(super) fn since(&self, kind: PageKind) -> u32 {
        match kind {
            // Only the block's own threads access it, and the barrier has ordered what they did before.
            PageKind::Shared if !self.has_clusters => self.block.barrier,
            PageKind::Shared => self.block.began,
            _ => self.start,
        }
    }

    /// Returns a record of an access of the running block's thread, at this time.
    pub(super) fn record(&self, thread: u64, place: u32) -> Record {
        Record::new(self.block.number << THREAD_BITS | thread, self.time, place)
    }

    fn cluster_of(&self, block: u64) -> u64 {
        self.launch.as_ref().map_or(block, |launch| launch.cluster_of(block))
    }

    /// Returns true if an access is ordered before the next one of `now`'s thread.
    fn is_ordered(&self, earlier: Record, now: Record) -> bool {
        let (thread, block) = (earlier.thread(), &self.block);
        if thread == now.thread() || (earlier.block() == block.number && earlier.time < block.barrier) {
            return true;
        }
        let own = (now.thread() & ((1 << THREAD_BITS) - 1)) as usize;
        let own = block.threads.get(own).filter(|_| block.active);
        own.is_some_and(|own| clocks::covers(&own.known, thread, earlier.time))
            || clocks::covers(&block.known, thread, earlier.time)
    }

    /// Returns true if both accesses are strong and to the same bytes, and the scope of each includes the other's thread.
    fn are_morally_strong(&self, a: Record, b: Record) -> bool {
        a.is_strong()
            && b.is_strong()
            && a.is_of_same_bytes(b)
            && (a.block() == b.block() || {
                let scope = a.scope().min(b.scope());
                scope == Scope::Device
                    || (scope == Scope::Cluster && self.cluster_of(a.block()) == self.cluster_of(b.block()))
            })
    }

    pub(super) fn conflicts(&self, earlier: Record, now: Record) -> bool {
        (earlier.writes() || now.writes()) && !self.are_morally_strong(earlier, now) && !self.is_ordered(earlier, now)
    }
}
