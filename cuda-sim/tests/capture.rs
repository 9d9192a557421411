//! Stream capture: what is captured, how streams join a capture sequence, and every error.
//!
//! The tests run one at a time: a sequence in global mode forbids calls to all threads, as it should.
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
use parking_lot::{Mutex, MutexGuard};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use CUstreamCaptureMode as Mode;
use CUstreamCaptureStatus as State;
const GLOBAL: Mode = Mode::CU_STREAM_CAPTURE_MODE_GLOBAL;
const LOCAL: Mode = Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
const RELAXED: Mode = Mode::CU_STREAM_CAPTURE_MODE_RELAXED;
const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
const INVALIDATED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
const IMPLICIT: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
const ISOLATION: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
const MERGE: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE;
const UNMATCHED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
const UNJOINED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
const WRONG_THREAD: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
const CAPTURED: CUresult = CUresult::CUDA_ERROR_CAPTURED_EVENT;
const NO_STATE: CUresult = CUresult::CUDA_ERROR_ILLEGAL_STATE;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const LEGACY: CUstream = null_mut();
const OWN: CUstream = std::ptr::without_provenance_mut(2);

static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> (MutexGuard<'static, ()>, Fixture) {
    (ALONE.lock(), Fixture::new())
}

fn begin(on: CUstream, mode: Mode) {
    ok!(cuStreamBeginCapture_v2(on, mode));
}

fn end(on: CUstream) -> CUgraph {
    let mut graph = null_mut();
    ok!(cuStreamEndCapture(on, &mut graph));
    assert!(!graph.is_null());
    graph
}

/// Has a stream wait for the work that another has now, by an event: in a capture sequence, it forks or joins.
fn wait(stream: CUstream, of: CUstream, event: CUevent) {
    ok!(cuEventRecord(event, of));
    ok!(cuStreamWaitEvent(stream, event, 0));
}

/// Ends a capture that is expected to return no graph.
fn refused(on: CUstream) -> CUresult {
    let mut graph = std::ptr::without_provenance_mut(8);
    let status = call!(cuStreamEndCapture(on, &mut graph));
    assert!(graph.is_null());
    status
}

fn state(of: CUstream) -> State {
    let mut state = State(9);
    ok!(cuStreamIsCapturing(of, &mut state));
    state
}

