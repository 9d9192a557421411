//! Memory: allocation, copies, fills, pools, attributes of pointers.
//!
//! # Safety
//!
//! See the parent module. Copies go between ranges that were just checked to lie in one live allocation, or that the C
//! caller vouches for because they are its own memory.

use super::state::{bound, context_handle, device, ready};
use super::stream::stream;
use super::{Status, api, get, put};
use crate::memory::{Kind, MEMORY, MemoryError};
use cuda_sys::{
    CU_MEMHOSTALLOC_DEVICEMAP, CUDA_MEMCPY2D, CUdevice, CUdeviceptr, CUmemPool_attribute, CUmemoryPool, CUmemorytype,
    CUpointer_attribute, CUresult, CUstream,
};
use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};

/// The handle of the device's one memory pool.
const POOL: usize = 0xc0da_0020;

fn failure(error: MemoryError) -> CUresult {
    match error {
        MemoryError::OutOfMemory => CUresult::CUDA_ERROR_OUT_OF_MEMORY,
        MemoryError::Unknown => CUresult::CUDA_ERROR_INVALID_VALUE,
    }
}

fn alloc(out: *mut CUdeviceptr, bytes: usize, kind: Kind) -> Status {
    ready()?;
    if bytes == 0 || out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    put(out, MEMORY.alloc(bytes as u64, kind).map_err(failure)?)
}

fn alloc_host(out: *mut *mut c_void, bytes: usize, flags: u32) -> Status {
    ready()?;
    if bytes == 0 || flags > 7 || out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let base = MEMORY.alloc(bytes as u64, Kind::Host(flags)).map_err(failure)?;
    put(out, base as *mut c_void)
}

fn free(address: CUdeviceptr) -> Status {
    ready()?;
    if address == 0 {
        return Ok(());
    }
    MEMORY.free(address, |kind| matches!(kind, Kind::Device | Kind::Managed)).map_err(failure)
}

/// Checks that a range of device addresses lies in one live allocation.
fn device_range(address: CUdeviceptr, bytes: usize) -> Status {
    if bytes == 0 {
        return Ok(());
    }
    let end = address.checked_add(bytes as u64).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    let inside = MEMORY.find(address).is_some_and(|a| end <= a.base + a.bytes);
    let registered = || !MEMORY.owns(address) && MEMORY.registration(address).is_some();
    if inside || registered() { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_VALUE) }
}

/// Checks an address that may be the device's or the client's own.
fn any_range(address: u64, bytes: usize) -> Status {
    match (address, MEMORY.owns(address)) {
        (0, _) if bytes > 0 => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        (_, true) => device_range(address, bytes),
        (_, false) => Ok(()),
    }
}

fn copy(to: u64, from: u64, bytes: usize) {
    if bytes > 0 {
        // SAFETY: both ranges were checked by the caller, or are the client's memory, which it vouches for. The
        // ranges may overlap.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
    }
}

fn copy_from_host(to: CUdeviceptr, from: *const c_void, bytes: usize) -> Status {
    ready()?;
    device_range(to, bytes)?;
    any_range(from.addr() as u64, bytes)?;
    copy(to, from.expose_provenance() as u64, bytes);
    Ok(())
}

fn copy_to_host(to: *mut c_void, from: CUdeviceptr, bytes: usize) -> Status {
    ready()?;
    device_range(from, bytes)?;
    any_range(to.addr() as u64, bytes)?;
    copy(to.expose_provenance() as u64, from, bytes);
    Ok(())
}

