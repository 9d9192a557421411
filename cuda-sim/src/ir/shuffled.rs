//! Shuffles whose results are certainly used: stored as they are or computed with, or part of an address, before the next branch.
//!
//! The result of a shuffle from a lane that is not there is undefined. Programs may read behind the last lane and select or
//! branch before they use what they got, so only a use that no condition precedes is a mistake.

use super::{BlockId, Function, Inst, Reg, Terminator, Value};
use crate::ptx::{Opcode, Space};
use std::collections::HashSet;

/// The limit on the blocks that are looked at.
const BLOCKS: usize = 8;

/// Returns true if code from a block on stores a result of a shuffle, or accesses memory by it, whatever its value is.
pub(super) fn is_certainly_used(function: &Function, shuffle: &Inst, next: BlockId) -> bool {
    let mut undefined = HashSet::new();
    // The second result, a predicate, is defined.
    match shuffle.operands.first() {
        Some(Value::Vector(pair)) => undefined.extend(pair.first().and_then(register)),
        dest => undefined.extend(dest.and_then(register)),
    }
    let mut block = next;
    for _ in 0..BLOCKS {
        for inst in &function.blocks[block].insts {
            if uses(inst, &undefined) {
                return true;
            }
            follow(inst, &mut undefined);
        }
        match function.blocks[block].term {
            Terminator::Jump(to) => block = to,
            _ => return false,
        }
    }
    false
}

fn register(value: &Value) -> Option<Reg> {
    if let Value::Reg(reg) = value { Some(*reg) } else { None }
}

/// Returns true for an access whose address, or whose value for memory that others read, is undefined.
fn uses(inst: &Inst, undefined: &HashSet<Reg>) -> bool {
    let by_address =
        inst.operands.iter().any(|value| matches!(value, Value::RegAddress(reg, _) if undefined.contains(reg)));
    let stores = inst.opcode == Opcode::St && matches!(inst.space(), None | Some(Space::Global));
    let value = inst.operands.get(1).filter(|_| stores);
    let elements = value
        .map_or(&[][..], |value| if let Value::Vector(items) = value { items } else { std::slice::from_ref(value) });
    by_address || elements.iter().filter_map(register).any(|reg| undefined.contains(&reg))
}

/// Follows undefined values through an instruction.
fn follow(inst: &Inst, undefined: &mut HashSet<Reg>) {
    use Opcode::{Add, Cvt, Fma, Mov, Neg, Sub};
    let mut is_undefined = false;
    inst.visit(&mut |_| {}, &mut |reg| is_undefined |= undefined.contains(&reg));
    is_undefined &= matches!(inst.opcode, Add | Cvt | Fma | Mov | Neg | Sub) && !inst.has_address();
    inst.visit(
        &mut |reg| {
            if is_undefined {
                undefined.insert(reg);
            } else {
                undefined.remove(&reg);
            }
        },
        &mut |_| {},
    );
}
