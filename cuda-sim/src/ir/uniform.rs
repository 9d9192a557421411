//! Registers that are uniform in a block whenever a barrier of the whole block opens.
//!
//! Only threads that reach another barrier count: a thread that branches to a panic or to the end of the kernel does
//! not come back. If no barrier is in divergent code, all of them pass the same barriers in the same order, and between
//! two barriers they run the same non-divergent definitions. Registers whose definitions are all non-divergent and
//! depend on uniform values only are uniform. The number of iterations that other threads run in between does not
//! matter, since a barrier opens when all threads have reached it.

use super::lockstep::{Edges, defs, divergent_blocks, is_uniform, uniform_regs};
use super::{BlockId, Function, Inst, Terminator};
use std::collections::BTreeSet;

/// The limit on the number of blocks, since the analysis keeps a set for each.
const MAX_BLOCKS: usize = 512;

/// Returns the blocks of `all` from which `ends` is reachable, including those of `ends`.
fn reaching(
    all: &BTreeSet<BlockId>,
    mut ends: BTreeSet<BlockId>,
    next: impl Fn(BlockId) -> Vec<BlockId>,
) -> BTreeSet<BlockId> {
    loop {
        let more = all.iter().copied().filter(|b| !ends.contains(b) && next(*b).iter().any(|n| ends.contains(n)));
        let more: Vec<BlockId> = more.collect();
        if more.is_empty() {
            return ends;
        }
        ends.extend(more);
    }
}

fn insts(function: &Function, block: BlockId) -> impl Iterator<Item = &Inst> {
    let block = &function.blocks[block];
    let last = if let Terminator::Sync(inst, _) = &block.term { Some(&**inst) } else { None };
    block.insts.iter().chain(last)
}

/// Returns, for each register, true if it is uniform in all threads that continue after one of `barriers`: the blocks
/// that end in barriers of the whole block, of which there are no others.
pub(crate) fn across(function: &Function, barriers: &BTreeSet<BlockId>) -> Vec<bool> {
    let none = vec![false; function.registers.len()];
    if barriers.is_empty() || function.blocks.len() > MAX_BLOCKS {
        return none;
    }
    let successors = |block: BlockId| function.blocks[block].term.successors();
    let blocks = reaching(&(0..function.blocks.len()).collect(), barriers.clone(), successors);
    let mut uniform_regs = uniform_regs(function);
    loop {
        let splits: BTreeSet<BlockId> = blocks
            .iter()
            .copied()
            .filter(|b| function.blocks[*b].term.used().is_some_and(|r| !uniform_regs[r as usize]))
            .collect();
        let edge = |next: BlockId| blocks.contains(&next).then_some(next);
        let edges: Edges = blocks
            .iter()
            .map(|b| {
                (*b, successors(*b).into_iter().map(edge).filter(|n| n.is_some() || !splits.contains(b)).collect())
            })
            .collect();
        // The post-dominators of a branch are known only if every path ends.
        let last = |b: &BlockId| edges[b].iter().any(Option::is_none);
        let ends = blocks.iter().copied().filter(last).collect();
        if reaching(&blocks, ends, |b| edges[&b].iter().flatten().copied().collect()) != blocks {
            return none;
        }
        let divergent = divergent_blocks(&edges, &splits);
        if !divergent.is_disjoint(barriers) {
            return none;
        }
        let mut lost = Vec::new();
        for block in &blocks {
            for inst in insts(function, *block) {
                if divergent.contains(block) || !is_uniform(inst, &|r| uniform_regs[r as usize]) {
                    lost.extend(defs(inst));
                }
            }
        }
        let mut changed = false;
        for reg in lost {
            changed |= std::mem::replace(&mut uniform_regs[reg as usize], false);
        }
        if !changed {
            return uniform_regs;
        }
    }
}
