//! Memory of others: their owner outlives every use of it, and is told once.

use cuda_driver::{Context, Stream};
use cuda_mem::Buffer;
use cuda_sys::CUresult;

use crate::support::Session;

/// The first half of other memory, which it owns.
fn half(context: &Context) -> Buffer {
    let whole = Buffer::new(&context.default_stream(), 64).unwrap();
    context.default_stream().synchronize().unwrap();
    // SAFETY: the memory is used in no other way while its owner lives.
    unsafe { Buffer::external(context, whole.address(), 32, whole) }
}

#[test]
fn the_owner_goes_when_every_use_is_over() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut memory = half(&context);
    memory.fill(1, &a).unwrap();
    memory.prepare_read(&b).unwrap();
    session.forget();
    drop(memory);
    assert_eq!(session.names(), ["cuStreamSynchronize", "cuStreamSynchronize", "cuMemFreeAsync"]);
    drop((a, b, context));
    session.finish();
}

#[test]
fn the_owner_goes_also_where_waiting_fails() {
    let session = Session::new();
    let context = session.context();
    let a = Stream::new(&context).unwrap();
    for failing in ["cuStreamSynchronize", "cuCtxSynchronize"] {
        let mut memory = half(&context);
        memory.fill(1, &a).unwrap();
        session.fail("cuStreamSynchronize", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
        session.fail(failing, 1, CUresult::CUDA_ERROR_INVALID_VALUE);
        drop(memory);
        assert_eq!(session.live().device, 0);
    }
    session.take_violations();
    drop((a, context));
    session.finish();
}
