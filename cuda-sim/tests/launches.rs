//! Extended launches: the attributes, the events that they record, and occupancy through the driver's functions.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{function, launch_attribute, launch_config, primary};
use cuda_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::mpsc::{Receiver, channel};

const KERNELS: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry more(.param .u64 p) { .reg .b64 %rd1; ld.param.u64 %rd1, [p]; red.global.add.u32 [%rd1], 1; ret; }
.visible .entry still() { .shared .align 4 .b8 room[8192]; ret; }";

#[test]
fn each_attribute_is_checked() {
    use CUlaunchAttributeID as A;
    use CUresult as R;
    primary(0);
    let still = function(KERNELS, c"still");
    let (good, invalid) = (R::CUDA_SUCCESS, R::CUDA_ERROR_INVALID_VALUE);
    for (id, words, code) in [
        (A::CU_LAUNCH_ATTRIBUTE_IGNORE, &[7][..], good),
        (A::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &[0; 8], good),
        (A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &[1], good),
        (A::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &[1], invalid),
        (A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &[1, 1, 1], good),
        (A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &[1, 1, 0], R::CUDA_ERROR_INVALID_CLUSTER_SIZE),
        (A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &[2, 1, 1], good),
        (A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &[1, 2, 1], R::CUDA_ERROR_INVALID_CLUSTER_SIZE),
        (A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &[1, 1, 2], R::CUDA_ERROR_INVALID_CLUSTER_SIZE),
        (A::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, &[1, 4, 1], invalid),
        (A::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, &[2], good),
        (A::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, &[3], invalid),
        (A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, &[1], good),
        (A::CU_LAUNCH_ATTRIBUTE_PRIORITY, &[(-5i32).cast_unsigned()], good),
        (A::CU_LAUNCH_ATTRIBUTE_PRIORITY, &[(-6i32).cast_unsigned()], invalid),
        (A::CU_LAUNCH_ATTRIBUTE_PRIORITY, &[1], invalid),
        (A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &[0], good),
        (A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &[0x0100], invalid),
        (A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &[1], good),
        (A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &[2], invalid),
        (A::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &[0], good),
        (A::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &[1], R::CUDA_ERROR_NOT_SUPPORTED),
        (A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &[100], good),
        (A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &[101], invalid),
        (A::CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, &[1], good),
        (A::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, &[16, 0], R::CUDA_ERROR_INVALID_HANDLE),
        (CUlaunchAttributeID(99), &[0], invalid),
    ] {
        let mut attributes = [launch_attribute(id, words)];
        let config = launch_config(2, &mut attributes, null_mut());
        assert_eq!(call!(cuLaunchKernelEx(&config, still, null_mut(), null_mut())), code, "{id:?} {words:?}");
    }
    gives!(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(std::ptr::null(), still, null_mut(), null_mut()));
    ok!(cuCtxSynchronize());
}

unsafe extern "C" fn wait_for_message(data: *mut c_void) {
    let receiver = unsafe { &*data.cast::<Receiver<()>>() };
    receiver.recv().unwrap();
}

#[test]
fn a_launch_records_events() {
    use CUlaunchAttributeID as A;
    primary(0);
    let more = function(KERNELS, c"more");
    let (mut stream, mut device, mut timed, mut events) = (null_mut(), 0, null_mut(), [null_mut(); 2]);
    ok!(cuStreamCreate(&mut stream, 1));
    ok!(cuMemAlloc_v2(&mut device, 4));
    ok!(cuMemsetD32_v2(device, 0, 1));
    ok!(cuEventCreate(&mut timed, 0));
    events.iter_mut().for_each(|event| ok!(cuEventCreate(event, 2)));
    let named = |id, event: CUevent, rest: &[u32]| {
        let bits = event.addr() as u64;
        launch_attribute(id, &[&[bits as u32, (bits >> 32) as u32], rest].concat())
    };
    let mut params: [*mut c_void; 1] = [(&raw mut device).cast()];
    let mut wrong = [named(A::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, timed, &[])];
    let launch = |attributes: &mut [CUlaunchAttribute], params: &mut [*mut c_void]| {
        call!(cuLaunchKernelEx(&launch_config(2, attributes, stream), more, params.as_mut_ptr(), null_mut()))
    };
    assert_eq!(launch(&mut wrong, &mut params), CUresult::CUDA_ERROR_INVALID_VALUE);
    let (send, receive) = channel();
    ok!(cuLaunchHostFunc(stream, Some(wait_for_message), (&raw const receive).cast_mut().cast()));
    let mut both = [
        named(A::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, events[0], &[]),
        named(A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, events[1], &[0, 1]),
    ];
    assert_eq!(launch(&mut both, &mut params), CUresult::CUDA_SUCCESS);
    events.into_iter().for_each(|event| gives!(CUDA_ERROR_NOT_READY, cuEventQuery(event)));
    send.send(()).unwrap();
    events.into_iter().for_each(|event| ok!(cuEventSynchronize(event)));
    let mut count = 0u32;
    ok!(cuMemcpyDtoHAsync_v2((&raw mut count).cast(), device, 4, stream));
    assert_eq!(count, 128);
}

#[test]
fn occupancy_of_a_function() {
    primary(0);
    let still = function(KERNELS, c"still");
    let blocks = |threads, dynamic| {
        let mut blocks = -1;
        ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, still, threads, dynamic));
        blocks
    };
    // 8 KiB of its own and 1 KiB reserved by the system for each block, of 228.
    assert_eq!((blocks(64, 0), blocks(1024, 0), blocks(64, 16 << 10)), (25, 2, 9));
    let carveout = CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    gives!(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(still, carveout, 101));
    ok!(cuFuncSetAttribute(still, carveout, 25));
    let mut percent = 0;
    ok!(cuFuncGetAttribute(&mut percent, carveout, still));
    assert_eq!((percent, blocks(64, 0)), (25, 7), "of 64 KiB");
    ok!(cuFuncSetAttribute(still, carveout, -1));
    let (mut grid, mut block, mut bytes) = (0, 0, 0);
    ok!(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, still, None, 0, 0));
    assert_eq!((grid, block), (264, 1024));
    ok!(cuOccupancyMaxPotentialBlockSizeWithFlags(&mut grid, &mut block, still, None, 0, 256, 1));
    assert_eq!((grid, block), (8 * 132, 256));
    gives!(
        CUDA_ERROR_INVALID_VALUE,
        cuOccupancyMaxPotentialBlockSizeWithFlags(&mut grid, &mut block, still, None, 0, 0, 2)
    );
    gives!(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut grid, still, 0, 0));
    gives!(CUDA_ERROR_INVALID_HANDLE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut grid, null_mut(), 1, 0));
    for (blocks, free) in [(1, 219 << 10), (2, 105 << 10), (4, 48 << 10)] {
        ok!(cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, still, blocks, 64));
        assert_eq!(bytes, free, "{blocks} blocks");
    }
    gives!(CUDA_ERROR_INVALID_VALUE, cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, still, 26, 64));
}
