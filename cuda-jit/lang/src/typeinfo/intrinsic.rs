//! The functions that kernels call and that the front end lowers itself.

use super::ViewOp;
use crate::kir::{
    AtomicOp, BarrierOp, BinaryOp, CacheLoad, CacheStore, Clock, CompareOp, Float8, LibFn, Order, ReduceOp, Scalar,
    ShuffleOp, TernaryOp, UnaryOp, VoteOp,
};

/// A collective operation of a group within a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupOp {
    /// Reads the value of another thread.
    Shuffle(ShuffleOp),
    /// Finds the threads with the same value.
    MatchAny,
    /// Tests if all threads have the same value.
    MatchAll,
    /// Reduces the values of all threads.
    Reduce(BinaryOp),
}

/// A function of `std::mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// `mem::swap`
    Swap,
    /// `mem::replace`
    Replace,
    /// `mem::take`
    Take,
}

/// Functions that kernels call and that the compiler lowers itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// The thread's position in the grid, in this many dimensions.
    Grid(usize),
    /// The grid's extent in threads, in this many dimensions.
    GridSize(usize),
    /// The thread's index in its block.
    ThreadIdx,
    /// The block's index in the grid.
    BlockIdx,
    /// The block's extent in threads.
    BlockDim,
    /// The grid's extent in blocks.
    GridDim,
    /// The thread's lane in its warp.
    LaneId,
    /// The number of lanes in a warp.
    WarpSize,
    /// A barrier of the block.
    Barrier,
    /// A barrier of the block that reduces a `bool`.
    BarrierReduce(BarrierOp),
    /// A memory fence.
    Fence(Order),
    /// Atomically loads a number.
    AtomicLoad(Order),
    /// Atomically stores a number.
    AtomicStore(Order),
    /// Atomically updates a number and returns the old value.
    Atomic(AtomicOp, Order),
    /// Atomic minimum or maximum, where NaN is treated as missing.
    AtomicNotNan(AtomicOp, Order),
    /// Atomic compare-and-exchange.
    CompareExchange(Order),
    /// Reads a number from another lane of a segment of this many.
    Shuffle(ShuffleOp, u32),
    /// A warp vote: combines a `bool` of the lanes.
    Vote(VoteOp),
    /// Finds the lanes with the same number.
    MatchAny,
    /// Tests if all lanes have the same number.
    MatchAll,
    /// A warp reduction of a number.
    Reduce(ReduceOp),
    /// The mask of the lanes that compare so with the thread's own.
    LaneMask(CompareOp),
    /// A barrier of lanes.
    SyncWarp,
    /// The converged lanes.
    ActiveMask,
    /// Reads a clock.
    Clock(Clock),
    /// Sleeps.
    Sleep,
    /// A breakpoint.
    Breakpoint,
    /// Sets the value of a graph's conditional node.
    SetConditional,
    /// A unary operator on an integer's bits.
    Bits(UnaryOp),
    /// The position of the lowest one bit, from 1.
    FindFirstSet,
    /// A function of libdevice.
    Library(LibFn),
    /// An operation of a tile of this many threads of a warp.
    Tile(GroupOp, u32),
    /// An operation of the converged threads of a warp.
    Coalesced(GroupOp),
    /// The block's index in its cluster.
    ClusterBlockIdx,
    /// The cluster's extent in blocks.
    ClusterDim,
    /// The block's rank in its cluster.
    ClusterRank,
    /// The number of blocks in the cluster.
    ClusterRanks,
    /// Maps the shared memory of another block of the cluster.
    MapShared,
    /// A barrier of the cluster.
    ClusterBarrier,
    /// The word of the grid barrier.
    GridBarrier,
    /// Tests if a thread of the kernel has panicked.
    KernelPanicked,
    /// A ternary operator on integers.
    Ternary(TernaryOp),
    /// Loads a number with a cache hint.
    LoadCached(CacheLoad),
    /// Stores a number with a cache hint.
    StoreCached(CacheStore),
    /// Splits a slice of numbers into a slice of vectors and the rest.
    AsVectors,
    /// A vector of given numbers, or of one number in all lanes.
    Vector,
    /// A view of a slice; of a slice and a shape if true.
    View(bool),
    /// An intrinsic on ndarray views.
    ViewOp(ViewOp),
    /// The argument, unchanged.
    Identity,
    /// A copy of a reference's referent.
    Duplicate,
    /// The comparison of two values: true if the first is ordered after the second.
    ComesAfter,
    /// The compute capability of the target.
    ComputeCapability,
    /// Converts two `f32` to 8-bit floats.
    Narrow(Float8),
    /// Converts two 8-bit floats to `f16`.
    Widen(Float8),
    /// A conversion from this number type, as by `as`.
    Number(Scalar),
    /// A checked conversion from this integer type: the integer, or the error if it does not fit.
    TryNumber(Scalar),
    /// The argument.
    Same,
    /// A vector of an array's elements.
    VectorOfArray,
    /// An array, or a reference to one, of a slice with as many elements; the error if the lengths differ.
    ArrayOfSlice,
    /// A function of `std::mem`.
    Exchange(Exchange),
}
