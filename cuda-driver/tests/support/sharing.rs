//! Custom memory pools, and memory that processes share: here one process is both sides.

use std::ffi::{c_char, c_uint};

use cuda_sys::{CUdeviceptr, CUipcMemHandle, CUmemPoolProps, CUmemoryPool, CUresult, CUstream, DriverFns};

use super::functions::{INVALID, OK, call, call_about, pointer, put};
use super::state::{Call, State};

unsafe extern "C" fn create_pool(out: *mut CUmemoryPool, _properties: *const CUmemPoolProps) -> CUresult {
    call("cuMemPoolCreate", |state| {
        let handle = state.handle();
        state.pools.insert(handle);
        put(out, pointer(handle));
        OK
    })
}

unsafe extern "C" fn destroy_pool(pool: CUmemoryPool) -> CUresult {
    call("cuMemPoolDestroy", |state| if state.pools.remove(&pool.addr()) { OK } else { INVALID })
}

unsafe extern "C" fn alloc_from_pool(
    out: *mut CUdeviceptr,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> CUresult {
    let call = Call { name: "cuMemAllocFromPoolAsync", stream: Some(stream.addr()), object: pool.addr() as u64, bytes };
    call_about(call, |state| {
        state.expect_stream("cuMemAllocFromPoolAsync", stream.addr());
        if !state.pools.contains(&pool.addr()) {
            return INVALID;
        }
        let address = state.allocate(bytes);
        state.touch("cuMemAllocFromPoolAsync", address, bytes, stream.addr(), true);
        put(out, address);
        OK
    })
}

/// The allocation that contains an address: its base and its size in bytes.
fn around(state: &State, address: CUdeviceptr) -> Option<(u64, usize)> {
    let (start, allocation) = state.device.range(..=address).next_back()?;
    (address < start + allocation.bytes as u64).then_some((*start, allocation.bytes))
}

unsafe extern "C" fn address_range(base: *mut CUdeviceptr, bytes: *mut usize, address: CUdeviceptr) -> CUresult {
    call("cuMemGetAddressRange_v2", |state| {
        let Some((start, size)) = around(state, address) else { return INVALID };
        put(base, start);
        put(bytes, size);
        OK
    })
}

/// A handle is the address of its memory.
unsafe extern "C" fn handle(out: *mut CUipcMemHandle, address: CUdeviceptr) -> CUresult {
    call("cuIpcGetMemHandle", |state| {
        let Some((start, _)) = around(state, address) else { return INVALID };
        let mut reserved = [0; 64];
        for (to, from) in reserved.iter_mut().zip(start.to_le_bytes()) {
            *to = from as c_char;
        }
        put(out, CUipcMemHandle { reserved });
        OK
    })
}

unsafe extern "C" fn open(out: *mut CUdeviceptr, handle: CUipcMemHandle, _flags: c_uint) -> CUresult {
    call("cuIpcOpenMemHandle_v2", |state| {
        let bytes: [u8; 8] = std::array::from_fn(|at| handle.reserved[at] as u8);
        let address = u64::from_le_bytes(bytes);
        if !state.device.contains_key(&address) {
            return INVALID;
        }
        state.opened.push(address);
        put(out, address);
        OK
    })
}

unsafe extern "C" fn close(address: CUdeviceptr) -> CUresult {
    call("cuIpcCloseMemHandle", |state| {
        let Some(at) = state.opened.iter().position(|open| *open == address) else { return INVALID };
        state.opened.swap_remove(at);
        OK
    })
}

pub(super) fn fill(fns: &mut DriverFns) {
    fns.cuMemPoolCreate = Some(create_pool);
    fns.cuMemPoolDestroy = Some(destroy_pool);
    fns.cuMemAllocFromPoolAsync = Some(alloc_from_pool);
    fns.cuMemGetAddressRange_v2 = Some(address_range);
    fns.cuIpcGetMemHandle = Some(handle);
    fns.cuIpcOpenMemHandle_v2 = Some(open);
    fns.cuIpcCloseMemHandle = Some(close);
}
