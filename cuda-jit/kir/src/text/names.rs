//! The keywords of KIR's operators in the text form: one table for printing and parsing.

use crate::{
    AtomicOp, Axis, BarrierOp, BinaryOp, CacheLoad, CacheStore, Clock, CompareOp, Float8, Lane, Ordering, ReduceOp,
    Role, Scalar, Scope, ShuffleOp, Space, Special, TernaryOp, UnaryOp, VoteOp,
};

/// The parameter roles that have a keyword.
pub(super) const ROLE: [(&str, Role); 4] =
    [("extent", Role::Extent), ("stride", Role::Stride), ("by_value", Role::ByValue), ("returned", Role::Returned)];

/// The unary operators.
pub(super) const UNARY: [(&str, UnaryOp); 13] = [
    ("neg", UnaryOp::Neg),
    ("not", UnaryOp::Not),
    ("abs", UnaryOp::Abs),
    ("sqrt", UnaryOp::Sqrt),
    ("floor", UnaryOp::Floor),
    ("ceil", UnaryOp::Ceil),
    ("trunc", UnaryOp::Trunc),
    ("round_ties_even", UnaryOp::RoundTiesEven),
    ("count_ones", UnaryOp::CountOnes),
    ("leading_zeros", UnaryOp::LeadingZeros),
    ("trailing_zeros", UnaryOp::TrailingZeros),
    ("reverse_bits", UnaryOp::ReverseBits),
    ("swap_bytes", UnaryOp::SwapBytes),
];

/// The binary operators.
pub(super) const BINARY: [(&str, BinaryOp); 13] = [
    ("add", BinaryOp::Add),
    ("sub", BinaryOp::Sub),
    ("mul", BinaryOp::Mul),
    ("div", BinaryOp::Div),
    ("rem", BinaryOp::Rem),
    ("and", BinaryOp::And),
    ("or", BinaryOp::Or),
    ("xor", BinaryOp::Xor),
    ("shl", BinaryOp::Shl),
    ("shr", BinaryOp::Shr),
    ("min", BinaryOp::Min),
    ("max", BinaryOp::Max),
    ("copysign", BinaryOp::CopySign),
];

/// The comparisons.
pub(super) const COMPARE: [(&str, CompareOp); 6] = [
    ("eq", CompareOp::Eq),
    ("ne", CompareOp::Ne),
    ("lt", CompareOp::Lt),
    ("le", CompareOp::Le),
    ("gt", CompareOp::Gt),
    ("ge", CompareOp::Ge),
];

/// The loads with a cache hint.
pub(super) const LOAD: [(&str, CacheLoad); 6] = [
    ("load.ca", CacheLoad::All),
    ("load.cg", CacheLoad::Global),
    ("load.cs", CacheLoad::Streaming),
    ("load.lu", CacheLoad::LastUse),
    ("load.cv", CacheLoad::Volatile),
    ("load.nc", CacheLoad::ReadOnly),
];

/// The stores with a cache hint.
pub(super) const STORE: [(&str, CacheStore); 4] = [
    ("store.wb", CacheStore::WriteBack),
    ("store.cg", CacheStore::Global),
    ("store.cs", CacheStore::Streaming),
    ("store.wt", CacheStore::WriteThrough),
];

/// The halves of a pair.
pub(super) const LANE: [(&str, Lane); 2] = [("low", Lane::Low), ("high", Lane::High)];

/// The formats of 8-bit floats.
pub(super) const FLOAT8: [(&str, Float8); 2] = [("e4m3", Float8::E4m3), ("e5m2", Float8::E5m2)];

