//! KIR, the typed kernel IR between the front end and the back ends.
//!
//! A [`Module`] is one kernel, or one device function that code of other compilers calls, together with the device
//! functions that it calls. A function is a list of basic blocks over typed *slots* and *values*:
//!
//! - A **slot** is a mutable variable of the thread, without an address. [`Op::Get`] reads it, [`Op::Set`] writes it;
//!   reading a slot that was never written gives an unspecified value of its type.
//! - A **value** is the result of an instruction, in SSA form: defined once, and used only where its definition
//!   dominates the use. Parameters may be used anywhere.
//! - A block ends in exactly one [`Terminator`]. Block 0 is the entry, and no block jumps to it.
//!
//! # Meaning
//!
//! - **Integers** are two's complement and wrap: `add`, `sub`, `mul`, `neg` give the low bits of the exact result.
//!   `shl` and `shr` take the amount modulo the width; `shr` is arithmetic on signed types. `div` and `rem` truncate
//!   toward zero; a zero divisor, and the signed minimum divided by -1, are undefined: the front end branches around
//!   them. [`Op::Overflows`] tests whether the exact result of `add`, `sub` or `mul` does not fit.
//! - **Floats** are IEEE 754 binary16, binary32 and binary64, and bfloat16, rounded to nearest even. Where
//!   [`Module::contract`] is set, a `mul` may be fused with an `add` or `sub` of its result, which then rounds once.
//! - **Pairs** of 16-bit floats share one register, the first in the low half. Arithmetic is element-wise.
//! - **Comparisons** of floats are ordered, but for `ne`, which is true when either side is NaN.
//! - **Casts** are Rust's `as`: integers truncate or extend by the source's signedness, floats to integers saturate and
//!   take NaN to zero, integers to floats round to nearest even, `bool` becomes 0 or 1. Floats of 16 bits are cast from
//!   and to floats only. Pointers are not cast.
//! - **Pointers** are typed by their [`Pointee`]: a number, or a record with a size and an alignment. `offset` moves by
//!   whole elements, `field` by bytes, to a field of the record. A pointer is aligned as its pointee is; a field is
//!   aligned as its offset in the record implies, which may be more than its own type requires.
//! - **Loads and stores** go through pointers to numbers; the pointer must point into memory of the pointee's type. A
//!   load from memory that other threads may write gives some value of the type, the same for every use of that
//!   instruction. `bool` takes one byte, of which the lowest bit counts.
//! - A pointer parameter is aligned to its pointee's alignment, even if nothing is read through it.
//! - A pointer parameter with [`Access::Read`] points to memory that nobody writes during the launch. No other pointer
//!   in the kernel can write it, except that the result of [`Op::Generic`] may claim to, which is then not written
//!   through.
//! - **Panic** ends the thread. The first panicking thread of a context writes the site's index, the block and thread
//!   index and the arguments to the context's panic record; later ones only end. Other threads continue.
//!
//! The text form ([`text`]) prints every part of a module and reads it back; [`crate::valid`] states the rules that a
//! module obeys. A module that verifies never makes a back end panic.
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use std::sync::Arc;

pub mod build;
mod constant;
mod format;
mod library;
mod operator;
mod pointee;
mod shared;
mod source;
pub mod target;
pub mod text;
mod types;
pub mod valid;

pub use constant::{CONSTANT_MEMORY, ConstantDecl, taken};
pub use format::{Printed, conversions};
pub use library::{LibArg, LibFn};
pub use operator::{
    AtomicOp, Axis, BarrierOp, BinaryOp, CacheLoad, CacheStore, Clock, CompareOp, Float8, Lane, Order, Ordering,
    ReduceOp, Scope, ShuffleOp, Special, TernaryOp, UnaryOp, VoteOp,
};
pub use pointee::{Pointee, Record};
pub use shared::SHARED_ALIGN;
pub use shared::SpilledShared;
pub use source::{SourceField, SourceKind, SourceScope, SourceType, Storage, Variable};
pub use types::{Access, Const, Scalar, Space, Type};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The index as `usize`.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// A value of a function: parameters are numbered first, then instruction results in the order of blocks and of the
    /// instructions in them.
    Value
}
index! {
    /// A slot of a function.
    SlotId
}
index! {
    /// A block of a function.
    BlockId
}
index! {
    /// A function of a module.
    FuncId
}
index! {
    /// A panic site of a module.
    SiteId
}
index! {
    /// An array in shared memory.
    SharedId
}
index! {
    /// A local array of a function.
    ArrayId
}
index! {
    /// A constant in memory.
    ConstantId
}
index! {
    /// A source type of a module.
    SourceTypeId
}
index! {
    /// A source scope of a function.
    SourceScopeId
}

