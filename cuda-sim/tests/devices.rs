//! Several devices, contexts, profiles and the timeline: the effects of the environment, each case in a child process.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{CHILD, attribute, child, function, in_child};
use cuda_sys::*;
use std::ffi::{CStr, c_void};
use std::process::Command;
use std::ptr::null_mut;

const ADD: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry add(.param .u64 to, .param .u64 from) { .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from]; ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2];
  add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret; }";

fn add(to: &mut CUdeviceptr, from: &mut CUdeviceptr, stream: CUstream) -> CUresult {
    let f = function(ADD, c"add");
    let mut params: [*mut c_void; 2] = [std::ptr::from_mut(to).cast(), std::ptr::from_mut(from).cast()];
    call!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, params.as_mut_ptr(), null_mut()))
}

#[test]
fn two_devices_have_memory_and_contexts_of_their_own() {
    let environment = [("CUDA_SIM_DEVICES", "2"), ("CUDA_SIM_MEMORY", "1048576")];
    if !in_child("two_devices_have_memory_and_contexts_of_their_own", &environment) {
        return;
    }
    ok!(cuInit(0));
    let mut count = 0;
    ok!(cuDeviceGetCount(&mut count));
    assert_eq!(count, 2);
    let (mut first, mut second, mut uuids) = (null_mut(), null_mut(), [CUuuid { bytes: [0; 16] }; 2]);
    for device in [0, 1] {
        ok!(cuDeviceGetUuid_v2(&mut uuids[device], device as CUdevice));
    }
    assert_ne!(uuids[0].bytes, uuids[1].bytes);
    ok!(cuDevicePrimaryCtxRetain(&mut first, 0));
    ok!(cuDevicePrimaryCtxRetain(&mut second, 1));
    let mut there = 0;
    ok!(cuCtxSetCurrent(second));
    ok!(cuMemAlloc_v2(&mut there, 800 << 10));
    assert_eq!(call!(cuMemAlloc_v2(&mut 0, 800 << 10)), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    // Memory cached by a pool is released when memory is short.
    let (mut pool, mut keep, mut pooled) = (null_mut(), u64::MAX, 0);
    ok!(cuDeviceGetDefaultMemPool(&mut pool, 1));
    let threshold = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    ok!(cuMemPoolSetAttribute(pool, threshold, (&raw mut keep).cast()));
    ok!(cuMemFree_v2(there));
    ok!(cuMemAllocAsync(&mut pooled, 800 << 10, null_mut()));
    ok!(cuMemFreeAsync(pooled, null_mut()));
    ok!(cuMemAlloc_v2(&mut there, 800 << 10));
    ok!(cuCtxPushCurrent_v2(first));
    let (mut here, mut device) = (0, -1);
    ok!(cuMemAlloc_v2(&mut here, 800 << 10));
    ok!(cuCtxGetDevice(&mut device));
    assert_eq!(device, 0);
    ok!(cuMemsetD32_v2(here, 5, 1));
    ok!(cuMemsetD32_v2(there, 6, 1));
    // Peer access.
    let (mut can, mut rank) = (0, -1);
    ok!(cuDeviceCanAccessPeer(&mut can, 0, 1));
    assert_eq!(can, 1);
    ok!(cuDeviceCanAccessPeer(&mut can, 1, 1));
    assert_eq!(can, 0);
    let rank_of = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    ok!(cuDeviceGetP2PAttribute(&mut rank, rank_of, 0, 1));
    assert_eq!(call!(cuDeviceGetP2PAttribute(&mut rank, rank_of, 0, 0)), CUresult::CUDA_ERROR_INVALID_DEVICE);
    assert_eq!(call!(cuCtxDisablePeerAccess(second)), CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    ok!(cuCtxEnablePeerAccess(second, 0));
    assert_eq!(call!(cuCtxEnablePeerAccess(second, 0)), CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    assert_eq!(add(&mut here, &mut there, null_mut()), CUresult::CUDA_SUCCESS);
    ok!(cuMemcpyPeer(there, second, here, first, 4));
    let mut host = 0u32;
    ok!(cuMemcpyDtoH_v2((&raw mut host).cast(), there, 4));
    assert_eq!(host, 11);
    ok!(cuCtxDisablePeerAccess(second));
    // A stream of the other device: no kernel of this one, but copies.
    ok!(cuCtxPopCurrent_v2(null_mut()));
    let mut stream = null_mut();
    ok!(cuStreamCreate(&mut stream, 0));
    ok!(cuStreamGetDevice(stream, &mut device));
    assert_eq!(device, 1);
    ok!(cuCtxPushCurrent_v2(first));
    assert_eq!(add(&mut here, &mut there, stream), CUresult::CUDA_ERROR_INVALID_HANDLE);
    ok!(cuMemcpyDtoDAsync_v2(here, there, 4, stream));
    ok!(cuStreamSynchronize(stream));
    // The end of one context does not affect the other.
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    assert_eq!(call!(cuMemAlloc_v2(&mut 0, 4)), CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
    ok!(cuCtxPopCurrent_v2(null_mut()));
    ok!(cuMemcpyDtoH_v2((&raw mut host).cast(), there, 4));
    assert_eq!(call!(cuMemcpyDtoH_v2((&raw mut host).cast(), here, 4)), CUresult::CUDA_ERROR_INVALID_VALUE);
}

/// Returns memory of the second device, of each kind, and how to give the first one access to it.
fn on_the_second(how: &str, first: CUcontext, second: CUcontext) -> (CUdeviceptr, Box<dyn Fn()>) {
    let location = |id| CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id };
    let flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    let access = move |id| CUmemAccessDesc { location: location(id), flags };
    let (mut at, mut pool) = (0, null_mut());
    ok!(cuCtxSetCurrent(second));
    if how == "mapped" {
        const BYTES: usize = 2 << 20;
        // SAFETY: all zeros are valid properties; the relevant ones are set below.
        let mut props: CUmemAllocationProp = unsafe { std::mem::zeroed() };
        props.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location = location(1);
        let mut memory = 0;
        ok!(cuMemCreate(&mut memory, BYTES, &props, 0));
        ok!(cuMemAddressReserve(&mut at, BYTES, 0, 0, 0));
        ok!(cuMemMap(at, BYTES, 0, memory, 0));
        ok!(cuMemSetAccess(at, BYTES, &access(1), 1));
        return (at, Box::new(move || ok!(cuMemSetAccess(at, BYTES, &access(0), 1))));
    }
    match how {
        "default pool" => ok!(cuDeviceGetDefaultMemPool(&mut pool, 1)),
        "pool" => {
            // SAFETY: all zeros are valid properties; the relevant ones are set below.
            let mut props: CUmemPoolProps = unsafe { std::mem::zeroed() };
            props.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
            props.location = location(1);
            ok!(cuMemPoolCreate(&mut pool, &props));
        }
        _ => {
            ok!(cuMemAlloc_v2(&mut at, 4));
            let enable = move || {
                ok!(cuCtxSetCurrent(first));
                ok!(cuCtxEnablePeerAccess(second, 0));
            };
            return (at, Box::new(enable));
        }
    }
    ok!(cuMemAllocFromPoolAsync(&mut at, 4, pool, null_mut()));
    ok!(cuStreamSynchronize(null_mut()));
    (at, Box::new(move || ok!(cuMemPoolSetAccess(pool, &access(0), 1))))
}

#[test]
fn a_kernel_reaches_another_device_only_where_it_was_let() {
    for how in ["own", "own, registered", "default pool", "pool", "mapped"] {
        if !in_child(
            "a_kernel_reaches_another_device_only_where_it_was_let",
            &[("CUDA_SIM_DEVICES", "2"), ("CUDA_SIM_TEST_HOW", how)],
        ) || std::env::var("CUDA_SIM_TEST_HOW").unwrap() != how
        {
            continue;
        }
        ok!(cuInit(0));
        let (mut first, mut second, mut host, mut managed) = (null_mut(), null_mut(), null_mut(), 0);
        ok!(cuDevicePrimaryCtxRetain(&mut first, 0));
        ok!(cuDevicePrimaryCtxRetain(&mut second, 1));
        let (mut there, admit) = on_the_second(how, first, second);
        ok!(cuMemsetD32_v2(there, 6, 1));
        // Managed memory of the other device's context is accessible; then the same address of that context's own
        // memory is too.
        ok!(cuMemAllocManaged(&mut managed, 4, 1));
        ok!(cuMemAllocHost_v2(&mut host, 4));
        let mut own = 0;
        ok!(cuCtxSetCurrent(first));
        ok!(cuMemAlloc_v2(&mut own, 4));
        ok!(cuMemsetD32_v2(own, 5, 1));
        ok!(cuMemsetD32_v2(managed, 1, 1));
        let mut word = Box::new([0u32; 1024]);
        if how.ends_with("registered") {
            ok!(cuMemHostRegister_v2(word.as_mut_ptr().cast(), 4096, 0));
            let mut registered = word.as_mut_ptr() as CUdeviceptr;
            assert_eq!(add(&mut own, &mut registered, null_mut()), CUresult::CUDA_SUCCESS);
        }
        assert_eq!(add(&mut own, &mut managed, null_mut()), CUresult::CUDA_SUCCESS);
        assert_eq!(add(&mut host.addr().try_into().unwrap(), &mut own, null_mut()), CUresult::CUDA_SUCCESS);
        ok!(cuCtxSynchronize());
        // Without access it faults, in a context of its own, whose end does not affect the others.
        let mut other = null_mut();
        ok!(cuCtxCreate_v2(&mut other, 0, 0));
        assert_eq!(add(&mut own, &mut there, null_mut()), CUresult::CUDA_SUCCESS);
        assert_eq!(call!(cuCtxSynchronize()), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, "{how}");
        ok!(cuCtxDestroy_v2(other));
        admit();
        ok!(cuCtxSetCurrent(first));
        assert_eq!(add(&mut own, &mut there, null_mut()), CUresult::CUDA_SUCCESS);
        let mut sum = 0u32;
        ok!(cuMemcpyDtoH_v2((&raw mut sum).cast(), own, 4));
        assert_eq!(sum, 12, "{how}");
        if how == "own" {
            ok!(cuCtxDisablePeerAccess(second));
            assert_eq!(add(&mut own, &mut there, null_mut()), CUresult::CUDA_SUCCESS);
            assert_eq!(call!(cuCtxSynchronize()), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        }
    }
}

#[test]
fn profiles_have_the_limits_of_their_cards() {
    use CUdevice_attribute as A;
    let name = std::env::var("CUDA_SIM_PROFILE").unwrap_or_default();
    let expected =
        [("sm_75", 7, 5, 40, 65536, 1), ("sm_80", 8, 0, 108, 166_912, 2), ("sm_120", 12, 0, 170, 101_376, 1)];
    for (profile, major, minor, multiprocessors, optin, blocks) in expected {
        let environment = [("CUDA_SIM_PROFILE", profile)];
        if !in_child("profiles_have_the_limits_of_their_cards", &environment) || name != profile {
            continue;
        }
        ok!(cuInit(0));
        assert_eq!(attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0), major);
        assert_eq!(attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0), minor);
        assert_eq!(attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), multiprocessors);
        assert_eq!(attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0), optin);
        let (mut context, mut module, mut f, mut fit) = (null_mut(), null_mut(), null_mut(), 0);
        ok!(cuCtxCreate_v2(&mut context, 0, 0));
        ok!(cuModuleLoadData(&mut module, ADD.as_ptr().cast()));
        ok!(cuModuleGetFunction(&mut f, module, c"add".as_ptr()));
        ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut fit, f, 1024, 0));
        assert_eq!(fit, blocks);
        let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
        assert_eq!(call!(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&mut fit, f, 32, 0, 2)), invalid);
    }
}

