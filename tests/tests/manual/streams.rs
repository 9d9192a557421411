//! Streams and events: independent work side by side, times, waits of one stream for another.

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
