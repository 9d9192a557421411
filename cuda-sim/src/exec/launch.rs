//! A launch: distributes its blocks, runs each to completion, and runs waiting threads region by region.
//!
//! Blocks are taken in chunks from one counter, in ascending order unless a seed draws another one ([`super::order`]): a
//! block that waits for an earlier one then always finds it running or finished. The first fault stops the launch: no further block begins, and running ones are abandoned.
//!
//! # Safety
//!
//! Compiled code is called with a [`Context`] that points to the worker's own scratch memory and to the launch's
//! parameters, both of which outlive the call.

use super::copies::Copies;
use super::grid::GridWaiters;
use super::mbarrier::Misuse;
use super::order::Permutation;
use super::pool::POOL;
use super::resident::{SEED, Wide};
use super::{active, fault};
use crate::codegen::abi::{BlocksFn, ClusterPosition, Context, Stopped};
use crate::codegen::jit::{Compiled, EntryPoint};
use crate::environment::Checks;
use crate::memory::{ALIGN, AllocationKind, IllegalAccess, MEMORY, PAGE};
use crate::service;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A launch.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) code: Arc<Compiled>,
    /// The checkers of its code.
    pub(crate) checks: Checks,
    /// Parameters, in 8-byte units for their alignment.
    pub(crate) params: Vec<u64>,
    pub(crate) data: u64,
    /// The address of its module's managed variables.
    pub(crate) managed: u64,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_shared: u32,
    pub(crate) grid_id: u64,
    /// The id of the driver's context.
    pub(crate) context: u32,
    /// A bit set of the slots of the devices' range that the launch can access.
    pub(crate) slots: u64,
    /// True for a cooperative launch, which may have grid-wide barriers.
    pub(crate) cooperative: bool,
    /// The limit on concurrent blocks if they may wait for each other; at least the size of a cluster.
    pub(crate) resident: u32,
    /// The extents of its clusters in blocks, which divide those of the grid; `None` without clusters.
    pub(crate) cluster: Option<[u32; 3]>,
}

/// The position of a block in its grid and cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockPosition {
    pub(crate) number: u64,
    pub(crate) ctaid: [u32; 3],
    pub(crate) cluster: ClusterPosition,
}

/// Returns the coordinates of an index in a box of these extents, the first one varying fastest.
fn coordinates(number: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x), u64::from(y));
    [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
}

/// Returns the index of these coordinates in a box of these extents.
fn number(at: [u32; 3], [x, y, _]: [u32; 3]) -> u64 {
    u64::from(at[0]) + u64::from(x) * (u64::from(at[1]) + u64::from(y) * u64::from(at[2]))
}

/// The reason why a launch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An access to inaccessible or misaligned memory.
    Memory { illegal: IllegalAccess, block: u64 },
    /// The kernel executed `trap`.
    Trap(Stopped),
    /// An assertion failed.
    Assert { block: u64 },
    /// Calls overflowed the stack.
    StackOverflow(Stopped),
    /// A barrier in shared memory was used in a way that PTX leaves undefined.
    Mbarrier(Misuse, Stopped),
    /// Threads of the block wait for each other, and none can continue.
    Deadlock { block: u64 },
    /// There was no memory for the launch itself.
    OutOfMemory,
    /// LLVM rejected the generated code.
    NoCode,
    /// Another launch of the context has faulted; this one was stopped.
    Stopped,
}

impl Fault {
    /// Returns the fault with this block.
    pub(super) fn in_block(self, block: u64) -> Fault {
        match self {
            Fault::Memory { illegal, .. } => Fault::Memory { illegal, block },
            other => other,
        }
    }

    /// Returns the error if a thread of the context's launch stopped it.
    pub(super) fn stopped(context: &Context) -> Result<(), Fault> {
        match context.trap {
            0 => Ok(()),
            service::OVERFLOW => Err(Fault::StackOverflow(context.stopped)),
            service::ASSERT => Err(Fault::Assert { block: context.running }),
            trap => Err(match Misuse::of_trap(trap) {
                Some(misuse) => Fault::Mbarrier(misuse, context.stopped),
                None => Fault::Trap(context.stopped),
            }),
        }
    }

