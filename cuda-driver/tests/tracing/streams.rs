//! Streams, events, scopes and host functions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuda_driver::{Error, Event, LaunchConfig, Result, Stream, StreamOptions, driver_call, external_stream};
use cuda_sys::CUresult;

use crate::support::Session;

#[test]
fn streams_print_their_kind_and_are_destroyed() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::with_options(&context, StreamOptions::new().priority(-1).waits_for_legacy(true)).unwrap();
    assert!(stream.to_string().starts_with("stream 0x"));
    assert_eq!(session.count("cuStreamCreateWithPriority"), 1);
    assert_eq!(context.default_stream().to_string(), "default stream");
    assert_eq!(format!("{:?}", context.default_stream()), "Stream(default stream of device 0)");
    assert_eq!(Stream::legacy(&context).to_string(), "legacy default stream");
    assert_eq!(Stream::per_thread(&context).to_string(), "per-thread default stream");
    // SAFETY: the stream lives until the end of the test.
    let external = unsafe { Stream::external(&context, stream.as_raw()) };
    assert!(external.to_string().starts_with("external stream 0x"));
    external.synchronize().unwrap();
    // SAFETY: the handle of the per-thread default stream is always valid, and is used on this thread alone.
    let fixed = unsafe { Stream::external(&context, cuda_driver::cuda_sys::CU_STREAM_PER_THREAD) };
    assert!(fixed.to_string() == "external stream 0x2" && fixed.id() != Stream::per_thread(&context).id());
    drop((context, external, fixed, stream));
    session.finish();
}

#[test]
fn ids_distinguish_queues() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    assert_eq!(stream.id(), stream.clone().id());
    assert_ne!(stream.id(), Stream::new(&context).unwrap().id());
    assert_eq!(context.default_stream().id(), Stream::legacy(&context).id());
    let per_thread = Stream::per_thread(&context);
    assert_eq!(per_thread.id(), Stream::per_thread(&context).id());
    let (same, theirs) = std::thread::scope(|scope| {
        scope.spawn(|| (per_thread.id(), Stream::per_thread(&context).id())).join().unwrap()
    });
    assert_eq!(per_thread.id(), same, "a value means one queue wherever it goes");
    assert_ne!(per_thread.id(), theirs);
    assert_eq!(Stream::per_thread(&context).id(), per_thread.id());
    let next = std::thread::scope(|scope| scope.spawn(|| Stream::per_thread(&context).id()).join().unwrap());
    assert_eq!(next, theirs, "the stream of a thread that has ended is used again");
    assert_eq!(session.count("cuStreamCreateWithPriority"), 2);
    // But not while it is held.
    let in_thread = || std::thread::scope(|scope| scope.spawn(|| Stream::per_thread(&context)).join().unwrap());
    let held = in_thread();
    assert_ne!(in_thread().id(), held.id());
    assert_eq!(session.count("cuStreamCreateWithPriority"), 3);
    // In a lost context there is none, and every call is refused.
    session.leaves();
    session.fail("cuCtxSynchronize", 1, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    context.synchronize().unwrap_err();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let stream = Stream::per_thread(&context);
            assert_eq!(stream.id(), Stream::legacy(&context).id());
            stream.synchronize().unwrap_err();
        });
    });
}

#[test]
fn one_stream_waits_for_another_with_a_pooled_event() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    session.forget();
    b.wait_for(&a).unwrap();
    b.wait_for(&a).unwrap();
    assert_eq!(
        session.names(),
        ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventRecord", "cuStreamWaitEvent"]
    );
    let calls = session.calls();
    assert_eq!((calls[1].stream, calls[2].stream), (Some(a.as_raw().addr()), Some(b.as_raw().addr())));
    drop((a, b, context));
    session.finish();
}