/// The function of CUDA's device runtime that [`Op::SetConditional`] calls.
pub const SET_CONDITIONAL: &str = "cudaGraphSetConditional";

/// The operation of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A constant.
    Const(Const),
    /// Reads a slot.
    Get(SlotId),
    /// Writes a slot; has no result.
    Set(SlotId, Value),
    /// An operator of one operand.
    Unary(UnaryOp, Value),
    /// An operator of two operands.
    Binary(BinaryOp, Value, Value),
    /// `a * b + c` of floats, rounded once.
    Fma(Value, Value, Value),
    /// An operator of three operands.
    Ternary(TernaryOp, Value, Value, Value),
    /// Tests whether the exact result of `add`, `sub` or `mul` on integers overflows the type; a `bool`.
    Overflows(BinaryOp, Value, Value),
    /// A comparison.
    Compare(CompareOp, Value, Value),
    /// Selects the second operand if the first is true, else the third; both are evaluated.
    Select(Value, Value, Value),
    /// Converts a number to another type, as Rust's `as` does.
    Cast(Value, Scalar),
    /// Reinterprets the bits as another type of the same width.
    Bitcast(Value, Scalar),
    /// Packs two floats of 16 bits, the low half first.
    Pair(Value, Value),
    /// Extracts the high or low half of a pair.
    Lane(Value, Lane),
    /// Converts two `f32` to 8-bit floats in one `u16`, the first in its low half: rounded to nearest even, and clamped
    /// to the largest finite number. Unspecified if [`Special::ComputeCapability`] is less than 89.
    Narrow(Float8, Value, Value),
    /// Converts the two 8-bit floats in a `u16` to a pair of `f16`. Unspecified as for `Narrow`.
    Widen(Float8, Value),
    /// Offsets a pointer by a number of elements, a `u64`.
    Offset(Value, Value),
    /// The pointer to a field of a record, at an offset in bytes.
    Field(Value, u32, Pointee),
    /// The pointer's address as a `u64`.
    Address(Value),
    /// The same address as a pointer to another type, for which it must be aligned.
    Retype(Value, Pointee),
    /// The same address as a pointer to generic memory, with an access that may be `ReadWrite` where the pointer's is
    /// `Read`. Read-only memory is not written through it.
    Generic(Value, Access),
    /// Loads the element behind a pointer.
    Load(Value),
    /// Stores to the element behind a pointer; has no result.
    Store(Value, Value),
    /// Loads the element behind a pointer to global memory, with a cache hint.
    LoadCached(CacheLoad, Value),
    /// Stores to the element behind a pointer to global memory, with a cache hint; has no result.
    StoreCached(CacheStore, Value, Value),
    /// Loads two or four consecutive elements, up to 16 bytes in total, into slots, with a cache hint. The pointer is
    /// to global memory and aligned to their total size. Has no result.
    LoadCachedAll(CacheLoad, Value, Vec<SlotId>),
    /// Stores two or four elements, likewise; has no result.
    StoreCachedAll(CacheStore, Value, Vec<Value>),
    /// Reads a special register.
    Special(Special),
    /// The address of an array in shared memory.
    Shared(SharedId),
    /// The address at an offset in bytes (`u64`) from the start of the block's own dynamic shared memory, which follows
    /// the shared arrays; it must be aligned for the pointee.
    DynamicShared(Value, Pointee),
    /// Maps a pointer to shared memory to the same address in another block of the cluster, by the block's number
    /// (`u32`). The result is valid while the thread runs: all blocks of the cluster of a kernel that reaches this have
    /// started before its first instruction, and none ends before the last thread of all has.
    MapShared(Value, Value),
    /// The address of a local array.
    Local(ArrayId),
    /// The address of a constant in memory.
    Constant(ConstantId),
    /// Waits for the block's threads; has no result.
    Barrier,
    /// Waits for the block's threads, and reduces a `bool` of each.
    BarrierReduce(BarrierOp, Value),
    /// Orders memory operations; has no result.
    Fence(Order),
    /// Atomically loads the number behind a pointer; the ordering is no release.
    AtomicLoad(Order, Value),
    /// Atomically stores the number behind a pointer; the ordering is no acquire. Has no result.
    AtomicStore(Order, Value, Value),
    /// Atomically updates the element behind a pointer; the result is the old value.
    Atomic(AtomicOp, Order, Value, Value),
    /// Atomically stores the third operand behind a pointer if the second operand's bits are there; the result is the
    /// old value. For numbers of 16, 32 and 64 bits. A failed comparison is no release.
    CompareExchange(Order, Value, Value, Value),
    /// Reads a 32-bit number of another lane: mask of lanes (`u32`), value, lane or distance (`u32`). The warp is
    /// divided into segments of this many lanes, a power of two up to 32.
    Shuffle(ShuffleOp, u32, Value, Value, Value),
    /// Reduces a `bool` of each lane in a mask (`u32`).
    Vote(VoteOp, Value, Value),
    /// The lanes in a mask (`u32`) whose 32-bit or 64-bit integer equals the thread's own; a `u32`.
    MatchAny(Value, Value),
    /// The mask (`u32`) if a 32-bit or 64-bit integer is equal in all its lanes, else 0.
    MatchAll(Value, Value),
    /// Reduces a 32-bit integer of each lane in a mask (`u32`).
    Reduce(ReduceOp, Value, Value),
    /// Waits for the lanes in a mask (`u32`); has no result.
    SyncWarp(Value),
    /// The mask of the lanes that are executing this together; a `u32`.
    ActiveMask,
    /// Waits for the blocks of the cluster, as a barrier does for the threads of a block; has no result.
    ClusterBarrier,
    /// The address of the grid barrier's word, a `u32` in global memory of a cooperative launch; 0 at first.
    GridBarrier,
    /// Tests whether a thread of this kernel has panicked and the host has not handled it; a `bool`.
    Panicked,
    /// Reads a clock.
    Clock(Clock),
    /// Suspends the thread for about this many nanoseconds (`u32`), up to a millisecond; has no result.
    Sleep(Value),
    /// A breakpoint for a debugger attached to the device; has no result. Without a debugger its effect is the
    /// device's.
    Breakpoint,
    /// Sets the value (`u32`) of a conditional node in the launch's graph, by its handle (`u64`); has no result.
    SetConditional(Value, Value),
    /// Calls a function of libdevice with its arguments, followed by pointers to its output parameters.
    Math(LibFn, Vec<Value>),
    /// Calls a device function.
    Call(FuncId, Vec<Value>),
    /// Prints a text to the program's standard output, at the latest when the host synchronises: a format, and an
    /// argument for each of its [`conversions`]. Has no result.
    Print(Arc<str>, Vec<Value>),
    /// The source location and scope of the following instructions of the block, up to the next such marker. Has no
    /// result and no effect.
    Line(Location, Option<SourceScopeId>),
}

