//! The interface between compiled code and the block scheduler.
//!
//! # Safety
//!
//! A table of accesses is read with the length that generated code gives it.
//!
//! Invariant: generated code reads and writes [`Context`] at the offsets that `offset_of!` gives for this definition.

use crate::exec::copies::Copies;
use crate::ptx::Position;
use std::mem::offset_of;

/// The state of one worker while it runs blocks of a launch. Generated code gets a pointer to it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Context {
    /// Always 0, but loaded from memory, so that LLVM does not know the value.
    pub(crate) zero: u64,
    pub(crate) params: *const u8,
    /// The module's `.global` and `.const` data.
    pub(crate) data: u64,
    /// The block's shared window.
    pub(crate) shared: u64,
    /// Spilled registers: one array over the block's threads for each.
    pub(crate) frame: u64,
    /// The region in which each thread of the block continues; 0 for none.
    pub(crate) next: *mut u32,
    /// The address of the first thread's local memory, and the distance to the next thread's.
    pub(crate) local: u64,
    pub(crate) local_stride: u64,
    pub(crate) dynamic_shared: u64,
    pub(crate) dynamic_shared_bytes: u32,
    pub(crate) total_shared_bytes: u32,
    pub(crate) grid_id: u64,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// The coordinates of the running block.
    pub(crate) ctaid: [u32; 3],
    pub(crate) worker: u32,
    pub(crate) workers: u32,
    /// Set if threads of the block wait in `next`.
    pub(crate) pending: u32,
    /// The reason why a thread stopped the launch, 0 if none did; then the block, thread and source position of the
    /// first one.
    pub(crate) trap: u32,
    pub(crate) stopped: Stopped,
    /// The block that a loop over blocks has reached.
    pub(crate) running: u64,
    /// The stack below this address is reserved for the runtime: calls must not use it.
    pub(crate) stack_limit: u64,
    /// The number of threads of a block.
    pub(crate) threads: u64,
    /// The running fiber, if threads are fibers.
    pub(crate) fiber: u64,
    /// The workspace for the grid-wide barriers of a cooperative launch; 0 for other launches.
    pub(crate) workspace: u64,
    /// A bit set of the slots of the devices' range that the launch can access.
    pub(crate) slots: u64,
    /// The address of the module's managed variables.
    pub(crate) managed: u64,
    /// The id of the driver's context, whose heap `malloc` uses.
    pub(crate) owner: u32,
    pub(crate) cluster: ClusterPosition,
    /// 1 if the code asks the checkers, and if other blocks run before this one has ended; not for compiled code.
    pub(crate) checked: u32,
    pub(crate) resident: u32,
    /// The bounds of checked code, [`BOUNDS_COUNT`] of them.
    pub(crate) bounds: *const Bounds,
    /// The addresses that threads of checked code have accessed and that were not checked yet, [`BATCH_ROW`] words for
    /// each access in the code ([`super::batch`]).
    pub(crate) batch: *mut u64,
    /// The accesses of the code that records them, if it is checked.
    pub(crate) batched: *const BatchTable,
    /// Asynchronous copies that threads of the block have started. Compiled code does not access them.
    pub(crate) copies: Copies,
}

/// The position of a block in its cluster. Only code for launches in clusters reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClusterPosition {
    /// The block's index in the cluster, and the cluster's extents in blocks.
    pub(crate) ctaid: [u32; 3],
    pub(crate) nctaid: [u32; 3],
    /// The cluster's index in the grid, and the grid's extents in clusters.
    pub(crate) id: [u32; 3],
    pub(crate) count: [u32; 3],
    /// The block's rank in the cluster, and the number of its blocks; 0 blocks if the launch has no clusters.
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    /// A bit set of the blocks whose shared memory can be accessed.
    pub(crate) open: u32,
}

/// The bits of a shared-memory address that are the offset in a window; those above are the block's rank in the
/// cluster. The windows of a cluster's blocks are contiguous at this distance, and [`Context::shared`] is the first
/// one's.
pub(crate) const WINDOW: u32 = 24;
/// A rank beyond that of every block of a cluster.
pub(crate) const NO_RANK: u32 = 255;

