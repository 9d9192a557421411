//! Libraries: loaded without a context, with a module in each context that uses them.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{in_child, primary};
use cuda_sys::*;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

const TEXT: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.global .align 4 .u32 counter = 40;
.visible .entry count(.param .u64 p, .param .u32 n) { .reg .b32 %r<3>; .reg .b64 %rd1; ld.param.u64 %rd1, [p];
  ld.param.u32 %r2, [n]; atom.global.add.u32 %r1, [counter], %r2; st.global.u32 [%rd1], %r1; ret; }
.visible .entry still() { ret; }";

fn load() -> CUlibrary {
    let mut library = null_mut();
    ok!(cuLibraryLoadData(&mut library, TEXT.as_ptr().cast(), null_mut(), null_mut(), 0, null_mut(), null_mut(), 0));
    library
}

fn kernel(library: CUlibrary, name: &CStr) -> CUkernel {
    let mut kernel = null_mut();
    ok!(cuLibraryGetKernel(&mut kernel, library, name.as_ptr()));
    kernel
}

/// Adds `n` to the counter in the current context, and returns the old value.
fn count(f: CUfunction, mut n: u32) -> u32 {
    let (mut device, mut host) = (0, 0u32);
    ok!(cuMemAlloc_v2(&mut device, 4));
    let mut params: [*mut c_void; 2] = [(&raw mut device).cast(), (&raw mut n).cast()];
    ok!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
    ok!(cuMemcpyDtoH_v2((&raw mut host).cast(), device, 4));
    ok!(cuMemFree_v2(device));
    host
}

#[test]
fn each_context_has_its_own_module_of_a_library() {
    if !in_child("each_context_has_its_own_module_of_a_library", &[("CUDA_SIM_DEVICES", "2")]) {
        return;
    }
    ok!(cuInit(0));
    // No context is current.
    let library = load();
    let counting = kernel(library, c"count");
    assert_eq!(counting, kernel(library, c"count"));
    let (mut name, mut of, mut kernels, mut found) = (null::<c_char>(), null_mut(), 0, [null_mut(); 2]);
    ok!(cuKernelGetName(&mut name, counting));
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"count");
    gives!(CUDA_ERROR_INVALID_VALUE, cuKernelGetName(&mut name, null_mut()));
    gives!(CUDA_ERROR_INVALID_VALUE, cuKernelGetName(null_mut(), counting));
    gives!(CUDA_ERROR_INVALID_HANDLE, cuKernelGetName(&mut name, std::ptr::without_provenance_mut(0x1230)));
    ok!(cuKernelGetLibrary(&mut of, counting));
    assert_eq!(of, library);
    ok!(cuLibraryGetKernelCount(&mut kernels, library));
    ok!(cuLibraryEnumerateKernels(found.as_mut_ptr(), kernels, library));
    assert_eq!((kernels, found[0]), (2, counting));
    let (mut offset, mut bytes) = (0, 0);
    ok!(cuKernelGetParamInfo(counting, 1, &mut offset, &mut bytes));
    assert_eq!((offset, bytes), (8, 4));
    gives!(CUDA_ERROR_INVALID_VALUE, cuKernelGetParamInfo(counting, 2, &mut offset, &mut bytes));
    let (mut function, mut other, mut module) = (null_mut(), null_mut(), null_mut());
    gives!(CUDA_ERROR_INVALID_CONTEXT, cuKernelGetFunction(&mut function, counting));
    gives!(CUDA_ERROR_INVALID_CONTEXT, cuLibraryGetModule(&mut module, library));

    let (first, second) = (primary(0), primary(1));
    ok!(cuCtxSetCurrent(first));
    ok!(cuKernelGetFunction(&mut function, counting));
    assert_eq!((count(function, 1), count(counting.cast(), 1)), (40, 41), "the kernel stands for its function");
    ok!(cuCtxSetCurrent(second));
    assert_eq!(count(counting.cast(), 5), 40, "the other context has variables of its own");
    ok!(cuKernelGetFunction(&mut other, counting));
    assert_ne!(function, other);
    gives!(
        CUDA_ERROR_INVALID_HANDLE,
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut())
    );
    let (mut address, mut value) = (0, 0u32);
    ok!(cuLibraryGetGlobal(&mut address, &mut bytes, library, c"counter".as_ptr()));
    ok!(cuMemcpyDtoH_v2((&raw mut value).cast(), address, 4));
    assert_eq!((value, bytes), (45, 4));

    attributes_are_of_a_device(library, first, second);
    // A context that was reset gets a new module.
    ok!(cuDevicePrimaryCtxReset_v2(1));
    ok!(cuCtxSetCurrent(second));
    assert_eq!(count(counting.cast(), 1), 40);
    ok!(cuCtxSetCurrent(first));
    assert_eq!(count(counting.cast(), 1), 42);
    ok!(cuLibraryUnload(library));
    gives!(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
    gives!(CUDA_ERROR_INVALID_HANDLE, cuKernelGetFunction(&mut function, counting));
    let function = if function.is_null() { counting.cast() } else { function };
    gives!(
        CUDA_ERROR_INVALID_HANDLE,
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut())
    );
}

