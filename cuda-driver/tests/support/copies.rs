//! Fills with wider values, and copies of rows and planes.

use std::ffi::{c_uint, c_ushort};

use cuda_sys::{CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype, CUresult, CUstream};

use super::clocks::{Actor, HOST};
use super::functions::{OK, call_about, copy, device_pointer, put};
use super::state::{Call, State};

pub(super) unsafe extern "C" fn fill_16(to: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream) -> CUresult {
    fill("cuMemsetD16Async", to, value, count, stream)
}

pub(super) unsafe extern "C" fn fill_32(to: CUdeviceptr, value: c_uint, count: usize, stream: CUstream) -> CUresult {
    fill("cuMemsetD32Async", to, value, count, stream)
}

fn fill<T: Copy>(name: &'static str, to: CUdeviceptr, value: T, count: usize, stream: CUstream) -> CUresult {
    let bytes = count * size_of::<T>();
    call_about(Call { name, stream: Some(stream.addr()), object: to, bytes }, |state| {
        state.touch(name, to, bytes, stream.addr(), true);
        for at in 0..count {
            put(device_pointer(to).cast::<T>().wrapping_add(at), value);
        }
        OK
    })
}

pub(super) unsafe extern "C" fn planes(copy: *const CUDA_MEMCPY3D) -> CUresult {
    // SAFETY: the caller hands over a copy that lives through the call.
    let copy = unsafe { &*copy };
    call_about(Call { name: "cuMemcpy3D_v2", stream: None, object: copy.dstDevice, bytes: bytes(copy) }, |state| {
        move_rows("cuMemcpy3D_v2", state, copy, 0);
        if copy.dstMemoryType == CUmemorytype::CU_MEMORYTYPE_HOST {
            let clock = state.clocks.of(0);
            state.clocks.learn(HOST, &clock);
        }
        OK
    })
}

pub(super) unsafe extern "C" fn planes_async(copy: *const CUDA_MEMCPY3D, stream: CUstream) -> CUresult {
    // SAFETY: the caller hands over a copy that lives through the call.
    let copy = unsafe { &*copy };
    let (object, bytes) = (copy.dstDevice, bytes(copy));
    call_about(Call { name: "cuMemcpy3DAsync_v2", stream: Some(stream.addr()), object, bytes }, |state| {
        move_rows("cuMemcpy3DAsync_v2", state, copy, stream.addr());
        OK
    })
}

fn bytes(copy: &CUDA_MEMCPY3D) -> usize {
    copy.WidthInBytes * copy.Height * copy.Depth
}

fn move_rows(name: &str, state: &mut State, rows: &CUDA_MEMCPY3D, actor: Actor) {
    let on_device = |kind| kind == CUmemorytype::CU_MEMORYTYPE_DEVICE;
    for (plane, row) in (0..rows.Depth).flat_map(|plane| (0..rows.Height).map(move |row| (plane, row))) {
        let from = (plane * rows.srcHeight + row) * rows.srcPitch;
        let to = (plane * rows.dstHeight + row) * rows.dstPitch;
        let source = if on_device(rows.srcMemoryType) {
            state.touch(name, rows.srcDevice + from as u64, rows.WidthInBytes, actor, false);
            device_pointer(rows.srcDevice).cast_const()
        } else {
            rows.srcHost.cast()
        };
        let target = if on_device(rows.dstMemoryType) {
            state.touch(name, rows.dstDevice + to as u64, rows.WidthInBytes, actor, true);
            device_pointer(rows.dstDevice)
        } else {
            rows.dstHost.cast()
        };
        copy(state, source.wrapping_add(from), target.wrapping_add(to), rows.WidthInBytes);
    }
}
