//! Regions: a kernel cut into pieces that a thread runs from end to end.
//!
//! A region is what is reachable from its head without crossing a split edge. A thread that takes a split edge leaves
//! its live registers in the block's frame and the id of where it goes on in `next[thread]`; the scheduler runs the
//! threads that wait. Split edges stand at every synchronisation, at the header of every loop that may wait for other
//! threads by polling, and where rare paths that cannot be vectorised (atomics, calls, traps) leave a hot path that
//! can.
//!
//! Invariant: region 0 begins at the entry block. `next` holds 0 for a thread that has finished, a region's id for one
//! that can run, and the number of regions plus a site's index for one that waits there.

use super::liveness::{RegSet, live_in};
use super::lockstep::{self, Lockstep};
use super::polling::{Waits, polling};
use super::remat::Cheap;
use super::sync::{self, Poll, Site};
use super::uniform;
use super::{Block, BlockId, Function, Inst, Reg, Term};
use crate::ptx::{Modifier, Opcode, Space};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Why a region begins where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Entry,
    /// After the synchronisation that ends this block.
    Resume(BlockId),
    /// The header of a loop that may wait for other threads.
    Poll,
    /// The code behind such a loop if only the block's or the grid's threads can let others go on: the scheduler learns
    /// that a thread has.
    Left,
    /// The header of a loop that threads do in step.
    Loop,
    /// What follows such a loop.
    After,
    /// A path that is rarely taken.
    Cold,
    /// The whole kernel, for threads that take such a path and have done nothing yet that others see: they begin again.
    Anew,
}

/// A kernel's regions.
#[derive(Clone, Debug)]
pub(crate) struct Regions {
    /// Head blocks; the index is the region's id.
    pub(crate) heads: Vec<BlockId>,
    pub(crate) kinds: Vec<Kind>,
    /// Edges to these blocks are split edges, with the region that they lead to.
    pub(crate) splits: HashMap<BlockId, usize>,
    /// The loops that poll, by the regions that begin with them.
    pub(crate) polls: HashMap<usize, Poll>,
    /// Where threads wait for each other.
    pub(crate) sites: Vec<Site>,
    /// The site of each block that ends in a synchronisation.
    pub(crate) site_of: HashMap<BlockId, usize>,
    /// True if a scheduler runs all regions, rather than a loop over blocks with cold paths aside.
    pub(crate) scheduled: bool,
    /// The loops that regions begin with and that threads do in step.
    pub(crate) lockstep: HashMap<usize, Lockstep>,
    /// Registers live at each head that come from the frame.
    pub(crate) live: Vec<Vec<Reg>>,
    /// For each register whether it is equal in all threads wherever a barrier of the whole block opens.
    shared: Vec<bool>,
    /// The other registers live at each head.
    pub(crate) computed: Vec<Vec<Reg>>,
    /// Instructions that compute those again.
    pub(crate) again: Vec<Vec<(BlockId, usize)>>,
    /// Frame slot of every register that crosses a split: its offset for one thread, to be multiplied by the block's
    /// threads (the frame is an array for each register).
    pub(crate) frame: HashMap<Reg, u64>,
    /// Bytes of frame for each thread.
    pub(crate) frame_bytes: u64,
}

/// Blocks that a vectorised loop cannot hold.
fn is_scalar(block: &Block) -> bool {
    block.term_is_trap()
        || block.insts.iter().any(|inst| {
            let ordered = [
                Modifier::Volatile,
                Modifier::Relaxed,
                Modifier::Acquire,
                Modifier::Release,
                Modifier::AcqRel,
                Modifier::Sc,
            ];
            let effect = matches!(
                inst.opcode,
                Opcode::Atom
                    | Opcode::Red
                    | Opcode::Call
                    | Opcode::Cp
                    | Opcode::Mbarrier
                    | Opcode::Device
                    | Opcode::Brkpt
                    | Opcode::Fence
                    | Opcode::Membar
            );
            effect || ordered.iter().any(|m| inst.has(*m))
        })
}

impl Block {
    fn term_is_trap(&self) -> bool {
        matches!(self.term, Term::Trap(_))
    }
}

/// Blocks reachable from `head` through edges that `follow` accepts, head first, in a fixed order.
pub(crate) fn reachable(function: &Function, head: BlockId, follow: impl Fn(BlockId) -> bool) -> Vec<BlockId> {
    let mut seen = HashSet::from([head]);
    let mut order = vec![head];
    let mut at = 0;
    while at < order.len() {
        for next in function.blocks[order[at]].term.successors() {
            if follow(next) && seen.insert(next) {
                order.push(next);
            }
        }
        at += 1;
    }
    order
}

