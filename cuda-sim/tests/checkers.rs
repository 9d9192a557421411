//! The checkers through the driver's functions: the environment, reports in JSON, exit codes, suppressions, frees, leaks
//! and copies; each case in a child process.
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
use std::sync::atomic::{AtomicU64, Ordering};

/// `race`: all threads write one word. `beyond`: writes behind its memory. `read`: reads its memory. `heap`:
/// allocates two blocks of the device's heap and frees one. Each has a source.
/// `wait` waits until `set` has written another value than 0. `place`: each block notes its number at the place at which it
/// began, and writes one word if that is not its number.
const KERNELS: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p);
.visible .entry race(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;
  .loc 1 17 3
  st.global.u32 [%rd1], %r1; ret; }
.visible .entry beyond(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  .loc 1 23 5
  st.global.u8 [%rd1+400], 1; ret; }
.visible .entry heap(.param .u64 p) { .reg .b64 %rd<3>;
  .loc 1 41 5
  { .param .b64 n; .param .b64 r; st.param.b64 [n], 24; call.uni (r), malloc, (n); ld.param.b64 %rd1, [r]; }
  { .param .b64 q; st.param.b64 [q], %rd1; call.uni free, (q); }
  .loc 1 43 5
  { .param .b64 n; .param .b64 r; st.param.b64 [n], 40; call.uni (r), malloc, (n); ld.param.b64 %rd2, [r]; }
  ret; }
.visible .entry read(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  .loc 1 31 5
  ld.global.u32 %r1, [%rd1+8]; st.global.u32 [%rd1], %r1; ret; }
.visible .entry wait(.param .u64 p) { .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<3>; .shared .align 4 .b8 tile[8];
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.lo.u32 %r1, %r1, 4; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;
  st.shared.u32 [%r1], 5;
L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;
  ld.shared.u32 %r2, [%r1]; st.volatile.global.u32 [%rd1+4], %r2; ret; }
.visible .entry set(.param .u64 p) { .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p]; st.volatile.global.u32 [%rd1], 1; ret; }
.visible .entry place(.param .u64 p) { .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p]; mov.u32 %r2, %ctaid.x;
  atom.global.add.u32 %r1, [%rd1], 1; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2+8], %r2;
  setp.eq.u32 %p1, %r1, %r2; @%p1 ret;
  st.global.u32 [%rd1+4], %r2; ret; }
.file 1 \"kernels.cu\"";

const BYTES: usize = 400;

fn allocate() -> CUdeviceptr {
    let mut at = 0;
    ok!(cuMemAlloc_v2(&mut at, BYTES));
    at
}

/// Launches a kernel with two threads, and returns the code of the wait.
fn launch(name: &CStr, at: CUdeviceptr) -> CUresult {
    launch_with(name, at, 1, 2)
}

