//! Synchronisation: the operation of a thread that reaches a barrier or a warp-level instruction, its arguments and its
//! results.
//!
//! A thread writes its arguments to the frame, waits at the [`Site`], and continues in the site's region once the
//! block's scheduler has written the results. Both engines share this; neither knows PTX. Invariant: a site has at most
//! [`ARGS`] arguments of 32 bits, and its results are a word and a predicate. The fragments of matrices, which are
//! larger, follow those in the frame.

use super::matrix::{self, Matrix};
use super::{Function, Inst, Reg, Terminator, Value};
use crate::ptx::isa::Shape;
use crate::ptx::{Modifier as M, Opcode, Position, Type};
use std::collections::HashMap;

/// Frame slots for arguments.
pub(crate) const ARGS: usize = 4;
/// Bytes of frame per thread for arguments and results: the arguments, the word, and the predicate as a word.
pub(crate) const FRAME_BYTES: u64 = 4 * (ARGS as u64 + 2);
/// The offset of the results in the frame.
pub(crate) const RESULT: u64 = 4 * ARGS as u64;

/// The number of barriers of a block.
pub(crate) const BARRIERS: u32 = 16;

/// A reduction over the predicates of all threads at a barrier (`barrier.red`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierReduction {
    Popc,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduce {
    Add,
    MinUnsigned,
    MinSigned,
    MaxUnsigned,
    MaxSigned,
    And,
    Or,
    Xor,
}

/// The operation. Warp-level operations meet if this and the mask are equal, wherever they are in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Arguments: barrier, number of threads (0 for all), predicate.
    Barrier(Option<BarrierReduction>),
    /// Arrives without waiting. The arguments are those of a barrier.
    Arrive,
    /// Arguments of this and the following: value, high half or second operand, third operand, mask.
    WarpSync,
    Shuffle(Shuffle),
    All,
    Any,
    Uni,
    Ballot,
    MatchAny,
    MatchAll,
    Redux(Reduce),
    Elect,
    /// Does not wait.
    ActiveMask,
    /// Arrives at the barrier of the block's cluster without waiting. Neither this nor the wait has arguments.
    ClusterArrive,
    /// Waits until all threads of the cluster have arrived.
    ClusterWait,
    /// All lanes pass in fragments and get fragments back.
    Matrix(Matrix),
}

impl Operation {
    /// Returns true if the race checker takes accesses of the lanes before it as ordered before those after it. The manual says
    /// so of `bar.warp.sync`; of `match.sync` programs in use rely on it.
    pub(crate) fn orders_a_warp(self) -> bool {
        matches!(self, Operation::WarpSync | Operation::MatchAny | Operation::MatchAll)
    }
}

/// An argument: a compile-time constant, or a word in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arg {
    Known(u32),
    Frame,
}

/// A synchronisation point.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// True if the instruction has the modifier `.relaxed`.
    pub(crate) relaxed: bool,
    pub(crate) operation: Operation,
    pub(crate) args: [Arg; ARGS],
    /// True if the active lanes take part rather than those of a mask: votes and shuffles without `.sync`.
    pub(crate) active: bool,
    /// True for a shuffle whose result is used whatever it is ([`super::shuffled`]).
    pub(crate) is_used: bool,
    /// The region in which threads continue.
    pub(crate) region: usize,
    pub(crate) position: Position,
    /// The instruction, for reports.
    pub(crate) name: String,
}

/// The writers whose stores can end a polling loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// Anyone: threads, the host, other kernels.
    Any,
    /// The threads of the block and of its cluster, by stores to shared memory. The loop itself stores nothing.
    Shared,
    /// The grid's threads, by stores to the workspace of a cooperative launch. The loop itself stores nothing.
    Grid,
}

/// A polling loop. A region that begins with one that does not poll [`Watched::Any`] ends with the loop: a thread is
/// found at the region's start again only if it has not left the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Poll {
    pub(crate) watched: Watched,
    /// Its first load, for reports.
    pub(crate) position: Position,
}

/// The parts of a kernel that its scheduler needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// For each region, the polling loop with which it begins.
    pub(crate) polls: Vec<Option<Poll>>,
    pub(crate) sites: Vec<Site>,
}

impl Plan {
    /// Words of frame per thread for fragments of matrices, after [`FRAME_BYTES`].
    pub(crate) fn matrix_words(&self) -> usize {
        matrix_words(&self.sites)
    }
}

/// As [`Plan::matrix_words`], for these sites.
pub(crate) fn matrix_words(sites: &[Site]) -> usize {
    let words = |site: &Site| match site.operation {
        Operation::Matrix(matrix) => matrix.words().0.max(matrix.words().1),
        _ => 0,
    };
    sites.iter().map(words).max().unwrap_or(0)
}

/// The state of a fiber that can continue. The states of polling fibers follow it.
pub(crate) const FIBER_READY: usize = 1;

impl Watched {
    /// All values, in order.
    pub(crate) const ALL: [Watched; 3] = [Watched::Any, Watched::Shared, Watched::Grid];

    /// Returns the state of a fiber in such a loop.
    pub(crate) fn of_fiber(self) -> usize {
        FIBER_READY + 1 + self as usize
    }
}

