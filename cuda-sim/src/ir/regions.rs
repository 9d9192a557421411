//! Regions: the parts of a kernel that a thread runs without interruption.
//!
//! A region is the set of blocks that are reachable from its head without crossing a split edge. A thread that takes a
//! split edge spills its live registers to the block's frame and stores the id of the region where it continues in
//! `next[thread]`; the scheduler then runs the waiting threads. Split edges are at every synchronisation, at the header
//! of every loop that may wait for other threads by polling, and where rare paths that cannot be vectorised (atomics,
//! calls, traps) leave a hot path that can. A polling loop that anyone may end is also part of every region that
//! enters it, since most such loops wait for nobody: only its back edges are split edges, which a thread takes after a
//! bounded number of iterations.
//!
//! Invariant: region 0 begins at the entry block. `next` is 0 for a thread that has finished, a region's id for one
//! that can run, and the number of regions plus a site's index for one that waits at that site.

use super::liveness::{RegSet, live_in};
use super::lockstep::{self, Lockstep};
use super::polling::{PollLoop, polling};
use super::remat::Rematerialisable;
use super::shuffled::is_certainly_used;
use super::sync::{self, Poll, Site};
use super::uniform;
use super::{BasicBlock, BlockId, Function, Inst, Reg, Terminator};
use crate::ptx::{Modifier, Opcode, Space};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The reason why a region begins at its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegionKind {
    Entry,
    /// The successor of this block, which ends in a synchronisation.
    Resume(BlockId),
    /// The header of a polling loop.
    Poll,
    /// The code after a polling loop whose wait only the block's or the grid's threads can end: the scheduler learns
    /// that a thread has left the loop.
    PollExit,
    /// The header of a lockstep loop.
    Loop,
    /// The code after a lockstep loop.
    LoopExit,
    /// A rarely taken path.
    Cold,
    /// The whole kernel, for threads that take a cold path before any visible side effect: they start again from the
    /// entry.
    Restart,
}

/// A polling loop that is part of the regions that enter it.
#[derive(Clone, Debug)]
pub(crate) struct EnteredLoop {
    pub(crate) blocks: BTreeSet<BlockId>,
    /// True if each iteration begins with other values of registers, as when a chain of references is followed.
    pub(crate) advances: bool,
}

/// A kernel's regions.
#[derive(Clone, Debug)]
pub(crate) struct Regions {
    /// True for code that records or checks its accesses.
    checked: bool,
    /// The head block of each region; the index is the region's id.
    pub(crate) heads: Vec<BlockId>,
    pub(crate) kinds: Vec<RegionKind>,
    /// The targets of split edges, with the region that begins there.
    pub(crate) splits: HashMap<BlockId, usize>,
    /// The polling loops, by the regions that begin with them.
    pub(crate) polls: HashMap<usize, Poll>,
    /// The polling loops that are part of the regions that enter them, by header.
    pub(crate) entered: HashMap<BlockId, EnteredLoop>,
    /// The synchronisation points.
    pub(crate) sites: Vec<Site>,
    /// The site of each block that ends in a synchronisation.
    pub(crate) site_of: HashMap<BlockId, usize>,
    /// True if a scheduler runs all regions, false if a loop over blocks runs region 0 and only cold paths are
    /// separate.
    pub(crate) scheduled: bool,
    /// The lockstep loops, by the regions that begin with them.
    pub(crate) lockstep: HashMap<usize, Lockstep>,
    /// The registers that are live at each head and are loaded from the frame.
    pub(crate) live: Vec<Vec<Reg>>,
    /// For each register, true if it is uniform whenever a barrier of the whole block opens.
    barrier_uniform: Vec<bool>,
    /// The registers that are live at each head and are rematerialised.
    pub(crate) rematerialised: Vec<Vec<Reg>>,
    /// The instructions that rematerialise those.
    pub(crate) remat_insts: Vec<Vec<(BlockId, usize)>>,
    /// The frame slot of every register that is live across a split edge: its offset for one thread, to be multiplied
    /// by the number of threads of the block (the frame is a structure of arrays).
    pub(crate) frame: HashMap<Reg, u64>,
    /// Bytes of frame per thread.
    pub(crate) frame_bytes: u64,
}