fn launch_with(name: &CStr, at: CUdeviceptr, blocks: u32, threads: u32) -> CUresult {
    let f = function(KERNELS, name);
    let mut at = at;
    let mut params: [*mut c_void; 1] = [(&raw mut at).cast()];
    ok!(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
    call!(cuCtxSynchronize())
}

/// The end of a child: its exit code and its output.
struct Ended {
    code: Option<i32>,
    errors: String,
    /// The JSON of its reports.
    reports: Vec<Value>,
}

/// In the child itself returns `None`; in the test runs the child with checkers, and returns its end.
fn ended(test: &str, environment: &[(&str, &str)]) -> Option<Ended> {
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let folder = std::env::temp_dir().join(format!("cuda-sim-checkers-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("reports.json");
    let output = child(test).env("CUDA_SIM_REPORT", &file).envs(environment.iter().copied()).output().unwrap();
    let reports = std::fs::read_to_string(&file).unwrap_or_else(|_| "[]".to_owned());
    std::fs::remove_dir_all(&folder).unwrap();
    let reports = serde_json::from_str(&reports).unwrap_or_else(|error| panic!("{error}: {reports}"));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(Ended { code: output.status.code(), errors, reports })
}

#[test]
fn a_race_is_reported_with_its_source_and_ends_nothing() {
    let Some(Ended { code, errors, reports }) =
        ended("a_race_is_reported_with_its_source_and_ends_nothing", &[("CUDA_SIM_CHECK", "race")])
    else {
        primary(0);
        assert_eq!(launch(c"race", allocate()), CUresult::CUDA_SUCCESS);
        return;
    };
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        errors.contains("cuda-sim: race: race of two writes in `race`: offset 0 of allocation 1 (400 bytes"),
        "{errors}"
    );
    assert!(errors.contains("kernels.cu:17 (PTX line "), "{errors}");
    let [report] = reports.as_slice() else { panic!("{reports:?}") };
    assert_eq!((report["check"].as_str(), report["kernel"].as_str()), (Some("race"), Some("race")));
    assert_eq!(report["accesses"][0]["source"], "kernels.cu:17");
    assert_eq!((&report["accesses"][0]["thread"][0], &report["accesses"][1]["thread"][0]), (&1.into(), &0.into()));
    assert_eq!((&report["accesses"][0]["value"], &report["accesses"][1]["value"]), (&1.into(), &0.into()));
}

#[test]
fn a_report_is_an_exit_code() {
    let environment = [("CUDA_SIM_CHECK", "all"), ("CUDA_SIM_CHECK_RESULT", "77")];
    let Some(Ended { code, errors, reports }) = ended("a_report_is_an_exit_code", &environment) else {
        primary(0);
        let at = allocate();
        assert_eq!(launch(c"race", at), CUresult::CUDA_SUCCESS);
        ok!(cuMemFree_v2(at));
        return;
    };
    assert_eq!((code, reports.len()), (Some(77), 1), "{errors}");
}

#[test]
fn a_report_is_an_error() {
    let environment = [("CUDA_SIM_CHECK", "race"), ("CUDA_SIM_CHECK_RESULT", "error")];
    let Some(Ended { code, errors, .. }) = ended("a_report_is_an_error", &environment) else {
        primary(0);
        assert_eq!(launch(c"race", allocate()), CUresult::CUDA_ERROR_LAUNCH_FAILED);
        return;
    };
    assert_eq!(code, Some(0), "{errors}");
}

#[test]
fn a_suppressed_report_is_not_made() {
    let rules = std::env::temp_dir().join(format!("cuda-sim-suppressions-{}", std::process::id()));
    let environment = [
        ("CUDA_SIM_CHECK", "race"),
        ("CUDA_SIM_CHECK_RESULT", "77"),
        ("CUDA_SIM_SUPPRESSIONS", rules.to_str().unwrap()),
    ];
    for (rule, expected) in [("race r* *.cu:17 # known\n", 0), ("race * *.cu:18", 77), ("memory *", 77), ("* race", 0)]
    {
        if std::env::var_os(CHILD).is_none() {
            std::fs::write(&rules, rule).unwrap();
        }
        let Some(Ended { code, errors, .. }) = ended("a_suppressed_report_is_not_made", &environment) else {
            primary(0);
            assert_eq!(launch(c"race", allocate()), CUresult::CUDA_SUCCESS);
            return;
        };
        assert_eq!(code, Some(expected), "{rule}: {errors}");
    }
    std::fs::remove_file(&rules).unwrap();
}

/// Its name is in a backtrace without debug information too, since it is not inlined and does not end with the call.
#[inline(never)]
fn leaves_memory() {
    std::hint::black_box(allocate());
}

#[test]
fn leaks_are_suppressed_by_the_name_of_a_caller() {
    const TEST: &str = "leaks_are_suppressed_by_the_name_of_a_caller";
    let rules = std::env::temp_dir().join(format!("cuda-sim-leaks-{}", std::process::id()));
    let environment = [("CUDA_SIM_CHECK", "leak"), ("CUDA_SIM_SUPPRESSIONS", rules.to_str().unwrap())];
    for (rule, expected) in [("leak *::leaves_memory", 0), ("leak *::another_*", 1), ("race *", 1), ("leak *", 0)] {
        if std::env::var_os(CHILD).is_none() {
            std::fs::write(&rules, rule).unwrap();
        }
        let Some(Ended { errors, reports, .. }) = ended(TEST, &environment) else {
            primary(0);
            leaves_memory();
            return;
        };
        assert_eq!(reports.len(), expected, "{rule}: {errors}");
    }
    std::fs::remove_file(&rules).unwrap();
}

#[test]
fn a_byte_out_of_bounds_ends_the_launch() {
    for engine in ["regions", "fibers"] {
        let environment = [("CUDA_SIM_CHECK", "memory"), ("CUDA_SIM_ENGINE", engine)];
        let Some(Ended { code, errors, reports }) = ended("a_byte_out_of_bounds_ends_the_launch", &environment) else {
            primary(0);
            assert_eq!(launch(c"beyond", allocate()), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
            return;
        };
        assert_eq!(code, Some(0), "{errors}");
        let [report] = reports.as_slice() else { panic!("{reports:?}") };
        assert_eq!(
            (report["kind"].as_str(), report["accesses"][0]["source"].as_str()),
            (Some("out of bounds"), Some("kernels.cu:23"))
        );
        let array = report["array"].as_str().unwrap();
        assert_eq!(array, "offset 400, 0 bytes past the end of allocation 1 (400 bytes, made by cuMemAlloc_v2)");
    }
}

#[test]
fn uninitialised_bytes_follow_copies() {
    let Some(Ended { code, errors, reports }) =
        ended("uninitialised_bytes_follow_copies", &[("CUDA_SIM_CHECK", "init")])
    else {
        primary(0);
        let (from, to) = (allocate(), allocate());
        let mut host = [0u32; BYTES / 4];
        ok!(cuMemcpyHtoD_v2(from, host.as_ptr().cast(), 8));
        ok!(cuMemcpyDtoD_v2(to, from, 12));
        ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), to, 8));
        // Line 31 reads the bytes 8 to 11, which nobody wrote.
        assert_eq!(launch(c"read", to), CUresult::CUDA_SUCCESS);
        ok!(cuMemsetD32_v2(from, 1, BYTES / 4));
        ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), from, BYTES));
        assert_eq!(launch(c"read", from), CUresult::CUDA_SUCCESS);
        ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), to, 16));
        return;
    };
    assert_eq!(code, Some(0), "{errors}");
    let [read, copy] = reports.as_slice() else { panic!("{reports:?}") };
    assert_eq!(read["accesses"][0]["source"], "kernels.cu:31");
    assert_eq!(copy["kind"], "copy of uninitialised memory to the host");
    // The read has made a note of its four bytes; the other four are left.
    assert!(copy["note"].as_str().unwrap().starts_with("nobody wrote 4 of the 16 bytes"), "{copy}");
}

