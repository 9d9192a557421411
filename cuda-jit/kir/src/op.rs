//! Operations, instructions and terminators. [`super`] states their meaning, [`crate::valid`] their types.

use std::sync::Arc;

use super::{
    Access, ArrayId, AtomicOp, BarrierOp, BinaryOp, BlockId, CacheLoad, CacheStore, Clock, CompareOp, Const,
    ConstantId, Float8, FuncId, Lane, LibFn, Location, Order, Pointee, ReduceOp, Scalar, SharedId, ShuffleOp, SiteId,
    SlotId, SourceScopeId, Special, TernaryOp, Type, UnaryOp, Value, VoteOp,
};

/// The operation of an instruction.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{BinaryOp, Op, Value};
///
/// let difference = Op::Binary(BinaryOp::Sub, Value(1), Value(0));
/// assert!(!difference.synchronises());
/// assert!(Op::Barrier.synchronises());
/// ```
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
    /// argument for each of its [`conversions`](super::conversions). Has no result.
    Print(Arc<str>, Vec<Value>),
    /// The source location and scope of the following instructions of the block, up to the next such marker. Has no
    /// result and no effect.
    Line(Location, Option<SourceScopeId>),
}

impl Op {
    /// Returns true if threads wait for each other or exchange registers here, so that the operation is convergent.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Op, Value};
    ///
    /// assert!(Op::SyncWarp(Value(0)).synchronises());
    /// assert!(!Op::Load(Value(0)).synchronises());
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Op, Value};
    ///
    /// let mut operands = Vec::new();
    /// Op::Fma(Value(2), Value(0), Value(1)).each_value(|value| operands.push(value.index()));
    /// assert_eq!(operands, [2, 0, 1]);
    /// ```
    pub fn each_value(&self, mut visit: impl FnMut(Value)) {
        self.clone().each_value_mut(|value| visit(*value));
    }

    /// Calls `visit` with each operand, which it may replace.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Op, Value};
    ///
    /// let mut op = Op::Store(Value(0), Value(1));
    /// op.each_value_mut(|value| value.0 += 4);
    /// assert_eq!(op, Op::Store(Value(4), Value(5)));
    /// ```
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
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Inst, Op, Scalar, Value, text::print_inst};
///
/// let inst = Inst { op: Op::Load(Value(0)), result: Some((Value(1), Scalar::F32.into())) };
/// assert_eq!(print_inst(&inst), "v1: f32 = load v0");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// Its operation.
    pub op: Op,
    /// Its result and the result's type.
    pub result: Option<(Value, Type)>,
}

/// The terminator of a block.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{BlockId, Terminator, Value, text::print_terminator};
///
/// let end = Terminator::Branch(Value(0), BlockId(1), BlockId(2));
/// assert_eq!(print_terminator(&end), "branch v0, b1, b2");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Jumps to a block.
    Jump(BlockId),
    /// Branches to the first block if the `bool` is true, else to the second.
    Branch(Value, BlockId, BlockId),
    /// Returns from the function, with its result if it has one.
    Return(Option<Value>),
    /// Panics, which ends the thread; with at most [`PANIC_ARGUMENTS`](super::PANIC_ARGUMENTS) `u64` arguments for the message.
    Panic(SiteId, Vec<Value>),
}

impl Terminator {
    /// Calls `visit` with every successor, which it may replace.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{BlockId, Terminator};
    ///
    /// let mut end = Terminator::Jump(BlockId(1));
    /// end.each_target_mut(|target| target.0 += 1);
    /// assert_eq!(end, Terminator::Jump(BlockId(2)));
    /// ```
    pub fn each_target_mut(&mut self, mut visit: impl FnMut(&mut BlockId)) {
        match self {
            Terminator::Jump(target) => visit(target),
            Terminator::Branch(_, yes, no) => [yes, no].into_iter().for_each(visit),
            Terminator::Return(_) | Terminator::Panic(..) => {}
        }
    }

    /// Calls `visit` with each operand, which it may replace.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::{Terminator, Value};
    ///
    /// let mut end = Terminator::Return(Some(Value(1)));
    /// end.each_value_mut(|value| *value = Value(7));
    /// assert_eq!(end, Terminator::Return(Some(Value(7))));
    /// ```
    pub fn each_value_mut(&mut self, visit: impl FnMut(&mut Value)) {
        match self {
            Terminator::Jump(_) | Terminator::Return(None) => {}
            Terminator::Branch(value, ..) | Terminator::Return(Some(value)) => std::iter::once(value).for_each(visit),
            Terminator::Panic(_, arguments) => arguments.iter_mut().for_each(visit),
        }
    }
}
