//! Finds loops that may wait for other threads by polling memory, and the memory that each of them polls.
//!
//! A loop polls if a branch inside it depends on the result of an atomic operation or of a volatile, relaxed or acquire
//! load in it: another thread may have to run before the loop can end. Plain loads count as well if a fence or a
//! synchronisation in the loop makes compilers load again. The analysis errs on the side of polling.
//!
//! A loop that has no side effects, and that polls only memory written by the threads of one cluster or of one
//! cooperative launch, waits for ever once all those threads wait. Here the analysis errs on the side of memory that
//! anyone writes. All iterations of such a loop are alike, since it carries no value from one to the next and reads no
//! clock.

use super::liveness::RegSet;
use super::loops::{Loop, loops};
use super::regions::{EnteredLoop, reachable};
use super::sync::{Poll, Watched, is_test};
use super::{BlockId, Function, Inst, Reg, Special, Symbol, Terminator, Value};
use crate::ptx::{Modifier, Opcode, Position, Space};
use std::collections::{BTreeMap, HashSet};

/// Returns true if a repeated load may give another value because another thread wrote in between.
fn observes(inst: &Inst, plain: bool) -> bool {
    let ordered = [Modifier::Volatile, Modifier::Relaxed, Modifier::Acquire].iter().any(|m| inst.has(*m));
    match inst.opcode {
        Opcode::Atom => true,
        Opcode::Ld => ordered || (plain && !is_fixed(inst)),
        _ => is_test(inst),
    }
}

/// Returns true for a load from memory that no other thread writes.
fn is_fixed(load: &Inst) -> bool {
    matches!(load.space(), Some(Space::Param | Space::Const | Space::Local)) || load.has(Modifier::Nc)
}

fn slot(inst: &Inst) -> Option<usize> {
    inst.operands.iter().find_map(|operand| match operand {
        Value::SymbolAddress(Symbol::Slot(slot), _) => Some(*slot),
        _ => None,
    })
}

/// Returns the instructions of a loop, synchronisations included.
fn insts<'f>(function: &'f Function, found: &'f Loop) -> impl Iterator<Item = &'f Inst> {
    found.blocks.iter().flat_map(|b| {
        let block = &function.blocks[*b];
        let last = if let Terminator::Sync(inst, _) = &block.term { Some(&**inst) } else { None };
        block.insts.iter().chain(last)
    })
}

/// Returns the registers that depend, within a loop, on the results of the `source` instructions.
fn tainted(function: &Function, found: &Loop, source: impl Fn(&Inst) -> bool) -> HashSet<Reg> {
    let mut tainted: HashSet<Reg> = HashSet::new();
    let mut slots: HashSet<usize> = HashSet::new();
    loop {
        let before = (tainted.len(), slots.len());
        for inst in insts(function, found) {
            let (mut defs, mut uses) = (Vec::new(), Vec::new());
            inst.visit(&mut |r| defs.push(r), &mut |r| uses.push(r));
            let through = slot(inst).is_some_and(|s| slots.contains(&s));
            if source(inst) || through || uses.iter().any(|r| tainted.contains(r)) {
                tainted.extend(defs);
                slots.extend(slot(inst));
            }
        }
        if before == (tainted.len(), slots.len()) {
            return tainted;
        }
    }
}

/// Returns true if the loop may wait for another thread.
fn polls(function: &Function, found: &Loop) -> bool {
    let orders = |inst: &Inst| inst.is_fence() || inst.opcode == Opcode::Nanosleep || super::sync::is_sync(inst);
    let plain = insts(function, found).any(orders);
    let tainted = tainted(function, found, |inst| observes(inst, plain));
    found.blocks.iter().any(|b| function.blocks[*b].term.used().is_some_and(|r| tainted.contains(&r)))
}

/// Returns the loops that may wait for another thread, by header.
pub(crate) fn polling(function: &Function, live: &[RegSet]) -> BTreeMap<BlockId, PollLoop> {
    let found: Vec<Loop> = loops(function).into_iter().filter(|l| polls(function, l)).collect();
    if found.is_empty() {
        return BTreeMap::new();
    }
    let headers: HashSet<BlockId> = found.iter().map(|l| l.header).collect();
    let workspace = workspace(function);
    found.iter().map(|l| (l.header, PollLoop::of(function, l, &live[l.header], &headers, &workspace))).collect()
}

