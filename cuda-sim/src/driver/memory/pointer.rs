//! Pointer attributes, and hints about managed memory.
//!
//! Managed memory is host memory, so hints have no effect; they are checked, stored per allocation, and returned by
//! queries. A hint for a part of an allocation is stored for the whole.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use crate::driver::state::{current, device, healthy, initialised};
use crate::driver::stream::target;
use crate::driver::{Status, api, get, put};
use crate::memory::{Allocation, AllocationKind, MEMORY};
use crate::queue::Start;
use cuda_sys::{
    CUdevice, CUdeviceptr, CUmem_advise, CUmem_range_attribute, CUmemLocation, CUmemLocationType, CUpointer_attribute,
    CUresult, CUstream,
};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::ffi::{c_uint, c_void};

/// The location numbers of the host, and of no location.
const HOST: i32 = -1;
const NOWHERE: i32 = -2;

/// The hints for a managed allocation.
#[derive(Clone, Debug)]
struct Hints {
    read_mostly: bool,
    preferred: i32,
    accessed_by: Vec<i32>,
    prefetched: i32,
}

impl Default for Hints {
    fn default() -> Self {
        Hints { read_mostly: false, preferred: NOWHERE, accessed_by: Vec::new(), prefetched: NOWHERE }
    }
}

/// By allocation id, which is never reused.
static HINTS: Lazy<Mutex<HashMap<u64, Hints>>> = Lazy::new(Mutex::default);

/// Ids of the allocations for which a client has requested synchronous memory operations.
static SYNCHRONOUS: Lazy<Mutex<HashSet<u64>>> = Lazy::new(Mutex::default);

