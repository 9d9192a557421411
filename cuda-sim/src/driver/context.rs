//! Contexts: primary and created ones, each thread's stack of current contexts, context settings, and peer access.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::state::{Context, context, current, device, drained, healthy, initialised, primary, require_current, stack};
use super::{Status, api, put};
use crate::device::{DEVICES, PROFILE};
use cuda_sys::{
    CUcontext, CUctxCreateParams, CUdevice, CUdevice_P2PAttribute, CUexecAffinityParam, CUexecAffinityType,
    CUfunc_cache, CUlimit, CUresult, CUsharedconfig,
};
use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Returns the handle of the context with this id.
pub(super) fn raw_of(id: u32) -> Result<CUcontext, CUresult> {
    super::state::context_by_id(id).map(|context| context.raw())
}

/// Returns the context of a handle, which must be live; null means the current one.
fn named(handle: CUcontext) -> Result<Arc<Context>, CUresult> {
    if handle.is_null() { current() } else { context(handle) }
}

fn release(dev: CUdevice) -> Status {
    let primary = primary(dev)?;
    let mut retained = primary.retained.lock();
    if *retained == 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    *retained -= 1;
    if *retained == 0 {
        primary.live.store(false, Ordering::Release);
        primary.reset();
    }
    Ok(())
}

/// Destroys everything in a primary context once its work is done; it stays current where it is. A lost context can be
/// used again: the work that the fault stopped has ended.
fn reset(dev: CUdevice) -> Status {
    primary(dev)?.reset();
    Ok(())
}

/// Checks context flags: only defined ones, with at most one scheduling policy.
fn checked_flags(flags: c_uint) -> Status {
    let known = flags & !0xff == 0 && matches!(flags & 7, 0 | 1 | 2 | 4);
    if known { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_VALUE) }
}

fn set_primary_flags(dev: CUdevice, flags: c_uint) -> Status {
    let primary = primary(dev)?;
    checked_flags(flags)?;
    primary.flags.store(flags, Ordering::Release);
    Ok(())
}

fn create(out: *mut CUcontext, flags: c_uint, dev: CUdevice, api_version: u32) -> Status {
    let device = device(dev)?;
    checked_flags(flags)?;
    if out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let context = Context::new(device, false, api_version, flags);
    put(out, context.raw())?;
    stack(|stack| stack.push(context));
    Ok(())
}

