//! What compiled code and the block scheduler agree on.
//!
//! Invariant: generated code reads and writes [`Context`] at the offsets that `offset_of!` gives for this definition.

use crate::exec::copies::Copies;
use crate::ptx::Position;
use std::mem::offset_of;

/// The state of one worker while it runs blocks of a launch. Generated code gets a pointer to it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Context {
    /// Always 0; loaded, so that LLVM does not know it.
    pub(crate) zero: u64,
    pub(crate) params: *const u8,
    /// The module's `.global` and `.const` data.
    pub(crate) data: u64,
    /// The block's shared window.
    pub(crate) shared: u64,
    /// Registers that cross regions: one array of the block's threads for each.
    pub(crate) frame: u64,
    /// Region in which each thread of the block goes on; 0 for none.
    pub(crate) next: *mut u32,
    /// Local memory of the block's first thread, and the distance to the next one's.
    pub(crate) local: u64,
    pub(crate) local_stride: u64,
    pub(crate) dynamic_shared: u64,
    pub(crate) dynamic_shared_bytes: u32,
    pub(crate) total_shared_bytes: u32,
    pub(crate) grid_id: u64,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// The block that runs.
    pub(crate) ctaid: [u32; 3],
    pub(crate) worker: u32,
    pub(crate) workers: u32,
    /// Set where threads of the block wait in `next`.
    pub(crate) pending: u32,
    /// Why a thread stopped the launch, 0 if none did; and the block, the thread and the place of the first.
    pub(crate) trap: u32,
    pub(crate) stopped: Stopped,
    /// The block that a loop over blocks is at.
    pub(crate) running: u64,
    /// Below this the stack is for the runtime and not for calls.
    pub(crate) stack_limit: u64,
    /// Threads of a block.
    pub(crate) threads: u64,
    /// The fiber that runs, where threads are fibers.
    pub(crate) fiber: u64,
    /// Memory of a cooperative launch for its grid-wide barriers; 0 for other launches.
    pub(crate) workspace: u64,
    /// The slots of the devices' range that the launch reaches, as bits.
    pub(crate) slots: u64,
    /// The module's managed variables.
    pub(crate) managed: u64,
    /// The number of the driver's context; its heap is the one that `malloc` takes from.
    pub(crate) owner: u32,
    pub(crate) cluster: InCluster,
    /// Copies that threads of the block have started; compiled code leaves them alone.
    pub(crate) copies: Copies,
}

/// Where a block is among the blocks of its cluster. Code that is not for launches in clusters does not read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InCluster {
    /// The block's index in the cluster, and the cluster's extents in blocks.
    pub(crate) ctaid: [u32; 3],
    pub(crate) nctaid: [u32; 3],
    /// The cluster's index in the grid, and the grid's extents in clusters.
    pub(crate) id: [u32; 3],
    pub(crate) count: [u32; 3],
    /// The block's number in the cluster, and how many it has; 0 blocks where the launch is in none.
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    /// The blocks whose shared memory can be accessed, as bits.
    pub(crate) open: u32,
}

/// Bits of an address in shared memory below the number of its block in the cluster. Windows of the blocks of a cluster
/// lie one after the other, as far from each other as this says: [`Context::shared`] is the first one's.
pub(crate) const WINDOW: u32 = 24;
/// A number that no block of a cluster has, nor any above it.
pub(crate) const NO_RANK: u32 = 255;

/// Where a thread stopped the launch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stopped {
    pub(crate) block: u64,
    pub(crate) thread: u64,
    pub(crate) place: u64,
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
    SLOTS = slots, MANAGED = managed,
    CLUSTER_CTAID = cluster.ctaid, CLUSTER_NCTAID = cluster.nctaid, CLUSTER_ID = cluster.id,
    CLUSTER_COUNT = cluster.count, CLUSTER_RANK = cluster.rank, CLUSTER_RANKS = cluster.ranks,
}

/// What an access does, as exact code tells the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    Store,
    Atomic,
}

impl Access {
    pub(crate) fn new(number: u32) -> Access {
        [Access::Load, Access::Store].get(number as usize).copied().unwrap_or(Access::Atomic)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Access::Load => "load",
            Access::Store => "store",
            Access::Atomic => "atomic operation",
        }
    }
}

/// A place in a text as one number; 0 for none.
pub(crate) fn place(position: Position) -> u64 {
    u64::from(position.line) << 32 | u64::from(position.column)
}

/// Runs blocks `first..last` in ascending order; gives the block after the last one that it finished or left pending.
pub(crate) type BlocksFn = unsafe extern "C" fn(*mut Context, u64, u64) -> u64;

/// Runs one region for a number of threads of the current block from a first one on, where regions are scheduled.
///
/// Gives where all these threads go on, or [`LOOK`] where `next` holds that for each.
pub(crate) type RangeFn = unsafe extern "C" fn(*mut Context, u64, u64) -> u64;

/// What a [`RangeFn`] gives where its threads may go on in different places.
pub(crate) const LOOK: u64 = u32::MAX as u64;

/// What a strip gives that its threads have to run by the plain region.
pub(crate) const REFUSED: u64 = u32::MAX as u64 - 1;

/// What a strip gives that its threads may run by the strip that makes no guesses.
pub(crate) const MISGUESSED: u64 = u32::MAX as u64 - 2;

/// Runs one region for the listed threads of the current block.
pub(crate) type RegionFn = unsafe extern "C" fn(*mut Context, *const u32, u64) -> u64;