/// Launches a graph once and waits for it.
fn run(graph: CUgraph, on: CUstream) {
    let mut exec = null_mut();
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(cuGraphLaunch(exec, on));
    ok!(cuStreamSynchronize(on));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

fn nodes(of: CUgraph) -> Vec<CUgraphNode> {
    let mut count = 0;
    ok!(cuGraphGetNodes(of, null_mut(), &mut count));
    if count == 0 {
        return Vec::new();
    }
    let mut nodes = vec![null_mut(); count];
    ok!(cuGraphGetNodes(of, nodes.as_mut_ptr(), &mut count));
    nodes
}

fn kinds(of: CUgraph) -> Vec<u32> {
    let kind = |node: CUgraphNode| {
        let mut kind = CUgraphNodeType(99);
        ok!(cuGraphNodeGetType(node, &mut kind));
        kind.0
    };
    nodes(of).into_iter().map(kind).collect()
}

fn edges(of: CUgraph) -> usize {
    let mut count = 0;
    ok!(cuGraphGetEdges(of, null_mut(), null_mut(), &mut count));
    count
}

unsafe extern "C" fn count(word: *mut c_void) {
    unsafe { AtomicU32::from_ptr(word.cast()) }.fetch_add(1, Ordering::AcqRel);
}

#[test]
fn everything_that_a_stream_does_is_captured() {
    let (_alone, f) = alone();
    let stream = f.stream(1);
    let mut device = 0;
    ok!(cuMemAlloc_v2(&mut device, 256));
    let (mut host, mut back) = (vec![5u8; 64], vec![0u8; 64]);
    begin(stream, LOCAL);
    f.follow(1, stream);
    let mut function = null_mut();
    ok!(cuModuleGetFunction(&mut function, f.module, c"nothing".as_ptr()));
    ok!(cuLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, null_mut()));
    let config = CUlaunchConfig {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream,
        attrs: null_mut(),
        numAttrs: 0,
    };
    ok!(cuLaunchKernelEx(&config, function, null_mut(), null_mut()));
    ok!(cuMemcpyHtoDAsync_v2(device, host.as_ptr().cast(), 64, stream));
    ok!(cuMemcpyDtoDAsync_v2(device + 64, device, 64, stream));
    let plane = CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: device + 64,
        srcPitch: 16,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: device + 128,
        dstPitch: 32,
        WidthInBytes: 8,
        Height: 4,
        ..CUDA_MEMCPY2D::default()
    };
    ok!(cuMemcpy2DAsync_v2(&plane, stream));
    let solid = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: device + 128,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: back.as_mut_ptr().cast(),
        WidthInBytes: 8,
        Height: 2,
        Depth: 2,
        ..CUDA_MEMCPY3D::default()
    };
    ok!(cuMemsetD2D16Async(device + 136, 32, 0x707, 4, 1, stream));
    ok!(cuMemcpy3DAsync_v2(&solid, stream));
    ok!(cuLaunchHostFunc(stream, Some(count), f.at(2) as *mut c_void));
    ok!(cuStreamWriteValue32_v2(stream, f.at(4), 3, 0));
    ok!(cuStreamWaitValue32_v2(stream, f.at(4), 3, 0));
    let graph = end(stream);
    assert_eq!(kinds(graph), [0, 0, 0, 1, 1, 1, 2, 1, 3, 12, 12]);
    assert_eq!(edges(graph), 10, "a chain");
    assert_eq!((f.value(), back[0]), (0, 0), "nothing has run");
    // Memory is read and written when the graph runs.
    host.fill(6);
    run(graph, stream);
    assert_eq!((f.value(), f.word(2).load(Ordering::Acquire)), (1, 1));
    let row = |at: usize| back[at..at + 8].to_vec();
    assert_eq!([row(0), row(8)], [vec![6; 8], vec![7; 8]]);
    assert_eq!(state(stream), State::CU_STREAM_CAPTURE_STATUS_NONE);
    f.follow(2, stream);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(f.value(), 2, "the stream works again");
    ok!(cuMemFree_v2(device));
}

