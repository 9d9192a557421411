//! Registers that are equal in all threads of a block whenever a barrier of the whole block opens.
//!
//! Only threads that come to another barrier count: who turns to a panic or to the end of the kernel does not come back.
//! If no barrier stands where only some of the others come by, all of them pass the same barriers in the same order; and
//! between two of them they run the same of those definitions that do not stand there either. Where these derive from
//! nothing that differs among threads, the values are equal. How often other threads have turned a loop in between does
//! not matter, since a barrier opens when all have come to it.

use super::lockstep::{Edges, alike, defs, divergent, is_uniform};
use super::{BlockId, Function, Inst, Term};
use std::collections::BTreeSet;

/// The most blocks that are looked at: what is kept for each grows with their number.
const MOST: usize = 512;

/// The blocks among `all` from which a path of edges leads to `ends`, these included.
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
    let last = if let Term::Sync(inst, _) = &block.term { Some(&**inst) } else { None };
    block.insts.iter().chain(last)
}

/// For each register whether it is equal in all threads that go on behind one of these blocks, which end in barriers of
/// the whole block and are all that do.
pub(crate) fn across(function: &Function, barriers: &BTreeSet<BlockId>) -> Vec<bool> {
    let none = vec![false; function.registers.len()];
    if barriers.is_empty() || function.blocks.len() > MOST {
        return none;
    }
    let successors = |block: BlockId| function.blocks[block].term.successors();
    let blocks = reaching(&(0..function.blocks.len()).collect(), barriers.clone(), successors);
    let mut alike = alike(function);
    loop {
        let splits: BTreeSet<BlockId> = blocks
            .iter()
            .copied()
            .filter(|b| function.blocks[*b].term.used().is_some_and(|r| !alike[r as usize]))
            .collect();
        let edge = |next: BlockId| blocks.contains(&next).then_some(next);
        let edges: Edges = blocks
            .iter()
            .map(|b| {
                (*b, successors(*b).into_iter().map(edge).filter(|n| n.is_some() || !splits.contains(b)).collect())
            })
            .collect();
        // What follows a branch in any case is known only where every path ends.
        let last = |b: &BlockId| edges[b].iter().any(Option::is_none);
        let ends = blocks.iter().copied().filter(last).collect();
        if reaching(&blocks, ends, |b| edges[&b].iter().flatten().copied().collect()) != blocks {
            return none;
        }
        let divergent = divergent(&edges, &splits);
        if !divergent.is_disjoint(barriers) {
            return none;
        }
        let mut lost = Vec::new();
        for block in &blocks {
            for inst in insts(function, *block) {
                if divergent.contains(block) || !is_uniform(inst, &|r| alike[r as usize]) {
                    lost.extend(defs(inst));
                }
            }
        }
        let mut changed = false;
        for reg in lost {
            changed |= std::mem::replace(&mut alike[reg as usize], false);
        }
        if !changed {
            return alike;
        }
    }
}
