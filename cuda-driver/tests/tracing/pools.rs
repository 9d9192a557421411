//! Pools of events and streams: a pooled object behaves as a new one, and only idle streams are put back.

use cuda_driver::{Event, Stream, StreamOptions};
use cuda_sys::CUresult;

use crate::support::Session;

#[test]
fn an_event_is_made_once_and_destroyed_with_the_context() {
    let session = Session::new();
    let context = session.context();
    for _ in 0..5 {
        let (timed, plain) = (Event::new(&context).unwrap(), Event::without_timing(&context).unwrap());
        assert!(timed.has_timing() && !plain.has_timing());
    }
    assert_eq!((session.count("cuEventCreate"), session.count("cuEventDestroy_v2")), (2, 0));
    drop(context);
    assert_eq!(session.count("cuEventDestroy_v2"), 2);
}

#[test]
fn an_event_from_the_pool_was_never_recorded() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    Event::new(&context).unwrap().record(&stream).unwrap();
    let event = Event::new(&context).unwrap();
    session.forget();
    assert!(event.query().unwrap());
    event.synchronize().unwrap();
    stream.wait_event(&event).unwrap();
    assert_eq!(session.names(), [""; 0], "the mark of its owner before is none of its own");
    let untimed = Event::without_timing(&context).unwrap();
    let text = event.elapsed_ms(&untimed).unwrap_err().to_string();
    assert_eq!(text, "no time can be measured between events without timing; make both with Event::new");
    let other = Event::new(&context).unwrap();
    other.record(&stream).unwrap();
    let text = event.elapsed_ms(&other).unwrap_err().to_string();
    assert_eq!(text, "no time can be measured to or from an event that was never recorded");
    event.record(&stream).unwrap();
    session.forget();
    assert!(event.query().unwrap());
    stream.wait_event(&event).unwrap();
    event.elapsed_ms(&other).unwrap();
    assert_eq!(session.names(), ["cuEventQuery", "cuStreamWaitEvent", "cuEventElapsedTime_v2"]);
}

#[test]
fn an_event_with_an_exposed_handle_is_queried_and_destroyed() {
    let session = Session::new();
    let context = session.context();
    let event = Event::new(&context).unwrap();
    assert!(!event.as_raw().is_null());
    assert!(event.query().unwrap());
    drop(event);
    assert_eq!((session.count("cuEventQuery"), session.count("cuEventDestroy_v2")), (1, 1));
}

#[test]
fn an_idle_stream_is_reused_with_another_id() {
    let session = Session::new();
    let context = session.context();
    let first = Stream::new(&context).unwrap();
    let (raw, id) = (first.as_raw(), first.id());
    drop(first);
    let second = Stream::new(&context).unwrap();
    assert_eq!(second.as_raw(), raw);
    assert_ne!(second.id(), id, "what is recorded of the first is not of the second");
    assert_eq!((session.count("cuStreamCreate"), session.count("cuStreamDestroy_v2")), (1, 0));
}

#[test]
fn a_busy_stream_waits_until_it_is_idle_and_one_with_options_is_destroyed_then() {
    let session = Session::new();
    let context = session.context();
    let busy = Stream::new(&context).unwrap();
    let raw = busy.as_raw();
    session.fail("cuStreamQuery", 1, CUresult::CUDA_ERROR_NOT_READY);
    drop(busy);
    session.fail("cuStreamQuery", 1, CUresult::CUDA_ERROR_NOT_READY);
    let other = Stream::new(&context).unwrap();
    assert_ne!(other.as_raw(), raw, "it is busy still");
    let again = Stream::new(&context).unwrap();
    assert_eq!((again.as_raw(), session.count("cuStreamDestroy_v2")), (raw, 0));
    drop(Stream::with_options(&context, StreamOptions::new().priority(-1)).unwrap());
    drop(Stream::with_options(&context, StreamOptions::new().waits_for_legacy(true)).unwrap());
    assert_eq!((session.count("cuStreamCreateWithPriority"), session.count("cuStreamDestroy_v2")), (2, 2));
    // A stream that stays busy is destroyed with the context.
    session.fail("cuStreamQuery", 1, CUresult::CUDA_ERROR_NOT_READY);
    drop(other);
    drop((again, context));
    session.finish();
}

#[test]
fn a_pool_keeps_at_most_its_maximum() {
    let session = Session::new();
    let context = session.context();
    let many: Vec<Event> = (0..100).map(|_| Event::new(&context).unwrap()).collect();
    drop(many);
    assert_eq!(session.count("cuEventDestroy_v2"), 36, "64 are kept");
}

#[test]
fn a_lost_context_takes_nothing_from_its_pools() {
    let session = Session::new();
    session.leaves();
    let context = session.context();
    let (event, recorded) = (Event::new(&context).unwrap(), Event::new(&context).unwrap());
    let stream = Stream::new(&context).unwrap();
    recorded.record(&stream).unwrap();
    drop((Event::new(&context).unwrap(), Stream::new(&context).unwrap()));
    session.fail("cuCtxSynchronize", 1, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    context.synchronize().unwrap_err();
    session.forget();
    for error in [
        Event::new(&context).map(|_| ()),
        Stream::new(&context).map(|_| ()),
        event.query().map(|_| ()),
        recorded.query().map(|_| ()),
        stream.wait_event(&event),
        stream.wait_for(&context.default_stream()),
    ] {
        assert!(error.unwrap_err().to_string().contains("is lost since cuCtxSynchronize"));
    }
    drop((event, recorded, stream));
    assert_eq!(session.names(), [""; 0]);
}
