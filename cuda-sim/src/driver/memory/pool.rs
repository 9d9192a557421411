//! Memory pools: stream-ordered allocation.
//!
//! An allocation is usable when the call returns. A freed block stays in the pool. The stream that freed it can reuse
//! it at once, other streams once that stream has reached the free. A synchronisation releases what exceeds the release
//! threshold to the system.
//!
//! Invariant: a pool's blocks are live allocations, `Pooled` while clients have them and `Cached` while they are listed
//! here. `reserved` is the mapped bytes of both, `used` those of the former.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::failure;
use crate::driver::graph::memory::{GraphMemory, freed_by_client, freed_by_node};
use crate::driver::operations::Op;
use crate::driver::state::{Context, ENGINE, current, device, healthy, initialised};
use crate::driver::stream::{Stream, target};
use crate::driver::{Status, api, get, put};
use crate::memory::{AllocationKind, MEMORY, PAGE, partitions};
use crate::queue::{Point, Start};
use cuda_sys::{
    CUdevice, CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType, CUmemAllocationType,
    CUmemLocation, CUmemLocationType, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool, CUresult, CUstream,
};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A freed block that the pool caches.
struct CachedBlock {
    base: u64,
    /// The usable size of the block.
    room: u64,
    mapped: u64,
    context: u32,
    freed: Point,
}

#[derive(Default)]
struct Pool {
    device: usize,
    /// The slot of the devices' range that contains its memory.
    partition: usize,
    threshold: u64,
    /// Reuse policies: follow event dependencies, opportunistic, internal dependencies. Blocks are reused when that is
    /// safe, whatever the policies are.
    policies: [c_int; 3],
    used: u64,
    used_high: u64,
    reserved: u64,
    reserved_high: u64,
    /// The limit on reserved bytes; 0 for none.
    most: u64,
    access: HashMap<c_int, CUmemAccess_flags>,
    cached: Vec<CachedBlock>,
    /// True if its handle was destroyed; the pool ends with its last allocation.
    closed: bool,
}

#[derive(Default)]
struct Pools {
    pools: HashMap<usize, Pool>,
    /// The current pool of each device, if it is not the default one.
    chosen: HashMap<usize, usize>,
    next: usize,
}

static POOLS: Lazy<Mutex<Pools>> = Lazy::new(Mutex::default);
/// The number of cached blocks of all pools: if it is 0, trimming is skipped.
static CACHED: AtomicUsize = AtomicUsize::new(0);

/// The first handle of the devices' default pools, and that of created pools.
const DEFAULT: usize = 0xc0db_0000;
const CREATED: usize = 0xc0dc_0000;

fn default_pool(device: usize) -> usize {
    DEFAULT + device * 0x10
}

fn new_pool(device: usize, most: u64, partition: usize) -> Pool {
    Pool { device, most, partition, policies: [1; 3], ..Pool::default() }
}

impl Pools {
    /// Returns the pool with this handle. A default pool is created on first use.
    fn get(&mut self, handle: usize) -> Option<&mut Pool> {
        if let Some(device) = (0..*crate::device::DEVICES).find(|d| default_pool(*d) == handle) {
            self.pools.entry(handle).or_insert_with(|| new_pool(device, 0, partitions::default_pool(device)));
        }
        self.pools.get_mut(&handle)
    }

    fn open(&mut self, handle: CUmemoryPool) -> Result<&mut Pool, CUresult> {
        self.get(handle.addr()).filter(|p| !p.closed).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
    }

    fn current(&self, device: usize) -> usize {
        self.chosen.get(&device).copied().unwrap_or_else(|| default_pool(device))
    }

    fn end_if_empty(&mut self, handle: usize) {
        if self.pools.get(&handle).is_some_and(|p| p.closed && p.reserved == 0)
            && let Some(pool) = self.pools.remove(&handle)
        {
            MEMORY.close_partition(pool.partition);
        }
    }
}

impl Pool {
    /// Takes a cached block that is large enough and that the stream may reuse now.
    fn reuse(&mut self, bytes: u64, stream: &Stream, context: u32) -> Option<CachedBlock> {
        let most = bytes.saturating_add(bytes / 4 + 4096);
        let fits = |b: &CachedBlock| {
            (bytes..=most).contains(&b.room)
                && b.context == context
                && (b.freed.queue == stream.queue || ENGINE.reached(b.freed))
        };
        let candidates = self.cached.iter().enumerate().filter(|(_, b)| fits(b));
        let at = candidates.min_by_key(|(_, b)| b.room)?.0;
        CACHED.fetch_sub(1, Ordering::Relaxed);
        Some(self.cached.swap_remove(at))
    }

