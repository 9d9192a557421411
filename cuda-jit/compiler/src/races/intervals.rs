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

/// The turns of all loops when a block is reached in an interval.
pub(super) type Reached = Vec<Turn>;

/// The barrier intervals of a kernel.
#[derive(Debug)]
pub(super) struct Intervals {
    /// False if threads of a block may wait at different barriers, so that barriers order nothing.
    pub(super) aligned: bool,
    /// For each interval, how each block is reached.
    pub(super) all: Vec<BTreeMap<usize, BTreeSet<Reached>>>,
    /// The blocks in which the threads of a block may be in different iterations or have come from different blocks.
    divergent: BTreeSet<usize>,
    /// The nodes that have the same value in all threads of a block.
    uniform: Vec<bool>,
}

impl Intervals {
    pub(super) fn of(graph: &Graph) -> Self {
        let mut intervals =
            Intervals { aligned: true, all: Vec::new(), divergent: BTreeSet::new(), uniform: Vec::new() };
        intervals.find_divergence(graph);
        let starts = std::iter::once(0).chain(
            graph.blocks.iter().filter(|block| block.barrier && block.reachable).flat_map(|block| block.after.clone()),
        );
        for start in starts.collect::<BTreeSet<_>>() {
            intervals.all.push(interval(graph, start));
        }
        intervals
    }

    /// Returns true if the threads of a block run a loop's iterations together.
    pub(super) fn is_uniform_loop(&self, graph: &Graph, index: usize) -> bool {
        let of = &graph.loops[index];
        self.aligned && !self.divergent.contains(&of.header) && has_barrier(graph, of)
    }

    /// Returns true if a node has the same value in all threads of a block, at the same iteration of each loop.
    pub(super) fn is_uniform(&self, node: NodeId) -> bool {
        self.aligned && self.uniform[node]
    }

    /// Finds the nodes that are uniform and the blocks in which threads diverge; the fixed point from below.
    fn find_divergence(&mut self, graph: &Graph) {
        let meets = reaches_barrier(graph);
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

/// The blocks that are reached from a start without passing a barrier, with the turns of all loops.
fn interval(graph: &Graph, start: usize) -> BTreeMap<usize, BTreeSet<Reached>> {
    let mut reached: BTreeMap<usize, BTreeSet<Reached>> = BTreeMap::new();
    // No loop's header comes right after a barrier, since a block of its own does.
    let mut stack = vec![(start, vec![Turn::default(); graph.loops.len()])];
    while let Some((block, turns)) = stack.pop() {
        if !reached.entry(block).or_default().insert(turns.clone()) || graph.blocks[block].barrier {
            continue;
        }
        for &next in &graph.blocks[block].after {
            stack.push((next, step(graph, &turns, block, next)));
        }
    }
    reached
}

fn has_barrier(graph: &Graph, of: &Loop) -> bool {
    of.body.iter().any(|block| graph.blocks[*block].barrier)
}

/// The turns after an edge.
fn step(graph: &Graph, turns: &Reached, from: usize, to: usize) -> Reached {
    let mut turns = turns.clone();
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