    /// Interprets the address that the processor reported.
    pub(crate) fn at(address: u64, block: u64) -> Fault {
        match address {
            fault::STOPPED => Fault::Stopped,
            _ => Fault::Memory { illegal: MEMORY.illegal_access(address), block },
        }
    }
}

/// Scratch memory of a worker or resident block, reused by later launches.
pub(super) struct Scratch {
    /// Inaccessible bytes on both sides of the shared window.
    pub(super) guard: u64,
    /// The share of the addresses that its guards take, if they are wide and limited.
    pub(super) wide: Option<Wide>,
    shared: (u64, u64),
    frame: (u64, u64),
    local: (u64, u64),
    params: (u64, u64),
    pub(super) next: Vec<u32>,
    list: Vec<u32>,
}

impl Scratch {
    /// Creates empty scratch memory whose shared window will have this many inaccessible bytes on both sides.
    pub(super) fn new(guard: u64) -> Scratch {
        let (next, list) = (Vec::new(), Vec::new());
        Scratch { guard, wide: None, shared: (0, 0), frame: (0, 0), local: (0, 0), params: (0, 0), next, list }
    }

    /// Returns a window of this many bytes for a block's shared memory.
    pub(super) fn window(&mut self, bytes: u64) -> Result<u64, Fault> {
        end_of(&mut self.shared, bytes.max(1), self.guard)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for area in [self.shared, self.frame, self.local, self.params].into_iter().filter(|area| area.0 != 0) {
            // The area is this block's alone, so freeing it cannot fail.
            let _ = MEMORY.free(area.0, |kind| kind == AllocationKind::Internal);
        }
    }
}

/// The guard on both sides of a shared window: the largest offset that is not checked.
pub(super) fn shared_guard() -> u64 {
    2 * MEMORY.guards().shared + (4 << 20)
}
/// Launches of up to this many threads run on the calling thread alone, since waking others costs more.
const SINGLE_THREAD_LIMIT: u64 = 16 << 10;

static SCRATCH: Lazy<Vec<Mutex<Scratch>>> =
    Lazy::new(|| (0..POOL.slots()).map(|_| Mutex::new(Scratch::new(shared_guard()))).collect());

/// Makes an area at least `bytes` long.
fn grow(area: &mut (u64, u64), bytes: u64, guard: u64) -> Result<u64, Fault> {
    if area.0 == 0 || area.1 < bytes {
        if area.0 != 0 {
            // The area is this worker's alone, so freeing it cannot fail.
            let _ = MEMORY.free(area.0, |kind| kind == AllocationKind::Internal);
            *area = (0, 0);
        }
        let base = MEMORY.alloc_guarded(bytes, AllocationKind::Internal, guard).map_err(|_| Fault::OutOfMemory)?;
        *area = (base, bytes);
    }
    Ok(area.0)
}

/// Returns the last `bytes` of an area, which is made long enough, so that accesses beyond them hit the guard. The
/// address is aligned like those of allocations.
fn end_of(area: &mut (u64, u64), bytes: u64, guard: u64) -> Result<u64, Fault> {
    let base = grow(area, bytes, guard)?;
    Ok(base + area.1.next_multiple_of(ALIGN) - bytes.next_multiple_of(ALIGN))
}

/// Grows an area and writes to all its pages.
///
/// Vectorised code stores to the frame under masks that are almost always empty. On a page that was never written, each
/// such store costs the processor hundreds of cycles to determine that there is no fault.
fn touched(area: &mut (u64, u64), bytes: u64) -> Result<u64, Fault> {
    let before = *area;
    let base = grow(area, bytes, *PAGE)?;
    if *area != before {
        // SAFETY: the area was just allocated with this length and is this worker's alone.
        unsafe { std::ptr::write_bytes(base as *mut u8, 0, bytes as usize) };
    }
    Ok(base)
}

/// Reports that LLVM rejected a region, and returns the fault.
pub(super) fn no_code(why: String) -> Fault {
    tracing::error!("a region could not be compiled: {why}");
    Fault::NoCode
}

