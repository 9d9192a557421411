//! Pending frees, the guard that defers them, statistics, and failure of every allocation.

use cuda_driver::{Graph, Stream};
use cuda_mem::{
    Buffer, MemoryPool, PendingLimits, defer_cleanup, device_array, free_pending, memory_statistics, reset_peak,
    set_pending_limits, to_device, zeros,
};
use cuda_sys::CUresult;
use ndarray::Array1;

use crate::support::{Session, Traits};

const WITHOUT_POOLS: Traits = Traits { memory_pools: false };

/// Makes and drops a buffer that a stream has written.
fn used_and_dropped(stream: &Stream) {
    Buffer::new(stream, 64).unwrap().fill(1, stream).unwrap();
}

#[test]
fn without_a_pool_frees_wait_until_there_are_more_than_ten() {
    let session = Session::with(WITHOUT_POOLS);
    let context = session.context();
    let streams = [Stream::new(&context).unwrap(), Stream::new(&context).unwrap()];
    for at in 0..10 {
        used_and_dropped(&streams[at % 2]);
    }
    assert_eq!((session.count("cuMemFree_v2"), session.count("cuCtxSynchronize")), (0, 0));
    let statistics = memory_statistics(&context);
    assert_eq!((statistics.pending_frees, statistics.pending_bytes, statistics.live_bytes), (10, 640, 0));
    used_and_dropped(&streams[0]);
    assert_eq!((session.count("cuMemFree_v2"), session.count("cuCtxSynchronize")), (11, 1));
    assert_eq!(memory_statistics(&context).pending_frees, 0);
    drop((streams, context));
    session.finish();
}

#[test]
fn frees_are_made_when_their_bytes_exceed_a_fifth_of_the_memory() {
    let session = Session::with(WITHOUT_POOLS);
    let context = session.context();
    drop(Buffer::new(&context.default_stream(), 150 << 20).unwrap());
    assert_eq!(session.live().device, 1);
    drop(Buffer::new(&context.default_stream(), 60 << 20).unwrap());
    assert_eq!(session.live().device, 0, "210 of 1024 MiB are more than a fifth");
    set_pending_limits(&context, PendingLimits { count: 5, bytes: 1000 });
    drop(Buffer::new(&context.default_stream(), 1000).unwrap());
    assert_eq!(session.live().device, 1);
    drop(Buffer::new(&context.default_stream(), 1).unwrap());
    assert_eq!(session.live().device, 0, "1001 bytes are more");
    set_pending_limits(&context, PendingLimits { count: 1, bytes: 1000 });
    (0..2).for_each(|_| drop(Buffer::new(&context.default_stream(), 1).unwrap()));
    assert_eq!(session.live().device, 0, "two are more than one");
    drop(context);
    session.finish();
}

#[test]
fn no_free_reaches_the_driver_while_it_is_deferred() {
    for memory_pools in [true, false] {
        let session = Session::with(Traits { memory_pools });
        let context = session.context();
        let stream = Stream::new(&context).unwrap();
        let frees = || session.count("cuMemFree_v2") + session.count("cuMemFreeAsync");
        let outer = defer_cleanup(&context);
        {
            let _inner = defer_cleanup(&context);
            (0..20).for_each(|_| used_and_dropped(&stream));
        }
        free_pending(&context).unwrap();
        assert_eq!((frees(), memory_statistics(&context).pending_frees), (0, 20), "the outer guard is there");
        drop(outer);
        assert_eq!(frees(), 0, "the end of a guard makes no free");
        free_pending(&context).unwrap();
        assert_eq!((frees(), session.live().device), (20, 0));
        drop((stream, context));
        session.finish();
    }
}

#[test]
fn pending_frees_of_a_forgotten_guard_are_made_with_the_context() {
    for memory_pools in [true, false] {
        let session = Session::with(Traits { memory_pools });
        let context = session.context();
        let stream = Stream::new(&context).unwrap();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = defer_cleanup(&context);
            let _array = zeros::<u8, _>(&context, 16).unwrap();
            panic!("a panic inside the guard");
        }));
        assert!(panicked.is_err());
        assert_eq!(memory_statistics(&context).pending_frees, 1);
        std::mem::forget(defer_cleanup(&context));
        (0..20).for_each(|_| used_and_dropped(&stream));
        assert_eq!(session.live().device, 21);
        drop((stream, context));
        assert_eq!((session.live().device, session.live().contexts), (0, 0));
        session.finish();
    }
}

#[test]
fn frees_inside_a_capture_wait_for_its_end() {
    let session = Session::with(WITHOUT_POOLS);
    let context = session.context();
    set_pending_limits(&context, PendingLimits { count: 0, bytes: 0 });
    let graph = Graph::capture(&context, |_| {
        used_and_dropped(&context.default_stream());
        assert!(free_pending(&context).is_err(), "work cannot be waited for inside a capture");
        Ok(())
    });
    assert_eq!(memory_statistics(&context).pending_frees, 1);
    used_and_dropped(&context.default_stream());
    assert_eq!((memory_statistics(&context).pending_frees, session.live().device), (0, 0));
    drop((graph, context));
    session.finish();
}

