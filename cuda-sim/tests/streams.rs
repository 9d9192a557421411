//! Streams, events and default streams: order observed with kernels and host functions that wait for a flag which the
//! test sets, never with a clock.
//!
//! # Safety
//!
//! Every call passes pointers to live locals or memory that outlives the work, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;
#[path = "common/order.rs"]
mod order;

use cuda_sys::*;
use order::Fixture;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

const NOT_READY: CUresult = CUresult::CUDA_ERROR_NOT_READY;
const LEGACY: CUstream = null_mut();
const OWN: CUstream = std::ptr::without_provenance_mut(2);

#[test]
fn a_launch_does_not_wait_for_its_kernel() {
    let f = Fixture::new();
    let stream = f.stream(0);
    f.hold(stream);
    f.follow(1, stream);
    assert_eq!(call!(cuStreamQuery(stream)), NOT_READY);
    assert_eq!(f.value(), 0);
    f.open();
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamQuery(stream));
    assert_eq!(f.value(), 1);
}

#[test]
fn streams_run_at_the_same_time_each_in_order() {
    let f = Fixture::new();
    let (a, b) = (f.stream(0), f.stream(1));
    f.hold(a);
    for value in 1..=50 {
        f.follow(value, b);
    }
    ok!(cuStreamSynchronize(b));
    assert_eq!(f.value(), 50);
    assert_eq!(call!(cuStreamQuery(a)), NOT_READY);
    f.open();
    ok!(cuCtxSynchronize());
    ok!(cuStreamQuery(a));
}

#[test]
fn more_streams_than_cores_hold_nobody_up() {
    let f = Fixture::new();
    let held: Vec<_> = (0..20).map(|_| f.stream(1)).collect();
    held.iter().for_each(|stream| f.hold(*stream));
    let free = f.stream(1);
    f.follow(1, free);
    ok!(cuStreamSynchronize(free));
    assert!(held.iter().all(|stream| call!(cuStreamQuery(*stream)) == NOT_READY));
    f.open();
    ok!(cuCtxSynchronize());
}

#[test]
fn the_legacy_stream_waits_for_blocking_streams_and_they_for_it() {
    let f = Fixture::new();
    let (blocking, other, free) = (f.stream(0), f.stream(0), f.stream(1));
    f.hold(blocking);
    f.follow(1, LEGACY);
    f.follow(2, other);
    f.launch(c"nothing", &mut [], OWN);
    f.launch(c"nothing", &mut [], free);
    ok!(cuStreamSynchronize(free));
    for waiting in [LEGACY, other, OWN] {
        assert_eq!(call!(cuStreamQuery(waiting)), NOT_READY);
    }
    assert_eq!(f.value(), 0);
    f.open();
    ok!(cuStreamSynchronize(other));
    assert_eq!(f.value(), 2);
    ok!(cuCtxSynchronize());
}

#[test]
fn blocking_copies_are_work_of_the_legacy_stream() {
    let f = Fixture::new();
    let (blocking, free) = (f.stream(0), f.stream(1));
    let mut host = 0u32;
    f.follow(1, blocking);
    ok!(cuMemcpyDtoH_v2((&raw mut host).cast(), f.at(1), 4));
    assert_eq!(host, 1, "the copy came after the blocking stream");
    f.hold(free);
    host = 0;
    ok!(cuMemcpyDtoH_v2((&raw mut host).cast(), f.at(1), 4));
    assert_eq!(host, 1, "and waits for no other");
    assert_eq!(call!(cuStreamQuery(free)), NOT_READY);
}

#[test]
fn each_thread_has_a_default_stream_of_its_own() {
    let f = Fixture::new();
    f.hold(OWN);
    assert_eq!(call!(cuStreamQuery(OWN)), NOT_READY);
    assert_eq!(call!(cuStreamQuery_ptsz(LEGACY)), NOT_READY, "0 means the own one there");
    let context = f.context.addr();
    let other = std::thread::spawn(move || {
        ok!(cuCtxSetCurrent(std::ptr::without_provenance_mut(context)));
        let idle = call!(cuStreamQuery(OWN));
        let (mut own, mut legacy) = (0, 0);
        ok!(cuStreamGetId(OWN, &mut own));
        ok!(cuStreamGetId(LEGACY, &mut legacy));
        ok!(cuStreamGetId_ptsz(LEGACY, &mut legacy));
        (idle, own, legacy)
    });
    let (idle, own, named) = other.join().unwrap();
    let mut here = 0;
    ok!(cuStreamGetId(OWN, &mut here));
    assert_eq!(idle, CUresult::CUDA_SUCCESS);
    assert_eq!(own, named);
    assert_ne!(own, here);
    f.open();
    ok!(cuStreamSynchronize_ptsz(LEGACY));
    ok!(cuStreamQuery(OWN));
}