#[test]
fn frees_and_leaks_are_reported() {
    let Some(Ended { code, errors, reports }) =
        ended("frees_and_leaks_are_reported", &[("CUDA_SIM_CHECK", "memory,leak")])
    else {
        primary(0);
        let (kept, freed) = (allocate(), allocate());
        ok!(cuMemFree_v2(freed));
        assert_eq!(call!(cuMemFree_v2(freed)), CUresult::CUDA_ERROR_INVALID_VALUE);
        assert_eq!(call!(cuMemFree_v2(kept + 8)), CUresult::CUDA_ERROR_INVALID_VALUE);
        return;
    };
    assert_eq!(code, Some(0), "{errors}");
    let kinds: Vec<&str> = reports.iter().filter_map(|report| report["kind"].as_str()).collect();
    assert_eq!(kinds, ["double free", "free of an address that is no allocation's start", "leaked memory"], "{errors}");
    assert!(reports[0]["array"].as_str().unwrap().contains("allocation 2 (400 bytes"), "{errors}");
    assert!(reports[2]["array"].as_str().unwrap().contains("allocation 1 (400 bytes"), "{errors}");
    assert!(reports[2]["note"].as_str().unwrap().contains("allocate"), "{errors}");
}

/// Calls the software device's `cuSimIgnoreLeak`, which clients find by its name.
fn ignore_leak(address: CUdeviceptr) -> CUresult {
    let (mut found, mut status) = (null_mut(), CUdriverProcAddressQueryResult::default());
    ok!(cuGetProcAddress_v2(c"cuSimIgnoreLeak".as_ptr(), &mut found, 13000, 0, &mut status));
    assert_eq!(status, CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS);
    let ignore: extern "C" fn(CUdeviceptr) -> CUresult = unsafe { std::mem::transmute(found) };
    ignore(address)
}

