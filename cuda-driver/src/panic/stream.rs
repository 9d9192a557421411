//! [`StreamPanics`]: the launches of a stream and their records; [`StreamPosition`]: the launches that a wait covers.

use std::fmt;
use std::marker::PhantomData;

use cuda_sys::CUdeviceptr;

use super::log::{FoundPanic, LaunchLog, OtherLaunches, ThreadLog, slot_of};
use super::record::Records;
use super::set::{LaunchId, LaunchSet};
use super::waiter::{Waiter, Writers};
use super::{KernelPanic, RawPanic, with_others};
use crate::context::Context;
use crate::error::Result;
use crate::stream::StreamId;
use crate::sync::Arc;
use crate::sync::shared_with_device::{AtomicU64, Ordering};
use crate::thread;

/// The launch log and panic records of a stream. A later stream reuses them, with the driver's stream if that is pooled.
pub(crate) struct StreamPanics {
    /// Its index in the context's list.
    index: u32,
    /// The id of the stream that uses it.
    stream: AtomicU64,
    pub(crate) log: LaunchLog<Records>,
}

impl StreamPanics {
    pub(crate) fn new(index: u32, stream: StreamId) -> Self {
        let stream = AtomicU64::new(stream.number());
        StreamPanics { index, stream, log: LaunchLog::default() }
    }

    pub(crate) fn id(&self) -> u64 {
        self.stream.load(Ordering::Relaxed)
    }

    pub(crate) fn set_id(&self, stream: StreamId) {
        self.stream.store(stream.number(), Ordering::Relaxed);
    }

    /// The record for the next launch.
    #[inline]
    pub(crate) fn begin<'a>(&'a self, context: &Context) -> Result<PanicRecord<'a>> {
        let log = self.own_log();
        let records = log.records(|| context.panics().new_records(context))?;
        let launch = log.begin(records);
        let device = records.device_ptr(slot_of(launch));
        Ok(PanicRecord { device, launch, log, thread_bound: PhantomData })
    }

    /// The log of the calling thread.
    #[inline]
    pub(crate) fn own_log(&self) -> &ThreadLog<Records> {
        self.log.of_thread(thread::number(), thread::is_running)
    }

    /// The stream's position: its launches so far.
    #[inline]
    pub(crate) fn position(self: &Arc<Self>, context: &Context) -> StreamPosition {
        let (launches, predecessors) = (self.log.returned(), self.log.predecessors(None));
        StreamPosition { context: context.clone(), stream: self.clone(), launches, predecessors }
    }

    /// The stream's launches so far, and those before it in other streams than `later`.
    pub(crate) fn launches_before(&self, later: &Self) -> (LaunchSet, OtherLaunches) {
        (self.log.returned(), self.log.predecessors(Some(later.index)))
    }

    /// Notes that the stream's next work is ordered after launches of `earlier`, and after the predecessors of those.
    pub(crate) fn add_predecessor(
        &self,
        earlier: &Self,
        (launches, others): &(LaunchSet, OtherLaunches),
        context: &Context,
    ) {
        let is_reported = |index, launches: &LaunchSet| context.panics().is_reported(index, launches);
        if earlier.index != self.index && !earlier.log.is_reported(launches) {
            self.log.add_predecessor(earlier.index, launches, is_reported);
        }
        for (index, launches) in others {
            if *index != self.index && !is_reported(*index, launches) {
                self.log.add_predecessor(*index, launches, is_reported);
            }
        }
    }
}

/// The panic record of one launch, with the tag that the kernel writes there; from [`Stream::panic_record`].
///
/// The launch's call is made while this lives, in that stream. See [`RawPanic`] for what the kernel writes.
///
/// [`Stream::panic_record`]: crate::Stream::panic_record
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::{PanicRecord, Stream};
///
/// let stream = Stream::new(&context)?;
/// let record = stream.panic_record()?;
/// assert_eq!((PanicRecord::SIZE, record.device_ptr() % 16), (104, 0));
/// assert_eq!(record.tag(7) as u32, 7);           // the other half is the launch's number
/// # Ok(())
/// # }
/// ```
pub struct PanicRecord<'a> {
    device: CUdeviceptr,
    launch: u64,
    log: &'a ThreadLog<Records>,
    /// The log belongs to the calling thread.
    thread_bound: PhantomData<*mut ()>,
}

impl PanicRecord<'_> {
    /// Size of the record in bytes.
    pub const SIZE: usize = 104;

    /// The record's address on the device, aligned to 16 bytes; valid while the context lives.
    #[must_use]
    #[inline]
    pub fn device_ptr(&self) -> CUdeviceptr {
        self.device
    }

    /// The tag that the kernel writes: the number from [`Context::register_kernel`] in the low half, the launch in the high.
    #[must_use]
    #[inline]
    pub fn tag(&self, kernel: u32) -> u64 {
        tag(kernel, self.launch as u32)
    }
}

pub(super) fn tag(kernel: u32, launch: u32) -> u64 {
    u64::from(launch) << 32 | u64::from(kernel)
}

impl Drop for PanicRecord<'_> {
    #[inline]
    fn drop(&mut self) {
        self.log.end();
    }
}

