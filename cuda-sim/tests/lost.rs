//! The effect of a fault on the rest of its context: kernels in infinite loops stop, enqueued operations are dropped,
//! and once a call reports that the context is lost, nothing in it accesses memory any more. Other contexts and devices
//! continue.
//!
//! # Safety
//!
//! Every call passes pointers to live locals or memory that outlives the work, as CUDA's documentation asks. Memory that
//! kernels write meanwhile is read as volatile.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{function, in_child, primary};
use cuda_sys::*;
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Infinite loops, by their contents: each counts in the word of its thread first. `r1` is the thread, `rd1` its word,
/// `r2` the count.
const LOOPS: [(&str, &str); 8] = [
    ("nothing", "bra SPIN; SPIN: bra SPIN;"),
    ("stores", ""),
    ("barrier", "bar.sync 0;"),
    ("shuffle", "shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;"),
    ("poll", "WAIT: ld.volatile.global.u32 %r3, [%rd1+4096]; setp.eq.u32 %p, %r3, 0; @%p bra WAIT;"),
    ("atomic", "atom.global.add.u32 %r3, [%rd1+4096], 1;"),
    (
        "helper",
        "{ .param .b64 size; .param .b64 at; st.param.b64 [size], 64; call.uni (at), malloc, (size);
           ld.param.b64 %rd4, [at]; st.param.b64 [size], %rd4; call.uni free, (size); }",
    ),
    ("call", "call.uni step, ();"),
];

/// Returns the kernel with a loop.
fn forever(body: &str) -> CString {
    CString::new(format!(
        ".version 7.8\n.target sm_75\n.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 size);
.extern .func free(.param .b64 at);
.global .u32 counted;
.func step() {{ .reg .b32 %r<2>; .reg .b64 %rd<2>; mov.u64 %rd1, counted; atom.global.add.u32 %r1, [%rd1], 1; ret; }}
.visible .entry forever(.param .u64 p) {{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; mov.u32 %r2, 0;
LOOP: add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd1], %r2;
  {body}
  bra LOOP; }}
.visible .entry stop() {{ trap; }}
.visible .entry some() {{ .reg .b32 %r<2>; .reg .pred %p; mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p, %r1, 63; @%p trap; setp.ne.u32 %p, %r1, 0; @%p ret; HERE: bra HERE; }}
.visible .entry once(.param .u64 p) {{ .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], {WRITTEN}; ret; }}"
    ))
    .unwrap()
}

const FAILED: CUresult = CUresult::CUDA_ERROR_LAUNCH_FAILED;
/// The word that the kernel `once` writes; no loop counts so far.
const WRITTEN: u32 = 0x7700_0000;
/// Words of host memory that the kernels use: a page for counts, and the next one.
const WORDS: usize = 2048;

#[repr(C, align(4096))]
struct Words([u32; WORDS]);

/// A context of its own with two streams, and registered host memory.
struct Fixture {
    context: CUcontext,
    streams: [CUstream; 2],
    host: Box<Words>,
}

impl Fixture {
    fn new(device: CUdevice) -> Fixture {
        ok!(cuInit(0));
        let mut context = null_mut();
        ok!(cuCtxCreate_v2(&mut context, 0, device));
        Fixture::over(context)
    }

    fn over(context: CUcontext) -> Fixture {
        let mut streams = [null_mut(); 2];
        streams.iter_mut().for_each(|stream| ok!(cuStreamCreate(stream, 1)));
        let mut host = Box::new(Words([0; WORDS]));
        ok!(cuMemHostRegister_v2((&raw mut *host).cast(), size_of::<Words>(), 0));
        Fixture { context, streams, host }
    }

    fn at(&self) -> *mut c_void {
        (&raw const *self.host).cast_mut().cast()
    }

    fn word(&self, at: usize) -> u32 {
        unsafe { (&raw const self.host.0[at]).read_volatile() }
    }

    fn words(&self) -> Vec<u32> {
        (0..WORDS).map(|at| self.word(at)).collect()
    }

    fn launch(&self, f: CUfunction, blocks: u32, stream: usize) {
        let mut address = self.at() as u64;
        let mut params = [(&raw mut address).cast::<c_void>()];
        let stream = self.streams[stream];
        ok!(cuLaunchKernel(f, blocks, 1, 1, 32, 1, 1, 0, stream, params.as_mut_ptr(), null_mut()));
    }

