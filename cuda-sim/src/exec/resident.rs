//! Launches whose kernels synchronise: each worker keeps several blocks resident, which it runs alternately.
//!
//! Blocks begin in ascending order. A worker runs one block, or the blocks of one cluster, and begins another when that
//! one has finished or only polls; then its blocks are scheduled in turn, so that a block may wait for any other
//! resident one. The grid-wide barriers of cooperative launches need nothing more. The device has as many resident
//! blocks as the card of its profile.
//!
//! # Safety
//!
//! Compiled regions are called with a context that points to the block's own scratch memory and to the launch's
//! parameters, both of which outlive the call.

use super::block::{Engine, Outcome};
use super::cluster::{Cluster, WorkerSlot};
use super::deadlock;
use super::fault;
use super::launch::{Fault, Launch, Progress, Scratch, no_code, shared_guard};
use crate::codegen::LoopCode;
use crate::codegen::abi::{Context, DEOPTIMISED, DIVERGED, MISSPECULATED, RangeFn};
use crate::codegen::jit::Compiled;
use crate::codegen::vector_loop::THREADS;
use crate::environment::ENVIRONMENT;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The size of guards around shared windows if there are many blocks: the address range does not suffice for larger
/// ones.
const SMALL_GUARD: u64 = 64 << 20;

/// Scratch memory of blocks, shared by all launches.
#[derive(Default)]
struct ScratchPool {
    /// Unused scratch memory with wide guards, kept for later launches.
    kept: Vec<Scratch>,
    /// Each area with wide guards, in use or unused, has a copy of it.
    wide: Wide,
}

/// A share of the addresses that wide guards take.
#[derive(Clone, Default)]
pub(super) struct Wide(Arc<()>);

static SCRATCH_POOL: Lazy<Mutex<ScratchPool>> = Lazy::new(Mutex::default);
/// The limit on blocks with wide guards, which take most of the devices' addresses.
const WIDE: usize = 64;

impl ScratchPool {
    fn take(&mut self) -> Scratch {
        if let Some(scratch) = self.kept.pop() {
            return scratch;
        }
        let wide = Arc::strong_count(&self.wide.0) <= WIDE;
        let mut scratch = Scratch::new(if wide { shared_guard() } else { SMALL_GUARD });
        scratch.wide = wide.then(|| self.wide.clone());
        scratch
    }

    fn release(&mut self, cluster: Cluster<'_>) {
        self.kept.extend(cluster.into_memory().filter(|scratch| scratch.guard != SMALL_GUARD));
    }
}

/// `CUDA_SIM_SEED`: the schedule of fibers, and the order of blocks.
pub(crate) static SEED: Lazy<Option<u64>> = Lazy::new(|| ENVIRONMENT.seed);

/// The engine that runs threads by regions.
pub(super) struct RegionEngine<'a>(pub(super) &'a Compiled);

impl RegionEngine<'_> {
    fn call(&self, function: RangeFn, context: &mut Context, first: usize, count: usize) -> Result<u64, Fault> {
        let at = std::ptr::from_mut(context) as usize;
        // SAFETY: a region takes a context and a range of its block's threads, all of which are at its start; the
        // context's memory outlives the call.
        let result = unsafe { fault::call(function as *const () as usize, at, first as u64, count as u64) };
        result.map_err(|address| {
            if context.checked != 0 {
                crate::check::faulted(context, address);
            }
            Fault::at(address, 0)
        })
    }

    /// Runs threads through a region's vectorised loop, and through the scalar region where the loop deoptimises.
    fn run_vector_loop(
        &self,
        region: usize,
        (vector_loop, wide): (RangeFn, bool),
        context: &mut Context,
        first: usize,
        count: usize,
    ) -> Result<u64, Fault> {
        let end = first + count;
        let (mut at, mut all) = (first, None);
        while at < end {
            let warps = (end - at) / THREADS as usize;
            let size = if warps == 0 { end - at } else { THREADS as usize * if wide { warps } else { 1 } };
            let mut result = DEOPTIMISED;
            if warps > 0 {
                result = self.call(vector_loop, context, at, size)?;
            }
            if result == MISSPECULATED {
                let conservative = self.0.vector_loop(region, LoopCode::Conservative).map_err(no_code)?;
                result = conservative
                    .map_or(Ok(DEOPTIMISED), |(vector_loop, _)| self.call(vector_loop, context, at, size))?;
            }
            if result == DEOPTIMISED {
                // The last threads of a block never fill a vector: they do not return after an iteration to those that do.
                let is_rest = warps == 0 && end == context.threads as usize && at.is_multiple_of(THREADS as usize);
                let plain = if is_rest { self.0.loop_by_thread(region) } else { self.0.range(region) };
                let plain = plain.map_err(no_code)?;
                result = self.call(plain, context, at, size)?;
            }
            match all {
                None => all = Some(result),
                Some(before) if before == result => {}
                Some(before) => {
                    fill(context, first..at, before);
                    fill(context, at..at + size, result);
                    all = Some(DIVERGED);
                }
            }
            at += size;
        }
        Ok(all.unwrap_or(DIVERGED))
    }
}