impl Op {
    /// Returns true if threads wait for each other or exchange registers here, so that the operation is convergent.
    pub fn synchronises(&self) -> bool {
        matches!(
            self,
            // memory mapped from other blocks is freed at a barrier of the cluster
            Op::Barrier
                | Op::ClusterBarrier
                | Op::MapShared(..)
                | Op::BarrierReduce(..)
                | Op::Shuffle(..)
                | Op::Vote(..)
                | Op::MatchAny(..)
                | Op::MatchAll(..)
                | Op::Reduce(..)
                | Op::SyncWarp(_)
                | Op::ActiveMask
        )
    }

    /// Calls `visit` with each operand, in the order of the text form.
    pub fn each_value(&self, mut visit: impl FnMut(Value)) {
        self.clone().each_value_mut(|value| visit(*value));
    }

    /// Calls `visit` with each operand, which it may replace.
    pub fn each_value_mut(&mut self, visit: impl FnMut(&mut Value)) {
        let used: Vec<&mut Value> = match self {
            Op::Const(_)
            | Op::Get(_)
            | Op::Special(_)
            | Op::Shared(_)
            | Op::Local(_)
            | Op::Constant(_)
            | Op::Barrier
            | Op::Fence(_)
            | Op::ActiveMask
            | Op::ClusterBarrier
            | Op::GridBarrier
            | Op::Panicked
            | Op::Clock(_)
            | Op::Breakpoint
            | Op::Line(..) => Vec::new(),
            Op::Set(_, a)
            | Op::Unary(_, a)
            | Op::Cast(a, _)
            | Op::Bitcast(a, _)
            | Op::Lane(a, _)
            | Op::Widen(_, a)
            | Op::Load(a)
            | Op::LoadCached(_, a)
            | Op::LoadCachedAll(_, a, _)
            | Op::Address(a)
            | Op::Generic(a, _)
            | Op::Retype(a, _)
            | Op::Field(a, ..)
            | Op::DynamicShared(a, _)
            | Op::BarrierReduce(_, a)
            | Op::AtomicLoad(_, a)
            | Op::Sleep(a)
            | Op::SyncWarp(a) => vec![a],
            Op::Binary(_, a, b)
            | Op::Overflows(_, a, b)
            | Op::Compare(_, a, b)
            | Op::Offset(a, b)
            | Op::MapShared(a, b)
            | Op::Pair(a, b)
            | Op::Narrow(_, a, b)
            | Op::Store(a, b)
            | Op::StoreCached(_, a, b)
            | Op::Atomic(_, _, a, b)
            | Op::AtomicStore(_, a, b)
            | Op::Vote(_, a, b)
            | Op::MatchAny(a, b)
            | Op::MatchAll(a, b)
            | Op::SetConditional(a, b)
            | Op::Reduce(_, a, b) => vec![a, b],
            Op::Fma(a, b, c)
            | Op::Ternary(_, a, b, c)
            | Op::Select(a, b, c)
            | Op::CompareExchange(_, a, b, c)
            | Op::Shuffle(_, _, a, b, c) => vec![a, b, c],
            Op::StoreCachedAll(_, a, values) => std::iter::once(a).chain(values).collect(),
            Op::Call(_, arguments) | Op::Print(_, arguments) | Op::Math(_, arguments) => arguments.iter_mut().collect(),
        };
        used.into_iter().for_each(visit);
    }
}

