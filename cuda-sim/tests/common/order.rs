//! A context of a test's own with kernels that reveal their order: they wait for a flag that the test sets, so no clock
//! is needed.
//!
//! # Safety
//!
//! Every call passes pointers to live locals or memory that outlives the work, as CUDA's documentation asks.

use cuda_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

/// `hold` waits until the flag is not 0; `follow` writes its value if it finds the preceding one, else 1000 plus it.
pub(crate) const KERNELS: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry hold(.param .u64 flag) { .reg .pred %p; .reg .b32 %r1; .reg .b64 %rd1;
  ld.param.u64 %rd1, [flag];
AGAIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, 0; @%p bra AGAIN; ret; }
.visible .entry follow(.param .u64 at, .param .u32 value) { .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd1;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [value]; ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1;
  setp.eq.u32 %p, %r1, %r2; @%p bra GOOD; add.u32 %r1, %r1, 1000;
GOOD: st.volatile.global.u32 [%rd1], %r1; ret; }
.visible .entry nothing() { ret; }
.visible .entry poke(.param .u64 p) { .reg .b64 %rd1; ld.param.u64 %rd1, [p]; st.global.u8 [%rd1], 1; ret; }";

// SAFETY: handles may be used by every thread.
unsafe impl Sync for Fixture {}

/// A context of the test's own, so that tests do not wait for each other's work.
pub(crate) struct Fixture {
    pub(crate) context: CUcontext,
    pub(crate) module: CUmodule,
    /// Mapped memory: word 0 is the flag of `hold`, word 1 the value of `follow`.
    pub(crate) words: *mut c_void,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        ok!(cuInit(0));
        let (mut context, mut module, mut words) = (null_mut(), null_mut(), null_mut());
        ok!(cuCtxCreate_v2(&mut context, 0, 0));
        ok!(cuModuleLoadData(&mut module, KERNELS.as_ptr().cast()));
        ok!(cuMemHostAlloc(&mut words, 64, CU_MEMHOSTALLOC_DEVICEMAP));
        unsafe { words.cast::<[u32; 16]>().write([0; 16]) };
        Fixture { context, module, words }
    }

    pub(crate) fn word(&self, index: usize) -> &AtomicU32 {
        unsafe { AtomicU32::from_ptr(self.words.cast::<u32>().wrapping_add(index)) }
    }

    pub(crate) fn value(&self) -> u32 {
        self.word(1).load(Ordering::Acquire)
    }

    pub(crate) fn open(&self) {
        self.word(0).store(1, Ordering::Release);
    }

    pub(crate) fn at(&self, index: u64) -> CUdeviceptr {
        self.words.addr() as u64 + index * 4
    }

    pub(crate) fn launch(&self, name: &CStr, params: &mut [*mut c_void], on: CUstream) {
        let mut f = null_mut();
        ok!(cuModuleGetFunction(&mut f, self.module, name.as_ptr()));
        ok!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, on, params.as_mut_ptr(), null_mut()));
    }

    /// Enqueues a kernel that runs until `open`.
    pub(crate) fn hold(&self, on: CUstream) {
        let mut flag = self.at(0);
        self.launch(c"hold", &mut [(&raw mut flag).cast()], on);
    }

    /// Enqueues the step from `value - 1` to `value`.
    pub(crate) fn follow(&self, mut value: u32, on: CUstream) {
        let mut at = self.at(1);
        self.launch(c"follow", &mut [(&raw mut at).cast(), (&raw mut value).cast()], on);
    }

    pub(crate) fn stream(&self, flags: u32) -> CUstream {
        let mut stream = null_mut();
        ok!(cuStreamCreate(&mut stream, flags));
        stream
    }

    pub(crate) fn event(&self, flags: u32) -> CUevent {
        let mut event = null_mut();
        ok!(cuEventCreate(&mut event, flags));
        event
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.open();
        if !std::thread::panicking() {
            ok!(cuCtxDestroy_v2(self.context));
        }
    }
}
