//! Memory pools: stream-ordered allocation.
//!
//! An allocation is usable when the call returns. A freed block stays in the pool. The stream that freed it can reuse
//! it at once, other streams once that stream has reached the free. A synchronisation releases what exceeds the release
//! threshold to the system.
//!
//! Invariant: a pool's blocks are live allocations, `Pooled` while clients have them and `Cached` while they are listed
//! here. `reserved` is the mapped bytes of both, `used` those of the former.
//!
//! `place.rs` has the places of pools, `share.rs` what processes share.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

mod place;
mod share;

use super::failure;
use crate::check::events as check;
use crate::driver::graph::memory::{GraphMemory, freed_by_client, freed_by_node};
use crate::driver::operations::Op;
use crate::driver::state::{Context, ENGINE, device, initialised};
use crate::driver::stream::{Stream, target};
use crate::driver::{Status, api, get, put};
use crate::memory::shared::SharedFile;
use crate::memory::{AllocationKind, MEMORY, PAGE, PoolId, PoolMemory};
use crate::queue::{Point, Start};
use cuda_sys::{
    CUdevice, CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType, CUmemAllocationType,
    CUmemLocation, CUmemPool_attribute, CUmemPoolProps, CUmemPoolPtrExportData, CUmemoryPool, CUresult, CUstream,
};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use place::{HOST, PoolPlace, located};
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

struct Pool {
    id: PoolId,
    place: PoolPlace,
    /// The way in which it can be shared with other processes.
    handle_types: CUmemAllocationHandleType,
    /// The file that stands for it in other processes, if it was exported or imported.
    file: Option<Arc<SharedFile>>,
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
    /// The current pool of each place, if it is not the default one.
    chosen: HashMap<PoolPlace, usize>,
    next: usize,
}

static POOLS: Lazy<Mutex<Pools>> = Lazy::new(Mutex::default);
/// The number of cached blocks of all pools: if it is 0, trimming is skipped.
static CACHED: AtomicUsize = AtomicUsize::new(0);

/// The first handle of the default pools, and that of created pools.
const DEFAULT: usize = 0xc0db_0000;
const CREATED: usize = 0xc0dc_0000;

fn default_pool(place: PoolPlace) -> usize {
    DEFAULT + place.offset()
}

impl Pools {
    /// Returns the pool with this handle. A default pool is created on first use.
    fn get(&mut self, handle: usize) -> Option<&mut Pool> {
        if let Some(place) = handle.checked_sub(DEFAULT).and_then(PoolPlace::of_offset) {
            let id = PoolId { handle, memory: place.memory };
            self.pools.entry(handle).or_insert_with(|| Pool::new(id, place, 0, place.default_partition()));
        }
        self.pools.get_mut(&handle)
    }

    /// Adds a pool, and returns its handle.
    fn add(&mut self, memory: PoolMemory, new: impl FnOnce(PoolId) -> Pool) -> usize {
        self.next += 1;
        let handle = CREATED + self.next * 0x10;
        self.pools.insert(handle, new(PoolId { handle, memory }));
        handle
    }

    fn open(&mut self, handle: CUmemoryPool) -> Result<&mut Pool, CUresult> {
        self.get(handle.addr()).filter(|p| !p.closed).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
    }

