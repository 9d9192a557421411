//! Calls that fail: no room, at the first and the nth allocation; waits, copies and frees that fail; a lost context.

use cuda_driver::Stream;
use cuda_mem::{Error, device_array, from_slice, to_device, zeros};
use cuda_sys::CUresult;
use ndarray::Array1;

use crate::support::{Session, Traits};

const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

#[test]
fn an_allocation_without_room_is_retried_once_after_freed_memory_is_returned() {
    let session = Session::new();
    let context = session.context();
    context.synchronize().unwrap();
    session.forget();
    session.fail("cuMemAllocAsync", 1, OUT_OF_MEMORY);
    let x = device_array::<u8, _>(&context, 100).unwrap();
    assert_eq!(
        session.names(),
        ["cuMemAllocAsync", "cuCtxSynchronize", "cuDeviceGetDefaultMemPool", "cuMemPoolTrimTo", "cuMemAllocAsync"]
    );
    drop((x, context));
    session.finish();
}

#[test]
fn out_of_memory_names_the_requested_and_the_free_bytes() {
    for (memory_pools, call) in [(true, "cuMemAllocAsync"), (false, "cuMemAlloc_v2")] {
        let session = Session::with(Traits { memory_pools });
        let context = session.context();
        let held = zeros::<u8, _>(&context, 1 << 20).unwrap();
        session.fail(call, 1, OUT_OF_MEMORY);
        session.fail(call, 2, OUT_OF_MEMORY);
        let error = device_array::<f32, _>(&context, 1000).unwrap_err();
        assert!(error.is_out_of_memory() && matches!(error, Error::OutOfMemory(_)));
        let expected = format!(
            "device 0 has no room for 4000 bytes: {} of its {} bytes are free ({call}: CUDA_ERROR_OUT_OF_MEMORY (2)",
            (1 << 30) - (1 << 20),
            1 << 30
        );
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(device_array::<f32, _>(&context, 1000).is_ok(), "the next call works");
        drop((held, context));
        session.finish();
    }
}

#[test]
fn no_room_at_the_nth_allocation_leaks_nothing() {
    for nth in 1..=5 {
        let session = Session::new();
        let context = session.context();
        for attempt in [nth, nth + 1] {
            session.fail("cuMemAllocAsync", attempt, OUT_OF_MEMORY);
        }
        let host = Array1::<f32>::zeros(64);
        let made: Result<Vec<_>, _> = (0..5).map(|_| to_device(&context, &host)).collect();
        assert!(made.unwrap_err().is_out_of_memory());
        assert_eq!(session.live().device, 0);
        drop(context);
        session.finish();
    }
}

#[test]
fn a_failing_copy_frees_its_temporary_memory() {
    let session = Session::new();
    let context = session.context();
    session.fail("cuMemcpyHtoD_v2", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(from_slice(&context, &[1, 2, 3]).is_err());
    session.fail("cuMemsetD8Async", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(zeros::<u8, _>(&context, 3).is_err());
    let x = from_slice(&context, &[1, 2, 3]).unwrap();
    session.fail("cuMemcpyDtoH_v2", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(x.copy_to_host().is_err());
    assert_eq!(x.copy_to_host().unwrap().to_vec(), [1, 2, 3]);
    drop((x, context));
    session.finish();
}

#[test]
fn a_wait_that_fails_leaves_the_record_for_the_next_use() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = device_array::<u8, _>(&context, 4).unwrap();
    x.prepare_write(&a).unwrap();
    for _ in 0..2 {
        session.fail("cuStreamWaitEvent", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
        assert!(x.prepare_write(&b).is_err());
    }
    session.forget();
    x.prepare_write(&b).unwrap();
    assert_eq!(session.names(), ["cuEventRecord", "cuStreamWaitEvent"]);
    drop((x, a, b, context));
    session.finish();
}

#[test]
fn a_free_that_cannot_be_ordered_waits_for_everything() {
    let session = Session::new();
    let context = session.context();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = device_array::<u8, _>(&context, 4).unwrap();
    x.prepare_write(&a).unwrap();
    x.prepare_read(&b).unwrap();
    session.forget();
    session.fail("cuEventRecord", 1, OUT_OF_MEMORY);
    drop(x);
    assert_eq!(session.names(), ["cuEventRecord", "cuCtxSynchronize", "cuMemFree_v2"]);
    drop((a, b, context));
    session.finish();
}

#[test]
fn a_lost_context_is_not_called_to_free() {
    let session = Session::new();
    session.leaves();
    let context = session.context();
    let x = from_slice(&context, &[1_u8, 2]).unwrap();
    session.fail("cuMemcpyDtoH_v2", 1, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    assert!(x.copy_to_host().unwrap_err().is_sticky());
    session.forget();
    let error = x.copy_to_host().unwrap_err();
    assert!(error.to_string().contains("lost since cuMemcpyDtoH_v2"), "{error}");
    drop(x);
    assert_eq!(session.names(), [""; 0]);
}

#[test]
fn a_kernel_panic_is_returned_by_the_copy_once() {
    let session = Session::new();
    let context = session.context();
    let x = from_slice(&context, &[1_u8, 2]).unwrap();
    panic_in(&context.default_stream());
    assert!(matches!(x.copy_to_host(), Err(Error::Driver(cuda_driver::Error::KernelPanic(_)))));
    assert_eq!(x.copy_to_host().unwrap().to_vec(), [1, 2]);
}

/// Simulates a launch in the stream that panics.
fn panic_in(stream: &Stream) {
    let record = stream.panic_record().unwrap();
    let words: *mut u32 = std::ptr::with_exposed_provenance_mut(record.device_ptr() as usize);
    for (offset, word) in [(0, 1), (1, 1), (9, (record.tag(1) >> 32) as u32)] {
        // SAFETY: the record has 104 bytes, and nothing reads it meanwhile.
        unsafe { words.wrapping_add(offset).write_volatile(word) };
    }
}

#[test]
fn a_copy_reports_the_panics_of_its_thread_and_of_the_threads_that_write_the_memory() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let (mut theirs, ours) = (from_slice(&context, &[1_u8]).unwrap(), from_slice(&context, &[2_u8]).unwrap());
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (launched, is_launched) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let (context, stream) = (&context, &stream);
        let theirs = &mut theirs;
        let other = scope.spawn(move || {
            theirs.fill_on(7, stream).unwrap();
            panic_in(stream);
            context.default_stream().wait_for(stream).unwrap();
            launched.send(&*theirs).unwrap();
            wait.recv().unwrap();
            stream.synchronize().unwrap_err();
            stream.synchronize().unwrap();
        });
        let theirs = is_launched.recv().unwrap();
        ours.copy_to_host().unwrap();
        theirs.copy_to_host().unwrap_err();
        theirs.copy_to_host().unwrap();
        context.synchronize().unwrap();
        go.send(()).unwrap();
        other.join().unwrap();
    });
}