impl fmt::Debug for PanicRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PanicRecord")
            .field("device", &self.device)
            .field("launch", &self.launch)
            .finish_non_exhaustive()
    }
}

/// The launches in a stream up to a moment, and those in other streams that they are ordered after: the launches that a
/// wait for the stream covers.
///
/// Code that waits by a raw call takes the position before it waits, and reports the panics of the launches afterwards.
/// [`Stream::synchronize`](crate::Stream::synchronize) and the other waits of this crate do both.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::{Stream, driver_call};
///
/// let stream = Stream::new(&context)?;
/// let position = stream.position();
/// // SAFETY: the stream is live.
/// unsafe { driver_call!(&context, cuStreamSynchronize(stream.as_raw())) }?;
/// position.report_panics()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StreamPosition {
    context: Context,
    stream: Arc<StreamPanics>,
    launches: LaunchSet,
    predecessors: OtherLaunches,
}

impl StreamPosition {
    /// The same position with one more launch, the next in the stream.
    pub(crate) fn with(mut self, launch: LaunchId) -> Self {
        self.launches.insert(launch);
        self
    }

    /// Notes that the next work of `stream` is ordered after this position.
    pub(crate) fn precede(&self, stream: &StreamPanics) {
        let launches = (self.launches.clone(), self.predecessors.clone());
        stream.add_predecessor(&self.stream, &launches, &self.context);
    }

    /// Reports the panics of the launches, all of which have been waited for. It makes no call.
    ///
    /// # Errors
    ///
    /// [`Error::KernelPanic`](crate::Error::KernelPanic).
    #[inline]
    pub fn report_panics(&self) -> Result<()> {
        self.report(Waiter::explicit)
    }

    /// As [`report_panics`](StreamPosition::report_panics), for a wait for memory that `writers` write.
    ///
    /// # Errors
    ///
    /// [`Error::KernelPanic`](crate::Error::KernelPanic).
    #[doc(hidden)]
    #[inline]
    pub fn report_panics_of(&self, writers: &Writers) -> Result<()> {
        self.report(|| Waiter::of_memory(writers))
    }

    /// As [`report_panics_of`](StreamPosition::report_panics_of), for several positions in one context, all of which
    /// were waited for: one error reports all panics.
    ///
    /// # Errors
    ///
    /// [`Error::KernelPanic`](crate::Error::KernelPanic).
    #[doc(hidden)]
    pub fn report_panics_of_all(positions: &[Self], writers: &Writers) -> Result<()> {
        let [first, ..] = positions else { return Ok(()) };
        let mut reported = PanicReport::default();
        for position in positions.iter().filter(|position| position.find()) {
            position.collect(&Waiter::of_memory(writers), &mut reported);
        }
        reported.result(&first.context)
    }

    #[inline]
    fn report<'a>(&self, waiter: impl FnOnce() -> Waiter<'a>) -> Result<()> {
        if self.find() { self.report_found(&waiter()) } else { Ok(()) }
    }

    /// Finds the panics of the stream's launches. Returns true if there may be something to report.
    #[inline]
    fn find(&self) -> bool {
        let has_state = self.stream.log.find(&self.launches);
        has_state || !self.predecessors.is_empty()
    }

    #[cold]
    fn report_found(&self, waiter: &Waiter<'_>) -> Result<()> {
        let mut reported = PanicReport::default();
        self.collect(waiter, &mut reported);
        reported.result(&self.context)
    }

    fn collect(&self, waiter: &Waiter<'_>, reported: &mut PanicReport) {
        if super::are_withheld() {
            return;
        }
        reported.add(&self.stream, &self.launches, waiter);
        let waiter = waiter.of_earlier_streams();
        for (index, launches) in &self.predecessors {
            reported.add(&self.context.panics().stream(*index), launches, &waiter);
        }
    }
}

impl fmt::Debug for StreamPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamPosition")
            .field("launches", &self.launches)
            .field("after", &self.predecessors)
            .finish_non_exhaustive()
    }
}

/// Panics that are being reported, by stream and launch.
#[derive(Default)]
pub(super) struct PanicReport(Vec<(u64, LaunchId, RawPanic)>);

impl PanicReport {
    /// Finds the panics of a stream's launches, and adds those that concern `waiter`.
    pub(super) fn add(&mut self, stream: &StreamPanics, launches: &LaunchSet, waiter: &Waiter<'_>) {
        if stream.log.find(launches) {
            let id = stream.id();
            stream.log.report(launches, waiter, |launch, raw| self.0.push((id, launch, raw)));
        }
    }

    pub(super) fn push(&mut self, stream: u64, found: &FoundPanic) {
        self.0.push((stream, found.launch, found.raw));
    }

    /// The panics, in the order of streams' ids and of the launches in each.
    pub(super) fn decoded(mut self, context: &super::ContextPanics) -> Option<KernelPanic> {
        self.0.sort_by_key(|(stream, launch, _)| (*stream, *launch));
        let mut panics = self.0.into_iter().map(|(.., raw)| context.decode(&raw));
        let first = panics.next()?;
        Some(with_others(first, panics.collect()))
    }

    pub(super) fn result(self, context: &Context) -> Result<()> {
        match self.decoded(context.panics()) {
            None => Ok(()),
            Some(panic) => Err(panic.into()),
        }
    }
}
