//! Barrier intervals: which accesses of two threads of a block can happen between the same two barriers.
//!
//! All threads of a block that have not ended pass the same barriers if no branch on which they differ has a barrier on
//! one of its sides before the sides join. Two accesses are then unordered only if both are reached from the same
//! barrier, or from the kernel's start, without passing another one.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::graph::{Graph, Kind, Loop, NodeId};
use super::symbols::operands;
use crate::kir::Special;

/// The position in a loop relative to the barrier at which an interval begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Turn {
    /// True if the loop was entered in this interval; the count is then of all its iterations.
    pub(super) entered: bool,
    /// The iterations that were completed in this interval; [`Turn::MANY`] if it is not known.
    pub(super) completed: u8,
}

impl Turn {
    pub(super) const MANY: u8 = 3;
}

/// The way in which a block is reached in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reached {
    /// The turns of all loops.
    pub(super) turns: Vec<Turn>,
    /// The successors of uniform branches where the path passed them for the first time.
    chosen: BTreeMap<usize, usize>,
}

impl Reached {
    /// Returns true if two threads of a block can reach two blocks in these ways in one interval.
    ///
    /// They begin at the same barrier. The blocks that are not divergent they pass in the same order, as long as a barrier
    /// follows: they may part only at a branch that is not uniform, up to its join, which are divergent blocks. So they
    /// are in the same iteration of each loop when they first pass a uniform branch, and choose the same successor.
    pub(super) fn is_compatible(&self, other: &Reached) -> bool {
        self.chosen.iter().all(|(branch, next)| other.chosen.get(branch).is_none_or(|other| other == next))
    }
}

/// The number of ways to reach blocks in an interval beyond which branches are not distinguished.
const MOST_WAYS: usize = 2000;

/// The barrier intervals of a kernel.
#[derive(Debug)]
pub(super) struct Intervals {
    /// False if threads of a block may wait at different barriers, so that barriers order nothing.
    pub(super) aligned: bool,
    /// For each interval, how each block is reached.
    pub(super) all: Vec<BTreeMap<usize, BTreeSet<Reached>>>,
    /// The blocks from which a barrier is reached.
    meets: Vec<bool>,
    /// The blocks in which the threads of a block may be in different iterations or have come from different blocks.
    divergent: BTreeSet<usize>,
    /// The nodes that have the same value in all threads of a block.
    uniform: Vec<bool>,
}

impl Intervals {
    pub(super) fn of(graph: &Graph) -> Self {
        let meets = reaches_barrier(graph);
        let mut intervals =
            Intervals { aligned: true, all: Vec::new(), meets, divergent: BTreeSet::new(), uniform: Vec::new() };
        intervals.find_divergence(graph);
        let starts = std::iter::once(0).chain(
            graph.blocks.iter().filter(|block| block.barrier && block.reachable).flat_map(|block| block.after.clone()),
        );
        let uniform_branches = intervals.uniform_branches(graph);
        for start in starts.collect::<BTreeSet<_>>() {
            intervals.all.push(interval(graph, start, &uniform_branches));
        }
        intervals
    }

    /// The branches at which all threads of a block that pass them choose the same successor.
    fn uniform_branches(&self, graph: &Graph) -> BTreeSet<usize> {
        let is_uniform = |block: &usize| {
            let condition = graph.blocks[*block].condition;
            self.meets[*block] && !self.divergent.contains(block) && condition.is_some_and(|node| self.is_uniform(node))
        };
        (0..graph.blocks.len()).filter(is_uniform).collect()
    }

    /// Returns true if the threads of a block run a loop's iterations together.
    pub(super) fn is_uniform_loop(&self, graph: &Graph, index: usize) -> bool {
        let of = &graph.loops[index];
        self.aligned && !self.divergent.contains(&of.header) && has_barrier(graph, of)
    }

