//! Occupancy: the number of blocks of a function that the device of the profile runs concurrently.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. A client's callback is called
//! as documented.

use super::attributes::Attributes;
use super::clusters::{self, RequestedCluster};
use crate::device::PROFILE;
use crate::driver::module::{function, max_threads};
use crate::driver::state::{FunctionObject, ready};
use crate::driver::{Status, api, get, put};
use cuda_sys::{CUfunction, CUlaunchConfig, CUoccupancyB2DSize, CUresult};
use std::ffi::{c_int, c_uint};
use std::sync::atomic::Ordering;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// Returns the number of resident blocks of a function per multiprocessor: none with more dynamic shared memory than its limit.
pub(in crate::driver) fn resident(object: &FunctionObject, threads: u32, dynamic: u64) -> u32 {
    if dynamic > object.limits.dynamic_shared.load(Ordering::Relaxed).into() {
        return 0;
    }
    // More than any device has, and small enough not to overflow below.
    let shared = object.kernel.signature().shared_bytes.saturating_add(dynamic).min(1 << 40);
    let room = PROFILE.shared_room(object.limits.carveout.load(Ordering::Relaxed), shared);
    PROFILE.resident_blocks(threads, crate::device::REGISTERS_PER_THREAD, shared, room)
}

fn occupancy(blocks: *mut c_int, f: CUfunction, threads: c_int, dynamic: usize) -> Status {
    ready()?;
    let object = function(f)?;
    let threads = u32::try_from(threads).ok().filter(|n| *n > 0).ok_or(INVALID)?;
    let fitting = if threads > max_threads(&object) { 0 } else { resident(&object, threads, dynamic as u64) };
    put(blocks, fitting as c_int)
}

fn best_block(
    grid: *mut c_int,
    block: *mut c_int,
    f: CUfunction,
    shared_of: CUoccupancyB2DSize,
    dynamic: usize,
    limit: c_int,
) -> Status {
    ready()?;
    let object = function(f)?;
    if grid.is_null() || block.is_null() {
        return Err(INVALID);
    }
    let most = max_threads(&object);
    let most = u32::try_from(limit).ok().filter(|n| *n > 0).map_or(most, |limit| limit.min(most));
    let mut best = (0, 0, 0);
    for threads in (1..=most.div_ceil(32)).rev().map(|warps| (warps * 32).min(most)) {
        // SAFETY: by CUDA's contract, this is the client's function of a block size.
        let dynamic = shared_of.map_or(dynamic, |f| unsafe { f(threads as c_int) });
        let blocks = resident(&object, threads, dynamic as u64);
        if blocks * threads > best.0 {
            best = (blocks * threads, blocks, threads);
        }
    }
    put(grid, (best.1 * PROFILE.multiprocessors) as c_int)?;
    put(block, best.2 as c_int)
}

/// Checks the flags of occupancy functions; first-level caching is on anyway.
fn checked_flags(flags: c_uint) -> Status {
    if flags > 1 { Err(INVALID) } else { Ok(()) }
}

/// Writes the dynamic shared memory that is available to each of this many blocks.
fn available(out: *mut usize, f: CUfunction, blocks: c_int, threads: c_int) -> Status {
    ready()?;
    let object = function(f)?;
    let blocks = u32::try_from(blocks).ok().filter(|n| *n > 0).ok_or(INVALID)?;
    let threads = u32::try_from(threads).ok().filter(|n| *n > 0 && *n <= max_threads(&object)).ok_or(INVALID)?;
    let own = object.kernel.signature().shared_bytes;
    if resident(&object, threads, 0) < blocks {
        return Err(INVALID);
    }
    let unit = u64::from(PROFILE.shared_unit);
    let each = u64::from(PROFILE.shared_per_sm / blocks) / unit * unit;
    let most = u64::from(PROFILE.shared_per_block_optin) - own;
    put(out, each.saturating_sub(u64::from(PROFILE.shared_reserved) + own).min(most) as usize)
}

/// Computes a property of a launch with clusters from the function, the requested extents, threads and bytes of shared
/// memory.
fn of_clusters(
    f: CUfunction,
    config: *const CUlaunchConfig,
    answer: impl FnOnce(&FunctionObject, RequestedCluster, u32, u64) -> Result<u32, CUresult>,
) -> Result<c_int, CUresult> {
    ready()?;
    let object = function(f)?;
    let config = get(config)?;
    let requested = Attributes::read(&config)?.cluster;
    let threads = config.blockDimX.checked_mul(config.blockDimY).and_then(|n| n.checked_mul(config.blockDimZ));
    let threads = threads.filter(|n| *n > 0).ok_or(INVALID)?;
    if threads > max_threads(&object) {
        return Ok(0);
    }
    answer(&object, requested, threads, config.sharedMemBytes.into()).map(|n| n as c_int)
}

api! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(out: *mut c_int, f: CUfunction, threads: c_int, dynamic: usize) {
        occupancy(out, f, threads, dynamic)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        out: *mut c_int,
        f: CUfunction,
        threads: c_int,
        dynamic: usize,
        flags: c_uint,
    ) {
        checked_flags(flags)?;
        occupancy(out, f, threads, dynamic)
    }
    fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut c_int,
        block: *mut c_int,
        f: CUfunction,
        shared_of: CUoccupancyB2DSize,
        dynamic: usize,
        limit: c_int,
    ) {
        best_block(grid, block, f, shared_of, dynamic, limit)
    }
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: *mut c_int,
        block: *mut c_int,
        f: CUfunction,
        shared_of: CUoccupancyB2DSize,
        dynamic: usize,
        limit: c_int,
        flags: c_uint,
    ) {
        checked_flags(flags)?;
        best_block(grid, block, f, shared_of, dynamic, limit)
    }
    fn cuOccupancyAvailableDynamicSMemPerBlock(out: *mut usize, f: CUfunction, blocks: c_int, threads: c_int) {
        available(out, f, blocks, threads)
    }
    fn cuOccupancyMaxPotentialClusterSize(out: *mut c_int, f: CUfunction, config: *const CUlaunchConfig) {
        put(out, of_clusters(f, config, |object, _, threads, dynamic| clusters::largest(object, threads, dynamic))?)
    }
    fn cuOccupancyMaxActiveClusters(out: *mut c_int, f: CUfunction, config: *const CUlaunchConfig) {
        put(out, of_clusters(f, config, clusters::most_active)?)
    }
}
