//! The driver's functions as a C client calls them: life cycle, memory, modules, launches, errors.
//!
//! A fault poisons the context, so it is provoked in a child process.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{CHILD, child, in_child, primary};
use cuda_sys::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;

const KERNELS: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.global .align 4 .u32 scale = 3;
.visible .entry triple(.param .u64 p, .param .u32 n) .maxntid 256 { .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1; @%p bra END;
  mul.wide.u32 %rd2, %r5, 4; add.s64 %rd1, %rd1, %rd2; ld.global.u32 %r6, [%rd1]; ld.global.u32 %r7, [scale];
  mul.lo.u32 %r6, %r6, %r7; st.global.u32 [%rd1], %r6;
END: ret; }
.visible .entry poke(.param .u64 p) { .reg .b64 %rd1; ld.param.u64 %rd1, [p]; st.global.u8 [%rd1], 1; ret; }";

fn context() {
    ok!(cuInit(0));
    let mut context = null_mut();
    ok!(cuDevicePrimaryCtxRetain(&mut context, 0));
    ok!(cuCtxSetCurrent(context));
}

fn load() -> CUmodule {
    let mut module = null_mut();
    ok!(cuModuleLoadData(&mut module, KERNELS.as_ptr().cast()));
    module
}

fn function(module: CUmodule, name: &CStr) -> CUfunction {
    let mut function = null_mut();
    ok!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
    function
}

fn launch(f: CUfunction, grid: u32, block: u32, shared: u32, params: &mut [*mut c_void]) -> CUresult {
    call!(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, null_mut(), params.as_mut_ptr(), null_mut()))
}

#[test]
fn a_launch_from_end_to_end() {
    context();
    let module = load();
    let f = function(module, c"triple");
    assert_eq!(f, function(module, c"triple"));
    let host: Vec<u32> = (0..5000).collect();
    let (mut device, mut scale, mut size) = (0, 0, 0);
    ok!(cuMemAlloc_v2(&mut device, 20_000));
    ok!(cuMemcpyHtoD_v2(device, host.as_ptr().cast(), 20_000));
    ok!(cuModuleGetGlobal_v2(&mut scale, &mut size, module, c"scale".as_ptr()));
    assert_eq!(size, 4);
    ok!(cuMemsetD32_v2(scale, 7, 1));
    let (mut start, mut end, mut stream) = (null_mut(), null_mut(), null_mut());
    ok!(cuEventCreate(&mut start, 0));
    ok!(cuEventCreate(&mut end, 0));
    ok!(cuStreamCreate(&mut stream, 1));
    let mut n = 5000u32;
    let mut params: [*mut c_void; 2] = [(&raw mut device).cast(), (&raw mut n).cast()];
    ok!(cuEventRecord(start, stream));
    assert_eq!(launch(f, 20, 256, 0, &mut params), CUresult::CUDA_SUCCESS);
    ok!(cuEventRecord(end, stream));
    ok!(cuStreamSynchronize(stream));
    let mut time = -1.0;
    ok!(cuEventElapsedTime_v2(&mut time, start, end));
    assert!(time > 0.0, "{time}");
    let mut back = vec![0u32; 5000];
    ok!(cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), device, 20_000));
    assert!(back.iter().zip(&host).all(|(b, h)| *b == h * 7));
    ok!(cuMemFree_v2(device));
    assert_eq!(call!(cuMemFree_v2(device)), CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuStreamDestroy_v2(stream));
    assert_eq!(call!(cuStreamSynchronize(stream)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    ok!(cuModuleUnload(module));
    assert_eq!(launch(f, 1, 1, 0, &mut params), CUresult::CUDA_ERROR_INVALID_HANDLE);
}

#[test]
fn configurations_are_checked() {
    context();
    let f = function(load(), c"triple");
    let (mut device, mut n) = (0, 0u32);
    ok!(cuMemAlloc_v2(&mut device, 4));
    let mut params: [*mut c_void; 2] = [(&raw mut device).cast(), (&raw mut n).cast()];
    for (grid, block, shared, code) in [
        (0, 1, 0, CUresult::CUDA_ERROR_INVALID_VALUE),
        (1, 0, 0, CUresult::CUDA_ERROR_INVALID_VALUE),
        (1, 1025, 0, CUresult::CUDA_ERROR_INVALID_VALUE),
        (1 << 31, 1, 0, CUresult::CUDA_ERROR_INVALID_VALUE),
        (1, 257, 0, CUresult::CUDA_ERROR_INVALID_VALUE),
        (1, 1, 48 * 1024 + 1, CUresult::CUDA_ERROR_INVALID_VALUE),
        (1, 256, 48 * 1024, CUresult::CUDA_SUCCESS),
    ] {
        assert_eq!(launch(f, grid, block, shared, &mut params), code, "grid {grid}, block {block}, shared {shared}");
    }
    let mut blocks = 0;
    ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, f, 256, 0));
    assert_eq!(blocks, 8);
    assert_eq!(launch(null_mut(), 1, 1, 0, &mut params), CUresult::CUDA_ERROR_INVALID_HANDLE);
}

