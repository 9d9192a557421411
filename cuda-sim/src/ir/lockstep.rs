//! Lockstep loops: loops that all threads run with the same number of iterations and leave by the same exit.
//!
//! With such a loop outside and the thread loop inside, the thread loop can be vectorised, where a loop per thread
//! would be scalar. The analysis holds under assumptions about the values with which threads enter the loop: registers
//! in `uniform` are equal in all threads, and registers with a stride differ by it from one thread of a row to the
//! next. Generated code checks both on entry and runs the threads one by one where they do not hold.
//!
//! The product of an index and a parameter is most often a position times the stride of an array's last axis, which is
//! most often 1. Strides that assume a factor of 1 are `speculative`; code without them serves where the assumption is
//! wrong. Predicates that the loop only reads, mostly bounds checks, are speculated to be uniform in the same way.

use super::liveness::RegSet;
use super::loops::{Loop, loops};
use super::polling::Waits;
use super::{BlockId, Function, Inst, Reg, Special, Symbol, Term, Value};
use crate::ptx::{Modifier, Opcode, Space};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A loop that threads run in lockstep.
#[derive(Clone, Debug)]
pub(crate) struct Lockstep {
    pub(crate) header: BlockId,
    /// The blocks after the loop to which all threads leave together.
    pub(crate) exits: BTreeSet<BlockId>,
    /// The blocks to which single threads may leave. Such a loop has no stores, and is run again if a thread does
    /// leave.
    pub(crate) bails: BTreeSet<BlockId>,
    /// True if side exits can be determined before an iteration runs: no branch depends on memory that may change.
    pub(crate) foreseen: bool,
    /// Registers that are uniform at the start of every iteration.
    pub(crate) uniform: BTreeSet<Reg>,
    /// Predicates that the loop only reads and that are speculated to be uniform.
    pub(crate) settled: BTreeSet<Reg>,
    /// Registers that differ by this much from one thread to the next in `tid.x` at the start of every iteration.
    pub(crate) slopes: BTreeMap<Reg, i64>,
    /// The registers in `strides` whose stride assumes that a uniform factor is 1, and those in `assumed_uniform`.
    pub(crate) guessed: BTreeSet<Reg>,
}

fn is_uniform_value(value: &Value, uniform: &dyn Fn(Reg) -> bool) -> bool {
    match value {
        Value::Reg(r) | Value::Not(r) | Value::RegAddress(r, _) => uniform(*r),
        Value::Pair(p, q) => uniform(*p) && uniform(*q),
        Value::Special(special) => matches!(
            special,
            Special::Ntid(_)
                | Special::Ctaid(_)
                | Special::Nctaid(_)
                | Special::Cluster(_)
                | Special::NWarpId
                | Special::WarpSize
                | Special::GridId
                | Special::DynamicShared
                | Special::TotalShared
                | Special::Zero
        ),
        Value::Symbol(symbol, _) | Value::SymbolAddress(symbol, _) => {
            !matches!(symbol, Symbol::Slot(_) | Symbol::Local(_))
        }
        Value::Vector(items) => items.iter().all(|v| is_uniform_value(v, uniform)),
        Value::Int(_) | Value::F32(_) | Value::F64(_) | Value::Absolute(_) | Value::Sink => true,
    }
}

/// Returns true if equal operands give equal results. Destinations are checked too, which makes no difference.
pub(super) fn is_uniform(inst: &Inst, uniform: &dyn Fn(Reg) -> bool) -> bool {
    let pure = match inst.opcode {
        Opcode::Ld => matches!(inst.space(), Some(Space::Const)) || inst.has(Modifier::Nc) || is_parameter(inst),
        Opcode::Atom | Opcode::Brkpt | Opcode::Cp | Opcode::Mbarrier | Opcode::Device | Opcode::Ldu => false,
        _ => inst.call.is_none() && !super::sync::is_sync(inst),
    };
    let sources = inst.operands.iter().skip(1);
    pure && sources.into_iter().all(|v| is_uniform_value(v, uniform))
}

/// Returns true if an operand is a call's `.param` variable.
fn names_slot(value: &Value) -> bool {
    matches!(value, Value::Symbol(Symbol::Slot(_), _) | Value::SymbolAddress(Symbol::Slot(_), _))
}