/// Returns true if a block cannot be vectorised.
fn is_scalar(block: &BasicBlock) -> bool {
    block.term_is_trap() || block.insts.iter().any(is_scalar_inst)
}

fn is_scalar_inst(inst: &Inst) -> bool {
    use Opcode::{Brkpt, Call, Cp, Device, Mbarrier};
    let effect = inst.is_fence() || matches!(inst.opcode, Brkpt | Call | Cp | Device | Mbarrier);
    effect || inst.is_atomic() || orders(inst) || inst.has(Modifier::Relaxed)
}

/// Returns true if a block has an access whose address may change when it is executed again.
fn has_access(block: &BasicBlock) -> bool {
    block.insts.iter().any(Inst::has_address)
}

/// Returns true for an access that orders other accesses of its thread, or may not be left out or repeated.
fn orders(inst: &Inst) -> bool {
    inst.is_acquire_or_release() || inst.has(Modifier::Volatile) || inst.has(Modifier::Sc)
}

/// Returns true if threads cannot run a block in lockstep. Atomic operations that order nothing are run thread by thread in
/// each iteration.
fn is_out_of_step(block: &BasicBlock) -> bool {
    let prevents = |inst: &Inst| is_scalar_inst(inst) && (orders(inst) || !inst.is_atomic());
    block.term_is_trap() || block.insts.iter().any(prevents)
}

impl BasicBlock {
    fn term_is_trap(&self) -> bool {
        matches!(self.term, Terminator::Trap(_))
    }
}

/// Returns the blocks that are reachable from `head` through blocks that `follow` accepts, head first, in a fixed order.
pub(crate) fn reachable(function: &Function, head: BlockId, follow: impl Fn(BlockId) -> bool) -> Vec<BlockId> {
    reachable_along(function, head, |_, next| follow(next))
}

/// As [`reachable`], through edges that `follow` accepts.
fn reachable_along(function: &Function, head: BlockId, follow: impl Fn(BlockId, BlockId) -> bool) -> Vec<BlockId> {
    let mut seen = HashSet::from([head]);
    let mut order = vec![head];
    let mut at = 0;
    while at < order.len() {
        for next in function.blocks[order[at]].term.successors() {
            if follow(order[at], next) && seen.insert(next) {
                order.push(next);
            }
        }
        at += 1;
    }
    order
}

/// Returns `blocks` in reverse postorder: a block comes after each block from which it is reachable, unless both are in one
/// cycle.
fn in_order(function: &Function, blocks: &[BlockId], follow: impl Fn(BlockId, BlockId) -> bool) -> Vec<BlockId> {
    let inside: HashSet<_> = blocks.iter().copied().collect();
    let next = |block: BlockId| {
        let all = function.blocks[block].term.successors();
        all.into_iter().filter(|n| follow(block, *n) && inside.contains(n)).collect::<Vec<_>>()
    };
    let (mut seen, mut order) = (HashSet::new(), Vec::new());
    for root in blocks {
        if !seen.insert(*root) {
            continue;
        }
        let mut path = vec![(*root, next(*root))];
        while let Some((block, left)) = path.last_mut() {
            match left.pop() {
                Some(to) if seen.insert(to) => path.push((to, next(to))),
                Some(_) => {}
                None => {
                    order.push(*block);
                    path.pop();
                }
            }
        }
    }
    order.reverse();
    order
}

