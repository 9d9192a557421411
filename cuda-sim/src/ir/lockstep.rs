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

mod counters;

use super::liveness::RegSet;
use super::loops::{Loop, loops};
use super::polling::PollLoop;
use super::{BlockId, Function, Inst, Reg, Special, Symbol, Terminator, Value};
use crate::ptx::{Modifier, Opcode, Space};
use counters::Bases;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A loop that threads run in lockstep.
#[derive(Clone, Debug)]
pub(crate) struct Lockstep {
    pub(crate) header: BlockId,
    /// The blocks after the loop to which all threads leave together.
    pub(crate) exits: BTreeSet<BlockId>,
    /// The blocks to which single threads may leave: they report failures, or are reached when a counter that differs
    /// by its stride from thread to thread ends.
    pub(crate) side_exits: BTreeSet<BlockId>,
    /// The side exits of counters: mostly all threads leave by one of them in the same iteration.
    pub(crate) counted_exits: BTreeSet<BlockId>,
    /// True if side exits can be determined before an iteration runs: no branch depends on memory that may change.
    /// Otherwise a loop with side exits has no stores, and is run again if a thread does leave.
    pub(crate) exits_can_be_precomputed: bool,
    /// Instructions, by block and index, that select a counter's sum or a limit where the sum wraps. An iteration in
    /// which no thread leaves the loop is assumed to select the sum: the operand with this index.
    pub(crate) selects: Selects,
    /// A counter on which alone the branches depend, so that one check of its range serves all threads.
    pub(crate) ordered: Option<Ordered>,
    /// True if all threads of a block run an iteration before the next one, since the grid's size is the distance of
    /// the memory that two iterations of a thread access.
    pub(crate) wide: bool,
    /// Registers that are uniform at the start of every iteration.
    pub(crate) uniform: BTreeSet<Reg>,
    /// Predicates that the loop only reads and that are speculated to be uniform.
    pub(crate) assumed_uniform: BTreeSet<Reg>,
    /// Registers that differ by this much from one thread to the next in `tid.x` at the start of every iteration.
    pub(crate) strides: BTreeMap<Reg, i64>,
    /// The registers in `strides` whose stride assumes that a uniform factor is 1, and those in `assumed_uniform`.
    pub(crate) speculative: BTreeSet<Reg>,
}

/// A counter that is larger from thread to thread.
#[derive(Clone, Debug)]
pub(crate) struct Ordered {
    pub(crate) counter: Reg,
    /// The registers that are the counter plus a uniform amount.
    pub(crate) sums: BTreeSet<Reg>,
    /// The predicates of branches and assumed selections that are not uniform: they compare these sums, and uniform values,
    /// by their unsigned order.
    pub(crate) predicates: BTreeSet<Reg>,
}

