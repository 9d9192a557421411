//! Thread block clusters: the extents for a launch, and the number of clusters that the device of the profile runs
//! concurrently.
//!
//! A cluster has the extents that the launch requests or the kernel requires. It may not be too large, and must divide
//! the grid. The largest sizes are those of all devices with clusters: 8 blocks, and 16 for a function that allows
//! non-portable sizes.

use super::occupancy::resident;
use crate::device::PROFILE;
use crate::driver::state::FunctionObject;
use cuda_sys::CUresult;
use std::sync::atomic::Ordering;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE;

/// The largest portable cluster size, and the largest one of the profiles' devices.
const PORTABLE: u32 = 8;
const LARGEST: u32 = 16;
/// The number of multiprocessors that can run a cluster: those of a GPU processing cluster.
const NEIGHBOURS: u32 = 16;

/// The cluster extents that a launch requests; `None` without a request.
pub(in crate::driver) type RequestedCluster = Option<[u32; 3]>;

/// Returns the largest cluster size of this function, in blocks.
fn most(object: &FunctionObject) -> u32 {
    let most = if object.limits.non_portable.load(Ordering::Relaxed) { LARGEST } else { PORTABLE };
    let most = if PROFILE.has_clusters() { most } else { 1 };
    object.kernel.signature().clusters.most.map_or(most, |own| own.min(most))
}

/// Returns the extents that the kernel requires, or that were set for it.
fn required(object: &FunctionObject) -> Result<RequestedCluster, CUresult> {
    let set = object.limits.cluster.each_ref().map(|n| n.load(Ordering::Relaxed));
    match object.kernel.signature().clusters.required {
        Some(extents) => Ok(Some(extents)),
        None if set == [0; 3] => Ok(None),
        None if set.contains(&0) => Err(INVALID),
        None => Ok(Some(set)),
    }
}

/// Returns the extents of a launch's clusters; `None` for a launch without clusters.
fn extents(object: &FunctionObject, requested: RequestedCluster) -> Result<RequestedCluster, CUresult> {
    let required = required(object)?;
    if let (Some(requested), Some(required)) = (requested, required)
        && requested != required
    {
        tracing::error!(
            "'{}' was launched in clusters of {requested:?}, but requires clusters of {required:?}",
            name(object)
        );
        return Err(INVALID);
    }
    let Some(extents) = requested.or(required) else {
        if object.kernel.signature().clusters.explicit {
            tracing::error!(
                "'{}' requires explicit cluster extents: set the launch attribute CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION",
                name(object)
            );
            return Err(INVALID);
        }
        return Ok(None);
    };
    if blocks(extents) > u128::from(most(object)) {
        let most = most(object);
        tracing::error!(
            "'{}' was launched in clusters of {extents:?} blocks; the limit is {most} blocks",
            name(object)
        );
        return Err(if PROFILE.has_clusters() { INVALID } else { CUresult::CUDA_ERROR_NOT_SUPPORTED });
    }
    Ok(Some(extents).filter(|_| PROFILE.has_clusters()))
}

/// Returns the number of blocks of a cluster with these extents, which may be any numbers.
fn blocks(extents: [u32; 3]) -> u128 {
    extents.iter().map(|n| u128::from(*n)).product()
}

fn name(object: &FunctionObject) -> &str {
    &object.kernel.signature().name
}

/// Returns the number of clusters of `size` blocks that the device runs concurrently; a cluster's blocks are on
/// neighbouring multiprocessors.
fn active(object: &FunctionObject, size: u32, threads: u32, dynamic: u64) -> u32 {
    let blocks = resident(object, threads, dynamic);
    let (groups, rest) = (PROFILE.multiprocessors / NEIGHBOURS, PROFILE.multiprocessors % NEIGHBOURS);
    groups * (blocks * NEIGHBOURS / size) + blocks * rest / size
}

/// Returns the cluster extents of a launch, after checking that they divide the grid.
pub(in crate::driver) fn of_launch(
    object: &FunctionObject,
    requested: RequestedCluster,
    grid: [u32; 3],
    threads: u32,
    dynamic: u64,
) -> Result<RequestedCluster, CUresult> {
    let Some(extents) = extents(object, requested)? else { return Ok(None) };
    if grid.iter().zip(extents).any(|(blocks, each)| !blocks.is_multiple_of(each)) {
        tracing::error!("a grid of {grid:?} blocks cannot be divided into clusters of {extents:?}");
        return Err(INVALID);
    }
    if active(object, extents.iter().product(), threads, dynamic) == 0 {
        tracing::error!("a cluster of {extents:?} blocks of '{}' does not fit the device", name(object));
        return Err(INVALID);
    }
    Ok(Some(extents))
}

/// Returns the number of clusters of a launch that run concurrently.
pub(in crate::driver) fn most_active(
    object: &FunctionObject,
    requested: RequestedCluster,
    threads: u32,
    dynamic: u64,
) -> Result<u32, CUresult> {
    if requested.is_none() && required(object)?.is_none() {
        return Err(INVALID);
    }
    let extents = extents(object, requested)?.unwrap_or([1; 3]);
    Ok(active(object, extents.iter().product(), threads, dynamic))
}

/// Returns the size of a function's largest cluster that can be launched; 0 if none can.
pub(in crate::driver) fn largest(object: &FunctionObject, threads: u32, dynamic: u64) -> Result<u32, CUresult> {
    if let Some(extents) = required(object)? {
        return u32::try_from(blocks(extents)).map_err(|_| INVALID);
    }
    let fits = |size: &u32| active(object, *size, threads, dynamic) > 0;
    Ok((1..=most(object)).rev().find(fits).unwrap_or(0))
}