    fn current(&self, place: PoolPlace) -> usize {
        self.chosen.get(&place).copied().unwrap_or_else(|| default_pool(place))
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
    fn new(id: PoolId, place: PoolPlace, most: u64, partition: usize) -> Pool {
        Pool {
            id,
            place,
            handle_types: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            file: None,
            partition,
            threshold: 0,
            policies: [1; 3],
            used: 0,
            used_high: 0,
            reserved: 0,
            reserved_high: 0,
            most,
            access: HashMap::new(),
            cached: Vec::new(),
            closed: false,
        }
    }

    /// Takes a cached block that is large enough and that the stream may reuse now.
    fn reuse(&mut self, bytes: u64, stream: &Stream, context: u32) -> Option<CachedBlock> {
        let most = bytes.saturating_add(bytes / 4 + 4096);
        let fits = |b: &CachedBlock| {
            (bytes..=most).contains(&b.room)
                && b.context == context
                && ((b.freed.queue == stream.queue && !check::enabled()) || ENGINE.reached(b.freed))
        };
        let candidates = self.cached.iter().enumerate().filter(|(_, b)| fits(b));
        let at = candidates.min_by_key(|(_, b)| b.room)?.0;
        CACHED.fetch_sub(1, Ordering::Relaxed);
        let block = self.cached.swap_remove(at);
        crate::check::order::follows(stream.queue.number(), block.freed.numbers());
        Some(block)
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
    for pool in pools.pools.values_mut().filter(|pool| pool.place.device.is_none_or(|of| of == device)) {
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
    let own = PoolPlace::of_device(stream.device);
    let handle = from.map_or_else(|| pools.current(own), |pool| pool.addr());
    let pool = pools.open(std::ptr::without_provenance_mut(handle))?;
    // A pool of another process allocates nothing here.
    if pool.id.memory == PoolMemory::Imported {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let base = take(pool, bytes as u64, &context, &stream)?;
    crate::driver::trace::memory(pool.place.device.unwrap_or(stream.device));
    put(out, base)
}

fn take(pool: &mut Pool, bytes: u64, context: &Context, stream: &Stream) -> Result<u64, CUresult> {
    if let Some(block) = pool.reuse(bytes, stream, context.id) {
        MEMORY
            .change(block.base, AllocationKind::Cached(pool.id), AllocationKind::Pooled(pool.id), bytes)
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
    let owner = crate::memory::Owner { context: context.id, device: pool.place.device.unwrap_or(stream.device) };
    let (partition, id) = (pool.partition, pool.id);
    let new = || MEMORY.alloc_in(partition, owner, bytes, AllocationKind::Pooled(id), 0);
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
    let AllocationKind::Pooled(id) = found.kind else { return Err(invalid) };
    let mut pools = POOLS.lock();
    let pool = pools.get(id.handle).ok_or(invalid)?;
    // From here on the address is unknown to clients; a double free fails here.
    let room = MEMORY.change_kind(address, AllocationKind::Pooled(id), AllocationKind::Cached(id)).map_err(failure)?;
    let freed = match check::freed_in_stream(&found) {
        // Kernels that are enqueued access it until then.
        Some(told) => stream.enqueue(context, Op::Freed(told), Start::Here),
        None => ENGINE.submit(stream.queue, Vec::new(), None, Start::Here),
    };
    pool.used -= found.mapped;
    let (mapped, context) = (found.mapped, found.owner.context);
    pool.cached.push(CachedBlock { base: address, room, mapped, context, freed });
    CACHED.fetch_add(1, Ordering::Relaxed);
    if pool.closed {
        pool.trim(0);
        pools.end_if_empty(id.handle);
    }
    Ok(())
}

fn create(out: *mut CUmemoryPool, props: *const CUmemPoolProps) -> Status {
    initialised()?;
    let props = get(props)?;
    let place = PoolPlace::new(props.location, props.allocType)?;
    if out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let shared = props.handleTypes != CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
    if !share::supports(props.handleTypes) || shared && place.memory == PoolMemory::Managed {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    // A pool's memory consists of pages.
    let most = (props.maxSize as u64).checked_next_multiple_of(*PAGE).ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    let new = |id| Pool { handle_types: props.handleTypes, ..Pool::new(id, place, most, place.open_partition()) };
    let handle = POOLS.lock().add(place.memory, new);
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
        9 => put(value.cast(), pool.place.allocation_type()),
        10 => put(value.cast(), pool.handle_types),
        11 => put(value.cast(), pool.place.location().id),
        12 => put(value.cast(), pool.place.location().type_),
        13 => put(value.cast(), pool.most),
        // Nothing is decompressed by hardware.
        14 => put(value.cast(), 0 as c_int),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

/// Returns the place of a location and an allocation type.
fn place_at(location: *mut CUmemLocation, kind: CUmemAllocationType) -> Result<PoolPlace, CUresult> {
    initialised()?;
    PoolPlace::new(get(location)?, kind)
}

fn choose(place: impl FnOnce() -> Result<PoolPlace, CUresult>, pool: CUmemoryPool) -> Status {
    initialised()?;
    let mut pools = POOLS.lock();
    let of = pools.open(pool)?.place;
    let place = place()?;
    if of != place {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    pools.chosen.insert(place, pool.addr());
    Ok(())
}

impl Pool {
    /// Returns the access that a location has without being given any.
    fn own_access(&self, at: c_int) -> CUmemAccess_flags {
        let is_own = match self.place.memory {
            PoolMemory::Managed => true,
            _ => self.place.device.map_or(HOST, |device| device as c_int) == at,
        };
        match is_own {
            true => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            false => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE,
        }
    }

    /// Gives access to a location, or takes it. The host has none to a device's memory.
    fn set_access(&mut self, wanted: CUmemAccessDesc) -> Status {
        let at = located(wanted.location)?;
        let none = wanted.flags == CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
        let known = none || wanted.flags == CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let is_own = self.own_access(at) == CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        if !known || is_own && none || at == HOST && self.place.device.is_some() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        self.access.insert(at, wanted.flags);
        if let Ok(device) = usize::try_from(at) {
            MEMORY.admit_one(self.partition, device, !none);
        }
        Ok(())
    }
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
        (0..count).try_for_each(|i| pool.set_access(get(map.wrapping_add(i))?))
    }
    fn cuMemPoolGetAccess(flags: *mut CUmemAccess_flags, pool: CUmemoryPool, location: *mut CUmemLocation) {
        initialised()?;
        let mut pools = POOLS.lock();
        let pool = pools.open(pool)?;
        let at = located(get(location)?)?;
        put(flags, pool.access.get(&at).copied().unwrap_or_else(|| pool.own_access(at)))
    }
    fn cuDeviceGetDefaultMemPool(out: *mut CUmemoryPool, dev: CUdevice) {
        put(out, std::ptr::without_provenance_mut(default_pool(PoolPlace::of_device(device(dev)?))))
    }
    fn cuDeviceGetMemPool(out: *mut CUmemoryPool, dev: CUdevice) {
        let place = PoolPlace::of_device(device(dev)?);
        put(out, std::ptr::without_provenance_mut(POOLS.lock().current(place)))
    }
    fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) {
        choose(|| device(dev).map(PoolPlace::of_device), pool)
    }
    fn cuMemGetDefaultMemPool(out: *mut CUmemoryPool, location: *mut CUmemLocation, kind: CUmemAllocationType) {
        put(out, std::ptr::without_provenance_mut(default_pool(place_at(location, kind)?)))
    }
    fn cuMemGetMemPool(out: *mut CUmemoryPool, location: *mut CUmemLocation, kind: CUmemAllocationType) {
        let place = place_at(location, kind)?;
        put(out, std::ptr::without_provenance_mut(POOLS.lock().current(place)))
    }
    fn cuMemSetMemPool(location: *mut CUmemLocation, kind: CUmemAllocationType, pool: CUmemoryPool) {
        choose(|| place_at(location, kind), pool)
    }
    fn cuMemPoolExportToShareableHandle(
        out: *mut c_void,
        pool: CUmemoryPool,
        kind: CUmemAllocationHandleType,
        flags: std::ffi::c_ulonglong,
    ) {
        share::export(out, pool, kind, flags)
    }
    fn cuMemPoolImportFromShareableHandle(
        out: *mut CUmemoryPool,
        descriptor: *mut c_void,
        kind: CUmemAllocationHandleType,
        flags: std::ffi::c_ulonglong,
    ) {
        // The pointer argument is the descriptor itself.
        share::import(out, descriptor.addr() as c_int, kind, flags)
    }
    fn cuMemPoolExportPointer(out: *mut CUmemPoolPtrExportData, address: CUdeviceptr) {
        share::export_pointer(out, address)
    }
    fn cuMemPoolImportPointer(out: *mut CUdeviceptr, pool: CUmemoryPool, data: *mut CUmemPoolPtrExportData) {
        share::import_pointer(out, pool, data)
    }
}
