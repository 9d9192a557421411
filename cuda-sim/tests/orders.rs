//! Races and frees of whole operations: each case with what orders two streams, and without it. A case is a child process, with
//! all checkers, in both engines.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{CHILD, child, function, primary};
use cuda_sys::*;
use serde_json::Value;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// `put`: each thread writes its word. `get`: reads the first word and writes one 2048 bytes further. `count`: adds to the first word.
const KERNELS: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.visible .entry put(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  .loc 1 11 3
  st.global.u32 [%rd3], %r1; ret; }
.visible .entry get(.param .u64 p) { .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p]; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra D;
  .loc 1 21 3
  ld.global.u32 %r1, [%rd1];
  .loc 1 22 3
  st.global.u32 [%rd1+2048], %r1;
D: ret; }
.visible .entry count(.param .u64 p) { .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  .loc 1 31 3
  red.global.add.u32 [%rd1], 1; ret; }
.file 1 \"kernels.cu\"";

const BYTES: usize = 4096;
const THREADS: u32 = 64;
/// Bytes that `put` writes.
const WRITTEN: usize = 4 * THREADS as usize;

struct Case {
    a: CUstream,
    b: CUstream,
    at: CUdeviceptr,
}

impl Case {
    fn new(flags: u32) -> Case {
        primary(0);
        let (mut a, mut b, mut at) = (null_mut(), null_mut(), 0);
        ok!(cuStreamCreate(&mut a, flags));
        ok!(cuStreamCreate(&mut b, flags));
        ok!(cuMemAlloc_v2(&mut at, BYTES));
        ok!(cuMemsetD32_v2(at, 0, BYTES / 4));
        ok!(cuCtxSynchronize());
        Case { a, b, at }
    }

    fn launch(&self, name: &CStr, at: CUdeviceptr, on: CUstream) {
        let f = function(KERNELS, name);
        let mut at = at;
        let mut params: [*mut c_void; 1] = [(&raw mut at).cast()];
        ok!(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, on, params.as_mut_ptr(), null_mut()));
    }

    fn record(on: CUstream) -> CUevent {
        let mut event = null_mut();
        ok!(cuEventCreate(&mut event, 2));
        ok!(cuEventRecord(event, on));
        event
    }

    /// Orders what `after` gets from now on after what `before` has.
    fn order(before: CUstream, after: CUstream) {
        ok!(cuStreamWaitEvent(after, Case::record(before), 0));
    }

    fn end(self) {
        ok!(cuCtxSynchronize());
        ok!(cuMemFree_v2(self.at));
    }

    /// Returns memory of a pool, which both streams may access.
    fn pooled(&self) -> CUdeviceptr {
        let mut pooled = 0;
        ok!(cuMemAllocAsync(&mut pooled, BYTES, self.a));
        ok!(cuMemsetD32Async(pooled, 0, BYTES / 4, self.a));
        ok!(cuStreamSynchronize(self.a));
        pooled
    }
}

static TOLD: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn tell(_: *mut c_void) {
    TOLD.store(true, Ordering::Release);
}

/// A case's name, the checker that finds its mistake, and the case, without the mistake or with it.
type Row = (&'static str, &'static str, fn(bool));

const NON_BLOCKING: u32 = 1;

