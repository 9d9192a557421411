//! The control flow of a function as LLVM has it: its blocks by number, what follows each, and its loops.

use std::collections::HashMap;

use cuda_llvm::inkwell;
use inkwell::basic_block::BasicBlock;
use inkwell::values::FunctionValue;

use super::raw;

/// A function's blocks and the ways between them.
pub(super) struct Flow<'ctx> {
    pub(super) blocks: Vec<BasicBlock<'ctx>>,
    /// The blocks that may follow each; one that follows in two ways is there twice.
    pub(super) next: Vec<Vec<usize>>,
    /// The blocks that each may follow, in the same manner.
    pub(super) before: Vec<Vec<usize>>,
    numbers: HashMap<BasicBlock<'ctx>, usize>,
}

/// A loop that has one header and is entered from one block.
pub(super) struct Loop {
    pub(super) header: usize,
    /// From where it is entered, outside of it.
    pub(super) entry: usize,
    /// Which blocks are in it.
    pub(super) body: Vec<bool>,
}

impl<'ctx> Flow<'ctx> {
    pub(super) fn of(function: FunctionValue<'ctx>) -> Self {
        let blocks = function.get_basic_blocks();
        let numbers: HashMap<_, _> = blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
        let targets = |block: &BasicBlock<'ctx>| block.get_terminator().map(raw::successors).unwrap_or_default();
        let next: Vec<Vec<usize>> =
            blocks.iter().map(|block| targets(block).iter().map(|target| numbers[target]).collect()).collect();
        let mut before = vec![Vec::new(); blocks.len()];
        for (block, targets) in next.iter().enumerate() {
            targets.iter().for_each(|&target| before[target].push(block));
        }
        Self { blocks, next, before, numbers }
    }

    /// A block's number.
    pub(super) fn number(&self, block: BasicBlock<'ctx>) -> Option<usize> {
        self.numbers.get(&block).copied()
    }

    /// The loops, outer ones before those in them.
    pub(super) fn loops(&self) -> Vec<Loop> {
        let mut latches: HashMap<usize, Vec<usize>> = HashMap::new();
        for (latch, header) in self.back_edges() {
            latches.entry(header).or_default().push(latch);
        }
        let mut loops: Vec<Loop> =
            latches.into_iter().filter_map(|(header, latches)| self.natural(header, latches)).collect();
        let size = |of: &Loop| of.body.iter().filter(|inside| **inside).count();
        loops.sort_by_key(|of| (std::cmp::Reverse(size(of)), of.header));
        loops
    }

    /// The ways from a block to one that is passed on the way to it, as (from, to).
    fn back_edges(&self) -> Vec<(usize, usize)> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            Not,
            OnTheWay,
            Done,
        }
        let mut seen = vec![Seen::Not; self.blocks.len()];
        let (mut way, mut back) = (vec![(0, 0)], Vec::new());
        seen[0] = Seen::OnTheWay;
        while let Some((block, tried)) = way.last_mut() {
            let block = *block;
            let Some(&target) = self.next[block].get(*tried) else {
                seen[block] = Seen::Done;
                way.pop();
                continue;
            };
            *tried += 1;
            match seen[target] {
                Seen::Not => {
                    seen[target] = Seen::OnTheWay;
                    way.push((target, 0));
                }
                Seen::OnTheWay => back.push((block, target)),
                Seen::Done => {}
            }
        }
        back
    }

    /// The loop of the blocks from which control gets to `latches` without passing the header. None where that is
    /// everything, because the header can be passed by, or if it is entered in more than one way.
    fn natural(&self, header: usize, latches: Vec<usize>) -> Option<Loop> {
        let (mut body, mut open) = (vec![false; self.blocks.len()], latches);
        body[header] = true;
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut body[block], true) {
                open.extend(&self.before[block]);
            }
        }
        let mut entries = self.before[header].iter().copied().filter(|&block| !body[block]);
        let entry = entries.next()?;
        (!body[0] && entries.next().is_none()).then_some(Loop { header, entry, body })
    }
}