pub(super) struct Progress {
    pub(super) next: AtomicU64,
    /// The order in which clusters begin.
    order: Permutation,
    pub(super) stop: AtomicBool,
    fault: Mutex<Option<Fault>>,
    /// The workspace of a cooperative launch; 0 for other launches.
    workspace: u64,
    /// The workers whose blocks wait for a grid-wide barrier.
    pub(super) waiting: GridWaiters,
    /// The number of clusters that may begin before one ends, if blocks are resident.
    room: AtomicU64,
}

impl Progress {
    pub(super) fn of(launch: &Launch) -> Result<Progress, Fault> {
        let workspace = if launch.cooperative { workspace()? } else { 0 };
        Ok(Progress {
            next: AtomicU64::new(0),
            order: Permutation::new(launch.clusters(), launch.seed()),
            stop: AtomicBool::new(false),
            fault: Mutex::new(None),
            workspace,
            waiting: GridWaiters::default(),
            room: AtomicU64::new(u64::from(launch.resident / launch.ranks()).max(1)),
        })
    }

    /// Returns the number of the next cluster that may begin; `None` if none is left, or too many are running.
    pub(super) fn next_cluster(&self, all: u64) -> Option<u64> {
        let took = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(1));
        let number = took.ok().and_then(|_| self.take_cluster(all));
        if took.is_ok() && number.is_none() {
            self.cluster_ended();
        }
        number
    }

    /// Returns the number of the cluster that takes the place of one that has ended.
    pub(super) fn take_cluster(&self, all: u64) -> Option<u64> {
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|place| *place < all).map(|place| self.order.at(place))
    }

    /// Records that a cluster has ended and no other takes its place.
    pub(super) fn cluster_ended(&self) {
        self.room.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns true if all clusters have begun.
    pub(super) fn all_begun(&self, all: u64) -> bool {
        self.next.load(Ordering::Relaxed) >= all
    }

    /// Frees the launch's allocations after it has ended.
    pub(super) fn free(&self) {
        if self.workspace != 0 {
            // Allocated for this launch alone.
            let _ = MEMORY.free(self.workspace, |kind| kind == AllocationKind::Internal);
        }
    }
}

/// Bytes of the workspace for grid-wide barriers.
const WORKSPACE: u64 = 256;

/// Allocates the workspace for grid-wide barriers: its size is in the first word, the barrier in the second.
fn workspace() -> Result<u64, Fault> {
    let base = MEMORY.alloc(WORKSPACE, AllocationKind::Internal).map_err(|_| Fault::OutOfMemory)?;
    // SAFETY: the allocation is new, this long, and not shared yet.
    unsafe { std::ptr::write_bytes(base as *mut u8, 0, WORKSPACE as usize) };
    // SAFETY: the allocation is new and aligned for a word.
    unsafe { (base as *mut u32).write(WORKSPACE as u32) };
    Ok(base)
}

impl Launch {
    /// Runs the launch to completion.
    pub(crate) fn run(self: Arc<Self>) -> Result<(), Fault> {
        let blocks = self.blocks();
        let threads = self.block.iter().map(|n| u64::from(*n)).product::<u64>();
        let progress = Arc::new(Progress::of(&self)?);
        let alone = self.code.checked || blocks == 1 || blocks.saturating_mul(threads) <= SINGLE_THREAD_LIMIT;
        let workers = if alone { 1 } else { POOL.workers() as u64 };
        // Chunks are small enough to balance the load, and large enough to make taking one cheap.
        let chunk = (blocks / (workers * 8)).clamp(1, (1 << 16) / threads.clamp(1, 1 << 16));
        let (shared, grid_id) = (Arc::clone(&progress), self.grid_id);
        let work = move |worker: usize| {
            if let Err(fault) = self.worker(worker, blocks, threads, chunk, &shared) {
                // Recorded before others stop because of it.
                shared.fault.lock().get_or_insert(fault);
                shared.stop.store(true, Ordering::Relaxed);
                active::stop_launch(&shared.stop);
            }
        };
        POOL.run(Arc::new(work), alone);
        progress.free();
        service::flush(grid_id);
        let fault = progress.fault.lock().take();
        fault.map_or(Ok(()), Err)
    }

