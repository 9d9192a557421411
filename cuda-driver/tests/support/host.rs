//! Page-locked and managed memory, and asynchronous copies.

use std::ffi::{c_uint, c_void};

use cuda_sys::{CUcontext, CUdevice, CUdeviceptr, CUmem_advise, CUresult, CUstream, DriverFns};

use super::clocks::HOST;
use super::functions::{INVALID, OK, call, call_about, copy, device_pointer, put};
use super::state::{Allocation, Call, State};

unsafe extern "C" fn host_alloc(out: *mut *mut c_void, bytes: usize, _flags: c_uint) -> CUresult {
    call("cuMemHostAlloc", |state| {
        let mut words = vec![u64::MAX; bytes.div_ceil(8)].into_boxed_slice();
        let address = words.as_mut_ptr();
        let address_bits = address.expose_provenance() as u64;
        state.host.insert(address_bits, Allocation { _words: words, bytes, accesses: Vec::new() });
        put(out, address.cast());
        OK
    })
}

unsafe extern "C" fn host_free(address: *mut c_void) -> CUresult {
    call("cuMemFreeHost", |state| release("cuMemFreeHost", state, address))
}

/// Frees page-locked memory, which nothing may access any more.
fn release(name: &str, state: &mut State, address: *mut c_void) -> CUresult {
    let address = address.addr() as u64;
    state.touch_all(name, address, HOST);
    if state.host.remove(&address).is_some() { OK } else { INVALID }
}

unsafe extern "C" fn host_device_pointer(out: *mut CUdeviceptr, host: *mut c_void, _flags: c_uint) -> CUresult {
    call("cuMemHostGetDevicePointer_v2", |_| {
        put(out, host.addr() as u64);
        OK
    })
}

unsafe extern "C" fn register(address: *mut c_void, bytes: usize, _flags: c_uint) -> CUresult {
    call("cuMemHostRegister_v2", |state| {
        let (start, end) = (address.expose_provenance() as u64, (address.addr() + bytes) as u64);
        let overlaps = |(at, other): (&u64, &Allocation)| *at < end && start < at + other.bytes as u64;
        if state.host.iter().any(overlaps) {
            return CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        }
        state.host.insert(start, Allocation { _words: Box::default(), bytes, accesses: Vec::new() });
        OK
    })
}

unsafe extern "C" fn unregister(address: *mut c_void) -> CUresult {
    call("cuMemHostUnregister", |state| release("cuMemHostUnregister", state, address))
}

unsafe extern "C" fn alloc_managed(out: *mut CUdeviceptr, bytes: usize, _flags: c_uint) -> CUresult {
    call("cuMemAllocManaged", |state| {
        put(out, state.allocate(bytes));
        OK
    })
}

/// A use of managed memory by a stream.
fn use_on(name: &'static str, address: CUdeviceptr, bytes: usize, stream: CUstream, write: bool) -> CUresult {
    call_about(Call { name, stream: Some(stream.addr()), object: address, bytes }, |state| {
        state.touch(name, address, bytes, stream.addr(), write);
        OK
    })
}

unsafe extern "C" fn prefetch(address: CUdeviceptr, bytes: usize, _to: CUdevice, stream: CUstream) -> CUresult {
    use_on("cuMemPrefetchAsync", address, bytes, stream, false)
}

unsafe extern "C" fn attach(stream: CUstream, address: CUdeviceptr, _bytes: usize, _flags: c_uint) -> CUresult {
    use_on("cuStreamAttachMemAsync", address, 1, stream, true)
}

unsafe extern "C" fn advise(_at: CUdeviceptr, _bytes: usize, _advice: CUmem_advise, _device: CUdevice) -> CUresult {
    call("cuMemAdvise", |_| OK)
}

/// Checks that host memory is page-locked: a copy of other memory would not be asynchronous.
unsafe extern "C" fn copy_in(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream) -> CUresult {
    move_bytes("cuMemcpyHtoDAsync_v2", to, from.addr() as u64, bytes, stream)
}

unsafe extern "C" fn copy_out(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream) -> CUresult {
    move_bytes("cuMemcpyDtoHAsync_v2", to.addr() as u64, from, bytes, stream)
}

fn move_bytes(name: &'static str, to: u64, from: u64, bytes: usize, stream: CUstream) -> CUresult {
    call_about(Call { name, stream: Some(stream.addr()), object: to, bytes }, |state| {
        state.touch(name, from, bytes, stream.addr(), false);
        state.touch(name, to, bytes, stream.addr(), true);
        copy(state, device_pointer(from), device_pointer(to), bytes);
        OK
    })
}

unsafe extern "C" fn copy_peer(
    to: CUdeviceptr,
    _here: CUcontext,
    from: CUdeviceptr,
    _there: CUcontext,
    bytes: usize,
    stream: CUstream,
) -> CUresult {
    move_bytes("cuMemcpyPeerAsync", to, from, bytes, stream)
}

pub(super) fn fill(fns: &mut DriverFns) {
    fns.cuMemHostAlloc = Some(host_alloc);
    fns.cuMemFreeHost = Some(host_free);
    fns.cuMemHostGetDevicePointer_v2 = Some(host_device_pointer);
    fns.cuMemHostRegister_v2 = Some(register);
    fns.cuMemHostUnregister = Some(unregister);
    fns.cuMemAllocManaged = Some(alloc_managed);
    fns.cuMemPrefetchAsync = Some(prefetch);
    fns.cuStreamAttachMemAsync = Some(attach);
    fns.cuMemAdvise = Some(advise);
    fns.cuMemcpyPeerAsync = Some(copy_peer);
    fns.cuMemcpyHtoDAsync_v2 = Some(copy_in);
    fns.cuMemcpyDtoHAsync_v2 = Some(copy_out);
}
