//! The keywords of KIR's operators in the text form: one table for printing and parsing.

use crate::{
    AtomicOp, Axis, BarrierOp, BinaryOp, CacheLoad, CacheStore, Clock, CompareOp, Float8, Lane, Ordering, ReduceOp,
    Role, Scalar, Scope, ShuffleOp, Space, Special, TernaryOp, UnaryOp, VoteOp,
};

/// Declares tables of keywords: for each variant of an enumeration its keyword.
macro_rules! keywords {
    ($($(#[$doc:meta])* $table:ident: $ty:ident { $($word:literal $variant:ident $(($of:expr))?),* $(,)? })*) => { $(
        $(#[$doc])*
        pub(super) const $table: &[(&str, $ty)] = &[$(($word, $ty::$variant $(($of))?)),*];
    )* };
}

keywords! {
    /// The parameter roles that have a keyword.
    ROLE: Role { "extent" Extent, "stride" Stride, "by_value" ByValue, "returned" Returned }
    /// The unary operators.
    UNARY: UnaryOp {
        "neg" Neg, "not" Not, "abs" Abs, "sqrt" Sqrt, "floor" Floor, "ceil" Ceil, "trunc" Trunc,
        "round_ties_even" RoundTiesEven, "count_ones" CountOnes, "leading_zeros" LeadingZeros,
        "trailing_zeros" TrailingZeros, "reverse_bits" ReverseBits, "swap_bytes" SwapBytes,
    }
    /// The binary operators.
    BINARY: BinaryOp {
        "add" Add, "sub" Sub, "mul" Mul, "div" Div, "rem" Rem, "and" And, "or" Or, "xor" Xor, "shl" Shl, "shr" Shr,
        "min" Min, "max" Max, "copysign" CopySign,
    }
    /// The comparisons.
    COMPARE: CompareOp { "eq" Eq, "ne" Ne, "lt" Lt, "le" Le, "gt" Gt, "ge" Ge }
    /// The loads with a cache hint.
    LOAD: CacheLoad {
        "load.ca" All, "load.cg" Global, "load.cs" Streaming, "load.lu" LastUse, "load.cv" Volatile, "load.nc" ReadOnly
    }
    /// The stores with a cache hint.
    STORE: CacheStore { "store.wb" WriteBack, "store.cg" Global, "store.cs" Streaming, "store.wt" WriteThrough }
    /// The halves of a pair.
    LANE: Lane { "low" Low, "high" High }
    /// The formats of 8-bit floats.
    FLOAT8: Float8 { "e4m3" E4m3, "e5m2" E5m2 }
    /// The special registers.
    SPECIAL: Special {
        "thread_idx.x" ThreadIdx(Axis::X), "thread_idx.y" ThreadIdx(Axis::Y), "thread_idx.z" ThreadIdx(Axis::Z),
        "block_idx.x" BlockIdx(Axis::X), "block_idx.y" BlockIdx(Axis::Y), "block_idx.z" BlockIdx(Axis::Z),
        "block_dim.x" BlockDim(Axis::X), "block_dim.y" BlockDim(Axis::Y), "block_dim.z" BlockDim(Axis::Z),
        "grid_dim.x" GridDim(Axis::X), "grid_dim.y" GridDim(Axis::Y), "grid_dim.z" GridDim(Axis::Z), "lane_id" LaneId,
        "warp_size" WarpSize, "dynamic_shared_bytes" DynamicSharedBytes, "cluster_block_idx.x" ClusterBlockIdx(Axis::X),
        "cluster_block_idx.y" ClusterBlockIdx(Axis::Y), "cluster_block_idx.z" ClusterBlockIdx(Axis::Z),
        "cluster_dim.x" ClusterDim(Axis::X), "cluster_dim.y" ClusterDim(Axis::Y), "cluster_dim.z" ClusterDim(Axis::Z),
        "cluster_rank" ClusterRank, "cluster_ranks" ClusterRanks, "lane_mask.eq" LaneMask(CompareOp::Eq),
        "lane_mask.ne" LaneMask(CompareOp::Ne), "lane_mask.lt" LaneMask(CompareOp::Lt),
        "lane_mask.le" LaneMask(CompareOp::Le), "lane_mask.gt" LaneMask(CompareOp::Gt),
        "lane_mask.ge" LaneMask(CompareOp::Ge), "compute_capability" ComputeCapability,
    }
    /// The operators of three operands.
    TERNARY: TernaryOp {
        "byte_perm" BytePerm, "funnel_left" FunnelLeft, "funnel_right" FunnelRight, "dot_bytes" DotBytes
    }
    /// The clocks.
    CLOCK: Clock { "cycles_low" CyclesLow, "cycles" Cycles, "nanoseconds" Nanoseconds }
    /// The memory orderings.
    ORDERING: Ordering { "relaxed" Relaxed, "acquire" Acquire, "release" Release, "acq_rel" AcqRel, "seq_cst" SeqCst }
    /// The reductions over lanes.
    REDUCE: ReduceOp { "add" Add, "min" Min, "max" Max, "and" And, "or" Or, "xor" Xor }
    /// The memory spaces.
    SPACE: Space {
        "global" Global, "shared" Shared, "cluster" Cluster, "local" Local, "constant" Constant, "generic" Generic
    }
    /// The barrier reductions.
    BARRIER: BarrierOp { "barrier_count" Count, "barrier_and" And, "barrier_or" Or }
    /// The scopes.
    SCOPE: Scope { "block" Block, "cluster" Cluster, "device" Device, "system" System }
    /// The atomic operators.
    ATOMIC: AtomicOp {
        "add" Add, "sub" Sub, "min" Min, "max" Max, "and" And, "or" Or, "xor" Xor, "exchange" Exchange, "inc" Inc,
        "dec" Dec,
    }
    /// The shuffles.
    SHUFFLE: ShuffleOp { "index" Index, "up" Up, "down" Down, "xor" Xor }
    /// The votes.
    VOTE: VoteOp { "all" All, "any" Any, "equal" Equal, "ballot" Ballot }
}

/// The keyword of `item` in a table. The tables are complete; a test prints every operator.
pub(super) fn word<T: PartialEq>(table: &[(&'static str, T)], item: &T) -> &'static str {
    table.iter().find(|(_, other)| other == item).map_or("?", |(word, _)| word)
}

/// The item of a keyword in a table.
pub(super) fn item<T: Copy>(table: &[(&'static str, T)], word: &str) -> Option<T> {
    table.iter().find(|(other, _)| *other == word).map(|(_, item)| *item)
}

/// The scalar type of that name.
pub(super) fn scalar(word: &str) -> Option<Scalar> {
    Scalar::ALL.into_iter().find(|scalar| scalar.name() == word)
}