/// Instructions by block and index, with the index of an operand.
pub(crate) type Selects = BTreeMap<(BlockId, usize), usize>;

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
                | Special::ReservedShared(_)
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
pub(super) fn uniform_regs(function: &Function) -> Vec<bool> {
    let mut uniform_regs = vec![true; function.registers.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for block in &function.blocks {
            let last = if let Terminator::Sync(inst, _) = &block.term { Some(&**inst) } else { None };
            for inst in block.insts.iter().chain(last) {
                if is_uniform(inst, &|r| uniform_regs[r as usize]) {
                    continue;
                }
                for reg in defs(inst) {
                    changed |= std::mem::replace(&mut uniform_regs[reg as usize], false);
                }
            }
        }
    }
    uniform_regs
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
pub(super) fn divergent_blocks(edges: &Edges, divergent_branches: &BTreeSet<BlockId>) -> BTreeSet<BlockId> {
    if divergent_branches.is_empty() {
        return BTreeSet::new();
    }
    let mut blocks: Vec<BlockId> = edges.keys().copied().collect();
    blocks.sort_unstable();
    let after = post_dominators(&blocks, edges);
    let place = |block: BlockId| blocks.partition_point(|other| *other < block);
    let mut found = BTreeSet::new();
    for split in divergent_branches {
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
    uniform_regs: Vec<bool>,
    /// Blocks that end in a divergent branch.
    divergent_branches: BTreeSet<BlockId>,
    divergent_blocks: BTreeSet<BlockId>,
}

impl<'a> Analysis<'a> {
    /// Propagates divergence in a loop, given the registers that are live at its header.
    fn new(function: &'a Function, found: &'a Loop, live: &RegSet, uniform_regs: &[bool]) -> Analysis<'a> {
        let (divergent_branches, divergent_blocks) = (BTreeSet::new(), BTreeSet::new());
        let mut this =
            Analysis { function, found, uniform_regs: uniform_regs.to_vec(), divergent_branches, divergent_blocks };
        // A register that is not live at the header has no initial value that matters, so it counts as uniform.
        let fresh: Vec<Reg> = this.insts().flat_map(|(_, i)| defs(i)).filter(|r| !live.contains(*r)).collect();
        fresh.into_iter().for_each(|reg| this.uniform_regs[reg as usize] = true);
        this.propagate_divergence();
        this
    }

    fn inside(&self, block: BlockId) -> bool {
        self.found.blocks.contains(&block) && block != self.found.header
    }

    fn insts(&self) -> impl Iterator<Item = (BlockId, &Inst)> {
        self.found.blocks.iter().flat_map(|b| self.function.blocks[*b].insts.iter().map(|i| (*b, i)))
    }

    fn is_uniform_operand(&self, value: &Value) -> bool {
        is_uniform_value(value, &|r| self.uniform_regs[r as usize])
    }

    fn leaves(&self, block: BlockId) -> bool {
        !self.found.blocks.contains(&block)
    }

    /// Returns true if all threads enter an inner loop in each iteration, and the same number of times.
    fn enters_together(&self, inner: &Loop, facts: &BlockFacts<'_>) -> bool {
        let leaves = |block: &BlockId| {
            let next = self.function.blocks[*block].term.successors().into_iter();
            next.into_iter().any(|next| self.leaves(next) && !(facts.fails)(next))
        };
        let diverges =
            |block: &BlockId| self.divergent_blocks.contains(block) || self.divergent_branches.contains(block);
        !self.divergent_blocks.contains(&inner.header)
            && !self.found.blocks.iter().any(|block| diverges(block) && leaves(block))
    }

    /// Propagates divergence: removes registers that divergent branches or operands make non-uniform, up to a fixed
    /// point.
    fn propagate_divergence(&mut self) {
        loop {
            self.divergent_branches = self
                .found
                .blocks
                .iter()
                .copied()
                .filter(|b| self.function.blocks[*b].term.used().is_some_and(|r| !self.uniform_regs[r as usize]))
                .collect();
            let mut edges = Edges::new();
            for block in &self.found.blocks {
                let next = self.function.blocks[*block].term.successors().into_iter();
                // A thread that leaves is no longer one of those that run the rest of the iteration, so the edge is ignored.
                let kept = next.filter(|n| !self.leaves(*n));
                edges.insert(*block, kept.map(|n| self.inside(n).then_some(n)).collect());
            }
            self.divergent_blocks = divergent_blocks(&edges, &self.divergent_branches);
            let mut changed = false;
            let mut lost = Vec::new();
            for (block, inst) in self.insts() {
                if self.divergent_blocks.contains(&block) || !is_uniform(inst, &|r| self.uniform_regs[r as usize]) {
                    lost.extend(defs(inst));
                }
            }
            for reg in lost {
                changed |= std::mem::replace(&mut self.uniform_regs[reg as usize], false);
            }
            if !changed {
                return;
            }
        }
    }

    /// Returns the exits that all threads take together, the side exits, and those of counters; `None` if the threads
    /// do not stay in lockstep.
    fn exits(
        &self,
        facts: &BlockFacts<'_>,
        strides: &HashMap<Reg, Stride>,
        bases: &Bases,
    ) -> Option<[BTreeSet<BlockId>; 3]> {
        let (mut exits, mut side_exits, mut counted_exits) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut counted = Vec::new();
        for block in &self.found.blocks {
            let term = &self.function.blocks[*block].term;
            if matches!(term, Terminator::Sync(..) | Terminator::Exit | Terminator::Return | Terminator::Trap(_)) {
                return None;
            }
            for next in term.successors().into_iter().filter(|n| self.leaves(*n)) {
                if self.divergent_branches.contains(block) {
                    if !(facts.fails)(next) {
                        counted.push(term.used()?);
                        counted_exits.insert(next);
                    }
                    side_exits.insert(next);
                } else if self.divergent_blocks.contains(block) {
                    return None;
                } else {
                    exits.insert(next);
                }
            }
        }
        if self.insts().any(|(_, inst)| inst.operands.iter().any(names_slot)) {
            return None;
        }
        let stores = self.insts().any(|(_, inst)| inst.opcode == Opcode::St || inst.is_atomic());
        let again = !stores && !exits.is_empty();
        let fits = exits.is_disjoint(&side_exits)
            && (side_exits.is_empty() || (again && counted.is_empty()) || self.exits_can_be_precomputed())
            && counted.into_iter().all(|predicate| self.is_of_counter(predicate, strides, bases));
        fits.then_some([exits, side_exits, counted_exits])
    }

    /// Returns true if evaluating an iteration's branches twice gives the same result.
    fn exits_can_be_precomputed(&self) -> bool {
        let mut loaded: BTreeSet<Reg> = BTreeSet::new();
        let mut changed = true;
        while changed {
            let before = loaded.len();
            for (_, inst) in self.insts() {
                let (mut defs, mut reads) = (Vec::new(), false);
                inst.visit(&mut |r| defs.push(r), &mut |r| reads |= loaded.contains(&r));
                let changes = matches!(inst.opcode, Opcode::Ld | Opcode::Atom) && !is_uniform(inst, &|_| true);
                if changes || reads || inst.call.is_some() {
                    loaded.extend(defs);
                }
            }
            changed = loaded.len() != before;
        }
        let branches = self.found.blocks.iter().filter_map(|b| self.function.blocks[*b].term.used());
        branches.into_iter().all(|reg| !loaded.contains(&reg))
    }
}

/// The difference of a value from one thread to the next. It is speculative if it assumes that a factor is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stride {
    by: i64,
    speculative: bool,
}

