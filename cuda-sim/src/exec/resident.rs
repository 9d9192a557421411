//! Launches whose kernels synchronise: each worker keeps the blocks that it has begun and not finished.
//!
//! Blocks begin in ascending order. A worker runs one block at a time, or the blocks of one cluster, and begins another
//! when that one has finished or only polls; then its blocks take turns, so that a block may wait for any other that the
//! device holds at once: the grid-wide barriers of cooperative launches need nothing more. The device holds as many as the
//! card of its profile does.
//!
//! # Safety
//!
//! `unsafe` stands where compiled regions are called; the argument is that of [`super::launch`].

use super::block::{Engine, Outcome};
use super::cluster::{Berth, Cluster};
use super::deadlock;
use super::fault;
use super::launch::{Fault, Launch, Progress, Scratch, no_code, shared_guard};
use crate::codegen::abi::{Context, LOOK, MISGUESSED, REFUSED, RangeFn};
use crate::codegen::jit::Compiled;
use crate::codegen::strip::STRIP;
use crate::environment::ENVIRONMENT;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::sync::atomic::Ordering;

/// Behind the shared windows of many blocks at once: addresses would not suffice for more.
const SMALL_GUARD: u64 = 64 << 20;

/// Memory of blocks, of all launches.
#[derive(Default)]
struct Memory {
    /// Kept from launch to launch, with wide guards.
    kept: Vec<Scratch>,
    /// The number of those with wide guards, in use or kept.
    wide: usize,
}

static MEMORY: Lazy<Mutex<Memory>> = Lazy::new(Mutex::default);
/// The most blocks that have wide guards: they take most of the devices' addresses.
const WIDE: usize = 64;

impl Memory {
    fn take(&mut self) -> Scratch {
        if let Some(scratch) = self.kept.pop() {
            return scratch;
        }
        let wide = self.wide < WIDE;
        self.wide += usize::from(wide);
        Scratch::new(if wide { shared_guard() } else { SMALL_GUARD })
    }

    fn give_back(&mut self, cluster: Cluster<'_>) {
        self.kept.extend(cluster.into_memory().filter(|scratch| scratch.guard != SMALL_GUARD));
    }
}

/// `CUDA_SIM_SEED`: the schedule of fibers.
pub(crate) static SEED: Lazy<Option<u64>> = Lazy::new(|| ENVIRONMENT.seed);

/// Blocks whose threads run by regions.
pub(super) struct Regions<'a>(pub(super) &'a Compiled);

impl Regions<'_> {
    fn call(&self, function: RangeFn, context: &mut Context, first: usize, count: usize) -> Result<u64, Fault> {
        let at = std::ptr::from_mut(context) as usize;
        // SAFETY: a region takes a context and a range of its block's threads, all of which are at its beginning.
        let result = unsafe { fault::call(function as *const () as usize, at, first as u64, count as u64) };
        result.map_err(|address| Fault::at(address, 0))
    }

    /// Runs threads through the loop in step that a region begins with, and one after the other where they cannot.
    fn strips(
        &self,
        region: usize,
        strip: RangeFn,
        context: &mut Context,
        first: usize,
        count: usize,
    ) -> Result<u64, Fault> {
        let end = first + count;
        let (mut at, mut all) = (first, None);
        while at < end {
            let size = (end - at).min(STRIP as usize);
            let mut result = REFUSED;
            if size == STRIP as usize {
                result = self.call(strip, context, at, size)?;
            }
            if result == MISGUESSED {
                let careful = self.0.strip(region, true).map_err(no_code)?;
                result = careful.map_or(Ok(REFUSED), |strip| self.call(strip, context, at, size))?;
            }
            if result == REFUSED {
                let plain = self.0.range(region).map_err(no_code)?;
                result = self.call(plain, context, at, size)?;
            }
            if result != LOOK {
                for thread in at..at + size {
                    // SAFETY: `next` has a place for each thread of the block, and compiled code does not run now.
                    unsafe { context.next.wrapping_add(thread).write(result as u32) };
                }
            }
            all = if all.is_none_or(|all| all == result) { Some(result) } else { Some(LOOK) };
            at += size;
        }
        Ok(all.unwrap_or(LOOK))
    }
}

impl Engine for Regions<'_> {
    fn run(&mut self, context: &mut Context, state: u32, first: usize, count: usize) -> Result<u64, Fault> {
        let region = state as usize;
        match self.0.strip(region, false).map_err(no_code)? {
            Some(strip) => self.strips(region, strip, context, first, count),
            None => self.call(self.0.range(region).map_err(no_code)?, context, first, count),
        }
    }
}

impl Launch {
    /// Runs clusters, or blocks that are none, until there are no more.
    pub(super) fn residents(&self, worker: usize, progress: &Progress) -> Result<(), Fault> {
        let mut held: Vec<Cluster<'_>> = Vec::new();
        progress.waiting.enter(worker);
        let result = self.rotate(worker, progress, &mut held);
        progress.waiting.leave(worker);
        let mut memory = MEMORY.lock();
        held.into_iter().for_each(|cluster| memory.give_back(cluster));
        result
    }

    fn rotate<'a>(&'a self, worker: usize, progress: &Progress, held: &mut Vec<Cluster<'a>>) -> Result<(), Fault> {
        let all = self.clusters();
        while !progress.stop.load(Ordering::Relaxed) {
            // All blocks that are held poll: as many again begin, so that the turns of many blocks do not add up.
            let before = held.len();
            for _ in 0..before.max(1) {
                let Some(number) = progress.begins(all) else { break };
                held.push(self.begin(number, &Berth { worker, progress }, true, || MEMORY.lock().take())?);
            }
            if held.is_empty() {
                break;
            }
            let (mut at, mut idle, mut at_grid) = (0, held.len() == before, 0);
            while at < held.len() {
                let cluster = &mut held[at];
                let outcome = cluster.run()?;
                if outcome != Outcome::Done {
                    at += 1;
                    at_grid += usize::from(outcome == Outcome::AtGrid);
                    continue;
                }
                idle = false;
                match progress.follows(all) {
                    // In the memory of the one that has finished.
                    Some(number) => cluster.restart(self, number)?,
                    None => {
                        progress.ends();
                        MEMORY.lock().give_back(held.swap_remove(at));
                    }
                }
                if progress.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
            if self.cooperative {
                let all_wait = idle && progress.all_begun(all) && at_grid == held.len();
                self.wait_for_grid(worker, progress, held, all_wait)?;
            }
            if idle {
                // What these blocks wait for runs on another worker, or is the host's to write.
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Tells the other workers whether all blocks of this one wait for the grid; a fault if all blocks of the launch do.
    fn wait_for_grid(
        &self,
        worker: usize,
        progress: &Progress,
        held: &mut [Cluster<'_>],
        all_wait: bool,
    ) -> Result<(), Fault> {
        if !all_wait {
            progress.waiting.moved();
            return Ok(());
        }
        let blocks = held.iter().map(Cluster::unfinished).sum();
        let Some(waiting) = progress.waiting.waits(worker, blocks) else { return Ok(()) };
        tracing::error!("{}", deadlock::of_grid(waiting, self.blocks()));
        // Their lines are alike.
        Err(held[0].deadlock())
    }
}