#[test]
fn objects_of_two_contexts_are_refused_before_the_driver_is_asked() {
    let session = Session::new();
    let (context, other) = (session.context(), session.driver().device(1).unwrap().primary_context().unwrap());
    let (stream, event) = (Stream::new(&context).unwrap(), Event::new(&other).unwrap());
    session.forget();
    let error = stream.wait_event(&event).unwrap_err();
    let text =
        "belongs to the context of device 1, not to that of device 0; objects of two contexts cannot work together";
    assert_eq!(error.to_string(), format!("{event} {text}"));
    assert!(event.record(&stream).is_err());
    assert!(Event::new(&context).unwrap().elapsed_ms(&event).is_err());
    assert_eq!(session.count("cuStreamWaitEvent") + session.count("cuEventRecord"), 0);
}

#[test]
fn events_measure_only_with_timing() {
    let session = Session::new();
    let context = session.context();
    let (start, end) = (Event::new(&context).unwrap(), Event::new(&context).unwrap());
    start.record(&context.default_stream()).unwrap();
    end.record(&context.default_stream()).unwrap();
    assert!(end.query().unwrap());
    assert_eq!(start.elapsed_ms(&end).unwrap(), 0.5);
    let plain = Event::without_timing(&context).unwrap();
    assert!(plain.elapsed_ms(&end).unwrap_err().to_string().contains("Event::new"));
}

#[test]
fn not_ready_is_an_answer() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    session.fail("cuStreamQuery", 1, CUresult::CUDA_ERROR_NOT_READY);
    assert!(!stream.query().unwrap());
    assert!(stream.query().unwrap());
}

#[test]
fn a_scope_waits_on_every_way_out() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    session.forget();
    let value: Result<i32> = stream.scope(|s| {
        assert_eq!(LaunchConfig::from((1, 1, s)).chosen_stream().map(Stream::id), Some(stream.id()));
        Ok(7)
    });
    assert_eq!((value.unwrap(), session.count("cuStreamSynchronize")), (7, 1));

    let failed: Result<()> = stream.scope(|_| Err(Error::Invalid("mine".into())));
    assert_eq!((failed.unwrap_err().to_string().as_str(), session.count("cuStreamSynchronize")), ("mine", 2));

    let panicked = catch_unwind(AssertUnwindSafe(|| stream.scope(|_| -> Result<()> { panic!("out") })));
    assert!(panicked.is_err());
    assert_eq!(session.count("cuStreamSynchronize"), 3);

    session.fail("cuStreamSynchronize", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    let waited: Result<()> = stream.scope(|_| Ok(()));
    assert_eq!(waited.unwrap_err().code(), Some(CUresult::CUDA_ERROR_INVALID_VALUE));
}