    /// Waits until an infinite kernel has begun.
    fn wait_for_writes(&self) {
        while self.word(0) == 0 {
            std::thread::yield_now();
        }
    }

    /// Waits until the driver reports that a stream has failed.
    fn wait_for_fault(&self, stream: usize) {
        while call!(cuStreamQuery(self.streams[stream])) == CUresult::CUDA_ERROR_NOT_READY {
            std::thread::yield_now();
        }
    }

    /// Asserts that nobody writes to the memory. A kernel that still runs would count meanwhile.
    fn assert_at_rest(&self, what: &str) {
        let before = self.words();
        std::thread::sleep(Duration::from_millis(5));
        assert!(before == self.words(), "{what}: memory changes in a lost context");
    }
}

/// Returns the functions of a text that is loaded into the current context.
fn functions(text: &CStr) -> [CUfunction; 4] {
    [c"forever", c"stop", c"some", c"once"].map(|name| function(text, name))
}

/// Runs a test on both engines, each in a process of its own; returns true in the process.
fn on_both_engines(test: &str) -> bool {
    let run =
        |engine| in_child(test, &[("CUDA_SIM_ENGINE", engine), ("CUDA_SIM_THREADS", "4"), ("CUDA_SIM_DEVICES", "2")]);
    // A child stops at the first.
    run("regions") || run("fibers")
}

static CALLED: AtomicU32 = AtomicU32::new(0);
static STATUS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn called(_: *mut c_void) {
    CALLED.fetch_add(1, Ordering::SeqCst);
}

unsafe extern "C" fn told(_: CUstream, status: CUresult, _: *mut c_void) {
    STATUS.store(status.0, Ordering::SeqCst);
}

#[test]
fn kernels_without_end_stop_when_another_faults() {
    if !on_both_engines("kernels_without_end_stop_when_another_faults") {
        return;
    }
    for (name, body) in LOOPS {
        for blocks in [1, 40] {
            let f = Fixture::new(0);
            let [forever, stop, _, once] = functions(&forever(body));
            f.launch(forever, blocks, 0);
            // After the infinite kernel: none of it happens, except for the reporting of errors.
            ok!(cuLaunchHostFunc(f.streams[0], Some(called), null_mut()));
            f.launch(once, 1, 0);
            ok!(cuStreamAddCallback(f.streams[0], Some(told), null_mut(), 0));
            f.wait_for_writes();
            f.launch(stop, 1, 1);
            f.wait_for_fault(1);
            f.assert_at_rest(name);
            assert_eq!(call!(cuStreamSynchronize(f.streams[0])), FAILED, "{name}");
            assert_eq!((CALLED.load(Ordering::SeqCst), STATUS.swap(0, Ordering::SeqCst)), (0, FAILED.0), "{name}");
            assert_ne!(f.word(0), WRITTEN, "{name}");
            ok!(cuCtxDestroy_v2(f.context));
            f.assert_at_rest(name);
        }
    }
}