impl Plan {
    /// The plan for fibers, without sites: a fiber's resume point is on its stack, so it has few states.
    pub(crate) fn of_fibers() -> Plan {
        let polls = Watched::ALL.map(|watched| Some(Poll { watched, position: Position::default() }));
        Plan { polls: [None, None].into_iter().chain(polls).collect(), sites: Vec::new() }
    }
}

/// Returns true if the instruction is handled by the scheduler: threads wait for each other, or arrive.
pub(crate) fn is_sync(inst: &Inst) -> bool {
    use Opcode::{ActiveMask, Bar, Barrier, Elect, Match, Redux, Shfl, Vote};
    matches!(inst.opcode, ActiveMask | Bar | Barrier | Elect | Match | Redux | Shfl | Vote)
        || Matrix::of(inst).is_some()
}

/// Returns true for an instruction with asynchronous work, which belongs to a block.
pub(crate) fn is_asynchronous(inst: &Inst) -> bool {
    matches!(inst.opcode, Opcode::Cp | Opcode::Mbarrier)
}

/// Returns true if threads wait for each other in the function itself.
pub(crate) fn synchronises(function: &Function) -> bool {
    function.blocks.iter().any(|block| matches!(block.term, Terminator::Sync(..)))
}

/// Returns true if a kernel with this function needs a scheduler: its threads wait for each other or start asynchronous
/// work.
pub(crate) fn needs_scheduler(function: &Function) -> bool {
    synchronises(function) || function.blocks.iter().flat_map(|block| &block.insts).any(is_asynchronous)
}

/// Returns true for a test of a barrier in shared memory.
pub(crate) fn is_test(inst: &Inst) -> bool {
    inst.opcode == Opcode::Mbarrier && (inst.has(M::TestWait) || inst.has(M::TryWait))
}

fn reduce(inst: &Inst) -> Reduce {
    let signed = inst.ty(0).is_signed();
    let named = inst.modifiers().find_map(|m| match (m, signed) {
        (M::Add, _) => Some(Reduce::Add),
        (M::Min, true) => Some(Reduce::MinSigned),
        (M::Min, false) => Some(Reduce::MinUnsigned),
        (M::Max, true) => Some(Reduce::MaxSigned),
        (M::Max, false) => Some(Reduce::MaxUnsigned),
        (M::And, _) => Some(Reduce::And),
        (M::Or, _) => Some(Reduce::Or),
        _ => None,
    });
    named.unwrap_or(Reduce::Xor)
}

fn operation(inst: &Inst) -> Operation {
    if let Some(matrix) = Matrix::of(inst) {
        return Operation::Matrix(matrix);
    }
    let choose = |pairs: &[(M, Operation)], last| pairs.iter().find(|p| inst.has(p.0)).map_or(last, |p| p.1);
    match inst.opcode {
        Opcode::Bar | Opcode::Barrier if inst.has(M::Warp) => Operation::WarpSync,
        Opcode::Barrier if inst.has(M::Cluster) => {
            choose(&[(M::Arrive, Operation::ClusterArrive)], Operation::ClusterWait)
        }
        Opcode::Bar | Opcode::Barrier if inst.has(M::Red) => {
            let counts = [(M::Popc, BarrierReduction::Popc), (M::And, BarrierReduction::And)];
            let count = counts.iter().find(|c| inst.has(c.0)).map_or(BarrierReduction::Or, |c| c.1);
            Operation::Barrier(Some(count))
        }
        Opcode::Bar | Opcode::Barrier => choose(&[(M::Arrive, Operation::Arrive)], Operation::Barrier(None)),
        Opcode::Shfl => choose(
            &[
                (M::Up, Operation::Shuffle(Shuffle::Up)),
                (M::Down, Operation::Shuffle(Shuffle::Down)),
                (M::Bfly, Operation::Shuffle(Shuffle::Bfly)),
            ],
            Operation::Shuffle(Shuffle::Idx),
        ),
        Opcode::Vote => {
            choose(&[(M::All, Operation::All), (M::Any, Operation::Any), (M::Uni, Operation::Uni)], Operation::Ballot)
        }
        Opcode::Match => choose(&[(M::Any, Operation::MatchAny)], Operation::MatchAll),
        Opcode::Redux => Operation::Redux(reduce(inst)),
        Opcode::Elect => Operation::Elect,
        _ => Operation::ActiveMask,
    }
}

/// The mask of a matrix operation: all lanes.
static ALL_LANES: Value = Value::Int(u32::MAX as i128);

/// Returns the words of fragments that a lane passes in at a matrix instruction.
pub(crate) fn fragments(inst: &Inst) -> Vec<(&Value, u32, bool)> {
    if Matrix::of(inst).is_some() { matrix::input_words(inst) } else { Vec::new() }
}

/// Returns the registers of fragments that a lane gets back, with their bits.
pub(crate) fn results(inst: &Inst) -> Vec<(&Value, u32)> {
    if Matrix::of(inst).is_some() { matrix::output_registers(inst).collect() } else { Vec::new() }
}