/// Returns those of `blocks` that are in a cycle of them, by Kosaraju's algorithm.
fn in_cycles(function: &Function, blocks: &[BlockId], follow: impl Fn(BlockId, BlockId) -> bool) -> HashSet<BlockId> {
    let inside: HashSet<_> = blocks.iter().copied().collect();
    let mut before: HashMap<BlockId, Vec<BlockId>> = HashMap::new();
    let mut cyclic = HashSet::new();
    for block in blocks {
        for next in function.blocks[*block].term.successors() {
            if follow(*block, next) && inside.contains(&next) {
                before.entry(next).or_default().push(*block);
                if next == *block {
                    cyclic.insert(next);
                }
            }
        }
    }
    let mut seen = HashSet::new();
    for root in in_order(function, blocks, &follow) {
        let (mut component, mut left) = (Vec::new(), vec![root]);
        while let Some(block) = left.pop() {
            if seen.insert(block) {
                component.push(block);
                left.extend(before.get(&block).into_iter().flatten().copied());
            }
        }
        if component.len() > 1 {
            cyclic.extend(component);
        }
    }
    cyclic
}

/// Returns the heads of the cold paths that are reachable from `head`; none if splitting them off leaves nothing that
/// can be vectorised, or, if `checked`, nothing that can record its accesses. `follow` is true for edges inside the region.
fn cold_heads(
    function: &Function,
    head: BlockId,
    checked: bool,
    follow: impl Fn(BlockId, BlockId) -> bool,
) -> BTreeSet<BlockId> {
    let all = reachable_along(function, head, &follow);
    let scalar: HashSet<BlockId> = all.into_iter().filter(|b| is_scalar(&function.blocks[*b])).collect();
    if scalar.is_empty() || scalar.contains(&head) {
        return BTreeSet::new();
    }
    let inside = |from: BlockId, block: BlockId| follow(from, block) && !scalar.contains(&block);
    let hot = reachable_along(function, head, inside);
    // A thread leaves the hot path where it finishes or takes a split edge.
    let leaves = |block: BlockId| {
        let term = &function.blocks[block].term;
        let ends = matches!(term, Terminator::Exit | Terminator::Return | Terminator::Sync(..));
        ends || term.successors().iter().any(|next| !follow(block, *next))
    };
    let mut warm: HashSet<BlockId> = hot.iter().copied().filter(|b| leaves(*b)).collect();
    let prevents = |block: &BlockId| !checked || has_access(&function.blocks[*block]);
    if warm.is_empty() || in_cycles(function, &hot, inside).iter().any(prevents) {
        return BTreeSet::new();
    }
    // Blocks of the hot path from which every path becomes cold (they fill in a panic record, say) are cold as well.
    loop {
        let more: Vec<_> = hot
            .iter()
            .copied()
            .filter(|b| !warm.contains(b))
            .filter(|b| function.blocks[*b].term.successors().iter().any(|n| warm.contains(n)))
            .collect();
        if more.is_empty() {
            break;
        }
        warm.extend(more);
    }
    let mut heads = BTreeSet::new();
    for block in hot.iter().filter(|b| warm.contains(b)) {
        let term = &function.blocks[*block].term;
        let cold = term.successors().into_iter().filter(|n| follow(*block, *n) && !warm.contains(n));
        for head in cold {
            // A path that goes on is rare if it depends on an equality, such as that of an index with 0.
            if !ends_thread(function, head) && !is_equality(function, term) {
                return BTreeSet::new();
            }
            heads.insert(head);
        }
    }
    heads
}

/// Returns true if a branch depends on comparisons for equality.
fn is_equality(function: &Function, branch: &Terminator) -> bool {
    let Some(predicate) = branch.used() else { return false };
    let writes = |inst: &Inst| {
        let mut writes = false;
        inst.visit(&mut |reg| writes |= reg == predicate, &mut |_| {});
        writes
    };
    let mut definitions = function.blocks.iter().flat_map(|block| &block.insts).filter(|inst| writes(inst));
    definitions.all(|inst| inst.opcode == Opcode::Setp && (inst.has(Modifier::Eq) || inst.has(Modifier::Ne)))
}

