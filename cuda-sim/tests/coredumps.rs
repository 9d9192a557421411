//! The settings of core dumps, which are stored and returned.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{in_child, primary};
use cuda_sys::*;
use std::ffi::c_void;
use std::ptr::null_mut;

use CUcoredumpSettings as S;

type Getter = fn(CUcoredumpSettings, *mut c_void, *mut usize) -> CUresult;

fn of_process(which: CUcoredumpSettings, value: *mut c_void, size: *mut usize) -> CUresult {
    call!(cuCoredumpGetAttributeGlobal(which, value, size))
}

fn of_context(which: CUcoredumpSettings, value: *mut c_void, size: *mut usize) -> CUresult {
    call!(cuCoredumpGetAttribute(which, value, size))
}

/// Returns the bytes of a setting, whose size is asked for first.
fn bytes(getter: Getter, which: CUcoredumpSettings) -> Vec<u8> {
    let mut size = 0;
    assert_eq!(getter(which, null_mut(), &mut size), CUresult::CUDA_SUCCESS);
    let mut value = vec![0xee_u8; size];
    assert_eq!(getter(which, value.as_mut_ptr().cast(), &mut size), CUresult::CUDA_SUCCESS);
    assert_eq!(size, value.len());
    let mut short = size - 1;
    assert_eq!(getter(which, value.as_mut_ptr().cast(), &mut short), CUresult::CUDA_ERROR_INVALID_VALUE);
    value
}

fn set(which: CUcoredumpSettings, value: &[u8]) -> CUresult {
    let (at, mut size) = (value.as_ptr().cast_mut().cast(), value.len());
    call!(cuCoredumpSetAttributeGlobal(which, at, &mut size))
}

fn set_for_context(which: CUcoredumpSettings, value: &[u8]) -> CUresult {
    let (at, mut size) = (value.as_ptr().cast_mut().cast(), value.len());
    call!(cuCoredumpSetAttribute(which, at, &mut size))
}

#[test]
fn settings_are_returned_as_they_were_set() {
    if !in_child("settings_are_returned_as_they_were_set", &[]) {
        return;
    }
    let (good, invalid) = (CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(set(S::CU_COREDUMP_LIGHTWEIGHT, &[1]), CUresult::CUDA_ERROR_NOT_INITIALIZED);
    ok!(cuInit(0));
    assert_eq!(set_for_context(S::CU_COREDUMP_LIGHTWEIGHT, &[1]), CUresult::CUDA_ERROR_INVALID_CONTEXT);
    assert_eq!(bytes(of_process, S::CU_COREDUMP_TRIGGER_HOST), [1]);
    assert_eq!(bytes(of_process, S::CU_COREDUMP_LIGHTWEIGHT), [0]);
    assert!(bytes(of_process, S::CU_COREDUMP_FILE).starts_with(b"core.cuda."));
    assert_eq!(set(S::CU_COREDUMP_TRIGGER_HOST, &[0]), good);
    assert_eq!(set(S::CU_COREDUMP_FILE, b"corefile"), good);
    assert_eq!(set(S::CU_COREDUMP_PIPE, b"corepipe\0and more"), good);
    assert_eq!(set(S::CU_COREDUMP_GENERATION_FLAGS, &3_u32.to_ne_bytes()), good);
    assert_eq!(bytes(of_process, S::CU_COREDUMP_TRIGGER_HOST), [0]);
    assert_eq!(bytes(of_process, S::CU_COREDUMP_FILE), b"corefile\0");
    assert_eq!(bytes(of_process, S::CU_COREDUMP_PIPE), b"corepipe\0");
    assert_eq!(bytes(of_process, S::CU_COREDUMP_GENERATION_FLAGS), 3_u32.to_ne_bytes());
    // What is wrong changes nothing.
    assert_eq!(set(S::CU_COREDUMP_TRIGGER_HOST, &[1, 0, 0, 0]), invalid);
    assert_eq!(set(S::CU_COREDUMP_GENERATION_FLAGS, &(1_u32 << 20).to_ne_bytes()), invalid);
    assert_eq!(set(S::CU_COREDUMP_FILE, &[b'x'; 1024]), invalid);
    assert_eq!(set(S(0), &[1]), invalid);
    assert_eq!(set(S::CU_COREDUMP_MAX, &[1]), invalid);
    assert_eq!(bytes(of_process, S::CU_COREDUMP_FILE), b"corefile\0");
    assert_eq!(bytes(of_process, S::CU_COREDUMP_TRIGGER_HOST), [0]);

    // A context has values of its own, and otherwise those of the process.
    primary(0);
    assert_eq!(bytes(of_context, S::CU_COREDUMP_FILE), b"corefile\0");
    assert_eq!(set_for_context(S::CU_COREDUMP_FILE, b"other"), good);
    assert_eq!(bytes(of_context, S::CU_COREDUMP_FILE), b"other\0");
    assert_eq!(bytes(of_process, S::CU_COREDUMP_FILE), b"corefile\0");
    assert_eq!(set_for_context(S::CU_COREDUMP_PIPE, b"other"), CUresult::CUDA_ERROR_NOT_PERMITTED);
    ok!(cuDevicePrimaryCtxReset_v2(0));
    primary(0);
    assert_eq!(bytes(of_context, S::CU_COREDUMP_FILE), b"corefile\0");
}
