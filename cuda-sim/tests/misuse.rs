//! Error codes of misuse: a table of documented cases, function by function. Those about memory are in `memory.rs`.
//!
//! # Safety
//!
//! Every call passes pointers to live locals or null, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{child, function, in_child, primary};
use cuda_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

const STILL: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry still(.param .u32 n) { ret; }";

/// Returns a handle of no object.
fn stale<T>() -> *mut T {
    std::ptr::without_provenance_mut(0x1234_5670)
}

fn check(cases: &[(&str, CUresult, CUresult)]) {
    for (what, got, want) in cases {
        assert_eq!(got, want, "{what}");
    }
}

#[test]
fn results_without_a_place() {
    use CUresult as R;
    let (context, f) = (primary(0), function(STILL, c"still"));
    let invalid = R::CUDA_ERROR_INVALID_VALUE;
    let (mut stream, mut event, mut module) = (null_mut(), null_mut(), null_mut());
    ok!(cuStreamCreate(&mut stream, 0));
    ok!(cuEventCreate(&mut event, 0));
    ok!(cuFuncGetModule(&mut module, f));
    check(&[
        ("cuDeviceGet", call!(cuDeviceGet(null_mut(), 0)), invalid),
        ("cuDeviceGetCount", call!(cuDeviceGetCount(null_mut())), invalid),
        ("cuDeviceGetName", call!(cuDeviceGetName(null_mut(), 10, 0)), invalid),
        ("cuDeviceGetName without room", call!(cuDeviceGetName([0; 1].as_mut_ptr(), 0, 0)), invalid),
        ("cuDeviceGetUuid", call!(cuDeviceGetUuid_v2(null_mut(), 0)), invalid),
        ("cuDeviceTotalMem", call!(cuDeviceTotalMem_v2(null_mut(), 0)), invalid),
        ("cuDriverGetVersion", call!(cuDriverGetVersion(null_mut())), invalid),
        ("cuCtxCreate", call!(cuCtxCreate_v2(null_mut(), 0, 0)), invalid),
        ("cuCtxGetCurrent", call!(cuCtxGetCurrent(null_mut())), invalid),
        ("cuCtxGetDevice", call!(cuCtxGetDevice(null_mut())), invalid),
        ("cuCtxGetFlags", call!(cuCtxGetFlags(null_mut())), invalid),
        ("cuCtxGetId", call!(cuCtxGetId(context, null_mut())), invalid),
        ("cuCtxGetApiVersion", call!(cuCtxGetApiVersion(context, null_mut())), invalid),
        ("cuCtxGetCacheConfig", call!(cuCtxGetCacheConfig(null_mut())), invalid),
        ("cuStreamCreate", call!(cuStreamCreate(null_mut(), 0)), invalid),
        ("cuStreamGetFlags", call!(cuStreamGetFlags(stream, null_mut())), invalid),
        ("cuStreamGetId", call!(cuStreamGetId(stream, null_mut())), invalid),
        ("cuStreamGetPriority", call!(cuStreamGetPriority(stream, null_mut())), invalid),
        ("cuStreamGetCtx", call!(cuStreamGetCtx(stream, null_mut())), invalid),
        ("cuEventCreate", call!(cuEventCreate(null_mut(), 0)), invalid),
        ("cuModuleLoadData", call!(cuModuleLoadData(null_mut(), STILL.as_ptr().cast())), invalid),
        ("cuModuleGetFunction", call!(cuModuleGetFunction(null_mut(), module, c"still".as_ptr())), invalid),
        ("cuModuleGetFunction, name", call!(cuModuleGetFunction(&mut null_mut(), module, null())), invalid),
        ("cuModuleGetFunctionCount", call!(cuModuleGetFunctionCount(null_mut(), module)), invalid),
        ("cuFuncGetModule", call!(cuFuncGetModule(null_mut(), f)), invalid),
        ("cuFuncGetName", call!(cuFuncGetName(null_mut(), f)), invalid),
        ("cuFuncGetParamInfo", call!(cuFuncGetParamInfo(f, 0, null_mut(), null_mut())), invalid),
        ("cuFuncGetParamInfo, index", call!(cuFuncGetParamInfo(f, 1, &mut 0, &mut 0)), invalid),
        ("cuMemHostAlloc", call!(cuMemHostAlloc(null_mut(), 4, 0)), invalid),
        ("cuMemAllocManaged", call!(cuMemAllocManaged(null_mut(), 4, 1)), invalid),
        ("cuMemAllocAsync", call!(cuMemAllocAsync(null_mut(), 4, stream)), invalid),
        ("cuPointerGetAttribute", call!(cuPointerGetAttribute(null_mut(), CUpointer_attribute(2), 0)), invalid),
        ("cuLinkCreate", call!(cuLinkCreate_v2(0, null_mut(), null_mut(), null_mut())), invalid),
        ("cuGetErrorName", call!(cuGetErrorName(R::CUDA_SUCCESS, null_mut())), invalid),
        ("cuLaunchKernel without parameters", launch(f, 1, null_mut()), invalid),
    ]);
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuEventDestroy_v2(event));
}