    /// The loops in whose same iteration two threads of a block are, if they reach two blocks in one interval.
    ///
    /// These are the loops whose header no path from either block reaches without a barrier, and those around them. If
    /// one thread came to its block after an earlier visit of the header than the other one, it would have to follow the
    /// other one to the header's next visit before the next barrier: the blocks that are not divergent they pass in the
    /// same order, as long as a barrier follows. A path from its block to that visit does not exist, nor one from the
    /// join of the branch at which they parted.
    pub(super) fn common_iterations(&self, graph: &Graph, blocks: [usize; 2]) -> BTreeSet<usize> {
        let mut common = BTreeSet::new();
        if !blocks.iter().all(|block| self.meets[*block]) {
            return common;
        }
        for (index, of) in graph.loops.iter().enumerate() {
            let last = |block: &usize| of.body.contains(block) && !leads_to(graph, *block, of.header);
            if self.is_uniform_loop(graph, index) && blocks.iter().all(last) {
                let around = |outer: &usize| graph.loops[*outer].body.contains(&of.header);
                common
                    .extend((0..graph.loops.len()).filter(around).filter(|outer| self.is_uniform_loop(graph, *outer)));
            }
        }
        common
    }

    /// Returns true if no thread of a block reaches a block in the interval in which another one is past the last barrier.
    ///
    /// That is so if all threads leave the code with barriers at the same visit of a uniform branch, and no path leads
    /// from the block to such a branch without a barrier: a thread can be at the block neither before that visit, nor
    /// after it.
    pub(super) fn ends_before(&self, graph: &Graph, [before, after]: [usize; 2]) -> bool {
        if !self.aligned || !self.meets[before] || self.meets[after] {
            return false;
        }
        let uniform = self.uniform_branches(graph);
        let leaves = |block: &usize| {
            let mut ends = graph.blocks[*block].after.iter().filter(|next| !self.meets[**next]);
            self.meets[*block] && ends.any(|next| *next == after || leads_to(graph, *next, after))
        };
        let mut exits = (0..graph.blocks.len()).filter(leaves);
        exits.all(|exit| uniform.contains(&exit) && exit != before && !leads_to(graph, before, exit))
    }

    /// Returns true if a node has the same value in all threads of a block, at the same iteration of each loop.
    pub(super) fn is_uniform(&self, node: NodeId) -> bool {
        self.aligned && self.uniform[node]
    }

    /// Finds the nodes that are uniform and the blocks in which threads diverge; the fixed point from below.
    fn find_divergence(&mut self, graph: &Graph) {
        let meets = self.meets.clone();
        let after = |block: usize| graph.blocks[block].after.iter().copied().filter(|next| meets[*next]);
        let joins = joins(graph, &meets);
        let mut varying = HashSet::new();
        loop {
            let before = (varying.len(), self.divergent.len());
            self.uniform = uniform_nodes(graph, &varying);
            for (block, of) in graph.blocks.iter().enumerate().filter(|(block, of)| of.reachable && meets[*block]) {
                let Some(condition) = of.condition else { continue };
                if after(block).count() < 2 || self.uniform[condition] {
                    continue;
                }
                // Without a join before the next barrier, threads wait at different ones.
                self.aligned &= joins[block].is_some();
                self.divergent.extend(joins[block]);
                let mut stack: Vec<usize> = after(block).filter(|next| Some(*next) != joins[block]).collect();
                let mut seen = BTreeSet::new();
                while let Some(inner) = stack.pop() {
                    if seen.insert(inner) {
                        self.aligned &= !graph.blocks[inner].barrier;
                        stack.extend(after(inner).filter(|next| Some(*next) != joins[block]));
                    }
                }
                self.divergent.extend(seen);
            }
            for (phi, operands) in &graph.phis {
                let Kind::Phi(block, _) = graph.nodes[*phi].kind else { continue };
                let uniform = meets[block]
                    && !self.divergent.contains(&block)
                    && operands.iter().all(|operand| self.uniform[*operand]);
                if !uniform {
                    varying.insert(*phi);
                }
            }
            if before == (varying.len(), self.divergent.len()) {
                return;
            }
        }
    }
}

/// The nodes that are uniform in a block, given the phis that are not. Operands have smaller numbers, except a phi's.
fn uniform_nodes(graph: &Graph, varying: &HashSet<NodeId>) -> Vec<bool> {
    let mut uniform = Vec::with_capacity(graph.nodes.len());
    for (number, node) in graph.nodes.iter().enumerate() {
        let is_uniform = match &node.kind {
            Kind::Special(Special::ThreadIdx(_) | Special::LaneId | Special::LaneMask(_)) | Kind::Unshared => false,
            Kind::Phi(..) => !varying.contains(&number),
            Kind::Opaque(_, _, is_uniform) => *is_uniform,
            other => operands(other).into_iter().all(|operand| uniform.get(operand) == Some(&true)),
        };
        uniform.push(is_uniform);
    }
    uniform
}