fn attributes_are_of_a_device(library: CUlibrary, first: CUcontext, second: CUcontext) {
    let which = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let still = kernel(library, c"still");
    let launch = || call!(cuLaunchKernel(still.cast(), 1, 1, 1, 1, 1, 1, 64 << 10, null_mut(), null_mut(), null_mut()));
    let mut value = 0;
    ok!(cuCtxSetCurrent(second));
    assert_eq!(launch(), CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuKernelSetAttribute(which, 64 << 10, still, 1));
    gives!(CUDA_ERROR_INVALID_VALUE, cuKernelSetAttribute(which, 1 << 20, still, 1));
    gives!(CUDA_ERROR_INVALID_DEVICE, cuKernelSetAttribute(which, 1, still, 2));
    assert_eq!(launch(), CUresult::CUDA_SUCCESS);
    ok!(cuKernelGetAttribute(&mut value, which, still, 1));
    assert_eq!(value, 64 << 10);
    ok!(cuKernelGetAttribute(&mut value, which, still, 0));
    assert_eq!(value, 48 << 10);
    ok!(cuCtxSetCurrent(first));
    assert_eq!(launch(), CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuKernelSetCacheConfig(still, CUfunc_cache(1), 0));
    gives!(CUDA_ERROR_INVALID_VALUE, cuKernelSetCacheConfig(still, CUfunc_cache(4), 0));
}

/// Adds to a managed variable by name, by an address in a per-context variable, and by one in a managed variable.
const MANAGED: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.global .align 4 .u32 own = 1;
.global .attribute(.managed) .align 4 .u32 before = 7;
.global .attribute(.managed) .align 4 .u32 sum[2] = {20, 40};
.global .attribute(.managed) .align 8 .u64 second = sum+4;
.global .align 8 .u64 named = sum+4;
.visible .entry count(.param .u64 p, .param .u32 n) { .reg .b32 %r<6>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [p];
  ld.param.u32 %r2, [n]; atom.global.add.u32 %r1, [sum+4], %r2; st.global.u32 [%rd1], %r1;
  ld.global.u64 %rd2, [named]; atom.global.add.u32 %r3, [%rd2], 100; ld.global.u64 %rd3, [second];
  atom.global.add.u32 %r3, [%rd3], 1000; atom.global.add.u32 %r4, [own], 1; ret; }";

#[test]
fn all_contexts_share_the_managed_variables_of_a_library() {
    if !in_child("all_contexts_share_the_managed_variables_of_a_library", &[("CUDA_SIM_DEVICES", "2")]) {
        return;
    }
    ok!(cuInit(0));
    let (mut library, mut address, mut bytes) = (null_mut(), 0, 0);
    let code = MANAGED.as_ptr().cast();
    ok!(cuLibraryLoadData(&mut library, code, null_mut(), null_mut(), 0, null_mut(), null_mut(), 0));
    // No context is current: the host can access them nevertheless.
    ok!(cuLibraryGetManaged(&mut address, &mut bytes, library, c"sum".as_ptr()));
    assert_eq!(bytes, 8);
    let words = address as *mut u32;
    assert_eq!(unsafe { words.read() }, 20);
    unsafe { words.wrapping_add(1).write(50) };
    gives!(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&mut address, &mut bytes, library, c"own".as_ptr()));
    let kernel = kernel(library, c"count");
    let contexts = [primary(0), primary(1)];
    for (turn, context) in contexts.into_iter().cycle().take(4).enumerate() {
        ok!(cuCtxSetCurrent(context));
        assert_eq!(count(kernel.cast(), 2), 50 + 1102 * turn as u32);
        let (mut of_context, mut own, mut value) = (0, 0, 0u32);
        ok!(cuLibraryGetGlobal(&mut of_context, null_mut(), library, c"sum".as_ptr()));
        assert_eq!(of_context, address);
        ok!(cuLibraryGetGlobal(&mut own, null_mut(), library, c"own".as_ptr()));
        ok!(cuMemcpyDtoH_v2((&raw mut value).cast(), own, 4));
        assert_eq!(value, 2 + turn as u32 / 2, "other variables are each context's");
    }
    // They outlive a context, and a module has its own.
    ok!(cuDevicePrimaryCtxReset_v2(1));
    assert_eq!(unsafe { words.wrapping_add(1).read() }, 50 + 1102 * 4);
    ok!(cuCtxSetCurrent(contexts[0]));
    assert_eq!(count(common::function(MANAGED, c"count"), 1), 40);
    ok!(cuLibraryUnload(library));
}

#[test]
fn what_a_library_does_not_have_is_not_found() {
    primary(0);
    let library = load();
    let (mut kernel, mut address, mut bytes, mut pointer) = (null_mut(), 0, 0, null_mut());
    gives!(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&mut kernel, library, c"nothing".as_ptr()));
    gives!(CUDA_ERROR_NOT_FOUND, cuLibraryGetGlobal(&mut address, &mut bytes, library, c"nothing".as_ptr()));
    gives!(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&mut address, &mut bytes, library, c"counter".as_ptr()));
    gives!(CUDA_ERROR_NOT_FOUND, cuLibraryGetUnifiedFunction(&mut pointer, library, c"count".as_ptr()));
    gives!(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetKernel(&mut kernel, null_mut(), c"count".as_ptr()));
    gives!(CUDA_ERROR_INVALID_VALUE, cuLibraryGetKernel(&mut kernel, library, null()));
    let mut none = null_mut();
    let bad = c"not ptx".as_ptr().cast();
    gives!(
        CUDA_ERROR_INVALID_PTX,
        cuLibraryLoadData(&mut none, bad, null_mut(), null_mut(), 0, null_mut(), null_mut(), 0)
    );
    gives!(
        CUDA_ERROR_INVALID_VALUE,
        cuLibraryLoadData(&mut none, null(), null_mut(), null_mut(), 0, null_mut(), null_mut(), 0)
    );
    ok!(cuLibraryUnload(library));
}
