//! The variable that makes the default stream the per-thread one; it is read once, so each case runs in its own
//! process.

use cuda_driver::Stream;

use crate::support::{context, with_variable};

const VARIABLE: &str = "CUDA_DRIVER_PER_THREAD_DEFAULT_STREAM";

#[test]
fn the_variable_makes_the_default_stream_that_of_each_thread() {
    let test = "default_stream::the_variable_makes_the_default_stream_that_of_each_thread";
    if !with_variable(test, VARIABLE, "1") {
        return;
    }
    let context = (*context()).clone();
    let stream = context.default_stream();
    assert!(stream.is_per_thread() && stream.to_string() == "per-thread default stream");
    let own = stream.id();
    assert_eq!(own, Stream::per_thread(&context).id());
    // Explicit default streams are not affected.
    assert_ne!(own, Stream::legacy(&context).id());
    // SAFETY: stream 0 is the driver's own.
    let null = unsafe { Stream::external(&context, std::ptr::null_mut()) };
    assert_eq!(null.id(), Stream::legacy(&context).id());
    let other = std::thread::spawn(move || {
        context.default_stream().synchronize().unwrap();
        context.default_stream().id()
    });
    assert_ne!(own, other.join().unwrap());
}

#[test]
fn another_value_changes_nothing() {
    let test = "default_stream::another_value_changes_nothing";
    if !with_variable(test, VARIABLE, "0") {
        return;
    }
    let context = context();
    assert_eq!(context.default_stream().id(), Stream::legacy(&context).id());
}