fn is_parameter(inst: &Inst) -> bool {
    matches!(inst.operands.get(1), Some(Value::SymbolAddress(Symbol::KernelParam(_), _)))
}

pub(super) fn defs(inst: &Inst) -> Vec<Reg> {
    let mut found = Vec::new();
    inst.visit(&mut |r| found.push(r), &mut |_| {});
    found
}

/// Returns, for each register, true if its value depends on nothing that differs among threads. Branches are ignored.
pub(super) fn alike(function: &Function) -> Vec<bool> {
    let mut alike = vec![true; function.registers.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for block in &function.blocks {
            let last = if let Term::Sync(inst, _) = &block.term { Some(&**inst) } else { None };
            for inst in block.insts.iter().chain(last) {
                if is_uniform(inst, &|r| alike[r as usize]) {
                    continue;
                }
                for reg in defs(inst) {
                    changed |= std::mem::replace(&mut alike[reg as usize], false);
                }
            }
        }
    }
    alike
}

/// The edges of a loop's blocks; `None` stands for the end of an iteration.
pub(super) type Edges = HashMap<BlockId, Vec<Option<BlockId>>>;

/// Returns the post-dominators of each block, itself included, as a bit set over positions in `blocks`.
fn post_dominators(blocks: &[BlockId], edges: &Edges) -> Vec<Vec<u64>> {
    let places: HashMap<BlockId, usize> = blocks.iter().enumerate().map(|(place, block)| (*block, place)).collect();
    let next: Vec<Vec<Option<usize>>> =
        blocks.iter().map(|block| edges[block].iter().map(|next| next.map(|n| places[&n])).collect()).collect();
    let words = blocks.len().div_ceil(64);
    let mut after = vec![vec![u64::MAX; words]; blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for place in (0..blocks.len()).rev() {
            // The end of an iteration has no post-dominators.
            let ends = next[place].is_empty() || next[place].contains(&None);
            let mut set = vec![if ends { 0 } else { u64::MAX }; words];
            for next in next[place].iter().flatten() {
                set.iter_mut().zip(&after[*next]).for_each(|(set, after)| *set &= after);
            }
            set[place / 64] |= 1 << (place % 64);
            if set != after[place] {
                after[place] = set;
                changed = true;
            }
        }
    }
    after
}

/// Returns the blocks that not every thread runs in an iteration, given the blocks that end in a divergent branch.
pub(super) fn divergent(edges: &Edges, splits: &BTreeSet<BlockId>) -> BTreeSet<BlockId> {
    if splits.is_empty() {
        return BTreeSet::new();
    }
    let mut blocks: Vec<BlockId> = edges.keys().copied().collect();
    blocks.sort_unstable();
    let after = post_dominators(&blocks, edges);
    let place = |block: BlockId| blocks.partition_point(|other| *other < block);
    let mut found = BTreeSet::new();
    for split in splits {
        let after = &after[place(*split)];
        let follows = |block: BlockId| after[place(block) / 64] & 1 << (place(block) % 64) != 0;
        let mut open: Vec<BlockId> = edges[split].iter().flatten().copied().collect();
        let mut seen = HashSet::new();
        while let Some(block) = open.pop() {
            if !follows(block) && seen.insert(block) {
                open.extend(edges[&block].iter().flatten());
            }
        }
        found.extend(seen);
    }
    found
}

struct Analysis<'a> {
    function: &'a Function,
    found: &'a Loop,
    alike: Vec<bool>,
    /// Blocks that end in a divergent branch.
    splits: BTreeSet<BlockId>,
    divergent: BTreeSet<BlockId>,
}