const CASES: &[Row] = &[
    ("a kernel reads what another one writes", "race", |faulty| {
        let case = Case::new(NON_BLOCKING);
        case.launch(c"put", case.at, case.a);
        if !faulty {
            Case::order(case.a, case.b);
        }
        case.launch(c"get", case.at, case.b);
        case.end();
    }),
    ("a kernel writes what another one reads", "race", |faulty| {
        let case = Case::new(NON_BLOCKING);
        case.launch(c"get", case.at, case.a);
        if !faulty {
            ok!(cuStreamSynchronize(case.a));
        }
        case.launch(c"put", case.at, case.b);
        case.end();
    }),
    ("the event is recorded too early", "race", |faulty| {
        let case = Case::new(NON_BLOCKING);
        let early = Case::record(case.a);
        case.launch(c"put", case.at, case.a);
        let late = Case::record(case.a);
        ok!(cuStreamWaitEvent(case.b, if faulty { early } else { late }, 0));
        case.launch(c"get", case.at, case.b);
        case.end();
    }),
    ("an order by way of a third stream", "race", |faulty| {
        let (case, mut third) = (Case::new(NON_BLOCKING), null_mut());
        ok!(cuStreamCreate(&mut third, NON_BLOCKING));
        case.launch(c"put", case.at, case.a);
        Case::order(case.a, third);
        if !faulty {
            Case::order(third, case.b);
        }
        case.launch(c"get", case.at, case.b);
        case.end();
    }),
    ("one array, bytes that are apart or not", "race", |faulty| {
        let case = Case::new(NON_BLOCKING);
        case.launch(c"put", case.at, case.a);
        let apart = if faulty { WRITTEN - 4 } else { WRITTEN };
        case.launch(c"put", case.at + apart as u64, case.b);
        case.end();
    }),
    ("a copy to the host on another stream", "race", |faulty| {
        let (case, mut host) = (Case::new(NON_BLOCKING), [0_u32; 64]);
        case.launch(c"put", case.at, case.a);
        if !faulty {
            Case::order(case.a, case.b);
        }
        ok!(cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), case.at, WRITTEN, case.b));
        case.end();
    }),
    ("a copy from the host on another stream", "race", |faulty| {
        let (case, host) = (Case::new(NON_BLOCKING), [0_u32; 64]);
        case.launch(c"put", case.at, case.a);
        if !faulty {
            ok!(cuStreamSynchronize(case.a));
        }
        ok!(cuMemcpyHtoDAsync_v2(case.at, host.as_ptr().cast(), WRITTEN, case.b));
        case.end();
    }),
    ("a copy of the default stream, which waits for blocking streams", "race", |faulty| {
        let (case, mut host) = (Case::new(if faulty { NON_BLOCKING } else { 0 }), [0_u32; 64]);
        case.launch(c"put", case.at, case.a);
        ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), case.at, WRITTEN));
        case.end();
    }),
    ("the default stream waits for a blocking stream that is gone", "race", |faulty| {
        let (case, mut gone) = (Case::new(NON_BLOCKING), null_mut());
        ok!(cuStreamCreate(&mut gone, u32::from(faulty)));
        case.launch(c"put", case.at, gone);
        ok!(cuStreamDestroy_v2(gone));
        case.launch(c"get", case.at, null_mut());
        case.end();
    }),
    ("a copy within the device", "race", |faulty| {
        let case = Case::new(NON_BLOCKING);
        case.launch(c"put", case.at, case.a);
        if !faulty {
            Case::order(case.a, case.b);
        }
        ok!(cuMemcpyDtoDAsync_v2(case.at + 2048, case.at, WRITTEN, case.b));
        case.end();
    }),
    ("a fill", "race", |faulty| {
        let case = Case::new(NON_BLOCKING);
        ok!(cuMemsetD32Async(case.at, 1, BYTES / 4, case.a));
        if !faulty {
            Case::order(case.a, case.b);
        }
        case.launch(c"get", case.at, case.b);
        case.end();
    }),
    ("atomic operations of two kernels, and a plain read", "race", |faulty| {
        let case = Case::new(NON_BLOCKING);
        case.launch(c"count", case.at, case.a);
        case.launch(c"count", case.at, case.b);
        if faulty {
            case.launch(c"get", case.at, case.b);
        }
        case.end();
    }),
    ("a query that says that all is done", "race", |faulty| {
        let case = Case::new(NON_BLOCKING);
        case.launch(c"put", case.at, case.a);
        while !faulty && call!(cuStreamQuery(case.a)) != CUresult::CUDA_SUCCESS {
            std::thread::yield_now();
        }
        case.launch(c"get", case.at, case.b);
        case.end();
    }),
    ("a query of an event", "race", |faulty| {
        let case = Case::new(NON_BLOCKING);
        case.launch(c"put", case.at, case.a);
        let event = Case::record(case.a);
        while !faulty && call!(cuEventQuery(event)) != CUresult::CUDA_SUCCESS {
            std::thread::yield_now();
        }
        case.launch(c"get", case.at, case.b);
        case.end();
    }),
    ("a host function tells a thread", "race", |faulty| {
        let case = Case::new(NON_BLOCKING);
        if faulty {
            ok!(cuLaunchHostFunc(case.a, Some(tell), null_mut()));
        }
        case.launch(c"put", case.at, case.a);
        if !faulty {
            ok!(cuLaunchHostFunc(case.a, Some(tell), null_mut()));
        }
        while !TOLD.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        case.launch(c"get", case.at, case.b);
        case.end();
    }),
    ("a wait for a value in memory", "race", |faulty| {
        let (case, mut flag) = (Case::new(NON_BLOCKING), 0);
        ok!(cuMemAlloc_v2(&mut flag, 4));
        ok!(cuMemsetD32_v2(flag, 0, 1));
        ok!(cuCtxSynchronize());
        case.launch(c"put", case.at, case.a);
        ok!(cuStreamWriteValue32_v2(case.a, flag, 1, 0));
        if !faulty {
            ok!(cuStreamWaitValue32_v2(case.b, flag, 1, 0));
        }
        case.launch(c"get", case.at, case.b);
        ok!(cuCtxSynchronize());
        ok!(cuMemFree_v2(flag));
        case.end();
    }),
    ("a captured graph", "race", |faulty| {
        let (case, mut graph, mut exec) = (Case::new(NON_BLOCKING), null_mut(), null_mut());
        ok!(cuStreamBeginCapture_v2(case.a, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED));
        Case::order(case.a, case.b);
        case.launch(c"put", case.at, case.a);
        if !faulty {
            Case::order(case.a, case.b);
        }
        case.launch(c"get", case.at, case.b);
        Case::order(case.b, case.a);
        ok!(cuStreamEndCapture(case.a, &mut graph));
        ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        ok!(cuGraphLaunch(exec, case.a));
        ok!(cuGraphLaunch(exec, case.a));
        case.launch(c"get", case.at, case.a);
        case.end();
    }),
    ("a free before a use on another stream", "memory", |faulty| {
        let case = Case::new(NON_BLOCKING);
        let pooled = case.pooled();
        if faulty {
            ok!(cuMemFreeAsync(pooled, case.a));
            ok!(cuStreamSynchronize(case.a));
        }
        case.launch(c"get", pooled, case.b);
        if !faulty {
            Case::order(case.b, case.a);
            ok!(cuMemFreeAsync(pooled, case.a));
        }
        let _ = call!(cuCtxSynchronize());
        if !faulty {
            case.end();
        }
    }),
    ("a free that does not wait for a use on another stream", "memory", |faulty| {
        let case = Case::new(NON_BLOCKING);
        let pooled = case.pooled();
        case.launch(c"get", pooled, case.b);
        if !faulty {
            Case::order(case.b, case.a);
        } else {
            // The use is over, which is luck.
            let event = Case::record(case.b);
            std::thread::sleep(std::time::Duration::from_millis(300));
            assert!(!event.is_null());
        }
        ok!(cuMemFreeAsync(pooled, case.a));
        let _ = call!(cuCtxSynchronize());
        if !faulty {
            case.end();
        }
    }),
    ("memory that is used again after its free", "memory", |faulty| {
        let case = Case::new(NON_BLOCKING);
        let (pooled, mut again) = (case.pooled(), 0);
        ok!(cuMemFreeAsync(pooled, case.a));
        ok!(cuMemAllocAsync(&mut again, BYTES, case.a));
        assert_eq!(again, pooled);
        // The same bytes, in a stream that nothing orders after the free and the allocation.
        if !faulty {
            Case::order(case.a, case.b);
        }
        case.launch(c"put", again, case.b);
        Case::order(case.b, case.a);
        ok!(cuMemFreeAsync(again, case.a));
        case.end();
    }),
];