fn copy_on_device(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Status {
    ready()?;
    device_range(to, bytes)?;
    device_range(from, bytes)?;
    copy(to, from, bytes);
    Ok(())
}

fn copy_unified(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Status {
    ready()?;
    any_range(to, bytes)?;
    any_range(from, bytes)?;
    copy(to, from, bytes);
    Ok(())
}

fn fill_with<T: Copy>(to: CUdeviceptr, value: T, count: usize) -> Status {
    ready()?;
    let size = size_of::<T>();
    let bytes = count.checked_mul(size).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    if !to.is_multiple_of(size as u64) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    device_range(to, bytes)?;
    if count > 0 {
        // SAFETY: the range was just checked to lie in one live allocation or registered memory, is aligned for the
        // type, and holds plain data.
        unsafe { std::slice::from_raw_parts_mut(to as *mut T, count) }.fill(value);
    }
    Ok(())
}

/// Address of a row's start on one side of a two-dimensional copy.
fn side(kind: CUmemorytype, host: u64, device: CUdeviceptr) -> Result<u64, CUresult> {
    match kind {
        CUmemorytype::CU_MEMORYTYPE_HOST => Ok(host),
        CUmemorytype::CU_MEMORYTYPE_DEVICE | CUmemorytype::CU_MEMORYTYPE_UNIFIED => Ok(device),
        _ => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
    }
}

fn copy_2d(spec: *const CUDA_MEMCPY2D) -> Status {
    ready()?;
    let c = get(spec)?;
    let from = side(c.srcMemoryType, c.srcHost.expose_provenance() as u64, c.srcDevice)?;
    let to = side(c.dstMemoryType, c.dstHost.expose_provenance() as u64, c.dstDevice)?;
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    // A pitch of 0 means rows without padding.
    let pitch = |pitch: usize| if pitch == 0 { c.WidthInBytes } else { pitch };
    let (from_pitch, to_pitch) = (pitch(c.srcPitch), pitch(c.dstPitch));
    if c.WidthInBytes + c.srcXInBytes > from_pitch || c.WidthInBytes + c.dstXInBytes > to_pitch {
        return Err(invalid);
    }
    for row in 0..c.Height {
        let at = |base: u64, x: usize, y: usize, pitch: usize| {
            let offset = (y + row).checked_mul(pitch)?.checked_add(x)?;
            base.checked_add(offset as u64)
        };
        let source = at(from, c.srcXInBytes, c.srcY, from_pitch).ok_or(invalid)?;
        let target = at(to, c.dstXInBytes, c.dstY, to_pitch).ok_or(invalid)?;
        any_range(source, c.WidthInBytes)?;
        any_range(target, c.WidthInBytes)?;
        copy(target, source, c.WidthInBytes);
    }
    Ok(())
}

fn pool(pool: CUmemoryPool) -> Status {
    bound()?;
    if pool.addr() == POOL { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_VALUE) }
}

fn pointer_attribute(data: *mut c_void, attribute: CUpointer_attribute, address: CUdeviceptr) -> Status {
    use CUpointer_attribute as A;
    let found = MEMORY.find(address).filter(|a| a.kind != Kind::Internal);
    let registered = MEMORY.registration(address);
    if found.is_none() && registered.is_none() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let kind = found.map_or(Kind::Host(0), |a| a.kind);
    let host = matches!(kind, Kind::Host(_));
    match attribute {
        A::CU_POINTER_ATTRIBUTE_CONTEXT => put(data.cast(), context_handle()),
        A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => put(data.cast(), if host { 1u32 } else { 2 }),
        A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => put(data.cast(), address),
        A::CU_POINTER_ATTRIBUTE_HOST_POINTER if kind == Kind::Device => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        A::CU_POINTER_ATTRIBUTE_HOST_POINTER => put(data.cast(), address),
        A::CU_POINTER_ATTRIBUTE_BUFFER_ID => put(data.cast(), found.map_or(address, |a| a.base)),
        A::CU_POINTER_ATTRIBUTE_IS_MANAGED => put(data.cast(), u32::from(kind == Kind::Managed)),
        A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => put(data.cast(), 0i32),
        A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => put(data.cast(), found.map_or(address, |a| a.base)),
        A::CU_POINTER_ATTRIBUTE_RANGE_SIZE => put(data.cast(), found.map_or(0, |a| a.bytes as usize)),
        A::CU_POINTER_ATTRIBUTE_MAPPED => put(data.cast(), 1u32),
        A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => put(data.cast(), 1u32),
        _ => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
    }
}

api! {
    fn cuMemAlloc_v2(out: *mut CUdeviceptr, bytes: usize) { alloc(out, bytes, Kind::Device) }
    fn cuMemAllocManaged(out: *mut CUdeviceptr, bytes: usize, flags: c_uint) {
        if flags != 1 && flags != 2 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        alloc(out, bytes, Kind::Managed)
    }
    fn cuMemAllocAsync(out: *mut CUdeviceptr, bytes: usize, on: CUstream) {
        ready()?;
        stream(on)?;
        alloc(out, bytes, Kind::Device)
    }
    fn cuMemAllocFromPoolAsync(out: *mut CUdeviceptr, bytes: usize, from: CUmemoryPool, on: CUstream) {
        pool(from)?;
        stream(on)?;
        alloc(out, bytes, Kind::Device)
    }
    fn cuMemAllocPitch_v2(out: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, element: c_uint) {
        if !matches!(element, 4 | 8 | 16) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let row = width.checked_next_multiple_of(512).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let bytes = row.checked_mul(height).ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        put(pitch, row)?;
        alloc(out, bytes, Kind::Device)
    }
    fn cuMemFree_v2(address: CUdeviceptr) { free(address) }
    fn cuMemFreeAsync(address: CUdeviceptr, on: CUstream) {
        ready()?;
        stream(on)?;
        free(address)
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        bound()?;
        let info = MEMORY.info();
        put(free, info.0 as usize)?;
        put(total, info.1 as usize)
    }
    fn cuMemGetAddressRange_v2(base: *mut CUdeviceptr, bytes: *mut usize, address: CUdeviceptr) {
        bound()?;
        let found = MEMORY.find(address).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
        if !base.is_null() {
            put(base, found.base)?;
        }
        if bytes.is_null() { Ok(()) } else { put(bytes, found.bytes as usize) }
    }
    fn cuMemAllocHost_v2(out: *mut *mut c_void, bytes: usize) { alloc_host(out, bytes, CU_MEMHOSTALLOC_DEVICEMAP) }
    fn cuMemHostAlloc(out: *mut *mut c_void, bytes: usize, flags: c_uint) { alloc_host(out, bytes, flags) }
    fn cuMemFreeHost(address: *mut c_void) {
        ready()?;
        MEMORY.free(address.addr() as u64, |kind| matches!(kind, Kind::Host(_))).map_err(failure)
    }
    fn cuMemHostGetFlags(flags: *mut c_uint, address: *mut c_void) {
        bound()?;
        match MEMORY.find(address.addr() as u64).map(|a| a.kind) {
            Some(Kind::Host(found)) => put(flags, found),
            _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }
    fn cuMemHostGetDevicePointer_v2(out: *mut CUdeviceptr, address: *mut c_void, flags: c_uint) {
        bound()?;
        let at = address.addr() as u64;
        let host = MEMORY.find(at).is_some_and(|a| matches!(a.kind, Kind::Host(_) | Kind::Managed));
        if flags != 0 || !(host || MEMORY.registration(at).is_some()) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        put(out, at)
    }
    fn cuMemHostRegister_v2(address: *mut c_void, bytes: usize, flags: c_uint) {
        ready()?;
        if address.is_null() || bytes == 0 || flags > 15 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let register = MEMORY.register(address.addr() as u64, bytes as u64, flags);
        register.map_err(|_| CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
    }
    fn cuMemHostUnregister(address: *mut c_void) {
        bound()?;
        let unregister = MEMORY.unregister(address.addr() as u64);
        unregister.map_err(|_| CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
    }
    fn cuDeviceGetDefaultMemPool(out: *mut CUmemoryPool, dev: CUdevice) {
        device(dev)?;
        put(out, std::ptr::without_provenance_mut(POOL))
    }
    fn cuDeviceGetMemPool(out: *mut CUmemoryPool, dev: CUdevice) {
        device(dev)?;
        put(out, std::ptr::without_provenance_mut(POOL))
    }
    fn cuMemPoolTrimTo(of: CUmemoryPool, _keep: usize) { pool(of) }
    fn cuMemPoolSetAttribute(of: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void) {
        pool(of)?;
        // Memory goes back to the system at once, so the settings have nothing to set.
        if value.is_null() || !(1..=8).contains(&attribute.0) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        Ok(())
    }
    fn cuMemPoolGetAttribute(of: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void) {
        pool(of)?;
        let info = MEMORY.info();
        match attribute.0 {
            1..=3 => put(value.cast(), 1 as c_int),
            4 => put(value.cast(), 0u64),
            5..=8 => put(value.cast(), info.1 - info.0),
            _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }
    fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize) { copy_from_host(to, from, bytes) }
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, on: CUstream) {
        ready()?;
        stream(on)?;
        copy_from_host(to, from, bytes)
    }
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize) { copy_to_host(to, from, bytes) }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, on: CUstream) {
        ready()?;
        stream(on)?;
        copy_to_host(to, from, bytes)
    }
    fn cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) { copy_on_device(to, from, bytes) }
    fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, on: CUstream) {
        ready()?;
        stream(on)?;
        copy_on_device(to, from, bytes)
    }
    fn cuMemcpy(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) { copy_unified(to, from, bytes) }
    fn cuMemcpyAsync(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, on: CUstream) {
        ready()?;
        stream(on)?;
        copy_unified(to, from, bytes)
    }
    fn cuMemcpy2D_v2(spec: *const CUDA_MEMCPY2D) { copy_2d(spec) }
    fn cuMemcpy2DUnaligned_v2(spec: *const CUDA_MEMCPY2D) { copy_2d(spec) }
    fn cuMemcpy2DAsync_v2(spec: *const CUDA_MEMCPY2D, on: CUstream) {
        ready()?;
        stream(on)?;
        copy_2d(spec)
    }
    fn cuMemsetD8_v2(to: CUdeviceptr, value: c_uchar, count: usize) { fill_with(to, value, count) }
    fn cuMemsetD16_v2(to: CUdeviceptr, value: c_ushort, count: usize) { fill_with(to, value, count) }
    fn cuMemsetD32_v2(to: CUdeviceptr, value: c_uint, count: usize) { fill_with(to, value, count) }
    fn cuMemsetD8Async(to: CUdeviceptr, value: c_uchar, count: usize, on: CUstream) {
        ready()?;
        stream(on)?;
        fill_with(to, value, count)
    }
    fn cuMemsetD16Async(to: CUdeviceptr, value: c_ushort, count: usize, on: CUstream) {
        ready()?;
        stream(on)?;
        fill_with(to, value, count)
    }
    fn cuMemsetD32Async(to: CUdeviceptr, value: c_uint, count: usize, on: CUstream) {
        ready()?;
        stream(on)?;
        fill_with(to, value, count)
    }
    fn cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, address: CUdeviceptr) {
        bound()?;
        pointer_attribute(data, attribute, address)
    }
}
