//! The programs that the design promises, as a user writes them; the vector add and the product of matrices are tested
//! with the other programs and with the kernel language.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cuda_prelude::*;
use ndarray::Array1;

use crate::support::{add_arrays, in_own_process};

/// Streams, events, a future, the profiler.
#[test]
fn streams_and_events() -> Result<()> {
    pollster::block_on(async {
        let (b, t) = (8, 128);
        let x = to_device(&Array1::from_iter((0..1000).map(|i| i as f32)))?;
        let y = to_device(&Array1::ones(1000))?;
        let mut out = device_array_like(&x)?;

        let s = stream()?;
        let (start, end) = (event()?, event()?);
        s.scope(|s| {
            start.record(s)?;
            add_arrays::launch((b, t, s), &x, &y, &mut out)?;
            end.record(s)
        })?;
        assert!(event_elapsed_time(&start, &end)? >= 0.0);
        s.done().await?;
        let _guard = profiling()?;
        assert_eq!(out.copy_to_host()?[999], 1000.0);
        Ok(())
    })
}

/// A host function that takes some time, so that the future is polled before; what it sets then.
fn slow(stream: &Stream) -> Result<Arc<AtomicBool>> {
    let reached = Arc::new(AtomicBool::new(false));
    let set = reached.clone();
    stream.launch_host_fn(move || {
        std::thread::sleep(Duration::from_millis(50));
        set.store(true, Ordering::SeqCst);
    })?;
    Ok(reached)
}

#[test]
fn futures_of_streams_run_on_a_pool_of_threads() -> Result<()> {
    let pool = futures_executor::ThreadPool::new().expect("threads can be started");
    let (sender, receiver) = std::sync::mpsc::channel();
    for number in 0..4 {
        let (stream, sender) = (stream()?, sender.clone());
        let reached = slow(&stream)?;
        pool.spawn_ok(async move {
            let done = stream.done().await;
            sender.send((number, done.is_ok() && reached.load(Ordering::SeqCst))).expect("it is awaited");
        });
    }
    drop(sender);
    let mut reached: Vec<_> = receiver.iter().collect();
    reached.sort_unstable();
    assert_eq!(reached, [(0, true), (1, true), (2, true), (3, true)]);
    Ok(())
}

/// A future may be dropped before or while it waits.
#[test]
fn a_dropped_future_cancels_nothing() -> Result<()> {
    let stream = stream()?;
    let (sender, receiver) = std::sync::mpsc::channel();
    slow(&stream)?;
    drop(stream.done());
    let mut polled = Box::pin(stream.done());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(polled.as_mut().poll(&mut context).is_pending());
    drop(polled);
    stream.launch_host_fn(move || sender.send(()).expect("it is awaited"))?;
    pollster::block_on(stream.done())?;
    receiver.try_recv().expect("what came before the last future is done");
    Ok(())
}

#[kernel]
fn panics(x: &mut [u32]) {
    let i = grid::<1>();
    assert!(i < x.len(), "too many threads");
}

#[test]
fn a_future_tells_of_a_kernel_that_panicked() {
    in_own_process("design::a_future_tells_of_a_kernel_that_panicked", &[], || {
        let stream = stream().unwrap();
        let mut x = zeros::<u32, _>(4).unwrap();
        panics::launch((1, 8, &stream), &mut x).unwrap();
        let error = pollster::block_on(stream.done()).unwrap_err();
        assert!(error.to_string().contains("too many threads"), "{error}");
        pollster::block_on(stream.done()).unwrap();
    });
}

#[test]
fn a_selection_ends_and_a_stream_of_others_is_used() -> Result<()> {
    let own = stream()?;
    // SAFETY: `own` is a stream of the current context and outlives what is done with it here.
    let theirs = unsafe { external_stream(own.as_raw()) }?;
    let mut out = zeros::<f32, _>(100)?;
    let x = to_device(&Array1::ones(100))?;
    add_arrays::launch((1, 128, &theirs), &x, &x, &mut out)?;
    theirs.synchronize()?;
    assert_eq!(out.copy_to_host()?.sum(), 200.0);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| -> Result<()> {
            close();
            // SAFETY: 0 is a default stream, which nobody destroys.
            let refused = unsafe { external_stream(std::ptr::null_mut()) };
            assert!(refused.unwrap_err().to_string().contains("select a device first"));
            {
                let _selected = gpus()?[0].select()?;
                assert!(Context::current().is_some());
            }
            assert!(Context::current().is_none(), "the selection before was none");
            Ok(())
        });
        other.join().expect("it does not panic")
    })
}
