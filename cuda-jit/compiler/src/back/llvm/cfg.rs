//! The control-flow graph of an LLVM function, and its natural loops.

use std::collections::HashMap;

use cuda_llvm::inkwell;
use inkwell::basic_block::BasicBlock;
use inkwell::values::FunctionValue;

use super::raw;

/// A function's control-flow graph.
pub(super) struct Cfg<'ctx> {
    pub(super) blocks: Vec<BasicBlock<'ctx>>,
    /// The successors of each block; one with two edges is listed twice.
    pub(super) successors: Vec<Vec<usize>>,
    /// The predecessors of each block, listed likewise.
    pub(super) predecessors: Vec<Vec<usize>>,
    numbers: HashMap<BasicBlock<'ctx>, usize>,
}

/// A natural loop with a single entering block.
pub(super) struct Loop {
    pub(super) header: usize,
    /// The only predecessor of the header outside the loop.
    pub(super) entry: usize,
    /// The blocks in the loop.
    pub(super) body: Vec<bool>,
}

impl<'ctx> Cfg<'ctx> {
    pub(super) fn of(function: FunctionValue<'ctx>) -> Self {
        let blocks = function.get_basic_blocks();
        let numbers: HashMap<_, _> = blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
        let targets = |block: &BasicBlock<'ctx>| block.get_terminator().map(raw::successors).unwrap_or_default();
        let successors: Vec<Vec<usize>> =
            blocks.iter().map(|block| targets(block).iter().map(|target| numbers[target]).collect()).collect();
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (block, targets) in successors.iter().enumerate() {
            targets.iter().for_each(|&target| predecessors[target].push(block));
        }
        Self { blocks, successors, predecessors, numbers }
    }

    /// The number of a block.
    pub(super) fn number(&self, block: BasicBlock<'ctx>) -> Option<usize> {
        self.numbers.get(&block).copied()
    }

    /// The natural loops, outer ones before those nested in them.
    pub(super) fn loops(&self) -> Vec<Loop> {
        let mut latches: HashMap<usize, Vec<usize>> = HashMap::new();
        for (latch, header) in self.back_edges() {
            latches.entry(header).or_default().push(latch);
        }
        let mut loops: Vec<Loop> =
            latches.into_iter().filter_map(|(header, latches)| self.natural_loop(header, latches)).collect();
        let size = |of: &Loop| of.body.iter().filter(|inside| **inside).count();
        loops.sort_by_key(|of| (std::cmp::Reverse(size(of)), of.header));
        loops
    }

    /// The back edges of a depth-first search, as (latch, header).
    fn back_edges(&self) -> Vec<(usize, usize)> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            Not,
            OnPath,
            Done,
        }
        let mut seen = vec![Seen::Not; self.blocks.len()];
        let (mut path, mut back_edges) = (vec![(0, 0)], Vec::new());
        seen[0] = Seen::OnPath;
        while let Some((block, edge)) = path.last_mut() {
            let block = *block;
            let Some(&target) = self.successors[block].get(*edge) else {
                seen[block] = Seen::Done;
                path.pop();
                continue;
            };
            *edge += 1;
            match seen[target] {
                Seen::Not => {
                    seen[target] = Seen::OnPath;
                    path.push((target, 0));
                }
                Seen::OnPath => back_edges.push((block, target)),
                Seen::Done => {}
            }
        }
        back_edges
    }

    /// The natural loop of a header and its latches: the blocks that reach a latch without passing the header. `None`
    /// if the header does not dominate the latches, so that the blocks include the entry, or if the loop is entered
    /// from more than one block.
    fn natural_loop(&self, header: usize, latches: Vec<usize>) -> Option<Loop> {
        let (mut body, mut worklist) = (vec![false; self.blocks.len()], latches);
        body[header] = true;
        while let Some(block) = worklist.pop() {
            if !std::mem::replace(&mut body[block], true) {
                worklist.extend(&self.predecessors[block]);
            }
        }
        let mut entries = self.predecessors[header].iter().copied().filter(|&block| !body[block]);
        let entry = entries.next()?;
        (!body[0] && entries.next().is_none()).then_some(Loop { header, entry, body })
    }
}