#[test]
fn streams_fork_and_join() {
    let (_alone, f) = alone();
    let (a, b, c) = (f.stream(1), f.stream(1), f.stream(0));
    let (fork, join) = (f.event(2), f.event(2));
    begin(a, LOCAL);
    f.follow(1, a);
    wait(b, a, fork);
    ok!(cuStreamWaitEvent(c, fork, 0));
    assert_eq!(state(b), State::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    f.hold(b);
    let (mut at, mut value) = (f.at(2), 1u32);
    f.launch(c"follow", &mut [(&raw mut at).cast(), (&raw mut value).cast()], c);
    wait(a, b, join);
    wait(a, c, join);
    f.follow(2, a);
    let graph = end(a);
    assert_eq!((nodes(graph).len(), edges(graph)), (4, 5), "{:?}", kinds(graph));
    assert_eq!(state(b), State::CU_STREAM_CAPTURE_STATUS_NONE, "all streams are free again");
    let mut exec = null_mut();
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(cuGraphLaunch(exec, c));
    while f.word(2).load(Ordering::Acquire) != 1 {
        std::thread::yield_now();
    }
    assert_eq!(f.value(), 1);
    f.open();
    ok!(cuStreamSynchronize(c));
    assert_eq!(f.value(), 2);
}

#[test]
fn a_fork_that_is_not_joined_gives_no_graph() {
    let (_alone, f) = alone();
    let (a, b) = (f.stream(1), f.stream(1));
    let event = f.event(2);
    for joined in [false, true] {
        begin(a, LOCAL);
        f.follow(1, a);
        wait(b, a, event);
        f.follow(2, b);
        if joined {
            // Joined, but it continues afterwards.
            wait(a, b, event);
            f.follow(3, b);
        }
        assert_eq!(refused(a), UNJOINED);
        assert_eq!(state(b), State::CU_STREAM_CAPTURE_STATUS_NONE);
    }
    // A stream that joined without capturing anything need not be joined back.
    begin(a, LOCAL);
    f.follow(1, a);
    wait(b, a, event);
    run(end(a), a);
    assert_eq!(f.value(), 1);
}

/// The work of a joined stream is in the graph; a stream that is not joined back invalidates the sequence.
#[test]
fn a_stream_may_be_destroyed_once_it_is_joined() {
    let (_alone, f) = alone();
    let (a, event) = (f.stream(1), f.event(2));
    for joined in [true, false] {
        let mut b = null_mut();
        ok!(cuStreamCreate(&mut b, 1));
        begin(a, LOCAL);
        f.follow(1, a);
        wait(b, a, event);
        f.follow(2, b);
        if joined {
            wait(a, b, event);
        }
        ok!(cuStreamDestroy_v2(b));
        if joined {
            f.follow(3, a);
            run(end(a), a);
            assert_eq!(f.value(), 3);
        } else {
            assert_eq!(refused(a), CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
    }
}

#[test]
fn sequences_begin_and_end_in_one_stream_and_thread() {
    let (_alone, f) = alone();
    let (a, b) = (f.stream(1), f.stream(1));
    let event = f.event(2);
    assert_eq!(call!(cuStreamBeginCapture_v2(LEGACY, LOCAL)), UNSUPPORTED);
    assert_eq!(call!(cuStreamBeginCapture_v2(a, Mode(3))), INVALID);
    assert_eq!(refused(a), NO_STATE, "it was not begun");
    begin(a, LOCAL);
    assert_eq!(call!(cuStreamBeginCapture_v2(a, LOCAL)), NO_STATE);
    let (addr, context) = (a.addr(), f.context.addr());
    let elsewhere = move || {
        ok!(cuCtxSetCurrent(std::ptr::without_provenance_mut(context)));
        let mut graph = null_mut();
        call!(cuStreamEndCapture(std::ptr::without_provenance_mut(addr), &mut graph))
    };
    assert_eq!(std::thread::spawn(elsewhere).join().unwrap(), WRONG_THREAD);
    wait(b, a, event);
    assert_eq!(refused(b), UNMATCHED);
    assert_eq!(state(a), State::CU_STREAM_CAPTURE_STATUS_INVALIDATED, "that ended in the wrong stream");
    assert_eq!(refused(a), INVALIDATED);
    begin(a, RELAXED);
    assert_eq!(std::thread::spawn(elsewhere).join().unwrap(), CUresult::CUDA_SUCCESS, "relaxed: any thread may");
    // The per-thread default stream can be captured, and a captured stream can be destroyed.
    ok!(cuStreamBeginCapture_v2_ptsz(LEGACY, LOCAL));
    assert_eq!(state(OWN), State::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    f.follow(1, OWN);
    let graph = end(OWN);
    run(graph, OWN);
    begin(b, GLOBAL);
    ok!(cuStreamDestroy_v2(b));
    let mut device = 0;
    ok!(cuMemAlloc_v2(&mut device, 4));
    ok!(cuMemFree_v2(device));
}

#[test]
fn calls_that_cannot_be_captured_make_a_sequence_invalid() {
    let (_alone, f) = alone();
    let stream = f.stream(1);
    let event = f.event(0);
    unsafe extern "C" fn told(_: CUstream, _: CUresult, _: *mut c_void) {}
    let conflicts: [(&str, &dyn Fn() -> CUresult); 5] = [
        ("query", &|| call!(cuStreamQuery(stream))),
        ("synchronize", &|| call!(cuStreamSynchronize(stream))),
        ("callback", &|| call!(cuStreamAddCallback(stream, Some(told), null_mut(), 0))),
        ("context", &|| call!(cuCtxSynchronize())),
        ("upload", &|| call!(cuGraphUpload(null_mut(), stream))),
    ];
    for (name, conflict) in conflicts {
        // Not even in the relaxed mode.
        begin(stream, RELAXED);
        assert_eq!(conflict(), UNSUPPORTED, "{name}");
        assert_eq!(state(stream), State::CU_STREAM_CAPTURE_STATUS_INVALIDATED, "{name}");
        let mut exec = null_mut();
        ok!(cuModuleGetFunction(&mut exec, f.module, c"nothing".as_ptr()));
        let status = call!(cuLaunchKernel(exec, 1, 1, 1, 1, 1, 1, 0, stream, null_mut(), null_mut()));
        assert_eq!(status, INVALIDATED, "{name}");
        assert_eq!(refused(stream), INVALIDATED, "{name}");
    }
    // The host cannot query an event that was recorded in a sequence, even after its end.
    for ended in [false, true] {
        begin(stream, RELAXED);
        ok!(cuEventRecord(event, stream));
        if ended {
            ok!(cuGraphDestroy(end(stream)));
        }
        assert_eq!(call!(cuEventQuery(event)), CAPTURED);
        assert_eq!(call!(cuEventSynchronize(event)), CAPTURED);
        assert_eq!(call!(cuEventElapsedTime_v2(&mut 0.0, event, event)), CAPTURED);
        if !ended {
            assert_eq!(refused(stream), INVALIDATED);
        }
    }
    assert_eq!(call!(cuStreamWaitEvent(stream, event, 0)), CAPTURED);
    ok!(cuEventRecord(event, stream));
    ok!(cuEventSynchronize(event));
}

#[test]
fn what_depends_on_its_time_is_refused_by_the_modes() {
    let (_alone, f) = alone();
    let stream = f.stream(1);
    let (idle, event) = (f.stream(1), f.event(0));
    let mut device = 0;
    ok!(cuMemAlloc_v2(&mut device, 64));
    let mut host = [0u32; 4];
    let mut spare = null_mut();
    ok!(cuMemHostAlloc(&mut spare, 16, 0));
    let host_at = host.as_mut_ptr().addr();
    let calls: [(&str, &dyn Fn() -> CUresult); 12] = [
        ("cuMemAlloc", &|| call!(cuMemAlloc_v2(&mut 0, 4))),
        ("cuMemAllocManaged", &|| call!(cuMemAllocManaged(&mut 0, 4, 1))),
        ("cuMemFree", &|| call!(cuMemFree_v2(0))),
        ("cuMemHostAlloc", &|| call!(cuMemHostAlloc(&mut null_mut(), 4, 0))),
        ("cuMemcpyDtoH", &|| call!(cuMemcpyDtoH_v2(host_at as *mut c_void, device, 16))),
        ("cuMemcpyHtoD", &|| call!(cuMemcpyHtoD_v2(device, host_at as *const c_void, 16))),
        ("cuCtxSynchronize", &|| call!(cuCtxSynchronize())),
        ("cuStreamSynchronize", &|| call!(cuStreamSynchronize(idle))),
        ("cuStreamQuery", &|| call!(cuStreamQuery(idle))),
        ("cuEventQuery", &|| call!(cuEventQuery(event))),
        ("cuEventSynchronize", &|| call!(cuEventSynchronize(event))),
        ("cuModuleLoadData", &|| call!(cuModuleLoadData(&mut null_mut(), c".version 7.8".as_ptr().cast()))),
    ];
    for (name, unsafe_call) in calls {
        for mode in [GLOBAL, LOCAL] {
            begin(stream, mode);
            assert_eq!(unsafe_call(), UNSUPPORTED, "{name}");
            assert_eq!(refused(stream), INVALIDATED, "{name}");
        }
    }
    let context = f.context.addr();
    let elsewhere = |mode: Mode| {
        let mut mode = mode;
        std::thread::scope(|scope| {
            let body = move || {
                ok!(cuCtxSetCurrent(std::ptr::without_provenance_mut(context)));
                ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
                assert_eq!(mode, GLOBAL, "the mode before");
                call!(cuMemFree_v2(0))
            };
            scope.spawn(body).join().unwrap()
        })
    };
    // A global sequence also forbids it to other threads, except relaxed ones; a local one does not.
    begin(stream, LOCAL);
    assert_eq!(elsewhere(GLOBAL), CUresult::CUDA_SUCCESS);
    ok!(cuGraphDestroy(end(stream)));
    begin(stream, GLOBAL);
    assert_eq!(elsewhere(LOCAL), CUresult::CUDA_SUCCESS);
    assert_eq!(elsewhere(RELAXED), CUresult::CUDA_SUCCESS);
    assert_eq!(elsewhere(GLOBAL), UNSUPPORTED);
    assert_eq!(refused(stream), INVALIDATED);
    // A relaxed sequence forbids nothing; and nothing is forbidden to a relaxed thread.
    begin(stream, RELAXED);
    ok!(cuMemFree_v2(0));
    ok!(cuGraphDestroy(end(stream)));
    let mut mode = RELAXED;
    ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
    begin(stream, GLOBAL);
    ok!(cuMemFree_v2(0));
    ok!(cuGraphDestroy(end(stream)));
    ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
    assert_eq!(mode, RELAXED);
    assert_eq!(call!(cuThreadExchangeStreamCaptureMode(&mut Mode(3))), INVALID);
    ok!(cuMemFreeHost(spare));
    ok!(cuMemFree_v2(device));
}

#[test]
fn the_legacy_stream_cannot_be_used_beside_a_captured_blocking_one() {
    let (_alone, f) = alone();
    let (blocking, free) = (f.stream(0), f.stream(1));
    begin(blocking, RELAXED);
    // Queries have no effect.
    let mut found = State(0);
    assert_eq!(call!(cuStreamIsCapturing(LEGACY, &mut found)), IMPLICIT);
    assert_eq!(call!(cuStreamGetCaptureInfo(LEGACY, &mut found, null_mut())), IMPLICIT);
    assert_eq!(state(blocking), State::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    let mut word = 0u32;
    assert_eq!(call!(cuMemcpyDtoH_v2((&raw mut word).cast(), f.at(1), 4)), IMPLICIT);
    assert_eq!(refused(blocking), INVALIDATED);
    begin(blocking, RELAXED);
    assert_eq!(call!(cuMemsetD32Async(f.at(1), 0, 1, LEGACY)), IMPLICIT);
    assert_eq!(refused(blocking), INVALIDATED);
    // The legacy stream does not wait for a non-blocking stream.
    begin(free, RELAXED);
    ok!(cuMemcpyDtoH_v2((&raw mut word).cast(), f.at(1), 4));
    let event = f.event(2);
    ok!(cuEventRecord(event, free));
    assert_eq!(call!(cuStreamWaitEvent(LEGACY, event, 0)), UNSUPPORTED, "it would be captured");
    assert_eq!(refused(free), INVALIDATED);
}

#[test]
fn sequences_keep_to_themselves() {
    let (_alone, f) = alone();
    let (a, b, outside) = (f.stream(1), f.stream(1), f.stream(1));
    let (event, external) = (f.event(2), f.event(2));
    // A wait for work outside of the capture.
    ok!(cuEventRecord(event, outside));
    begin(a, LOCAL);
    ok!(cuStreamWaitEvent(a, external, 0));
    assert_eq!(call!(cuStreamWaitEvent(a, event, 0)), ISOLATION);
    assert_eq!(refused(a), INVALIDATED);
    // Two sequences would be merged.
    begin(a, LOCAL);
    begin(b, LOCAL);
    ok!(cuEventRecord(event, a));
    assert_eq!(call!(cuStreamWaitEvent(b, event, 0)), MERGE);
    assert_eq!((refused(a), refused(b)), (INVALIDATED, INVALIDATED));
    // Nodes captured by a sequence that has ended.
    begin(a, LOCAL);
    ok!(cuEventRecord(event, a));
    ok!(cuGraphDestroy(end(a)));
    begin(b, LOCAL);
    assert_eq!(call!(cuStreamWaitEvent(b, event, 0)), ISOLATION);
    assert_eq!(refused(b), INVALIDATED);
    // As nodes, waits and records are allowed across sequences.
    begin(a, LOCAL);
    ok!(cuEventRecord(event, outside));
    ok!(cuStreamWaitEvent(a, event, 1));
    f.follow(1, a);
    ok!(cuEventRecordWithFlags(external, a, 1));
    let graph = end(a);
    assert_eq!(kinds(graph), [6, 0, 7]);
    f.hold(outside);
    ok!(cuEventRecord(event, outside));
    let mut exec = null_mut();
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(cuGraphLaunch(exec, a));
    assert_eq!(call!(cuEventQuery(external)), CUresult::CUDA_ERROR_NOT_READY);
    f.open();
    ok!(cuEventSynchronize(external));
    assert_eq!(f.value(), 1);
}

#[test]
fn a_capture_tells_what_it_is_at_and_can_be_turned() {
    let (_alone, f) = alone();
    let stream = f.stream(1);
    let (mut found, mut id, mut graph, mut at, mut count) = (State(9), 9, null_mut(), null(), 9);
    ok!(cuStreamGetCaptureInfo_v2(stream, &mut found, &mut id, &mut graph, &mut at, &mut count));
    assert_eq!((found, id, graph, count), (State::CU_STREAM_CAPTURE_STATUS_NONE, 0, null_mut(), 0));
    begin(stream, LOCAL);
    f.follow(1, stream);
    let mut edges = null();
    ok!(cuStreamGetCaptureInfo_v3(stream, &mut found, &mut id, &mut graph, &mut at, &mut edges, &mut count));
    assert_eq!((found, count), (State::CU_STREAM_CAPTURE_STATUS_ACTIVE, 1));
    assert!(id != 0);
    let first = unsafe { at.read() };
    assert_eq!(nodes(graph), [first]);
    assert_eq!(unsafe { edges.read() }, CUgraphEdgeData::default());
    // Meanwhile nodes may be added to the graph, but not removed, and it cannot be instantiated.
    let mut own = null_mut();
    ok!(cuGraphAddEmptyNode(&mut own, graph, &first, 1));
    assert_eq!(call!(cuGraphDestroy(graph)), INVALID);
    assert_eq!(call!(cuGraphDestroyNode(own)), INVALID);
    assert_eq!(call!(cuGraphInstantiateWithFlags(&mut null_mut(), graph, 0)), INVALID);
    ok!(cuStreamUpdateCaptureDependencies(stream, &mut own, 1, 0));
    f.follow(2, stream);
    let mut after = [null_mut(); 2];
    ok!(cuGraphNodeGetDependencies(*nodes(graph).last().unwrap(), after.as_mut_ptr(), &mut 2));
    assert_eq!(after, [first, own], "added");
    ok!(cuStreamUpdateCaptureDependencies(stream, &mut own, 1, 1));
    f.follow(3, stream);
    ok!(cuGraphNodeGetDependencies(*nodes(graph).last().unwrap(), after.as_mut_ptr(), &mut 2));
    assert_eq!(after, [own, null_mut()], "instead");
    let mut foreign: CUgraphNode = std::ptr::without_provenance_mut(8);
    assert_eq!(call!(cuStreamUpdateCaptureDependencies(stream, &mut foreign, 1, 1)), INVALID);
    // Replaced dependencies need not be joined.
    assert_eq!(end(stream), graph);
    assert_eq!(call!(cuStreamUpdateCaptureDependencies(stream, &mut own, 1, 0)), NO_STATE);
    // Into an existing graph, after one of its nodes.
    let last = nodes(graph)[2];
    ok!(cuStreamBeginCaptureToGraph(stream, graph, &last, null(), 1, LOCAL));
    f.follow(3, stream);
    let mut same = null_mut();
    assert_eq!(call!(cuStreamBeginCaptureToGraph(f.stream(1), graph, &last, null(), 1, LOCAL)), INVALID);
    ok!(cuStreamEndCapture(stream, &mut same));
    assert_eq!(same, graph);
    // Its client knows it, and may not ask for it.
    let count = nodes(graph).len();
    ok!(cuStreamBeginCaptureToGraph(stream, graph, null(), null(), 0, LOCAL));
    f.follow(3, stream);
    ok!(cuStreamEndCapture(stream, null_mut()));
    assert_eq!((state(stream), nodes(graph).len()), (State::CU_STREAM_CAPTURE_STATUS_NONE, count + 1));
    assert_eq!(call!(cuStreamEndCapture(stream, null_mut())), INVALID);
    begin(stream, LOCAL);
    assert_eq!(call!(cuStreamEndCapture(stream, null_mut())), INVALID);
    assert_eq!(state(stream), State::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ok!(cuGraphDestroy(end(stream)));
    ok!(cuGraphNodeGetDependencies(nodes(graph)[4], after.as_mut_ptr(), &mut 2));
    assert_eq!(after[0], last);
    ok!(cuGraphDestroy(graph));
}

#[test]
fn a_launch_of_a_graph_is_captured_as_its_child() {
    let (_alone, f) = alone();
    let stream = f.stream(1);
    begin(stream, LOCAL);
    f.follow(2, stream);
    let inner = end(stream);
    let mut exec = null_mut();
    ok!(cuGraphInstantiateWithFlags(&mut exec, inner, 0));
    begin(stream, LOCAL);
    f.follow(1, stream);
    ok!(cuGraphLaunch(exec, stream));
    f.follow(3, stream);
    let outer = end(stream);
    ok!(cuGraphExecDestroy(exec));
    assert_eq!(kinds(outer), [0, 4, 0]);
    run(outer, stream);
    assert_eq!(f.value(), 3);
}

#[test]
fn memory_is_allocated_and_freed_in_the_graph() {
    let (_alone, f) = alone();
    let stream = f.stream(1);
    let (mut inside, mut other) = (0, 0);
    ok!(cuMemAllocAsync(&mut other, 256, stream));
    begin(stream, LOCAL);
    ok!(cuMemAllocAsync(&mut inside, 64, stream));
    ok!(cuMemsetD32Async(inside, 9, 16, stream));
    ok!(cuMemcpyDtoDAsync_v2(f.at(1), inside, 4, stream));
    ok!(cuMemFreeAsync(inside, stream));
    assert_eq!(call!(cuMemFreeAsync(inside, stream)), INVALID, "a second time");
    assert_eq!(call!(cuMemFreeAsync(other, stream)), INVALID, "memory of no graph");
    let graph = end(stream);
    assert_eq!(kinds(graph), [10, 2, 1, 11]);
    let mut exec = null_mut();
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    for _ in 0..2 {
        f.word(1).store(0, Ordering::Release);
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(f.value(), 9);
    }
    assert_eq!(call!(cuMemFreeAsync(inside, stream)), INVALID, "it is the graph's");
    ok!(cuMemFreeAsync(other, stream));
    // After it was freed, it is inaccessible.
    ok!(cuMemsetD32Async(inside, 1, 16, stream));
    assert_eq!(call!(cuStreamSynchronize(stream)), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
}

#[test]
fn the_end_of_a_context_ends_its_captures() {
    let (_alone, f) = alone();
    let mut context = null_mut();
    ok!(cuCtxCreate_v2(&mut context, 0, 0));
    begin(f.stream(1), GLOBAL);
    ok!(cuCtxDestroy_v2(context));
    ok!(cuCtxSetCurrent(f.context));
    ok!(cuMemFree_v2(0));
}