    fn count(&mut self, mapped: u64, reserved: bool) {
        self.used += mapped;
        self.used_high = self.used_high.max(self.used);
        if reserved {
            self.reserved += mapped;
            self.reserved_high = self.reserved_high.max(self.reserved);
        }
    }

    /// Releases cached blocks until at most `keep` bytes are reserved.
    fn trim(&mut self, keep: u64) {
        let mut at = 0;
        while at < self.cached.len() && self.reserved > keep {
            if ENGINE.reached(self.cached[at].freed) {
                let block = self.cached.swap_remove(at);
                CACHED.fetch_sub(1, Ordering::Relaxed);
                self.reserved -= block.mapped;
                // The block is live as long as it is listed, so freeing it cannot fail.
                let _ = MEMORY.free(block.base, |kind| matches!(kind, AllocationKind::Cached(_)));
            } else {
                at += 1;
            }
        }
    }
}

/// After a synchronisation: releases what exceeds the release thresholds of a device's pools.
pub(in crate::driver) fn trim_synchronised(device: usize) {
    trim(device, u64::MAX);
}

/// Releases what exceeds the release thresholds of a device's pools, or `most` bytes if that is less.
pub(in crate::driver) fn trim(device: usize, most: u64) {
    if CACHED.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut pools = POOLS.lock();
    for pool in pools.pools.values_mut().filter(|pool| pool.device == device) {
        let keep = pool.threshold.min(most);
        pool.trim(keep);
    }
    crate::driver::trace::memory(device);
}

/// At the end of a context: removes its memory, which the caller frees, from all pools.
pub(in crate::driver) fn forget(context: u32) {
    let mut pools = POOLS.lock();
    for (handle, pool) in &mut pools.pools {
        let before = pool.cached.len();
        pool.cached.retain(|block| block.context != context);
        CACHED.fetch_sub(before - pool.cached.len(), Ordering::Relaxed);
        let (used, reserved) = MEMORY.pooled(*handle, context);
        pool.used -= used;
        pool.reserved -= reserved;
    }
}

fn allocate(out: *mut CUdeviceptr, bytes: usize, from: Option<CUmemoryPool>, on: CUstream) -> Status {
    let (context, stream) = target(on)?;
    if out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    if bytes == 0 {
        // An empty allocation, which can be freed like any other.
        return put(out, 0);
    }
    if stream.is_capturing() {
        let memory = GraphMemory::new(&context, stream.device, bytes)?;
        let base = memory.base;
        stream.submit(&context, Op::Memory(memory, true), Start::Driver)?;
        return put(out, base);
    }
    let mut pools = POOLS.lock();
    let handle = from.map_or_else(|| pools.current(stream.device), |pool| pool.addr());
    let pool = pools.open(std::ptr::without_provenance_mut(handle))?;
    let base = take(pool, handle, bytes as u64, &context, &stream)?;
    crate::driver::trace::memory(pool.device);
    put(out, base)
}

fn take(pool: &mut Pool, handle: usize, bytes: u64, context: &Context, stream: &Stream) -> Result<u64, CUresult> {
    if let Some(block) = pool.reuse(bytes, stream, context.id) {
        MEMORY
            .change(block.base, AllocationKind::Cached(handle), AllocationKind::Pooled(handle), bytes)
            .map_err(failure)?;
        pool.count(block.mapped, false);
        return Ok(block.base);
    }
    let room = bytes.checked_next_multiple_of(4096).ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    if pool.most != 0 && pool.reserved.saturating_add(room) > pool.most {
        pool.trim(pool.most.saturating_sub(room));
        if pool.reserved.saturating_add(room) > pool.most {
            return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        }
    }
    let owner = crate::memory::Owner { context: context.id, device: pool.device };
    let partition = pool.partition;
    let new = || MEMORY.alloc_in(partition, owner, bytes, AllocationKind::Pooled(handle), 0);
    let base = new().or_else(|error| {
        // Releasing cached blocks may suffice.
        pool.trim(0);
        new().map_err(|_| error)
    });
    let base = base.map_err(failure)?;
    let mapped = MEMORY.find(base).map_or(room, |a| a.mapped);
    pool.count(mapped, true);
    Ok(base)
}

