//! The programs that the design promises, as a user writes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cuda_prelude::*;
use ndarray::Array1;

use crate::support::{add_arrays, in_own_process};

/// The first program, word for word.
mod vector_add {
    use cuda_prelude::*;
    use ndarray::{Array1, s};

    use crate::support::add_arrays;

    fn main() -> Result<()> {
        let host_x = Array1::from_iter((0..1_000_000).map(|i| i as f32));
        let host_y = &host_x * 2.0;
        let x = to_device(&host_x)?;
        let y = to_device(&host_y)?;
        let mut out = device_array_like(&x)?;
        let threads = 128;
        let blocks = out.len().div_ceil(threads);
        add_arrays::launch((blocks, threads), &x, &y, &mut out)?;
        let host_out = out.copy_to_host()?;
        println!("{}", host_out.slice(s![..10])); // [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]
        Ok(())
    }

    #[test]
    fn it_prints_the_sums() {
        let text = crate::support::in_own_process("design::vector_add::it_prints_the_sums", &[], || main().unwrap());
        assert!(text.is_empty() || text.contains("[0, 3, 6, 9, 12, 15, 18, 21, 24, 27]\n"), "{text}");
    }
}

/// Shared memory, barriers, two dimensions, const generics; word for word.
#[expect(elided_lifetimes_in_paths, reason = "as users write it")]
mod product {
    use cuda_prelude::*;
    use ndarray::{Array2, ArrayView2, ArrayViewMut2};

    #[rustfmt::skip]
    #[kernel]
    fn matmul<const TILE: usize>(a: ArrayView2<f32>, b: ArrayView2<f32>, mut c: ArrayViewMut2<f32>) {
        let tile_a = shared!([[f32; TILE]; TILE]);
        let tile_b = shared!([[f32; TILE]; TILE]);
        let (col, row) = grid::<2>();
        let (tx, ty) = (thread_idx().x, thread_idx().y);
        let mut acc = 0.0;
        for k in 0..a.ncols().div_ceil(TILE) {
            tile_a[ty][tx] = if row < a.nrows() && k * TILE + tx < a.ncols() { a[[row, k * TILE + tx]] } else { 0.0 };
            tile_b[ty][tx] = if col < b.ncols() && k * TILE + ty < b.nrows() { b[[k * TILE + ty, col]] } else { 0.0 };
            sync_threads();
            for j in 0..TILE { acc += tile_a[ty][j] * tile_b[j][tx]; }
            sync_threads();
        }
        if row < c.nrows() && col < c.ncols() { c[[row, col]] = acc; }
    }

    #[test]
    fn tiles_multiply() -> Result<()> {
        let a = Array2::from_shape_fn((50, 33), |(i, j)| ((i + 2 * j) % 11) as f32);
        let b = Array2::from_shape_fn((33, 40), |(i, j)| ((3 * i + j) % 7) as f32 - 3.0);
        let mut c = zeros::<f32, _>((50, 40))?;
        matmul::<16>::launch(((3, 4), (16, 16)), &to_device(&a)?, &to_device(&b)?, &mut c)?;
        assert_eq!(c.copy_to_host()?, a.dot(&b));
        Ok(())
    }
}

/// Warps and atomics.
mod cooperation {
    use cuda_prelude::*;

    #[kernel]
    fn count_and_sum(x: &[u32], sum: &mut [u32], odd: &mut [u32], first: &mut [u32]) {
        let i = grid::<1>();
        let mut v = if i < x.len() { x[i] } else { 0 };
        let votes = ballot_sync(FULL_MASK, v % 2 == 1);
        v += shfl_down_sync(FULL_MASK, v, 16);
        v += shfl_down_sync(FULL_MASK, v, 8);
        v += shfl_down_sync(FULL_MASK, v, 4);
        v += shfl_down_sync(FULL_MASK, v, 2);
        v += shfl_down_sync(FULL_MASK, v, 1);
        if lane_id() == 0 {
            let old = atomic_add(&mut sum[0], v);
            if old == 0 {
                cas(&mut first[0], 0, v);
            }
            atomic_add(&mut odd[0], votes.count_ones());
        }
    }

    #[test]
    fn warps_and_atomics() -> Result<()> {
        let x: Vec<u32> = (0..1000).map(|i| i * i % 101).collect();
        let (mut sum, mut odd, mut first) = (vec![0], vec![0], vec![0]);
        count_and_sum::launch((8, 128), &x, &mut sum, &mut odd, &mut first)?;
        assert_eq!(sum[0], x.iter().sum::<u32>());
        assert_eq!(odd[0] as usize, x.iter().filter(|v| **v % 2 == 1).count());
        assert!(x.chunks(32).any(|warp| warp.iter().sum::<u32>() == first[0]));
        Ok(())
    }
}

/// The forms of a launch, and the information about a kernel without one.
#[test]
fn launches_and_compilation() -> Result<()> {
    let x = to_device(&Array1::<f32>::ones(1000))?;
    let (y, mut out) = (to_device(&Array1::from_elem(1000, 2.0))?, device_array_like(&x)?);
    let (grid, block, n, s) = (8, 128, 64, stream()?);
    add_arrays::launch((grid, block), &x, &y, &mut out)?;
    add_arrays::launch((grid, block, &s), &x, &y, &mut out)?;
    add_arrays::launch((grid, block, &s, n), &x, &y, &mut out)?;
    add_arrays::launch(LaunchConfig::new(grid, block).stream(&s).shared_bytes(n).cooperative(), &x, &y, &mut out)?;
    add_arrays::forall(out.len(), &x, &y, &mut out)?;
    assert_eq!(out.copy_to_host()?.sum(), 3000.0);

    let (mut host, all) = (vec![0.0; 4], vec![1.0; 4]);
    add_arrays::launch((1, 4), &all, In(&all), Out(&mut host))?;
    add_arrays::launch((1, 4), &all, &all, InOut(&mut host))?;
    assert_eq!(host, [2.0; 4]);

    let ptx = add_arrays::<f32>::compile_ptx((9, 0))?;
    assert!(ptx.contains(".target sm_90"));
    let kernel = add_arrays::<f32>::compile()?;
    assert!(
        kernel.registers() > 0 && kernel.max_threads_per_block() >= 128 && kernel.occupancy(128, 0)?.fraction > 0.0
    );
    assert_eq!((kernel.shared_bytes(), kernel.local_bytes()), (0, 0));
    assert!(kernel.ptx().contains(".entry") && kernel.llvm()?.contains("define"));
    Ok(())
}

/// Streams, events, a future and the profiler.
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

/// Enqueues a slow host function, so that the future is polled before it ends, and returns the flag that it sets.
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
fn a_future_returns_the_panic_of_a_kernel() {
    in_own_process("design::a_future_returns_the_panic_of_a_kernel", &[], || {
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
    // SAFETY: `own` is a stream of the current context and outlives its uses here.
    let theirs = unsafe { external_stream(own.as_raw()) }?;
    let mut out = zeros::<f32, _>(100)?;
    let x = to_device(&Array1::ones(100))?;
    add_arrays::launch((1, 128, &theirs), &x, &x, &mut out)?;
    theirs.synchronize()?;
    assert_eq!(out.copy_to_host()?.sum(), 200.0);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| -> Result<()> {
            close();
            // SAFETY: 0 is a default stream, which is never destroyed.
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