/// Loads an invalid text, and returns the code and the log.
fn refused(image: *const c_void) -> (CUresult, String) {
    let mut log = [0 as c_char; 1024];
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(1024)];
    let mut module = null_mut();
    let code = call!(cuModuleLoadDataEx(&mut module, image, 2, options.as_mut_ptr(), values.as_mut_ptr()));
    let text = unsafe { CStr::from_ptr(log.as_ptr()) }.to_str().unwrap().to_owned();
    assert_eq!(values[1].addr(), text.len());
    (code, text)
}

#[test]
fn what_cannot_be_loaded_has_a_log() {
    context();
    let text = |body: &str| CString::new(format!(".version 8.0\n.target sm_90\n.address_size 64\n{body}")).unwrap();
    let (code, log) = refused(text(".visible .entry k() {\n  wgmma.fence.sync.aligned ;\n}").as_ptr().cast());
    assert_eq!(code, CUresult::CUDA_ERROR_INVALID_PTX);
    assert!(log.contains("line 5") && log.contains("column 3") && log.contains("wgmma.fence"), "{log}");
    let (code, log) = refused(text(".visible .entry k( {").as_ptr().cast());
    assert_eq!(code, CUresult::CUDA_ERROR_INVALID_PTX);
    assert!(log.contains("line 4"), "{log}");
    let newer = CString::new(".version 9.0\n.target sm_121\n.address_size 64\n").unwrap();
    let (code, log) = refused(newer.as_ptr().cast());
    assert!(code == CUresult::CUDA_ERROR_INVALID_PTX && log.contains("sm_121"), "{log}");
    let newer = CString::new(".version 99.0\n.target sm_90\n.address_size 64\n").unwrap();
    let (code, log) = refused(newer.as_ptr().cast());
    assert!(code == CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION && log.contains(".version 99.0"), "{log}");
    let (code, log) = refused(c"\x7fELF\x02\x01\x01".as_ptr().cast());
    assert!(code == CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU && log.contains("cubin"), "{log}");
}

#[test]
fn host_memory_is_mapped_and_managed_memory_shared() {
    context();
    let module = load();
    let f = function(module, c"triple");
    let mut host = null_mut();
    ok!(cuMemHostAlloc(&mut host, 400, CU_MEMHOSTALLOC_DEVICEMAP));
    let mut managed = 0;
    ok!(cuMemAllocManaged(&mut managed, 400, 1));
    let mut mapped = 0;
    ok!(cuMemHostGetDevicePointer_v2(&mut mapped, host, 0));
    for mut address in [mapped, managed] {
        let values = unsafe { std::slice::from_raw_parts_mut(address as *mut u32, 100) };
        values.fill(5);
        let mut n = 100u32;
        let mut params: [*mut c_void; 2] = [(&raw mut address).cast(), (&raw mut n).cast()];
        assert_eq!(launch(f, 1, 128, 0, &mut params), CUresult::CUDA_SUCCESS);
        ok!(cuCtxSynchronize());
        assert!(values.iter().all(|v| *v == 15));
    }
    ok!(cuMemFreeHost(host));
    ok!(cuMemFree_v2(managed));
}

