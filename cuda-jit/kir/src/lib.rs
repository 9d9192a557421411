//! KIR, the typed kernel IR that stands between the front end and the back ends.
//!
//! A [`Module`] is one kernel, or one device function for other compilers' code, and the device functions that it calls. A function is a list of basic blocks over
//! typed *slots* and *values*:
//!
//! - A **slot** is a mutable variable of the thread, without an address. [`Op::Get`] reads it, [`Op::Set`] writes it;
//!   reading a slot that was never written gives an unspecified value of its type.
//! - A **value** is what an instruction yields, written once. It is used only where its definition dominates: later in
//!   the same block, or in a later block that control reaches only through the definition's. Parameters may be used
//!   anywhere.
//! - A block ends in exactly one [`Terminator`]. Block 0 is the entry, and no block jumps to it.
//!
//! # Meaning
//!
//! - **Integers** are two's complement and wrap: `add`, `sub`, `mul`, `neg` give the low bits of the exact result.
//!   `shl` and `shr` take the amount modulo the width; `shr` is arithmetic on signed types. `div` and `rem` truncate
//!   toward zero; a zero divisor, and the signed minimum divided by -1, are undefined: the front end branches around
//!   them. [`Op::Overflows`] tells whether the exact result of `add`, `sub` or `mul` does not fit.
//! - **Floats** are IEEE 754 binary16, binary32 and binary64, and bfloat16, rounded to nearest even. Where
//!   [`Module::contract`] is set, a `mul` may be fused with an `add` or `sub` of its result, which then rounds once.
//! - **Pairs** of 16-bit floats lie in one register, the first in the low half. Arithmetic is that of each half.
//! - **Comparisons** of floats are ordered, but for `ne`, which is true when either side is NaN.
//! - **Casts** are Rust's `as`: integers truncate or extend by the source's signedness, floats to integers saturate and
//!   take NaN to zero, integers to floats round to nearest even, `bool` becomes 0 or 1. Floats of 16 bits are cast from
//!   and to floats only. Pointers are not cast.
//! - **Pointers** are typed by their [`Pointee`]: a number, or a record of so many bytes. `offset` moves by whole
//!   elements, `field` by bytes, to something that the record holds. A pointer is aligned as its pointee is; the part of
//!   a record is aligned as its place in the record says, which may be more than its own type asks for.
//! - **Loads and stores** go through pointers to numbers; the pointer must point into memory of the pointee's type. A load from memory that other threads may write gives some value of the type, the same for every
//!   use of that instruction. `bool` takes one byte, of which the lowest bit counts.
//! - A pointer parameter is aligned to its pointee's alignment, even where nothing may be read behind it.
//! - A pointer parameter with [`Access::Read`] points to memory that nobody writes during the launch, and nothing else
//!   in the kernel points into it writably, but for what [`Op::Generic`] yields, through which it is not written.
//! - **Panic** ends the thread. The first panicking thread of a context writes the site's index, its place in the grid
//!   and the arguments to the context's record; the others just end. Other threads go on.
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
pub use source::{Home, SourceField, SourceKind, SourceScope, SourceType, Variable};
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
    /// A value of a function: its parameters first, then each instruction's result in the order of blocks and, in
    /// a block, of instructions.
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
    /// An array of a function's, in the thread's own memory.
    ArrayId
}
index! {
    /// A constant in memory.
    ConstantId
}
index! {
    /// A type of the source, of a module.
    SourceTypeId
}
index! {
    /// A part of the source, of a function.
    SourceScopeId
}

/// The function of CUDA's device runtime that [`Op::SetConditional`] calls.
pub const SET_CONDITIONAL: &str = "cudaGraphSetConditional";