impl Analysis<'_> {
    fn inside(&self, block: BlockId) -> bool {
        self.found.blocks.contains(&block) && block != self.found.header
    }

    fn insts(&self) -> impl Iterator<Item = (BlockId, &Inst)> {
        self.found.blocks.iter().flat_map(|b| self.function.blocks[*b].insts.iter().map(|i| (*b, i)))
    }

    fn leaves(&self, block: BlockId) -> bool {
        !self.found.blocks.contains(&block)
    }

    /// Propagates divergence: removes registers that divergent branches or operands make non-uniform, up to a fixed
    /// point.
    fn settle(&mut self) {
        loop {
            self.splits = self
                .found
                .blocks
                .iter()
                .copied()
                .filter(|b| self.function.blocks[*b].term.used().is_some_and(|r| !self.alike[r as usize]))
                .collect();
            let mut edges = Edges::new();
            for block in &self.found.blocks {
                let next = self.function.blocks[*block].term.successors().into_iter();
                // A thread that takes a side exit ends the iteration for all, so the edge is ignored.
                let kept = next.filter(|n| !(self.splits.contains(block) && self.leaves(*n)));
                edges.insert(*block, kept.map(|n| self.inside(n).then_some(n)).collect());
            }
            self.divergent = divergent(&edges, &self.splits);
            let mut changed = false;
            let mut lost = Vec::new();
            for (block, inst) in self.insts() {
                if self.divergent.contains(&block) || !is_uniform(inst, &|r| self.alike[r as usize]) {
                    lost.extend(defs(inst));
                }
            }
            for reg in lost {
                changed |= std::mem::replace(&mut self.alike[reg as usize], false);
            }
            if !changed {
                return;
            }
        }
    }

    /// Returns the exits that all threads take together and the side exits; `None` if the threads do not stay in
    /// lockstep.
    fn exits(&self) -> Option<(BTreeSet<BlockId>, BTreeSet<BlockId>)> {
        let (mut exits, mut bails) = (BTreeSet::new(), BTreeSet::new());
        for block in &self.found.blocks {
            let term = &self.function.blocks[*block].term;
            if matches!(term, Term::Sync(..) | Term::Exit | Term::Return | Term::Trap(_)) {
                return None;
            }
            for next in term.successors().into_iter().filter(|n| self.leaves(*n)) {
                if self.splits.contains(block) {
                    bails.insert(next);
                } else if self.divergent.contains(block) {
                    return None;
                } else {
                    exits.insert(next);
                }
            }
        }
        if self.insts().any(|(_, inst)| inst.operands.iter().any(names_slot)) {
            return None;
        }
        let stores = self.insts().any(|(_, inst)| matches!(inst.opcode, Opcode::St));
        let fits = !exits.is_empty() && exits.is_disjoint(&bails) && (bails.is_empty() || !stores);
        fits.then_some((exits, bails))
    }

    /// Returns true if evaluating an iteration's branches twice gives the same result.
    fn foreseen(&self) -> bool {
        let mut loaded: BTreeSet<Reg> = BTreeSet::new();
        let mut changed = true;
        while changed {
            let before = loaded.len();
            for (_, inst) in self.insts() {
                let (mut defs, mut reads) = (Vec::new(), false);
                inst.visit(&mut |r| defs.push(r), &mut |r| reads |= loaded.contains(&r));
                let changes = inst.opcode == Opcode::Ld && !is_uniform(inst, &|_| true);
                if changes || reads || inst.call.is_some() {
                    loaded.extend(defs);
                }
            }
            changed = loaded.len() != before;
        }
        let branches = self.found.blocks.iter().filter_map(|b| self.function.blocks[*b].term.used());
        branches.into_iter().all(|reg| !loaded.contains(&reg))
    }

    /// Returns the registers that are, throughout an iteration, the value of a register at its start plus a uniform
    /// amount, each with that base register.
    fn based(&self) -> HashMap<Reg, Reg> {
        let mut based: HashMap<Reg, Option<Reg>> = HashMap::new();
        let insts: Vec<_> = self.insts().collect();
        for (_, inst) in &insts {
            based.extend(defs(inst).into_iter().map(|r| (r, Some(r))));
        }
        // A register that is written in the loop is initially its own base; temporaries then take the base of their
        // source.
        let single: HashMap<Reg, usize> = insts.iter().flat_map(|(_, i)| defs(i)).fold(HashMap::new(), |mut n, r| {
            *n.entry(r).or_default() += 1;
            n
        });
        let of = |based: &HashMap<Reg, Option<Reg>>, r: Reg| based.get(&r).copied().unwrap_or(Some(r));
        let mut turns = 0;
        let mut changed = true;
        while changed && turns < 64 {
            (changed, turns) = (false, turns + 1);
            for (block, inst) in &insts {
                let [Value::Reg(dest), rest @ ..] = inst.operands.as_slice() else {
                    for reg in defs(inst) {
                        changed |= based.insert(reg, None) != Some(None);
                    }
                    continue;
                };
                let same = |v: &Value| is_uniform_value(v, &|r| self.alike[r as usize]);
                let plain = inst.modifiers().next().is_none() && inst.form.types.len() == 1;
                let base = match (inst.opcode, rest) {
                    _ if !plain || self.divergent.contains(block) => None,
                    (Opcode::Add, [Value::Reg(a), u]) if same(u) => of(&based, *a),
                    (Opcode::Add, [u, Value::Reg(a)]) if same(u) => of(&based, *a),
                    (Opcode::Sub, [Value::Reg(a), u]) if same(u) => of(&based, *a),
                    (Opcode::Mov, [Value::Reg(a)]) => of(&based, *a),
                    _ => None,
                };
                for other in defs(inst).into_iter().filter(|r| r != dest) {
                    changed |= based.insert(other, None) != Some(None);
                }
                // With several definitions, the only base on which they can agree is the register itself.
                let base = base.filter(|b| single[dest] == 1 || b == dest);
                changed |= based.insert(*dest, base) != Some(base);
            }
        }
        if changed {
            return HashMap::new();
        }
        based.into_iter().filter_map(|(reg, base)| Some((reg, base?))).collect()
    }
}