/// The blocks from which a barrier is reached, their own included.
fn reaches_barrier(graph: &Graph) -> Vec<bool> {
    let mut meets = vec![false; graph.blocks.len()];
    let mut stack: Vec<usize> = (0..graph.blocks.len())
        .filter(|block| graph.blocks[*block].barrier && graph.blocks[*block].reachable)
        .collect();
    while let Some(block) = stack.pop() {
        if !meets[block] {
            meets[block] = true;
            stack.extend(&graph.blocks[block].before);
        }
    }
    meets
}

/// The block where all paths from each block to a next barrier join first: its immediate post-dominator, if threads that
/// meet no further barrier are ignored and barriers end a path.
fn joins(graph: &Graph, meets: &[bool]) -> Vec<Option<usize>> {
    let count = graph.blocks.len();
    let all: BTreeSet<usize> = (0..count).filter(|block| meets[*block]).collect();
    let mut sets: Vec<BTreeSet<usize>> = vec![all.clone(); count];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in all.iter().rev() {
            let of = &graph.blocks[block];
            let mut next = of.after.iter().filter(|next| meets[**next] && !of.barrier);
            let mut set = next.next().map(|first| sets[*first].clone()).unwrap_or_default();
            for other in next {
                set = set.intersection(&sets[*other]).copied().collect();
            }
            set.insert(block);
            if set != sets[block] {
                (sets[block], changed) = (set, true);
            }
        }
    }
    let nearest = |block: usize| {
        // Of the strict post-dominators, the nearest has the most of its own.
        let strict = sets[block].iter().copied().filter(|other| *other != block);
        strict.max_by_key(|other| sets[*other].len())
    };
    (0..count).map(|block| meets[block].then(|| nearest(block)).flatten()).collect()
}

/// The blocks that are reached from a start without passing a barrier, and how.
fn interval(graph: &Graph, start: usize, uniform_branches: &BTreeSet<usize>) -> BTreeMap<usize, BTreeSet<Reached>> {
    let mut reached: BTreeMap<usize, BTreeSet<Reached>> = BTreeMap::new();
    // No loop's header comes right after a barrier, since a block of its own does.
    let first = Reached { turns: vec![Turn::default(); graph.loops.len()], chosen: BTreeMap::new() };
    let (mut stack, mut ways) = (vec![(start, first)], 0);
    while let Some((block, way)) = stack.pop() {
        if !reached.entry(block).or_default().insert(way.clone()) || graph.blocks[block].barrier {
            continue;
        }
        ways += 1;
        if ways > MOST_WAYS && !uniform_branches.is_empty() {
            return interval(graph, start, &BTreeSet::new());
        }
        for &next in &graph.blocks[block].after {
            let mut way = Reached { turns: step(graph, &way.turns, block, next), ..way.clone() };
            if uniform_branches.contains(&block) {
                way.chosen.entry(block).or_insert(next);
            }
            stack.push((next, way));
        }
    }
    reached
}

/// Returns true if a path leads from the end of one block to another one without a barrier.
fn leads_to(graph: &Graph, from: usize, to: usize) -> bool {
    let (mut stack, mut seen) = (vec![from], BTreeSet::new());
    while let Some(block) = stack.pop() {
        if !graph.blocks[block].barrier && seen.insert(block) {
            if graph.blocks[block].after.contains(&to) {
                return true;
            }
            stack.extend(&graph.blocks[block].after);
        }
    }
    false
}

fn has_barrier(graph: &Graph, of: &Loop) -> bool {
    of.body.iter().any(|block| graph.blocks[*block].barrier)
}

/// The turns after an edge.
fn step(graph: &Graph, turns: &[Turn], from: usize, to: usize) -> Vec<Turn> {
    let mut turns = turns.to_vec();
    for (turn, of) in turns.iter_mut().zip(&graph.loops) {
        // Loops without a barrier are not counted: their iterations are in no order.
        if of.header != to || !has_barrier(graph, of) {
            continue;
        }
        *turn = match of.body.contains(&from) {
            true => Turn { completed: (turn.completed + 1).min(Turn::MANY), ..*turn },
            false => Turn { entered: true, completed: 0 },
        };
    }
    turns
}
