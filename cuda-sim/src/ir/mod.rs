//! The intermediate representation of kernels: a control-flow graph of basic blocks with names resolved and guards
//! turned into branches.
//!
//! Registers have a width and no type, since each instruction gives the type. Invariant, established by [`lower`] and
//! relied on by the code generator: every operand has the shape and width that its form demands, every block ends in a
//! terminator, and every block index, register, slot and function index is in range.

pub(crate) mod callees;
pub(crate) mod demanded;
pub(crate) mod fences;
pub(crate) mod inline;
pub(crate) mod layout;
pub(crate) mod liveness;
pub(crate) mod lockstep;
pub(crate) mod loops;
pub(crate) mod lower;
pub(crate) mod matrix;
pub(crate) mod moves;
pub(crate) mod polling;
pub(crate) mod prune;
pub(crate) mod regions;
pub(crate) mod remat;
pub(crate) mod rename;
mod shuffled;
pub(crate) mod sync;
pub(crate) mod uniform;
pub(crate) mod video;

use crate::ptx::isa::Form;
use crate::ptx::{FunctionKind, Modifier, Opcode, Position, Space, Suffix, Type, full_name};
use std::collections::BTreeMap;

pub(crate) type Reg = u32;
pub(crate) type BlockId = usize;

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    /// A register about the block's cluster.
    Cluster(ClusterRegister),
    LaneId,
    WarpId,
    NWarpId,
    WarpSize,
    LaneMask(LaneMask),
    SmId,
    NSmId,
    GridId,
    Clock32,
    Clock64,
    GlobalTimer,
    DynamicShared,
    TotalShared,
    /// An offset in the shared memory that is reserved for libraries, relative to the start of that.
    ReservedShared(u16),
    /// The low or the high half of the address of the workspace of grid-wide barriers.
    Workspace(bool),
    ClockHigh,
    GlobalTimerLow,
    GlobalTimerHigh,
    Zero,
}

/// The bytes of shared memory that are reserved for libraries in the blocks of kernels which ask for their place.
pub(crate) const RESERVED_SHARED: u16 = 1024;

/// Special registers about a block's cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClusterRegister {
    /// The block's index in the cluster.
    Ctaid(u8),
    /// The cluster's extents in blocks.
    Nctaid(u8),
    /// The cluster's index in the grid.
    Id(u8),
    /// The grid's extents in clusters.
    Count(u8),
    /// The block's rank in the cluster.
    Rank,
    /// The number of blocks in the cluster.
    Ranks,
    /// True if the launch asked for clusters.
    Explicit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaneMask {
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An addressable variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// Offset in the module's `.global` and `.const` data.
    Data(u64),
    /// Offset in the module's managed variables.
    Managed(u64),
    /// Offset in the block's shared window.
    Shared(u64),
    /// The start of dynamic shared memory.
    DynamicShared,
    /// Offset in the thread's local memory.
    Local(u64),
    /// Offset in the kernel's parameters.
    KernelParam(u64),
    /// A `.param` variable of a function or of a call.
    Slot(usize),
}

/// A resolved operand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Reg(Reg),
    Not(Reg),
    Pair(Reg, Reg),
    Int(i128),
    F32(u32),
    F64(u64),
    Special(Special),
    Symbol(Symbol, i64),
    /// `[register + offset]`
    RegAddress(Reg, i64),
    /// `[symbol + offset]`
    SymbolAddress(Symbol, i64),
    /// `[offset]`
    Absolute(i64),
    Vector(Vec<Value>),
    Sink,
}

/// A resolved call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) callee: usize,
    pub(crate) returns: Vec<usize>,
    pub(crate) args: Vec<usize>,
}

/// An instruction that is not control flow, or a call.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub(crate) position: Position,
    pub(crate) opcode: Opcode,
    pub(crate) suffixes: Vec<Suffix>,
    pub(crate) form: &'static Form,
    pub(crate) operands: Vec<Value>,
    pub(crate) call: Option<Call>,
}

impl Inst {
    pub(crate) fn has(&self, modifier: Modifier) -> bool {
        self.suffixes.contains(&Suffix::Modifier(modifier))
    }

