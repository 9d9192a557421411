//! Contexts: one per device, bound without calls, selected per thread, poisoned by sticky errors, refused after a fork.

use cuda_driver::{Context, Driver, Error, Event, Graph, Stream, StreamOptions};
use cuda_sys::CUresult;

use crate::support::Session;

#[test]
fn a_device_has_one_context_object_and_it_is_released_once() {
    let session = Session::new();
    let context = session.context();
    assert_eq!(context, session.context());
    assert_ne!(context, session.driver().device(1).unwrap().primary_context().unwrap());
    assert_eq!(session.count("cuDevicePrimaryCtxRetain"), 2);
    drop(context);
    assert_eq!(session.live().contexts, 0);
    let again = session.context();
    again.synchronize().unwrap();
    drop(again);
    session.finish();
}

/// Makes a raw context current as another library would.
fn bind(session: &Session, raw: usize) {
    let api = session.api();
    let set_current = api.cuCtxSetCurrent().unwrap();
    // SAFETY: the traced driver only reads the number.
    unsafe { set_current(std::ptr::without_provenance_mut(raw)) };
}

/// The raw context that is current.
fn bound(session: &Session) -> usize {
    let api = session.api();
    let get_current = api.cuCtxGetCurrent().unwrap();
    let mut raw = std::ptr::null_mut();
    // SAFETY: the pointer lives through the call.
    unsafe { get_current(&mut raw) };
    raw.addr()
}

#[test]
fn a_thread_without_a_context_keeps_that_of_its_first_call() {
    let session = Session::new();
    let context = session.context();
    session.forget();
    context.synchronize().unwrap();
    context.synchronize().unwrap();
    assert_eq!(session.names(), ["cuCtxSetCurrent", "cuCtxSynchronize", "cuCtxSynchronize"]);
    session.forget();
    std::thread::scope(|scope| {
        scope.spawn(|| context.synchronize().unwrap());
    });
    assert_eq!(session.names(), ["cuCtxSetCurrent", "cuCtxSynchronize"]);
}

#[test]
fn a_call_restores_the_current_context() {
    let session = Session::new();
    let (context, raw) = (session.context(), 0xC000);
    for theirs in [0xC001, 0xF00] {
        bind(&session, theirs);
        session.forget();
        context.synchronize().unwrap();
        assert_eq!(session.names(), ["cuCtxSetCurrent", "cuCtxSynchronize", "cuCtxSetCurrent"]);
        assert_eq!(bound(&session), theirs);
        // Also a call that fails, and one that the driver lacks or that is refused before it is made.
        session.fail("cuCtxSynchronize", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
        context.synchronize().unwrap_err();
        assert_eq!(bound(&session), theirs);
        drop(Stream::new(&context).unwrap());
        assert_eq!(bound(&session), theirs);
    }
    bind(&session, raw);
    session.forget();
    context.synchronize().unwrap();
    assert_eq!((session.names(), bound(&session)), (vec!["cuCtxSynchronize"], raw), "the same context is not set");
    // Another library unbinds the context, and the next call still is in this one.
    bind(&session, 0);
    context.synchronize().unwrap();
    assert_eq!(bound(&session), raw);
}

#[test]
fn two_contexts_take_turns_on_one_thread_and_the_first_stays_current() {
    let session = Session::new();
    let (first, second) = (session.context(), session.driver().device(1).unwrap().primary_context().unwrap());
    first.synchronize().unwrap();
    second.synchronize().unwrap();
    assert_eq!(bound(&session), 0xC000);
    drop(first);
    assert_eq!(bound(&session), 0, "a context that ends is not left current");
}

#[test]
fn a_context_that_cannot_be_made_current_is_an_error_and_nothing_is_called() {
    let session = Session::new();
    let context = session.context();
    session.fail("cuCtxSetCurrent", 1, CUresult::CUDA_ERROR_INVALID_CONTEXT);
    session.forget();
    let error = context.synchronize().unwrap_err();
    assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_INVALID_CONTEXT));
    assert!(error.to_string().starts_with("cuCtxSetCurrent: "), "{error}");
    assert_eq!(session.names(), ["cuCtxSetCurrent"]);
    session.fail("cuCtxGetCurrent", 1, CUresult::CUDA_ERROR_DEINITIALIZED);
    assert!(context.synchronize().unwrap_err().to_string().starts_with("cuCtxGetCurrent: "));
    context.synchronize().unwrap();
}

