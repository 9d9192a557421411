//! The loops of a function's control-flow graph.

use super::{BlockId, Function};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A natural loop: its header and the blocks from which the header is reached again.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) header: BlockId,
    pub(crate) blocks: BTreeSet<BlockId>,
}

/// Returns the back edges: edges to a block on the current path of a depth-first search from the entry.
fn back_edges(function: &Function) -> Vec<(BlockId, BlockId)> {
    let mut edges = Vec::new();
    let (mut seen, mut open) = (HashSet::from([0]), HashSet::from([0]));
    let mut stack = vec![(0, function.blocks[0].term.successors())];
    while let Some((block, rest)) = stack.last_mut() {
        let block = *block;
        match rest.pop() {
            Some(next) if open.contains(&next) => edges.push((block, next)),
            Some(next) if seen.insert(next) => {
                open.insert(next);
                stack.push((next, function.blocks[next].term.successors()));
            }
            Some(_) => {}
            None => {
                open.remove(&block);
                stack.pop();
            }
        }
    }
    edges
}

/// Returns the loops of a function, by header.
pub(crate) fn loops(function: &Function) -> Vec<Loop> {
    let edges = back_edges(function);
    if edges.is_empty() {
        return Vec::new();
    }
    let mut before: Vec<Vec<BlockId>> = vec![Vec::new(); function.blocks.len()];
    for (id, block) in function.blocks.iter().enumerate() {
        block.term.successors().into_iter().for_each(|next| before[next].push(id));
    }
    let mut found: BTreeMap<BlockId, BTreeSet<BlockId>> = BTreeMap::new();
    for (latch, header) in edges {
        let blocks = found.entry(header).or_insert_with(|| BTreeSet::from([header]));
        let mut open = vec![latch];
        while let Some(block) = open.pop() {
            if blocks.insert(block) {
                open.extend(&before[block]);
            }
        }
    }
    found.into_iter().map(|(header, blocks)| Loop { header, blocks }).collect()
}

/// The limit on the sum of the blocks of all loops: analyses of loops take time and memory in proportion to it.
pub(crate) const MAX_LOOP_BLOCKS: usize = 1 << 22;

/// An upper bound on the sum of the blocks of all loops.
pub(crate) fn loop_blocks(function: &Function) -> usize {
    let headers: HashSet<BlockId> = back_edges(function).into_iter().map(|(_, header)| header).collect();
    headers.len().saturating_mul(function.blocks.len())
}

/// Returns the deepest loop nesting.
pub(crate) fn depth(function: &Function) -> usize {
    let mut around = vec![0; function.blocks.len()];
    loops(function).iter().flat_map(|l| &l.blocks).for_each(|block| around[*block] += 1);
    around.into_iter().max().unwrap_or(0)
}