#[test]
fn contexts_are_a_stack_and_their_end_is_noticed() {
    ok!(cuInit(0));
    let thread = std::thread::spawn(|| {
        let (mut a, mut b, mut top) = (null_mut(), null_mut(), null_mut());
        ok!(cuCtxCreate_v2(&mut a, 4, 0));
        ok!(cuCtxCreate_v2(&mut b, 0, 0));
        let (mut flags, mut limit) = (0, 0);
        ok!(cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 4096));
        ok!(cuCtxPopCurrent_v2(&mut top));
        assert_eq!(top, b);
        ok!(cuCtxGetFlags(&mut flags));
        assert_eq!(flags, 4);
        ok!(cuCtxGetLimit(&mut limit, CUlimit::CU_LIMIT_STACK_SIZE));
        assert_eq!(limit, 1024, "the limit was the other context's");
        // The objects of a context end with it, and so do other threads' calls.
        ok!(cuCtxPushCurrent_v2(b));
        let (mut stream, mut memory) = (null_mut(), 0);
        ok!(cuStreamCreate(&mut stream, 0));
        ok!(cuMemAlloc_v2(&mut memory, 64));
        ok!(cuCtxDestroy_v2(b));
        ok!(cuCtxGetCurrent(&mut top));
        assert_eq!(top, a, "destroyed, it is no longer current");
        assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(call!(cuMemFree_v2(memory)), CUresult::CUDA_ERROR_INVALID_VALUE);
        assert_eq!(call!(cuCtxSetCurrent(b)), CUresult::CUDA_ERROR_INVALID_CONTEXT);
        ok!(cuCtxDestroy_v2(a));
        ok!(cuCtxGetCurrent(&mut top));
        assert!(top.is_null());
        assert_eq!(call!(cuCtxPopCurrent_v2(&mut top)), CUresult::CUDA_ERROR_INVALID_CONTEXT);
        assert_eq!(call!(cuCtxSynchronize()), CUresult::CUDA_ERROR_INVALID_CONTEXT);
    });
    thread.join().unwrap();
}

