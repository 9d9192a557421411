//! Inlines functions that wait for other threads into their callers.
//!
//! A region ends where a thread waits, and it cannot end inside a callee. Functions that synchronise, and functions
//! that read memory in a way that a caller's loop may poll, are therefore copied into their callers. Where that is
//! impossible (the function is recursive, or the kernel would grow too large) the kernel's threads have to be fibers,
//! which can wait anywhere.

use super::callees::reached;
use super::layout::align_up;
use super::loops::loops;
use super::sync::{is_test, needs_scheduler};
use super::{BasicBlock, BlockId, Call, Function, Inst, Symbol, Terminator, Value};
use crate::ptx::{FunctionKind, Modifier, Opcode};
use std::collections::{BTreeSet, HashMap};

/// The largest number of basic blocks of a kernel into which calls are still inlined.
const MAX_BLOCKS: usize = 1 << 12;

/// Returns true if an instruction's result depends on what other threads did.
fn observes(inst: &Inst) -> bool {
    match inst.opcode {
        Opcode::Atom => inst.operands.first() != Some(&Value::Sink),
        Opcode::Ld => [Modifier::Volatile, Modifier::Relaxed, Modifier::Acquire].iter().any(|m| inst.has(*m)),
        _ => is_test(inst),
    }
}

/// Returns true if other threads may have to run before the function can return, if its result depends on what they
/// did, or if it has asynchronous work, which requires scheduled blocks.
fn waits(function: &Function) -> bool {
    needs_scheduler(function) || function.blocks.iter().flat_map(|b| &b.insts).any(observes)
}

/// Returns true if a loop of the function may poll, itself or through a callee.
fn may_poll(function: &Function, waits: &[bool]) -> bool {
    let seen = |inst: &Inst| observes(inst) || inst.call.as_ref().is_some_and(|c| waits[c.callee]);
    loops(function).iter().flat_map(|l| &l.blocks).any(|b| function.blocks[*b].insts.iter().any(seen))
}

/// Inlines into every kernel the callees that may wait.
pub(crate) fn inline(functions: &mut [Function]) {
    let reach: Vec<BTreeSet<usize>> = (0..functions.len()).map(|f| reached(functions, f)).collect();
    let waiting: Vec<bool> = functions.iter().map(waits).collect();
    // The functions in which a thread may wait, themselves or through a callee.
    let waits: Vec<bool> = (0..functions.len()).map(|f| waiting[f] || reach[f].iter().any(|g| waiting[*g])).collect();
    let recursive: Vec<bool> = (0..functions.len()).map(|f| reach[f].contains(&f)).collect();
    let wanted: Vec<bool> = (0..functions.len()).map(|f| waits[f] && !recursive[f]).collect();
    for index in 0..functions.len() {
        let called = &reach[index];
        if functions[index].kind != FunctionKind::Entry || !called.iter().any(|f| waits[*f]) {
            continue;
        }
        // A recursive function cannot be inlined, and where it may wait only a fiber can. Nor may a kernel whose blocks
        // run one after the other in a single call of compiled code start asynchronous work there: the work would be
        // left to the next block.
        let blocks = |f: &usize| reach[*f].iter().chain([f]).any(|g| needs_scheduler(&functions[*g]));
        let fibers = called.iter().any(|f| recursive[*f] && blocks(f))
            || (called.iter().any(|f| recursive[*f] && waits[*f])
                && called.iter().chain([&index]).any(|f| may_poll(&functions[*f], &waits)));
        match (!fibers).then(|| expanded(&functions[index], functions, &wanted)).flatten() {
            Some(kernel) => functions[index] = kernel,
            None => functions[index].signature.only_fibers = true,
        }
    }
    move_addressed_slots(functions);
}

/// Returns a copy of a kernel in which all calls of wanted functions are inlined, or `None` if it becomes too large.
fn expanded(kernel: &Function, functions: &[Function], wanted: &[bool]) -> Option<Function> {
    let mut kernel = kernel.clone();
    let mut at = 0;
    while at < kernel.blocks.len() {
        let call = kernel.blocks[at].insts.iter().position(|i| i.call.as_ref().is_some_and(|c| wanted[c.callee]));
        match call {
            Some(_) if kernel.blocks.len() > MAX_BLOCKS => return None,
            Some(place) => expand(&mut kernel, at, place, functions),
            None => at += 1,
        }
    }
    Some(kernel)
}

/// The mapping from a callee's registers, blocks, slots and local memory to the kernel's.
struct Renaming {
    register: u32,
    block: BlockId,
    local: u64,
    slots: HashMap<usize, usize>,
}

