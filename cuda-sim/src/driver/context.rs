//! The primary context and the stack of current contexts of each thread.
//!
//! # Safety
//!
//! See the parent module: pointers are C's, null or valid.

use super::state::{ACTIVE, CONTEXT, PRIMARY, STACK, bound, context_handle, device, initialised, ready, reset};
use super::{Status, api, put};
use cuda_sys::{CUcontext, CUdevice, CUfunc_cache, CUlimit, CUresult};
use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::atomic::Ordering;

fn known(context: CUcontext) -> Status {
    initialised()?;
    if context.addr() == CONTEXT { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_CONTEXT) }
}

fn current() -> usize {
    STACK.with_borrow(|stack| stack.last().copied().unwrap_or(0))
}

fn release(dev: CUdevice) -> Status {
    device(dev)?;
    let mut primary = PRIMARY.lock();
    if primary.retained == 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    primary.retained -= 1;
    if primary.retained == 0 {
        ACTIVE.store(false, Ordering::Release);
        primary.limits.clear();
        reset();
    }
    Ok(())
}

/// Limits that exist, with their defaults.
fn default_limit(limit: CUlimit) -> Option<usize> {
    match limit {
        CUlimit::CU_LIMIT_STACK_SIZE => Some(1024),
        CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE => Some(1 << 20),
        CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE => Some(8 << 20),
        CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY => Some(64),
        CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE => Some(0),
        _ => None,
    }
}

api! {
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, dev: CUdevice) {
        device(dev)?;
        put(context, context_handle())?;
        PRIMARY.lock().retained += 1;
        ACTIVE.store(true, Ordering::Release);
        Ok(())
    }
    fn cuDevicePrimaryCtxRelease(dev: CUdevice) { release(dev) }
    fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) { release(dev) }
    fn cuDevicePrimaryCtxReset(dev: CUdevice) {
        device(dev)?;
        reset();
        Ok(())
    }
    fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) {
        device(dev)?;
        reset();
        Ok(())
    }
    fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int) {
        device(dev)?;
        let primary = PRIMARY.lock();
        put(flags, primary.flags)?;
        put(active, c_int::from(primary.retained > 0))
    }
    fn cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: c_uint) {
        device(dev)?;
        PRIMARY.lock().flags = flags;
        Ok(())
    }
    fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) {
        device(dev)?;
        PRIMARY.lock().flags = flags;
        Ok(())
    }
    fn cuCtxGetCurrent(context: *mut CUcontext) {
        initialised()?;
        put(context, std::ptr::without_provenance_mut(current()))
    }
    fn cuCtxSetCurrent(context: CUcontext) {
        initialised()?;
        if !context.is_null() {
            known(context)?;
        }
        STACK.with_borrow_mut(|stack| {
            stack.pop();
            if !context.is_null() {
                stack.push(context.addr());
            }
        });
        Ok(())
    }
    fn cuCtxPushCurrent_v2(context: CUcontext) {
        known(context)?;
        STACK.with_borrow_mut(|stack| stack.push(context.addr()));
        Ok(())
    }
    fn cuCtxPopCurrent_v2(context: *mut CUcontext) {
        initialised()?;
        let top = STACK.with_borrow_mut(Vec::pop).ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
        if context.is_null() { Ok(()) } else { put(context, std::ptr::without_provenance_mut(top)) }
    }
    fn cuCtxGetDevice(out: *mut CUdevice) {
        bound()?;
        put(out, 0)
    }
    fn cuCtxGetFlags(flags: *mut c_uint) {
        bound()?;
        put(flags, PRIMARY.lock().flags)
    }
    fn cuCtxGetId(context: CUcontext, id: *mut c_ulonglong) {
        if context.is_null() { bound()? } else { known(context)? }
        put(id, 1)
    }
    fn cuCtxGetApiVersion(context: CUcontext, version: *mut c_uint) {
        if context.is_null() { bound()? } else { known(context)? }
        put(version, 3020)
    }
    fn cuCtxSynchronize() { ready() }
    fn cuCtxGetLimit(value: *mut usize, limit: CUlimit) {
        bound()?;
        let default = default_limit(limit).ok_or(CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT)?;
        put(value, PRIMARY.lock().limits.get(&limit.0).copied().unwrap_or(default))
    }
    fn cuCtxSetLimit(limit: CUlimit, value: usize) {
        bound()?;
        default_limit(limit).ok_or(CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT)?;
        PRIMARY.lock().limits.insert(limit.0, value);
        Ok(())
    }
    fn cuCtxGetCacheConfig(config: *mut CUfunc_cache) {
        bound()?;
        put(config, CUfunc_cache(0))
    }
    fn cuCtxSetCacheConfig(_config: CUfunc_cache) { bound() }
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        bound()?;
        if !least.is_null() {
            put(least, 0)?;
        }
        if greatest.is_null() { Ok(()) } else { put(greatest, -5) }
    }
}
