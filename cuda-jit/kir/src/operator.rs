//! The operators that parameterise instructions. The instructions are [`Op`](super::Op)'s variants; [`crate::valid`]
//! states the operators' types.

/// Operators of one operand, whose type is also the result's.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Inst, Op, Scalar, UnaryOp, Value, text::print_inst};
///
/// let op = Op::Unary(UnaryOp::Sqrt, Value(0));
/// let inst = Inst { op, result: Some((Value(1), Scalar::F32.into())) };
/// assert_eq!(print_inst(&inst), "v1: f32 = sqrt v0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Negation of a signed integer or float.
    Neg,
    /// Complement of an integer, or negation of a `bool`.
    Not,
    /// Absolute value; of a signed integer it wraps at the minimum.
    Abs,
    /// Square root of a float, correctly rounded.
    Sqrt,
    /// Rounds a float toward negative infinity.
    Floor,
    /// Rounds a float toward positive infinity.
    Ceil,
    /// Rounds a float toward zero.
    Trunc,
    /// Rounds a float to the nearest integer, ties to even.
    RoundTiesEven,
    /// The number of one bits of an integer, in the operand's own type.
    CountOnes,
    /// The number of leading zero bits of an integer, in the operand's own type.
    LeadingZeros,
    /// The number of trailing zero bits of an integer, in the operand's own type.
    TrailingZeros,
    /// Reverses the bits of an integer.
    ReverseBits,
    /// Reverses the bytes of an integer.
    SwapBytes,
}

/// Operators of two operands of one type, which is also the result's.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{BinaryOp, Inst, Op, Scalar, Value, text::print_inst};
///
/// let op = Op::Binary(BinaryOp::Max, Value(0), Value(1));
/// let inst = Inst { op, result: Some((Value(2), Scalar::F32.into())) };
/// assert_eq!(print_inst(&inst), "v2: f32 = max v0, v1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the module's documentation gives each operator's meaning")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    /// The smaller; of floats the one that is not NaN, of zeros the negative one.
    Min,
    /// The larger; of floats the one that is not NaN, of zeros the positive one.
    Max,
    /// The first float with the sign of the second.
    CopySign,
}

/// Comparisons of two operands of one type; the result is `bool`.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{CompareOp, Inst, Op, Scalar, Value, text::print_inst};
///
/// let op = Op::Compare(CompareOp::Lt, Value(0), Value(1));
/// let inst = Inst { op, result: Some((Value(2), Scalar::Bool.into())) };
/// assert_eq!(print_inst(&inst), "v2: bool = lt v0, v1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "Rust's comparison operators")]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// A load's cache hint.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{CacheLoad, Inst, Op, Scalar, Value, text::print_inst};
///
/// let op = Op::LoadCached(CacheLoad::Streaming, Value(0));
/// let inst = Inst { op, result: Some((Value(1), Scalar::F32.into())) };
/// assert_eq!(print_inst(&inst), "v1: f32 = load.cs v0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheLoad {
    /// Cached at all levels.
    All,
    /// Cached in the device's L2 only, not in the multiprocessor's L1.
    Global,
    /// Streaming: likely not needed again.
    Streaming,
    /// Last use: not needed again.
    LastUse,
    /// Not cached: loaded from memory again.
    Volatile,
    /// Cached in the read-only cache, for memory that nobody writes during the launch.
    ReadOnly,
}

impl CacheLoad {
    /// PTX's suffix.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::CacheLoad;
    ///
    /// assert_eq!(CacheLoad::Streaming.suffix(), "cs");
    /// ```
    pub fn suffix(self) -> &'static str {
        match self {
            CacheLoad::All => "ca",
            CacheLoad::Global => "cg",
            CacheLoad::Streaming => "cs",
            CacheLoad::LastUse => "lu",
            CacheLoad::Volatile => "cv",
            CacheLoad::ReadOnly => "nc",
        }
    }
}

/// A store's cache hint.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{CacheStore, Inst, Op, Value, text::print_inst};
///
/// let op = Op::StoreCached(CacheStore::WriteThrough, Value(0), Value(1));
/// assert_eq!(print_inst(&Inst { op, result: None }), "store.wt v0, v1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheStore {
    /// Write-back at all levels.
    WriteBack,
    /// Cached in the device's L2 only, not in the multiprocessor's L1.
    Global,
    /// Streaming: likely not needed again.
    Streaming,
    /// Written through to memory.
    WriteThrough,
}

impl CacheStore {
    /// PTX's suffix.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::CacheStore;
    ///
    /// assert_eq!(CacheStore::WriteThrough.suffix(), "wt");
    /// ```
    pub fn suffix(self) -> &'static str {
        match self {
            CacheStore::WriteBack => "wb",
            CacheStore::Global => "cg",
            CacheStore::Streaming => "cs",
            CacheStore::WriteThrough => "wt",
        }
    }
}