    /// Returns true for an atomic operation.
    pub(crate) fn is_atomic(&self) -> bool {
        matches!(self.opcode, Opcode::Atom | Opcode::Red)
    }

    /// Returns true if an operand is an address that may be another one when the instruction is executed again: any but
    /// those of parameters.
    pub(crate) fn has_address(&self) -> bool {
        let is_address = |value: &Value| match value {
            Value::RegAddress(..) | Value::Absolute(_) => true,
            Value::SymbolAddress(symbol, _) => !matches!(symbol, Symbol::Slot(_) | Symbol::KernelParam(_)),
            _ => false,
        };
        self.operands.iter().any(is_address)
    }

    /// Returns true for a fence.
    pub(crate) fn is_fence(&self) -> bool {
        matches!(self.opcode, Opcode::Fence | Opcode::Membar)
    }

    /// Returns true for an access or a fence with acquire or release semantics.
    pub(super) fn is_acquire_or_release(&self) -> bool {
        use Modifier::{AcqRel, Acquire, Release};
        [Acquire, Release, AcqRel].iter().any(|modifier| self.has(*modifier))
    }

    /// The name as it was written.
    pub(crate) fn full_name(&self) -> String {
        full_name(self.opcode, &self.suffixes)
    }

    /// The `index`-th type; the form guarantees that it is there.
    pub(crate) fn ty(&self, index: usize) -> Type {
        self.types().nth(index).unwrap_or(Type::B64)
    }

    /// The types in order.
    pub(crate) fn types(&self) -> impl Iterator<Item = Type> + '_ {
        self.suffixes.iter().filter_map(|s| match s {
            Suffix::Type(ty) => Some(*ty),
            Suffix::Modifier(_) => None,
        })
    }

    pub(crate) fn modifiers(&self) -> impl Iterator<Item = Modifier> + '_ {
        self.suffixes.iter().filter_map(|s| match s {
            Suffix::Modifier(m) => Some(*m),
            Suffix::Type(_) => None,
        })
    }

    /// The state space of a memory access; `None` for generic addresses.
    pub(crate) fn space(&self) -> Option<Space> {
        self.spaces().next()
    }

    /// Returns the state space of an address operand. A copy's suffixes name that of its destination, then that of its
    /// source; its barrier is in shared memory.
    pub(crate) fn space_of(&self, operand: usize) -> Option<Space> {
        match (self.opcode, operand) {
            (Opcode::Cp, 0 | 1) => self.spaces().nth(operand),
            (Opcode::Cp, _) => Some(Space::Shared),
            _ => self.space(),
        }
    }

    fn spaces(&self) -> impl Iterator<Item = Space> + '_ {
        self.modifiers().filter_map(|m| match m {
            Modifier::Global => Some(Space::Global),
            Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster => Some(Space::Shared),
            Modifier::Local => Some(Space::Local),
            Modifier::Const => Some(Space::Const),
            Modifier::Param | Modifier::ParamEntry | Modifier::ParamFunc => Some(Space::Param),
            _ => None,
        })
    }

    /// Calls `def` for every register written and `used` for every register read.
    pub(crate) fn visit(&self, def: &mut dyn FnMut(Reg), used: &mut dyn FnMut(Reg)) {
        for (shape, value) in self.form.operands.iter().zip(&self.operands) {
            visit_value(value, if shape.is_written() { &mut *def } else { &mut *used });
        }
    }
}

fn visit_value(value: &Value, found: &mut dyn FnMut(Reg)) {
    match value {
        Value::Reg(r) | Value::Not(r) | Value::RegAddress(r, _) => found(*r),
        Value::Pair(p, q) => {
            found(*p);
            found(*q);
        }
        Value::Vector(items) => items.iter().for_each(|item| visit_value(item, found)),
        _ => {}
    }
}

