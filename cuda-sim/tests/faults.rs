//! Faults as clients see them: sticky error codes, and what is unaffected.
//!
//! # Safety
//!
//! Every call passes pointers to live locals or memory that outlives the work, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use cuda_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

/// `poke` stores the thread's index in each word; `stop` traps; `deep` recurses for ever; `last` traps in one thread
/// after a barrier.
const KERNELS: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry poke(.param .u64 p) { .reg .b32 %r1; .reg .b64 %rd<4>; ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1; ret; }
.visible .entry stop(.param .u64 p) { trap; }
.func again() { call.uni again; ret; }
.visible .entry deep(.param .u64 p) { call.uni again; ret; }
.visible .entry last(.param .u64 p) { .reg .b32 %r1; .reg .pred %p; mov.u32 %r1, %tid.x; bar.sync 0;
  setp.eq.u32 %p, %r1, 31; @%p trap; ret; }";

/// A context with the kernels.
struct Fixture {
    context: CUcontext,
    module: CUmodule,
}

impl Fixture {
    fn new() -> Fixture {
        ok!(cuInit(0));
        let (mut context, mut module) = (null_mut(), null_mut());
        ok!(cuCtxCreate_v2(&mut context, 0, 0));
        ok!(cuModuleLoadData(&mut module, KERNELS.as_ptr().cast()));
        Fixture { context, module }
    }

    fn run(&self, name: &CStr, address: u64) -> CUresult {
        ok!(cuCtxSetCurrent(self.context));
        let mut function = null_mut();
        ok!(cuModuleGetFunction(&mut function, self.module, name.as_ptr()));
        let mut address = address;
        let mut params = [(&raw mut address).cast::<c_void>()];
        ok!(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
        call!(cuCtxSynchronize())
    }

    fn alloc(&self) -> u64 {
        ok!(cuCtxSetCurrent(self.context));
        let mut at = 0;
        ok!(cuMemAlloc_v2(&mut at, 128));
        at
    }
}

#[test]
fn every_fault_has_its_code_and_stays() {
    use CUresult as R;
    let other = Fixture::new();
    let kept = other.alloc();
    assert_eq!(other.run(c"poke", kept), R::CUDA_SUCCESS);
    let host: Box<[u32; 32]> = Box::new([9; 32]);
    let host_at = host.as_ptr() as u64;
    for (name, address, code) in [
        (c"poke", 0, R::CUDA_ERROR_ILLEGAL_ADDRESS),
        (c"poke", host_at, R::CUDA_ERROR_ILLEGAL_ADDRESS),
        (c"poke", 1, R::CUDA_ERROR_MISALIGNED_ADDRESS),
        (c"poke", kept + 2, R::CUDA_ERROR_MISALIGNED_ADDRESS),
        (c"poke", kept + 128 + 4096, R::CUDA_ERROR_ILLEGAL_ADDRESS),
        (c"stop", 0, R::CUDA_ERROR_LAUNCH_FAILED),
        (c"last", 0, R::CUDA_ERROR_LAUNCH_FAILED),
        (c"deep", 0, R::CUDA_ERROR_LAUNCH_FAILED),
    ] {
        let fixture = Fixture::new();
        let own = fixture.alloc();
        assert_eq!(fixture.run(name, address), code, "{name:?} at {address:#x}");
        // Every later call fails in the same way, and none in another context.
        let (mut event, mut value, mut stream) = (null_mut(), 0u32, null_mut());
        assert_eq!(call!(cuCtxSynchronize()), code);
        assert_eq!(call!(cuMemcpyDtoH_v2((&raw mut value).cast(), own, 4)), code);
        assert_eq!(call!(cuMemAlloc_v2(&mut 0, 4)), code);
        assert_eq!(call!(cuStreamCreate(&mut stream, 0)), code);
        assert_eq!(call!(cuEventCreate(&mut event, 0)), code);
        assert_eq!(other.run(c"poke", kept), R::CUDA_SUCCESS);
        ok!(cuMemcpyDtoH_v2((&raw mut value).cast(), kept + 4 * 31, 4));
        assert_eq!(value, 31);
        ok!(cuCtxDestroy_v2(fixture.context));
    }
    assert_eq!(*host, [9; 32]);
}

#[test]
fn all_memory_that_a_kernel_may_use_it_can() {
    let fixture = Fixture::new();
    let (mut managed, mut pinned, mut mapped, mut on_device) = (0, null_mut(), null_mut(), 0);
    ok!(cuMemAllocManaged(&mut managed, 128, 1));
    ok!(cuMemAllocHost_v2(&mut pinned, 128));
    ok!(cuMemHostAlloc(&mut mapped, 128, CU_MEMHOSTALLOC_DEVICEMAP));
    ok!(cuMemHostGetDevicePointer_v2(&mut on_device, mapped, 0));
    let mut registered = vec![0u32; 32];
    ok!(cuMemHostRegister_v2(registered.as_mut_ptr().cast(), 128, 0));
    let at = registered.as_ptr() as u64;
    for address in [managed, pinned as u64, on_device, at] {
        assert_eq!(fixture.run(c"poke", address), CUresult::CUDA_SUCCESS, "{address:#x}");
        // SAFETY: each is 32 words long, and the launch has ended.
        let words = unsafe { std::slice::from_raw_parts(address as *const u32, 32) };
        assert!(words.iter().enumerate().all(|(i, word)| *word == i as u32), "{words:?}");
    }
    ok!(cuMemHostUnregister(registered.as_mut_ptr().cast()));
    assert_eq!(fixture.run(c"poke", at), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
}
