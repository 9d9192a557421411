//! Streams and events: concurrent work, timing, and waits of one stream for another.

use cuda_prelude::*;
use ndarray::Array1;

use crate::support::add_arrays;

#[test]
fn two_streams_and_an_event() -> Result<()> {
    let host = Array1::from_iter((0..10_000).map(f64::from));
    let (first, second) = (stream()?, stream()?);
    let x = to_device(&host)?;
    let (mut twice, mut four_times) = (device_array_like(&x)?, device_array_like(&x)?);
    add_arrays::launch((40, 256, &first), &x, &x, &mut twice)?;
    let done = event()?;
    done.record(&first)?;
    second.wait_event(&done)?;
    add_arrays::launch((40, 256, &second), &twice, &twice, &mut four_times)?;
    second.synchronize()?;
    assert!(done.query()?);
    assert_eq!(four_times.copy_to_host()?, host * 4.0);
    Ok(())
}

#[test]
fn time_between_events() -> Result<()> {
    let (start, end) = (event()?, event()?);
    let x = to_device(&Array1::<f32>::ones(100_000))?;
    let mut out = device_array_like(&x)?;
    stream()?.scope(|s| {
        start.record(s)?;
        add_arrays::launch((400, 256, s), &x, &x, &mut out)?;
        end.record(s)
    })?;
    assert!(event_elapsed_time(&start, &end)? >= 0.0);
    assert!(event_elapsed_time(&end, &start)? <= 0.0);
    assert_eq!(out.copy_to_host()?.sum(), 200_000.0);
    Ok(())
}

/// Notifications of the host by a callback, a future, and the end of a scope.
#[test]
fn the_host_is_notified_of_the_end() -> Result<()> {
    let stream = stream()?;
    let x = to_device(&Array1::<f32>::ones(1000))?;
    let mut out = device_array_like(&x)?;
    let (sender, receiver) = std::sync::mpsc::channel();
    add_arrays::launch((8, 128, &stream), &x, &x, &mut out)?;
    stream.launch_host_fn(move || sender.send("launched before this").expect("it is awaited"))?;
    pollster::block_on(stream.done())?;
    assert_eq!(receiver.try_recv(), Ok("launched before this"));
    stream.synchronize()?;
    assert!(stream.query()?);

    let event = event_without_timing()?;
    stream.scope(|s| {
        add_arrays::launch((8, 128, s), &x, &x, &mut out)?;
        event.record(s)
    })?;
    assert!(event.query()?, "the scope has waited");
    event.synchronize()?;
    assert_eq!(out.copy_to_host()?.sum(), 2000.0);
    Ok(())
}

#[test]
fn each_default_stream_runs_kernels() -> Result<()> {
    let x = to_device(&Array1::<f32>::ones(100))?;
    for stream in [default_stream()?, legacy_default_stream()?, per_thread_default_stream()?] {
        let mut out = device_array_like(&x)?;
        add_arrays::launch((1, 128, &stream), &x, &x, &mut out)?;
        stream.synchronize()?;
        assert_eq!(out.copy_to_host()?.sum(), 200.0);
    }
    Ok(())
}
