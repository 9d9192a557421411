//! Registers that are written several times in a row get a name for each value.
//!
//! Compilers write most registers once; text written by hand reuses them. Inside a block the values are told apart
//! easily, and what is written once can be computed again or followed by analyses. The last value of a block keeps its
//! name, so nothing changes beyond it.

use super::{Function, Inst, Reg, Value};
use std::collections::HashMap;

pub(super) fn rename(value: &mut Value, name: &mut dyn FnMut(Reg) -> Reg) {
    match value {
        Value::Reg(r) | Value::Not(r) | Value::RegAddress(r, _) => *r = name(*r),
        Value::Pair(p, q) => (*p, *q) = (name(*p), name(*q)),
        Value::Vector(items) => items.iter_mut().for_each(|item| rename(item, name)),
        _ => {}
    }
}

fn operands(inst: &mut Inst, written: bool, name: &mut dyn FnMut(Reg) -> Reg) {
    for (shape, value) in inst.form.operands.iter().zip(&mut inst.operands) {
        if shape.is_written() == written {
            rename(value, name);
        }
    }
}

/// Gives every value but the last of a register in a block a register of its own.
pub(crate) fn separate(function: &mut Function) {
    for block in &mut function.blocks {
        let mut left: HashMap<Reg, u32> = HashMap::new();
        for inst in &block.insts {
            inst.visit(&mut |r| *left.entry(r).or_default() += 1, &mut |_| {});
        }
        left.retain(|_, n| *n > 1);
        if left.is_empty() {
            continue;
        }
        let mut names: HashMap<Reg, Reg> = HashMap::new();
        for inst in &mut block.insts {
            operands(inst, false, &mut |r| names.get(&r).copied().unwrap_or(r));
            let registers = &mut function.registers;
            operands(inst, true, &mut |r| {
                let Some(more) = left.get_mut(&r) else { return r };
                *more -= 1;
                if *more == 0 {
                    names.remove(&r);
                    return r;
                }
                let new = registers.len() as Reg;
                registers.push(registers[r as usize]);
                names.insert(r, new);
                new
            });
        }
        // Every register has its own name again here, which is what the terminator reads.
        debug_assert!(names.is_empty());
    }
}