const VARIABLE: &str = "ORDERS_CASE";

/// Runs a case in a child. Returns its reports and its standard error.
fn reports(test: &str, at: usize, faulty: bool, engine: &str) -> (Vec<Value>, String) {
    let folder = std::env::temp_dir().join(format!("cuda-sim-orders-{}-{at}-{faulty}-{engine}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("reports.json");
    let mut command = child(test);
    command.env("CUDA_SIM_CHECK", "all").env("CUDA_SIM_ENGINE", engine).env("CUDA_SIM_REPORT", &file);
    let output = command.env(VARIABLE, format!("{at} {faulty}")).output().unwrap();
    let text = std::fs::read_to_string(&file).unwrap_or_else(|_| "[]".to_owned());
    std::fs::remove_dir_all(&folder).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}: {}: {errors}", CASES[at].0, output.status);
    (serde_json::from_str(&text).unwrap(), errors)
}

#[test]
fn operations_that_nothing_orders_are_found_and_others_are_not() {
    const TEST: &str = "operations_that_nothing_orders_are_found_and_others_are_not";
    if std::env::var_os(CHILD).is_some() {
        let case = std::env::var(VARIABLE).unwrap();
        let (at, faulty) = case.split_once(' ').unwrap();
        CASES[at.parse::<usize>().unwrap()].2(faulty == "true");
        return;
    }
    for (at, (name, checker, _)) in CASES.iter().enumerate() {
        // Streams, not code, decide: the second engine runs some of the cases.
        for engine in if at % 4 == 0 { &["regions", "fibers"][..] } else { &["regions"] } {
            let (right, errors) = reports(TEST, at, false, engine);
            let wrong: Vec<_> = right.iter().filter(|report| report["check"] != "leak").collect();
            assert!(wrong.is_empty(), "{name} ({engine}), which is correct: {errors}");
            let (found, errors) = reports(TEST, at, true, engine);
            let found: Vec<_> = found.iter().filter(|report| report["check"] != "leak").collect();
            assert!(!found.is_empty(), "{name} ({engine}) has no report: {errors}");
            assert!(found.iter().all(|report| report["check"] == *checker), "{name} ({engine}): {errors}");
        }
    }
}
