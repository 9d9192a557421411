//! Liveness analysis: the registers that are live at the start of each basic block, by backward data flow over bit
//! sets.

use super::{Function, Inst, Reg, Terminator};

/// A set of registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegSet(Vec<u64>);

impl RegSet {
    fn new(registers: usize) -> Self {
        RegSet(vec![0; registers.div_ceil(64)])
    }

    fn insert(&mut self, reg: Reg) {
        self.0[reg as usize / 64] |= 1 << (reg % 64);
    }

    fn remove(&mut self, reg: Reg) {
        self.0[reg as usize / 64] &= !(1 << (reg % 64));
    }

    fn union(&mut self, other: &RegSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    pub(crate) fn contains(&self, reg: Reg) -> bool {
        self.0[reg as usize / 64] & (1 << (reg % 64)) != 0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| i as Reg * 64 + bit)
        })
    }
}

/// Updates the registers live after an instruction to those live before it.
fn step(set: &mut RegSet, inst: &Inst) {
    let (mut defs, mut uses) = (Vec::new(), Vec::new());
    inst.visit(&mut |r| defs.push(r), &mut |r| uses.push(r));
    defs.into_iter().for_each(|r| set.remove(r));
    uses.into_iter().for_each(|r| set.insert(r));
}

/// Returns the live-in registers of every block.
pub(crate) fn live_in(function: &Function) -> Vec<RegSet> {
    let empty = RegSet::new(function.registers.len());
    let mut live = vec![empty.clone(); function.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (id, block) in function.blocks.iter().enumerate().rev() {
            let mut set = empty.clone();
            for next in block.term.successors() {
                set.union(&live[next]);
            }
            if let Some(reg) = block.term.used() {
                set.insert(reg);
            }
            if let Terminator::Sync(inst, _) = &block.term {
                step(&mut set, inst);
            }
            block.insts.iter().rev().for_each(|inst| step(&mut set, inst));
            if set != live[id] {
                live[id] = set;
                changed = true;
            }
        }
    }
    live
}