impl Renaming {
    fn symbol(&self, symbol: Symbol) -> Symbol {
        match symbol {
            Symbol::Local(at) => Symbol::Local(at + self.local),
            Symbol::Slot(slot) => Symbol::Slot(self.slots[&slot]),
            other => other,
        }
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::Reg(r) => Value::Reg(r + self.register),
            Value::Not(r) => Value::Not(r + self.register),
            Value::Pair(p, q) => Value::Pair(p + self.register, q + self.register),
            Value::Symbol(symbol, at) => Value::Symbol(self.symbol(*symbol), *at),
            Value::RegAddress(r, at) => Value::RegAddress(r + self.register, *at),
            Value::SymbolAddress(symbol, at) => Value::SymbolAddress(self.symbol(*symbol), *at),
            Value::Vector(items) => Value::Vector(items.iter().map(|v| self.value(v)).collect()),
            Value::Int(_) | Value::F32(_) | Value::F64(_) | Value::Special(_) | Value::Absolute(_) | Value::Sink => {
                value.clone()
            }
        }
    }

    fn inst(&self, inst: &Inst) -> Inst {
        let slots = |list: &[usize]| list.iter().map(|s| self.slots[s]).collect();
        let call = inst.call.as_ref().map(|call| Call {
            callee: call.callee,
            returns: slots(&call.returns),
            args: slots(&call.args),
        });
        Inst { operands: inst.operands.iter().map(|v| self.value(v)).collect(), call, ..inst.clone() }
    }

    fn term(&self, term: &Terminator, after: BlockId) -> Terminator {
        match term {
            Terminator::Jump(to) => Terminator::Jump(to + self.block),
            Terminator::Branch(reg, negated, a, b) => {
                Terminator::Branch(reg + self.register, *negated, a + self.block, b + self.block)
            }
            Terminator::Switch(reg, targets) => {
                Terminator::Switch(reg + self.register, targets.iter().map(|t| t + self.block).collect())
            }
            Terminator::Sync(inst, to) => Terminator::Sync(Box::new(self.inst(inst)), to + self.block),
            Terminator::Return => Terminator::Jump(after),
            Terminator::Exit => Terminator::Exit,
            Terminator::Trap(position) => Terminator::Trap(*position),
        }
    }
}

/// Moves `.param` variables to local memory where the address of one is used as a value: it may be stored anywhere, and
/// only addresses in the devices' range can be accessed.
fn move_addressed_slots(functions: &mut [Function]) {
    let names = |inst: &Inst| inst.operands.iter().any(|v| matches!(v, Value::Symbol(Symbol::Slot(_), _)));
    if !functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts).any(names) {
        return;
    }
    for function in functions {
        let own = if function.kind == FunctionKind::Entry { 0 } else { function.returns + function.formals };
        for slot in own..function.slots.len() {
            move_to_local(function, slot);
        }
    }
}

/// Assigns a `.param` variable an offset in local memory.
fn move_to_local(function: &mut Function, slot: usize) {
    let (bytes, align) = (function.slots[slot].bytes, function.slots[slot].align.max(8));
    function.local_slots.entry(slot).or_insert_with(|| {
        let at = align_up(function.local_bytes, align);
        function.local_bytes = at + bytes;
        at
    });
}

/// Replaces a call by the callee's body.
fn expand(kernel: &mut Function, block: BlockId, place: usize, functions: &[Function]) {
    let mut rest = kernel.blocks[block].insts.split_off(place);
    let Some(call) = rest.remove(0).call else { return };
    let callee = &functions[call.callee];
    let after = kernel.blocks.len();
    let names = Renaming {
        register: kernel.registers.len() as u32,
        block: after + 1,
        local: align_up(kernel.local_bytes, 16),
        slots: slots(kernel, callee, &call),
    };
    kernel.registers.extend(&callee.registers);
    kernel.local_bytes = names.local + callee.local_bytes;
    // Arguments and results may be live across regions, so they are in local memory.
    for slot in call.returns.iter().chain(&call.args) {
        move_to_local(kernel, *slot);
    }
    let term = std::mem::replace(&mut kernel.blocks[block].term, Terminator::Jump(names.block));
    kernel.blocks.push(BasicBlock { insts: rest, term });
    for from in &callee.blocks {
        let insts = from.insts.iter().map(|inst| names.inst(inst)).collect();
        kernel.blocks.push(BasicBlock { insts, term: names.term(&from.term, after) });
    }
}

/// Maps the callee's `.param` variables to slots: its formals to the slots that the call names, the others to new ones.
fn slots(kernel: &mut Function, callee: &Function, call: &Call) -> HashMap<usize, usize> {
    let formals = call.returns.iter().chain(&call.args).copied();
    let mut slots: HashMap<usize, usize> = formals.enumerate().collect();
    for index in slots.len()..callee.slots.len() {
        slots.insert(index, kernel.slots.len());
        kernel.slots.push(callee.slots[index]);
    }
    slots
}