/// What an instruction does.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A constant.
    Const(Const),
    /// The current value of a slot.
    Get(SlotId),
    /// Writes a slot; yields nothing.
    Set(SlotId, Value),
    /// An operator of one operand.
    Unary(UnaryOp, Value),
    /// An operator of two operands.
    Binary(BinaryOp, Value, Value),
    /// `a * b + c` of floats, rounded once.
    Fma(Value, Value, Value),
    /// An operator of three operands.
    Ternary(TernaryOp, Value, Value, Value),
    /// Whether the exact result of `add`, `sub` or `mul` on integers does not fit the type; a `bool`.
    Overflows(BinaryOp, Value, Value),
    /// A comparison.
    Compare(CompareOp, Value, Value),
    /// The second operand if the first is true, else the third; both are evaluated.
    Select(Value, Value, Value),
    /// A number as another type, as Rust's `as` does it.
    Cast(Value, Scalar),
    /// The same bits as another type of the same width.
    Bitcast(Value, Scalar),
    /// The pair of two floats of 16 bits, the low half first.
    Pair(Value, Value),
    /// A half of a pair: the high one or the low one.
    Lane(Value, Lane),
    /// Two `f32` as 8-bit floats in one `u16`, the first in its low half: rounded to nearest even, and beyond the largest
    /// finite number that one. Unspecified where [`Special::ComputeCapability`] is less than 89.
    Narrow(Float8, Value, Value),
    /// The pair of `f16` of two 8-bit floats in a `u16`. Unspecified where `Narrow` is.
    Widen(Float8, Value),
    /// A pointer moved by a number of elements, a `u64`.
    Offset(Value, Value),
    /// The pointer to what a record holds at an offset in bytes.
    Field(Value, u32, Pointee),
    /// The pointer's address as a number, a `u64`.
    Address(Value),
    /// The same address as a pointer to something else, for which it must be aligned.
    Retype(Value, Pointee),
    /// The pointer to the same place that does not say which memory it is in, with an access that may be `ReadWrite` where the
    /// pointer's is `Read`. What is only read is not written through it.
    Generic(Value, Access),
    /// Reads the element behind a pointer.
    Load(Value),
    /// Writes the element behind a pointer; yields nothing.
    Store(Value, Value),
    /// Reads the element behind a pointer to global memory, with a hint for the caches.
    LoadCached(CacheLoad, Value),
    /// Writes the element behind a pointer to global memory, with a hint for the caches; yields nothing.
    StoreCached(CacheStore, Value, Value),
    /// Reads two or four elements, of up to 16 bytes together, from the one behind a pointer to global memory on, which is
    /// aligned to all of them, into slots, with a hint for the caches; yields nothing.
    LoadCachedAll(CacheLoad, Value, Vec<SlotId>),
    /// Writes two or four elements, as [`Op::LoadCachedAll`] reads them; yields nothing.
    StoreCachedAll(CacheStore, Value, Vec<Value>),
    /// A register of the thread's place.
    Special(Special),
    /// The address of an array in shared memory.
    Shared(SharedId),
    /// The address so many bytes (`u64`) behind the beginning of the block's dynamic shared memory, which lies behind the
    /// arrays; it must be aligned for the pointee.
    DynamicShared(Value, Pointee),
    /// The pointer to what a block of the cluster, of that number (`u32`), has in shared memory where this block has what a
    /// pointer points to. It can be used while the thread runs: all blocks of the cluster of a kernel that reaches this have
    /// begun before its first instruction, and none ends before the last thread of all has.
    MapShared(Value, Value),
    /// The address of an array of this function's.
    Local(ArrayId),
    /// The address of a constant in memory.
    Constant(ConstantId),
    /// Waits for the block; yields nothing.
    Barrier,
    /// Waits for the block, and combines a `bool` of each thread.
    BarrierReduce(BarrierOp, Value),
    /// Orders memory operations; yields nothing.
    Fence(Order),
    /// Reads the number behind a pointer at once; not to release.
    AtomicLoad(Order, Value),
    /// Writes the number behind a pointer at once; not to acquire. Yields nothing.
    AtomicStore(Order, Value, Value),
    /// Changes the element behind a pointer at once; yields the old one.
    Atomic(AtomicOp, Order, Value, Value),
    /// Writes the third operand behind a pointer if the second's bits are there; yields the old element. For numbers of
    /// 16, 32 and 64 bits. Where they are not there, nothing is released.
    CompareExchange(Order, Value, Value, Value),
    /// Takes a 32-bit number from another lane: mask of lanes (`u32`), value, lane or distance (`u32`). The warp is taken
    /// in parts of so many neighbouring lanes, a power of two up to 32.
    Shuffle(ShuffleOp, u32, Value, Value, Value),
    /// Combines a `bool` of each lane in a mask (`u32`).
    Vote(VoteOp, Value, Value),
    /// For which lanes in a mask (`u32`) a 32-bit or 64-bit integer is the thread's own; a `u32`.
    MatchAny(Value, Value),
    /// The mask (`u32`) if a 32-bit or 64-bit integer is the same in all its lanes, else 0.
    MatchAll(Value, Value),
    /// Combines a 32-bit integer of each lane in a mask (`u32`).
    Reduce(ReduceOp, Value, Value),
    /// Waits for the lanes in a mask (`u32`); yields nothing.
    SyncWarp(Value),
    /// The lanes that run this together now; a `u32`.
    ActiveMask,
    /// Waits for the blocks of the cluster, as a barrier does for the threads of a block; yields nothing.
    ClusterBarrier,
    /// The word, a `u32` in global memory, that a cooperative launch has for its grid to meet on: 0 at first.
    GridBarrier,
    /// Whether a thread of this kernel has panicked and the host does not know yet; a `bool`.
    Panicked,
    /// What time it is.
    Clock(Clock),
    /// Waits for about so many nanoseconds (`u32`), up to a millisecond; yields nothing.
    Sleep(Value),
    /// Stops in the debugger that is attached to the device; yields nothing. Without one it is the device's what happens.
    Breakpoint,
    /// Sets the number (`u64`, a handle) that a conditional node of the launch's graph looks at to a value (`u32`); yields nothing.
    SetConditional(Value, Value),
    /// Calls a function of libdevice: with its arguments, and pointers to what it writes.
    Math(LibFn, Vec<Value>),
    /// Calls a device function.
    Call(FuncId, Vec<Value>),
    /// Writes a text to the program's standard output, at the latest when the host synchronises: the format, in which
    /// each of the [`conversions`] stands for a value; yields nothing.
    Print(Arc<str>, Vec<Value>),
    /// What follows in the block, up to the next of these, was written there, in that scope; yields nothing and does
    /// nothing.
    Line(Place, Option<SourceScopeId>),
}