#[test]
fn an_allocation_without_room_makes_pending_frees_and_retries_once() {
    let session = Session::with(WITHOUT_POOLS);
    let context = session.context();
    used_and_dropped(&context.default_stream());
    session.fail("cuMemAlloc_v2", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let array = device_array::<u8, _>(&context, 8).unwrap();
    assert_eq!((session.count("cuMemFree_v2"), session.live().device), (1, 1));
    drop((array, context));
    session.finish();
}

#[test]
fn a_free_that_fails_stops_no_other() {
    let session = Session::with(WITHOUT_POOLS);
    session.leaves();
    let context = session.context();
    (0..3).for_each(|_| used_and_dropped(&context.default_stream()));
    session.fail("cuMemFree_v2", 2, CUresult::CUDA_ERROR_INVALID_VALUE);
    free_pending(&context).unwrap();
    assert_eq!((session.live().device, memory_statistics(&context).pending_frees), (1, 0));
    session.fail("cuCtxSynchronize", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    used_and_dropped(&context.default_stream());
    assert!(free_pending(&context).is_err());
    assert_eq!(memory_statistics(&context).pending_frees, 1, "nothing was freed before it was waited for");
    free_pending(&context).unwrap();
    assert_eq!(memory_statistics(&context).pending_frees, 0);
}

#[test]
fn statistics_count_live_and_peak_bytes_also_of_many_threads() {
    let session = Session::new();
    let context = session.context();
    let held = zeros::<u8, _>(&context, 1000).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| drop(device_array::<u8, _>(&context, 10).unwrap())));
        }
    });
    let statistics = memory_statistics(&context);
    assert_eq!((statistics.live_bytes, statistics.allocations, statistics.frees), (1000, 201, 200));
    assert!((1010..=1040).contains(&statistics.peak_bytes), "{statistics:?}");
    reset_peak(&context);
    assert_eq!(memory_statistics(&context).peak_bytes, 1000);
    drop(device_array::<u8, _>(&context, 0).unwrap());
    assert_eq!(memory_statistics(&context).allocations, 201, "no bytes are no allocation");
    drop((held, context));
    session.finish();
}

#[test]
fn no_room_at_the_first_the_nth_and_every_allocation_loses_nothing() {
    for memory_pools in [true, false] {
        let call = if memory_pools { "cuMemAllocAsync" } else { "cuMemAlloc_v2" };
        for failing in (1..=5).map(|nth| nth..=nth + 1).chain([1..=20]) {
            let session = Session::with(Traits { memory_pools });
            let context = session.context();
            let every = failing.clone().count() > 2;
            failing.for_each(|nth| session.fail(call, nth, CUresult::CUDA_ERROR_OUT_OF_MEMORY));
            let host = Array1::<f32>::zeros(64);
            for _ in 0..10 {
                let made: Result<Vec<_>, _> = (0..5).map(|_| to_device(&context, &host)).collect();
                assert!(made.is_ok() || made.unwrap_err().is_out_of_memory());
            }
            let statistics = memory_statistics(&context);
            assert_eq!((statistics.live_bytes, statistics.allocations), (0, statistics.frees));
            assert_eq!(statistics.allocations == 0, every);
            assert!(to_device(&context, &host).is_ok(), "the next call works");
            drop(context);
            session.finish();
        }
    }
}

#[test]
fn a_custom_pool_is_trimmed_when_it_is_full_and_destroyed_with_its_last_array() {
    let session = Session::new();
    let context = session.context();
    let (pool, stream) = (MemoryPool::new(&context).unwrap(), Stream::new(&context).unwrap());
    session.forget();
    session.fail("cuMemAllocFromPoolAsync", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let mut x = device_array::<u8, _>((&pool, &stream), 100).unwrap();
    assert_eq!(
        session.names(),
        ["cuMemAllocFromPoolAsync", "cuCtxSynchronize", "cuMemPoolTrimTo", "cuMemAllocFromPoolAsync"]
    );
    x.fill_on(1, &stream).unwrap();
    let other = session.driver().device(1).unwrap().primary_context().unwrap();
    let refused = device_array::<u8, _>((&pool, &other.default_stream()), 1).unwrap_err();
    assert!(refused.to_string().starts_with("memory of device 0 cannot be used in default stream"), "{refused}");
    drop(pool);
    assert_eq!(session.live().pools, 1, "the array has it");
    session.forget();
    drop(x);
    assert_eq!(session.names(), ["cuMemFreeAsync", "cuMemPoolDestroy"], "in the stream's order, and then the pool");
    drop((stream, context, other));
    session.finish();
}