    fn worker(&self, worker: usize, blocks: u64, threads: u64, chunk: u64, progress: &Progress) -> Result<(), Fault> {
        let _active = active::enter(worker, self.context, &progress.stop);
        if !matches!(self.code.entry, EntryPoint::Blocks) {
            return self.run_resident(worker, progress);
        }
        let mut scratch = SCRATCH[worker].lock();
        let window = scratch.window(self.shared_bytes())?;
        let mut context = self.context(worker, threads, &mut scratch, progress, window)?;
        while !progress.stop.load(Ordering::Relaxed) {
            let first = progress.next.fetch_add(chunk, Ordering::Relaxed);
            if first >= blocks {
                break;
            }
            let range = first..(first + chunk).min(blocks);
            // Requested each time, since optimised code may have become available.
            let blocks_fn = self.code.blocks().map_err(no_code)?;
            if !progress.order.is_random() {
                self.chunk(blocks_fn, &mut context, &mut scratch, range, progress)?;
                continue;
            }
            for block in range.map(|place| progress.order.at(place)) {
                self.chunk(blocks_fn, &mut context, &mut scratch, block..block + 1, progress)?;
            }
        }
        Ok(())
    }

    pub(super) fn context(
        &self,
        worker: usize,
        threads: u64,
        scratch: &mut Scratch,
        progress: &Progress,
        window: u64,
    ) -> Result<Context, Fault> {
        let shape = self.code.shape;
        // A launch that ended with a fault may have left waiting threads behind.
        scratch.next.clear();
        scratch.next.resize(threads as usize, 0);
        Ok(Context {
            zero: 0,
            params: self.parameters(&mut scratch.params)?,
            data: self.data,
            managed: self.managed,
            shared: window,
            frame: touched(&mut scratch.frame, (shape.frame_bytes * threads).max(1))?,
            next: scratch.next.as_mut_ptr(),
            local: end_of(&mut scratch.local, (shape.local_bytes * threads).max(1), *PAGE)?,
            local_stride: shape.local_bytes,
            dynamic_shared: self.shared_bytes() - u64::from(self.dynamic_shared),
            dynamic_shared_bytes: self.dynamic_shared,
            total_shared_bytes: self.shared_bytes() as u32,
            grid_id: self.grid_id,
            grid: self.grid,
            block: self.block,
            ctaid: [0; 3],
            worker: worker as u32,
            workers: POOL.slots() as u32,
            pending: 0,
            trap: 0,
            stopped: Stopped::default(),
            running: 0,
            stack_limit: if shape.calls { fault::stack_limit() } else { 0 },
            threads,
            fiber: 0,
            workspace: progress.workspace,
            slots: self.slots,
            owner: self.context,
            cluster: ClusterPosition::default(),
            checked: self.code.checked.into(),
            bounds: if self.code.checked { crate::check::bounds() } else { std::ptr::null() },
            batch: if self.code.checked { crate::check::batch() } else { std::ptr::null_mut() },
            batched: std::ptr::null(),
            resident: u32::from(!matches!(self.code.entry, EntryPoint::Blocks)),
            copies: Copies::default(),
        })
    }

    /// Copies the parameters to memory that kernels may read by address.
    fn parameters(&self, area: &mut (u64, u64)) -> Result<*const u8, Fault> {
        let bytes = size_of_val(self.params.as_slice());
        let base = end_of(area, (bytes as u64).max(1), *PAGE)? as *mut u8;
        // SAFETY: the area is this worker's alone and at least this long, and the parameters are a separate vector.
        unsafe { std::ptr::copy_nonoverlapping(self.params.as_ptr().cast(), base, bytes) };
        Ok(base)
    }

    /// Returns the seed of the order of its blocks, if that is random.
    fn seed(&self) -> Option<u64> {
        match self.code.entry {
            EntryPoint::Fiber { seed: Some(seed), .. } => Some(seed),
            _ => *SEED,
        }
    }

    pub(super) fn blocks(&self) -> u64 {
        self.grid.iter().map(|n| u64::from(*n)).product()
    }

    /// Returns the number of blocks of a cluster, or 1.
    pub(super) fn ranks(&self) -> u32 {
        self.cluster.map_or(1, |extents| extents.iter().product())
    }