/// An instruction; the number of its result follows from its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// Its operation.
    pub op: Op,
    /// Its result and the result's type.
    pub result: Option<(Value, Type)>,
}

/// The terminator of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Jumps to a block.
    Jump(BlockId),
    /// Branches to the first block if the `bool` is true, else to the second.
    Branch(Value, BlockId, BlockId),
    /// Returns from the function, with its result if it has one.
    Return(Option<Value>),
    /// Panics, which ends the thread; with at most [`PANIC_ARGUMENTS`] `u64` arguments for the message.
    Panic(SiteId, Vec<Value>),
}

impl Terminator {
    /// Calls `visit` with every successor, which it may replace.
    pub fn each_target_mut(&mut self, mut visit: impl FnMut(&mut BlockId)) {
        match self {
            Terminator::Jump(target) => visit(target),
            Terminator::Branch(_, yes, no) => [yes, no].into_iter().for_each(visit),
            Terminator::Return(_) | Terminator::Panic(..) => {}
        }
    }

    /// Calls `visit` with each operand, which it may replace.
    pub fn each_value_mut(&mut self, visit: impl FnMut(&mut Value)) {
        match self {
            Terminator::Jump(_) | Terminator::Return(None) => {}
            Terminator::Branch(value, ..) | Terminator::Return(Some(value)) => std::iter::once(value).for_each(visit),
            Terminator::Panic(_, arguments) => arguments.iter_mut().for_each(visit),
        }
    }
}

