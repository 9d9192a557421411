//! Counters of a loop: registers that advance by a uniform amount in each iteration, sums that are replaced by a limit
//! where they wrap, and steps that are the size of the grid.

use super::{Analysis, Ordered, Selects, Stride, defs, is_uniform_value};
use crate::ir::liveness::RegSet;
use crate::ir::{Function, Inst, Reg, Special, Value};
use crate::ptx::{Opcode, Type};
use std::collections::{BTreeSet, HashMap, HashSet};

/// For registers that are, throughout an iteration, a register's value at its start plus a uniform amount, that register.
pub(super) type Bases = HashMap<Reg, Reg>;

/// Returns true for a move, and for a sum, difference or selection of integers: equal amounts change the bits equally, which
/// holds neither for floats nor for packed halves.
fn is_of_whole_integers(inst: &Inst) -> bool {
    let mut types = inst.types();
    let (Some(ty), None) = (types.next(), types.next()) else { return false };
    let is_integer = !ty.is_float() && !ty.lane().1 && ty != Type::Pred;
    inst.modifiers().next().is_none() && (is_integer || matches!(inst.opcode, Opcode::Mov | Opcode::Selp))
}

/// Returns the registers that are computed from the number of blocks of the grid.
fn grid_sizes(function: &Function) -> HashSet<Reg> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            let mut reads = inst.operands.iter().any(|value| matches!(value, Value::Special(Special::Nctaid(_))));
            inst.visit(&mut |_| {}, &mut |r| reads |= found.contains(&r));
            if reads && inst.space().is_none() {
                found.extend(defs(inst));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

impl Analysis<'_> {
    /// Returns true if a predicate compares values that are uniform, or differ by a stride from thread to thread: nearly
    /// all threads leave in the same iteration.
    pub(super) fn is_of_counter(&self, predicate: Reg, strides: &HashMap<Reg, Stride>, bases: &Bases) -> bool {
        let counts = |value: &Value| match value {
            Value::Reg(reg) if !self.uniform_regs[*reg as usize] => {
                let mut written = self.insts().filter(|(_, inst)| defs(inst).contains(reg)).peekable();
                let strided = |reg: &Reg| strides.contains_key(reg) || self.uniform_regs[*reg as usize];
                // A sum that is replaced by a limit where it overflows.
                let selects = |inst: &Inst| {
                    inst.opcode == Opcode::Selp
                        && inst.operands[1..3].iter().all(|v| matches!(v, Value::Reg(r) if strided(r)))
                };
                (strided(reg) && (written.peek().is_none() || bases.contains_key(reg)))
                    || (written.peek().is_some() && written.all(|(_, inst)| selects(inst)))
            }
            value => is_uniform_value(value, &|r| self.uniform_regs[r as usize]),
        };
        let mut compares = self.insts().filter(|(_, inst)| defs(inst).contains(&predicate)).peekable();
        compares.peek().is_some()
            && compares.all(|(_, inst)| inst.opcode == Opcode::Setp && inst.operands[1..].iter().all(counts))
    }

    /// Returns the registers that are, throughout an iteration, the value of a register at its start plus a uniform
    /// amount, each with that base register; `live` are those that are live at the header.
    pub(super) fn bases(&self, live: &RegSet) -> Bases {
        let mut bases: HashMap<Reg, Option<Reg>> = HashMap::new();
        let insts: Vec<_> = self.insts().collect();
        for (_, inst) in &insts {
            bases.extend(defs(inst).into_iter().map(|r| (r, Some(r))));
        }
        // A register that is written in the loop is initially its own base; temporaries then take the base of their
        // source.
        let single: HashMap<Reg, usize> = insts.iter().flat_map(|(_, i)| defs(i)).fold(HashMap::new(), |mut n, r| {
            *n.entry(r).or_default() += 1;
            n
        });
        let of = |bases: &HashMap<Reg, Option<Reg>>, r: Reg| bases.get(&r).copied().unwrap_or(Some(r));
        let mut rounds = 0;
        let mut changed = true;
        while changed && rounds < 64 {
            (changed, rounds) = (false, rounds + 1);
            for (block, inst) in &insts {
                let [Value::Reg(dest), rest @ ..] = inst.operands.as_slice() else {
                    for reg in defs(inst) {
                        changed |= bases.insert(reg, None) != Some(None);
                    }
                    continue;
                };
                let same = |v: &Value| self.is_uniform_operand(v);
                let base = match (inst.opcode, rest) {
                    _ if !is_of_whole_integers(inst) || self.divergent_blocks.contains(block) => None,
                    (Opcode::Add, [Value::Reg(a), u]) if same(u) => of(&bases, *a),
                    (Opcode::Add, [u, Value::Reg(a)]) if same(u) => of(&bases, *a),
                    (Opcode::Sub, [Value::Reg(a), u]) if same(u) => of(&bases, *a),
                    (Opcode::Mov, [Value::Reg(a)]) => of(&bases, *a),
                    (Opcode::Selp, _) => {
                        self.selected_sum(inst, &|r| of(&bases, r)).and_then(|(_, sum)| of(&bases, sum))
                    }
                    _ => None,
                };
                for other in defs(inst).into_iter().filter(|r| r != dest) {
                    changed |= bases.insert(other, None) != Some(None);
                }
                // With several definitions, the only base on which they can agree is the register itself; so it is of a
                // register that is read before it is written, which has the value of the iteration before.
                let base = base.filter(|b| b == dest || single[dest] == 1 && !live.contains(*dest));
                changed |= bases.insert(*dest, base) != Some(base);
            }
        }
        if changed {
            return HashMap::new();
        }
        bases.into_iter().filter_map(|(reg, base)| Some((reg, base?))).collect()
    }

    /// Returns the operand, by index and register, that an instruction selects where it does not wrap: the other one is
    /// uniform, and the predicate compares the sum with its base. `None` for other instructions, and if the sum cannot
    /// be assumed since no check precedes the iteration.
    fn selected_sum(&self, select: &Inst, base: &dyn Fn(Reg) -> Option<Reg>) -> Option<(usize, Reg)> {
        let [_, a, b, Value::Reg(predicate)] = select.operands.as_slice() else { return None };
        let (index, sum) = match (a, b) {
            (Value::Reg(sum), limit) if !self.is_uniform_operand(a) && self.is_uniform_operand(limit) => (1, *sum),
            (limit, Value::Reg(sum)) if !self.is_uniform_operand(b) && self.is_uniform_operand(limit) => (2, *sum),
            _ => return None,
        };
        let of_sum = |value: &Value| matches!(value, Value::Reg(r) if base(*r).is_some() && base(*r) == base(sum));
        let mut compares = self.insts().filter(|(_, inst)| defs(inst).contains(predicate));
        let (block, compare) = compares.next()?;
        let wraps = compare.opcode == Opcode::Setp
            && compare.operands.len() == 3
            && compare.operands[1..].iter().all(of_sum)
            && !self.divergent_blocks.contains(&block)
            && compares.next().is_none();
        (wraps && select.opcode == Opcode::Selp && self.exits_can_be_precomputed()).then_some((index, sum))
    }

    /// Returns the instructions that are assumed to select a sum.
    pub(super) fn selects(&self, bases: &Bases) -> Selects {
        let mut found = Selects::new();
        for block in self.found.blocks.difference(&self.divergent_blocks) {
            for (at, inst) in self.function.blocks[*block].insts.iter().enumerate() {
                let kept = inst.opcode == Opcode::Selp && defs(inst).iter().all(|reg| bases.contains_key(reg));
                let selected = self.selected_sum(inst, &|r| bases.get(&r).copied()).filter(|_| kept);
                found.extend(selected.map(|(index, _)| ((*block, at), index)));
            }
        }
        found
    }

    /// Returns the counter on which alone the branches and the assumed selections depend, if they compare it, or its sums
    /// with uniform amounts, by their unsigned order.
    pub(super) fn ordered(&self, bases: &Bases) -> Option<Ordered> {
        let is_uniform = |reg: Reg| self.uniform_regs[reg as usize];
        let branches = self.found.blocks.iter().filter_map(|block| self.function.blocks[*block].term.used());
        let selects = self.selects(bases).into_keys();
        let selects = selects.flat_map(|(block, at)| match self.function.blocks[block].insts[at].operands.last() {
            Some(Value::Reg(predicate)) => Some(*predicate),
            _ => None,
        });
        let predicates: BTreeSet<Reg> = branches.chain(selects).filter(|reg| !is_uniform(*reg)).collect();
        let mut counter = None;
        for predicate in &predicates {
            let mut compares = self.insts().filter(|(_, inst)| defs(inst).contains(predicate)).peekable();
            compares.peek()?;
            for (_, compare) in compares {
                let compares_order = compare.opcode == Opcode::Setp
                    && compare.operands.len() == 3
                    && compare.ty(0) == Type::U64
                    && compare.modifiers().next().is_some()
                    && compare
                        .modifiers()
                        .all(|m| matches!(m.name(), "lt" | "le" | "gt" | "ge" | "lo" | "ls" | "hi" | "hs"));
                if !compares_order {
                    return None;
                }
                for value in compare.operands[1..].iter().filter(|value| !self.is_uniform_operand(value)) {
                    let Value::Reg(reg) = value else { return None };
                    let base = *bases.get(reg)?;
                    if *counter.get_or_insert(base) != base {
                        return None;
                    }
                }
            }
        }
        let counter = counter.filter(|counter| bases.get(counter) == Some(counter))?;
        let sums = bases.iter().filter(|(_, base)| **base == counter).map(|(reg, _)| *reg).collect();
        Some(Ordered { counter, sums, predicates })
    }

    /// Returns true if a counter advances by an amount that depends on the size of the grid.
    pub(super) fn strides_over_grid(&self, bases: &Bases) -> bool {
        let of_grid = grid_sizes(self.function);
        let advances = |inst: &Inst| {
            let by =
                |value: &Value| matches!(value, Value::Reg(r) if self.uniform_regs[*r as usize] && of_grid.contains(r));
            inst.opcode == Opcode::Add
                && inst.operands[1..].iter().any(by)
                && defs(inst).iter().any(|reg| bases.get(reg).is_some_and(|base| bases.get(base) == Some(base)))
        };
        self.insts().any(|(_, inst)| advances(inst))
    }
}
