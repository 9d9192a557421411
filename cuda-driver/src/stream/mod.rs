//! [`Stream`]: a queue of work on the device that runs in order.
//!
//! A stream does not know which memory its work uses; `cuda-mem` does, and orders streams with [`Stream::wait_for`].
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a live stream of the bound context (owned by `self`, one
//! of the driver's fixed streams, or guaranteed by the caller of [`Stream::external`]) and pointers that live through
//! the call.

pub(crate) mod deferred_drop;
pub(crate) mod done;
pub(crate) mod event;
pub(crate) mod host_fn;
mod id;
mod options;
pub(crate) mod per_thread;
pub(crate) mod pool;
pub(crate) mod scope;

use std::any::Any;
use std::fmt;
use std::sync::LazyLock;

use cuda_sys::CUstream;

use crate::call::driver_query;
use crate::context::Context;
use crate::driver_call;
use crate::error::{Error, Result};
use crate::graph::{Capture, Graph};
use crate::panic::{GraphRecords, LaunchId, LaunchSet, PanicRecord, StreamPanics, StreamPosition};
use crate::stream::deferred_drop::{defer_drop, drop_deferred, is_in_host_fn};
use crate::stream::done::Done;
use crate::stream::event::Event;
use crate::stream::per_thread::PerThreadStream;
use crate::stream::pool::Queue;
use crate::stream::scope::StreamScope;
use crate::sync::Arc;
use crate::thread;

pub use id::StreamId;
pub use options::StreamOptions;
pub(crate) use options::create;

/// A queue of work on the device. Clones are cheap and mean the same stream.
///
/// Work of one stream runs in the order in which it was enqueued; work of two streams may overlap. A created stream is
/// destroyed with its last clone, after its work; a context pools idle streams for reuse.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use std::sync::mpsc::channel;
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let stream = cuda_driver::Stream::new(&context)?;
/// let (sender, receiver) = channel();
/// stream.launch_host_fn(move || sender.send("reached").unwrap())?;
/// stream.synchronize()?;
/// assert_eq!(receiver.recv().unwrap(), "reached");
/// assert!(stream.query()?);
/// # Ok(())
/// # }
/// ```
///
/// See the [CUDA driver API, stream management](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__STREAM.html).
#[derive(Clone)]
pub struct Stream(Inner);

/// At most one reference count per clone, since launches clone streams.
#[derive(Clone)]
enum Inner {
    Owned(Arc<OwnedStream>),
    Unowned(Context, Kind),
}

/// A stream that is not destroyed with its last clone.
#[derive(Clone)]
enum Kind {
    Null,
    Legacy,
    PerThread(Arc<PerThreadStream>),
    External(Arc<ExternalStream>),
}

/// A stream that someone else destroys, no earlier than `owner` is dropped if there is one.
struct ExternalStream {
    raw: RawStream,
    id: StreamId,
    panics: Arc<StreamPanics>,
    owner: Option<Box<dyn Any + Send + Sync>>,
}

/// A raw stream that can be sent between threads.
#[derive(Clone, Copy)]
struct RawStream(CUstream);

// SAFETY: the raw stream is an address that the driver accepts on any thread.
unsafe impl Send for RawStream {}
// SAFETY: the driver's own locks protect the stream that the address names.
unsafe impl Sync for RawStream {}

struct OwnedStream {
    context: Context,
    raw: RawStream,
    id: StreamId,
    panics: Arc<StreamPanics>,
    /// True if it returns to the pool once it is idle.
    pooled: bool,
}

/// The environment variable that, set to `1`, makes the default stream the per-thread default stream.
const PER_THREAD: &str = "CUDA_DRIVER_PER_THREAD_DEFAULT_STREAM";

static PER_THREAD_BY_DEFAULT: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os(PER_THREAD).is_some_and(|it| it == "1"));