/// Writes the common state of threads where compiled code writes those of threads that have diverged.
fn fill(context: &mut Context, threads: Range<usize>, state: u64) {
    if state == DIVERGED {
        return;
    }
    for thread in threads {
        // SAFETY: `next` has an element for each thread of the block, and compiled code does not run now.
        unsafe { context.next.wrapping_add(thread).write(state as u32) };
    }
}

impl Engine for RegionEngine<'_> {
    fn is_ordered(&self) -> bool {
        true
    }

    fn run(&mut self, context: &mut Context, state: u32, first: usize, count: usize) -> Result<u64, Fault> {
        let region = state as usize;
        match self.0.vector_loop(region, LoopCode::Speculative).map_err(no_code)? {
            Some(vector_loop) => self.run_vector_loop(region, vector_loop, context, first, count),
            None => self.call(self.0.range(region).map_err(no_code)?, context, first, count),
        }
    }
}

impl Launch {
    /// Runs clusters, or single blocks, until there are no more.
    pub(super) fn run_resident(&self, worker: usize, progress: &Progress) -> Result<(), Fault> {
        let mut resident: Vec<Cluster<'_>> = Vec::new();
        progress.waiting.enter(worker);
        let result = self.schedule(worker, progress, &mut resident);
        progress.waiting.leave(worker);
        let mut memory = SCRATCH_POOL.lock();
        resident.into_iter().for_each(|cluster| memory.release(cluster));
        result
    }

    fn schedule<'a>(
        &'a self,
        worker: usize,
        progress: &Progress,
        resident: &mut Vec<Cluster<'a>>,
    ) -> Result<(), Fault> {
        let all = self.clusters();
        while !progress.stop.load(Ordering::Relaxed) {
            // All resident blocks poll: their number is doubled, so that the rounds of many blocks do not add up.
            let before = resident.len();
            for _ in 0..before.max(1) {
                let Some(number) = progress.next_cluster(all) else { break };
                resident
                    .push(self.begin(number, &WorkerSlot { worker, progress }, true, || SCRATCH_POOL.lock().take())?);
            }
            if resident.is_empty() {
                break;
            }
            let (mut at, mut idle, mut at_grid, mut progressed) = (0, resident.len() == before, 0, false);
            while at < resident.len() {
                let cluster = &mut resident[at];
                let outcome = cluster.run()?;
                progressed |= cluster.has_progressed();
                if outcome != Outcome::Done {
                    at += 1;
                    at_grid += usize::from(outcome == Outcome::AtGrid);
                    continue;
                }
                idle = false;
                match progress.take_cluster(all) {
                    // Reuses the memory of the one that has finished.
                    Some(number) => cluster.restart(self, number)?,
                    None => {
                        progress.cluster_ended();
                        SCRATCH_POOL.lock().release(resident.swap_remove(at));
                    }
                }
                if progress.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
            if self.cooperative {
                let all_wait = idle && progress.all_begun(all) && at_grid == resident.len();
                self.wait_for_grid(worker, progress, resident, all_wait)?;
            }
            if idle && !progressed {
                // These blocks wait for another worker, for another launch, or for the host.
                if self.code.checked {
                    crate::check::give_way();
                }
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Reports that all blocks of this worker wait for the grid. Returns a fault if all blocks of the launch do.
    fn wait_for_grid(
        &self,
        worker: usize,
        progress: &Progress,
        resident: &mut [Cluster<'_>],
        all_wait: bool,
    ) -> Result<(), Fault> {
        if !all_wait {
            progress.waiting.progressed();
            return Ok(());
        }
        let blocks = resident.iter().map(Cluster::unfinished).sum();
        let Some(waiting) = progress.waiting.waits(worker, blocks) else { return Ok(()) };
        let line = deadlock::of_grid(waiting, self.blocks()).to_string();
        tracing::error!("{line}");
        if self.code.checked {
            crate::check::sync::deadlock(&[line]);
        }
        // Their reports are alike.
        Err(resident[0].deadlock())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn scratch_memory_of_launches_that_could_not_begin_is_no_longer_counted() {
        let mut pool = ScratchPool::default();
        for _ in 0..2 * WIDE {
            assert_ne!(pool.take().guard, SMALL_GUARD);
        }
        let held: Vec<Scratch> = (0..WIDE).map(|_| pool.take()).collect();
        assert!(held.iter().all(|scratch| scratch.guard != SMALL_GUARD));
        assert_eq!(pool.take().guard, SMALL_GUARD);
        drop(held);
        assert_ne!(pool.take().guard, SMALL_GUARD);
    }
}