fn launch(f: CUfunction, grid: u32, stream: CUstream) -> CUresult {
    call!(cuLaunchKernel(f, grid, 1, 1, 1, 1, 1, 0, stream, null_mut(), null_mut()))
}

#[test]
fn handles_of_nothing_and_flags_that_do_not_exist() {
    use CUresult as R;
    let context = primary(0);
    let f = function(STILL, c"still");
    let (bad, invalid) = (R::CUDA_ERROR_INVALID_HANDLE, R::CUDA_ERROR_INVALID_VALUE);
    let (mut stream, mut event) = (null_mut(), null_mut());
    ok!(cuStreamCreate(&mut stream, 0));
    ok!(cuEventCreate(&mut event, 0));
    ok!(cuEventDestroy_v2(event));
    check(&[
        ("cuStreamSynchronize", call!(cuStreamSynchronize(stale())), bad),
        ("cuStreamGetFlags", call!(cuStreamGetFlags(stale(), &mut 0)), bad),
        ("cuStreamWaitEvent", call!(cuStreamWaitEvent(stream, event, 0)), bad),
        ("cuStreamGetAttribute", call!(cuStreamGetAttribute(stream, CUlaunchAttributeID(2), &mut value())), invalid),
        ("cuStreamSetAttribute", call!(cuStreamSetAttribute(stream, CUlaunchAttributeID(99), &value())), invalid),
        ("cuEventRecord of a destroyed one", call!(cuEventRecord(event, stream)), bad),
        ("cuEventDestroy twice", call!(cuEventDestroy_v2(event)), bad),
        ("cuEventElapsedTime", call!(cuEventElapsedTime_v2(&mut 0.0, event, event)), bad),
        ("cuModuleGetFunction", call!(cuModuleGetFunction(&mut null_mut(), stale(), c"still".as_ptr())), bad),
        ("cuModuleUnload", call!(cuModuleUnload(stale())), bad),
        ("cuFuncGetAttribute", call!(cuFuncGetAttribute(&mut 0, CUfunction_attribute(0), stale())), bad),
        ("cuFuncGetAttribute, which", call!(cuFuncGetAttribute(&mut 0, CUfunction_attribute(99), f)), invalid),
        ("cuFuncSetAttribute, which", call!(cuFuncSetAttribute(f, CUfunction_attribute(0), 1)), invalid),
        ("cuFuncSetCacheConfig", call!(cuFuncSetCacheConfig(f, CUfunc_cache(9))), invalid),
        ("cuLaunchKernel, function", launch(stale(), 1, null_mut()), bad),
        ("cuLaunchKernel, stream", launch(f, 1, stale()), bad),
        ("cuLinkComplete", call!(cuLinkComplete(stale(), &mut null_mut(), &mut 0)), bad),
        ("cuCtxSetFlags", call!(cuCtxSetFlags(0x1000)), invalid),
        ("cuCtxSetCacheConfig", call!(cuCtxSetCacheConfig(CUfunc_cache(7))), invalid),
        ("cuCtxSetLimit of a stack", call!(cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 1 << 30)), invalid),
        ("cuCtxSetLimit", call!(cuCtxSetLimit(CUlimit(99), 1)), R::CUDA_ERROR_UNSUPPORTED_LIMIT),
        ("cuCtxDestroy of a primary one", call!(cuCtxDestroy_v2(context)), R::CUDA_ERROR_INVALID_CONTEXT),
        ("cuCtxPushCurrent", call!(cuCtxPushCurrent_v2(stale())), R::CUDA_ERROR_INVALID_CONTEXT),
        ("cuDevicePrimaryCtxSetFlags", call!(cuDevicePrimaryCtxSetFlags_v2(0, 7)), invalid),
        ("cuDevicePrimaryCtxRelease", call!(cuDevicePrimaryCtxRelease_v2(9)), R::CUDA_ERROR_INVALID_DEVICE),
        (
            "cuDeviceGetByPCIBusId",
            call!(cuDeviceGetByPCIBusId(&mut 0, c"ff:00.0".as_ptr())),
            R::CUDA_ERROR_INVALID_DEVICE,
        ),
        (
            "cuDeviceGetTexture1DLinearMaxWidth",
            call!(cuDeviceGetTexture1DLinearMaxWidth(&mut 0, CUarray_format(1), 3, 0)),
            invalid,
        ),
        (
            "cuFlushGPUDirectRDMAWrites",
            call!(cuFlushGPUDirectRDMAWrites(
                CUflushGPUDirectRDMAWritesTarget(1),
                CUflushGPUDirectRDMAWritesScope(100)
            )),
            invalid,
        ),
        (
            "cuGetProcAddress flags",
            call!(cuGetProcAddress_v2(c"cuInit".as_ptr(), &mut null_mut(), 13000, 9, null_mut())),
            invalid,
        ),
        ("cuArrayDestroy", call!(cuArrayDestroy(stale())), R::CUDA_ERROR_NOT_SUPPORTED),
        ("cuDeviceCanAccessPeer", call!(cuDeviceCanAccessPeer(&mut 0, 0, 3)), R::CUDA_ERROR_INVALID_DEVICE),
    ]);
}

