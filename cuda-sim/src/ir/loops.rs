//! Loops, and which of them may wait for other threads by polling memory.
//!
//! A loop polls where a branch inside it depends on what an atomic operation or a volatile, relaxed or acquire load in
//! it gave: another thread may have to run before the loop can end. Plain loads count as well where a fence or a
//! synchronisation in the loop makes compilers load again. The answer errs on the side of polling.

use super::{BlockId, Function, Inst, Reg, Symbol, Term, Value};
use crate::ptx::{Modifier, Opcode, Space};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A loop: its header and the blocks that lead back to it.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) header: BlockId,
    pub(crate) blocks: BTreeSet<BlockId>,
}

/// Edges that go back to a block on the path of a depth-first walk from the entry.
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

/// The loops of a function, by header.
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

/// The most blocks that all loops of a function may have together: what looks at loops takes time and memory by these.
pub(crate) const MAX_LOOP_BLOCKS: usize = 1 << 22;

/// How many times a function's blocks would be listed among those of its loops, at most.
pub(crate) fn loop_blocks(function: &Function) -> usize {
    let headers: HashSet<BlockId> = back_edges(function).into_iter().map(|(_, header)| header).collect();
    headers.len().saturating_mul(function.blocks.len())
}

/// The deepest nesting of loops.
pub(crate) fn depth(function: &Function) -> usize {
    let mut around = vec![0; function.blocks.len()];
    loops(function).iter().flat_map(|l| &l.blocks).for_each(|block| around[*block] += 1);
    around.into_iter().max().unwrap_or(0)
}

/// Whether a load may give another value the next time because a thread wrote in between.
fn observes(inst: &Inst, plain: bool) -> bool {
    let ordered = [Modifier::Volatile, Modifier::Relaxed, Modifier::Acquire].iter().any(|m| inst.has(*m));
    let fixed = matches!(inst.space(), Some(Space::Param | Space::Const | Space::Local)) || inst.has(Modifier::Nc);
    match inst.opcode {
        Opcode::Atom => true,
        Opcode::Ld => ordered || (plain && !fixed),
        _ => false,
    }
}

fn slot(inst: &Inst) -> Option<usize> {
    inst.operands.iter().find_map(|operand| match operand {
        Value::SymbolAddress(Symbol::Slot(slot), _) => Some(*slot),
        _ => None,
    })
}

/// Whether the loop may wait for another thread.
fn polls(function: &Function, found: &Loop) -> bool {
    let insts = || {
        found.blocks.iter().flat_map(|b| {
            let block = &function.blocks[*b];
            let last = if let Term::Sync(inst, _) = &block.term { Some(&**inst) } else { None };
            block.insts.iter().chain(last)
        })
    };
    let orders = |inst: &Inst| {
        matches!(inst.opcode, Opcode::Fence | Opcode::Membar | Opcode::Nanosleep) || super::sync::is_sync(inst)
    };
    let plain = insts().any(orders);
    let mut tainted: HashSet<Reg> = HashSet::new();
    let mut slots: HashSet<usize> = HashSet::new();
    loop {
        let before = (tainted.len(), slots.len());
        for inst in insts() {
            let (mut defs, mut uses) = (Vec::new(), Vec::new());
            inst.visit(&mut |r| defs.push(r), &mut |r| uses.push(r));
            let through = slot(inst).is_some_and(|s| slots.contains(&s));
            if observes(inst, plain) || through || uses.iter().any(|r| tainted.contains(r)) {
                tainted.extend(defs);
                slots.extend(slot(inst));
            }
        }
        if before == (tainted.len(), slots.len()) {
            break;
        }
    }
    found.blocks.iter().any(|b| function.blocks[*b].term.used().is_some_and(|r| tainted.contains(&r)))
}

/// Headers of the loops that may wait for another thread.
pub(crate) fn polling(function: &Function) -> BTreeSet<BlockId> {
    loops(function).iter().filter(|l| polls(function, l)).map(|l| l.header).collect()
}