/// The thread that stopped the launch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stopped {
    pub(crate) block: u64,
    pub(crate) thread: u64,
    pub(crate) position: u64,
}

macro_rules! offsets {
    ($($name:ident = $($field:ident).+),+ $(,)?) => {
        $(pub(crate) const $name: usize = offset_of!(Context, $($field).+);)+
    };
}

offsets! {
    ZERO = zero, PARAMS = params, DATA = data, SHARED = shared, FRAME = frame, NEXT = next, LOCAL = local,
    LOCAL_STRIDE = local_stride, DYNAMIC_SHARED = dynamic_shared, DYNAMIC_SHARED_BYTES = dynamic_shared_bytes,
    TOTAL_SHARED_BYTES = total_shared_bytes, GRID_ID = grid_id, GRID = grid, BLOCK = block, CTAID = ctaid,
    WORKER = worker, WORKERS = workers, PENDING = pending, THREADS = threads,
    RUNNING = running, STACK_LIMIT = stack_limit, FIBER = fiber, WORKSPACE = workspace,
    SLOTS = slots, MANAGED = managed, BOUNDS = bounds, BATCH = batch, BATCHED = batched,
    CLUSTER_CTAID = cluster.ctaid, CLUSTER_NCTAID = cluster.nctaid, CLUSTER_ID = cluster.id,
    CLUSTER_COUNT = cluster.count, CLUSTER_RANK = cluster.rank, CLUSTER_RANKS = cluster.ranks,
}

/// The kind of an access, as exact code passes it to the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    Store,
    Atomic,
}

/// The properties of an access as bits of the number that exact code passes: below them is its [`Access`], above them
/// its size in bytes.
pub(crate) mod access {
    /// The access is strong: relaxed, volatile, or of an atomic operation.
    pub(crate) const STRONG: u32 = 1 << 2;
    pub(crate) const ACQUIRE: u32 = 1 << 3;
    pub(crate) const RELEASE: u32 = 1 << 4;
    /// The lowest of two bits of the [`Scope`](super::Scope).
    pub(crate) const SCOPE: u32 = 5;
    /// The lowest of four bits, one for each quarter of a load that is not strong: nothing uses it ([`crate::ir::demanded`]).
    /// The bits are those of strong accesses from [`ACQUIRE`] on.
    pub(crate) const UNUSED: u32 = 3;
    /// A load, which is not strong, of a value that may be padding of a structure that is copied. The bit is one of [`ELEMENTS`].
    pub(crate) const PART: u32 = 1 << 14;
    /// The lowest of three bits of the state space that the instruction names, from 1 on; 0 for none.
    pub(crate) const SPACE: u32 = 7;
    /// The access initialises or ends an `mbarrier` object, or is another operation on one.
    pub(crate) const OBJECT: u32 = 1 << 10;
    /// The value of a store is known.
    pub(crate) const VALUE: u32 = 1 << 11;
    /// A load of memory that may be local, whose value is only moved ([`crate::ir::moves`]).
    pub(crate) const MOVES: u32 = 1 << 12;
    /// An exchange whose old value nobody reads. The bit is that of [`MOVES`], which atomic operations do not have.
    pub(crate) const OVERWRITES: u32 = MOVES;
    /// The load or the store of a scalar copy; no other copy of the thread is between the two ([`crate::ir::moves`]).
    pub(crate) const COPIES: u32 = 1 << 13;
    /// A compare-and-swap. The bit is that of [`COPIES`], which atomic operations do not have.
    pub(crate) const SWAPS: u32 = COPIES;
    /// The lowest of two bits of the binary logarithm of the number of elements, of a strong access to a vector.
    pub(crate) const ELEMENTS: u32 = 14;
    /// The lowest of eight bits of the size in bytes.
    pub(crate) const BYTES: u32 = 16;
    /// The lowest of eight bits of the number of its [`Bounds`](super::Bounds).
    pub(crate) const BOUNDS: u32 = 24;
}

/// The properties of a fence as bits of the number that checked code passes.
pub(crate) mod fence {
    /// The two bits of the [`Scope`](super::Scope).
    pub(crate) const SCOPE: u32 = 3;
    pub(crate) const ACQUIRES: u32 = 1 << 2;
    pub(crate) const RELEASES: u32 = 1 << 3;
}