#[test]
fn functions_are_found_in_the_variant_that_is_asked_for() {
    ok!(cuInit(0));
    let found = |name: &CStr, version, flags| {
        let (mut at, mut status) = (null_mut(), CUdriverProcAddressQueryResult(9));
        let code = call!(cuGetProcAddress_v2(name.as_ptr(), &mut at, version, flags, &mut status));
        assert_eq!(code == CUresult::CUDA_SUCCESS, !at.is_null());
        (at, status)
    };
    let legacy = found(c"cuMemcpyHtoD", 13000, 0).0;
    let own = found(c"cuMemcpyHtoD", 13000, 2).0;
    assert_eq!(legacy, found(c"cuMemcpyHtoD", 13000, 1).0);
    assert_ne!(legacy, own);
    assert_eq!(found(c"cuMemAlloc", 13000, 2).0, found(c"cuMemAlloc", 13000, 0).0, "there is but one");
    assert_ne!(found(c"cuCtxCreate", 13000, 0).0, found(c"cuCtxCreate", 11000, 0).0);
    let too_old = CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    assert_eq!(found(c"cuMemAllocAsync", 10000, 0), (null_mut(), too_old));
    let unknown = CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    assert_eq!(found(c"cuNothing", 13000, 0), (null_mut(), unknown));
    let (mut context, mut device) = (null_mut(), -1);
    ok!(cuCtxCreate_v2(&mut context, 0, 0));
    ok!(cuCtxPopCurrent_v2(null_mut()));
    assert_eq!(call!(cuCtxGetDevice_v2(&mut device, null_mut())), CUresult::CUDA_ERROR_INVALID_CONTEXT);
    ok!(cuCtxGetDevice_v2(&mut device, context));
    ok!(cuCtxSynchronize_v2(context));
    assert_eq!(device, 0);
    ok!(cuCtxDestroy_v2(context));
    let bad_flags = call!(cuGetProcAddress_v2(c"cuInit".as_ptr(), &mut null_mut(), 13000, 8, null_mut()));
    assert_eq!(bad_flags, CUresult::CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn a_variable_that_is_not_allowed_stops_the_driver() {
    if std::env::var_os(CHILD).is_some() {
        assert_eq!(call!(cuInit(0)), CUresult::CUDA_ERROR_INVALID_VALUE);
        let mut count = 0;
        assert_eq!(call!(cuDeviceGetCount(&mut count)), CUresult::CUDA_ERROR_NOT_INITIALIZED);
        return;
    }
    for (variable, value, allowed) in [
        ("CUDA_SIM_PROFILE", "sm_99", "sm_75, sm_80, sm_90, sm_120"),
        ("CUDA_SIM_ENGINE", "fast", "regions, fibers"),
        ("CUDA_SIM_DEVICES", "two", "the numbers from 1 to 16"),
        ("CUDA_SIM_SEED", "x", "numbers of 64 bits"),
        ("CUDA_SIM_TRACE", "/nowhere/at/all.json", "a file that can be written"),
    ] {
        let mut command = child("a_variable_that_is_not_allowed_stops_the_driver");
        let output = command.env(variable, value).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        let line = format!("the software device does not start: {variable}={value} is not allowed");
        let named = text.lines().filter(|l| l.starts_with(&line) && l.contains(allowed)).count();
        assert_eq!(named, 1, "{text}");
    }
}

#[test]
fn the_timeline_is_complete_json_whenever_the_process_ends() {
    let path = std::env::temp_dir().join(format!("cuda-sim-trace-{}.json", std::process::id()));
    if std::env::var_os(CHILD).is_none() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_timeline_is_complete_json_whenever_the_process_ends", "--nocapture"]);
        let status = command.env(CHILD, "1").env("CUDA_SIM_TRACE", &path).status().unwrap();
        assert!(!status.success(), "the child aborts");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let events: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
        let named = |name: &str| events.iter().filter(|e| e["name"] == name).collect::<Vec<_>>();
        let (kernels, events_seen) = (named("add"), named("event"));
        assert_eq!(kernels.len(), 2, "{text}");
        assert_eq!(events_seen.len(), 1);
        assert!(named("fill").len() == 2 && named("copy").len() == 1, "{text}");
        assert_eq!(kernels[0]["args"]["grid"], serde_json::json!([1, 1, 1]));
        assert_ne!(kernels[0]["tid"], kernels[1]["tid"], "two streams");
        for event in events.iter().filter(|e| e["ph"] == "X") {
            assert!(event["ts"].as_f64().unwrap() > 0.0 && event["dur"].as_f64().unwrap() >= 0.0);
        }
        let arrows = named("wait");
        assert_eq!(arrows.iter().map(|e| e["ph"].as_str().unwrap()).collect::<Vec<_>>(), ["s", "f"], "{text}");
        assert_eq!(arrows[0]["id"], arrows[1]["id"]);
        // An arrow belongs to the slices in which it begins and ends.
        for (arrow, slice) in [(arrows[0], events_seen[0]), (arrows[1], named("wait for an event")[0])] {
            let (at, begin) = (arrow["ts"].as_f64().unwrap(), slice["ts"].as_f64().unwrap());
            assert!(begin <= at && at <= begin + slice["dur"].as_f64().unwrap() + 1e-3, "{text}");
            assert_eq!(arrow["tid"], slice["tid"]);
        }
        let bytes: Vec<u64> = named("memory").iter().map(|e| e["args"]["bytes"].as_u64().unwrap()).collect();
        assert_eq!(bytes, [4096, 8192, 4096], "{text}");
        let threads = events.iter().filter(|e| e["name"] == "thread_name").count();
        assert_eq!(threads, 2);
        return;
    }
    ok!(cuInit(0));
    let (mut context, mut stream, mut event) = (null_mut(), null_mut(), null_mut());
    ok!(cuCtxCreate_v2(&mut context, 0, 0));
    ok!(cuStreamCreate(&mut stream, 0));
    ok!(cuEventCreate(&mut event, 0));
    let (mut a, mut b, mut host) = (0, 0, 0u32);
    ok!(cuMemAlloc_v2(&mut a, 4));
    ok!(cuMemAlloc_v2(&mut b, 4));
    ok!(cuMemsetD32_v2(a, 1, 1));
    ok!(cuMemsetD32_v2(b, 2, 1));
    assert_eq!(add(&mut a, &mut b, stream), CUresult::CUDA_SUCCESS);
    ok!(cuEventRecord(event, stream));
    assert_eq!(add(&mut a, &mut b, null_mut()), CUresult::CUDA_SUCCESS);
    ok!(cuMemcpyDtoH_v2((&raw mut host).cast(), a, 4));
    assert_eq!(host, 5);
    ok!(cuStreamWaitEvent(null_mut(), event, 0));
    ok!(cuMemFree_v2(b));
    std::process::abort();
}