fn destroy(handle: CUcontext) -> Status {
    let context = context(handle)?;
    if context.primary {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    context.destroy();
    stack(|stack| {
        if stack.last().is_some_and(|top| top.id == context.id) {
            stack.pop();
        }
    });
    Ok(())
}

fn push(handle: CUcontext) -> Status {
    let context = context(handle)?;
    stack(|stack| stack.push(context));
    Ok(())
}

fn pop(out: *mut CUcontext) -> Status {
    initialised()?;
    let top = stack(Vec::pop).ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
    if out.is_null() { Ok(()) } else { put(out, top.raw()) }
}

/// The limit on a thread's local memory, in bytes.
const MAX_STACK: usize = 512 << 10;

/// Returns the default of a limit; `None` if this card has no such limit.
fn default_limit(limit: CUlimit) -> Option<usize> {
    match limit {
        // Device-side synchronisation was removed with compute capability 9.0.
        CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH if PROFILE.capability.0 >= 9 => None,
        CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE if PROFILE.persisting_l2_bytes == 0 => None,
        CUlimit::CU_LIMIT_STACK_SIZE => Some(1024),
        CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE => Some(1 << 20),
        CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE => Some(8 << 20),
        CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH => Some(2),
        CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT => Some(2048),
        CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY => Some(64),
        CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE => Some(0),
        _ => None,
    }
}

/// Returns true if one device can access the memory of another: all of them share one address range.
fn reaches(dev: CUdevice, peer: CUdevice) -> Result<bool, CUresult> {
    Ok(device(dev)? != device(peer)?)
}

/// Returns the current context and its peer, which must be of another device.
fn peer(handle: CUcontext) -> Result<(Arc<Context>, Arc<Context>), CUresult> {
    let own = healthy()?;
    let other = context(handle)?;
    if own.id == other.id || !other.live.load(Ordering::Acquire) {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    if own.device == other.device {
        return Err(CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    }
    Ok((own, other))
}

api! {
    fn cuDevicePrimaryCtxRetain(out: *mut CUcontext, dev: CUdevice) {
        let primary = primary(dev)?;
        put(out, primary.raw())?;
        *primary.retained.lock() += 1;
        primary.live.store(true, Ordering::Release);
        Ok(())
    }
    fn cuDevicePrimaryCtxRelease(dev: CUdevice) { release(dev) }
    fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) { release(dev) }
    fn cuDevicePrimaryCtxReset(dev: CUdevice) { reset(dev) }
    fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) { reset(dev) }
    fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int) {
        let primary = primary(dev)?;
        put(flags, primary.flags.load(Ordering::Acquire))?;
        put(active, c_int::from(*primary.retained.lock() > 0))
    }
    fn cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: c_uint) { set_primary_flags(dev, flags) }
    fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) { set_primary_flags(dev, flags) }
    fn cuCtxCreate(out: *mut CUcontext, flags: c_uint, dev: CUdevice) { create(out, flags, dev, 3010) }
    fn cuCtxCreate_v2(out: *mut CUcontext, flags: c_uint, dev: CUdevice) { create(out, flags, dev, 3020) }
    fn cuCtxCreate_v3(
        out: *mut CUcontext,
        affinity: *mut CUexecAffinityParam,
        count: c_int,
        flags: c_uint,
        dev: CUdevice,
    ) {
        initialised()?;
        if !affinity.is_null() || count != 0 {
            return Err(CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
        }
        create(out, flags, dev, 3020)
    }
    fn cuCtxCreate_v4(out: *mut CUcontext, params: *mut CUctxCreateParams, flags: c_uint, dev: CUdevice) {
        initialised()?;
        if !params.is_null() {
            let params = super::get(params)?;
            if params.numExecAffinityParams != 0 {
                return Err(CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
            }
            if !params.cigParams.is_null() {
                return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
            }
        }
        create(out, flags, dev, 3020)
    }
    fn cuCtxDestroy(handle: CUcontext) { destroy(handle) }
    fn cuCtxDestroy_v2(handle: CUcontext) { destroy(handle) }
    fn cuCtxGetCurrent(out: *mut CUcontext) {
        initialised()?;
        put(out, stack(|stack| stack.last().map_or(std::ptr::null_mut(), |top| top.raw())))
    }
    fn cuCtxSetCurrent(handle: CUcontext) {
        initialised()?;
        let next = if handle.is_null() { None } else { Some(context(handle)?) };
        stack(|stack| {
            stack.pop();
            stack.extend(next);
        });
        Ok(())
    }
    fn cuCtxPushCurrent(handle: CUcontext) { push(handle) }
    fn cuCtxPushCurrent_v2(handle: CUcontext) { push(handle) }
    fn cuCtxPopCurrent(out: *mut CUcontext) { pop(out) }
    fn cuCtxPopCurrent_v2(out: *mut CUcontext) { pop(out) }
    fn cuCtxGetDevice(out: *mut CUdevice) { put(out, current()?.device as CUdevice) }
    fn cuCtxGetFlags(flags: *mut c_uint) { put(flags, current()?.flags.load(Ordering::Acquire)) }
    fn cuCtxSetFlags(flags: c_uint) {
        let context = current()?;
        checked_flags(flags)?;
        context.flags.store(flags, Ordering::Release);
        Ok(())
    }
    fn cuCtxGetId(handle: CUcontext, id: *mut c_ulonglong) { put(id, c_ulonglong::from(named(handle)?.id)) }
    fn cuCtxGetApiVersion(handle: CUcontext, version: *mut c_uint) { put(version, named(handle)?.api_version) }
    fn cuCtxSynchronize() {
        super::graph::capture::check_permitted()?;
        let context = drained(healthy())?;
        super::graph::capture::refuse_context(context.id)?;
        context.synchronize()
    }
    fn cuCtxGetLimit(value: *mut usize, limit: CUlimit) {
        let context = current()?;
        let default = default_limit(limit).ok_or(CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT)?;
        put(value, context.settings.lock().limits.get(&limit.0).copied().unwrap_or(default))
    }
    fn cuCtxSetLimit(limit: CUlimit, value: usize) {
        let context = healthy()?;
        default_limit(limit).ok_or(CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT)?;
        let value = match limit {
            CUlimit::CU_LIMIT_STACK_SIZE if value > MAX_STACK => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
            CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY => value.min(128),
            CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE => value.min(PROFILE.persisting_l2_bytes as usize),
            _ => value,
        };
        if limit == CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE {
            crate::service::limit_heap(context.id, value as u64);
        }
        context.settings.lock().limits.insert(limit.0, value);
        Ok(())
    }
    fn cuCtxGetCacheConfig(config: *mut CUfunc_cache) { put(config, CUfunc_cache(current()?.settings.lock().cache)) }
    fn cuCtxSetCacheConfig(config: CUfunc_cache) {
        let context = current()?;
        super::module::checked_cache(config)?;
        context.settings.lock().cache = config.0;
        Ok(())
    }
    fn cuCtxGetSharedMemConfig(config: *mut CUsharedconfig) {
        // Banks have four bytes; current devices ignore this setting.
        let set = current()?.settings.lock().banks;
        put(config, CUsharedconfig(if set == 0 { 1 } else { set }))
    }
    fn cuCtxSetSharedMemConfig(config: CUsharedconfig) {
        let context = current()?;
        if config.0 > 2 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        context.settings.lock().banks = config.0.min(1);
        Ok(())
    }
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        require_current()?;
        let range = super::stream::PRIORITIES;
        if !least.is_null() {
            put(least, range.0)?;
        }
        if greatest.is_null() { Ok(()) } else { put(greatest, range.1) }
    }
    fn cuCtxResetPersistingL2Cache() { super::state::ready() }
    fn cuCtxGetExecAffinity(_out: *mut CUexecAffinityParam, _kind: CUexecAffinityType) {
        require_current()?;
        Err(CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
    }
    fn cuCtxAttach(out: *mut CUcontext, flags: c_uint) {
        let context = current()?;
        if flags != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        put(out, context.raw())
    }
    fn cuCtxDetach(handle: CUcontext) { context(handle).map(|_| ()) }
    fn cuDeviceCanAccessPeer(can: *mut c_int, dev: CUdevice, peer: CUdevice) {
        put(can, c_int::from(reaches(dev, peer)?))
    }
    fn cuDeviceGetP2PAttribute(value: *mut c_int, which: CUdevice_P2PAttribute, dev: CUdevice, peer: CUdevice) {
        if !reaches(dev, peer)? {
            return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
        }
        match which {
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK => put(value, 0),
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
            | CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED => put(value, 1),
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED => put(value, 0),
            _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }
    fn cuCtxEnablePeerAccess(handle: CUcontext, flags: c_uint) {
        let (own, other) = peer(handle)?;
        if flags != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        match own.settings.lock().peers.insert(other.handle) {
            true => Ok(()),
            false => Err(CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED),
        }
    }
    fn cuCtxDisablePeerAccess(handle: CUcontext) {
        let (own, other) = peer(handle)?;
        match own.settings.lock().peers.remove(&other.handle) {
            true => Ok(()),
            false => Err(CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED),
        }
    }
    fn cuDeviceGetExecAffinitySupport(out: *mut c_int, kind: CUexecAffinityType, dev: CUdevice) {
        device(dev)?;
        if kind != CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        put(out, 0)
    }
    fn cuDeviceGetCount(count: *mut c_int) {
        initialised()?;
        put(count, *DEVICES as c_int)
    }
}