/// Returns true if a thread that reaches a block never returns from the kernel: it ends otherwise, as after a panic.
fn ends_thread(function: &Function, block: BlockId) -> bool {
    reachable(function, block, |_| true).iter().all(|b| !matches!(function.blocks[*b].term, Terminator::Return))
}

/// Returns true if a thread that reaches a block is about to report a failure: it does not return, or calls a function,
/// whatever path it takes.
fn fails(function: &Function, block: BlockId) -> bool {
    let calls = |block: BlockId| function.blocks[block].insts.iter().any(|inst| inst.call.is_some());
    let quiet = |block: BlockId| !is_scalar(&function.blocks[block]);
    let before = reachable_along(function, block, |from, _| quiet(from));
    let leaves = |block: &BlockId| {
        quiet(*block) && matches!(function.blocks[*block].term, Terminator::Return | Terminator::Sync(..))
    };
    let reports = before.iter().filter(|block| !quiet(**block)).all(|block| calls(*block));
    ends_thread(function, block) || (reports && !before.iter().any(leaves))
}

/// Returns true if no path from the entry to one of `heads` writes memory other than the thread's own: a thread may
/// then start again. `heads` are the exits of what is reachable from the entry.
fn has_no_effect_before(function: &Function, heads: &BTreeSet<BlockId>) -> bool {
    let stores = |inst: &Inst| inst.opcode == Opcode::St && inst.space() != Some(Space::Local);
    let stores = |block: &BlockId| function.blocks[*block].insts.iter().any(stores);
    let mut open = reachable(function, 0, |block| !heads.contains(&block));
    open.retain(stores);
    let mut seen: HashSet<_> = open.iter().copied().collect();
    while let Some(block) = open.pop() {
        open.extend(function.blocks[block].term.successors().into_iter().filter(|next| seen.insert(*next)));
    }
    heads.iter().all(|head| !seen.contains(head))
}

/// Returns true if the kernel needs a scheduler: it synchronises, may poll, or has asynchronous work.
fn needs_scheduler(function: &Function, polls: &BTreeMap<BlockId, PollLoop>) -> bool {
    !polls.is_empty() || sync::needs_scheduler(function)
}

impl Regions {
    /// Computes the regions of a kernel. The blocks of a `resident` kernel are run alternately by a scheduler.
    pub(crate) fn new(function: &Function, resident: bool, checked: bool) -> Regions {
        let live = live_in(function);
        let polls = polling(function, &live);
        let facts = lockstep::BlockFacts {
            scalar: &|block| is_out_of_step(&function.blocks[block]),
            fails: &|block| fails(function, block),
        };
        let loops = lockstep::find(function, &live, &polls, &facts);
        let mut this = Regions {
            checked,
            heads: vec![0],
            kinds: vec![RegionKind::Entry],
            splits: HashMap::new(),
            polls: HashMap::new(),
            entered: HashMap::new(),
            sites: Vec::new(),
            site_of: HashMap::new(),
            scheduled: resident || !loops.is_empty() || needs_scheduler(function, &polls),
            lockstep: HashMap::new(),
            live: Vec::new(),
            barrier_uniform: Vec::new(),
            rematerialised: Vec::new(),
            remat_insts: Vec::new(),
            frame: HashMap::new(),
            frame_bytes: 0,
        };
        if this.scheduled {
            this.split_scheduled(function, &polls, loops);
        } else {
            this.split_cold_paths(function);
        }
        this.assign_frame_slots(function, &live);
        this
    }

    /// As [`Regions::new`], for threads that are fibers: a fiber does not leave its function for a cold path.
    pub(crate) fn of_fibers(function: &Function) -> Regions {
        let mut this = Regions::new(function, false, false);
        this.entered.clear();
        this.splits.retain(|_, region| !matches!(this.kinds[*region], RegionKind::Cold | RegionKind::Restart));
        this
    }

