//! Streams and events of the current context.

use cuda_driver::{Capture, Event, Graph, Stream};

use crate::{Result, current_context};

/// Creates a stream.
///
/// # Examples
///
/// ```
/// let stream = cuda_prelude::stream()?;
/// stream.synchronize()?;
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or the driver fails.
pub fn stream() -> Result<Stream> {
    Ok(Stream::new(&current_context()?)?)
}

/// Captures the launches that `work` makes through the given capture into a graph in the current context. Nothing runs yet.
///
/// See [`Graph::capture`] for the operations that can be captured, and [`GraphExec::launch`](crate::GraphExec::launch) for the
/// arrays that a launch borrows.
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// #[kernel]
/// fn double(x: &mut [f32]) {
///     let i = grid::<1>();
///     if i < x.len() {
///         x[i] *= 2.0;
///     }
/// }
///
/// let mut x = from_slice(&[1.0_f32, 2.0, 3.0])?;
/// let twice = capture(|c| {
///     double::launch((1, 32, c), &mut x)?;
///     double::launch((1, 32, c), &mut x)?;
///     Ok(())
/// })?;
/// let exec = twice.instantiate()?;
/// let s = stream()?;
/// exec.launch(&s, &mut x)?;
/// exec.launch(&s, &mut x)?;
/// assert_eq!(x.copy_to_host()?.to_vec(), [16.0, 32.0, 48.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// The error of `work`; or if there is no device, or the driver fails.
pub fn capture(work: impl FnOnce(&Capture) -> cuda_driver::Result<()>) -> Result<Graph> {
    Ok(Graph::capture(&current_context()?, work)?)
}

/// The stream of launches and copies for which none is given.
///
/// # Examples
///
/// ```
/// cuda_prelude::default_stream()?.synchronize()?;
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device.
pub fn default_stream() -> Result<Stream> {
    Ok(current_context()?.default_stream())
}

/// The legacy default stream, which synchronises with all blocking streams.
///
/// # Examples
///
/// ```
/// assert!(cuda_prelude::legacy_default_stream()?.query()?);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device.
pub fn legacy_default_stream() -> Result<Stream> {
    Ok(Stream::legacy(&current_context()?))
}

/// The calling thread's default stream.
///
/// # Examples
///
/// ```
/// assert!(cuda_prelude::per_thread_default_stream()?.query()?);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device.
pub fn per_thread_default_stream() -> Result<Stream> {
    Ok(Stream::per_thread(&current_context()?))
}

/// Creates an event that can measure time.
///
/// # Examples
///
/// ```
/// let event = cuda_prelude::event()?;
/// event.record(&cuda_prelude::default_stream()?)?;
/// event.synchronize()?;
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or the driver fails.
pub fn event() -> Result<Event> {
    Ok(Event::new(&current_context()?)?)
}

/// Creates an event without timing, which is cheaper.
///
/// # Examples
///
/// ```
/// let event = cuda_prelude::event_without_timing()?;
/// event.record(&cuda_prelude::default_stream()?)?;
/// cuda_prelude::stream()?.wait_event(&event)?;
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or the driver fails.
pub fn event_without_timing() -> Result<Event> {
    Ok(Event::without_timing(&current_context()?)?)
}

/// The time between two recorded events in milliseconds.
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// let (start, end, s) = (event()?, event()?, stream()?);
/// start.record(&s)?;
/// end.record(&s)?;
/// end.synchronize()?;
/// assert!(event_elapsed_time(&start, &end)? >= 0.0);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If either was not recorded, is not yet complete, or was created without timing.
pub fn event_elapsed_time(start: &Event, end: &Event) -> Result<f32> {
    Ok(start.elapsed_ms(end)?)
}