impl Stream {
    /// A new stream, independent of the legacy default stream.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn new(context: &Context) -> Result<Self> {
        Self::with_options(context, StreamOptions::new())
    }

    /// A new stream with options.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Stream, StreamOptions};
    ///
    /// let urgent = Stream::with_options(&context, StreamOptions::new().priority(-1))?;
    /// assert!(urgent.query()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn with_options(context: &Context, options: StreamOptions) -> Result<Self> {
        let pooled = options == StreamOptions::default();
        let id = StreamId::unique();
        let Queue { raw, panics } = match pooled {
            true => context.streams().take(context, id)?,
            false => {
                let raw = create(context, options)?;
                Queue { raw, panics: context.panics().of_stream(id) }
            }
        };
        let owned = OwnedStream { context: context.clone(), raw: RawStream(raw), id, panics, pooled };
        Ok(Stream(Inner::Owned(Arc::new(owned))))
    }

    /// The default stream: stream 0, which means the legacy default stream, unless [`PER_THREAD`] is set.
    pub(crate) fn null(context: &Context) -> Self {
        if *PER_THREAD_BY_DEFAULT {
            Self::per_thread(context)
        } else {
            Stream(Inner::Unowned(context.clone(), Kind::Null))
        }
    }

    /// The legacy default stream, which waits for the context's blocking streams and they for it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Stream;
    ///
    /// Stream::legacy(&context).synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn legacy(context: &Context) -> Self {
        Stream(Inner::Unowned(context.clone(), Kind::Legacy))
    }

    /// The default stream of the calling thread, which waits for the legacy default stream and it for this one.
    ///
    /// It stays the calling thread's stream when the value is sent to another thread. Therefore it is a stream of this
    /// crate, and not the driver's handle `CU_STREAM_PER_THREAD`, which means another queue on each thread; for code of
    /// other libraries that uses that handle, see [`external`](Stream::external). If no stream can be made, as in a
    /// lost context, it is the legacy default stream.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Stream;
    ///
    /// let own = Stream::per_thread(&context);
    /// let (theirs, ours) = std::thread::scope(|scope| {
    ///     scope.spawn(|| (Stream::per_thread(&context).id(), own.id())).join().unwrap()
    /// });
    /// assert_ne!(own.id(), theirs);
    /// assert_eq!(own.id(), ours);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn per_thread(context: &Context) -> Self {
        let kind = context.per_thread_streams().current(context).map_or_else(
            |error| {
                tracing::debug!(%error, "the thread has no stream of its own, so its default stream is the legacy one");
                Kind::Legacy
            },
            Kind::PerThread,
        );
        Stream(Inner::Unowned(context.clone(), kind))
    }

    /// A stream that other code made and will destroy. The driver's fixed handles 0, 1 and 2 mean its default streams;
    /// 2, `CU_STREAM_PER_THREAD`, is that of the calling thread.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Stream;
    ///
    /// let of_another_library = Stream::new(&context)?;
    /// // SAFETY: it lives longer than the value, and is of the context.
    /// let stream = unsafe { Stream::external(&context, of_another_library.as_raw()) };
    /// stream.synchronize()?;
    /// assert_eq!(stream.context(), &context);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// `raw` is a stream of `context`, and is destroyed only after the last clone of the returned value, and everything
    /// that was used on it, is dropped. If it is `CU_STREAM_PER_THREAD`, these stay on the calling thread.
    #[must_use]
    pub unsafe fn external(context: &Context, raw: CUstream) -> Self {
        Self::of_another(context, raw, None)
    }

    /// As [`external`](Stream::external), of a stream that `owner` keeps: it is dropped with the last clone of the returned
    /// value, or at once for a default stream, which nothing destroys.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Stream;
    ///
    /// let of_another_library = Stream::new(&context)?;
    /// let raw = of_another_library.as_raw();
    /// // SAFETY: the owner keeps the stream, which is of the context.
    /// let stream = unsafe { Stream::external_with_owner(&context, raw, of_another_library) };
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// `raw` is a stream of `context`, and is destroyed only after `owner` is dropped. It is not `CU_STREAM_PER_THREAD`, unless
    /// the returned value and everything that is used on it stay on the calling thread.
    #[must_use]
    pub unsafe fn external_with_owner(context: &Context, raw: CUstream, owner: impl Any + Send + Sync) -> Self {
        Self::of_another(context, raw, Some(Box::new(owner)))
    }

    fn of_another(context: &Context, raw: CUstream, owner: Option<Box<dyn Any + Send + Sync>>) -> Self {
        let external = |id, owner| {
            let panics = context.panics().of_external(id);
            Kind::External(Arc::new(ExternalStream { raw: RawStream(raw), id, panics, owner }))
        };
        let kind = match raw.addr() {
            0 => Kind::Null,
            1 => Kind::Legacy,
            2 => external(StreamId::new(StreamId::THREADS | u64::from(thread::number())), owner),
            address => external(StreamId::new(address as u64), owner),
        };
        Stream(Inner::Unowned(context.clone(), kind))
    }

    /// The context of the stream.
    #[must_use]
    #[inline]
    pub fn context(&self) -> &Context {
        match &self.0 {
            Inner::Owned(owned) => &owned.context,
            Inner::Unowned(context, _) => context,
        }
    }

    /// The raw handle; valid while a clone of the stream lives.
    #[must_use]
    #[inline]
    pub fn as_raw(&self) -> CUstream {
        match &self.0 {
            Inner::Owned(owned) => owned.raw.0,
            Inner::Unowned(_, Kind::Null) => std::ptr::null_mut(),
            Inner::Unowned(_, Kind::Legacy) => cuda_sys::CU_STREAM_LEGACY,
            Inner::Unowned(_, Kind::PerThread(stream)) => stream.raw,
            Inner::Unowned(_, Kind::External(stream)) => stream.raw.0,
        }
    }

    /// The id of the stream's queue in its context.
    #[must_use]
    #[inline]
    pub fn id(&self) -> StreamId {
        match &self.0 {
            Inner::Owned(owned) => owned.id,
            Inner::Unowned(_, Kind::Null | Kind::Legacy) => StreamId::LEGACY,
            Inner::Unowned(_, Kind::PerThread(stream)) => stream.id,
            Inner::Unowned(_, Kind::External(stream)) => stream.id,
        }
    }

    #[inline]
    fn panics(&self) -> &Arc<StreamPanics> {
        match &self.0 {
            Inner::Owned(owned) => &owned.panics,
            Inner::Unowned(context, Kind::Null | Kind::Legacy) => context.legacy_panics(),
            Inner::Unowned(_, Kind::PerThread(stream)) => &stream.panics,
            Inner::Unowned(_, Kind::External(stream)) => &stream.panics,
        }
    }

    /// The panic record for the calling thread's next launch in the stream. The launch is made while the record lives,
    /// and before the thread takes another record of the stream. A record that is forgotten counts as no launch.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = cuda_driver::Stream::new(&context)?;
    /// let record = stream.panic_record()?;
    /// println!("the kernel is passed {:#x} and {:#x}", record.device_ptr(), record.tag(7));
    /// // .. the kernel is launched
    /// drop(record);
    /// stream.synchronize()?;                  // reports its panic
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] if the device cannot map host memory or there is none left.
    #[inline]
    pub fn panic_record(&self) -> Result<PanicRecord<'_>> {
        self.panics().begin(self.context())
    }

    /// The stream's position, for code that waits for the stream by a raw call.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = cuda_driver::Stream::new(&context)?;
    /// let position = stream.position();
    /// context.wait_until_idle()?;
    /// position.report_panics()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[inline]
    pub fn position(&self) -> StreamPosition {
        self.panics().position(self.context())
    }

    /// Notes a launch of a graph whose kernels write to `records`.
    pub(crate) fn begin_graph(&self, records: &[Arc<GraphRecords>]) -> LaunchId {
        let panics = self.panics();
        panics.log.begin_graph(panics.own_log(), records, thread::number())
    }

    /// Notes that the call of a graph's launch by this thread has returned.
    pub(crate) fn end_graph(&self) {
        self.panics().own_log().end();
    }

    /// Finds the panics of a thread's launches up to `launch`, which have finished, so that their records are freed.
    pub(crate) fn find_panics(&self, launch: LaunchId) {
        let mut launches = LaunchSet::default();
        launches.insert(launch);
        self.panics().log.find(&launches);
    }

    /// Returns true for the default stream of a thread.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Stream;
    ///
    /// assert!(Stream::per_thread(&context).is_per_thread() && !Stream::legacy(&context).is_per_thread());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_per_thread(&self) -> bool {
        matches!(self.0, Inner::Unowned(_, Kind::PerThread(_)))
    }

    /// Waits on the host for the stream's work.
    ///
    /// # Errors
    ///
    /// [`Error::KernelPanic`] if a kernel panicked; [`Error::Driver`] if work failed.
    pub fn synchronize(&self) -> Result<()> {
        let position = self.position();
        // SAFETY: the stream is live.
        let wait = || unsafe { driver_call!(self.context(), cuStreamSynchronize(self.as_raw())) };
        wait()?;
        if drop_deferred() {
            // Deferred drops enqueue frees in their streams, such as this one.
            wait()?;
        }
        position.report_panics()
    }

    /// Returns true if the stream's work is done; does not wait, and does not report kernel panics.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] if work failed.
    pub fn query(&self) -> Result<bool> {
        // SAFETY: the stream is live.
        unsafe { driver_query!(self.context(), cuStreamQuery(self.as_raw())) }
    }

    /// Makes later work of this stream wait, on the device, for `event`, as it is recorded now.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Event, Stream};
    ///
    /// let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
    /// let ready = Event::without_timing(&context)?;
    /// first.launch_host_fn(|| println!("made"))?;
    /// ready.record(&first)?;
    /// second.wait_event(&ready)?;
    /// second.launch_host_fn(|| println!("used"))?;       // after "made"
    /// second.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for an event of another device's context; [`Error::Driver`] with the driver's status.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        self.context().expect_same(event.context(), event)?;
        // An event that was not recorded completes at once.
        let Some(raw) = event.recorded_raw() else { return self.context().0.admit("cuStreamWaitEvent").map(|_| ()) };
        let position = event.position();
        // SAFETY: stream and event are live and of one context.
        unsafe { driver_call!(self.context(), cuStreamWaitEvent(self.as_raw(), raw, 0)) }?;
        if let Some(position) = position {
            position.precede(self.panics());
        }
        Ok(())
    }

    /// Makes later work of this stream wait, on the device, for all present work of `other`.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Stream;
    ///
    /// let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
    /// second.wait_for(&first)?;              // later work of the second waits for present work of the first
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a stream of another device's context; [`Error::Driver`] with the driver's status.
    pub fn wait_for(&self, other: &Stream) -> Result<()> {
        self.context().expect_same(other.context(), other)?;
        let (earlier, context) = (other.panics(), self.context());
        let launches = earlier.launches_before(self.panics());
        // SAFETY: both streams are live and of this context.
        unsafe { context.events().order(context, other.as_raw(), self.as_raw()) }?;
        self.panics().add_predecessor(earlier, &launches, context);
        Ok(())
    }

    /// Runs `work` on a thread of the driver, after the stream's earlier work and before its later.
    ///
    /// `work` must not call CUDA: the driver refuses it or hangs. Nor may it wait for the work of another stream, since a driver may run
    /// the functions of all streams one after the other on one thread, as NVIDIA's does. A panic in it is caught and reported through
    /// [`tracing`]. If the context is lost before, `work` is dropped without being run, or leaked.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use std::sync::mpsc::channel;
    /// use cuda_driver::Stream;
    ///
    /// let (stream, (sender, receiver)) = (Stream::new(&context)?, channel());
    /// stream.launch_host_fn(move || sender.send(42).unwrap())?;
    /// assert_eq!(receiver.recv(), Ok(42));
    /// // A panic is caught: later work of the stream still runs.
    /// stream.launch_host_fn(|| panic!("in a callback"))?;
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status; `work` is dropped.
    pub fn launch_host_fn(&self, work: impl FnOnce() + Send + 'static) -> Result<()> {
        let data = host_fn::into_raw(work);
        // SAFETY: the stream is live; the driver calls the function once with the data that was made for it.
        let launched =
            unsafe { driver_call!(self.context(), cuLaunchHostFunc(self.as_raw(), Some(host_fn::run), data)) };
        if launched.is_err() {
            // SAFETY: the driver refused, so it will not call the function, and the data is still owned here.
            unsafe { host_fn::discard(data) };
        }
        launched
    }

    /// A future of the stream's present work, for any executor; see [`Done`].
    ///
    /// It resolves to the result that [`synchronize`](Self::synchronize) would return, without a waiting thread. Not
    /// for streams that are being captured.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = cuda_driver::Stream::new(&context)?;
    /// pollster::block_on(async {
    ///     stream.launch_host_fn(|| println!("reached"))?;
    ///     stream.done().await
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn done(&self) -> Done {
        Done::new(self)
    }

    /// Captures a graph of the launches of `work`; the same as [`Graph::capture`] in the stream's context. The stream
    /// itself is not captured: work that other code enqueues in it does not get into the graph.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = cuda_driver::Stream::new(&context)?;
    /// let graph = stream.capture(|c| c.launch_host_fn(|| println!("in the graph")))?;
    /// graph.instantiate()?.launch(&stream, ())?;
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Graph::capture`].
    pub fn capture(&self, work: impl FnOnce(&Capture) -> Result<()>) -> Result<Graph> {
        Graph::capture(self.context(), work)
    }

    /// Runs `work` with this stream, and waits for the stream before it returns, also when `work` fails or panics.
    ///
    /// So the work that `work` enqueues may borrow from the caller. `?` also converts errors of launches and copies
    /// there: they become this crate's errors, with the original as [source](std::error::Error::source).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = cuda_driver::Stream::new(&context)?;
    /// stream.scope(|s| s.launch_host_fn(|| println!("reached")))?;
    /// assert!(stream.query()?);              // the scope has waited
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `work`, while kernel panics are left to the next wait; else the error of waiting for the stream.
    /// [`Error::Invalid`] inside a host function of a stream: `work` does not run.
    ///
    /// # Panics
    ///
    /// With the panic of `work`, after the stream was waited for.
    pub fn scope<'env, R>(
        &self,
        work: impl for<'scope> FnOnce(&'scope StreamScope<'scope, 'env>) -> Result<R>,
    ) -> Result<R> {
        scope::run(self, work)
    }
}

/// A stream of the thread's current context that other code made, such as another library, and will destroy; see
/// [`Stream::external`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::{Stream, external_stream};
///
/// let theirs = Stream::new(&context)?;            // in place of another library's stream
/// let _selected = context.select();
/// // SAFETY: it is a stream of the current context, and outlives the returned value.
/// let stream = unsafe { external_stream(theirs.as_raw()) }?;
/// stream.synchronize()?;
/// # Ok(())
/// # }
/// ```
///
/// # Safety
///
/// `raw` is a stream of the current context, and is destroyed only after the last clone of the returned value, and
/// everything that was used on it, is dropped.
///
/// # Errors
///
/// [`Error::Invalid`] where the thread has no current context.
pub unsafe fn external_stream(raw: CUstream) -> Result<Stream> {
    let text = "an external stream is one of the current context, and this thread has none; select a device first";
    let context = Context::current().ok_or_else(|| Error::invalid(text))?;
    // SAFETY: the caller keeps the contract of `Stream::external`, which is this function's own.
    Ok(unsafe { Stream::external(&context, raw) })
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        if self.context.is_lost() {
            return;
        }
        let queue = Queue { raw: self.raw.0, panics: self.panics.clone() };
        self.context.streams().put(&self.context, queue, self.pooled);
    }
}

impl Drop for ExternalStream {
    fn drop(&mut self) {
        // An owner that destroys the stream makes a call, which a host function may not.
        if let Some(owner) = self.owner.take_if(|_| is_in_host_fn()) {
            defer_drop(owner);
        }
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Owned(owned) => write!(f, "stream {:p}", owned.raw.0),
            Inner::Unowned(_, Kind::Null) => f.write_str("default stream"),
            Inner::Unowned(_, Kind::Legacy) => f.write_str("legacy default stream"),
            Inner::Unowned(_, Kind::PerThread(_)) => f.write_str("per-thread default stream"),
            Inner::Unowned(_, Kind::External(stream)) => write!(f, "external stream {:p}", stream.raw.0),
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({self} of device {})", self.context().device().ordinal())
    }
}
