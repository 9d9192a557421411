//! Regions: a kernel cut into pieces that a thread runs from end to end.
//!
//! A region is what is reachable from its head without crossing a split edge. A thread that takes a split edge leaves
//! its live registers in the block's frame and the id of the target's region in `next[thread]`; the scheduler runs
//! the regions of waiting threads until none waits. Today split edges separate rare paths that cannot be vectorised
//! (atomics, calls, traps) from a hot path that can; synchronisation will be further split edges.
//!
//! Invariant: region 0 begins at the entry block, and region ids are what `next` holds, with 0 for "finished".

use super::liveness::{RegSet, live_in};
use super::{Block, BlockId, Function, Reg, Term};
use crate::ptx::{Modifier, Opcode};
use std::collections::{HashMap, HashSet};

/// A kernel's regions.
#[derive(Clone, Debug)]
pub(crate) struct Regions {
    /// Head blocks; the index is the region's id.
    pub(crate) heads: Vec<BlockId>,
    /// Edges to these blocks are split edges, with the region that they lead to.
    pub(crate) splits: HashMap<BlockId, usize>,
    /// Registers live at each head.
    pub(crate) live: Vec<Vec<Reg>>,
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
            matches!(inst.opcode, Opcode::Atom | Opcode::Red | Opcode::Call | Opcode::Fence | Opcode::Membar)
                || ordered.iter().any(|m| inst.has(*m))
        })
}

impl Block {
    fn term_is_trap(&self) -> bool {
        matches!(self.term, Term::Trap)
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

/// Whether there is a cycle among `blocks`.
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

/// The blocks that begin cold paths: none where splitting them off leaves nothing that vectorises.
fn cold_heads(function: &Function) -> HashSet<BlockId> {
    let scalar: HashSet<BlockId> = (0..function.blocks.len()).filter(|b| is_scalar(&function.blocks[*b])).collect();
    if scalar.is_empty() || scalar.contains(&0) {
        return HashSet::new();
    }
    let follow = |block: BlockId| !scalar.contains(&block);
    let hot = reachable(function, 0, follow);
    let finishes = hot.iter().any(|b| matches!(function.blocks[*b].term, Term::Exit | Term::Return));
    if !finishes || has_cycle(function, &hot, follow) {
        return HashSet::new();
    }
    // Blocks of the hot part from which every path turns cold (they prepare a panic's record, say) are cold as well.
    let mut leaves: HashSet<BlockId> =
        hot.iter().copied().filter(|b| matches!(function.blocks[*b].term, Term::Exit | Term::Return)).collect();
    loop {
        let more: Vec<_> = hot
            .iter()
            .copied()
            .filter(|b| !leaves.contains(b))
            .filter(|b| function.blocks[*b].term.successors().iter().any(|n| leaves.contains(n)))
            .collect();
        if more.is_empty() {
            break;
        }
        leaves.extend(more);
    }
    let mut heads = HashSet::new();
    for block in hot.iter().filter(|b| leaves.contains(b)) {
        heads.extend(function.blocks[*block].term.successors().into_iter().filter(|n| !leaves.contains(n)));
    }
    heads
}

impl Regions {
    pub(crate) fn new(function: &Function) -> Regions {
        let live_sets: Vec<RegSet> = live_in(function);
        let mut cold: Vec<BlockId> = cold_heads(function).into_iter().collect();
        cold.sort_unstable();
        let heads: Vec<BlockId> = std::iter::once(0).chain(cold.iter().copied()).collect();
        let splits = cold.iter().enumerate().map(|(i, b)| (*b, i + 1)).collect();
        let live: Vec<Vec<Reg>> = heads.iter().map(|h| live_sets[*h].iter().collect()).collect();
        let (mut frame, mut frame_bytes) = (HashMap::new(), 0);
        for reg in live.iter().skip(1).flatten() {
            frame.entry(*reg).or_insert_with(|| {
                let offset = frame_bytes;
                frame_bytes += u64::from(function.registers[*reg as usize].div_ceil(8).next_power_of_two().max(1));
                offset
            });
        }
        Regions { heads, splits, live, frame, frame_bytes }
    }

    /// Whether control that reaches `target` from region `from` leaves the region.
    ///
    /// Region 0 leaves at every split; a cold region runs on through cold blocks and only ever ends.
    pub(crate) fn split(&self, from: usize, target: BlockId) -> Option<usize> {
        if from == 0 { self.splits.get(&target).copied() } else { None }
    }

    /// The blocks of a region.
    pub(crate) fn blocks(&self, function: &Function, region: usize) -> Vec<BlockId> {
        reachable(function, self.heads[region], |block| self.split(region, block).is_none())
    }
}