/// Returns the instruction's inputs in the order of the site's arguments: value, bits, and true for the high half.
/// `None` is 0.
pub(crate) fn inputs(inst: &Inst) -> [Option<(&Value, u32, bool)>; ARGS] {
    let ops = inst.operands.as_slice();
    let word = |value| Some((value, 32, false));
    let bit = |value| Some((value, 1, false));
    match (operation(inst), ops) {
        (Operation::Matrix(_), _) => [None, None, None, word(&ALL_LANES)],
        (Operation::Barrier(None), [id]) => [word(id), None, None, None],
        (Operation::Barrier(None) | Operation::Arrive, [id, count]) => [word(id), word(count), None, None],
        (Operation::Barrier(_), [_, id, truth]) => [word(id), None, bit(truth), None],
        (Operation::Barrier(_), [_, id, count, truth]) => [word(id), word(count), bit(truth), None],
        (Operation::WarpSync, [mask]) => [None, None, None, word(mask)],
        (Operation::Shuffle(_), [_, a, b, c, mask]) => [word(a), word(b), word(c), word(mask)],
        (Operation::MatchAny | Operation::MatchAll, [_, a, mask]) if inst.ty(0).bits() == 64 => {
            [Some((a, 64, false)), Some((a, 64, true)), None, word(mask)]
        }
        (Operation::All | Operation::Any | Operation::Uni | Operation::Ballot, [_, truth, mask]) => {
            [bit(truth), None, None, word(mask)]
        }
        (_, [_, a, mask]) => [word(a), None, None, word(mask)],
        (Operation::Elect, [_, mask]) => [None, None, None, word(mask)],
        _ => [None; ARGS],
    }
}

/// Returns the destinations of the word and of the predicate.
pub(crate) fn outputs(inst: &Inst) -> (Option<&Value>, Option<&Value>) {
    match (operation(inst), inst.operands.first()) {
        (Operation::Barrier(None) | Operation::Arrive | Operation::WarpSync | Operation::Matrix(_), _) | (_, None) => {
            (None, None)
        }
        (_, Some(Value::Vector(pair))) => (pair.first(), pair.get(1)),
        (_, Some(dest)) if inst.form.types.first().is_some_and(|t| t.contains(&Type::Pred)) => (None, Some(dest)),
        (_, dest) => (dest, None),
    }
}

/// Returns the registers that always hold one constant: nvcc puts masks and distances into such registers.
pub(crate) fn constants(function: &Function) -> HashMap<Reg, i128> {
    let mut found: HashMap<Reg, Option<i128>> = HashMap::new();
    for block in &function.blocks {
        let last = if let Terminator::Sync(inst, _) = &block.term { Some(&**inst) } else { None };
        for inst in block.insts.iter().chain(last) {
            let value = match inst.operands.as_slice() {
                [Value::Reg(_), Value::Int(value)] if inst.opcode == Opcode::Mov => Some(*value),
                _ => None,
            };
            inst.visit(
                &mut |reg| {
                    let first = !found.contains_key(&reg);
                    found.insert(reg, value.filter(|_| first));
                },
                &mut |_| {},
            );
        }
    }
    found.into_iter().filter_map(|(reg, value)| Some((reg, value?))).collect()
}

impl Site {
    pub(crate) fn new(inst: &Inst, is_used: bool, region: usize, constants: &HashMap<Reg, i128>) -> Site {
        let known = |input: Option<(&Value, u32, bool)>| {
            let Some((value, bits, high)) = input else { return Arg::Known(0) };
            let value = match value {
                Value::Int(value) => Some(value),
                Value::Reg(reg) => constants.get(reg),
                _ => None,
            };
            value.map_or(Arg::Frame, |value| match (bits, high) {
                (1, _) => Arg::Known(u32::from(*value != 0)),
                (_, true) => Arg::Known((value >> 32) as u32),
                _ => Arg::Known(*value as u32),
            })
        };
        let mut name = inst.opcode.name().to_owned();
        for modifier in inst.modifiers() {
            name.push('.');
            name.push_str(modifier.name());
        }
        let active = inst.form.operands.contains(&Shape::ActiveLanes);
        Site {
            operation: operation(inst),
            relaxed: inst.has(M::Relaxed),
            args: inputs(inst).map(known),
            active,
            is_used,
            region,
            position: inst.position,
            name,
        }
    }

    /// Returns true if the threads of a block wait here, rather than those of a warp.
    pub(crate) fn is_barrier(&self) -> bool {
        matches!(self.operation, Operation::Barrier(_) | Operation::Arrive)
    }

    /// Returns true if the threads of a cluster wait here.
    pub(crate) fn is_of_cluster(&self) -> bool {
        matches!(self.operation, Operation::ClusterArrive | Operation::ClusterWait)
    }

    /// Returns true for an arrival at the barrier of a cluster that orders nothing by itself.
    pub(crate) fn is_relaxed(&self) -> bool {
        self.operation == Operation::ClusterArrive && self.relaxed
    }

    /// Returns true if all threads of the block that have not finished wait here.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.operation, Operation::Barrier(_)) && self.args[1] == Arg::Known(0)
    }
}