/// The kind of wait of a polling loop.
pub(crate) struct PollLoop {
    pub(crate) poll: Poll,
    /// The blocks after the loop, if only the cluster's or the grid's threads can end the wait.
    pub(crate) exits: Vec<BlockId>,
    /// The loop, if anyone can end the wait.
    pub(crate) entered: Option<EnteredLoop>,
}

/// The memory that a load in a loop polls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PolledMemory {
    /// Memory that does not change.
    Fixed,
    Shared,
    Workspace,
    Other,
}

impl PollLoop {
    fn of(
        function: &Function,
        found: &Loop,
        live: &RegSet,
        headers: &HashSet<BlockId>,
        workspace: &HashSet<Reg>,
    ) -> PollLoop {
        let load =
            insts(function, found).find(|inst| matches!(inst.opcode, Opcode::Ld | Opcode::Atom) || is_test(inst));
        let position = load.map_or(Position::default(), |load| load.position);
        let exits = exits(function, found);
        let watched = match exits.iter().any(|(_, exit)| headers.contains(exit)) || !repeats(function, found, live) {
            true => Watched::Any,
            false => watched(function, found, &exits, |load| place(load, workspace)),
        };
        let closed = watched != Watched::Any;
        let exits = exits.into_iter().map(|(_, exit)| exit).filter(|_| closed).collect();
        let advances = insts(function, found).any(|inst| changes_any(inst, live));
        let entered = (!closed).then(|| EnteredLoop { blocks: found.blocks.clone(), advances });
        PollLoop { poll: Poll { watched, position }, exits, entered }
    }
}

/// Returns the edges that leave a loop.
fn exits(function: &Function, found: &Loop) -> Vec<(BlockId, BlockId)> {
    let edges =
        found.blocks.iter().flat_map(|b| function.blocks[*b].term.successors().into_iter().map(move |to| (*b, to)));
    edges.filter(|(_, to)| !found.blocks.contains(to)).collect()
}

/// Returns true if all iterations of a loop are alike as long as its loads give the same values, and it has no side
/// effects.
fn repeats(function: &Function, found: &Loop, live: &RegSet) -> bool {
    let waits = found.blocks.iter().any(|b| matches!(function.blocks[*b].term, Terminator::Sync(..)));
    !waits && insts(function, found).all(|inst| !changes_any(inst, live) && changes_nothing(inst))
}

/// Returns true if an instruction writes one of these registers.
fn changes_any(inst: &Inst, registers: &RegSet) -> bool {
    let mut writes = false;
    inst.visit(&mut |reg| writes |= registers.contains(reg), &mut |_| {});
    writes
}

/// Instructions whose only effect is to write registers, with values that depend on operands and memory alone.
const PURE: &[Opcode] = {
    use Opcode::*;
    &[
        Add, And, Bfe, Bfi, Cvt, Cvta, Fence, IsSpaceP, Ld, Mad, Membar, Mov, Mul, Nanosleep, Neg, Not, Or, Prmt, Selp,
        Setp, Shl, Shr, Sub, Xor,
    ]
};

fn changes_nothing(inst: &Inst) -> bool {
    // Carry flags are kept from one instruction to the next.
    let carries = inst.form.operands.iter().any(|shape| shape.is_implicit());
    (PURE.contains(&inst.opcode) || is_test(inst)) && !carries && !inst.operands.iter().any(changes)
}

/// Returns true if an operand changes its value by itself, as a clock does.
fn changes(value: &Value) -> bool {
    use Special::{Clock32, Clock64, ClockHigh, GlobalTimer, GlobalTimerHigh, GlobalTimerLow, SmId};
    match value {
        Value::Special(special) => {
            matches!(special, Clock32 | Clock64 | ClockHigh | GlobalTimer | GlobalTimerHigh | GlobalTimerLow | SmId)
        }
        Value::Vector(items) => items.iter().any(changes),
        _ => false,
    }
}

