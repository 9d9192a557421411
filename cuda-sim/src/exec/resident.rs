//! Launches whose kernels synchronise: each worker keeps the blocks that it has begun and not finished.
//!
//! Blocks begin in ascending order. A worker runs one block at a time, or the blocks of one cluster, and begins another
//! when that one has finished or only polls; then its blocks take turns, so that a block may wait for any other that the
//! device holds at once: the grid-wide barriers of cooperative launches need nothing more.
//!
//! # Safety
//!
//! `unsafe` stands where compiled regions are called; the argument is that of [`super::launch`].

use super::block::{Engine, Outcome};
use super::cluster::{Berth, Cluster};
use super::fault;
use super::launch::{Fault, Launch, Progress, Scratch, no_code, shared_guard};
use crate::codegen::abi::{Context, LOOK, MISGUESSED, REFUSED, RangeFn};
use crate::codegen::jit::Compiled;
use crate::codegen::strip::STRIP;
use crate::environment::ENVIRONMENT;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::sync::atomic::Ordering;

/// Blocks that a worker holds at once, at most: more than any device profile has room for.
const RESIDENT: usize = 8192;
/// Behind the shared windows of many blocks at once: addresses would not suffice for more.
const SMALL_GUARD: u64 = 64 << 20;

/// Memory of blocks, kept from launch to launch.
static MEMORY: Lazy<Mutex<Vec<Scratch>>> = Lazy::new(Mutex::default);
/// How many are kept.
const KEPT: usize = 64;

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
        let result = self.rotate(worker, progress, &mut held);
        let mut memory = MEMORY.lock();
        for cluster in held {
            keep(&mut memory, cluster);
        }
        result
    }

    fn rotate<'a>(&'a self, worker: usize, progress: &Progress, held: &mut Vec<Cluster<'a>>) -> Result<(), Fault> {
        let all = self.clusters();
        let resident = RESIDENT / self.ranks() as usize;
        let mut more = true;
        while !progress.stop.load(Ordering::Relaxed) {
            // All blocks that are held poll: as many again begin, so that the turns of many blocks do not add up.
            for _ in 0..held.len().max(1) {
                if !more || held.len() >= resident {
                    break;
                }
                let number = progress.next.fetch_add(1, Ordering::Relaxed);
                more = number < all;
                if more {
                    let guard = if held.len() < KEPT { shared_guard() } else { SMALL_GUARD };
                    let berth = Berth { worker, progress, guard };
                    held.push(self.begin(number, &berth, true, || MEMORY.lock().pop().unwrap_or_default())?);
                }
            }
            if held.is_empty() {
                break;
            }
            let (mut at, mut idle) = (0, true);
            while at < held.len() {
                let cluster = &mut held[at];
                if cluster.run()? != Outcome::Done {
                    at += 1;
                    continue;
                }
                idle = false;
                let number = if more { progress.next.fetch_add(1, Ordering::Relaxed) } else { all };
                more &= number < all;
                if more {
                    // In the memory of the one that has finished.
                    cluster.restart(self, number)?;
                } else {
                    keep(&mut MEMORY.lock(), held.swap_remove(at));
                }
                if progress.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
            if idle && !more {
                // What these blocks wait for runs on another worker, or is the host's to write.
                std::thread::yield_now();
            }
        }
        Ok(())
    }
}

fn keep(memory: &mut Vec<Scratch>, cluster: Cluster<'_>) {
    for scratch in cluster.into_memory() {
        if memory.len() < KEPT {
            memory.push(scratch);
        } else {
            scratch.free();
        }
    }
}