/// A basic block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its instructions, in order.
    pub insts: Vec<Inst>,
    /// Its terminator.
    pub end: Terminator,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name: letters, digits, `_` and `.`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The access to its pointee; [`Access::Read`] for scalars.
    pub access: Access,
    /// Its role in the calling convention.
    pub role: Role,
}

/// The role of a parameter in the calling convention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A plain value.
    #[default]
    Plain,
    /// Of a kernel: a number of elements in memory, which is therefore less than 2^63.
    Extent,
    /// Of an exported function: a pointer to a copy of an argument passed by value.
    ByValue,
    /// Of an exported function, its first: a pointer to the result, which is returned by value.
    Returned,
}

/// A mutable variable of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Its name: letters, digits, `_` and `.`; need not be unique.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A kernel or a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its symbol: letters, digits and `_`, not beginning with a digit; unique in the module.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its result type; kernels have none.
    pub result: Option<Type>,
    /// Its slots.
    pub slots: Vec<Slot>,
    /// Its local arrays.
    pub arrays: Vec<ArrayDecl>,
    /// The scopes of its source.
    pub scopes: Vec<SourceScope>,
    /// The debug variables of its source.
    pub variables: Vec<Variable>,
    /// Its blocks; the first is the entry.
    pub blocks: Vec<Block>,
}

/// A source location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The source file, as the compiler names it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// The largest number of arguments of a panic.
pub const PANIC_ARGUMENTS: usize = 8;

/// A panic site: a message and its source location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The message. `{0}` stands for an argument, `{0i}` for a signed one, `{0:f32:08.3}` for an argument with the bits
    /// of that type, in Rust's format; other braces are doubled.
    pub message: String,
    /// The source file, as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// An array in shared memory, one per block of the launch, or in local memory, one per call of the function; it is not
/// initialised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayDecl {
    /// Its name: letters, digits, `_` and `.`; need not be unique.
    pub name: String,
    /// The type of its elements.
    pub element: Pointee,
    /// The number of elements; at least one.
    pub len: u64,
}

/// A kernel, or a device function that code of other compilers calls, with all its callees.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// True if a multiplication and an addition may be fused.
    pub contract: bool,
    /// True if the first function is no kernel, but a device function that code of other compilers calls as a C
    /// function. It has no launch, so its panics are traps.
    pub exported: bool,
    /// The functions; the first is the kernel or the exported function, the others are device functions.
    pub functions: Vec<Function>,
    /// The panic sites.
    pub sites: Vec<Site>,
    /// The arrays in shared memory.
    pub shared: Vec<ArrayDecl>,
    /// The constants in memory.
    pub constants: Vec<ConstantDecl>,
    /// The source types.
    pub types: Vec<SourceType>,
}

impl Module {
    /// Returns true if it has an operation at which threads wait for each other or exchange registers.
    pub fn synchronises(&self) -> bool {
        self.ops().any(Op::synchronises)
    }

    /// Returns true if it has a grid-wide barrier, which needs a cooperative launch.
    pub fn is_cooperative(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::GridBarrier))
    }

    /// Returns true if any instruction has a source location.
    pub fn has_lines(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::Line(..)))
    }

    /// Returns true if it has native conversions of 8-bit floats.
    pub fn has_float8(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::Narrow(..) | Op::Widen(..)))
    }

    /// Returns true if it calls a function of libdevice.
    pub fn calls_libdevice(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::Math(..)))
    }

    fn ops(&self) -> impl Iterator<Item = &Op> {
        let blocks = self.functions.iter().flat_map(|function| &function.blocks);
        blocks.flat_map(|block| &block.insts).map(|inst| &inst.op)
    }
}
