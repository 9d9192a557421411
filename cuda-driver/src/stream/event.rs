//! [`Event`]: a marker in a stream that can be waited for and, with timing, measured.
//!
//! A raw event may have been recorded by an earlier owner. Invariant: the driver is queried about an event only after
//! its present owner has recorded it; before, calls behave as for an event that was never recorded.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a live event (owned by `self`), a live stream of the same
//! context (checked) and pointers that live through the call.

use std::fmt;

use cuda_sys::CUevent;

use crate::call::driver_query;
use crate::context::Context;
use crate::driver_call;
use crate::error::{Error, Result};
use crate::panic::StreamPosition;
use crate::stream::Stream;
use crate::stream::deferred_drop::{defer_drop, drop_deferred, is_in_host_fn};
use crate::stream::pool::destroy_event;
use crate::sync::{Arc, AtomicBool, Mutex, Ordering};

/// A marker in a stream. Clones are cheap and mean the same event.
///
/// Making and dropping one is cheap too: a context pools spare events.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Event, Stream};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let stream = Stream::new(&context)?;
/// let (start, end) = (Event::new(&context)?, Event::new(&context)?);
/// start.record(&stream)?;
/// end.record(&stream)?;
/// end.synchronize()?;
/// println!("{} ms", start.elapsed_ms(&end)?);
/// # Ok(())
/// # }
/// ```
///
/// See the [CUDA driver API, event management](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__EVENT.html).
#[derive(Clone)]
pub struct Event(Arc<EventInner>);

struct EventInner {
    context: Context,
    raw: CUevent,
    timing: bool,
    /// True if it was recorded, as far as this object knows.
    recorded: AtomicBool,
    /// True if other code has the raw handle.
    exposed: AtomicBool,
    /// The stream's position at the record; `None` before, and if other code recorded it.
    position: Mutex<Option<StreamPosition>>,
}

// SAFETY: the raw event is an address that the driver accepts on any thread.
unsafe impl Send for EventInner {}
// SAFETY: the driver's own locks protect the event that the address names.
unsafe impl Sync for EventInner {}