/// The difference of a value from one thread to the next. It is speculative if it assumes that a factor is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slope {
    by: i64,
    guessed: bool,
}

impl Slope {
    const FLAT: Slope = Slope { by: 0, guessed: false };

    fn known(by: i64) -> Slope {
        Slope { by, guessed: false }
    }

    fn combine(self, other: Slope, by: Option<i64>) -> Option<Slope> {
        Some(Slope { by: by?, guessed: self.guessed || other.guessed })
    }
}

/// Returns the stride of a value, if it is known.
fn slope_of(value: &Value, known: &HashMap<Reg, Slope>, alike: &[bool]) -> Option<Slope> {
    match value {
        Value::Reg(r) | Value::Not(r) if alike[*r as usize] => Some(Slope::FLAT),
        Value::Reg(r) => known.get(r).copied(),
        Value::Not(r) => known.get(r).copied().filter(|s| s.by == 0),
        Value::Special(Special::Tid(0) | Special::LaneId) => Some(Slope::known(1)),
        Value::Special(Special::Tid(_)) => Some(Slope::FLAT),
        other => is_uniform_value(other, &|r| alike[r as usize]).then_some(Slope::FLAT),
    }
}

/// Returns the stride of an instruction's result.
fn slope(inst: &Inst, known: &HashMap<Reg, Slope>, alike: &[bool]) -> Option<Slope> {
    let sources: Vec<Option<Slope>> = inst.operands.iter().skip(1).map(|v| slope_of(v, known, alike)).collect();
    let constant = |i: usize| match inst.operands.get(i + 1) {
        Some(Value::Int(value)) => i64::try_from(*value).ok(),
        _ => None,
    };
    let times = |slope: Slope, factor: Option<i64>| match factor {
        Some(factor) => slope.combine(Slope::FLAT, slope.by.checked_mul(factor)),
        None => Some(Slope { guessed: true, ..slope }),
    };
    let product = || match (sources[0]?, sources[1]?) {
        (a, b) if a.by == 0 && b.by == 0 => a.combine(b, Some(0)),
        (slope, flat) if flat == Slope::FLAT => times(slope, constant(1)),
        (flat, slope) if flat == Slope::FLAT => times(slope, constant(0)),
        _ => None,
    };
    let sum = |a: Slope, b: Slope| a.combine(b, a.by.checked_add(b.by));
    match inst.opcode {
        Opcode::Mov | Opcode::Cvta | Opcode::Cvt if sources.len() == 1 => sources[0],
        Opcode::Add => sum(sources[0]?, sources[1]?),
        Opcode::Sub => sources[0]?.combine(sources[1]?, sources[0]?.by.checked_sub(sources[1]?.by)),
        Opcode::Mul if !inst.has(Modifier::Hi) => product(),
        Opcode::Mad if !inst.has(Modifier::Hi) => sum(product()?, sources[2]?),
        Opcode::Shl => times(sources[0]?, Some(1 << constant(1).filter(|n| (0..32).contains(n))?)),
        Opcode::Ld | Opcode::Ldu | Opcode::Atom | Opcode::Call | Opcode::Device => None,
        _ => sources.iter().all(|s| s.is_some_and(|s| s.by == 0)).then_some(Slope::FLAT),
    }
}

