//! Values that are only moved: registers that no instruction uses but to move their bits on, in the end to generic or local memory.
//!
//! Code for debuggers copies structures with their padding and with members that have no value yet, and initialises a
//! bit field by a load, masks and a store. A load of local memory whose value is only moved is no use of it, so the
//! checker of uninitialised reads does not report it, unless all of it is one value that leaves local memory. Such a
//! *scalar copy* is recognised by what the copy of a structure is not: its store is the only one of its basic block
//! to an address with this base. A loop that copies words has a load whose address is no constant offset in local memory,
//! and a structure without members has one byte.

use super::{BasicBlock, Function, Inst, Reg, Symbol, Terminator, Value};
use crate::ptx::{Modifier, Opcode, Space};
use std::collections::HashSet;

/// The moves of a function.
pub(crate) struct Moves {
    /// The registers whose values are only moved.
    moved: HashSet<Reg>,
    /// Those that a scalar copy loads and stores.
    copied: HashSet<Reg>,
    /// The number of instructions and terminators that read each register.
    reads: Vec<u32>,
}

impl Moves {
    pub(crate) fn of(function: &Function) -> Moves {
        let moved = moved(function);
        let writes = Writes::of(function);
        let copied = function.blocks.iter().flat_map(|block| writes.scalar_copies(block, &moved)).collect();
        Moves { moved, copied, reads: writes.reads }
    }

    /// Returns true for an exchange whose old value nobody reads: it is no read of the memory.
    pub(crate) fn is_unread_exchange(&self, inst: &Inst) -> bool {
        let mut is_unread = inst.opcode == Opcode::Atom && inst.has(Modifier::Exch);
        inst.visit(&mut |old| is_unread &= self.reads[old as usize] == 0, &mut |_| {});
        is_unread
    }

    /// Returns true for a load of memory that may be local, whose values are only moved.
    pub(crate) fn is_moving_load(&self, inst: &Inst) -> bool {
        let mut only_moved = loads(inst);
        inst.visit(&mut |reg| only_moved &= self.moved.contains(&reg), &mut |_| {});
        only_moved
    }

    /// Returns true for the load and for the store of a scalar copy.
    pub(crate) fn is_scalar_copy(&self, inst: &Inst) -> bool {
        match (inst.opcode, inst.operands.as_slice()) {
            (Opcode::Ld, [Value::Reg(reg), ..]) | (Opcode::St, [_, Value::Reg(reg)]) => self.copied.contains(reg),
            _ => false,
        }
    }
}

/// Returns true for a load of memory that may be local.
fn loads(inst: &Inst) -> bool {
    inst.opcode == Opcode::Ld && matches!(inst.space(), None | Some(Space::Local))
}

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
fn moved(function: &Function) -> HashSet<Reg> {
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

/// The memory or the register that an address is a constant offset from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Local,
    Other(Symbol),
    Reg(Reg),
    Absolute,
}

impl From<Symbol> for Base {
    fn from(symbol: Symbol) -> Base {
        if let Symbol::Local(_) = symbol { Base::Local } else { Base::Other(symbol) }
    }
}

/// The instructions that write each register, and the number of those that read it.
struct Writes<'a> {
    /// The only one, or `None` if there are several.
    by: Vec<Option<&'a Inst>>,
    reads: Vec<u32>,
}

impl<'a> Writes<'a> {
    fn of(function: &'a Function) -> Writes<'a> {
        let count = function.registers.len();
        let (mut by, mut writes, mut reads) = (vec![None; count], vec![0_u32; count], vec![0; count]);
        for block in &function.blocks {
            let synchronising = if let Terminator::Sync(inst, _) = &block.term { Some(&**inst) } else { None };
            for inst in block.insts.iter().chain(synchronising) {
                let mut write = |reg: Reg| {
                    by[reg as usize] = Some(inst);
                    writes[reg as usize] += 1;
                };
                inst.visit(&mut write, &mut |reg| reads[reg as usize] += 1);
            }
            block.term.used().into_iter().for_each(|reg| reads[reg as usize] += 1);
        }
        by.iter_mut().zip(writes).filter(|(_, writes)| *writes > 1).for_each(|(by, _)| *by = None);
        Writes { by, reads }
    }

    /// Returns the base of an address in a register.
    fn base(&self, mut reg: Reg) -> Base {
        // The limit ends the search at a register that is a sum of itself.
        for _ in 0..self.by.len() {
            let Some(inst) = self.by[reg as usize] else { break };
            match (inst.opcode, inst.operands.as_slice()) {
                (Opcode::Mov | Opcode::Cvta, [_, Value::Reg(from)])
                | (Opcode::Add, [_, Value::Reg(from), Value::Int(_)]) => reg = *from,
                (Opcode::Mov | Opcode::Cvta, [_, Value::Symbol(symbol, _)]) => return (*symbol).into(),
                _ => break,
            }
        }
        Base::Reg(reg)
    }

    /// Returns the base of the address of a load or a store.
    fn base_of(&self, address: &Value) -> Base {
        match address {
            Value::RegAddress(reg, _) => self.base(*reg),
            Value::SymbolAddress(symbol, _) => (*symbol).into(),
            _ => Base::Absolute,
        }
    }

    /// Returns the registers of the scalar copies of a block, of which none begins before another one ends.
    fn scalar_copies(&self, block: &BasicBlock, moved: &HashSet<Reg>) -> Vec<Reg> {
        let stored: Vec<Base> = block
            .insts
            .iter()
            .filter(|inst| inst.opcode == Opcode::St)
            .map(|st| self.base_of(&st.operands[0]))
            .collect();
        let (mut copied, mut rest) = (Vec::new(), &block.insts[..]);
        while let Some(end) = rest.iter().position(stores) {
            let (before, store) = (&rest[..end], &rest[end]);
            rest = &rest[end + 1..];
            let (base, [_, Value::Reg(reg)]) = (self.base_of(&store.operands[0]), store.operands.as_slice()) else {
                continue;
            };
            let is_only = stored.iter().filter(|other| **other == base).count() == 1;
            if is_only && moved.contains(reg) && self.loads_scalar(before, *reg, store.ty(0).bytes()) {
                copied.push(*reg);
            }
        }
        copied
    }

    /// Returns true if the value of a register that is stored behind these instructions is a scalar of local memory that one of
    /// them loads.
    fn loads_scalar(&self, before: &[Inst], reg: Reg, bytes: u64) -> bool {
        let is_write = |inst: &&Inst| self.by[reg as usize].is_some_and(|by| std::ptr::eq(by, *inst));
        let Some(load) = before.iter().rev().take_while(|inst| inst.call.is_none()).find(is_write) else {
            return false;
        };
        let is_whole = bytes > 1 && load.ty(0).bytes() == bytes && matches!(load.operands[0], Value::Reg(_));
        loads(load) && is_whole && self.reads[reg as usize] == 1 && self.base_of(&load.operands[1]) == Base::Local
    }
}