#[test]
fn a_new_context_is_not_mistaken_for_the_old_one() {
    let session = Session::new();
    session.context().synchronize().unwrap();
    let context = session.context();
    session.forget();
    context.synchronize().unwrap();
    assert_eq!(session.names(), ["cuCtxSetCurrent", "cuCtxSynchronize"]);
}

#[test]
fn selection_belongs_to_the_thread_and_is_restored() {
    let session = Session::new();
    let (first, second) = (session.context(), session.driver().device(1).unwrap().primary_context().unwrap());
    assert_eq!(first.set_current(), None);
    {
        let _guard = second.select();
        assert_eq!(Context::current(), Some(second.clone()));
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(Context::current(), None));
        });
    }
    assert_eq!(Context::current(), Some(first.clone()));
    assert_eq!(Context::clear_current(), Some(first));
}

#[test]
fn memory_info_is_the_drivers() {
    let session = Session::new();
    let info = session.context().memory_info().unwrap();
    assert_eq!((info.free, info.total), (1 << 30, 1 << 30));
}

#[test]
fn a_sticky_error_poisons_the_context_and_names_the_first_cause() {
    let session = Session::new();
    session.leaves();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    session.fail("cuStreamSynchronize", 1, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    let first = stream.synchronize().unwrap_err();
    assert!(first.is_sticky() && matches!(first, Error::Driver(_)), "{first}");
    session.forget();
    for error in [context.synchronize().unwrap_err(), Stream::new(&context).unwrap_err()] {
        assert!(
            error.to_string().contains(
                "the context of device 0 is lost since cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)"
            )
        );
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    }
    drop(stream);
    assert_eq!(session.names(), [""; 0], "no call follows, not even to destroy what is lost");
}

#[test]
fn work_is_waited_for_also_in_a_lost_context_or_an_error_is_returned() {
    let session = Session::new();
    let context = session.context();
    context.wait_until_idle().unwrap();
    session.lose("cuStreamQuery", 1);
    Stream::new(&context).unwrap().query().unwrap_err();
    context.synchronize().unwrap_err();
    session.forget();
    context.wait_until_idle().unwrap();
    assert_eq!(session.names(), ["cuCtxSynchronize"]);
    session.never_waits();
    let error = context.wait_until_idle().unwrap_err();
    assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_NOT_PERMITTED));
}

#[test]
fn another_error_does_not_poison() {
    let session = Session::new();
    let context = session.context();
    session.fail("cuCtxSynchronize", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(!context.synchronize().unwrap_err().is_sticky());
    context.synchronize().unwrap();
}

#[test]
fn a_failing_drop_does_not_fail_the_next_call() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::with_options(&context, StreamOptions::new().priority(-1)).unwrap();
    session.leaves();
    session.fail("cuStreamDestroy_v2", 1, CUresult::CUDA_ERROR_INVALID_HANDLE);
    drop(stream);
    assert_eq!(session.count("cuStreamDestroy_v2"), 1);
    context.synchronize().unwrap();
}

#[test]
fn a_forked_child_gets_an_error_and_the_parent_continues() {
    let session = Session::new();
    let context = session.context();
    let exec = Graph::new(&context).unwrap().instantiate().unwrap();
    let stream = context.default_stream();
    // SAFETY: the child only makes calls that the fork check refuses before any lock, and then leaves without
    // unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = matches!(context.synchronize(), Err(Error::Forked { call: "cuCtxSynchronize" }))
            && matches!(Driver::new(context.api().clone()), Err(Error::Forked { .. }))
            && matches!(context.device().primary_context(), Err(Error::Forked { .. }))
            && matches!(Event::new(&context), Err(Error::Forked { .. }))
            && matches!(Graph::capture(&context, |_| Ok(())), Err(Error::Forked { .. }))
            && matches!(exec.launch(&stream, ()), Err(Error::Forked { call: "cuGraphLaunch" }));
        // SAFETY: leaves the child at once, without destructors.
        unsafe { libc::_exit(if refused { 0 } else { 1 }) };
    }
    let mut status = -1;
    // SAFETY: `child` is our child, and `status` lives through the call.
    let waited = unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!((waited, status), (child, 0));
    context.synchronize().unwrap();
}