fn place(load: &Inst, workspace: &HashSet<Reg>) -> PolledMemory {
    let base = load.operands.iter().find_map(|operand| match operand {
        Value::RegAddress(reg, _) => Some(reg),
        _ => None,
    });
    match load.space() {
        // Only the block's own barriers can be tested.
        _ if is_test(load) => PolledMemory::Shared,
        _ if is_fixed(load) => PolledMemory::Fixed,
        Some(Space::Shared) => PolledMemory::Shared,
        None | Some(Space::Global) if base.is_some_and(|reg| workspace.contains(reg)) => PolledMemory::Workspace,
        _ => PolledMemory::Other,
    }
}

/// Returns the memory whose change can end a loop all of whose iterations are alike.
///
/// Other memory is ignored if it can only end the thread, as a panic of another thread does.
fn watched(
    function: &Function,
    found: &Loop,
    exits: &[(BlockId, BlockId)],
    place: impl Fn(&Inst) -> PolledMemory,
) -> Watched {
    let is_load = |inst: &Inst| inst.opcode == Opcode::Ld || is_test(inst);
    let has = |which: PolledMemory| insts(function, found).any(|inst| is_load(inst) && place(inst) == which);
    let (shared, grid) = (has(PolledMemory::Shared), has(PolledMemory::Workspace));
    if has(PolledMemory::Other) {
        let others = tainted(function, found, |inst| is_load(inst) && place(inst) == PolledMemory::Other);
        let by_others = |block: BlockId| function.blocks[block].term.used().is_some_and(|reg| others.contains(&reg));
        // Each such branch chooses between ending the thread and the rest of the iteration.
        let only_ends = found.blocks.iter().filter(|block| by_others(**block)).all(|block| {
            let (stays, leaves): (Vec<_>, Vec<_>) =
                function.blocks[*block].term.successors().into_iter().partition(|to| found.blocks.contains(to));
            stays.len() == 1 && leaves.into_iter().all(|to| ends(function, to))
        });
        if !(grid && only_ends && exits.iter().any(|(block, _)| !by_others(*block))) {
            return Watched::Any;
        }
    }
    match (shared, grid) {
        (_, true) => Watched::Grid,
        (true, false) => Watched::Shared,
        (false, false) => Watched::Any,
    }
}

/// Returns true if a thread that reaches a block synchronises no more.
fn ends(function: &Function, block: BlockId) -> bool {
    reachable(function, block, |_| true).iter().all(|b| !matches!(function.blocks[*b].term, Terminator::Sync(..)))
}

/// Returns the registers that hold an address in the workspace of grid-wide barriers, or part of one.
///
/// All definitions of these registers use such registers and constants only.
fn workspace(function: &Function) -> HashSet<Reg> {
    let mut definitions: BTreeMap<Reg, Vec<&Inst>> = BTreeMap::new();
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        inst.visit(&mut |reg| definitions.entry(reg).or_default().push(inst), &mut |_| {});
    }
    let mut found: HashSet<Reg> = HashSet::new();
    loop {
        let more: Vec<Reg> = definitions
            .iter()
            .filter(|(reg, insts)| !found.contains(reg) && insts.iter().all(|inst| is_of_workspace(inst, &found)))
            .map(|(reg, _)| *reg)
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

fn is_of_workspace(inst: &Inst, found: &HashSet<Reg>) -> bool {
    use Opcode::{Add, And, Bfi, Cvt, Cvta, Mov, Or, Shl};
    let part = |value: &Value| match value {
        Value::Reg(reg) => found.contains(reg),
        Value::Special(special) => matches!(special, Special::Workspace(_)),
        _ => false,
    };
    let known = |value: &Value| part(value) || matches!(value, Value::Int(_));
    let inputs = || {
        let read = inst.form.operands.iter().zip(&inst.operands).filter(|(shape, _)| !shape.is_written());
        read.flat_map(|(_, value)| match value {
            Value::Vector(items) => items.as_slice(),
            value => std::slice::from_ref(value),
        })
    };
    matches!(inst.opcode, Add | And | Bfi | Cvt | Cvta | Mov | Or | Shl) && inputs().all(known) && inputs().any(part)
}
