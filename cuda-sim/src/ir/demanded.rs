//! Demanded bits: those of each register that an instruction uses for more than to move them on, and those that are only
//! stored, in the manner of LLVM's [demanded-bits analysis](https://llvm.org/doxygen/DemandedBits_8h.html), but without regard
//! to control flow.
//!
//! The checker of uninitialised reads does not report bytes of a load that nothing uses: padding that a vector load reads with the
//! members of a structure, bytes that a mask removes, or parts of a value that is only copied.

use super::{Function, Inst, Reg, Terminator, Value};
use crate::ptx::{Opcode, Space, Type};
use std::collections::HashSet;

/// Bits of a register that are used, and bits that are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bits {
    used: u128,
    stored: u128,
}

impl Bits {
    const USED: Bits = Bits { used: u128::MAX, stored: 0 };

    fn map(self, change: impl Fn(u128) -> u128) -> Bits {
        Bits { used: change(self.used), stored: change(self.stored) }
    }

    fn and(self, mask: u128) -> Bits {
        self.map(|bits| bits & mask)
    }

    fn any(self) -> bool {
        self.used | self.stored != 0
    }
}

/// The demanded bits of each register of a function, and the registers that loads of a structure's parts write.
pub(crate) struct Demanded {
    bits: Vec<Bits>,
    parts: HashSet<Reg>,
}

/// The bytes that a structure with padding is aligned to at most.
pub(crate) const STRUCTURE: i64 = 16;

fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

impl Demanded {
    pub(crate) fn of(function: &Function) -> Demanded {
        let parts = function.blocks.iter().flat_map(|block| parts(&block.insts)).collect();
        let mut this = Demanded { bits: vec![Bits::default(); function.registers.len()], parts };
        let mut changed = true;
        while changed {
            changed = false;
            for block in function.blocks.iter().rev() {
                if let Terminator::Sync(inst, _) = &block.term {
                    changed |= this.uses(inst);
                }
                if let Some(reg) = block.term.used() {
                    changed |= this.add(reg, Bits::USED);
                }
                for inst in block.insts.iter().rev() {
                    changed |= this.transfer(inst);
                }
            }
        }
        this
    }

    /// Returns the quarters of a load, as bits, of which nothing uses a byte; none if nothing reads its values at all. The smallest
    /// quarter is a byte.
    pub(crate) fn unused_quarters(&self, inst: &Inst) -> u32 {
        let Some(dest) = inst.operands.first().filter(|_| inst.opcode == Opcode::Ld) else { return 0 };
        let (ty, dests) = (inst.ty(0), elements(dest));
        let bytes = ty.bytes() * dests.len() as u64;
        let of = |element: &Value| match element {
            Value::Reg(reg) => extended(self.bits[*reg as usize], ty.bits(), ty.is_signed()),
            _ => Bits::default(),
        };
        let all: Vec<Bits> = dests.iter().map(of).collect();
        if !all.iter().any(|bits| bits.any()) {
            return 0;
        }
        let unit = (bytes / 4).max(1);
        let is_used = |byte: u64| all[(byte / ty.bytes()) as usize].used >> (8 * (byte % ty.bytes())) & 0xff != 0;
        let quarters = 0..bytes.div_ceil(unit);
        quarters.filter(|at| !(at * unit..(at + 1) * unit).any(is_used)).fold(0, |set, at| set | 1 << at)
    }

    /// Returns true for a load of one value that is only stored, while another load reads bytes beside it: both may copy a structure,
    /// of which the value may be padding.
    pub(crate) fn is_part(&self, inst: &Inst) -> bool {
        let value = inst.operands.first().filter(|_| inst.opcode == Opcode::Ld);
        let Some(Value::Reg(reg)) = value else { return false };
        let Bits { used, stored } = self.bits[*reg as usize];
        used == 0 && stored != 0 && self.parts.contains(reg)
    }

    fn add(&mut self, reg: Reg, bits: Bits) -> bool {
        let own = &mut self.bits[reg as usize];
        let before = *own;
        (own.used, own.stored) = (own.used | bits.used, own.stored | bits.stored);
        *own != before
    }

    fn add_value(&mut self, value: &Value, bits: Bits) -> bool {
        if let Value::Reg(reg) = value { self.add(*reg, bits) } else { false }
    }

    /// All registers that an instruction reads are used.
    fn uses(&mut self, inst: &Inst) -> bool {
        let mut used = Vec::new();
        inst.visit(&mut |_| {}, &mut |reg| used.push(reg));
        used.into_iter().fold(false, |changed, reg| self.add(reg, Bits::USED) | changed)
    }

    fn of_value(&self, value: &Value) -> Bits {
        if let Value::Reg(reg) = value { self.bits[*reg as usize] } else { Bits::USED }
    }