/// Returns true if there is a cycle among `blocks`.
fn has_cycle(function: &Function, blocks: &[BlockId], follow: impl Fn(BlockId) -> bool) -> bool {
    let inside: HashSet<_> = blocks.iter().copied().collect();
    let mut degree: HashMap<BlockId, usize> = blocks.iter().map(|b| (*b, 0)).collect();
    let edges = |block: BlockId| {
        let next = function.blocks[block].term.successors();
        next.into_iter().filter(|n| follow(*n) && inside.contains(n)).collect::<Vec<_>>()
    };
    blocks.iter().flat_map(|b| edges(*b)).for_each(|n| *degree.entry(n).or_default() += 1);
    let mut free: Vec<_> = degree.iter().filter(|(_, n)| **n == 0).map(|(b, _)| *b).collect();
    let mut removed = 0;
    while let Some(block) = free.pop() {
        removed += 1;
        for next in edges(block) {
            if let Some(n) = degree.get_mut(&next) {
                *n -= 1;
                if *n == 0 {
                    free.push(next);
                }
            }
        }
    }
    removed != blocks.len()
}

/// The blocks that begin cold paths in what is reachable from `head`: none where splitting them off leaves nothing that
/// vectorises. `follow` tells edges inside the region.
fn cold_heads(function: &Function, head: BlockId, follow: impl Fn(BlockId) -> bool) -> BTreeSet<BlockId> {
    let all = reachable(function, head, &follow);
    let scalar: HashSet<BlockId> = all.into_iter().filter(|b| is_scalar(&function.blocks[*b])).collect();
    if scalar.is_empty() || scalar.contains(&head) {
        return BTreeSet::new();
    }
    let inside = |block: BlockId| follow(block) && !scalar.contains(&block);
    let hot = reachable(function, head, inside);
    // A thread leaves the hot part where it finishes or takes a split edge.
    let leaves = |block: BlockId| {
        let term = &function.blocks[block].term;
        let ends = matches!(term, Term::Exit | Term::Return | Term::Sync(..));
        ends || term.successors().iter().any(|next| !follow(*next))
    };
    let mut warm: HashSet<BlockId> = hot.iter().copied().filter(|b| leaves(*b)).collect();
    if warm.is_empty() || has_cycle(function, &hot, inside) {
        return BTreeSet::new();
    }
    // Blocks of the hot part from which every path turns cold (they prepare a panic's record, say) are cold as well.
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
        let next = function.blocks[*block].term.successors().into_iter();
        heads.extend(next.filter(|n| follow(*n) && !warm.contains(n)));
    }
    heads
}

