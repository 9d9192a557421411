//! Contexts: one per device, bound without calls, selected per thread, poisoned for good, refused after a fork.

use cuda_driver::{Context, Driver, Error, Event, Graph, Stream};
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

#[test]
fn binding_is_one_call_per_thread() {
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
    session.forget();
    let other = session.driver().device(1).unwrap().primary_context().unwrap();
    other.synchronize().unwrap();
    context.synchronize().unwrap();
    assert_eq!(session.count("cuCtxSetCurrent"), 2, "two contexts take turns on one thread");
    Context::forget_binding();
    session.forget();
    context.synchronize().unwrap();
    assert_eq!(session.count("cuCtxSetCurrent"), 1);
}

#[test]
fn a_new_context_is_not_taken_for_the_old_one() {
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
    let stream = Stream::new(&context).unwrap();
    session.leaves();
    session.fail("cuStreamQuery", 1, CUresult::CUDA_ERROR_NOT_READY);
    session.fail("cuStreamDestroy_v2", 1, CUresult::CUDA_ERROR_INVALID_HANDLE);
    drop(stream);
    assert_eq!(session.count("cuStreamDestroy_v2"), 1);
    context.synchronize().unwrap();
}

#[test]
fn a_forked_child_gets_an_error_and_the_parent_goes_on() {
    let session = Session::new();
    let context = session.context();
    let exec = Graph::new(&context).unwrap().instantiate().unwrap();
    let stream = context.default_stream();
    // SAFETY: the child calls only what the fork check answers before any lock, and then leaves without unwinding.
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
