//! Values that are only moved: registers that no instruction uses but to move their bits on, in the end to generic or local memory.
//!
//! Code for debuggers copies structures with their padding and with members that have no value yet, and initialises a
//! bit field by a load, masks and a store. A load of local memory whose value is only moved is no use of it, so the
//! checker of uninitialised reads does not report it.

use super::{Function, Inst, Reg, Terminator, Value};
use crate::ptx::{Opcode, Space};
use std::collections::HashSet;

/// Returns true for an instruction whose result has bits of its operands, and constant ones.
fn moves(inst: &Inst) -> bool {
    use Opcode::{And, Bfi, Mov, Not, Or, Prmt, Shl, Shr, Xor};
    matches!(inst.opcode, And | Bfi | Mov | Not | Or | Prmt | Shl | Shr | Xor) && !inst.has_address()
}

/// Returns true for a store to memory that may be local.
fn stores(inst: &Inst) -> bool {
    inst.opcode == Opcode::St && matches!(inst.space(), None | Some(Space::Local))
}

/// Returns the registers whose values are only moved.
pub(crate) fn moved(function: &Function) -> HashSet<Reg> {
    let mut used = vec![false; function.registers.len()];
    // A load whose value nobody reads is reported like one that is used.
    let mut read = used.clone();
    let mut moved_to = Vec::new();
    for block in &function.blocks {
        block.term.used().into_iter().for_each(|reg| used[reg as usize] = true);
        let synchronising = match &block.term {
            Terminator::Sync(inst, _) => Some(&**inst),
            _ => None,
        };
        for inst in block.insts.iter().chain(synchronising) {
            let (mut defs, mut uses) = (Vec::new(), Vec::new());
            inst.visit(&mut |reg| defs.push(reg), &mut |reg| uses.push(reg));
            uses.iter().for_each(|reg| read[*reg as usize] = true);
            if moves(inst) {
                moved_to.extend(uses.iter().flat_map(|from| defs.iter().map(|to| (*from, *to))));
            } else if stores(inst) {
                if let Some(Value::RegAddress(reg, _)) = inst.operands.first() {
                    used[*reg as usize] = true;
                }
            } else {
                uses.into_iter().for_each(|reg| used[reg as usize] = true);
            }
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (from, to) in &moved_to {
            if used[*to as usize] && !used[*from as usize] {
                used[*from as usize] = true;
                changed = true;
            }
        }
    }
    (0..used.len()).filter(|reg| read[*reg] && !used[*reg]).map(|reg| reg as Reg).collect()
}

/// Returns true for a load of memory that may be local, whose values are only moved.
pub(crate) fn is_moving_load(inst: &Inst, moved: &HashSet<Reg>) -> bool {
    let mut only_moved = inst.opcode == Opcode::Ld && matches!(inst.space(), None | Some(Space::Local));
    inst.visit(&mut |reg| only_moved &= moved.contains(&reg), &mut |_| {});
    only_moved
}