impl Stride {
    const UNIFORM: Stride = Stride { by: 0, speculative: false };

    fn known(by: i64) -> Stride {
        Stride { by, speculative: false }
    }

    fn combine(self, other: Stride, by: Option<i64>) -> Option<Stride> {
        Some(Stride { by: by?, speculative: self.speculative || other.speculative })
    }
}

/// Returns the stride of a value, if it is known.
fn stride_of(value: &Value, known: &HashMap<Reg, Stride>, uniform_regs: &[bool]) -> Option<Stride> {
    match value {
        Value::Reg(r) | Value::Not(r) if uniform_regs[*r as usize] => Some(Stride::UNIFORM),
        Value::Reg(r) => known.get(r).copied(),
        Value::Not(r) => known.get(r).copied().filter(|s| s.by == 0),
        Value::Special(Special::Tid(0) | Special::LaneId) => Some(Stride::known(1)),
        Value::Special(Special::Tid(_)) => Some(Stride::UNIFORM),
        other => is_uniform_value(other, &|r| uniform_regs[r as usize]).then_some(Stride::UNIFORM),
    }
}

/// Returns the stride of an instruction's result.
fn stride(inst: &Inst, known: &HashMap<Reg, Stride>, uniform_regs: &[bool]) -> Option<Stride> {
    let sources: Vec<Option<Stride>> =
        inst.operands.iter().skip(1).map(|v| stride_of(v, known, uniform_regs)).collect();
    let constant = |i: usize| match inst.operands.get(i + 1) {
        Some(Value::Int(value)) => i64::try_from(*value).ok(),
        _ => None,
    };
    let times = |stride: Stride, factor: Option<i64>| match factor {
        Some(factor) => stride.combine(Stride::UNIFORM, stride.by.checked_mul(factor)),
        None => Some(Stride { speculative: true, ..stride }),
    };
    let product = || match (sources[0]?, sources[1]?) {
        (a, b) if a.by == 0 && b.by == 0 => a.combine(b, Some(0)),
        (stride, flat) if flat == Stride::UNIFORM => times(stride, constant(1)),
        (flat, stride) if flat == Stride::UNIFORM => times(stride, constant(0)),
        _ => None,
    };
    let sum = |a: Stride, b: Stride| a.combine(b, a.by.checked_add(b.by));
    match inst.opcode {
        Opcode::Mov | Opcode::Cvta | Opcode::Cvt if sources.len() == 1 => sources[0],
        Opcode::Add => sum(sources[0]?, sources[1]?),
        Opcode::Sub => sources[0]?.combine(sources[1]?, sources[0]?.by.checked_sub(sources[1]?.by)),
        Opcode::Mul if !inst.has(Modifier::Hi) => product(),
        Opcode::Mad if !inst.has(Modifier::Hi) => sum(product()?, sources[2]?),
        Opcode::Shl => times(sources[0]?, Some(1 << constant(1).filter(|n| (0..32).contains(n))?)),
        Opcode::Ld | Opcode::Ldu | Opcode::Atom | Opcode::Call | Opcode::Device => None,
        _ => sources.iter().all(|s| s.is_some_and(|s| s.by == 0)).then_some(Stride::UNIFORM),
    }
}