/// Returns true if a thread that comes to one of these blocks has changed no memory but its own before: whatever it has read, it
/// may as well begin again. `heads` are the ways out of what is reachable from the entry.
fn untouched_before(function: &Function, heads: &BTreeSet<BlockId>) -> bool {
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

/// Returns true if the kernel needs a scheduler: it synchronises, may poll, or has asynchronous work, which a block keeps.
fn waits(function: &Function, polls: &BTreeMap<BlockId, Waits>) -> bool {
    !polls.is_empty() || sync::needs_scheduler(function)
}

impl Regions {
    /// The regions of a kernel whose blocks are `held`: a scheduler begins them and goes on with others in between.
    pub(crate) fn new(function: &Function, held: bool) -> Regions {
        let live = live_in(function);
        let polls = polling(function, &live);
        let loops = lockstep::find(function, &live, &polls, &|block| is_scalar(&function.blocks[block]));
        let mut this = Regions {
            heads: vec![0],
            kinds: vec![Kind::Entry],
            splits: HashMap::new(),
            polls: HashMap::new(),
            sites: Vec::new(),
            site_of: HashMap::new(),
            scheduled: held || !loops.is_empty() || waits(function, &polls),
            lockstep: HashMap::new(),
            live: Vec::new(),
            shared: Vec::new(),
            computed: Vec::new(),
            again: Vec::new(),
            frame: HashMap::new(),
            frame_bytes: 0,
        };
        if this.scheduled {
            this.cut(function, &polls, loops);
        } else {
            this.aside(function);
        }
        this.carry(function, &live);
        this
    }

    /// The same for threads that are fibers: they go on from rare paths as from any other.
    pub(crate) fn of_fibers(function: &Function) -> Regions {
        let mut this = Regions::new(function, false);
        this.splits.retain(|_, region| !matches!(this.kinds[*region], Kind::Cold | Kind::Anew));
        this
    }

    fn split_at(&mut self, head: BlockId, kind: Kind) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.splits.entry(head) {
            entry.insert(self.heads.len());
            self.heads.push(head);
            self.kinds.push(kind);
        }
    }

    /// Cuts cold paths off a kernel whose threads do not meet.
    fn aside(&mut self, function: &Function) {
        let cold = cold_heads(function, 0, |_| true);
        if !cold.is_empty() && untouched_before(function, &cold) {
            self.heads.push(0);
            self.kinds.push(Kind::Anew);
            self.splits.extend(cold.into_iter().map(|head| (head, 1)));
        } else {
            cold.into_iter().for_each(|head| self.split_at(head, Kind::Cold));
        }
    }

    /// Cuts at synchronisations and polling loops, and cold paths off what remains.
    fn cut(&mut self, function: &Function, polls: &BTreeMap<BlockId, Waits>, loops: Vec<Lockstep>) {
        let all = reachable(function, 0, |_| true);
        let constants = sync::constants(function);
        for block in &all {
            if let Some(waits) = polls.get(block) {
                self.split_at(*block, Kind::Poll);
                self.polls.insert(self.splits[block], waits.poll);
            }
            if let Term::Sync(inst, next) = &function.blocks[*block].term {
                self.split_at(*next, Kind::Resume(*block));
                self.site_of.insert(*block, self.sites.len());
                self.sites.push(Site::new(inst, self.splits[next], &constants));
            }
        }
        for (_, waits) in polls.iter().filter(|(header, _)| all.contains(header)) {
            waits.exits.iter().for_each(|exit| self.split_at(*exit, Kind::Left));
        }
        for found in loops.into_iter().filter(|found| all.contains(&found.header)) {
            self.split_at(found.header, Kind::Loop);
            found.exits.iter().chain(&found.bails).for_each(|exit| self.split_at(*exit, Kind::After));
            self.lockstep.insert(self.splits[&found.header], found);
        }
        // A header may have been the exit of another loop before.
        self.lockstep.keys().for_each(|region| self.kinds[*region] = Kind::Loop);
        let barriers = || self.site_of.iter().filter(|(_, site)| self.sites[**site].is_barrier());
        let whole = barriers().all(|(_, site)| self.sites[*site].is_whole());
        self.shared = match whole {
            true => uniform::across(function, &barriers().map(|(block, _)| *block).collect()),
            false => vec![false; function.registers.len()],
        };
        let mut at = 0;
        while at < self.heads.len() {
            if self.kinds[at] != Kind::Cold {
                let cold = cold_heads(function, self.heads[at], |block| !self.splits.contains_key(&block));
                cold.into_iter().for_each(|head| self.split_at(head, Kind::Cold));
            }
            at += 1;
        }
    }

    /// Decides for each head which registers come from the frame, and gives those their slots.
    fn carry(&mut self, function: &Function, live_sets: &[RegSet]) {
        let cheap = self.scheduled.then(|| Cheap::new(function));
        let matrices = 4 * sync::matrix_words(&self.sites) as u64;
        self.frame_bytes = if self.scheduled { sync::FRAME_BYTES + matrices } else { 0 };
        for (region, head) in self.heads.iter().enumerate() {
            let mut live: Vec<Reg> = live_sets[*head].iter().collect();
            if let Kind::Resume(block) = self.kinds[region]
                && let Term::Sync(inst, _) = &function.blocks[block].term
            {
                inst.visit(&mut |reg| live.retain(|r| *r != reg), &mut |_| {});
            }
            let begins = self.begins(region);
            let (again, carried): (Vec<Reg>, Vec<Reg>) =
                live.into_iter().partition(|r| !begins && cheap.as_ref().is_some_and(|c| c.contains(*r)));
            self.again.push(cheap.as_ref().map_or_else(Vec::new, |c| c.chain(function, &again)));
            self.computed.push(again);
            if !begins {
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

    /// Returns true if threads begin the kernel with a region: no register has a value yet.
    pub(crate) fn begins(&self, region: usize) -> bool {
        matches!(self.kinds[region], Kind::Entry | Kind::Anew)
    }

    /// Returns true if control that reaches `target` from region `from` leaves the region.
    ///
    /// Without a scheduler, region 0 leaves at every split, and a cold region runs on to its end.
    pub(crate) fn split(&self, from: usize, target: BlockId) -> Option<usize> {
        if from == 0 || self.scheduled { self.splits.get(&target).copied() } else { None }
    }

    /// Returns true if all threads with which a region is run have the same value of a register that comes from the frame.
    pub(crate) fn is_shared(&self, region: usize, reg: Reg) -> bool {
        let whole = |block: &BlockId| self.sites[self.site_of[block]].is_whole();
        matches!(&self.kinds[region], Kind::Resume(block) if whole(block)) && self.shared[reg as usize]
    }

    /// The blocks of a region.
    pub(crate) fn blocks(&self, function: &Function, region: usize) -> Vec<BlockId> {
        reachable(function, self.heads[region], |block| self.split(region, block).is_none())
    }

    /// What `next` holds for a thread that waits at this site.
    pub(crate) fn waiting(&self, site: usize) -> usize {
        self.heads.len() + site
    }
}
