//! The operators that instructions are parameterised by. Not the instructions, which are [`Op`](super::Op)'s, nor the
//! operators' types, which [`crate::valid`] states.

/// Operators of one operand, which also gives the result's type.
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
    /// How many bits of an integer are one, in the operand's own type.
    CountOnes,
    /// How many leading bits of an integer are zero, in the operand's own type.
    LeadingZeros,
    /// How many trailing bits of an integer are zero, in the operand's own type.
    TrailingZeros,
    /// Reverses the bits of an integer.
    ReverseBits,
    /// Reverses the bytes of an integer.
    SwapBytes,
}

/// Operators of two operands of one type, which the result has too.
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

/// How long caches should keep what is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheLoad {
    /// In all caches.
    All,
    /// In the device's, not in the multiprocessor's.
    Global,
    /// It is likely not needed again.
    Streaming,
    /// It is not needed again.
    LastUse,
    /// Not at all: it is loaded anew.
    Volatile,
    /// Through the cache of what nobody writes during the launch.
    ReadOnly,
}

impl CacheLoad {
    /// PTX's word for it.
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

/// How long caches should keep what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheStore {
    /// In all caches that keep writes.
    WriteBack,
    /// In the device's, not in the multiprocessor's.
    Global,
    /// It is likely not needed again.
    Streaming,
    /// It goes through to memory.
    WriteThrough,
}

impl CacheStore {
    /// PTX's word for it.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The one in the register's low bits, first in memory.
    Low,
    /// The other.
    High,
}

/// A format of 8-bit floats with an instruction for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float8 {
    /// 4 bits of exponent and 3 of fraction, without infinity.
    E4m3,
    /// 5 bits of exponent and 2 of fraction.
    E5m2,
}

/// An axis of the grid or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "CUDA's names")]
pub enum Axis {
    X,
    Y,
    Z,
}

/// What the hardware knows of the running thread; each is a `u32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// The thread's index in its block.
    ThreadIdx(Axis),
    /// The block's index in the grid.
    BlockIdx(Axis),
    /// The block's extent in threads.
    BlockDim(Axis),
    /// The grid's extent in blocks.
    GridDim(Axis),
    /// The thread's lane in its warp.
    LaneId,
    /// The number of lanes in a warp.
    WarpSize,
    /// How many bytes of dynamic shared memory the launch gave each block.
    DynamicSharedBytes,
    /// The block's index in its cluster.
    ClusterBlockIdx(Axis),
    /// The cluster's extent in blocks.
    ClusterDim(Axis),
    /// The block's number in its cluster.
    ClusterRank,
    /// How many blocks the cluster has.
    ClusterRanks,
    /// The lanes whose numbers stand so to the thread's own, a bit for each.
    LaneMask(CompareOp),
    /// The compute capability that is compiled for, its major number times ten and its minor one; a constant.
    ComputeCapability,
}

/// A clock; what it yields differs from read to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// The low 32 bits of [`Clock::Cycles`]; a `u32`.
    CyclesLow,
    /// The multiprocessor's cycles; a `u64`.
    Cycles,
    /// The device's nanoseconds; a `u64`.
    Nanoseconds,
}

/// Operators of three operands of one 32-bit type, which the result has too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TernaryOp {
    /// Of the eight bytes of the first two operands, the first's the lower, those four that the third's lower four
    /// nibbles number; with bit 3 of a nibble the byte's sign bit eight times. For `u32`.
    BytePerm,
    /// The upper word of the second and first operand together, shifted left by the third modulo 32. For `u32`.
    FunnelLeft,
    /// The lower word of the second and first operand together, shifted right by the third modulo 32. For `u32`.
    FunnelRight,
    /// The products of the first two operands' bytes, which have the type's sign, and the third added up, wrapping. For
    /// `i32` and `u32`.
    DotBytes,
}

/// What a barrier yields. Each waits until every thread of the block that has not ended is at a barrier, and makes the
/// memory operations before it visible to those threads after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierOp {
    /// For how many of the threads the `bool` is true; a `u32`.
    Count,
    /// Whether it is true for all; a `bool`.
    And,
    /// Whether it is true for any; a `bool`.
    Or,
}

/// Who sees the memory operations before a fence no later than those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "CUDA's scopes")]
pub enum Scope {
    Block,
    Cluster,
    Device,
    System,
}

/// How an operation orders the memory operations around it, as C++ and Rust mean these words.
///
/// See [PTX's memory consistency model](https://docs.nvidia.com/cuda/parallel-thread-execution/#memory-consistency-model).
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
    /// Whether what comes after stays after.
    pub fn acquires(self) -> bool {
        matches!(self, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
    }

    /// Whether what comes before stays before.
    pub fn releases(self) -> bool {
        matches!(self, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
    }
}

/// An ordering, and among whom it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// How it orders.
    pub ordering: Ordering,
    /// Among whom.
    pub scope: Scope,
}

impl Order {
    /// No ordering, among the device's threads: what CUDA's atomic functions have.
    pub const RELAXED: Order = Order { ordering: Ordering::Relaxed, scope: Scope::Device };
}

/// What an atomic operation makes of the old value and its operand.
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

/// What a reduction makes of the lanes' numbers.
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

/// From which lane a shuffle takes its value. Lanes beyond the thread's part of the warp give the thread's own value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShuffleOp {
    /// The lane of that number, modulo the part.
    Index,
    /// So many lanes below.
    Up,
    /// So many lanes above.
    Down,
    /// The lane whose number differs in these bits.
    Xor,
}

/// What the threads of a warp tell each other of a `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoteOp {
    /// Whether it is true for all; a `bool`.
    All,
    /// Whether it is true for any; a `bool`.
    Any,
    /// Whether it is the same for all; a `bool`.
    Equal,
    /// For which lanes it is true; a `u32` with a bit for each.
    Ballot,
}
