//! External memory: its owner outlives every access to it, and is dropped once.

use std::sync::Arc;

use cuda_driver::{Context, Stream};
use cuda_mem::{Buffer, memory_statistics};
use cuda_sys::CUresult;

use crate::support::Session;

/// The first half of external memory, with its owner.
fn half(context: &Context) -> Buffer {
    let whole = Buffer::new(&context.default_stream(), 64).unwrap();
    context.default_stream().synchronize().unwrap();
    // SAFETY: the memory is used in no other way while its owner lives.
    unsafe { Buffer::external(context, whole.address(), 32, whole) }
}

#[test]
fn the_owner_is_dropped_when_every_access_has_finished() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut memory = half(&context);
    assert_eq!(memory_statistics(&context).live_bytes, 64, "what is another's counts there");
    memory.fill(1, &a).unwrap();
    memory.prepare_read(&b).unwrap();
    session.forget();
    drop(memory);
    assert_eq!(session.names(), ["cuStreamSynchronize", "cuStreamSynchronize", "cuMemFreeAsync"]);
    drop((a, b, context));
    session.finish();
}

#[test]
fn the_owner_is_dropped_after_a_wait_for_all_work() {
    let session = Session::new();
    let context = session.context();
    let a = Stream::new(&context).unwrap();
    let mut memory = half(&context);
    memory.fill(1, &a).unwrap();
    session.fail("cuStreamSynchronize", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    drop(memory);
    assert_eq!(session.live().device, 0);
    drop((a, context));
    session.finish();
}

#[test]
fn the_owner_is_leaked_if_its_memory_may_be_used() {
    let session = Session::new();
    let context = session.context();
    let a = Stream::new(&context).unwrap();
    let memory = Buffer::new(&a, 64).unwrap();
    let owner = Arc::new(());
    // SAFETY: `memory` is used in no other way, and outlives the work.
    let mut part = unsafe { Buffer::external(&context, memory.address(), 32, owner.clone()) };
    part.fill(1, &a).unwrap();
    session.fail("cuStreamSynchronize", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    session.fail("cuCtxSynchronize", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    drop(part);
    assert_eq!(Arc::strong_count(&owner), 2);
    drop((memory, a, context));
    session.finish();
}