#[test]
fn copies_outside_an_allocation_are_refused() {
    context();
    let mut device = 0;
    ok!(cuMemAlloc_v2(&mut device, 100));
    let host = [0u8; 200];
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    assert_eq!(call!(cuMemcpyHtoD_v2(device, host.as_ptr().cast(), 101)), invalid);
    assert_eq!(call!(cuMemcpyHtoD_v2(device + 50, host.as_ptr().cast(), 51)), invalid);
    assert_eq!(call!(cuMemcpyHtoD_v2(0, host.as_ptr().cast(), 1)), invalid);
    assert_eq!(call!(cuMemAlloc_v2(&mut device, 0)), invalid);
    assert_eq!(call!(cuMemAlloc_v2(&mut device, usize::MAX / 2)), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
}

#[test]
fn functions_and_errors_have_names() {
    context();
    let (mut found, mut status) = (null_mut(), CUdriverProcAddressQueryResult(9));
    ok!(cuGetProcAddress_v2(c"cuMemAlloc".as_ptr(), &mut found, 13000, 0, &mut status));
    assert!(!found.is_null() && status == CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS);
    let missing = call!(cuGetProcAddress_v2(c"cuNothing".as_ptr(), &mut found, 13000, 0, &mut status));
    assert!(missing == CUresult::CUDA_ERROR_NOT_FOUND && found.is_null());
    let mut name = std::ptr::null();
    ok!(cuGetErrorName(CUresult(700), &mut name));
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"CUDA_ERROR_ILLEGAL_ADDRESS");
    ok!(cuGetErrorString(CUresult(700), &mut name));
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"an illegal memory access was encountered");
    assert_eq!(call!(cuGetErrorName(CUresult(12345), &mut name)), CUresult::CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn a_thread_without_a_context_is_told_so() {
    ok!(cuInit(0));
    let code = std::thread::spawn(|| {
        let mut device = 0;
        call!(cuMemAlloc_v2(&mut device, 4))
    });
    assert_eq!(code.join().unwrap(), CUresult::CUDA_ERROR_INVALID_CONTEXT);
}

/// The workers stay in the parent, so the driver is unusable in a forked child, like NVIDIA's.
#[test]
fn a_forked_child_finds_no_driver() {
    context();
    let child = unsafe { libc::fork() };
    if child == 0 {
        let gone = CUresult::CUDA_ERROR_NOT_INITIALIZED;
        let codes = [call!(cuCtxSynchronize()), call!(cuInit(0)), call!(cuDeviceGetCount(&mut 0))];
        unsafe { libc::_exit(i32::from(codes.iter().any(|code| *code != gone))) };
    }
    let mut status = -1;
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    ok!(cuCtxSynchronize());
}

/// The virtual architecture is the text's; the binary's is the device's.
#[test]
fn a_kernels_versions_are_its_texts_and_the_devices() {
    context();
    let text = c".version 7.8\n.target sm_61, debug\n.address_size 64\n.visible .entry k() { ret; }";
    let (mut module, mut f) = (null_mut(), null_mut());
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut f, module, c"k".as_ptr()));
    let version = |attribute| {
        let mut value = 0;
        ok!(cuFuncGetAttribute(&mut value, attribute, f));
        value
    };
    assert_eq!(version(CUfunction_attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION), 61);
    assert_eq!(version(CUfunction_attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
    ok!(cuModuleUnload(module));
}

#[test]
fn constants_are_counted() {
    context();
    let text =
        c".version 7.8\n.target sm_75\n.address_size 64\n.const .align 4 .b8 table[24]; .visible .entry k() { ret; }";
    let (mut module, mut bytes) = (null_mut(), -1);
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    let which = CUfunction_attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES;
    ok!(cuFuncGetAttribute(&mut bytes, which, function(module, c"k")));
    assert_eq!(bytes, 24);
}

#[test]
fn a_wild_store_is_sticky_until_the_context_is_reset() {
    let child = child("faults_in_a_process_of_their_own").output().unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && output.contains("faults were survived"), "{output}");
}