impl Op {
    /// Whether threads wait for each other or look at each other's registers here.
    pub fn synchronises(&self) -> bool {
        matches!(
            self,
            // What maps other blocks' memory ends at a barrier of the cluster.
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

    /// Calls `visit` with each value that the operation uses, in the order of its text form.
    pub fn each_value(&self, mut visit: impl FnMut(Value)) {
        self.clone().each_value_mut(|value| visit(*value));
    }

    /// Calls `visit` with each value that the operation uses, to rename them.
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

/// One instruction; where it yields a value, that value's number is implied by its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// The value that it yields and its type.
    pub result: Option<(Value, Type)>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Goes on in a block.
    Jump(BlockId),
    /// Goes on in the first block if the `bool` is true, else in the second.
    Branch(Value, BlockId, BlockId),
    /// Ends the function, with its result if it has one.
    Return(Option<Value>),
    /// Ends the thread with a panic; at most [`PANIC_ARGUMENTS`] `u64` arguments for the message.
    Panic(SiteId, Vec<Value>),
}

impl Terminator {
    /// Calls `visit` with every block that may follow.
    pub fn each_target_mut(&mut self, mut visit: impl FnMut(&mut BlockId)) {
        match self {
            Terminator::Jump(target) => visit(target),
            Terminator::Branch(_, yes, no) => [yes, no].into_iter().for_each(visit),
            Terminator::Return(_) | Terminator::Panic(..) => {}
        }
    }

    /// Calls `visit` with each value that the terminator uses, to rename them.
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
    /// Its end.
    pub end: Terminator,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name: letters, digits, `_` and `.`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// What may be done behind it; [`Access::Read`] for scalars.
    pub access: Access,
    /// What stands behind it for the caller.
    pub role: Role,
}

/// What a parameter is for the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Its value.
    #[default]
    Plain,
    /// A kernel's: it counts something that lies in memory, and so is less than 2^63.
    Extent,
    /// An exported function's: it points to a copy of what the caller passes by value.
    ByValue,
    /// An exported function's first: it points to where the result is put, which the caller gets by value.
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
    /// The type of its result; kernels have none.
    pub result: Option<Type>,
    /// Its slots.
    pub slots: Vec<Slot>,
    /// Its arrays.
    pub arrays: Vec<ArrayDecl>,
    /// The parts of its source.
    pub scopes: Vec<SourceScope>,
    /// The variables of its source.
    pub variables: Vec<Variable>,
    /// Its blocks; the first is the entry.
    pub blocks: Vec<Block>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The source file, as the compiler names it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// As many arguments a panic has at most.
pub const PANIC_ARGUMENTS: usize = 8;

/// A place in the source that can panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The message. `{0}` stands for an argument, `{0i}` for a signed one, `{0:f32:08.3}` for the bits of one of that type,
    /// in Rust's format; braces that stand for none are doubled.
    pub message: String,
    /// The source file, as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// An array in shared memory, one for each block of the launch, or in the thread's own, one for each call of the
/// function; its contents are unspecified at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayDecl {
    /// Its name: letters, digits, `_` and `.`; need not be unique.
    pub name: String,
    /// The type of its elements.
    pub element: Pointee,
    /// How many there are; at least one.
    pub len: u64,
}

/// A kernel, or a device function for other compilers' code, with everything it calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Whether a multiplication and an addition may be fused.
    pub contract: bool,
    /// Whether the first function is no kernel, but a device function that code of other compilers calls as a function
    /// of C. No launch comes with it, so a panic in it is a trap.
    pub exported: bool,
    /// The functions; the first is the kernel or the exported function, the others are device functions.
    pub functions: Vec<Function>,
    /// The places that can panic.
    pub sites: Vec<Site>,
    /// The arrays in shared memory.
    pub shared: Vec<ArrayDecl>,
    /// The constants in memory.
    pub constants: Vec<ConstantDecl>,
    /// The types of the source.
    pub types: Vec<SourceType>,
}

impl Module {
    /// Whether threads wait for each other or look at each other's registers anywhere in it.
    pub fn synchronises(&self) -> bool {
        self.ops().any(Op::synchronises)
    }

    /// Whether its grid waits for itself, which only a cooperative launch lets it.
    pub fn is_cooperative(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::GridBarrier))
    }

    /// Whether any of it knows where it was written.
    pub fn has_lines(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::Line(..)))
    }

    /// Whether it converts 8-bit floats by their instructions.
    pub fn has_float8(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::Narrow(..) | Op::Widen(..)))
    }

    /// Whether any of it calls a function of libdevice.
    pub fn calls_libdevice(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::Math(..)))
    }

    fn ops(&self) -> impl Iterator<Item = &Op> {
        let blocks = self.functions.iter().flat_map(|function| &function.blocks);
        blocks.flat_map(|block| &block.insts).map(|inst| &inst.op)
    }
}