/// Returns the strides of the registers that are not uniform. With several definitions the stride is unproven:
/// generated code checks it.
fn slopes(function: &Function, alike: &[bool]) -> HashMap<Reg, Slope> {
    let mut known = HashMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for inst in function.blocks.iter().flat_map(|b| &b.insts) {
            let [Value::Reg(dest), ..] = inst.operands.as_slice() else { continue };
            if alike[*dest as usize] || known.contains_key(dest) || !defs(inst).contains(dest) {
                continue;
            }
            if let Some(slope) = slope(inst, &known, alike) {
                known.insert(*dest, slope);
                changed = true;
            }
        }
    }
    known
}

fn examine(
    function: &Function,
    found: &Loop,
    live: &RegSet,
    alike: &[bool],
    slopes: &HashMap<Reg, Slope>,
) -> Option<Lockstep> {
    let (splits, divergent) = (BTreeSet::new(), BTreeSet::new());
    let mut analysis = Analysis { function, found, alike: alike.to_vec(), splits, divergent };
    // A register that is not live at the header has no initial value that matters, so it counts as uniform.
    let fresh: Vec<Reg> = analysis.insts().flat_map(|(_, i)| defs(i)).filter(|r| !live.contains(*r)).collect();
    fresh.into_iter().for_each(|reg| analysis.alike[reg as usize] = true);
    analysis.settle();
    let (exits, bails) = analysis.exits()?;
    let based = analysis.based();
    let written: BTreeSet<Reg> = analysis.insts().flat_map(|(_, i)| defs(i)).collect();
    let uniform = (0..function.registers.len() as Reg).filter(|r| analysis.alike[*r as usize]).collect();
    // A register that the loop changes keeps its stride if it changes by the same amount in every thread.
    let keeps = |reg: &Reg| !written.contains(reg) || based.get(reg) == Some(reg);
    // A bounds check that the loop does not change mostly has the same result in all threads that are in the loop
    // together.
    let settled =
        |r: &Reg| function.registers[*r as usize] == 1 && !written.contains(r) && !analysis.alike[*r as usize];
    let settled: BTreeSet<Reg> = live.iter().filter(settled).collect();
    let kept = || slopes.iter().filter(|(r, _)| keeps(r));
    let sloped = kept().map(|(r, slope)| (*r, slope.by)).collect();
    let guessed = kept().filter(|(_, slope)| slope.guessed).map(|(r, _)| *r);
    let guessed = guessed.chain(settled.iter().copied()).collect();
    let foreseen = analysis.foreseen();
    Some(Lockstep { header: found.header, exits, bails, foreseen, uniform, settled, slopes: sloped, guessed })
}

/// Returns the innermost loops that threads run in lockstep. `scalar` is true for blocks that cannot be vectorised.
pub(crate) fn find(
    function: &Function,
    live: &[RegSet],
    polls: &BTreeMap<BlockId, Waits>,
    scalar: &dyn Fn(BlockId) -> bool,
) -> Vec<Lockstep> {
    let loops = loops(function);
    if loops.is_empty() {
        return Vec::new();
    }
    let innermost = loops.iter().filter(|l| {
        let inner = loops.iter().any(|other| other.header != l.header && l.blocks.contains(&other.header));
        let plain = !l.blocks.contains(&0) && !polls.contains_key(&l.header) && !l.blocks.iter().any(|b| scalar(*b));
        !inner && plain
    });
    let alike = alike(function);
    let slopes = slopes(function, &alike);
    innermost.filter_map(|l| examine(function, l, &live[l.header], &alike, &slopes)).collect()
}
