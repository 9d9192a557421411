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
//! Lane exchanges, votes and matrix operations order nothing.

use super::clocks::{self, Key, Known, THREAD_BITS};
use super::log::Limits;
use super::pending::{Pending, Scoped};
use super::phases::Objects;
use super::shadow::{Cell, Page, PageKind, Record};
use crate::codegen::abi::Scope;
use crate::exec::launch::Launch;
use crate::ir::sync::{Operation, Site};
use std::collections::HashMap;
use std::rc::Rc;
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

/// The limit on the reads and strong accesses that are kept for a word if accesses are ordered by other means than whole
/// barriers; beyond it a random one is dropped, and its race may be missed.
const KEPT: usize = 64;

/// Returns true if nothing but barriers of whole blocks orders accesses of a launch.
fn is_simple(launch: &Launch) -> bool {
    let orders = |site: &Site| {
        site.is_of_cluster() || site.operation == Operation::WarpSync || (site.is_barrier() && !site.is_whole())
    };
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

    /// Returns true if both accesses are strong and the scope of each includes the other's thread.
    fn are_morally_strong(&self, a: Record, b: Record) -> bool {
        a.is_strong()
            && b.is_strong()
            && (a.block() == b.block() || {
                let scope = a.scope().min(b.scope());
                scope == Scope::Device
                    || (scope == Scope::Cluster && self.cluster_of(a.block()) == self.cluster_of(b.block()))
            })
    }

    pub(super) fn conflicts(&self, earlier: Record, now: Record) -> bool {
        (earlier.writes() || now.writes()) && !self.are_morally_strong(earlier, now) && !self.is_ordered(earlier, now)
    }

    /// Records an access to bytes of a page, and returns an earlier one that races with it. Accesses before `since` do
    /// not count.
    pub(super) fn access(
        &mut self,
        page: &mut Page,
        offset: u32,
        bytes: u32,
        now: Record,
        since: u32,
    ) -> Option<Conflict> {
        self.divide_page(page, since);
        if now.writes() {
            self.written_after_reads += u32::from(page.only_read.write());
        }
        let (mut found, end) = (None, offset + bytes);
        let mut at = offset;
        while at < end {
            let (word, first) = ((at / 4) as usize, at % 4);
            let count = (4 - first).min(end - at);
            let cell = self.word(page, word, since);
            let earlier = if count == 4 && !(cell.write.is_several() && cell.write.time >= since) {
                self.touch(cell, now, since)
            } else {
                self.touch_bytes(cell, first..first + count, now, since)
            };
            if let (Some(earlier), None) = (earlier, found) {
                found = Some(Conflict { earlier, at: at - offset });
            }
            at += count;
        }
        found
    }

    fn new_list(&mut self, list: impl IntoIterator<Item = Record>) -> u32 {
        let number = self.free_lists.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            (self.lists.len() - 1) as u32
        });
        let new = &mut self.lists[number as usize];
        new.clear();
        new.extend(list);
        number
    }

    /// Returns a record of a copy of a list, for threads that come `threads` later.
    pub(super) fn copied(&mut self, record: Record, threads: usize) -> Record {
        let list = self.lists[record.place as usize].clone();
        let number = self.new_list(list.into_iter().map(|record| record.plus(threads)));
        Record::several(record.time, number as usize)
    }

    /// Takes the list of a record back that no longer counts.
    pub(super) fn recycle(&mut self, record: Record) {
        if record.is_several() && record.time >= self.start {
            self.free_lists.push(record.place);
        }
    }

    /// Takes the bytes of a word back if they no longer count.
    pub(super) fn expire_bytes(&mut self, cell: &mut Cell, since: u32) {
        if !cell.write.is_several() || cell.write.time >= since {
            return;
        }
        let write = std::mem::take(&mut cell.write);
        if write.time >= self.start {
            for byte in self.bytes[write.place as usize] {
                self.recycle(byte.other);
            }
            self.free_bytes.push(write.place);
        }
    }

    /// As [`Race::touch`], for bytes of a word.
    fn touch_bytes(&mut self, cell: &mut Cell, range: std::ops::Range<u32>, now: Record, since: u32) -> Option<Record> {
        if !(cell.write.is_several() && cell.write.time >= since) {
            if cell.other.time < since {
                self.recycle(std::mem::take(&mut cell.other));
            }
            self.expire_bytes(cell, since);
            let mut each = [*cell; 4];
            if cell.other.is_several() {
                for byte in &mut each[1..] {
                    byte.other = self.copied(cell.other, 0);
                }
            }
            let number = match self.free_bytes.pop() {
                Some(number) => number as usize,
                None => {
                    self.bytes.push(each);
                    self.bytes.len() - 1
                }
            };
            self.bytes[number] = each;
            *cell = Cell { write: Record::several(self.time, number), other: Record::default() };
        }
        let number = cell.write.place as usize;
        let mut found = None;
        let whole = range.len() == 4;
        for byte in range {
            let mut own = self.bytes[number][byte as usize];
            found = found.or(self.touch(&mut own, now, since));
            self.bytes[number][byte as usize] = own;
        }
        if whole && now.writes() && !now.is_strong() {
            // All bytes have the same last write again.
            self.free_bytes.push(number as u32);
            *cell = self.bytes[number][0];
        }
        found
    }

    /// Records an access to a word or byte, and returns an earlier one that races with it.
    fn touch(&mut self, cell: &mut Cell, now: Record, since: u32) -> Option<Record> {
        let weak_write = now.writes() && !now.is_strong();
        self.expire_bytes(cell, since);
        let write = cell.write;
        let mut found = None;
        if write.time >= since && write.thread() != now.thread() && self.conflicts(write, now) {
            found = Some(write);
        }
        let other = cell.other;
        if other.time < since {
            self.recycle(std::mem::take(&mut cell.other));
            *(if weak_write { &mut cell.write } else { &mut cell.other }) = now;
            return found;
        }
        if other.is_several() {
            return found.or(self.touch_list(cell, now));
        }
        if found.is_none() && self.conflicts(other, now) {
            found = Some(other);
        }
        self.add(cell, now);
        found
    }

    /// Adds an access to a cell that has one read or strong access.
    pub(super) fn add(&mut self, cell: &mut Cell, now: Record) {
        let other = cell.other;
        if now.writes() && !now.is_strong() {
            *cell = Cell { write: now, other: Record::default() };
        } else if now.replaces(other) && self.is_ordered(other, now) {
            cell.other = now;
        } else {
            let number = self.new_list([other, now]);
            cell.other = Record::several(other.time, number as usize);
            if self.simple && other.is_plain_read() && now.is_plain_read() && other.block() != now.block() {
                cell.other = cell.other.shared();
            }
        }
    }

    /// Returns true if a later access that races with `now`, a read or strong access, always races with one of a list as
    /// well: with one of two that are like it in different blocks, or in its block since the last barrier by different
    /// threads.
    fn is_implied(&self, list: &[Record], now: Record) -> bool {
        let block = &self.block;
        let (mut elsewhere, mut recent) = (None, None);
        self.simple
            && list.iter().filter(|earlier| earlier.is_like(now)).any(|earlier| {
                let apart = *elsewhere.get_or_insert(earlier.block()) != earlier.block();
                let is_recent = earlier.block() == block.number && earlier.time >= block.barrier;
                let both = is_recent && *recent.get_or_insert(earlier.thread()) != earlier.thread();
                apart || both || (is_recent && earlier.thread() == now.thread())
            })
    }

    /// Adds an access to a cell with a list, unless it races with one of them.
    pub(super) fn quietly_in_list(&mut self, cell: &mut Cell, now: Record) -> bool {
        let list = &self.lists[cell.other.place as usize];
        let weak_write = now.writes() && !now.is_strong();
        if (weak_write || list.iter().any(|earlier| earlier.writes()))
            && list.iter().any(|earlier| self.conflicts(*earlier, now))
        {
            return false;
        }
        if weak_write || !self.is_implied(list, now) {
            self.touch_list(cell, now);
        }
        if self.simple && now.is_plain_read() && cell.other.is_several() {
            // The list has a read of this block, or it has reads of two others.
            let list = &self.lists[cell.other.place as usize];
            if list.iter().any(|earlier| earlier.is_plain_read() && earlier.block() != now.block()) {
                cell.other = cell.other.shared();
            }
        }
        true
    }

    /// As [`Race::touch`], for a list of reads and strong accesses.
    fn touch_list(&mut self, cell: &mut Cell, now: Record) -> Option<Record> {
        let number = cell.other.place as usize;
        let mut list = std::mem::take(&mut self.lists[number]);
        let found = list.iter().copied().find(|earlier| self.conflicts(*earlier, now));
        if now.writes() && !now.is_strong() {
            list.clear();
            self.free_lists.push(number as u32);
            *cell = Cell { write: now, other: Record::default() };
        } else {
            let implied = self.is_implied(&list, now);
            if !implied {
                list.retain(|earlier| !(now.replaces(*earlier) && self.is_ordered(*earlier, now)));
            }
            if implied {
            } else if self.simple || list.len() < KEPT {
                list.push(now);
            } else {
                self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                list[(self.random >> 16) as usize % KEPT] = now;
            }
        }
        self.lists[number] = list;
        found
    }

    /// Returns what a thread of the running block knows, and its own accesses so far.
    fn snapshot(&self, thread: usize) -> Known {
        let block = &self.block;
        let mut known = block.known.clone();
        if let Some(own) = block.threads.get(thread) {
            clocks::join(&mut known, &own.known);
        }
        let own = Key::thread(block.number << THREAD_BITS | thread as u64);
        clocks::add(&mut known, vec![(own, self.time + 1), (Key::block(block.number), block.barrier)]);
        known
    }

    /// A fence of a thread, which acquires, releases, or does both.
    pub(super) fn fence(&mut self, thread: usize, scope: Scope, acquires: bool, releases: bool) {
        self.simple = false;
        if thread >= self.block.count {
            return;
        }
        self.block.own();
        if acquires {
            let collected = self.block.own()[thread].pending.take(scope);
            self.learn(thread, &collected);
        }
        if releases {
            let released = self.snapshot(thread);
            for level in 0..=scope as usize {
                self.block.own()[thread].fenced[level] = released.clone();
            }
        }
        self.block.active = true;
        self.tick();
    }

    /// Adds a clock to what a thread knows.
    fn learn(&mut self, thread: usize, collected: &Known) {
        if collected.is_some() {
            clocks::join(&mut self.block.own()[thread].known, collected);
            self.block.active = true;
        }
    }

    /// A strong access of a thread to a location: it collects what was released there, and publishes what the thread
    /// has released. `shared` is true for a location in the block's own shared memory.
    pub(super) fn strong(&mut self, thread: usize, address: u64, shared: bool, access: Strong) {
        if thread >= self.block.count {
            return;
        }
        let (number, scope) = (self.block.number, access.scope);
        let cluster = self.cluster_of(number);
        if access.reads {
            let locations = if shared { &self.block.locations } else { &self.locations };
            if let Some(location) = locations.get(&address) {
                let found = [
                    location.blocks.get(&number).cloned().flatten(),
                    location.clusters.get(&cluster).cloned().flatten(),
                    location.device.clone(),
                ];
                let found = &found[..=scope as usize];
                if access.acquires {
                    found.iter().for_each(|found| self.learn(thread, found));
                } else {
                    self.block.own()[thread].pending.collect(address, found);
                    self.block.active = true;
                }
            }
            // An acquire operation completes earlier reads of its own location only.
            if access.acquires && !self.block.threads.is_empty() {
                let collected = self.block.own()[thread].pending.take_at(address, scope);
                self.learn(thread, &collected);
            }
        }
        if !access.writes {
            return;
        }
        let mut released: Scoped = Default::default();
        for (level, released) in released.iter_mut().enumerate().take(scope as usize + 1) {
            released.clone_from(&self.block.fenced[level]);
            if let Some(own) = self.block.threads.get(thread) {
                clocks::join(released, &own.fenced[level]);
            }
        }
        if access.releases {
            let own = self.snapshot(thread);
            let scoped = &mut released[..=scope as usize];
            scoped.iter_mut().for_each(|known| clocks::join(known, &own));
            self.block.own()[thread].released.insert(address, released.clone());
            self.tick();
        } else if let Some(earlier) = self.block.threads.get(thread).and_then(|own| own.released.get(&address)) {
            for (released, earlier) in released.iter_mut().zip(earlier).take(scope as usize + 1) {
                clocks::join(released, earlier);
            }
        }
        let locations = if shared { &mut self.block.locations } else { &mut self.locations };
        if !access.reads {
            // A new release sequence, which begins with what the thread itself has released here.
            locations.remove(&address);
        }
        if released.iter().all(Option::is_none) {
            return;
        }
        let location = locations.entry(address).or_default();
        clocks::join(location.blocks.entry(number).or_default(), &released[0]);
        clocks::join(location.clusters.entry(cluster).or_default(), &released[1]);
        clocks::join(&mut location.device, &released[2]);
    }

    /// A barrier of all threads of the running block that have not finished.
    pub(super) fn barrier(&mut self) {
        let time = self.tick();
        let block = &mut self.block;
        block.barrier = time;
        if !block.active {
            return;
        }
        block.active = false;
        for thread in &mut block.threads {
            clocks::join(&mut block.known, &thread.known.take());
            clocks::join(&mut block.known, &thread.pending.take(Scope::Device));
            for level in 0..3 {
                clocks::join(&mut block.fenced[level], &thread.fenced[level].take());
            }
        }
    }

    /// A thread arrives at a barrier without waiting.
    pub(super) fn arrive(&mut self, barrier: u32, thread: usize) {
        self.simple = false;
        let released = self.snapshot(thread);
        clocks::join(self.block.arrived.entry(barrier).or_default(), &released);
        self.block.active = true;
        self.tick();
    }

    /// A barrier of these threads of the running block opens; threads may also have arrived at it without waiting.
    pub(super) fn meet(&mut self, barrier: Option<u32>, threads: &[usize]) {
        self.simple = false;
        let (time, number) = (self.time + 1, self.block.number);
        let mut known = barrier.and_then(|id| self.block.arrived.remove(&id)).flatten();
        let mut fenced: Scoped = Default::default();
        self.block.own();
        for thread in threads {
            let own = &mut self.block.own()[*thread];
            clocks::join(&mut known, &own.known);
            clocks::join(&mut known, &own.pending.take(Scope::Device));
            for (level, fenced) in fenced.iter_mut().enumerate() {
                clocks::join(fenced, &own.fenced[level]);
            }
        }
        let key = |thread: &usize| Key::thread(number << THREAD_BITS | *thread as u64);
        clocks::add(&mut known, threads.iter().map(|thread| (key(thread), time)).collect());
        for thread in threads {
            let own = &mut self.block.own()[*thread];
            own.known.clone_from(&known);
            own.fenced.clone_from(&fenced);
        }
        self.block.active = true;
        self.tick();
    }

    /// The barrier of a cluster with these blocks opens. A thread of which `true` is given has arrived by a relaxed arrival,
    /// which releases what it has fenced.
    pub(super) fn cluster_barrier(&mut self, blocks: &[(u64, Vec<bool>)]) {
        let running = self.block.number;
        let mut all: Known = None;
        let time = self.time + 1;
        for (number, relaxed) in blocks {
            self.enter(*number, self.block.count, true);
            if relaxed.contains(&true) {
                clocks::join(&mut all, &self.relaxed_barrier(relaxed));
            } else {
                self.barrier();
                clocks::join(&mut all, &self.block.known);
                clocks::add(&mut all, vec![(Key::block(*number), time)]);
            }
        }
        for (number, _) in blocks {
            self.enter(*number, self.block.count, true);
            clocks::join(&mut self.block.known, &all);
        }
        self.enter(running, self.block.count, true);
        self.tick();
    }

    /// Returns what the threads of the running block release at the barrier of its cluster, if some arrivals are relaxed.
    fn relaxed_barrier(&mut self, relaxed: &[bool]) -> Known {
        let mut all = None;
        for (thread, relaxed) in relaxed.iter().enumerate() {
            let released = if *relaxed { self.fenced(thread) } else { self.snapshot(thread) };
            clocks::join(&mut all, &released);
            let collected = self.block.own()[thread].pending.take(Scope::Device);
            self.learn(thread, &collected);
        }
        all
    }

    /// A thread releases at a barrier object whose phase has this parity.
    pub(super) fn release_object(&mut self, address: u64, odd: bool, thread: usize, arrival: Arrival) {
        self.simple = false;
        let released = match arrival {
            Arrival::Relaxed => self.fenced(thread),
            _ => self.snapshot(thread),
        };
        self.objects.release(address, odd, arrival == Arrival::Mixed, &released);
        self.tick();
    }

    pub(super) fn begin_object(&mut self, address: u64) {
        self.objects.forget(address);
    }

    /// A thread has found a phase of a barrier object complete, and the one that has begun since has this parity.
    pub(super) fn acquire_object(&mut self, address: u64, odd: bool, thread: usize, relaxed: bool) {
        let Some(released) = self.objects.acquire(address, odd) else { return };
        if relaxed {
            let found: Scoped = std::array::from_fn(|_| Some(Rc::clone(&released)));
            self.block.own()[thread].pending.collect(address, &found);
            self.block.active = true;
        } else {
            self.learn(thread, &Some(released));
        }
    }

    /// Returns what the fences of a thread of the running block release, whatever their scopes.
    fn fenced(&self, thread: usize) -> Known {
        let mut fenced = self.block.fenced[Scope::Block as usize].clone();
        if let Some(own) = self.block.threads.get(thread) {
            clocks::join(&mut fenced, &own.fenced[Scope::Block as usize]);
        }
        fenced
    }
}

/// An arrival at a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It releases what its thread has done before.
    Release,
    /// It releases what its thread has fenced.
    Relaxed,
    /// It is made by copies later, or completes bytes.
    Mixed,
}

/// The properties of a strong access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strong {
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) acquires: bool,
    pub(super) releases: bool,
    pub(super) scope: Scope,
}