/// A half of a pair.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Inst, Lane, Op, Scalar, Value, text::print_inst};
///
/// let op = Op::Lane(Value(0), Lane::High);
/// let inst = Inst { op, result: Some((Value(1), Scalar::F16.into())) };
/// assert_eq!(print_inst(&inst), "v1: f16 = high v0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The low bits of the register; first in memory.
    Low,
    /// The high bits.
    High,
}

/// A format of 8-bit floats with conversion instructions.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Float8, Inst, Op, Scalar, Value, text::print_inst};
///
/// let op = Op::Widen(Float8::E4m3, Value(0));
/// let inst = Inst { op, result: Some((Value(1), Scalar::F16x2.into())) };
/// assert_eq!(print_inst(&inst), "v1: f16x2 = widen e4m3 v0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float8 {
    /// 4 exponent and 3 fraction bits, without infinities.
    E4m3,
    /// 5 exponent and 2 fraction bits.
    E5m2,
}

/// An axis of the grid or block.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Axis, Inst, Op, Scalar, Special, Value, text::print_inst};
///
/// let op = Op::Special(Special::BlockIdx(Axis::X));
/// let inst = Inst { op, result: Some((Value(0), Scalar::U32.into())) };
/// assert_eq!(print_inst(&inst), "v0: u32 = special block_idx.x");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "CUDA's names")]
pub enum Axis {
    X,
    Y,
    Z,
}

/// A special register; each is a `u32`.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Inst, Op, Scalar, Special, Value, text::print_inst};
///
/// let op = Op::Special(Special::LaneId);
/// let inst = Inst { op, result: Some((Value(0), Scalar::U32.into())) };
/// assert_eq!(print_inst(&inst), "v0: u32 = special lane_id");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// The thread's index in its block.
    ThreadIdx(Axis),
    /// The block's index in the grid.
    BlockIdx(Axis),
    /// The block's dimension in threads.
    BlockDim(Axis),
    /// The grid's dimension in blocks.
    GridDim(Axis),
    /// The thread's lane in its warp.
    LaneId,
    /// The number of lanes in a warp.
    WarpSize,
    /// The bytes of dynamic shared memory that the launch gave each block.
    DynamicSharedBytes,
    /// The block's index in its cluster.
    ClusterBlockIdx(Axis),
    /// The cluster's dimension in blocks.
    ClusterDim(Axis),
    /// The block's rank in its cluster.
    ClusterRank,
    /// The number of blocks in the cluster.
    ClusterRanks,
    /// The mask of lanes whose number compares to the thread's own lane in this way.
    LaneMask(CompareOp),
    /// The target's compute capability, ten times the major number plus the minor one; a constant.
    ComputeCapability,
}

/// A clock, which may read differently each time.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Clock, Inst, Op, Scalar, Value, text::print_inst};
///
/// let op = Op::Clock(Clock::Nanoseconds);
/// let inst = Inst { op, result: Some((Value(0), Scalar::U64.into())) };
/// assert_eq!(print_inst(&inst), "v0: u64 = clock nanoseconds");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// The low 32 bits of [`Clock::Cycles`]; a `u32`.
    CyclesLow,
    /// The multiprocessor's cycle counter; a `u64`.
    Cycles,
    /// The device's nanosecond timer; a `u64`.
    Nanoseconds,
}

/// Operators of three operands of one 32-bit type, which is also the result's.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Inst, Op, Scalar, TernaryOp, Value, text::print_inst};
///
/// let op = Op::Ternary(TernaryOp::BytePerm, Value(0), Value(1), Value(2));
/// let inst = Inst { op, result: Some((Value(3), Scalar::U32.into())) };
/// assert_eq!(print_inst(&inst), "v3: u32 = byte_perm v0, v1, v2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TernaryOp {
    /// Selects four of the eight bytes of the first two operands, the first's being the lower, by the lower four
    /// nibbles of the third; bit 3 of a nibble replicates the byte's sign bit instead. For `u32`.
    BytePerm,
    /// The upper word of the concatenated second and first operand, shifted left by the third modulo 32. For `u32`.
    FunnelLeft,
    /// The lower word of the concatenated second and first operand, shifted right by the third modulo 32. For `u32`.
    FunnelRight,
    /// The dot product of the first two operands' bytes, signed as the type is, plus the third, wrapping. For `i32` and
    /// `u32`.
    DotBytes,
}

/// The reduction of a barrier. A barrier waits until every thread of the block that has not ended is at a barrier, and
/// makes memory operations before it visible to those threads after it.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{BarrierOp, Inst, Op, Scalar, Value, text::print_inst};
///
/// let op = Op::BarrierReduce(BarrierOp::Count, Value(0));
/// let inst = Inst { op, result: Some((Value(1), Scalar::U32.into())) };
/// assert_eq!(print_inst(&inst), "v1: u32 = barrier_count v0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierOp {
    /// The number of threads whose `bool` is true; a `u32`.
    Count,
    /// True if it is true in all threads; a `bool`.
    And,
    /// True if it is true in any thread; a `bool`.
    Or,
}