/// Each call in turn is the first one to report the fault.
#[test]
fn every_call_that_tells_of_a_fault_comes_after_the_last_write() {
    if !on_both_engines("every_call_that_tells_of_a_fault_comes_after_the_last_write") {
        return;
    }
    type Call = fn(&Fixture, CUevent, CUdeviceptr, *mut c_void) -> CUresult;
    let calls: [(&str, Call); 11] = [
        ("cuMemHostUnregister", |f, _, _, _| call!(cuMemHostUnregister(f.at()))),
        ("cuCtxSynchronize", |_, _, _, _| call!(cuCtxSynchronize())),
        ("cuStreamSynchronize", |f, _, _, _| call!(cuStreamSynchronize(f.streams[0]))),
        ("cuEventSynchronize", |_, event, _, _| call!(cuEventSynchronize(event))),
        ("cuEventQuery", |_, event, _, _| call!(cuEventQuery(event))),
        ("cuMemFree", |_, _, device, _| call!(cuMemFree_v2(device))),
        ("cuMemFreeHost", |_, _, _, pinned| call!(cuMemFreeHost(pinned))),
        ("cuMemcpyDtoH", |_, _, device, _| {
            call!(cuMemcpyDtoH_v2(std::ptr::from_mut(&mut [0_u8; 4]).cast(), device, 4))
        }),
        ("cuMemcpyHtoDAsync", |f, _, device, _| {
            call!(cuMemcpyHtoDAsync_v2(device, std::ptr::from_ref(&[0_u8; 4]).cast(), 4, f.streams[1]))
        }),
        ("cuMemAlloc", |_, _, _, _| call!(cuMemAlloc_v2(&mut 0, 4))),
        ("cuLaunchHostFunc", |f, _, _, _| call!(cuLaunchHostFunc(f.streams[1], Some(called), null_mut()))),
    ];
    for (name, first) in calls {
        let f = Fixture::new(0);
        let [forever, stop, ..] = functions(&forever(""));
        let (mut event, mut device, mut pinned) = (null_mut(), 0, null_mut());
        ok!(cuEventCreate(&mut event, 0));
        ok!(cuMemAlloc_v2(&mut device, 64));
        ok!(cuMemAllocHost_v2(&mut pinned, 64));
        f.launch(forever, 8, 0);
        f.wait_for_writes();
        f.launch(stop, 1, 1);
        // Refused if the fault was quicker.
        call!(cuEventRecord(event, f.streams[1]));
        // Blocking calls would wait for the kernel; the others are repeated until they report the fault.
        let result = loop {
            let result = first(&f, event, device, pinned);
            if ![CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_NOT_READY].contains(&result) {
                break result;
            }
        };
        assert_eq!(result, FAILED, "{name}");
        f.assert_at_rest(name);
        ok!(cuCtxDestroy_v2(f.context));
    }
}

#[test]
fn a_fault_ends_the_other_blocks_of_its_launch() {
    if !on_both_engines("a_fault_ends_the_other_blocks_of_its_launch") {
        return;
    }
    let f = Fixture::new(0);
    let [_, _, some, _] = functions(&forever(""));
    // The first block runs for ever, the last one traps; there are more threads than one worker runs alone.
    ok!(cuLaunchKernel(some, 64, 1, 1, 512, 1, 1, 0, f.streams[0], null_mut(), null_mut()));
    assert_eq!(call!(cuCtxSynchronize()), FAILED);
    ok!(cuCtxDestroy_v2(f.context));
}

#[test]
fn waits_for_values_and_loops_of_graphs_end_with_their_context() {
    if !on_both_engines("waits_for_values_and_loops_of_graphs_end_with_their_context") {
        return;
    }
    let f = Fixture::new(0);
    let [_, stop, _, once] = functions(&forever(""));
    let mut device = 0;
    ok!(cuMemAlloc_v2(&mut device, 64));
    ok!(cuMemsetD32_v2(device, 0, 16));
    ok!(cuStreamWaitValue32_v2(f.streams[0], device, 1, 1));
    f.launch(once, 1, 0);
    // A body that does not change its value: it runs for ever.
    let (mut graph, mut exec, mut node, mut number, mut stream) = (null_mut(), null_mut(), null_mut(), 0, null_mut());
    ok!(cuGraphCreate(&mut graph, 0));
    ok!(cuGraphConditionalHandleCreate(&mut number, graph, null_mut(), 1, 1));
    let mut params: CUgraphNodeParams = unsafe { std::mem::zeroed() };
    params.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.anon_1.conditional.handle = number;
    params.anon_1.conditional.type_ = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE;
    params.anon_1.conditional.size = 1;
    ok!(cuGraphAddNode_v2(&mut node, graph, null_mut(), null_mut(), 0, &mut params));
    let bodies = unsafe { params.anon_1.conditional.phGraph_out };
    let body = unsafe { bodies.read() };
    let fill = CUDA_MEMSET_NODE_PARAMS { dst: device + 32, pitch: 0, value: 1, elementSize: 4, width: 1, height: 1 };
    ok!(cuGraphAddMemsetNode(&mut node, body, null_mut(), 0, &fill, f.context));
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(cuStreamCreate(&mut stream, 1));
    ok!(cuGraphLaunch(exec, stream));
    f.launch(stop, 1, 1);
    assert_eq!(call!(cuCtxSynchronize()), FAILED);
    assert_ne!(f.word(0), WRITTEN);
    ok!(cuCtxDestroy_v2(f.context));
}