/// Frees a pooled allocation, or one of a graph, in stream order.
pub(in crate::driver) fn free(address: CUdeviceptr, context: &Arc<Context>, stream: &Stream) -> Status {
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    let found = MEMORY.find(address).filter(|a| a.base == address).ok_or(invalid)?;
    if let AllocationKind::Graph(_) = found.kind {
        let memory = if stream.is_capturing() { freed_by_node(address)? } else { freed_by_client(address)? };
        return stream.submit(context, Op::Memory(memory, false), Start::Driver);
    }
    if stream.is_capturing() {
        return Err(invalid);
    }
    let AllocationKind::Pooled(handle) = found.kind else { return Err(invalid) };
    let mut pools = POOLS.lock();
    let pool = pools.get(handle).ok_or(invalid)?;
    // From here on the address is unknown to clients; a double free fails here.
    let room =
        MEMORY.change_kind(address, AllocationKind::Pooled(handle), AllocationKind::Cached(handle)).map_err(failure)?;
    let freed = ENGINE.submit(stream.queue, Vec::new(), None, Start::Here);
    pool.used -= found.mapped;
    let (mapped, context) = (found.mapped, found.owner.context);
    pool.cached.push(CachedBlock { base: address, room, mapped, context, freed });
    CACHED.fetch_add(1, Ordering::Relaxed);
    if pool.closed {
        pool.trim(0);
        pools.end_if_empty(handle);
    }
    Ok(())
}

fn create(out: *mut CUmemoryPool, props: *const CUmemPoolProps) -> Status {
    initialised()?;
    let props = get(props)?;
    if props.allocType != CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED || out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    if props.handleTypes != CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    if props.location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let device = device(props.location.id).map_err(|_| CUresult::CUDA_ERROR_INVALID_VALUE)?;
    let mut pools = POOLS.lock();
    pools.next += 1;
    let handle = CREATED + pools.next * 0x10;
    let partition = MEMORY.open_partition(1 << device);
    // A pool's memory consists of pages.
    let most = (props.maxSize as u64).checked_next_multiple_of(*PAGE).ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    pools.pools.insert(handle, new_pool(device, most, partition));
    put(out, std::ptr::without_provenance_mut(handle))
}

fn destroy(handle: CUmemoryPool) -> Status {
    initialised()?;
    let handle = handle.addr();
    let mut pools = POOLS.lock();
    let pool = pools.pools.get_mut(&handle).filter(|p| !p.closed && handle >= CREATED);
    let pool = pool.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    pool.closed = true;
    pool.trim(0);
    pools.chosen.retain(|_, chosen| *chosen != handle);
    pools.end_if_empty(handle);
    Ok(())
}

