//! Changes of memory by the host, in order: the checkers apply them when no kernel runs.
//!
//! `memory` and `driver` report to it. It holds the names of allocations, and takes no lock of theirs.

use super::heap::Block;
use super::leak::Frame;
use super::report::Accessed;
use crate::memory::Allocation;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A change of memory by the host.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The pages of this range belong to another allocation, or to none.
    Forget { start: u64, bytes: u64 },
    /// The bytes were written.
    Written { start: u64, bytes: u64 },
    /// The bytes were copied.
    Copied { to: u64, from: u64, bytes: u64 },
}

/// A client's allocation.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// Its number among the client's allocations, from 1 on.
    pub(crate) number: u64,
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    /// The function that allocated it.
    pub(crate) function: &'static str,
    /// The frames of the allocation's caller, if leaks are looked for.
    pub(super) callers: Vec<Frame>,
    /// True if its owner keeps it to the end, so that it is no leak.
    ignored: bool,
}

/// A variable of a loaded module.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// The accessible bytes: none of a block of the device's heap that was freed.
    pub(crate) bytes: u64,
    /// The calls of `malloc` and `free`, of a block of the device's heap.
    pub(super) block: Option<Arc<Block>>,
}

#[derive(Default)]
struct Known {
    queue: VecDeque<Event>,
    live: BTreeMap<u64, Named>,
    /// The allocations that were freed last.
    freed: VecDeque<Named>,
    variables: BTreeMap<u64, Variable>,
    count: u64,
}

static KNOWN: Lazy<Mutex<Known>> = Lazy::new(Mutex::default);
static ENABLED: AtomicBool = AtomicBool::new(false);
static PLACES: AtomicBool = AtomicBool::new(false);
/// True if launches are checked, which apply the events.
static QUEUES: AtomicBool = AtomicBool::new(false);

/// The limit on the freed allocations that are remembered.
const MAX_FREED: usize = 4096;

/// Returns true if a checker is on.
#[inline]
pub(crate) fn enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Records allocations from now on; with `places` also their callers, with `queues` what happens to memory.
pub(super) fn enable(places: bool, queues: bool) {
    ENABLED.store(true, Ordering::Relaxed);
    QUEUES.fetch_or(queues, Ordering::Relaxed);
    PLACES.fetch_or(places, Ordering::Relaxed);
}

impl Known {
    fn push(&mut self, event: Event) {
        if QUEUES.load(Ordering::Relaxed) {
            self.queue.push_back(event);
        }
    }

    fn forget_variables(&mut self, range: std::ops::Range<u64>) {
        let gone: Vec<u64> = self.variables.range(range).map(|(at, _)| *at).collect();
        gone.iter().for_each(|at| {
            self.variables.remove(at);
        });
    }
}

fn push(event: Event) {
    KNOWN.lock().push(event);
}

/// Forgets what happened, and records nothing more of what happens to memory.
pub(super) fn forget_queue() {
    QUEUES.store(false, Ordering::Relaxed);
    KNOWN.lock().queue.clear();
}

/// Takes the events so far.
pub(super) fn take() -> VecDeque<Event> {
    std::mem::take(&mut KNOWN.lock().queue)
}

/// A client has allocated memory.
pub(crate) fn allocated(base: u64, bytes: u64, function: &'static str) {
    if !enabled() {
        return;
    }
    let callers = if PLACES.load(Ordering::Relaxed) { super::leak::callers() } else { Vec::new() };
    let mut known = KNOWN.lock();
    known.count += 1;
    let number = known.count;
    known.live.insert(base, Named { number, base, bytes, function, callers, ignored: false });
}

/// A free in the order of a stream: the allocation's number, and its pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freed {
    base: u64,
    number: Option<u64>,
    pages: u64,
    bytes: u64,
}

/// Returns what is told when a stream reaches the free of an allocation, if a checker is on.
pub(crate) fn freed_in_stream(allocation: &Allocation) -> Option<Freed> {
    enabled().then(|| Freed {
        base: allocation.base,
        number: KNOWN.lock().live.get(&allocation.base).map(|named| named.number),
        pages: allocation.pages,
        bytes: allocation.mapped,
    })
}

/// Memory was freed.
pub(crate) fn freed(Freed { base, number, pages, bytes }: Freed) {
    super::history::freed(pages, bytes);
    let mut known = KNOWN.lock();
    if let Some(named) = known.live.remove(&base) {
        if Some(named.number) != number {
            // It was allocated again.
            known.live.insert(base, named);
            return;
        }
        if known.freed.len() == MAX_FREED {
            known.freed.pop_front();
        }
        known.freed.push_back(named);
    }
    known.push(Event::Forget { start: pages, bytes });
}