/// The terminator of a basic block.
#[derive(Clone, Debug)]
pub(crate) enum Terminator {
    Jump(BlockId),
    /// Branches to the first block if the predicate, negated if the flag is set, is true.
    Branch(Reg, bool, BlockId, BlockId),
    /// Branches to the block with this index. An index out of range is undefined in PTX; here it selects the last
    /// block.
    Switch(Reg, Vec<BlockId>),
    /// Waits for other threads, then continues. The successor has no other predecessor.
    Sync(Box<Inst>, BlockId),
    Return,
    Exit,
    Trap(Position),
}

impl Terminator {
    pub(crate) fn successors(&self) -> Vec<BlockId> {
        match self {
            Terminator::Jump(to) | Terminator::Sync(_, to) => vec![*to],
            Terminator::Branch(_, _, a, b) => vec![*a, *b],
            Terminator::Switch(_, targets) => targets.clone(),
            Terminator::Return | Terminator::Exit | Terminator::Trap(_) => Vec::new(),
        }
    }

    pub(crate) fn used(&self) -> Option<Reg> {
        match self {
            Terminator::Branch(reg, ..) | Terminator::Switch(reg, _) => Some(*reg),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct BasicBlock {
    pub(crate) insts: Vec<Inst>,
    pub(crate) term: Terminator,
}

/// A parameter, or a `.param` variable of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Offset among a kernel's parameters; 0 elsewhere.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) align: u64,
}

/// A kernel's cluster directives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clusters {
    /// `.reqnctapercluster`: their extents in blocks.
    pub(crate) required: Option<[u32; 3]>,
    /// `.explicitcluster`: the launch must specify the extents, unless `required` does.
    pub(crate) explicit: bool,
    /// `.maxclusterrank`
    pub(crate) most: Option<u32>,
}

/// A kernel or function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) signature: Signature,
    pub(crate) kind: FunctionKind,
    /// `.param` variables: the results, then (of a function) the parameters, then those of calls.
    pub(crate) slots: Vec<Slot>,
    /// Slots of an inlined callee that are in local memory, with their offsets.
    pub(crate) local_slots: BTreeMap<usize, u64>,
    pub(crate) returns: usize,
    pub(crate) formals: usize,
    /// Widths of the registers in bits.
    pub(crate) registers: Vec<u32>,
    pub(crate) blocks: Vec<BasicBlock>,
    pub(crate) local_bytes: u64,
}

/// The properties of a kernel that are needed to launch it.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) name: String,
    /// A kernel's parameters with their offsets.
    pub(crate) params: Vec<Slot>,
    pub(crate) shared_bytes: u64,
    /// Offset and size of the module's constants in its data.
    pub(crate) constants: (u64, u64),
    /// The bytes of those constants alone.
    pub(crate) constant_bytes: u64,
    /// True if a kernel's threads can only be fibers: it has a callee that waits and could not be inlined.
    pub(crate) only_fibers: bool,
    /// `.maxntid`, as a product.
    pub(crate) max_threads: Option<u64>,
    /// `.reqntid`
    pub(crate) required_threads: Option<[u32; 3]>,
    pub(crate) clusters: Clusters,
}

impl Signature {
    /// Bytes of a kernel's parameters.
    pub(crate) fn param_bytes(&self) -> u64 {
        self.params.iter().map(|p| p.offset + p.bytes).max().unwrap_or(0)
    }
}

impl Function {
    /// The number of instructions it has.
    pub(crate) fn instructions(&self) -> usize {
        self.blocks.iter().map(|block| block.insts.len() + 1).sum()
    }

    /// Returns true if it asks for the place of the shared memory that is reserved for libraries.
    pub(crate) fn reserves_shared(&self) -> bool {
        fn asks(value: &Value) -> bool {
            match value {
                Value::Special(special) => matches!(special, Special::ReservedShared(_)),
                Value::Vector(items) => items.iter().any(asks),
                _ => false,
            }
        }
        self.blocks.iter().flat_map(|block| &block.insts).flat_map(|inst| &inst.operands).any(asks)
    }

    /// Bytes of local memory for one activation of the function. Every call takes some, so that infinite recursion
    /// overflows.
    pub(crate) fn stack_bytes(&self) -> u64 {
        let least = if self.kind == FunctionKind::Func { 16 } else { 0 };
        self.local_bytes.next_multiple_of(16).max(least)
    }
}
