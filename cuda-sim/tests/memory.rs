//! Memory as clients see it: copies of two and three dimensions, fills, managed and registered memory, pointer
//! attributes, pools, and the error code of each misuse.
//!
//! # Safety
//!
//! Every call passes pointers to live locals or memory that outlives the work, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::in_child;
use cuda_sys::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// A context of the test's own.
fn context() -> CUcontext {
    ok!(cuInit(0));
    let mut context = null_mut();
    ok!(cuCtxCreate_v4(&mut context, null_mut(), 0, 0));
    context
}

fn alloc(bytes: usize) -> CUdeviceptr {
    let mut device = 0;
    ok!(cuMemAlloc_v2(&mut device, bytes));
    device
}

fn zeroed<T>() -> T {
    unsafe { std::mem::zeroed() }
}

fn read(from: CUdeviceptr, bytes: usize) -> Vec<u8> {
    let mut host = vec![0; bytes];
    ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), from, bytes));
    host
}

#[test]
fn rectangles_and_boxes_are_copied() {
    let context = context();
    let host: Vec<u8> = (0..=255).collect();
    let (mut device, mut pitch) = (0, 0);
    ok!(cuMemAllocPitch_v2(&mut device, &mut pitch, 10, 6, 4));
    assert_eq!(pitch, 512);
    // 5 x 4 bytes of a host image of 16 x 16 from (3, 2), to (1, 2) on the device.
    let plane = CUDA_MEMCPY2D {
        srcXInBytes: 3,
        srcY: 2,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: host.as_ptr().cast(),
        srcPitch: 16,
        dstXInBytes: 1,
        dstY: 2,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: device,
        dstPitch: pitch,
        WidthInBytes: 5,
        Height: 4,
        ..zeroed()
    };
    ok!(cuMemsetD2D8_v2(device, pitch, 0xee, 10, 6));
    ok!(cuMemcpy2D_v2(&plane));
    let back = read(device, 5 * pitch + 10);
    for y in 0..6 {
        for x in 0..10 {
            let inside = (1..6).contains(&x) && (2..6).contains(&y);
            let want = if inside { host[(y - 2 + 2) * 16 + x - 1 + 3] } else { 0xee };
            assert_eq!(back[y * pitch + x], want, "({x}, {y})");
        }
    }
    assert_eq!(call!(cuMemcpy2D_v2(&CUDA_MEMCPY2D { WidthInBytes: 14, ..plane })), INVALID);
    assert_eq!(call!(cuMemcpy2D_v2(&CUDA_MEMCPY2D { Height: 5, ..plane })), INVALID);
    let array = CUDA_MEMCPY2D { srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY, ..plane };
    assert_eq!(call!(cuMemcpy2D_v2(&array)), CUresult::CUDA_ERROR_NOT_SUPPORTED);
    // 2 x 2 x 2 of a host box of 8 x 8 x 4 from (1, 2, 1), on a stream.
    let mut stream = null_mut();
    ok!(cuStreamCreate(&mut stream, 1));
    let packed = alloc(8);
    let cube = CUDA_MEMCPY3D {
        srcXInBytes: 1,
        srcY: 2,
        srcZ: 1,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: host.as_ptr().cast(),
        srcPitch: 8,
        srcHeight: 8,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: packed,
        dstPitch: 2,
        dstHeight: 2,
        WidthInBytes: 2,
        Height: 2,
        Depth: 2,
        ..zeroed()
    };
    ok!(cuMemcpy3DAsync_v2(&cube, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read(packed, 8), [81, 82, 89, 90, 145, 146, 153, 154]);
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn fills_of_each_width() {
    let context = context();
    let device = alloc(64);
    ok!(cuMemsetD8_v2(device, 1, 64));
    ok!(cuMemsetD16_v2(device + 8, 0x0203, 4));
    ok!(cuMemsetD32_v2(device + 16, 0x0405_0607, 2));
    ok!(cuMemsetD2D16_v2(device + 32, 16, 0x0809, 2, 2));
    let back = read(device, 64);
    assert_eq!(back[..8], [1; 8]);
    assert_eq!(back[8..16], [3, 2, 3, 2, 3, 2, 3, 2]);
    assert_eq!(back[16..24], [7, 6, 5, 4, 7, 6, 5, 4]);
    assert_eq!(back[32..38], [9, 8, 9, 8, 1, 1]);
    assert_eq!(back[48..54], [9, 8, 9, 8, 1, 1]);
    ok!(cuCtxDestroy_v2(context));
}

fn attribute<T: Copy>(which: CUpointer_attribute, at: CUdeviceptr) -> T {
    let mut value = zeroed::<T>();
    ok!(cuPointerGetAttribute((&raw mut value).cast(), which, at));
    value
}

#[test]
fn pointers_tell_what_they_are() {
    use CUpointer_attribute as A;
    let context = context();
    let device = alloc(1000);
    let (mut managed, mut pinned, mut pooled) = (0, null_mut(), 0);
    ok!(cuMemAllocManaged(&mut managed, 100, 1));
    ok!(cuMemHostAlloc(&mut pinned, 100, 2));
    ok!(cuMemAllocAsync(&mut pooled, 100, null_mut()));
    let pinned = pinned.addr() as u64;
    let mut pageable = vec![0u8; 100];
    let registered = pageable.as_mut_ptr().addr() as u64;
    ok!(cuMemHostRegister_v2(pageable.as_mut_ptr().cast(), 100, 0));
    for (at, kind, is_managed) in [(device, 2, 0), (managed, 2, 1), (pinned, 1, 0), (pooled, 2, 0), (registered, 1, 0)]
    {
        assert_eq!(attribute::<u32>(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at), kind);
        assert_eq!(attribute::<u32>(A::CU_POINTER_ATTRIBUTE_IS_MANAGED, at), is_managed);
        assert_eq!(attribute::<u64>(A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at + 5), at + 5);
        assert_eq!(attribute::<u64>(A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at + 5), at);
        assert_eq!(attribute::<CUcontext>(A::CU_POINTER_ATTRIBUTE_CONTEXT, at), context);
    }
    assert_eq!(attribute::<usize>(A::CU_POINTER_ATTRIBUTE_RANGE_SIZE, device), 1000);
    assert_ne!(attribute::<usize>(A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pooled), 0);
    let mut host = 0u64;
    let host_of = |at| call!(cuPointerGetAttribute((&raw mut host).cast(), A::CU_POINTER_ATTRIBUTE_HOST_POINTER, at));
    let mut host_of = host_of;
    assert_eq!(host_of(device), INVALID);
    assert_eq!(host_of(pinned), CUresult::CUDA_SUCCESS);
    // Several at once: for an unknown pointer the results are zeros rather than an error.
    let unknown = 0x1000;
    let (mut kind, mut ordinal) = (7u32, 7i32);
    let mut which = [A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL];
    let mut data: [*mut c_void; 2] = [(&raw mut kind).cast(), (&raw mut ordinal).cast()];
    assert_eq!(call!(cuPointerGetAttribute(data[0], which[0], unknown)), INVALID);
    ok!(cuPointerGetAttributes(2, which.as_mut_ptr(), data.as_mut_ptr(), unknown));
    assert_eq!((kind, ordinal), (0, -2));
    let (mut base, mut size) = (0, 0);
    ok!(cuMemGetAddressRange_v2(&mut base, &mut size, device + 999));
    assert_eq!((base, size), (device, 1000));
    ok!(cuMemHostUnregister(pageable.as_mut_ptr().cast()));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn hints_for_managed_memory_are_checked_and_told() {
    use CUmem_range_attribute as A;
    let context = context();
    let (mut managed, plain) = (0, alloc(4096));
    ok!(cuMemAllocManaged(&mut managed, 4096, 1));
    let host = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, id: 0 };
    let told = |which: A| {
        let mut value = 99i32;
        ok!(cuMemRangeGetAttribute((&raw mut value).cast(), 4, which, managed, 4096));
        value
    };
    assert_eq!(told(A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), -2);
    ok!(cuMemAdvise(managed, 4096, CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    ok!(cuMemAdvise_v2(managed, 4096, CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    ok!(cuMemPrefetchAsync(managed, 4096, 0, null_mut()));
    assert_eq!(told(A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
    assert_eq!(told(A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), -1);
    assert_eq!(told(A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
    assert_eq!(call!(cuMemPrefetchAsync(plain, 4096, 0, null_mut())), INVALID);
    assert_eq!(call!(cuMemPrefetchAsync(managed, 4097, 0, null_mut())), INVALID);
    assert_eq!(call!(cuMemPrefetchAsync(managed, 4096, 9, null_mut())), CUresult::CUDA_ERROR_INVALID_DEVICE);
    assert_eq!(call!(cuMemAdvise(managed, 4096, CUmem_advise(77), 0)), INVALID);
    ok!(cuStreamAttachMemAsync(null_mut(), managed, 0, 1));
    assert_eq!(call!(cuStreamAttachMemAsync(null_mut(), managed, 0, 4)), INVALID);
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_device_shows_no_more_memory_than_the_machine_has() {
    let test = "a_device_shows_no_more_memory_than_the_machine_has";
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let installed = text.lines().find_map(|l| l.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")).unwrap();
    let installed = installed.parse::<usize>().unwrap() << 10;
    for (devices, card) in [("1", "sm_75"), ("2", "sm_90")] {
        if !in_child(test, &[("CUDA_SIM_DEVICES", devices), ("CUDA_SIM_PROFILE", card), ("CUDA_SIM_MEMORY", "")])
            || std::env::var("CUDA_SIM_DEVICES").unwrap() != devices
        {
            continue;
        }
        ok!(cuInit(0));
        let (mut total, card) = (0, if card == "sm_75" { 15 << 30 } else { 80 << 30 });
        ok!(cuDeviceTotalMem_v2(&mut total, 0));
        let share = installed / devices.parse::<usize>().unwrap();
        assert!(total <= share.min(card), "{total} of {installed} for {devices}");
        // A container may have less than the machine.
        assert!(total >= share.min(card) / 64, "{total} of {installed} for {devices}");
    }
}

#[test]
fn memory_is_counted() {
    if !in_child("memory_is_counted", &[("CUDA_SIM_MEMORY", &(80usize << 30).to_string())]) {
        return;
    }
    let context = context();
    let free = || {
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        let mut device = 0;
        ok!(cuDeviceTotalMem_v2(&mut device, 0));
        assert_eq!(device, total);
        assert_eq!(total, 80 << 30, "what was asked for, whatever the machine has");
        free
    };
    free();
    let before = free();
    let big = alloc(32 << 30);
    assert!(before - free() >= 31 << 30);
    assert_eq!(call!(cuMemAlloc_v2(&mut 0, 60 << 30)), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert_eq!(call!(cuMemAllocAsync(&mut 0, 60 << 30, null_mut())), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    ok!(cuMemFree_v2(big));
    assert!(free() >= 60 << 30);
    ok!(cuCtxDestroy_v2(context));
}

/// One misuse: a description, the result, and the result of NVIDIA's driver.
type Case = (&'static str, CUresult, CUresult);

#[test]
fn each_misuse_has_its_code() {
    use CUresult as R;
    let context = context();
    let device = alloc(256);
    let (mut stream, mut event, mut pinned) = (null_mut(), null_mut(), null_mut());
    ok!(cuStreamCreate(&mut stream, 0));
    ok!(cuEventCreate(&mut event, 0));
    ok!(cuMemHostAlloc(&mut pinned, 64, 0));
    let mut host = [0u8; 64];
    let at = host.as_mut_ptr().cast::<c_void>();
    let stale = std::ptr::without_provenance_mut::<CUstream_st>(0x1234_5670);
    let no_event = std::ptr::without_provenance_mut::<CUevent_st>(0x1234_5670);
    let no_pool = std::ptr::without_provenance_mut(0x1234_5670);
    let no_context = std::ptr::without_provenance_mut(0x1234_5670);
    let mut default_pool = null_mut();
    ok!(cuDeviceGetDefaultMemPool(&mut default_pool, 0));
    ok!(cuMemHostRegister_v2(at, 64, 0));
    let pool_props = |id, kind| CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: CUmemAllocationHandleType(kind),
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id },
        ..zeroed()
    };
    let limit = CUlimit::CU_LIMIT_MAX;
    let cases: Vec<Case> = vec![
        ("null for a result", call!(cuMemAlloc_v2(null_mut(), 4)), R::CUDA_ERROR_INVALID_VALUE),
        ("no bytes", call!(cuMemAlloc_v2(&mut 0, 0)), R::CUDA_ERROR_INVALID_VALUE),
        ("free inside", call!(cuMemFree_v2(device + 8)), R::CUDA_ERROR_INVALID_VALUE),
        ("free null", call!(cuMemFree_v2(0)), R::CUDA_SUCCESS),
        ("free of pinned memory", call!(cuMemFree_v2(pinned.addr() as u64)), R::CUDA_ERROR_INVALID_VALUE),
        ("free host of device memory", call!(cuMemFreeHost(device as *mut c_void)), R::CUDA_ERROR_INVALID_VALUE),
        ("free async of plain memory", call!(cuMemFreeAsync(device, stream)), R::CUDA_ERROR_INVALID_VALUE),
        ("host flags", call!(cuMemHostAlloc(&mut null_mut(), 4, 8)), R::CUDA_ERROR_INVALID_VALUE),
        ("managed flags", call!(cuMemAllocManaged(&mut 0, 4, 3)), R::CUDA_ERROR_INVALID_VALUE),
        ("element of a pitch", call!(cuMemAllocPitch_v2(&mut 0, &mut 0, 4, 4, 5)), R::CUDA_ERROR_INVALID_VALUE),
        ("copy too long", call!(cuMemcpyDtoH_v2(at, device, 257)), R::CUDA_ERROR_INVALID_VALUE),
        ("copy wraps", call!(cuMemcpyDtoD_v2(device, device, usize::MAX)), R::CUDA_ERROR_INVALID_VALUE),
        ("copy to host memory as device", call!(cuMemcpyDtoD_v2(0x1000, device, 4)), R::CUDA_ERROR_INVALID_VALUE),
        ("copy on no stream", call!(cuMemcpyDtoDAsync_v2(device, device, 4, stale)), R::CUDA_ERROR_INVALID_HANDLE),
        ("copy of nothing", call!(cuMemcpyHtoD_v2(0, null(), 0)), R::CUDA_SUCCESS),
        (
            "peer of no context",
            call!(cuMemcpyPeer(device, no_context, device, context, 4)),
            R::CUDA_ERROR_INVALID_CONTEXT,
        ),
        ("misaligned fill", call!(cuMemsetD32_v2(device + 2, 0, 4)), R::CUDA_ERROR_INVALID_VALUE),
        ("fill pitch", call!(cuMemsetD2D8_v2(device, 4, 0, 8, 2)), R::CUDA_ERROR_INVALID_VALUE),
        ("registered twice", call!(cuMemHostRegister_v2(at, 8, 0)), R::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
        ("pinned registered", call!(cuMemHostRegister_v2(pinned, 8, 0)), R::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
        ("register flags", call!(cuMemHostRegister_v2(0x1000 as *mut c_void, 8, 16)), R::CUDA_ERROR_INVALID_VALUE),
        ("unregister", call!(cuMemHostUnregister(at)), R::CUDA_SUCCESS),
        ("unregistered twice", call!(cuMemHostUnregister(at)), R::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
        ("device pointer of pageable", call!(cuMemHostGetDevicePointer_v2(&mut 0, at, 0)), R::CUDA_ERROR_INVALID_VALUE),
        ("range of pageable", call!(cuMemGetAddressRange_v2(&mut 0, &mut 0, 0x1000)), R::CUDA_ERROR_NOT_FOUND),
        ("stream flags", call!(cuStreamCreate(&mut null_mut(), 2)), R::CUDA_ERROR_INVALID_VALUE),
        ("stream unknown", call!(cuStreamQuery(stale)), R::CUDA_ERROR_INVALID_HANDLE),
        ("stream destroyed unknown", call!(cuStreamDestroy_v2(stale)), R::CUDA_ERROR_INVALID_HANDLE),
        ("default stream destroyed", call!(cuStreamDestroy_v2(null_mut())), R::CUDA_ERROR_INVALID_HANDLE),
        ("callback null", call!(cuStreamAddCallback(stream, None, null_mut(), 0)), R::CUDA_ERROR_INVALID_VALUE),
        ("host function null", call!(cuLaunchHostFunc(stream, None, null_mut())), R::CUDA_ERROR_INVALID_VALUE),
        ("event flags", call!(cuEventCreate(&mut null_mut(), 8)), R::CUDA_ERROR_INVALID_VALUE),
        ("event timed between processes", call!(cuEventCreate(&mut null_mut(), 4)), R::CUDA_ERROR_INVALID_VALUE),
        ("event unknown", call!(cuEventQuery(no_event)), R::CUDA_ERROR_INVALID_HANDLE),
        ("event recorded nowhere", call!(cuEventRecord(event, stale)), R::CUDA_ERROR_INVALID_HANDLE),
        ("wait for no event", call!(cuStreamWaitEvent(stream, no_event, 0)), R::CUDA_ERROR_INVALID_HANDLE),
        ("pool unknown", call!(cuMemPoolTrimTo(no_pool, 0)), R::CUDA_ERROR_INVALID_VALUE),
        ("default pool destroyed", call!(cuMemPoolDestroy(default_pool)), R::CUDA_ERROR_INVALID_VALUE),
        ("pool of no device", call!(cuMemPoolCreate(&mut null_mut(), &pool_props(9, 0))), R::CUDA_ERROR_INVALID_VALUE),
        ("pool to share", call!(cuMemPoolCreate(&mut null_mut(), &pool_props(0, 2))), R::CUDA_ERROR_NOT_SUPPORTED),
        ("nothing to share", call!(cuIpcGetMemHandle(&mut zeroed(), 0)), R::CUDA_ERROR_INVALID_VALUE),
        ("closed, not open", call!(cuIpcCloseMemHandle(device)), R::CUDA_ERROR_INVALID_VALUE),
        ("no such device", call!(cuDeviceGet(&mut 0, 99)), R::CUDA_ERROR_INVALID_DEVICE),
        (
            "no such attribute",
            call!(cuDeviceGetAttribute(&mut 0, CUdevice_attribute(9999), 0)),
            R::CUDA_ERROR_INVALID_VALUE,
        ),
        ("context flags", call!(cuCtxCreate_v2(&mut null_mut(), 3, 0)), R::CUDA_ERROR_INVALID_VALUE),
        ("context unknown", call!(cuCtxSetCurrent(no_context)), R::CUDA_ERROR_INVALID_CONTEXT),
        ("peer is itself", call!(cuCtxEnablePeerAccess(context, 0)), R::CUDA_ERROR_INVALID_CONTEXT),
        ("limit unknown", call!(cuCtxGetLimit(&mut 0, limit)), R::CUDA_ERROR_UNSUPPORTED_LIMIT),
        ("export table", call!(cuGetExportTable(&mut null(), &zeroed())), R::CUDA_ERROR_NOT_FOUND),
    ];
    for (what, got, want) in cases {
        assert_eq!(got, want, "{what}");
    }
    ok!(cuCtxDestroy_v2(context));
}

/// Objects know their context: a thread without a current context can destroy them, as clients do when they end.
#[test]
fn a_release_needs_no_current_context() {
    context();
    let bytes = 1 << 16;
    let (mut device, mut managed, mut pooled, mut host) = (0, 0, 0, null_mut());
    let (mut stream, mut event, mut module) = (null_mut(), null_mut(), null_mut());
    ok!(cuStreamCreate(&mut stream, 0));
    ok!(cuEventCreate(&mut event, 0));
    ok!(cuMemAlloc_v2(&mut device, bytes));
    ok!(cuMemAllocManaged(&mut managed, bytes, 1));
    ok!(cuMemAllocAsync(&mut pooled, bytes, stream));
    ok!(cuMemHostAlloc(&mut host, bytes, 0));
    let mut own = vec![0u8; bytes];
    ok!(cuMemHostRegister_v2(own.as_mut_ptr().cast(), bytes, 0));
    let text = c".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }";
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    ok!(cuCtxSetCurrent(null_mut()));
    assert_eq!(call!(cuMemAlloc_v2(&mut 0, 4)), CUresult::CUDA_ERROR_INVALID_CONTEXT);
    ok!(cuModuleUnload(module));
    ok!(cuMemHostUnregister(own.as_mut_ptr().cast()));
    ok!(cuMemFreeHost(host));
    [device, managed, pooled].into_iter().for_each(|address| ok!(cuMemFree_v2(address)));
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
    context();
    assert_eq!(call!(cuMemFree_v2(device)), CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(call!(cuModuleUnload(module)), CUresult::CUDA_ERROR_INVALID_HANDLE);
}

#[test]
fn no_bytes_of_a_pool_are_no_memory_and_can_be_freed() {
    let context = context();
    let (mut pool, mut at) = (null_mut(), 1);
    ok!(cuDeviceGetDefaultMemPool(&mut pool, 0));
    ok!(cuMemAllocAsync(&mut at, 0, null_mut()));
    assert_eq!(at, 0);
    ok!(cuMemFreeAsync(at, null_mut()));
    at = 1;
    ok!(cuMemAllocFromPoolAsync(&mut at, 0, pool, null_mut()));
    assert_eq!(at, 0);
    assert_eq!(call!(cuMemAlloc_v2(&mut at, 0)), INVALID);
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_pool_of_less_than_a_page_has_one() {
    let context = context();
    let mut props = zeroed::<CUmemPoolProps>();
    props.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = 1024;
    let (mut pool, mut at) = (null_mut(), 0);
    ok!(cuMemPoolCreate(&mut pool, &props));
    assert_eq!(call!(cuMemAllocFromPoolAsync(&mut at, 1 << 20, pool, null_mut())), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    ok!(cuMemAllocFromPoolAsync(&mut at, 512, pool, null_mut()));
    ok!(cuMemFreeAsync(at, null_mut()));
    ok!(cuMemPoolDestroy(pool));
    ok!(cuCtxDestroy_v2(context));
}

/// The kind of memory can be queried without a current context.
#[test]
fn attributes_of_pointers_need_no_current_context() {
    let context = context();
    let at = alloc(64);
    let mut popped = null_mut();
    ok!(cuCtxPopCurrent_v2(&mut popped));
    let (mut kind, mut owner) = (0_u32, null_mut::<c_void>());
    ok!(cuPointerGetAttribute((&raw mut kind).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
    ok!(cuPointerGetAttribute((&raw mut owner).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT, at));
    assert_eq!((kind, owner), (2, context.cast()));
    let mut which = [CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE];
    ok!(cuPointerGetAttributes(1, which.as_mut_ptr(), &mut (&raw mut kind).cast(), at));
    ok!(cuCtxDestroy_v2(context));
}