impl Event {
    /// A new event that measures time.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn new(context: &Context) -> Result<Self> {
        Self::create(context, true)
    }

    /// A new event without timing, which is cheaper to record and to wait for.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Event, Stream};
    ///
    /// let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
    /// let event = Event::without_timing(&context)?;
    /// event.record(&first)?;
    /// second.wait_event(&event)?;            // work of the second stream comes after that of the first
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn without_timing(context: &Context) -> Result<Self> {
        Self::create(context, false)
    }

    fn create(context: &Context, timing: bool) -> Result<Self> {
        let raw = context.events().take(context, timing)?;
        let (recorded, exposed) = (AtomicBool::new(false), AtomicBool::new(false));
        let (context, position) = (context.clone(), Mutex::new(None));
        Ok(Event(Arc::new(EventInner { context, raw, timing, recorded, exposed, position })))
    }

    /// The context of the event.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Event;
    ///
    /// assert_eq!(Event::new(&context)?.context(), &context);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The raw handle; valid while a clone of the event lives.
    ///
    /// Until the event is recorded, the handle may still have the record of an earlier, dropped event.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Event, driver_call};
    ///
    /// let (event, stream) = (Event::new(&context)?, context.default_stream());
    /// // SAFETY: both are live and of one context.
    /// unsafe { driver_call!(&context, cuEventRecord(event.as_raw(), stream.as_raw())) }?;
    /// event.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn as_raw(&self) -> CUevent {
        self.0.exposed.store(true, Ordering::Relaxed);
        // Code that has the handle may record it.
        self.raw_to_record()
    }

    /// The raw handle, for an operation that records the event.
    pub(crate) fn raw_to_record(&self) -> CUevent {
        self.0.recorded.store(true, Ordering::Relaxed);
        self.0.raw
    }

    /// The raw handle, if the event was recorded.
    pub(crate) fn recorded_raw(&self) -> Option<CUevent> {
        self.0.recorded.load(Ordering::Relaxed).then_some(self.0.raw)
    }

    /// Returns true if the event measures time.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Event;
    ///
    /// assert!(Event::new(&context)?.has_timing() && !Event::without_timing(&context)?.has_timing());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn has_timing(&self) -> bool {
        self.0.timing
    }

    /// Records the present end of `stream`; replaces the earlier record.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a stream of another device's context; [`Error::Driver`] with the driver's status.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        self.0.context.expect_same(stream.context(), stream)?;
        let position = stream.position();
        // SAFETY: event and stream are live and of one context.
        unsafe { driver_call!(&self.0.context, cuEventRecord(self.raw_to_record(), stream.as_raw())) }?;
        self.set_position(position);
        Ok(())
    }

    /// Returns true if the work before the event is done; does not wait, and does not report kernel panics. Without a
    /// record there is no such work.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Event;
    ///
    /// let event = Event::new(&context)?;
    /// event.record(&context.default_stream())?;
    /// context.synchronize()?;
    /// assert!(event.query()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] if work failed.
    pub fn query(&self) -> Result<bool> {
        let Some(raw) = self.recorded_raw() else { return self.not_recorded("cuEventQuery").map(|()| true) };
        // SAFETY: the event is live.
        unsafe { driver_query!(&self.0.context, cuEventQuery(raw)) }
    }

    /// Waits on the host for the work before the event.
    ///
    /// # Errors
    ///
    /// [`Error::KernelPanic`] if a kernel panicked that was launched before the event; [`Error::Driver`] if work
    /// failed.
    pub fn synchronize(&self) -> Result<()> {
        let Some(raw) = self.recorded_raw() else { return self.not_recorded("cuEventSynchronize") };
        let position = self.position();
        // SAFETY: the event is live.
        unsafe { driver_call!(&self.0.context, cuEventSynchronize(raw)) }?;
        drop_deferred();
        position.map_or(Ok(()), |position| position.report_panics())
    }

    /// The stream's position at the record, if [`record`](Event::record) or a graph made it.
    pub(crate) fn position(&self) -> Option<StreamPosition> {
        self.0.position.lock().clone()
    }

    pub(crate) fn set_position(&self, position: StreamPosition) {
        *self.0.position.lock() = Some(position);
    }

    /// The result of a query of an event that was not recorded: no call, but a lost context refuses it.
    fn not_recorded(&self, call: &'static str) -> Result<()> {
        self.0.context.0.admit(call).map(|_| ())
    }

    /// Milliseconds from this event to `end`. Both must have been recorded and have completed.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Event;
    ///
    /// let (start, end, stream) = (Event::new(&context)?, Event::new(&context)?, context.default_stream());
    /// start.record(&stream)?;
    /// end.record(&stream)?;
    /// end.synchronize()?;
    /// assert!(start.elapsed_ms(&end)? >= 0.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if one has no timing, was never recorded, or is of another device's context;
    /// [`Error::Driver`] with `CUDA_ERROR_NOT_READY` if one has not completed yet.
    pub fn elapsed_ms(&self, end: &Event) -> Result<f32> {
        let context = &self.0.context;
        context.expect_same(end.context(), end)?;
        if !(self.0.timing && end.0.timing) {
            return Err(Error::invalid(
                "no time can be measured between events without timing; make both with Event::new",
            ));
        }
        let (Some(from), Some(to)) = (self.recorded_raw(), end.recorded_raw()) else {
            return Err(Error::invalid("no time can be measured to or from an event that was never recorded"));
        };
        let mut ms = 0.0;
        // CUDA 12.8 brought the second version; older drivers have only the first.
        if context.api().cuEventElapsedTime_v2().is_ok() {
            // SAFETY: both events are live, and `ms` lives through the call.
            unsafe { driver_call!(context, cuEventElapsedTime_v2(&mut ms, from, to)) }?;
        } else {
            // SAFETY: both events are live, and `ms` lives through the call.
            unsafe { driver_call!(context, cuEventElapsedTime(&mut ms, from, to)) }?;
        }
        Ok(ms)
    }
}

impl Drop for EventInner {
    fn drop(&mut self) {
        if self.context.is_lost() {
            return;
        }
        if is_in_host_fn() {
            let (recorded, exposed) = (AtomicBool::new(true), AtomicBool::new(self.exposed.load(Ordering::Relaxed)));
            let (context, position) = (self.context.clone(), Mutex::new(None));
            let EventInner { raw, timing, .. } = *self;
            return defer_drop(Box::new(EventInner { context, raw, timing, recorded, exposed, position }));
        }
        match self.exposed.load(Ordering::Relaxed) {
            // Other code may have used it in ways that only the driver knows.
            true => destroy_event(&self.context.0, self.raw),
            false => self.context.events().put(&self.context, self.timing, self.raw),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {:p}", self.0.raw)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.0.context.device().ordinal();
        f.debug_struct("Event")
            .field("raw", &self.0.raw)
            .field("device", &device)
            .field("timing", &self.0.timing)
            .finish()
    }
}