    fn split_at(&mut self, head: BlockId, kind: RegionKind) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.splits.entry(head) {
            entry.insert(self.heads.len());
            self.heads.push(head);
            self.kinds.push(kind);
        }
    }

    /// Splits cold paths off a kernel whose threads do not synchronise.
    fn split_cold_paths(&mut self, function: &Function) {
        let cold = cold_heads(function, 0, false, |_, _| true);
        if !cold.is_empty() && has_no_effect_before(function, &cold) {
            self.heads.push(0);
            self.kinds.push(RegionKind::Restart);
            self.splits.extend(cold.into_iter().map(|head| (head, 1)));
        } else {
            cold.into_iter().for_each(|head| self.split_at(head, RegionKind::Cold));
        }
    }

    /// Splits at synchronisations, polling loops and lockstep loops, and splits cold paths off the rest.
    fn split_scheduled(&mut self, function: &Function, polls: &BTreeMap<BlockId, PollLoop>, loops: Vec<Lockstep>) {
        let all = reachable(function, 0, |_| true);
        let constants = sync::constants(function);
        for block in &all {
            if let Some(waits) = polls.get(block) {
                self.split_at(*block, RegionKind::Poll);
                self.polls.insert(self.splits[block], waits.poll);
                self.entered.extend(waits.entered.clone().map(|entered| (*block, entered)));
            }
            if let Terminator::Sync(inst, next) = &function.blocks[*block].term {
                self.split_at(*next, RegionKind::Resume(*block));
                self.site_of.insert(*block, self.sites.len());
                let is_used = inst.opcode == Opcode::Shfl && is_certainly_used(function, inst, *next);
                self.sites.push(Site::new(inst, is_used, self.splits[next], &constants));
            }
        }
        for (_, waits) in polls.iter().filter(|(header, _)| all.contains(header)) {
            waits.exits.iter().for_each(|exit| self.split_at(*exit, RegionKind::PollExit));
        }
        for found in loops.into_iter().filter(|found| all.contains(&found.header)) {
            self.split_at(found.header, RegionKind::Loop);
            found.exits.iter().chain(&found.side_exits).for_each(|exit| self.split_at(*exit, RegionKind::LoopExit));
            self.lockstep.insert(self.splits[&found.header], found);
        }
        // A header may have been recorded as the exit of another loop.
        self.lockstep.keys().for_each(|region| self.kinds[*region] = RegionKind::Loop);
        let barriers = || self.site_of.iter().filter(|(_, site)| self.sites[**site].is_barrier());
        let whole = barriers().all(|(_, site)| self.sites[*site].is_whole());
        self.barrier_uniform = match whole {
            true => uniform::across(function, &barriers().map(|(block, _)| *block).collect()),
            false => vec![false; function.registers.len()],
        };
        let mut at = 0;
        while at < self.heads.len() {
            if self.kinds[at] != RegionKind::Cold {
                let inside = |from, to| self.split(at, from, to).is_none();
                let cold = cold_heads(function, self.heads[at], self.checked, inside);
                cold.into_iter().for_each(|head| self.split_at(head, RegionKind::Cold));
            }
            at += 1;
        }
    }

    /// Divides the live registers of each head into spilled and rematerialised ones, and assigns frame slots to the
    /// former.
    fn assign_frame_slots(&mut self, function: &Function, live_sets: &[RegSet]) {
        let cheap = self.scheduled.then(|| Rematerialisable::new(function));
        let matrices = 4 * sync::matrix_words(&self.sites) as u64;
        self.frame_bytes = if self.scheduled { sync::FRAME_BYTES + matrices } else { 0 };
        for (region, head) in self.heads.iter().enumerate() {
            let mut live: Vec<Reg> = live_sets[*head].iter().collect();
            if let RegionKind::Resume(block) = self.kinds[region]
                && let Terminator::Sync(inst, _) = &function.blocks[block].term
            {
                inst.visit(&mut |reg| live.retain(|r| *r != reg), &mut |_| {});
            }
            let starts = self.starts_kernel(region);
            let (remat_insts, carried): (Vec<Reg>, Vec<Reg>) =
                live.into_iter().partition(|r| !starts && cheap.as_ref().is_some_and(|c| c.contains(*r)));
            self.remat_insts.push(cheap.as_ref().map_or_else(Vec::new, |c| c.chain(function, &remat_insts)));
            self.rematerialised.push(remat_insts);
            if !starts {
                for reg in &carried {
                    self.frame.entry(*reg).or_insert_with(|| {
                        let bytes = u64::from(function.registers[*reg as usize].div_ceil(8).next_power_of_two());
                        let offset = self.frame_bytes;
                        self.frame_bytes += bytes.max(1);
                        offset
                    });
                }
            }
            self.live.push(carried);
        }
    }

    /// Returns true if threads start the kernel in a region, so that no register has a value yet.
    pub(crate) fn starts_kernel(&self, region: usize) -> bool {
        matches!(self.kinds[region], RegionKind::Entry | RegionKind::Restart)
    }

    /// Returns the region that begins at `target` if the edge from `block` in region `from` is a split edge.
    ///
    /// Without a scheduler, region 0 ends at every split edge, and a cold region runs to the end of the kernel.
    pub(crate) fn split(&self, from: usize, block: BlockId, target: BlockId) -> Option<usize> {
        let enters = || self.entered.get(&target).is_some_and(|found| !found.blocks.contains(&block));
        let stays = (from != 0 && !self.scheduled) || (!self.lockstep.contains_key(&from) && enters());
        if stays { None } else { self.splits.get(&target).copied() }
    }

    /// Returns the polling loop with this region's head if it is part of the regions that enter it.
    pub(crate) fn entered(&self, region: usize) -> Option<&EnteredLoop> {
        self.polls.get(&region).and_then(|_| self.entered.get(&self.heads[region]))
    }

    /// Returns true if a register that is loaded from the frame is uniform in all threads with which a region is run.
    pub(crate) fn is_barrier_uniform(&self, region: usize, reg: Reg) -> bool {
        let whole = |block: &BlockId| self.sites[self.site_of[block]].is_whole();
        matches!(&self.kinds[region], RegionKind::Resume(block) if whole(block)) && self.barrier_uniform[reg as usize]
    }

    /// Returns the blocks of a region.
    pub(crate) fn blocks(&self, function: &Function, region: usize) -> Vec<BlockId> {
        reachable_along(function, self.heads[region], |from, block| self.split(region, from, block).is_none())
    }

    /// Returns true if a thread makes each access of a region's code at most once in a call, and nothing in the region
    /// orders accesses of different threads.
    pub(crate) fn is_batchable(&self, function: &Function, region: usize) -> bool {
        let blocks = self.blocks(function, region);
        let polls = self.polls.keys().any(|state| blocks.contains(&self.heads[*state]));
        let scalar = |block: &BlockId| function.blocks[*block].insts.iter().any(is_scalar_inst);
        let inside = |from, to| self.split(region, from, to).is_none();
        let accesses = |block: &BlockId| has_access(&function.blocks[*block]);
        !polls && !blocks.iter().any(scalar) && !in_cycles(function, &blocks, inside).iter().any(accesses)
    }

    /// Returns the blocks of a region such that each one comes after its predecessors, but for those of one cycle.
    pub(crate) fn in_order(&self, function: &Function, region: usize, blocks: &[BlockId]) -> Vec<BlockId> {
        in_order(function, blocks, |from, to| self.split(region, from, to).is_none())
    }

    /// Returns the state that `next` has for a thread that waits at this site.
    pub(crate) fn waiting_state(&self, site: usize) -> usize {
        self.heads.len() + site
    }
}
