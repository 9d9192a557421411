//! Rematerialisation: registers that are cheaper to compute again than to spill from region to region.
//!
//! A register with one definition, made of cheap operations on parameters, constants and thread coordinates only, has
//! the same value wherever it is read. Computing it in each region also shows LLVM how addresses depend on the thread.

use super::{BlockId, Function, Inst, Reg, Special, Symbol, Terminator, Value};
use crate::ptx::Opcode;
use std::collections::{BTreeSet, HashMap};

/// The longest chain of operations that is rematerialised.
const LIMIT: u32 = 24;

/// The definitions of the registers that can be rematerialised.
pub(crate) struct Rematerialisable {
    places: HashMap<Reg, (BlockId, usize)>,
}

fn is_fixed(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::F32(_) | Value::F64(_) => true,
        Value::Special(special) => {
            use Special::{Clock32, Clock64, ClockHigh, GlobalTimer, GlobalTimerHigh, GlobalTimerLow};
            !matches!(special, Clock32 | Clock64 | ClockHigh | GlobalTimer | GlobalTimerHigh | GlobalTimerLow)
        }
        Value::Symbol(symbol, _) => !matches!(symbol, Symbol::Slot(_)),
        _ => false,
    }
}

/// Returns true if the instruction is cheap and its result depends on its operands alone.
fn is_cheap(inst: &Inst) -> bool {
    use Opcode::{Add, And, Cvt, Cvta, Ld, Mad, Mov, Mul, Not, Or, Selp, Setp, Shl, Shr, Sub, Xor};
    if inst.opcode == Ld {
        let parameter = matches!(inst.operands.get(1), Some(Value::SymbolAddress(Symbol::KernelParam(_), _)));
        return parameter && matches!(inst.operands.first(), Some(Value::Reg(_)));
    }
    // An instruction with a carry flag depends on earlier ones, and repeating it would change what later ones read.
    if inst.form.operands.iter().any(|shape| shape.is_implicit()) {
        return false;
    }
    let integer = inst.form.types.iter().all(|types| !types.contains(&crate::ptx::Type::F32));
    match inst.opcode {
        Add | And | Mad | Mul | Not | Or | Setp | Shl | Shr | Sub | Xor => integer,
        Cvt => !inst.ty(0).is_float() && !inst.ty(1).is_float(),
        Cvta | Selp => true,
        Mov => matches!(inst.operands.first(), Some(Value::Reg(_))),
        _ => false,
    }
}

impl Rematerialisable {
    pub(crate) fn new(function: &Function) -> Rematerialisable {
        let mut count = vec![0u32; function.registers.len()];
        let mut places = HashMap::new();
        for (id, block) in function.blocks.iter().enumerate() {
            for (at, inst) in block.insts.iter().enumerate() {
                let mut define = |reg: Reg| {
                    count[reg as usize] += 1;
                    if is_cheap(inst) {
                        places.insert(reg, (id, at));
                    }
                };
                inst.visit(&mut define, &mut |_| {});
            }
            if let Terminator::Sync(inst, _) = &block.term {
                inst.visit(&mut |reg| count[reg as usize] += 2, &mut |_| {});
            }
        }
        places.retain(|reg, _| count[*reg as usize] == 1);
        let mut this = Rematerialisable { places };
        this.prune(function);
        this
    }

    /// Removes registers that depend on others than these, or on too many.
    fn prune(&mut self, function: &Function) {
        let mut costs: HashMap<Reg, u32> = HashMap::new();
        loop {
            let before = costs.len();
            for (reg, (block, at)) in &self.places {
                if costs.contains_key(reg) {
                    continue;
                }
                let inst = &function.blocks[*block].insts[*at];
                let mut uses = Vec::new();
                inst.visit(&mut |_| {}, &mut |r| uses.push(r));
                let others = inst.operands.iter().skip(1).all(|value| match value {
                    Value::Reg(_) | Value::Not(_) => true,
                    Value::SymbolAddress(symbol, _) => matches!(symbol, Symbol::KernelParam(_)),
                    Value::Vector(items) => items.iter().all(|v| matches!(v, Value::Reg(_)) || is_fixed(v)),
                    other => is_fixed(other),
                });
                let cost = uses.iter().map(|r| costs.get(r).copied()).sum::<Option<u32>>();
                if let (true, Some(cost)) = (others, cost)
                    && cost < LIMIT
                {
                    costs.insert(*reg, cost + 1);
                }
            }
            if costs.len() == before {
                break;
            }
        }
        self.places.retain(|reg, _| costs.contains_key(reg));
    }

    pub(crate) fn contains(&self, reg: Reg) -> bool {
        self.places.contains_key(&reg)
    }

    /// Returns the instructions that compute these registers, in dependency order.
    pub(crate) fn chain(&self, function: &Function, wanted: &[Reg]) -> Vec<(BlockId, usize)> {
        let (mut order, mut done) = (Vec::new(), BTreeSet::new());
        // Each entry is visited twice: first for its operands, then for itself.
        let mut stack: Vec<(Reg, bool)> = wanted.iter().rev().map(|r| (*r, false)).collect();
        while let Some((reg, ready)) = stack.pop() {
            let Some(&place) = self.places.get(&reg) else { continue };
            if ready {
                if done.insert(reg) {
                    order.push(place);
                }
            } else if !done.contains(&reg) {
                stack.push((reg, true));
                let inst = &function.blocks[place.0].insts[place.1];
                inst.visit(&mut |_| {}, &mut |r| stack.push((r, false)));
            }
        }
        order
    }
}
