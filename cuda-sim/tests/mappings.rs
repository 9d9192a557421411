//! Very many allocations, and threads on stacks of their own: the system's mappings, of which a process has 65,530, are
//! not exhausted. Each test counts the mappings of its own process.
//!
//! # Safety
//!
//! Every call passes pointers to live locals or memory that outlives the work, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{function, in_child, primary};
use cuda_sys::*;
use std::collections::HashSet;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

/// The number of live allocations: more than six times the number of mappings.
const MANY: usize = 200_000;

/// `fill` stores its second parameter to the first one's words.
const TEXT: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 v) { .reg .b32 %r<3>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [p];
  ld.param.u32 %r2, [v]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2; ret; }";

/// Returns the number of mappings of the process.
fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().count()
}

/// Returns the system's limit on the mappings of a process.
fn limit() -> usize {
    std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap().trim().parse().unwrap()
}

/// Runs a kernel on an allocation, and checks its writes.
fn assert_works(fill: CUfunction, at: CUdeviceptr) {
    let (mut at, mut value, mut read) = (at, 42_u32, [0_u32; 16]);
    let mut params = [(&raw mut at).cast::<c_void>(), (&raw mut value).cast()];
    ok!(cuLaunchKernel(fill, 1, 1, 1, 16, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
    ok!(cuMemcpyDtoH_v2(read.as_mut_ptr().cast(), at, 64));
    assert_eq!(read, [42; 16]);
}

/// Allocates very many arrays, uses some, and frees them in two halves.
fn assert_bounded(allocate: fn() -> CUdeviceptr, free: fn(CUdeviceptr), reuses: bool) {
    let fill = function(TEXT, c"fill");
    assert_works(fill, allocate());
    let before = mappings();
    let all: Vec<CUdeviceptr> = (0..MANY).map(|_| allocate()).collect();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), MANY);
    assert!(all.iter().all(|at| at.is_multiple_of(256)));
    assert!(mappings() < before + limit() / 3, "{} mappings", mappings());
    for at in all.iter().step_by(MANY / 100) {
        assert_works(fill, *at);
    }
    let (mut even, mut odd): (Vec<CUdeviceptr>, Vec<CUdeviceptr>) = (Vec::new(), Vec::new());
    all.iter().enumerate().for_each(|(i, at)| if i % 2 == 0 { even.push(*at) } else { odd.push(*at) });
    even.iter().for_each(|at| free(*at));
    assert!(mappings() < before + limit() / 3, "{} mappings", mappings());
    // Freed addresses are not reused yet, except by a pool for the same stream.
    let freed: HashSet<CUdeviceptr> = even.into_iter().collect();
    let more: Vec<CUdeviceptr> = (0..1000).map(|_| allocate()).collect();
    assert!(reuses || more.iter().all(|at| !freed.contains(at)));
    assert_works(fill, odd[odd.len() - 1]);
    odd.iter().chain(&more).for_each(|at| free(*at));
    ok!(cuCtxSynchronize());
    assert!(mappings() < before + 100, "{} mappings, {before} before", mappings());
    assert_works(fill, allocate());
}

fn device() -> CUdeviceptr {
    let mut at = 0;
    ok!(cuMemAlloc_v2(&mut at, 64));
    at
}

#[test]
fn live_arrays_do_not_cost_mappings() {
    if in_child("live_arrays_do_not_cost_mappings", &[]) {
        primary(0);
        assert_bounded(device, |at| ok!(cuMemFree_v2(at)), false);
    }
}

#[test]
fn live_arrays_of_a_pool_do_not_cost_mappings() {
    if in_child("live_arrays_of_a_pool_do_not_cost_mappings", &[("CUDA_SIM_DEVICES", "2")]) {
        primary(1);
        let allocate = || {
            let mut at = 0;
            ok!(cuMemAllocAsync(&mut at, 64, null_mut()));
            at
        };
        assert_bounded(allocate, |at| ok!(cuMemFreeAsync(at, null_mut())), true);
    }
}

#[test]
fn page_locked_arrays_do_not_cost_mappings() {
    if in_child("page_locked_arrays_do_not_cost_mappings", &[]) {
        primary(0);
        let allocate = || {
            let mut at = null_mut();
            ok!(cuMemAllocHost_v2(&mut at, 64));
            at as u64
        };
        assert_bounded(allocate, |at| ok!(cuMemFreeHost(at as *mut c_void)), false);
    }
}