    /// Adds what an instruction demands of the registers that it reads. Returns true if that is new.
    fn transfer(&mut self, inst: &Inst) -> bool {
        let ty = inst.ty(0);
        let own = |this: &Self, dest: &Value| this.of_value(dest).and(mask(ty.bits()));
        match (inst.opcode, inst.operands.as_slice()) {
            (Opcode::And, [dest, value, Value::Int(known)] | [dest, Value::Int(known), value]) => {
                self.add_value(value, own(self, dest).and(*known as u128))
            }
            (Opcode::Or, [dest, value, Value::Int(known)] | [dest, Value::Int(known), value]) => {
                self.add_value(value, own(self, dest).and(!*known as u128))
            }
            (Opcode::And | Opcode::Or | Opcode::Xor, [dest @ Value::Reg(_), a, b]) if ty != Type::Pred => {
                let bits = own(self, dest);
                self.add_value(a, bits) | self.add_value(b, bits)
            }
            (Opcode::Shl, [dest, value, Value::Int(by)]) => {
                let by = shift(*by);
                self.add_value(value, own(self, dest).map(|bits| bits.checked_shr(by).unwrap_or(0)))
            }
            (Opcode::Shr, [dest, value, Value::Int(by)]) if !ty.is_signed() => {
                let by = shift(*by);
                self.add_value(
                    value,
                    own(self, dest).map(|bits| bits.checked_shl(by).unwrap_or(0)).and(mask(ty.bits())),
                )
            }
            (Opcode::Not, [dest, value]) if ty != Type::Pred => self.add_value(value, own(self, dest)),
            (Opcode::Mov, [dest, source]) if ty != Type::Pred => self.moves(dest, source, ty),
            (Opcode::Cvt, [dest, source]) => self.converts(inst, dest, source),
            (Opcode::St, [address, source]) if inst.space() != Some(Space::Param) => {
                let mut changed = false;
                if let Value::RegAddress(reg, _) = address {
                    changed |= self.add(*reg, Bits::USED);
                }
                let bits = Bits { used: 0, stored: mask(ty.bits()) };
                elements(source).iter().fold(changed, |changed, value| self.add_value(value, bits) | changed)
            }
            _ => self.uses(inst),
        }
    }

    /// A move: of a register, of the parts of one to several, or of several to the parts of one.
    fn moves(&mut self, dest: &Value, source: &Value, ty: Type) -> bool {
        match (dest, source) {
            (Value::Vector(parts), source) => {
                let width = ty.bits() / parts.len().max(1) as u32;
                let part = |(at, part): (usize, &Value)| {
                    let bits = if let Value::Reg(_) = part { self.of_value(part) } else { Bits::default() };
                    bits.and(mask(width)).map(|bits| bits << (at as u32 * width))
                };
                let all: Vec<Bits> = parts.iter().enumerate().map(part).collect();
                all.into_iter().fold(false, |changed, bits| self.add_value(source, bits) | changed)
            }
            (dest, Value::Vector(parts)) => {
                let (width, whole) = (ty.bits() / parts.len().max(1) as u32, self.of_value(dest));
                parts.iter().enumerate().fold(false, |changed, (at, part)| {
                    let bits = whole.map(|bits| bits >> (at as u32 * width)).and(mask(width));
                    self.add_value(part, bits) | changed
                })
            }
            (dest, source) => {
                let bits = self.of_value(dest).and(mask(ty.bits()));
                self.add_value(source, bits)
            }
        }
    }

    /// A conversion between integers without saturation moves the low bits, and others use all.
    fn converts(&mut self, inst: &Inst, dest: &Value, source: &Value) -> bool {
        let (to, from) = (inst.ty(0), inst.ty(1));
        let is_plain = inst.types().count() == 2 && inst.modifiers().next().is_none();
        if !is_plain || !is_integer(to) || !is_integer(from) {
            return self.uses(inst);
        }
        let demanded = extended(self.of_value(dest), to.bits(), to.is_signed());
        self.add_value(source, extended(demanded, from.bits(), from.is_signed()))
    }
}

/// Returns the registers that loads of single values write which are beside those of other loads.
fn parts(insts: &[Inst]) -> Vec<Reg> {
    let loads: Vec<(Option<Reg>, &Value)> = insts
        .iter()
        .filter(|inst| inst.opcode == Opcode::Ld)
        .filter_map(|inst| match inst.operands.as_slice() {
            [Value::Reg(reg), address] => Some((Some(*reg), address)),
            [_, address] => Some((None, address)),
            _ => None,
        })
        .collect();
    let is_beside = |a: &Value, b: &Value| match (a, b) {
        (Value::RegAddress(x, a), Value::RegAddress(y, b)) => x == y && (a - b).abs() < STRUCTURE,
        (Value::SymbolAddress(x, a), Value::SymbolAddress(y, b)) => x == y && (a - b).abs() < STRUCTURE,
        _ => false,
    };
    let has_neighbour = |at: usize| {
        let near = at.saturating_sub(NEIGHBOURS)..(at + NEIGHBOURS).min(loads.len());
        near.into_iter().any(|other| other != at && is_beside(loads[at].1, loads[other].1))
    };
    (0..loads.len()).filter(|at| has_neighbour(*at)).filter_map(|at| loads[at].0).collect()
}

/// The number of loads before and after one among which another one of its structure is looked for.
const NEIGHBOURS: usize = 16;

/// Returns the distance of a shift by a constant; a negative one is a large one.
fn shift(by: i128) -> u32 {
    u32::try_from(by).unwrap_or(u32::MAX)
}

fn is_integer(ty: Type) -> bool {
    use Type::{S8, S16, S32, S64, U8, U16, U32, U64};
    matches!(ty, S8 | S16 | S32 | S64 | U8 | U16 | U32 | U64)
}

/// Returns the demanded bits of a value of this width that is extended.
fn extended(bits: Bits, width: u32, is_signed: bool) -> Bits {
    bits.map(|bits| {
        let sign = if is_signed && bits & !mask(width) != 0 { 1 << (width - 1) } else { 0 };
        bits & mask(width) | sign
    })
}

fn elements(value: &Value) -> &[Value] {
    if let Value::Vector(items) = value { items } else { std::slice::from_ref(value) }
}