#[test]
fn other_contexts_and_devices_go_on() {
    if !on_both_engines("other_contexts_and_devices_go_on") {
        return;
    }
    let (near, far) = (Fixture::new(0), Fixture::new(1));
    for other in [&near, &far] {
        ok!(cuCtxSetCurrent(other.context));
        let [waits, ..] =
            functions(&forever("ld.volatile.global.u32 %r3, [%rd1+4096]; setp.ne.u32 %p, %r3, 0; @%p ret;"));
        other.launch(waits, 1, 0);
        other.wait_for_writes();
    }
    let lost = Fixture::new(0);
    let [forever, stop, ..] = functions(&forever(""));
    lost.launch(forever, 4, 0);
    lost.wait_for_writes();
    lost.launch(stop, 1, 1);
    assert_eq!(call!(cuCtxSynchronize()), FAILED);
    for other in [&near, &far] {
        ok!(cuCtxSetCurrent(other.context));
        let before = other.word(0);
        while other.word(0) == before {
            std::thread::yield_now();
        }
        assert_eq!(call!(cuStreamQuery(other.streams[0])), CUresult::CUDA_ERROR_NOT_READY);
        for thread in 0..32 {
            unsafe { (&raw const other.host.0[1024 + thread]).cast_mut().write_volatile(1) };
        }
        ok!(cuCtxSynchronize());
        ok!(cuMemHostUnregister(other.at()));
    }
}

/// A reset makes a primary context usable again; nothing from before is left.
#[test]
fn a_lost_primary_context_begins_anew_when_it_is_reset_or_released() {
    if !on_both_engines("a_lost_primary_context_begins_anew_when_it_is_reset_or_released") {
        return;
    }
    for released in [false, true] {
        let f = Fixture::over(primary(0));
        let [forever, stop, ..] = functions(&forever(""));
        let mut old = 0;
        ok!(cuMemAlloc_v2(&mut old, 64));
        f.launch(forever, 4, 0);
        f.wait_for_writes();
        f.launch(stop, 1, 1);
        f.wait_for_fault(1);
        if released {
            ok!(cuDevicePrimaryCtxRelease_v2(0));
            assert_eq!(call!(cuCtxSynchronize()), CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
            primary(0);
        } else {
            ok!(cuDevicePrimaryCtxReset_v2(0));
        }
        f.assert_at_rest("after the reset");
        ok!(cuCtxSynchronize());
        assert_eq!(call!(cuStreamSynchronize(f.streams[0])), CUresult::CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(call!(cuMemFree_v2(old)), CUresult::CUDA_ERROR_INVALID_VALUE);
        assert_eq!(call!(cuMemHostUnregister(f.at())), CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        let again = Fixture::over(f.context);
        let once = function(&crate::forever(""), c"once");
        again.launch(once, 1, 0);
        ok!(cuCtxSynchronize());
        assert_eq!(again.word(0), WRITTEN);
        ok!(cuMemHostUnregister(again.at()));
        ok!(cuDevicePrimaryCtxRelease_v2(0));
    }
}

/// Many streams, threads and faults: every waiter returns, and memory is no longer accessed when it does.
#[test]
fn threads_that_wait_for_a_lost_context_all_return() {
    if !on_both_engines("threads_that_wait_for_a_lost_context_all_return") {
        return;
    }
    for round in 0..20 {
        let f = Fixture::new(0);
        let [forever, stop, some, _] = functions(&forever(if round % 2 == 0 { "" } else { "bar.sync 0;" }));
        f.launch(forever, 1 + round % 5, 0);
        f.wait_for_writes();
        // Raw pointers cannot be sent to other threads.
        let (context, streams) = (f.context.addr(), f.streams.map(|stream| stream.addr()));
        std::thread::scope(|scope| {
            for waiter in 0..4 {
                scope.spawn(move || {
                    ok!(cuCtxSetCurrent(std::ptr::without_provenance_mut(context)));
                    let stream = std::ptr::without_provenance_mut(streams[waiter % 2]);
                    let result =
                        if waiter < 2 { call!(cuStreamSynchronize(stream)) } else { call!(cuCtxSynchronize()) };
                    assert!(waiter == 1 || result == FAILED, "{waiter}: {result:?}");
                });
            }
            let failing = if round % 3 == 0 { some } else { stop };
            ok!(cuLaunchKernel(failing, 64, 1, 1, 512, 1, 1, 0, f.streams[1], null_mut(), null_mut()));
        });
        assert_eq!(call!(cuMemHostUnregister(f.at())), FAILED);
        f.assert_at_rest("in threads");
        ok!(cuCtxDestroy_v2(f.context));
    }
}