/// Returns the strides of the registers that are not uniform. With several definitions the stride is unproven:
/// generated code checks it.
fn strides(function: &Function, uniform_regs: &[bool]) -> HashMap<Reg, Stride> {
    let mut known = HashMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for inst in function.blocks.iter().flat_map(|b| &b.insts) {
            let [Value::Reg(dest), ..] = inst.operands.as_slice() else { continue };
            if uniform_regs[*dest as usize] || known.contains_key(dest) || !defs(inst).contains(dest) {
                continue;
            }
            if let Some(stride) = stride(inst, &known, uniform_regs) {
                known.insert(*dest, stride);
                changed = true;
            }
        }
    }
    known
}

fn analyse(
    function: &Function,
    found: &Loop,
    live: &RegSet,
    uniform_regs: &[bool],
    strides: &HashMap<Reg, Stride>,
    facts: &BlockFacts<'_>,
) -> Option<Lockstep> {
    let analysis = Analysis::new(function, found, live, uniform_regs);
    let bases = analysis.bases(live);
    let [exits, side_exits, counted_exits] = analysis.exits(facts, strides, &bases)?;
    let written: BTreeSet<Reg> = analysis.insts().flat_map(|(_, i)| defs(i)).collect();
    let uniform = (0..function.registers.len() as Reg).filter(|r| analysis.uniform_regs[*r as usize]).collect();
    // A register that the loop changes keeps its stride if it changes by the same amount in every thread.
    let keeps = |reg: &Reg| !written.contains(reg) || bases.get(reg) == Some(reg);
    // A bounds check that the loop does not change mostly has the same result in all threads that are in the loop
    // together.
    let assumed_uniform =
        |r: &Reg| function.registers[*r as usize] == 1 && !written.contains(r) && !analysis.uniform_regs[*r as usize];
    let assumed_uniform: BTreeSet<Reg> = live.iter().filter(assumed_uniform).collect();
    let kept = || strides.iter().filter(|(r, _)| keeps(r));
    let strided = kept().map(|(r, stride)| (*r, stride.by)).collect();
    let speculative = kept().filter(|(_, stride)| stride.speculative).map(|(r, _)| *r);
    let speculative = speculative.chain(assumed_uniform.iter().copied()).collect();
    let exits_can_be_precomputed = analysis.exits_can_be_precomputed();
    let wide = analysis.strides_over_grid(&bases);
    // Atomic operations are run one by one, so that only the order of the accesses gains.
    if !wide && analysis.insts().any(|(_, inst)| inst.is_atomic()) {
        return None;
    }
    Some(Lockstep {
        header: found.header,
        exits,
        side_exits,
        counted_exits,
        exits_can_be_precomputed,
        selects: analysis.selects(&bases),
        ordered: analysis.ordered(&bases),
        wide,
        uniform,
        assumed_uniform,
        strides: strided,
        speculative,
    })
}

/// Properties of blocks that the analysis needs.
pub(crate) struct BlockFacts<'a> {
    /// True for blocks that threads cannot run in lockstep.
    pub(crate) scalar: &'a dyn Fn(BlockId) -> bool,
    /// True for blocks that only threads reach that report a failure.
    pub(crate) fails: &'a dyn Fn(BlockId) -> bool,
}

/// Returns the innermost loops that threads run in lockstep, and which they enter together as far as loops around them
/// decide that.
pub(crate) fn find(
    function: &Function,
    live: &[RegSet],
    polls: &BTreeMap<BlockId, PollLoop>,
    facts: &BlockFacts<'_>,
) -> Vec<Lockstep> {
    let loops = loops(function);
    if loops.is_empty() {
        return Vec::new();
    }
    let innermost = loops.iter().filter(|l| {
        let inner = loops.iter().any(|other| other.header != l.header && l.blocks.contains(&other.header));
        let plain =
            !l.blocks.contains(&0) && !polls.contains_key(&l.header) && !l.blocks.iter().any(|b| (facts.scalar)(*b));
        !inner && plain
    });
    let uniform_regs = uniform_regs(function);
    let strides = strides(function, &uniform_regs);
    let enters_together = |inner: &Loop| {
        let around = loops.iter().filter(|l| l.header != inner.header && l.blocks.contains(&inner.header));
        around
            .into_iter()
            .all(|l| Analysis::new(function, l, &live[l.header], &uniform_regs).enters_together(inner, facts))
    };
    let found = innermost.filter_map(|l| {
        let lockstep = analyse(function, l, &live[l.header], &uniform_regs, &strides, facts)?;
        enters_together(l).then_some(lockstep)
    });
    found.collect()
}
