//! Streams, events and the order between them.

use cuda_prelude::*;
use ndarray::Array1;

use crate::support::{add_arrays, in_own_process};

#[kernel]
fn raise(x: &mut [u64], by: u64) {
    let mut i = grid::<1>();
    while i < x.len() {
        x[i] += by;
        i += grid_size::<1>();
    }
}

#[test]
fn events_measure_the_time_of_a_streams_work() -> Result<()> {
    let s = stream()?;
    let (start, end) = (event()?, event()?);
    let mut x = zeros::<u64, _>(1 << 18)?;
    raise::compile()?;
    s.scope(|s| {
        start.record(s)?;
        for _ in 0..10 {
            raise::launch((16, 256, s), &mut x, 1)?;
        }
        end.record(s)?;
        Ok(())
    })?;
    let ms = event_elapsed_time(&start, &end)?;
    assert!(ms > 0.0 && ms < 60_000.0, "{ms} ms");
    assert!(event_elapsed_time(&end, &start)? <= 0.0);
    assert!(x.copy_to_host()?.iter().all(|&v| v == 10));
    Ok(())
}

#[test]
fn an_event_without_timing_measures_nothing() -> Result<()> {
    let s = stream()?;
    let (start, end) = (event_without_timing()?, event()?);
    start.record(&s)?;
    end.record(&s)?;
    s.synchronize()?;
    let error = event_elapsed_time(&start, &end).unwrap_err().to_string();
    assert!(error.contains("cuEventElapsedTime") || error.contains("timing"), "{error}");
    Ok(())
}

/// Launches on different streams that use the same array are ordered automatically.
#[test]
fn launches_on_different_streams_that_share_an_array_are_ordered() -> Result<()> {
    let streams = [stream()?, stream()?, stream()?];
    let mut x = zeros::<u64, _>(100_000)?;
    for round in 0..30 {
        raise::launch((8, 128, &streams[round % 3]), &mut x, 1 << round)?;
    }
    assert!(x.copy_to_host()?.iter().all(|&v| v == (1 << 30) - 1));
    Ok(())
}

/// A writer on one stream waits for readers on many streams.
#[test]
fn a_writer_waits_for_every_reader() -> Result<()> {
    let n = 200_000;
    let mut x = to_device(&Array1::from_elem(n, 1_u64))?;
    let mut sums = Vec::new();
    for _ in 0..4 {
        let s = stream()?;
        let mut out = device_array_like(&x)?;
        add_arrays::launch((n.div_ceil(128), 128, &s), &x, &x, &mut out)?;
        sums.push(out);
    }
    raise::launch((8, 128, &stream()?), &mut x, 41)?;
    for sum in sums {
        assert!(sum.copy_to_host()?.iter().all(|&v| v == 2));
    }
    assert!(x.copy_to_host()?.iter().all(|&v| v == 42));
    Ok(())
}

#[test]
fn threads_have_their_own_streams_and_share_a_context() {
    let total = std::thread::scope(|scope| {
        let worker = |seed: u64| {
            move || -> Result<u64> {
                let s = stream()?;
                let mut x = zeros::<u64, _>(1000)?;
                for _ in 0..20 {
                    raise::launch((2, 64, &s), &mut x, seed)?;
                }
                s.synchronize()?;
                Ok(x.copy_to_host()?.sum())
            }
        };
        let workers: Vec<_> = (1..=4).map(|seed| scope.spawn(worker(seed))).collect();
        workers.into_iter().map(|worker| worker.join().expect("it does not panic").expect("it runs")).sum::<u64>()
    });
    assert_eq!(total, 20_000 * (1 + 2 + 3 + 4));
}

/// The thread's selection is the last handle of the context, and is released with the thread.
#[test]
fn a_thread_that_ends_releases_its_context() {
    let said = in_own_process("streams::a_thread_that_ends_releases_its_context", &[], || {
        for _ in 0..2 {
            let worker = std::thread::spawn(|| -> Result<u64> {
                let s = stream()?;
                let mut x = zeros::<u64, _>(10)?;
                raise::launch((1, 32, &s), &mut x, 3)?;
                Ok(x.copy_to_host()?.sum())
            });
            assert_eq!(worker.join().expect("it does not panic").expect("it runs"), 30);
        }
    });
    assert!(!said.contains("panicked"), "{said}");
}
