//! Removes unreachable blocks, and registers that no instruction names: a text may declare a million of them.
//!
//! Backward analyses would otherwise see blocks that code generation, which walks forward, omits.

use super::regions::reachable;
use super::rename::rename;
use super::{BasicBlock, BlockId, Function, Reg, Terminator};
use std::collections::HashMap;

/// Removes unreachable blocks and unused registers, and renumbers the rest.
pub(crate) fn prune(function: &mut Function) {
    blocks(function);
    registers(function);
}

fn blocks(function: &mut Function) {
    let mut kept = reachable(function, 0, |_| true);
    if kept.len() == function.blocks.len() {
        return;
    }
    kept.sort_unstable();
    let numbers: HashMap<BlockId, BlockId> = kept.iter().enumerate().map(|(new, old)| (*old, new)).collect();
    let all = std::mem::take(&mut function.blocks);
    function.blocks = all.into_iter().enumerate().filter(|(id, _)| numbers.contains_key(id)).map(|(_, b)| b).collect();
    for BasicBlock { term, .. } in &mut function.blocks {
        match term {
            Terminator::Jump(to) | Terminator::Sync(_, to) => *to = numbers[to],
            Terminator::Branch(_, _, a, b) => (*a, *b) = (numbers[a], numbers[b]),
            Terminator::Switch(_, targets) => targets.iter_mut().for_each(|to| *to = numbers[to]),
            Terminator::Return | Terminator::Exit | Terminator::Trap(_) => {}
        }
    }
}

fn registers(function: &mut Function) {
    let mut numbers: HashMap<Reg, Reg> = HashMap::new();
    let mut widths = Vec::new();
    let old = &function.registers;
    let mut number = |reg: Reg| {
        *numbers.entry(reg).or_insert_with(|| {
            widths.push(old[reg as usize]);
            widths.len() as Reg - 1
        })
    };
    for block in &mut function.blocks {
        let last = if let Terminator::Sync(inst, _) = &mut block.term { Some(&mut **inst) } else { None };
        for value in block.insts.iter_mut().chain(last).flat_map(|inst| &mut inst.operands) {
            rename(value, &mut number);
        }
        if let Terminator::Branch(reg, ..) | Terminator::Switch(reg, _) = &mut block.term {
            *reg = number(*reg);
        }
    }
    function.registers = widths;
}