#[test]
fn faults_in_a_process_of_their_own() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    context();
    assert_eq!(call!(cuInit(1)), CUresult::CUDA_ERROR_INVALID_VALUE);
    let f = function(load(), c"poke");
    let mut device = 0;
    ok!(cuMemAlloc_v2(&mut device, 256));
    // One byte past the allocation's last page.
    let mut wild = device + 256;
    let mut params: [*mut c_void; 1] = [(&raw mut wild).cast()];
    assert_eq!(launch(f, 1, 1, 0, &mut params), CUresult::CUDA_SUCCESS);
    let illegal = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_eq!(call!(cuCtxSynchronize()), illegal);
    assert_eq!(call!(cuMemAlloc_v2(&mut device, 4)), illegal);
    assert_eq!(launch(f, 1, 1, 0, &mut params), illegal);
    ok!(cuDevicePrimaryCtxReset_v2(0));
    assert_eq!(launch(f, 1, 1, 0, &mut params), CUresult::CUDA_ERROR_INVALID_HANDLE);
    let f = function(load(), c"poke");
    let mut device = 0;
    ok!(cuMemAlloc_v2(&mut device, 256));
    let mut params: [*mut c_void; 1] = [(&raw mut device).cast()];
    assert_eq!(launch(f, 1, 1, 0, &mut params), CUresult::CUDA_SUCCESS);
    ok!(cuCtxSynchronize());
    println!("faults were survived");
}

const MEET: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry meet(.param .u64 p) { .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %nctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra ALL;
  atom.global.add.u32 %r3, [%rd1], 1;
POLL: ld.volatile.global.u32 %r4, [%rd1]; setp.lt.u32 %p2, %r4, %r2; @%p2 bra POLL;
ALL: bar.sync 0; red.global.add.u32 [%rd1+4], 1; ret; }";

/// A cooperative launch has all its blocks resident, and more than the device can hold are refused.
#[test]
fn cooperative_launches() {
    context();
    let (mut module, mut device, mut supported) = (null_mut(), 0, 0);
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH;
    ok!(cuDeviceGetAttribute(&mut supported, attribute, 0));
    assert_eq!(supported, 1);
    ok!(cuModuleLoadData(&mut module, MEET.as_ptr().cast()));
    let f = function(module, c"meet");
    ok!(cuMemAlloc_v2(&mut device, 8));
    ok!(cuMemsetD32_v2(device, 0, 2));
    let mut params: [*mut c_void; 1] = [(&raw mut device).cast()];
    let mut go =
        |blocks| call!(cuLaunchCooperativeKernel(f, blocks, 1, 1, 64, 1, 1, 0, null_mut(), params.as_mut_ptr()));
    assert_eq!(go(1 << 20), CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    assert_eq!(go(1000), CUresult::CUDA_SUCCESS);
    ok!(cuCtxSynchronize());
    let mut counts = [0u32; 2];
    ok!(cuMemcpyDtoH_v2(counts.as_mut_ptr().cast(), device, 8));
    assert_eq!(counts, [1000, 64_000]);
}

/// Modules are unloaded before, during and after the optimised compilation of their kernels; the process ends while
/// others are being compiled.
#[test]
fn a_module_is_unloaded_while_it_is_compiled() {
    // Cached code is not compiled.
    if !in_child("a_module_is_unloaded_while_it_is_compiled", &[("CUDA_JIT_CACHE", "off")]) {
        return;
    }
    const STEPS: u32 = 700;
    primary(0);
    let (mut device, mut found) = (0, 0_u32);
    ok!(cuMemAlloc_v2(&mut device, 4));
    // Background compilation begins 20 ms after the last launch that compiled quick code.
    for (salt, milliseconds) in [0, 15, 20, 21, 22, 25, 30, 60, 0, 0].into_iter().enumerate() {
        let salt = salt as u32;
        let steps: String = (0..STEPS)
            .map(|step| format!("mad.lo.u32 %r1, %r1, 1664525, {}; xor.b32 %r1, %r1, %r2;\n", step ^ salt))
            .collect();
        let text = CString::new(format!(
            ".version 7.8\n.target sm_75\n.address_size 64
            .visible .entry k(.param .u64 p) {{ .reg .b32 %r<4>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];
            mov.u32 %r2, %ntid.x; mov.u32 %r1, {salt}; {steps} st.global.u32 [%rd1], %r1; ret; }}"
        ))
        .unwrap();
        let (mut module, mut f) = (null_mut(), null_mut());
        ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
        ok!(cuModuleGetFunction(&mut f, module, c"k".as_ptr()));
        let mut params = [(&raw mut device).cast::<c_void>()];
        ok!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
        ok!(cuMemcpyDtoH_v2((&raw mut found).cast(), device, 4));
        let expected = (0..STEPS).fold(salt, |value, step| value.wrapping_mul(1_664_525).wrapping_add(step ^ salt) ^ 1);
        assert_eq!(found, expected, "{salt}");
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        ok!(cuModuleUnload(module));
    }
}