/// The memory of an allocation was released.
pub(crate) fn released(allocation: &Allocation) {
    if let Some(told) = freed_in_stream(allocation) {
        freed(told);
    }
}

/// Returns true if an allocation that begins at this address was not freed yet.
pub(super) fn is_live(base: u64) -> bool {
    KNOWN.lock().live.contains_key(&base)
}

/// The host has written to memory.
pub(crate) fn written(start: u64, bytes: u64) {
    if enabled() {
        push(Event::Written { start, bytes });
    }
}

/// The host has copied memory.
pub(super) fn copied(to: u64, from: u64, bytes: u64) {
    push(Event::Copied { to, from, bytes });
}

/// Variables were placed in memory: their addresses, names and sizes.
pub(crate) fn variables(new: impl Iterator<Item = (u64, String, u64)>) {
    let mut known = KNOWN.lock();
    known.variables.extend(new.map(|(at, name, bytes)| (at, Variable { name, bytes, block: None })));
}

/// The variables between two addresses are gone.
pub(crate) fn forget_variables(range: std::ops::Range<u64>) {
    KNOWN.lock().forget_variables(range);
}

/// A kernel has allocated memory from the device's heap.
pub(super) fn made(address: u64, block: Block) {
    let bytes = block.bytes;
    let mut known = KNOWN.lock();
    // Blocks that were freed may have begun anywhere in it.
    known.forget_variables(address..address.saturating_add(bytes.max(1)));
    known.variables.insert(address, Variable { name: HEAP.to_owned(), bytes, block: Some(Arc::new(block)) });
    known.push(Event::Forget { start: address, bytes: bytes.max(1) });
}

/// A kernel has freed memory of the device's heap, by this call of `free`.
pub(super) fn unmade(address: u64, freed: Accessed) {
    let mut known = KNOWN.lock();
    if let Some(variable) = known.variables.get_mut(&address) {
        // Nothing of it is accessible any more.
        let bytes = std::mem::take(&mut variable.bytes);
        if let Some(block) = &mut variable.block {
            Arc::make_mut(block).freed = Some(freed);
        }
        known.push(Event::Forget { start: address, bytes: bytes.max(1) });
    }
}

/// Returns the block of the device's heap that an address is in, or was until it was freed, with its address.
pub(super) fn heap_block(address: u64) -> Option<(u64, Arc<Block>)> {
    let known = KNOWN.lock();
    let (at, variable) = known.variables.range(..=address).next_back()?;
    let block = variable.block.as_ref().filter(|block| address - at < block.bytes.max(1))?;
    Some((*at, Arc::clone(block)))
}

/// Forgets the blocks of the device's heap in a range, which cannot be freed any more.
pub(crate) fn ignore_heap(range: std::ops::Range<u64>) {
    left_in_heap(range);
}

/// Takes the blocks of the device's heap in a range that were not freed, which are reported once.
pub(super) fn left_in_heap(range: std::ops::Range<u64>) -> Vec<Arc<Block>> {
    let mut known = KNOWN.lock();
    let blocks = known.variables.range_mut(range).filter_map(|(_, variable)| variable.block.take());
    blocks.filter(|block| block.freed.is_none()).collect()
}

/// The name of memory from the device's heap.
pub(super) const HEAP: &str = "malloc";

/// Returns the variables in a range of addresses, and the one that begins before it.
pub(super) fn variables_in(range: std::ops::Range<u64>) -> Vec<(u64, Variable)> {
    let known = KNOWN.lock();
    let before = known.variables.range(..range.start).next_back();
    let all = before.into_iter().chain(known.variables.range(range));
    all.map(|(at, variable)| (*at, variable.clone())).collect()
}

/// Returns the allocation that begins at or before an address, among the live or the freed ones.
pub(super) fn allocation(address: u64) -> Option<(Named, bool)> {
    let known = KNOWN.lock();
    let live = known.live.range(..=address).next_back().map(|(_, named)| (named.clone(), true));
    let inside = |named: &Named| address - named.base < named.bytes.max(1);
    if live.as_ref().is_some_and(|(named, _)| inside(named)) {
        return live;
    }
    let freed = known.freed.iter().rev().find(|named| named.base <= address && inside(named));
    freed.map(|named| (named.clone(), false)).or(live)
}

/// Makes a live allocation, which begins at this address, none that is reported as leaked.
pub(crate) fn ignore_leak(base: u64) {
    if let Some(named) = KNOWN.lock().live.get_mut(&base) {
        named.ignored = true;
    }
}

/// Returns the allocations that were not freed, but for those that their owners keep.
pub(super) fn leaked() -> Vec<Named> {
    KNOWN.lock().live.values().filter(|named| !named.ignored).cloned().collect()
}