#[test]
fn memory_that_its_owner_keeps_is_no_leak() {
    let environment = [("CUDA_SIM_CHECK", "leak")];
    let Some(Ended { code, errors, reports }) = ended("memory_that_its_owner_keeps_is_no_leak", &environment) else {
        primary(0);
        let (kept, mut host) = (allocate(), null_mut());
        assert_eq!(ignore_leak(kept + 8), CUresult::CUDA_SUCCESS);
        ok!(cuMemHostAlloc(&mut host, BYTES, 0));
        assert_eq!(ignore_leak(host as u64), CUresult::CUDA_SUCCESS);
        assert_eq!(ignore_leak(8), CUresult::CUDA_ERROR_INVALID_VALUE);
        let freed = allocate();
        assert_eq!(ignore_leak(freed), CUresult::CUDA_SUCCESS);
        ok!(cuMemFree_v2(freed));
        assert_eq!(ignore_leak(freed), CUresult::CUDA_ERROR_INVALID_VALUE);
        allocate();
        return;
    };
    assert_eq!(code, Some(0), "{errors}");
    let [report] = reports.as_slice() else { panic!("{reports:?}") };
    assert!(report["array"].as_str().unwrap().contains("allocation 4 (400 bytes"), "{errors}");
}

/// The memory that [`free_at_exit`] frees.
static FREED_AT_EXIT: AtomicU64 = AtomicU64::new(0);

extern "C" fn free_at_exit() {
    primary(0);
    ok!(cuMemFree_v2(FREED_AT_EXIT.load(Ordering::Relaxed)));
}

/// The handler is registered before the driver is initialised, so it runs after the handlers of that.
#[test]
fn memory_that_an_exit_handler_frees_is_no_leak() {
    let environment = [("CUDA_SIM_CHECK", "leak"), ("CUDA_SIM_CHECK_RESULT", "3")];
    let Some(Ended { code, errors, reports }) = ended("memory_that_an_exit_handler_frees_is_no_leak", &environment)
    else {
        assert_eq!(unsafe { libc::atexit(free_at_exit) }, 0);
        primary(0);
        FREED_AT_EXIT.store(allocate(), Ordering::Relaxed);
        allocate();
        return;
    };
    assert_eq!(code, Some(3), "{errors}");
    let [report] = reports.as_slice() else { panic!("{reports:?}") };
    assert!(report["array"].as_str().unwrap().contains("allocation 2 (400 bytes"), "{errors}");
}

/// The kernel of one stream waits for that of another one, which is launched later.
#[test]
fn blocks_of_the_heap_that_are_left_are_leaks() {
    let environment = [("CUDA_SIM_CHECK", "memory,leak")];
    let Some(Ended { code, errors, reports }) = ended("blocks_of_the_heap_that_are_left_are_leaks", &environment)
    else {
        primary(0);
        assert_eq!(launch(c"heap", 0), CUresult::CUDA_SUCCESS);
        return;
    };
    assert_eq!((code, reports.len()), (Some(0), 1), "{errors}");
    assert!(
        errors.contains("leak: leaked memory of the device's heap in `heap`: 40 bytes of `malloc`")
            && errors.contains("`malloc` of 40 bytes at kernels.cu:43 ")
            && errors.contains("thread (0, 0, 0)"),
        "{errors}"
    );
    // Both threads left one.
    assert_eq!(reports[0]["count"], 2, "{errors}");
}