/// Returns the managed allocation that contains a range.
fn managed(address: CUdeviceptr, bytes: usize) -> Result<Allocation, CUresult> {
    let found = MEMORY.find(address).filter(|a| a.kind.is_managed());
    let found = found.filter(|a| bytes > 0 && bytes as u64 <= a.base + a.bytes - address);
    found.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

/// Returns the number of a location.
fn located(location: CUmemLocation) -> Result<i32, CUresult> {
    match location.type_ {
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => device(location.id).map(|d| d as i32),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST
        | CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA
        | CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Ok(HOST),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

fn numbered(dev: CUdevice) -> Result<i32, CUresult> {
    if dev == HOST { Ok(HOST) } else { device(dev).map(|d| d as i32) }
}

fn advise(address: CUdeviceptr, bytes: usize, advice: CUmem_advise, at: Result<i32, CUresult>) -> Status {
    healthy()?;
    let found = managed(address, bytes)?;
    let mut hints = HINTS.lock();
    let hints = hints.entry(found.id).or_default();
    match advice {
        CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY => hints.read_mostly = true,
        CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY => hints.read_mostly = false,
        CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION => hints.preferred = at?,
        CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION => hints.preferred = NOWHERE,
        CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY => {
            let at = at?;
            hints.accessed_by.retain(|d| *d != at);
            hints.accessed_by.push(at);
        }
        CUmem_advise::CU_MEM_ADVISE_UNSET_ACCESSED_BY => {
            let at = at?;
            hints.accessed_by.retain(|d| *d != at);
        }
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
    Ok(())
}

fn prefetch(address: CUdeviceptr, bytes: usize, at: Result<i32, CUresult>, on: CUstream) -> Status {
    let (_, stream) = target(on)?;
    crate::driver::graph::capture::refuse(&stream)?;
    let found = managed(address, bytes)?;
    HINTS.lock().entry(found.id).or_default().prefetched = at?;
    crate::driver::state::ENGINE.submit(stream.queue, Vec::new(), None, Start::Here);
    Ok(())
}

fn range_attribute(
    data: *mut c_void,
    size: usize,
    which: CUmem_range_attribute,
    address: CUdeviceptr,
    bytes: usize,
) -> Status {
    use CUmem_range_attribute as A;
    let found = managed(address, bytes)?;
    let hints = HINTS.lock().get(&found.id).cloned().unwrap_or_default();
    // The location types: device 1, host 2, none 0.
    let kind = |at: i32| match at {
        NOWHERE => 0,
        HOST => 2,
        _ => 1,
    };
    let value = match which {
        A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => i32::from(hints.read_mostly),
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION => hints.preferred,
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => hints.prefetched,
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => kind(hints.preferred),
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => kind(hints.prefetched),
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => hints.preferred.max(0),
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID => hints.prefetched.max(0),
        A::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY => {
            if size == 0 || !size.is_multiple_of(4) {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
            let out = data.cast::<i32>();
            let devices = hints.accessed_by.iter().copied().chain(std::iter::repeat(NOWHERE));
            return devices.take(size / 4).enumerate().try_for_each(|(i, d)| put(out.wrapping_add(i), d));
        }
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    };
    if size != 4 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    put(data.cast(), value)
}

/// The properties of an address, in our memory or in registered memory.
struct PointerInfo {
    kind: AllocationKind,
    start: u64,
    bytes: u64,
    id: u64,
    context: u32,
    device: usize,
}

fn known(address: CUdeviceptr) -> Option<PointerInfo> {
    if let Some(a) = MEMORY.find(address) {
        let Allocation { kind, base, bytes, id, owner, .. } = a;
        return Some(PointerInfo { kind, start: base, bytes, id, context: owner.context, device: owner.device });
    }
    let r = MEMORY.registration(address)?;
    let kind = AllocationKind::Host(r.flags);
    Some(PointerInfo {
        kind,
        start: r.start,
        bytes: r.bytes,
        id: r.start,
        context: r.owner.context,
        device: r.owner.device,
    })
}

fn attribute(data: *mut c_void, which: CUpointer_attribute, address: CUdeviceptr) -> Status {
    use CUpointer_attribute as A;
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    let known = known(address).ok_or(invalid)?;
    let host = known.kind.is_host();
    match which {
        A::CU_POINTER_ATTRIBUTE_CONTEXT => match crate::driver::context::raw_of(known.context) {
            Ok(context) => put(data.cast(), context),
            // Module data belongs to the device, not to an allocation of a context.
            Err(_) => put(data.cast(), current()?.raw()),
        },
        A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => put(data.cast(), if host { 1u32 } else { 2 }),
        A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => put(data.cast(), address),
        A::CU_POINTER_ATTRIBUTE_HOST_POINTER if host || known.kind.is_managed() => put(data.cast(), address),
        A::CU_POINTER_ATTRIBUTE_HOST_POINTER => Err(invalid),
        A::CU_POINTER_ATTRIBUTE_P2P_TOKENS => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => put(data.cast(), u32::from(SYNCHRONOUS.lock().contains(&known.id))),
        A::CU_POINTER_ATTRIBUTE_BUFFER_ID | A::CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID => put(data.cast(), known.id),
        A::CU_POINTER_ATTRIBUTE_IS_MANAGED => put(data.cast(), u32::from(known.kind.is_managed())),
        A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => put(data.cast(), known.device as i32),
        A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR | A::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR => {
            put(data.cast(), known.start)
        }
        A::CU_POINTER_ATTRIBUTE_RANGE_SIZE | A::CU_POINTER_ATTRIBUTE_MAPPING_SIZE => {
            put(data.cast(), known.bytes as usize)
        }
        A::CU_POINTER_ATTRIBUTE_MAPPED => put(data.cast(), 1u32),
        A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => {
            put(data.cast(), u64::from(matches!(known.kind, AllocationKind::Mapped(_))))
        }
        A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE => {
            put(data.cast(), u32::from(known.kind == AllocationKind::Device))
        }
        A::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE | A::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE => {
            put(data.cast(), 0u32)
        }
        A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => put(data.cast(), 3u32),
        A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => match known.kind {
            AllocationKind::Pooled(pool) => put(data.cast(), pool.handle),
            _ => put(data.cast(), 0usize),
        },
        _ => Err(invalid),
    }
}

/// As [`attribute`], but an unknown address returns zeros, as in NVIDIA's driver for several attributes at once.
fn attribute_or_zero(data: *mut c_void, which: CUpointer_attribute, address: CUdeviceptr) -> Status {
    use CUpointer_attribute as A;
    match attribute(data, which, address) {
        Err(CUresult::CUDA_ERROR_INVALID_VALUE) => match which {
            A::CU_POINTER_ATTRIBUTE_IS_MANAGED
            | A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE
            | A::CU_POINTER_ATTRIBUTE_MAPPED
            | A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
            | A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
            | A::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
            | A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => put(data.cast(), 0u32),
            A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => put(data.cast(), NOWHERE),
            _ if (1..=21).contains(&which.0) => put(data.cast(), 0u64),
            _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        },
        other => other,
    }
}

api! {
    fn cuPointerGetAttribute(data: *mut c_void, which: CUpointer_attribute, address: CUdeviceptr) {
        initialised()?;
        attribute(data, which, address)
    }
    fn cuPointerGetAttributes(
        count: c_uint,
        which: *mut CUpointer_attribute,
        data: *mut *mut c_void,
        address: CUdeviceptr,
    ) {
        initialised()?;
        if which.is_null() || data.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        (0..count as usize).try_for_each(|i| {
            attribute_or_zero(get(data.wrapping_add(i))?, get(which.wrapping_add(i))?, address)
        })
    }
    fn cuPointerSetAttribute(value: *const c_void, which: CUpointer_attribute, address: CUdeviceptr) {
        current()?;
        let on = get(value.cast::<c_uint>())? != 0;
        let found = known(address).filter(|_| which == CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
        let id = found.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?.id;
        // Blocking copies are synchronous anyway: the setting is only stored and returned.
        let mut synchronous = SYNCHRONOUS.lock();
        if on { synchronous.insert(id) } else { synchronous.remove(&id) };
        Ok(())
    }
    fn cuMemAdvise(address: CUdeviceptr, bytes: usize, advice: CUmem_advise, dev: CUdevice) {
        advise(address, bytes, advice, numbered(dev))
    }
    fn cuMemAdvise_v2(address: CUdeviceptr, bytes: usize, advice: CUmem_advise, location: CUmemLocation) {
        advise(address, bytes, advice, located(location))
    }
    fn cuMemPrefetchAsync / cuMemPrefetchAsync_ptsz(
        address: CUdeviceptr,
        bytes: usize,
        dev: CUdevice,
        on: CUstream,
    ) {
        prefetch(address, bytes, numbered(dev), on)
    }
    fn cuMemPrefetchAsync_v2 / cuMemPrefetchAsync_v2_ptsz(
        address: CUdeviceptr,
        bytes: usize,
        location: CUmemLocation,
        flags: c_uint,
        on: CUstream,
    ) {
        healthy()?;
        if flags != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        prefetch(address, bytes, located(location), on)
    }
    fn cuMemRangeGetAttribute(
        data: *mut c_void,
        size: usize,
        which: CUmem_range_attribute,
        address: CUdeviceptr,
        bytes: usize,
    ) {
        healthy()?;
        range_attribute(data, size, which, address, bytes)
    }
    fn cuMemRangeGetAttributes(
        data: *mut *mut c_void,
        sizes: *mut usize,
        which: *mut CUmem_range_attribute,
        count: usize,
        address: CUdeviceptr,
        bytes: usize,
    ) {
        healthy()?;
        if data.is_null() || sizes.is_null() || which.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        (0..count).try_for_each(|i| {
            let (data, size) = (get(data.wrapping_add(i))?, get(sizes.wrapping_add(i))?);
            range_attribute(data, size, get(which.wrapping_add(i))?, address, bytes)
        })
    }
    fn cuStreamAttachMemAsync / cuStreamAttachMemAsync_ptsz(
        on: CUstream,
        address: CUdeviceptr,
        bytes: usize,
        flags: c_uint,
    ) {
        let (_, stream) = target(on)?;
        crate::driver::graph::capture::refuse(&stream)?;
        let found = managed(address, 1)?;
        let whole = bytes == 0 || (address == found.base && bytes as u64 == found.bytes);
        // The flag 4 means a single stream, which cannot be a default stream.
        if !whole || !matches!(flags, 1 | 2 | 4) || (flags == 4 && on.addr() < 3) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        crate::driver::state::ENGINE.submit(stream.queue, Vec::new(), None, Start::Here);
        Ok(())
    }
}