/// The properties that checked code passes of an operation on a barrier object.
pub(crate) mod arrival {
    /// An arrival that releases what its thread has done before.
    pub(crate) const RELEASE: u32 = 0;
    /// The use of the object begins or ends.
    pub(crate) const BEGINS: u32 = 1;
    pub(crate) const RELAXED: u32 = 2;
    /// The arrival is made by copies later, or the operation is for bytes.
    pub(crate) const MIXED: u32 = 3;
}

/// Addresses at which a place in checked code may access memory without asking.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) first: u64,
    pub(crate) count: u64,
}

/// The number of bounds, which the places of a launch's code share.
pub(crate) const BOUNDS_COUNT: usize = 256;

/// Words of the batch for one access in the code: one for each thread of a block, and some more, so that the rows of one
/// thread are in different sets of the processor's cache.
pub(crate) const BATCH_ROW: usize = 1024 + 24;
/// The number of rows of the batch.
pub(crate) const BATCH_ROWS: usize = 96;
/// The address in a batch of a thread that has not made the access.
pub(crate) const NOT_ACCESSED: u64 = u64::MAX;

/// An access in the code whose addresses are recorded: its properties ([`access`]) and its place.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BatchSite {
    /// If it has [`access::VALUE`], the next row has the values.
    pub(crate) kind: u64,
    pub(crate) position: u64,
}

/// The accesses in code that records them, in program order.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct BatchTable {
    count: u64,
    first: [BatchSite; 0],
}

impl BatchTable {
    /// Returns the accesses.
    ///
    /// # Safety
    ///
    /// The table is one that the code generator wrote: it is followed by this many accesses.
    pub(crate) unsafe fn sites(&self) -> &[BatchSite] {
        // SAFETY: the caller guarantees that the elements follow, which have no other alignment than the number.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.count as usize) }
    }
}

/// The scope of a fence or of a strong access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Block,
    Cluster,
    /// The device, or everything.
    Device,
}

impl Scope {
    /// All values, in order.
    pub(crate) const ALL: [Scope; 3] = [Scope::Block, Scope::Cluster, Scope::Device];

    /// Returns the scope for its number.
    pub(crate) fn new(number: u32) -> Scope {
        Scope::ALL.get(number as usize).copied().unwrap_or(Scope::Device)
    }
}

impl Access {
    pub(crate) fn new(number: u32) -> Access {
        [Access::Load, Access::Store].get((number & 3) as usize).copied().unwrap_or(Access::Atomic)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Access::Load => "load",
            Access::Store => "store",
            Access::Atomic => "atomic operation",
        }
    }
}

/// Encodes a source position as one number; 0 for none.
pub(crate) fn encode_position(position: Position) -> u64 {
    u64::from(position.line) << 32 | u64::from(position.column)
}

/// Runs blocks `first..last` in ascending order. Returns the block after the last one that it finished or left pending.
pub(crate) type BlocksFn = unsafe extern "C" fn(*mut Context, u64, u64) -> u64;

/// Runs one region for `count` threads of the current block from `first` on, where regions are scheduled.
///
/// Returns the state in which all these threads continue, or [`DIVERGED`] if `next` holds one for each.
pub(crate) type RangeFn = unsafe extern "C" fn(*mut Context, u64, u64) -> u64;

/// The result of a [`RangeFn`] whose threads may have diverged: `next` holds the state of each.
pub(crate) const DIVERGED: u64 = u32::MAX as u64;

/// The result of a vectorised loop that deoptimises: its threads have to be run by the scalar region.
pub(crate) const DEOPTIMISED: u64 = u32::MAX as u64 - 1;

/// The result of a vectorised loop whose speculation failed: its threads may be run by the one that does not speculate.
pub(crate) const MISSPECULATED: u64 = u32::MAX as u64 - 2;

/// Runs one region for the listed threads of the current block.
pub(crate) type RegionFn = unsafe extern "C" fn(*mut Context, *const u32, u64) -> u64;
