//! Register renaming within basic blocks: each value of a register that is written several times gets a register of its
//! own.
//!
//! Compilers write most registers once; handwritten PTX reuses them. Within a block the values are easy to tell apart,
//! and registers with one definition can be rematerialised and analysed. The last value in a block keeps its register,
//! so other blocks do not change.

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

/// Renames every value but the last of a register in a block.
pub(crate) fn rename_registers(function: &mut Function) {
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
        // At the terminator every register has its own name again.
        debug_assert!(names.is_empty());
    }
}