fn value() -> CUlaunchAttributeValue {
    CUlaunchAttributeValue { pad: [0; 64] }
}

#[test]
fn operations_of_an_allocation_may_be_synchronous() {
    primary(0);
    let which = CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    let (mut device, mut now) = (0, 9u32);
    ok!(cuMemAlloc_v2(&mut device, 16));
    for on in [1u32, 0] {
        ok!(cuPointerSetAttribute((&raw const on).cast(), which, device + 4));
        ok!(cuPointerGetAttribute((&raw mut now).cast(), which, device));
        assert_eq!(now, on);
    }
    gives!(CUDA_ERROR_INVALID_VALUE, cuPointerSetAttribute((&raw const now).cast(), CUpointer_attribute(2), device));
    gives!(CUDA_ERROR_INVALID_VALUE, cuPointerSetAttribute((&raw const now).cast(), which, 0x1000));
    gives!(CUDA_ERROR_INVALID_VALUE, cuPointerSetAttribute(null(), which, device));
}

#[test]
fn batches_of_values() {
    primary(0);
    let (mut device, mut stream, mut host) = (0, null_mut(), [0u32; 4]);
    ok!(cuStreamCreate(&mut stream, 1));
    ok!(cuMemAlloc_v2(&mut device, 16));
    ok!(cuMemsetD8_v2(device, 0, 16));
    let operation =
        |kind: u64, at: u64, value: u64, flags: u64| CUstreamBatchMemOpParams { pad: [kind, at, value, flags, 0, 0] };
    let mut batch = [
        operation(2, device, 5, 0),
        operation(1, device, 5, 1),
        operation(6, 0, 0, 0),
        operation(5, device + 8, 7 << 32, 1),
        operation(4, device + 8, 1 << 32, 2),
        operation(3, 0, 0, 0),
    ];
    ok!(cuStreamBatchMemOp_v2(stream, 6, batch.as_mut_ptr(), 0));
    ok!(cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), device, 16, stream));
    assert_eq!(host, [5, 0, 0, 7]);
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    assert_eq!(call!(cuStreamBatchMemOp_v2(stream, 0, batch.as_mut_ptr(), 0)), invalid);
    assert_eq!(call!(cuStreamBatchMemOp_v2(stream, 1, batch.as_mut_ptr(), 1)), invalid);
    assert_eq!(call!(cuStreamBatchMemOp_v2(stream, 1, null_mut(), 0)), invalid);
    for wrong in [
        operation(9, device, 0, 0),
        operation(2, device + 2, 0, 0),
        operation(2, 0x1000, 0, 0),
        operation(1, device, 0, 4),
    ] {
        // The first one must not be enqueued either.
        let mut batch = [operation(2, device, 6, 0), wrong];
        assert_eq!(call!(cuStreamBatchMemOp_v2(stream, 2, batch.as_mut_ptr(), 0)), invalid);
    }
    ok!(cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), device, 4, stream));
    assert_eq!(host[0], 5);
}

