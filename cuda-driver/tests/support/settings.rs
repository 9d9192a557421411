//! The tracing driver's settings of contexts, its linker, and the parameters of its functions.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cuda_sys::{
    CUcontext, CUdevice, CUfunc_cache, CUfunction, CUjit_option, CUjitInputType, CUlimit, CUlinkState, CUresult,
    DriverFns,
};

use super::functions::{INVALID, OK, call, pointer, put};

unsafe extern "C" fn current(out: *mut CUcontext) -> CUresult {
    call("cuCtxGetCurrent", |state| {
        put(out, pointer(state.current.get(&std::thread::current().id()).copied().unwrap_or_default()));
        OK
    })
}

unsafe extern "C" fn current_device(out: *mut CUdevice) -> CUresult {
    call("cuCtxGetDevice", |state| {
        let context = state.current.get(&std::thread::current().id()).copied().unwrap_or_default();
        // The last digit of a handle is its device's number.
        put(out, (context % 0x10) as CUdevice);
        OK
    })
}

unsafe extern "C" fn reset(_device: CUdevice) -> CUresult {
    call("cuDevicePrimaryCtxReset_v2", |_| OK)
}

unsafe extern "C" fn limit(out: *mut usize, _limit: CUlimit) -> CUresult {
    put(out, 1024);
    call("cuCtxGetLimit", |_| OK)
}

unsafe extern "C" fn set_limit(_limit: CUlimit, value: usize) -> CUresult {
    call("cuCtxSetLimit", |_| if value < 1 << 30 { OK } else { INVALID })
}

unsafe extern "C" fn cache(out: *mut CUfunc_cache) -> CUresult {
    // An attribute that no header knows.
    put(out, CUfunc_cache(17));
    call("cuCtxGetCacheConfig", |_| OK)
}

unsafe extern "C" fn can_access(out: *mut c_int, _device: CUdevice, _peer: CUdevice) -> CUresult {
    put(out, 1);
    call("cuDeviceCanAccessPeer", |_| OK)
}

unsafe extern "C" fn enable_peer(_peer: CUcontext, _flags: c_uint) -> CUresult {
    call("cuCtxEnablePeerAccess", |_| OK)
}

unsafe extern "C" fn disable_peer(_peer: CUcontext) -> CUresult {
    call("cuCtxDisablePeerAccess", |_| OK)
}

unsafe extern "C" fn link_create(
    _count: c_uint,
    _keys: *mut CUjit_option,
    _values: *mut *mut c_void,
    out: *mut CUlinkState,
) -> CUresult {
    call("cuLinkCreate_v2", |state| {
        let handle = state.handle();
        state.links.insert(handle);
        put(out, pointer(handle));
        OK
    })
}

unsafe extern "C" fn link_add(
    link: CUlinkState,
    _kind: CUjitInputType,
    _data: *mut c_void,
    _bytes: usize,
    _name: *const c_char,
    _count: c_uint,
    _keys: *mut CUjit_option,
    _values: *mut *mut c_void,
) -> CUresult {
    call("cuLinkAddData_v2", |state| if state.links.contains(&link.addr()) { OK } else { INVALID })
}

unsafe extern "C" fn link_complete(_link: CUlinkState, out: *mut *mut c_void, bytes: *mut usize) -> CUresult {
    call("cuLinkComplete", |_| {
        static LINKED: &[u8] = b".version 7.8";
        put(out, LINKED.as_ptr().cast_mut().cast());
        put(bytes, LINKED.len());
        OK
    })
}

unsafe extern "C" fn link_destroy(link: CUlinkState) -> CUresult {
    call("cuLinkDestroy", |state| if state.links.remove(&link.addr()) { OK } else { INVALID })
}

/// Each letter of a function's name is a parameter of eight bytes.
unsafe extern "C" fn parameter(function: CUfunction, index: usize, offset: *mut usize, bytes: *mut usize) -> CUresult {
    call("cuFuncGetParamInfo", |state| {
        let count = state.functions.get(&function.addr()).map_or(0, String::len);
        put(offset, 8 * index);
        put(bytes, 8);
        if index < count { OK } else { INVALID }
    })
}

/// Puts the functions into the table.
pub(super) fn fill(fns: &mut DriverFns) {
    fns.cuCtxGetCurrent = Some(current);
    fns.cuCtxGetDevice = Some(current_device);
    fns.cuDevicePrimaryCtxReset_v2 = Some(reset);
    fns.cuCtxGetLimit = Some(limit);
    fns.cuCtxSetLimit = Some(set_limit);
    fns.cuCtxGetCacheConfig = Some(cache);
    fns.cuDeviceCanAccessPeer = Some(can_access);
    fns.cuCtxEnablePeerAccess = Some(enable_peer);
    fns.cuCtxDisablePeerAccess = Some(disable_peer);
    fns.cuLinkCreate_v2 = Some(link_create);
    fns.cuLinkAddData_v2 = Some(link_add);
    fns.cuLinkComplete = Some(link_complete);
    fns.cuLinkDestroy = Some(link_destroy);
    fns.cuFuncGetParamInfo = Some(parameter);
}