/// After a fault nothing can be freed.
#[test]
fn memory_of_a_lost_context_is_no_leak() {
    let environment = [("CUDA_SIM_CHECK", "memory,leak")];
    let Some(Ended { code, errors, reports }) = ended("memory_of_a_lost_context_is_no_leak", &environment) else {
        primary(0);
        let at = allocate();
        assert_eq!(launch(c"heap", at), CUresult::CUDA_SUCCESS);
        assert_eq!(launch(c"beyond", at), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_eq!(call!(cuMemFree_v2(at)), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        return;
    };
    let kinds: Vec<_> = reports.iter().map(|report| report["kind"].as_str().unwrap_or_default()).collect();
    assert_eq!((code, kinds), (Some(0), vec!["out of bounds"]), "{errors}");
}

#[test]
fn kernels_of_two_streams_wait_for_each_other() {
    for engine in ["regions", "fibers"] {
        let environment = [("CUDA_SIM_CHECK", "all"), ("CUDA_SIM_CHECK_RESULT", "error"), ("CUDA_SIM_ENGINE", engine)];
        let Some(Ended { code, errors, reports }) = ended("kernels_of_two_streams_wait_for_each_other", &environment)
        else {
            primary(0);
            let (mut streams, mut at) = ([null_mut(); 2], allocate());
            ok!(cuMemsetD32_v2(at, 0, 2));
            ok!(cuCtxSynchronize());
            for (stream, name) in streams.iter_mut().zip([c"wait", c"set"]) {
                ok!(cuStreamCreate(stream, 1));
                let f = function(KERNELS, name);
                let mut params: [*mut c_void; 1] = [(&raw mut at).cast()];
                ok!(cuLaunchKernel(f, 1, 1, 1, 2, 1, 1, 0, *stream, params.as_mut_ptr(), null_mut()));
            }
            streams.iter().for_each(|stream| ok!(cuStreamSynchronize(*stream)));
            let mut host = [0u32; 2];
            ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), at, 8));
            assert_eq!(host, [1, 5]);
            ok!(cuMemFree_v2(at));
            return;
        };
        assert_eq!((code, reports.len()), (Some(0), 0), "{engine}: {errors}");
    }
}

#[test]
fn a_checker_that_does_not_exist_is_refused() {
    let Some(Ended { errors, .. }) = ended("a_checker_that_does_not_exist_is_refused", &[("CUDA_SIM_CHECK", "races")])
    else {
        gives!(CUDA_ERROR_INVALID_VALUE, cuInit(0));
        return;
    };
    assert!(errors.contains("CUDA_SIM_CHECK=races is not allowed; allowed are memory, race"), "{errors}");
}

/// Different seeds begin blocks in different orders in both engines, and a race that depends on the order is found by some seeds.
#[test]
fn some_seed_finds_a_race_that_depends_on_the_order_of_blocks() {
    const TEST: &str = "some_seed_finds_a_race_that_depends_on_the_order_of_blocks";
    const BLOCKS: usize = 40;
    if std::env::var_os(CHILD).is_some() {
        primary(0);
        // Two blocks begin in their order with every other seed.
        let at = allocate();
        ok!(cuMemsetD32_v2(at, 0, BYTES / 4));
        assert_eq!(launch_with(c"place", at, 2, 1), CUresult::CUDA_SUCCESS);
        ok!(cuMemsetD32_v2(at, 0, BYTES / 4));
        eprintln!("many");
        assert_eq!(launch_with(c"place", at, BLOCKS as u32, 1), CUresult::CUDA_SUCCESS);
        let mut order = [0_u32; BLOCKS];
        ok!(cuMemcpyDtoH_v2(order.as_mut_ptr().cast(), at + 8, size_of_val(&order)));
        eprintln!("order {order:?}");
        return;
    }
    for engine in ["regions", "fibers"] {
        let run = |seed: Option<u32>| {
            let seed = seed.map(|seed| seed.to_string()).unwrap_or_default();
            let environment = [("CUDA_SIM_CHECK", "race"), ("CUDA_SIM_ENGINE", engine), ("CUDA_SIM_SEED", &seed)];
            let Ended { code, errors, .. } = ended(TEST, &environment).expect("this is not the child");
            assert_eq!(code, Some(0), "{errors}");
            let (two, rest) = errors.split_once("many").expect("the child prints it");
            let order = rest.lines().find(|line| line.starts_with("order ")).expect("the child prints it");
            (two.contains("race of two writes in `place`"), order.to_owned())
        };
        let (found, ascending) = run(None);
        assert!(!found && ascending.starts_with("order [0, 1, 2, 3"), "{engine}: {ascending}");
        let seeds: Vec<_> = (0..8).map(|seed| run(Some(seed))).collect();
        let orders: std::collections::BTreeSet<_> = seeds.iter().map(|(_, order)| order).collect();
        assert_eq!(orders.len(), seeds.len(), "{engine}: {orders:?}");
        let found = seeds.iter().filter(|(found, _)| *found).count();
        assert!((1..seeds.len()).contains(&found), "{engine}: {found} of {} seeds", seeds.len());
        assert_eq!(run(Some(3)), seeds[3], "{engine}: a seed gives one order");
    }
}