/// Pages of graphs' memory change their protection, so each takes mappings: more than the process can spare are
/// refused.
#[test]
fn what_cannot_share_mappings_is_out_of_memory_in_time() {
    if !in_child("what_cannot_share_mappings_is_out_of_memory_in_time", &[]) {
        return;
    }
    primary(0);
    let fill = function(TEXT, c"fill");
    let mut graph = null_mut();
    ok!(cuGraphCreate(&mut graph, 0));
    let location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    let pool = CUmemPoolProps { allocType: CUmemAllocationType(1), location, ..Default::default() };
    let add = || {
        let (mut node, mut params) =
            (null_mut(), CUDA_MEM_ALLOC_NODE_PARAMS { poolProps: pool, bytesize: 64, ..Default::default() });
        call!(cuGraphAddMemAllocNode(&mut node, graph, null_mut(), 0, &mut params))
    };
    let refused = (0..MANY).map(|_| add()).find(|code| *code != CUresult::CUDA_SUCCESS);
    assert_eq!(refused, Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    assert!(mappings() < limit() / 10 * 9, "{} mappings", mappings());
    // Everything else continues, and so does this when there are mappings again.
    let all: Vec<CUdeviceptr> = (0..1000).map(|_| device()).collect();
    assert_works(fill, all[999]);
    assert_works(function(TEXT, c"fill"), all[0]);
    ok!(cuGraphDestroy(graph));
    assert!(mappings() < limit() / 10, "{} mappings", mappings());
    ok!(cuGraphCreate(&mut graph, 0));
    let add = || {
        let (mut node, mut params) =
            (null_mut(), CUDA_MEM_ALLOC_NODE_PARAMS { poolProps: pool, bytesize: 64, ..Default::default() });
        call!(cuGraphAddMemAllocNode(&mut node, graph, null_mut(), 0, &mut params))
    };
    assert_eq!(add(), CUresult::CUDA_SUCCESS);
}

/// Each thread counts itself and waits for all others: every thread of the grid has begun and none has ended. Then each
/// stores.
const MEET: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry meet(.param .u64 p, .param .u32 all) { .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %p;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [all]; atom.global.add.u32 %r2, [%rd1], 1;
WAIT: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p, %r3, %r1; @%p bra WAIT;
  atom.global.add.u32 %r2, [%rd1+4], 1; ret; }";

/// Launches blocks of threads that all wait for each other, and returns the result.
fn meet(blocks: u32, threads: u32) -> (CUresult, [u32; 2]) {
    let (f, at, mut counts) = (function(MEET, c"meet"), device(), [0_u32; 2]);
    ok!(cuMemsetD32_v2(at, 0, 16));
    let (mut address, mut all) = (at, blocks * threads);
    let mut params = [(&raw mut address).cast::<c_void>(), (&raw mut all).cast()];
    ok!(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
    let ended = call!(cuCtxSynchronize());
    if ended == CUresult::CUDA_SUCCESS {
        ok!(cuMemcpyDtoH_v2(counts.as_mut_ptr().cast(), at, 8));
        ok!(cuMemFree_v2(at));
    }
    (ended, counts)
}

/// As many threads as a card of 132 multiprocessors holds at 1024 each, on stacks of their own, which would have taken
/// 270,336 mappings. Their memory is returned to the system.
#[test]
fn fibers_of_a_whole_device_meet_and_leave_no_mappings() {
    let fibers = [("CUDA_SIM_ENGINE", "fibers"), ("CUDA_SIM_THREADS", "2")];
    if !in_child("fibers_of_a_whole_device_meet_and_leave_no_mappings", &fibers) {
        return;
    }
    primary(0);
    let fill = function(TEXT, c"fill");
    assert_works(fill, device());
    for _ in 0..2 {
        assert_eq!(meet(132, 1024), (CUresult::CUDA_SUCCESS, [135_168; 2]));
        assert!(mappings() < 15_000, "{} mappings", mappings());
    }
    assert_works(fill, device());
    assert_eq!(meet(1, 1024), (CUresult::CUDA_SUCCESS, [1024; 2]));
}

/// As many concurrent blocks as the device holds, each with memory of its own.
#[test]
fn blocks_that_wait_for_each_other_leave_no_mappings() {
    let threads = [("CUDA_SIM_THREADS", "2")];
    if !in_child("blocks_that_wait_for_each_other_leave_no_mappings", &threads) {
        return;
    }
    primary(0);
    let fill = function(TEXT, c"fill");
    assert_works(fill, device());
    let before = mappings();
    for _ in 0..2 {
        assert_eq!(meet(4_200, 32), (CUresult::CUDA_SUCCESS, [134_400; 2]));
        assert!(mappings() < before + 1000, "{} mappings, {before} before", mappings());
    }
    assert_works(fill, device());
}
