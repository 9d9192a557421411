//! The innermost loops of a function in LLVM IR.

use cuda_llvm::inkwell::basic_block::BasicBlock;
use cuda_llvm::inkwell::values::{BasicMetadataValueEnum, FunctionValue, MetadataValue, Operand};
use std::collections::{HashMap, HashSet};

/// An innermost loop.
pub(super) struct Loop<'c> {
    pub(super) header: BasicBlock<'c>,
    pub(super) blocks: HashSet<BasicBlock<'c>>,
    /// True if the function runs each thread through it once.
    pub(super) once: bool,
}

impl<'c> Loop<'c> {
    /// Returns the loop's blocks, each behind those from which it is reached in the same iteration.
    pub(super) fn in_order(&self) -> Vec<BasicBlock<'c>> {
        let (mut seen, mut order) = (HashSet::from([self.header]), Vec::new());
        let mut open = vec![(self.header, successors(self.header))];
        while let Some((block, rest)) = open.last_mut() {
            match rest.pop() {
                Some(next) if self.blocks.contains(&next) && seen.insert(next) => open.push((next, successors(next))),
                Some(_) => {}
                None => {
                    order.push(*block);
                    open.pop();
                }
            }
        }
        order.reverse();
        order
    }
}

/// The mark of a loop that the function runs each thread through once.
const ONCE: &[u8] = b"sim.once";

/// Returns the operands of a node of metadata that are metadata themselves.
fn operands(node: MetadataValue<'_>) -> impl Iterator<Item = MetadataValue<'_>> {
    node.get_node_values().into_iter().flatten().filter_map(|operand| match operand {
        BasicMetadataValueEnum::MetadataValue(value) => Some(value),
        _ => None,
    })
}

pub(super) fn successors(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    let Some(last) = block.get_terminator() else { return Vec::new() };
    let targets = last.get_operands().flatten().filter_map(|operand| match operand {
        Operand::Block(target) => Some(target),
        Operand::Value(_) => None,
    });
    targets.collect()
}

/// Returns the loops whose latch is marked as that of a parallel loop, and that have no other such loop inside.
pub(super) fn innermost_parallel<'c>(function: FunctionValue<'c>, loop_kind: u32) -> Vec<Loop<'c>> {
    let mark = |latch: &BasicBlock<'c>| latch.get_terminator().and_then(|last| last.get_metadata(loop_kind));
    let marked = function.get_basic_blocks().into_iter().filter_map(|latch| Some((latch, mark(&latch)?)));
    let edges = marked.flat_map(|(latch, mark)| {
        let once = operands(mark).flat_map(operands).any(|option| option.get_string_value() == Some(ONCE));
        successors(latch).into_iter().map(move |header| (latch, header, once))
    });
    innermost(function, edges.collect())
}

/// Returns all loops that have no other loop inside.
pub(super) fn innermost_of_all<'c>(function: FunctionValue<'c>) -> Vec<Loop<'c>> {
    let Some(entry) = function.get_first_basic_block() else { return Vec::new() };
    // Edges to a block from which the search has not returned lead back to a loop's header.
    let (mut seen, mut around, mut edges) = (HashSet::from([entry]), HashSet::from([entry]), Vec::new());
    let mut open = vec![(entry, successors(entry))];
    while let Some((block, rest)) = open.last_mut() {
        let Some(next) = rest.pop() else {
            around.remove(block);
            open.pop();
            continue;
        };
        if around.contains(&next) {
            edges.push((*block, next, false));
        } else if seen.insert(next) {
            around.insert(next);
            open.push((next, successors(next)));
        }
    }
    innermost(function, edges)
}

/// Returns the loops of some edges from a latch to a header that have no other one inside.
fn innermost<'c>(function: FunctionValue<'c>, edges: Vec<(BasicBlock<'c>, BasicBlock<'c>, bool)>) -> Vec<Loop<'c>> {
    let blocks = function.get_basic_blocks();
    let mut predecessors: HashMap<BasicBlock<'c>, Vec<BasicBlock<'c>>> = HashMap::new();
    for block in &blocks {
        successors(*block).into_iter().for_each(|next| predecessors.entry(next).or_default().push(*block));
    }
    let mut found: Vec<Loop<'c>> = Vec::new();
    for (latch, header, once) in edges {
        // The blocks of the loop are those that reach the latch without passing the header. The latch's other
        // successor is behind the loop: from there the latch is reached by way of the function's entry, or not at all.
        let mut inside = HashSet::from([header, latch]);
        let mut open = vec![latch];
        while let Some(block) = open.pop().filter(|block| *block != header) {
            let before = predecessors.get(&block).into_iter().flatten();
            open.extend(before.copied().filter(|block| inside.insert(*block)));
        }
        if !inside.contains(&blocks[0]) {
            found.push(Loop { header, blocks: inside, once });
        }
    }
    let headers: Vec<_> = found.iter().map(|found| found.header).collect();
    found.retain(|l| !headers.iter().any(|header| *header != l.header && l.blocks.contains(header)));
    found
}