#[test]
fn a_wait_keeps_the_record_that_it_found() {
    let f = Fixture::new();
    let (a, b, c) = (f.stream(1), f.stream(1), f.stream(1));
    let event = f.event(0);
    // Never recorded: nothing to wait for.
    ok!(cuStreamWaitEvent(b, event, 0));
    ok!(cuEventQuery(event));
    ok!(cuEventSynchronize(event));
    ok!(cuStreamSynchronize(b));
    f.hold(a);
    ok!(cuEventRecord(event, a));
    ok!(cuStreamWaitEvent(b, event, 0));
    f.follow(1, b);
    assert_eq!(call!(cuEventQuery(event)), NOT_READY);
    // Recorded again in an idle stream, the event is complete; the earlier wait continues.
    ok!(cuEventRecord(event, c));
    ok!(cuEventSynchronize(event));
    assert_eq!(call!(cuStreamQuery(b)), NOT_READY);
    assert_eq!(f.value(), 0);
    // Destroying an event does not affect its waiters.
    ok!(cuEventDestroy_v2(event));
    f.open();
    ok!(cuStreamSynchronize(b));
    assert_eq!(f.value(), 1);
}

#[test]
fn events_tell_the_time_between_them() {
    let f = Fixture::new();
    let stream = f.stream(0);
    let (start, end, untimed) = (f.event(0), f.event(0), f.event(2));
    let mut time = -1.0;
    assert_eq!(call!(cuEventElapsedTime_v2(&mut time, start, end)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    ok!(cuEventRecord(start, stream));
    f.hold(stream);
    ok!(cuEventRecord(end, stream));
    ok!(cuEventRecord(untimed, stream));
    assert_eq!(call!(cuEventElapsedTime_v2(&mut time, start, end)), NOT_READY);
    assert_eq!(call!(cuEventElapsedTime_v2(&mut time, start, untimed)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    std::thread::sleep(std::time::Duration::from_millis(5));
    f.open();
    ok!(cuEventSynchronize(end));
    ok!(cuEventElapsedTime_v2(&mut time, start, end));
    assert!(time >= 5.0, "{time} ms");
    let mut back = 0.0;
    ok!(cuEventElapsedTime_v2(&mut back, end, start));
    assert_eq!(back, -time);
}

/// The observations of host functions, in order.
static SEEN: parking_lot::Mutex<Vec<u32>> = parking_lot::Mutex::new(Vec::new());

unsafe extern "C" fn note(data: *mut c_void) {
    let word = unsafe { AtomicU32::from_ptr(data.cast()) };
    SEEN.lock().push(word.load(Ordering::Acquire));
    // The driver may not be called from here.
    let mut free = 0;
    let status = call!(cuMemGetInfo_v2(&mut free, &mut 0));
    SEEN.lock().push(status.0);
}

unsafe extern "C" fn note_status(_: CUstream, status: CUresult, _: *mut c_void) {
    SEEN.lock().push(status.0);
}

#[test]
fn host_functions_run_in_order_and_may_not_call_the_driver() {
    let f = Fixture::new();
    let stream = f.stream(0);
    f.hold(stream);
    f.follow(1, stream);
    ok!(cuLaunchHostFunc(stream, Some(note), f.at(1) as *mut c_void));
    f.follow(2, stream);
    ok!(cuStreamAddCallback(stream, Some(note_status), null_mut(), 0));
    assert!(SEEN.lock().is_empty());
    f.open();
    ok!(cuStreamSynchronize(stream));
    assert_eq!(*SEEN.lock(), [1, CUresult::CUDA_ERROR_NOT_PERMITTED.0, CUresult::CUDA_SUCCESS.0]);
    assert_eq!(f.value(), 2);
}

#[test]
fn a_destroyed_stream_finishes_its_work() {
    let f = Fixture::new();
    let stream = f.stream(0);
    f.hold(stream);
    f.follow(1, stream);
    ok!(cuStreamDestroy_v2(stream));
    assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    f.open();
    ok!(cuCtxSynchronize());
    assert_eq!(f.value(), 1);
}

#[test]
fn copies_take_pageable_sources_along() {
    let f = Fixture::new();
    let stream = f.stream(0);
    for bytes in [64usize, 1 << 20] {
        f.word(0).store(0, Ordering::Release);
        let mut device = 0;
        ok!(cuMemAlloc_v2(&mut device, bytes));
        f.hold(stream);
        let mut host = vec![7u8; bytes];
        ok!(cuMemcpyHtoDAsync_v2(device, host.as_ptr().cast(), bytes, stream));
        host.fill(9);
        drop(host);
        assert_eq!(call!(cuStreamQuery(stream)), NOT_READY);
        f.open();
        let mut back = vec![0u8; bytes];
        // To pageable memory: finished on return.
        ok!(cuMemcpyDtoHAsync_v2(back.as_mut_ptr().cast(), device, bytes, stream));
        assert!(back.iter().all(|b| *b == 7), "{bytes}");
        ok!(cuMemFree_v2(device));
    }
}

#[test]
fn copies_of_pinned_memory_read_it_when_they_run() {
    let f = Fixture::new();
    let stream = f.stream(0);
    let mut registered = vec![1u8; 256];
    ok!(cuMemHostRegister_v2(registered.as_mut_ptr().cast(), 256, 0));
    let mut device = 0;
    ok!(cuMemAlloc_v2(&mut device, 256));
    f.hold(stream);
    ok!(cuMemcpyHtoDAsync_v2(device, registered.as_ptr().cast(), 256, stream));
    unsafe { registered.as_mut_ptr().write_bytes(2, 256) };
    ok!(cuMemsetD8Async(device + 128, 3, 128, stream));
    assert_eq!(call!(cuStreamQuery(stream)), NOT_READY);
    f.open();
    ok!(cuStreamSynchronize(stream));
    let mut back = [0u8; 256];
    ok!(cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), device, 256));
    assert!(back[..128].iter().all(|b| *b == 2) && back[128..].iter().all(|b| *b == 3));
    ok!(cuMemHostUnregister(registered.as_mut_ptr().cast()));
    ok!(cuMemFree_v2(device));
}

#[test]
fn values_in_memory_hold_streams_up() {
    let f = Fixture::new();
    let (a, b) = (f.stream(1), f.stream(1));
    ok!(cuStreamWaitValue32_v2(a, f.at(4), 3, 0));
    f.follow(1, a);
    f.launch(c"nothing", &mut [], b);
    ok!(cuStreamSynchronize(b));
    assert_eq!(call!(cuStreamQuery(a)), NOT_READY);
    ok!(cuStreamWriteValue32_v2(b, f.at(4), 3, 0));
    ok!(cuStreamSynchronize(a));
    assert_eq!(f.value(), 1);
}

#[test]
fn pooled_memory_follows_the_stream() {
    let f = Fixture::new();
    let (a, b) = (f.stream(1), f.stream(1));
    let props = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        ..unsafe { std::mem::zeroed() }
    };
    let mut pool = null_mut();
    ok!(cuMemPoolCreate(&mut pool, &props));
    let read = |which: CUmemPool_attribute| {
        let mut value = 0u64;
        ok!(cuMemPoolGetAttribute(pool, which, (&raw mut value).cast()));
        value
    };
    use CUmemPool_attribute as A;
    let (mut first, mut same, mut other) = (0, 0, 0);
    ok!(cuMemAllocFromPoolAsync(&mut first, 10_000, pool, a));
    assert_eq!(read(A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 12_288);
    f.hold(a);
    ok!(cuMemFreeAsync(first, a));
    assert_eq!(read(A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    assert_eq!(read(A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 12_288);
    assert_eq!(call!(cuMemFreeAsync(first, a)), CUresult::CUDA_ERROR_INVALID_VALUE);
    // Another stream is not ordered after the free, the same one is.
    ok!(cuMemAllocFromPoolAsync(&mut other, 10_000, pool, b));
    ok!(cuMemAllocFromPoolAsync(&mut same, 10_000, pool, a));
    assert_ne!(other, first);
    assert_eq!(same, first);
    assert_eq!(read(A::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 2 * 12_288);
    f.open();
    ok!(cuMemFreeAsync(same, a));
    ok!(cuMemFreeAsync(other, b));
    ok!(cuCtxSynchronize());
    // The release threshold is 0: a synchronisation releases everything.
    assert_eq!(read(A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    let mut keep = u64::MAX;
    ok!(cuMemPoolSetAttribute(pool, A::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, (&raw mut keep).cast()));
    ok!(cuMemAllocFromPoolAsync(&mut first, 10_000, pool, a));
    ok!(cuMemFreeAsync(first, a));
    ok!(cuCtxSynchronize());
    assert_eq!(read(A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 12_288);
    ok!(cuMemAllocFromPoolAsync(&mut other, 9_900, pool, b));
    assert_eq!(other, first, "now that the free is over, every stream may have it");
    ok!(cuMemFree_v2(other));
    ok!(cuMemPoolTrimTo(pool, 0));
    assert_eq!(read(A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    ok!(cuMemPoolDestroy(pool));
    assert_eq!(call!(cuMemPoolTrimTo(pool, 0)), CUresult::CUDA_ERROR_INVALID_VALUE);
}

unsafe extern "C" fn store_status(_: CUstream, status: CUresult, to: *mut c_void) {
    unsafe { AtomicU32::from_ptr(to.cast()) }.store(status.0, Ordering::Release);
}

#[test]
fn a_fault_skips_what_comes_after_and_stays_in_its_context() {
    let f = Fixture::new();
    let whole = Fixture::new();
    ok!(cuCtxPushCurrent_v2(f.context));
    let stream = f.stream(0);
    let mut wild = f.at(0) + (1 << 30);
    f.hold(stream);
    f.launch(c"poke", &mut [(&raw mut wild).cast()], stream);
    f.follow(1, stream);
    let told = AtomicU32::new(0);
    ok!(cuStreamAddCallback(stream, Some(store_status), told.as_ptr().cast(), 0));
    f.open();
    let illegal = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_eq!(call!(cuStreamSynchronize(stream)), illegal);
    assert_eq!(call!(cuStreamQuery(stream)), illegal);
    assert_eq!(call!(cuMemAlloc_v2(&mut 0, 4)), illegal);
    assert_eq!(f.value(), 0, "what comes after the fault does not run");
    assert_eq!(told.load(Ordering::Acquire), illegal.0, "but callbacks are told");
    ok!(cuCtxPopCurrent_v2(null_mut()));
    whole.follow(1, LEGACY);
    ok!(cuCtxSynchronize());
    assert_eq!(whole.value(), 1);
}

/// Threads that each order a chain of steps across streams, by events and by the default streams' rules.
#[test]
fn chains_through_many_streams_keep_their_order() {
    let f = Fixture::new();
    let shared = &f;
    std::thread::scope(|scope| {
        for lane in 0..4u64 {
            scope.spawn(move || {
                ok!(cuCtxSetCurrent(shared.context));
                let streams = [shared.stream(0), shared.stream(1), shared.stream(1), OWN, shared.stream(0)];
                let event = shared.event(2);
                let at = shared.at(4 + lane);
                for value in 1..=300u32 {
                    let stream = streams[value as usize * 7 % 5];
                    ok!(cuStreamWaitEvent(stream, event, 0));
                    let (mut at, mut value) = (at, value);
                    shared.launch(c"follow", &mut [(&raw mut at).cast(), (&raw mut value).cast()], stream);
                    ok!(cuEventRecord(event, stream));
                    match value % 50 {
                        0 => ok!(cuEventSynchronize(event)),
                        25 => ok!(cuStreamQuery(shared.stream(1))),
                        _ => {}
                    }
                }
                ok!(cuEventSynchronize(event));
                assert_eq!(shared.word(4 + lane as usize).load(Ordering::Acquire), 300);
            });
        }
    });
    ok!(cuCtxSynchronize());
}

#[test]
fn an_idle_stream_has_no_thread() {
    let f = Fixture::new();
    let streams: Vec<_> = (0..300).map(|_| f.stream(0)).collect();
    for stream in &streams {
        f.launch(c"nothing", &mut [], *stream);
        ok!(cuStreamSynchronize(*stream));
    }
    let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
    // Tests run concurrently; it only matters that there is not one thread for each stream.
    assert!(threads < 200, "{threads}");
}