    /// Returns the number of clusters, or of blocks without clusters.
    pub(super) fn clusters(&self) -> u64 {
        self.blocks() / u64::from(self.ranks())
    }

    /// Returns the bytes of a block's shared memory; dynamic shared memory comes last.
    pub(super) fn shared_bytes(&self) -> u64 {
        self.code.shape.static_shared.next_multiple_of(16) + u64::from(self.dynamic_shared)
    }

    /// As [`Launch::shared_bytes`], without padding at the end.
    pub(crate) fn exact_shared_bytes(&self) -> u64 {
        if self.dynamic_shared == 0 { self.code.shape.static_shared } else { self.shared_bytes() }
    }

    /// Returns the offsets of the shared memory that is reserved for libraries.
    pub(crate) fn reserved_shared(&self) -> Range<u64> {
        let end = self.code.shape.static_shared;
        end - self.code.shape.reserved_shared..end
    }

    /// Returns the position of the block with this rank in a cluster.
    pub(super) fn position_of(&self, cluster: u64, rank: u32) -> BlockPosition {
        let Some(nctaid) = self.cluster else {
            return BlockPosition {
                number: cluster,
                ctaid: coordinates(cluster, self.grid),
                cluster: ClusterPosition::default(),
            };
        };
        let count = std::array::from_fn(|i| self.grid[i] / nctaid[i]);
        let (id, within) = (coordinates(cluster, count), coordinates(rank.into(), nctaid));
        let ctaid = std::array::from_fn(|i| id[i] * nctaid[i] + within[i]);
        let cluster = ClusterPosition { ctaid: within, nctaid, id, count, rank, ranks: self.ranks(), open: 0 };
        BlockPosition { number: number(ctaid, self.grid), ctaid, cluster }
    }

    /// Returns the number of the cluster to which a block belongs.
    pub(crate) fn cluster_of(&self, block: u64) -> u64 {
        let Some(nctaid) = self.cluster else { return block };
        let at = coordinates(block, self.grid);
        let count = std::array::from_fn(|i| self.grid[i] / nctaid[i]);
        number(std::array::from_fn(|i| at[i] / nctaid[i]), count)
    }

    fn chunk(
        &self,
        function: BlocksFn,
        context: &mut Context,
        scratch: &mut Scratch,
        Range { start: mut block, end: last }: Range<u64>,
        progress: &Progress,
    ) -> Result<(), Fault> {
        while block < last && !progress.stop.load(Ordering::Relaxed) {
            context.ctaid = coordinates(block, self.grid);
            context.pending = 0;
            let at = std::ptr::from_mut(context) as usize;
            // SAFETY: the compiled kernel takes a context and a range of its launch's blocks; the context's memory
            // outlives the call.
            let after = unsafe { fault::call(function as *const () as usize, at, block, last) };
            let after = after.map_err(|address| {
                if context.checked != 0 {
                    crate::check::faulted(context, address);
                }
                scratch.next.fill(0);
                Fault::at(address, context.running)
            })?;
            if context.pending != 0 {
                self.regions(context, scratch, after - 1)?;
            }
            Fault::stopped(context)?;
            block = after;
        }
        Ok(())
    }

    /// Runs the threads of a block that wait in `next`, until none does.
    fn regions(&self, context: &mut Context, scratch: &mut Scratch, block: u64) -> Result<(), Fault> {
        context.ctaid = coordinates(block, self.grid);
        while let Some(region) = scratch.next.iter().copied().find(|r| *r != 0) {
            scratch.list.clear();
            for (thread, next) in scratch.next.iter_mut().enumerate() {
                if *next == region {
                    *next = 0;
                    scratch.list.push(thread as u32);
                }
            }
            let function = self.code.region(region as usize).map_err(no_code)? as *const () as usize;
            let at = std::ptr::from_mut(context) as usize;
            let list = scratch.list.as_ptr() as u64;
            // SAFETY: a region takes a context and a list of the block's threads that wait for it; both outlive the
            // call.
            let result = unsafe { fault::call(function, at, list, scratch.list.len() as u64) };
            result.map_err(|address| {
                scratch.next.fill(0);
                Fault::at(address, block)
            })?;
        }
        Ok(())
    }
}