/// The special registers.
pub(super) const SPECIAL: [(&str, Special); 30] = [
    ("thread_idx.x", Special::ThreadIdx(Axis::X)),
    ("thread_idx.y", Special::ThreadIdx(Axis::Y)),
    ("thread_idx.z", Special::ThreadIdx(Axis::Z)),
    ("block_idx.x", Special::BlockIdx(Axis::X)),
    ("block_idx.y", Special::BlockIdx(Axis::Y)),
    ("block_idx.z", Special::BlockIdx(Axis::Z)),
    ("block_dim.x", Special::BlockDim(Axis::X)),
    ("block_dim.y", Special::BlockDim(Axis::Y)),
    ("block_dim.z", Special::BlockDim(Axis::Z)),
    ("grid_dim.x", Special::GridDim(Axis::X)),
    ("grid_dim.y", Special::GridDim(Axis::Y)),
    ("grid_dim.z", Special::GridDim(Axis::Z)),
    ("lane_id", Special::LaneId),
    ("warp_size", Special::WarpSize),
    ("dynamic_shared_bytes", Special::DynamicSharedBytes),
    ("cluster_block_idx.x", Special::ClusterBlockIdx(Axis::X)),
    ("cluster_block_idx.y", Special::ClusterBlockIdx(Axis::Y)),
    ("cluster_block_idx.z", Special::ClusterBlockIdx(Axis::Z)),
    ("cluster_dim.x", Special::ClusterDim(Axis::X)),
    ("cluster_dim.y", Special::ClusterDim(Axis::Y)),
    ("cluster_dim.z", Special::ClusterDim(Axis::Z)),
    ("cluster_rank", Special::ClusterRank),
    ("cluster_ranks", Special::ClusterRanks),
    ("lane_mask.eq", Special::LaneMask(CompareOp::Eq)),
    ("lane_mask.ne", Special::LaneMask(CompareOp::Ne)),
    ("lane_mask.lt", Special::LaneMask(CompareOp::Lt)),
    ("lane_mask.le", Special::LaneMask(CompareOp::Le)),
    ("lane_mask.gt", Special::LaneMask(CompareOp::Gt)),
    ("lane_mask.ge", Special::LaneMask(CompareOp::Ge)),
    ("compute_capability", Special::ComputeCapability),
];

/// The operators of three operands.
pub(super) const TERNARY: [(&str, TernaryOp); 4] = [
    ("byte_perm", TernaryOp::BytePerm),
    ("funnel_left", TernaryOp::FunnelLeft),
    ("funnel_right", TernaryOp::FunnelRight),
    ("dot_bytes", TernaryOp::DotBytes),
];

/// The clocks.
pub(super) const CLOCK: [(&str, Clock); 3] =
    [("cycles_low", Clock::CyclesLow), ("cycles", Clock::Cycles), ("nanoseconds", Clock::Nanoseconds)];

/// The memory orderings.
pub(super) const ORDERING: [(&str, Ordering); 5] = [
    ("relaxed", Ordering::Relaxed),
    ("acquire", Ordering::Acquire),
    ("release", Ordering::Release),
    ("acq_rel", Ordering::AcqRel),
    ("seq_cst", Ordering::SeqCst),
];

/// The reductions over lanes.
pub(super) const REDUCE: [(&str, ReduceOp); 6] = [
    ("add", ReduceOp::Add),
    ("min", ReduceOp::Min),
    ("max", ReduceOp::Max),
    ("and", ReduceOp::And),
    ("or", ReduceOp::Or),
    ("xor", ReduceOp::Xor),
];

/// The memory spaces.
pub(super) const SPACE: [(&str, Space); 6] = [
    ("global", Space::Global),
    ("shared", Space::Shared),
    ("cluster", Space::Cluster),
    ("local", Space::Local),
    ("constant", Space::Constant),
    ("generic", Space::Generic),
];

/// The barrier reductions.
pub(super) const BARRIER: [(&str, BarrierOp); 3] =
    [("barrier_count", BarrierOp::Count), ("barrier_and", BarrierOp::And), ("barrier_or", BarrierOp::Or)];

/// The scopes.
pub(super) const SCOPE: [(&str, Scope); 4] =
    [("block", Scope::Block), ("cluster", Scope::Cluster), ("device", Scope::Device), ("system", Scope::System)];

/// The atomic operators.
pub(super) const ATOMIC: [(&str, AtomicOp); 10] = [
    ("add", AtomicOp::Add),
    ("sub", AtomicOp::Sub),
    ("min", AtomicOp::Min),
    ("max", AtomicOp::Max),
    ("and", AtomicOp::And),
    ("or", AtomicOp::Or),
    ("xor", AtomicOp::Xor),
    ("exchange", AtomicOp::Exchange),
    ("inc", AtomicOp::Inc),
    ("dec", AtomicOp::Dec),
];

/// The shuffles.
pub(super) const SHUFFLE: [(&str, ShuffleOp); 4] =
    [("index", ShuffleOp::Index), ("up", ShuffleOp::Up), ("down", ShuffleOp::Down), ("xor", ShuffleOp::Xor)];

/// The votes.
pub(super) const VOTE: [(&str, VoteOp); 4] =
    [("all", VoteOp::All), ("any", VoteOp::Any), ("equal", VoteOp::Equal), ("ballot", VoteOp::Ballot)];

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
