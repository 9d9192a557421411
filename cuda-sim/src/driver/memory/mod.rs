//! Memory management: allocation and release of device memory and of page-locked host memory, and queries.
//!
//! Freeing waits for the context's work, as in NVIDIA's driver.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

pub(super) mod copy;
pub(super) mod external;
pub(super) mod ipc;
pub(super) mod pointer;
pub(super) mod pool;
pub(super) mod virtual_memory;

use super::graph::capture;
use super::state::{current, device, healthy, releaser};
use super::{Status, api, put};
use crate::check;
use crate::memory::{AllocationKind, MEMORY, MemoryError, Registration};
use cuda_sys::{CU_MEMHOSTALLOC_DEVICEMAP, CUdevice, CUdeviceptr, CUresult};
use std::ffi::{c_uint, c_void};

pub(super) fn failure(error: MemoryError) -> CUresult {
    match error {
        MemoryError::OutOfMemory => CUresult::CUDA_ERROR_OUT_OF_MEMORY,
        MemoryError::Unknown => CUresult::CUDA_ERROR_INVALID_VALUE,
    }
}

fn alloc(out: *mut CUdeviceptr, bytes: usize, kind: AllocationKind) -> Status {
    let context = healthy()?;
    capture::check_permitted()?;
    if bytes == 0 || out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let new = || MEMORY.alloc_for(context.owner(), bytes as u64, kind, 0);
    let base = new().or_else(|error| {
        // Trimming the pools may release enough.
        pool::trim(context.device, 0);
        new().map_err(|_| error)
    });
    let base = base.map_err(failure)?;
    super::trace::memory(context.device);
    put(out, base)
}

fn alloc_host(out: *mut *mut c_void, bytes: usize, flags: u32) -> Status {
    let context = healthy()?;
    capture::check_permitted()?;
    if bytes == 0 || flags > 7 || out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let base = MEMORY.alloc_for(context.owner(), bytes as u64, AllocationKind::Host(flags), 0).map_err(failure)?;
    put(out, base as *mut c_void)
}

fn free(address: CUdeviceptr) -> Status {
    capture::check_permitted()?;
    if address == 0 {
        return healthy().map(|_| ());
    }
    let Some(found) = MEMORY.find(address).filter(|a| a.base == address) else {
        check::bad_free(address, "cuMemFree_v2");
        return Err(healthy().err().unwrap_or(CUresult::CUDA_ERROR_INVALID_VALUE));
    };
    let context = releaser(found.owner.context)?;
    // Memory of another context is freed once that context's work is done.
    if found.owner.context != context.id {
        super::state::context_by_id(found.owner.context)?.synchronize()?;
    }
    let kind = found.kind;
    match kind {
        AllocationKind::Device | AllocationKind::Managed | AllocationKind::External => {
            context.synchronize()?;
            MEMORY.free(address, |found| found == kind).map_err(failure)?;
            super::trace::memory(found.owner.device);
            Ok(())
        }
        AllocationKind::Pooled(_) | AllocationKind::Graph(_) => {
            context.synchronize()?;
            let legacy = std::sync::Arc::clone(&context.legacy.read());
            pool::free(address, &context, &legacy)?;
            context.synchronize()
        }
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

fn register(address: *mut c_void, bytes: usize, flags: c_uint) -> Status {
    let context = healthy()?;
    capture::check_permitted()?;
    if address.is_null() || bytes == 0 || flags > 15 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let registration =
        Registration { start: address.expose_provenance() as u64, bytes: bytes as u64, flags, owner: context.owner() };
    MEMORY.register(registration).map_err(|_| CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
}

/// The old registration function does not accept later flags.
fn register_old(address: *mut c_void, bytes: usize, flags: c_uint) -> Status {
    if flags > 3 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    register(address, bytes, flags)
}

api! {
    fn cuMemAlloc_v2(out: *mut CUdeviceptr, bytes: usize) { alloc(out, bytes, AllocationKind::Device) }
    fn cuMemAllocManaged(out: *mut CUdeviceptr, bytes: usize, flags: c_uint) {
        healthy()?;
        if flags != 1 && flags != 2 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        alloc(out, bytes, AllocationKind::Managed)
    }
    fn cuMemAllocPitch_v2(out: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, element: c_uint) {
        healthy()?;
        if !matches!(element, 4 | 8 | 16) || width == 0 || height == 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let row = width.checked_next_multiple_of(512).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let bytes = row.checked_mul(height).ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        put(pitch, row)?;
        alloc(out, bytes, AllocationKind::Device)
    }
    fn cuMemFree_v2(address: CUdeviceptr) { free(address) }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let info = MEMORY.info(current()?.device);
        put(free, info.0 as usize)?;
        put(total, info.1 as usize)
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) { put(bytes, MEMORY.info(device(dev)?).1 as usize) }
    fn cuMemGetAddressRange_v2(base: *mut CUdeviceptr, bytes: *mut usize, address: CUdeviceptr) {
        current()?;
        let found = MEMORY.find(address).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
        if !base.is_null() {
            put(base, found.base)?;
        }
        if bytes.is_null() { Ok(()) } else { put(bytes, found.bytes as usize) }
    }
    fn cuMemAllocHost_v2(out: *mut *mut c_void, bytes: usize) { alloc_host(out, bytes, CU_MEMHOSTALLOC_DEVICEMAP) }
    fn cuMemHostAlloc(out: *mut *mut c_void, bytes: usize, flags: c_uint) { alloc_host(out, bytes, flags) }
    fn cuMemFreeHost(address: *mut c_void) {
        capture::check_permitted()?;
        let at = address.addr() as u64;
        let Some(found) = MEMORY.find(at).filter(|a| a.base == at && matches!(a.kind, AllocationKind::Host(_))) else {
            return Err(healthy().err().unwrap_or(CUresult::CUDA_ERROR_INVALID_VALUE));
        };
        releaser(found.owner.context)?.synchronize()?;
        MEMORY.free(at, |kind| matches!(kind, AllocationKind::Host(_))).map_err(failure)
    }
    fn cuMemHostGetFlags(flags: *mut c_uint, address: *mut c_void) {
        current()?;
        let at = address.addr() as u64;
        match (MEMORY.find(at).map(|a| a.kind), MEMORY.registration(at)) {
            (Some(AllocationKind::Host(found)), _) => put(flags, found),
            (None, Some(found)) => put(flags, found.flags),
            _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }
    fn cuMemHostGetDevicePointer_v2(out: *mut CUdeviceptr, address: *mut c_void, flags: c_uint) {
        current()?;
        let at = address.addr() as u64;
        let host = MEMORY.find(at).is_some_and(|a| a.kind.is_host() || a.kind.is_managed());
        if flags != 0 || !(host || MEMORY.registration(at).is_some()) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        put(out, at)
    }
    fn cuMemHostRegister_v2(address: *mut c_void, bytes: usize, flags: c_uint) { register(address, bytes, flags) }
    fn cuMemHostRegister(address: *mut c_void, bytes: usize, flags: c_uint) { register_old(address, bytes, flags) }
    fn cuMemHostUnregister(address: *mut c_void) {
        capture::check_permitted()?;
        let at = address.addr() as u64;
        let unknown = CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
        let Some(found) = MEMORY.registration(at).filter(|found| found.start == at) else {
            return Err(healthy().err().unwrap_or(unknown));
        };
        releaser(found.owner.context)?.synchronize()?;
        MEMORY.unregister(at).map_err(|_| unknown)
    }
}