#[test]
fn nothing_works_before_initialisation_or_without_a_context() {
    if !in_child("nothing_works_before_initialisation_or_without_a_context", &[]) {
        return;
    }
    use CUresult as R;
    let (not_yet, none) = (R::CUDA_ERROR_NOT_INITIALIZED, R::CUDA_ERROR_INVALID_CONTEXT);
    let mut version = 0;
    ok!(cuDriverGetVersion(&mut version));
    let calls = || {
        [
            ("cuMemAlloc", call!(cuMemAlloc_v2(&mut 0, 4))),
            ("cuMemFree", call!(cuMemFree_v2(0))),
            ("cuMemcpyHtoD", call!(cuMemcpyHtoD_v2(0, null(), 0))),
            ("cuStreamCreate", call!(cuStreamCreate(&mut null_mut(), 0))),
            ("cuStreamSynchronize", call!(cuStreamSynchronize(null_mut()))),
            ("cuEventCreate", call!(cuEventCreate(&mut null_mut(), 0))),
            ("cuModuleLoadData", call!(cuModuleLoadData(&mut null_mut(), STILL.as_ptr().cast()))),
            ("cuCtxSynchronize", call!(cuCtxSynchronize())),
            ("cuCtxGetDevice", call!(cuCtxGetDevice(&mut 0))),
            ("cuCtxGetLimit", call!(cuCtxGetLimit(&mut 0, CUlimit(0)))),
            ("cuLaunchHostFunc", call!(cuLaunchHostFunc(null_mut(), None, null_mut()))),
            ("cuIpcGetMemHandle", call!(cuIpcGetMemHandle(null_mut(), 0))),
            ("cuStreamBatchMemOp", call!(cuStreamBatchMemOp_v2(null_mut(), 0, null_mut(), 0))),
            ("cuImportExternalMemory", call!(cuImportExternalMemory(null_mut(), null()))),
            ("cuProfilerStart", call!(cuProfilerStart())),
        ]
    };
    calls().into_iter().for_each(|(what, code)| assert_eq!(code, not_yet, "{what}"));
    assert_eq!(call!(cuDeviceGetCount(&mut 0)), not_yet);
    assert_eq!(call!(cuMemCreate(&mut 0, 0, null(), 0)), not_yet);
    assert_eq!(call!(cuArrayDestroy(null_mut())), not_yet);
    ok!(cuInit(0));
    calls().into_iter().for_each(|(what, code)| assert_eq!(code, none, "{what}"));
    let mut context = null_mut();
    ok!(cuCtxCreate_v2(&mut context, 0, 0));
    ok!(cuCtxPushCurrent_v2(context));
    ok!(cuCtxDestroy_v2(context));
    calls().into_iter().for_each(|(what, code)| assert_eq!(code, R::CUDA_ERROR_CONTEXT_IS_DESTROYED, "{what}"));
}

#[test]
fn limits_are_those_of_the_card() {
    let test = "limits_are_those_of_the_card";
    if std::env::var_os(common::CHILD).is_none() {
        for profile in ["sm_75", "sm_80"] {
            let status = child(test).env("CUDA_SIM_PROFILE", profile).status().unwrap();
            assert!(status.success(), "{profile}");
        }
        return;
    }
    primary(0);
    let old = std::env::var("CUDA_SIM_PROFILE").unwrap() == "sm_75";
    let set = |limit, value| {
        let code = call!(cuCtxSetLimit(limit, value));
        let mut now = 0;
        let _ = call!(cuCtxGetLimit(&mut now, limit));
        (code, now)
    };
    let good = |value| (CUresult::CUDA_SUCCESS, value);
    assert_eq!(set(CUlimit::CU_LIMIT_STACK_SIZE, 4096), good(4096));
    assert_eq!(set(CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 1000), good(128));
    assert_eq!(set(CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 3), good(3));
    let persisting = set(CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1 << 40);
    if old {
        assert_eq!(persisting.0, CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT);
    } else {
        assert_eq!(persisting, good(30 << 20));
    }
}

#[test]
fn an_address_of_no_kernel_is_no_parameter() {
    primary(0);
    let f = function(STILL, c"still");
    let mut params: [*mut c_void; 1] = [null_mut()];
    gives!(
        CUDA_ERROR_INVALID_VALUE,
        cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut())
    );
}