#[test]
fn a_host_function_runs_once_and_its_panic_is_caught() {
    let session = Session::new();
    let stream = session.context().default_stream();
    let ran = Arc::new(AtomicBool::new(false));
    let flag = ran.clone();
    stream.launch_host_fn(move || assert!(!flag.swap(true, Ordering::SeqCst))).unwrap();
    assert!(ran.load(Ordering::SeqCst));
    stream.launch_host_fn(|| panic!("in a callback")).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn a_refused_host_function_is_dropped() {
    let session = Session::new();
    let stream = session.context().default_stream();
    let held = Arc::new(());
    let moved = held.clone();
    session.fail("cuLaunchHostFunc", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(stream.launch_host_fn(move || drop(moved)).is_err());
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_future_of_a_stream_resolves_and_stays_resolved() {
    let session = Session::new();
    let stream = Stream::new(&session.context()).unwrap();
    let mut done = stream.done();
    assert_eq!(session.count("cuStreamAddCallback"), 1);
    pollster::block_on(&mut done).unwrap();
    pollster::block_on(done).unwrap();
    assert_eq!((session.count("cuStreamAddCallback"), session.count("cuStreamSynchronize")), (1, 0));
    drop(stream);
    session.finish();
}

#[test]
fn a_future_that_the_driver_refuses_is_an_error() {
    let session = Session::new();
    let stream = session.context().default_stream();
    session.fail("cuStreamAddCallback", 1, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    let error = pollster::block_on(stream.done()).unwrap_err();
    assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
    pollster::block_on(stream.done()).unwrap();
}

#[test]
fn the_profiler_stops_with_its_guard() {
    let session = Session::new();
    let context = session.context();
    {
        let _profiled = context.profiling().unwrap();
        assert_eq!((session.count("cuProfilerStart"), session.count("cuProfilerStop")), (1, 0));
    }
    assert_eq!(session.count("cuProfilerStop"), 1);
    session.fail("cuProfilerStart", 1, CUresult::CUDA_ERROR_NOT_SUPPORTED);
    assert!(context.profiling().is_err());
    assert_eq!(session.count("cuProfilerStop"), 1);
    // A profiler that cannot be stopped is only logged.
    session.fail("cuProfilerStop", 1, CUresult::CUDA_ERROR_NOT_SUPPORTED);
    drop(context.profiling().unwrap());
    context.synchronize().unwrap();
}

#[test]
fn nothing_leaks_when_creation_fails() {
    let session = Session::new();
    let context = session.context();
    session.fail("cuStreamCreate", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    session.fail("cuEventCreate", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert!(Stream::new(&context).unwrap_err().is_out_of_memory());
    assert!(Event::new(&context).unwrap_err().is_out_of_memory());
    drop(context);
    session.finish();
}

#[test]
fn an_external_stream_is_of_the_context_that_the_thread_has() {
    let session = Session::new();
    let context = session.context();
    let own = Stream::new(&context).unwrap();
    // SAFETY: it is refused.
    let error = unsafe { external_stream(own.as_raw()) }.unwrap_err();
    assert_eq!(
        error.to_string(),
        "an external stream is one of the current context, and this thread has none; select a device first"
    );
    let _selected = context.select();
    // SAFETY: the stream outlives what stands for it.
    let theirs = unsafe { external_stream(own.as_raw()) }.unwrap();
    theirs.synchronize().unwrap();
    assert_eq!((theirs.as_raw(), theirs.context()), (own.as_raw(), &context));
}

#[test]
fn a_scope_waits_for_all_work_if_its_stream_cannot_be_waited_for() {
    for unwinds in [false, true] {
        let session = Session::new();
        let context = session.context();
        let (stream, other) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
        let (mut device, mut host) = (0, vec![0_u8; 64]);
        // SAFETY: the address lives through the call.
        unsafe { driver_call!(&context, cuMemAlloc_v2(&mut device, 64)) }.unwrap();
        // SAFETY: the memory outlives its registration, which ends with the context.
        unsafe { driver_call!(&context, cuMemHostRegister_v2(host.as_mut_ptr().cast(), 64, 0)) }.unwrap();
        let scope = catch_unwind(AssertUnwindSafe(|| {
            stream.scope(|s| {
                let to = host.as_mut_ptr().cast();
                // SAFETY: both are live, and the scope waits for the copy.
                unsafe { driver_call!(&context, cuMemcpyDtoHAsync_v2(to, device, 64, s.as_raw())) }?;
                session.lose("cuStreamQuery", 1);
                other.query().unwrap_err();
                assert!(!unwinds, "on the way");
                Ok(())
            })
        }));
        assert!(matches!(scope, Ok(Err(Error::Poisoned(_))) | Err(_)));
        session.give_back(&host);
        assert_eq!(session.names().last(), Some(&"cuCtxSynchronize"));
    }
}

/// Ends the process, so in one of its own.
#[test]
fn the_process_aborts_where_work_on_borrowed_memory_cannot_be_waited_for() {
    const OWN: &str = "CUDA_DRIVER_TESTS_LENT";
    if std::env::var_os(OWN).is_some() {
        let session = Session::new();
        let context = session.context();
        let mut host = [0_u8; 64];
        session.lose("cuStreamQuery", 1);
        let stream = Stream::new(&context).unwrap();
        let _ = stream.scope(|s| {
            s.query().unwrap_err();
            // The answer of a driver that does not wait.
            session.never_waits();
            Ok(())
        });
        host.fill(1);
        return;
    }
    let test = "streams::the_process_aborts_where_work_on_borrowed_memory_cannot_be_waited_for";
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let output = child.args([test, "--exact", "--nocapture"]).env(OWN, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    let parts = [
        "cuda-driver: host memory is borrowed by work of device 0",
        ", its borrow ends, and that work cannot be waited for (cuCtxSynchronize: ",
        "); the process aborts, since the work could write to memory that has a new owner",
    ];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}