fn set_attribute(pool: &mut Pool, which: CUmemPool_attribute, value: *mut c_void) -> Status {
    match which.0 {
        1..=3 => pool.policies[which.0 as usize - 1] = c_int::from(get(value.cast::<c_int>())? != 0),
        4 => pool.threshold = get(value.cast::<u64>())?,
        // The high-water marks can be reset, to the current values.
        6 if get(value.cast::<u64>())? == 0 => pool.reserved_high = pool.reserved,
        8 if get(value.cast::<u64>())? == 0 => pool.used_high = pool.used,
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
    Ok(())
}

fn attribute(pool: &Pool, which: CUmemPool_attribute, value: *mut c_void) -> Status {
    match which.0 {
        1..=3 => put(value.cast(), pool.policies[which.0 as usize - 1]),
        4 => put(value.cast(), pool.threshold),
        5 => put(value.cast(), pool.reserved),
        6 => put(value.cast(), pool.reserved_high),
        7 => put(value.cast(), pool.used),
        8 => put(value.cast(), pool.used_high),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

/// Returns the device of a location, which must be a device.
fn located(location: CUmemLocation) -> Result<usize, CUresult> {
    if location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    device(location.id)
}

/// Checks the allocation type for a pool of a location, and returns its device.
fn pool_location(location: *mut CUmemLocation, kind: CUmemAllocationType) -> Result<usize, CUresult> {
    initialised()?;
    if kind != CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    located(get(location)?)
}

fn choose(device: impl FnOnce() -> Result<usize, CUresult>, pool: CUmemoryPool) -> Status {
    initialised()?;
    let mut pools = POOLS.lock();
    let of = pools.open(pool)?.device;
    let device = device()?;
    if of != device {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    pools.chosen.insert(device, pool.addr());
    Ok(())
}

api! {
    fn cuMemAllocAsync / cuMemAllocAsync_ptsz(out: *mut CUdeviceptr, bytes: usize, on: CUstream) {
        allocate(out, bytes, None, on)
    }
    fn cuMemAllocFromPoolAsync / cuMemAllocFromPoolAsync_ptsz(
        out: *mut CUdeviceptr,
        bytes: usize,
        from: CUmemoryPool,
        on: CUstream,
    ) {
        allocate(out, bytes, Some(from), on)
    }
    fn cuMemFreeAsync / cuMemFreeAsync_ptsz(address: CUdeviceptr, on: CUstream) {
        let (context, stream) = target(on)?;
        if address == 0 { Ok(()) } else { free(address, &context, &stream) }
    }
    fn cuMemPoolCreate(out: *mut CUmemoryPool, props: *const CUmemPoolProps) { create(out, props) }
    fn cuMemPoolDestroy(pool: CUmemoryPool) { destroy(pool) }
    fn cuMemPoolTrimTo(pool: CUmemoryPool, keep: usize) {
        initialised()?;
        POOLS.lock().open(pool)?.trim(keep as u64);
        Ok(())
    }
    fn cuMemPoolSetAttribute(pool: CUmemoryPool, which: CUmemPool_attribute, value: *mut c_void) {
        initialised()?;
        set_attribute(POOLS.lock().open(pool)?, which, value)
    }
    fn cuMemPoolGetAttribute(pool: CUmemoryPool, which: CUmemPool_attribute, value: *mut c_void) {
        initialised()?;
        attribute(POOLS.lock().open(pool)?, which, value)
    }
    fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize) {
        initialised()?;
        let mut pools = POOLS.lock();
        let pool = pools.open(pool)?;
        for i in 0..count {
            let wanted = get(map.wrapping_add(i))?;
            let device = located(wanted.location)?;
            let none = wanted.flags == CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
            let known = none || wanted.flags == CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            if !known || (device == pool.device && none) {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
            pool.access.insert(device as c_int, wanted.flags);
            MEMORY.admit_one(pool.partition, device, !none);
        }
        Ok(())
    }
    fn cuMemPoolGetAccess(flags: *mut CUmemAccess_flags, pool: CUmemoryPool, location: *mut CUmemLocation) {
        initialised()?;
        let mut pools = POOLS.lock();
        let pool = pools.open(pool)?;
        let device = located(get(location)?)?;
        let own = match device == pool.device {
            true => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            false => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE,
        };
        put(flags, pool.access.get(&(device as c_int)).copied().unwrap_or(own))
    }
    fn cuDeviceGetDefaultMemPool(out: *mut CUmemoryPool, dev: CUdevice) {
        put(out, std::ptr::without_provenance_mut(default_pool(device(dev)?)))
    }
    fn cuDeviceGetMemPool(out: *mut CUmemoryPool, dev: CUdevice) {
        let device = device(dev)?;
        put(out, std::ptr::without_provenance_mut(POOLS.lock().current(device)))
    }
    fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) { choose(|| device(dev), pool) }
    fn cuMemGetDefaultMemPool(out: *mut CUmemoryPool, location: *mut CUmemLocation, kind: CUmemAllocationType) {
        put(out, std::ptr::without_provenance_mut(default_pool(pool_location(location, kind)?)))
    }
    fn cuMemGetMemPool(out: *mut CUmemoryPool, location: *mut CUmemLocation, kind: CUmemAllocationType) {
        let device = pool_location(location, kind)?;
        put(out, std::ptr::without_provenance_mut(POOLS.lock().current(device)))
    }
    fn cuMemSetMemPool(location: *mut CUmemLocation, kind: CUmemAllocationType, pool: CUmemoryPool) {
        choose(|| pool_location(location, kind), pool)
    }
    fn cuMemPoolExportToShareableHandle(
        _handle: *mut c_void,
        _pool: CUmemoryPool,
        _kind: CUmemAllocationHandleType,
        _flags: std::ffi::c_ulonglong,
    ) {
        current()?;
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }
    fn cuMemPoolImportFromShareableHandle(
        _pool: *mut CUmemoryPool,
        _handle: *mut c_void,
        _kind: CUmemAllocationHandleType,
        _flags: std::ffi::c_ulonglong,
    ) {
        healthy()?;
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }
}