/// The threads that observe the memory operations before a fence no later than those after it.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Inst, Op, Order, Ordering, Scope, text::print_inst};
///
/// let fence = Op::Fence(Order { ordering: Ordering::SeqCst, scope: Scope::Block });
/// assert_eq!(print_inst(&Inst { op: fence, result: None }), "fence seq_cst block");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "CUDA's scopes")]
pub enum Scope {
    Block,
    Cluster,
    Device,
    System,
}

/// A memory ordering, in the sense of C++ and Rust.
///
/// See [PTX's memory consistency model](https://docs.nvidia.com/cuda/parallel-thread-execution/#memory-consistency-model).
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::Ordering;
///
/// assert!(Ordering::Acquire.acquires() && !Ordering::Acquire.releases());
/// assert!(Ordering::SeqCst.acquires() && Ordering::SeqCst.releases());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "Rust's orderings")]
pub enum Ordering {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Ordering {
    /// Returns true if later operations may not move before it.
    pub fn acquires(self) -> bool {
        matches!(self, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
    }

    /// Returns true if earlier operations may not move after it.
    pub fn releases(self) -> bool {
        matches!(self, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
    }
}

/// A memory ordering and its scope.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Order, Ordering, Scope};
///
/// assert_eq!(Order::RELAXED, Order { ordering: Ordering::Relaxed, scope: Scope::Device });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// The ordering.
    pub ordering: Ordering,
    /// The scope.
    pub scope: Scope,
}

impl Order {
    /// No ordering, at device scope: that of CUDA's atomic functions.
    pub const RELAXED: Order = Order { ordering: Ordering::Relaxed, scope: Scope::Device };
}

/// The new value of an atomic operation, from the old value and the operand.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{AtomicOp, Inst, Op, Order, Scalar, Value, text::print_inst};
///
/// let op = Op::Atomic(AtomicOp::Max, Order::RELAXED, Value(0), Value(1));
/// let inst = Inst { op, result: Some((Value(2), Scalar::U32.into())) };
/// assert_eq!(print_inst(&inst), "v2: u32 = atomic max v0, v1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// The wrapping sum; for 32-bit and 64-bit numbers and floats of 16 bits.
    Add,
    /// The wrapping difference; for 32-bit and 64-bit integers.
    Sub,
    /// The smaller; for 32-bit and 64-bit integers.
    Min,
    /// The larger; for 32-bit and 64-bit integers.
    Max,
    /// Bitwise and; for 32-bit and 64-bit integers.
    And,
    /// Bitwise or; for 32-bit and 64-bit integers.
    Or,
    /// Bitwise exclusive or; for 32-bit and 64-bit integers.
    Xor,
    /// The operand; for 32-bit and 64-bit numbers.
    Exchange,
    /// The old value plus one, or zero if it is not less than the operand; for `u32`.
    Inc,
    /// The old value minus one, or the operand if it is zero or more than the operand; for `u32`.
    Dec,
}

/// The operator of a reduction over lanes.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Inst, Op, ReduceOp, Scalar, Value, text::print_inst};
///
/// let op = Op::Reduce(ReduceOp::Max, Value(0), Value(1));
/// let inst = Inst { op, result: Some((Value(2), Scalar::U32.into())) };
/// assert_eq!(print_inst(&inst), "v2: u32 = reduce max v0, v1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "as the binary operators")]
pub enum ReduceOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// The source lane of a shuffle. A lane outside the thread's segment of the warp gives the thread's own value.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Inst, Op, Scalar, ShuffleOp, Value, text::print_inst};
///
/// let op = Op::Shuffle(ShuffleOp::Down, 32, Value(0), Value(1), Value(2));
/// let inst = Inst { op, result: Some((Value(3), Scalar::F32.into())) };
/// assert_eq!(print_inst(&inst), "v3: f32 = shuffle down v0, v1, v2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShuffleOp {
    /// The lane of that number, modulo the segment.
    Index,
    /// The lane that many below.
    Up,
    /// The lane that many above.
    Down,
    /// The lane whose number differs in these bits.
    Xor,
}

/// The reduction of a warp vote.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Inst, Op, Scalar, Value, VoteOp, text::print_inst};
///
/// let op = Op::Vote(VoteOp::Ballot, Value(0), Value(1));
/// let inst = Inst { op, result: Some((Value(2), Scalar::U32.into())) };
/// assert_eq!(print_inst(&inst), "v2: u32 = vote ballot v0, v1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoteOp {
    /// True if it is true in all lanes; a `bool`.
    All,
    /// True if it is true in any lane; a `bool`.
    Any,
    /// True if it is equal in all lanes; a `bool`.
    Equal,
    /// The mask of lanes in which it is true; a `u32`.
    Ballot,
}
