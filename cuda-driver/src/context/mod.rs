//! [`Context`]: a device's retained primary context. Every call on the context passes through it.
//!
//! It is not a stack of contexts: each call binds its own context. Invariants: the raw context stays retained while a
//! [`ContextInner`] lives; after a sticky error no call reaches the driver; the id of a context is never reused.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a retained context (held by `self`) and pointers that
//! live through the call. `ContextInner` is shared between threads: the driver's contexts and the other fields are
//! thread-safe.

pub(crate) mod attached;
pub(crate) mod current;
pub(crate) mod idle;
mod leaks;
pub(crate) mod settings;

use std::fmt;

use cuda_sys::{CUcontext, CUresult, DriverApi};

use crate::context::attached::{Attached, Attachment};
use crate::context::current::{Entered, Failure};
use crate::device::Device;
use crate::device::limits::DeviceLimits;
use crate::driver::describe;
use crate::error::{DriverError, Error, Poisoned, Result};
use crate::graph::captures::Captures;
use crate::panic::{ContextPanics, DetachedPanicRecord, PanicDecoder, StreamPanics};
use crate::stream::deferred_drop::{defer_drop, drop_deferred, is_in_host_fn};
use crate::stream::per_thread::PerThreadStreams;
use crate::stream::pool::{EventPool, StreamPool};
use crate::stream::{Stream, StreamId};
use crate::sync::{Arc, Counter, OnceLock};
use crate::{driver_call, fork, status};

/// A device's primary context. Clones are cheap and mean the same context; all objects in it hold one.
///
/// It may be used from any number of threads at once.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// let device = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?;
/// let context = device.primary_context()?;
/// assert_eq!(context, device.primary_context()?);
/// context.synchronize()?;
/// assert!(context.memory_info()?.free <= context.memory_info()?.total);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Context(pub(crate) Arc<ContextInner>);

/// Free and total bytes of a device's memory.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let memory = context.memory_info()?;
/// assert!(memory.free <= memory.total);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that can be allocated now.
    pub free: usize,
    /// Bytes that the device has.
    pub total: usize,
}

pub(crate) struct ContextInner {
    id: u64,
    device: Device,
    raw: CUcontext,
    limits: DeviceLimits,
    /// The sticky error that lost the context, once there was one.
    poison: Poison,
    pub(crate) panics: ContextPanics,
    /// The launches of the legacy default stream.
    legacy: Arc<StreamPanics>,
    threads: PerThreadStreams,
    events: EventPool,
    streams: StreamPool,
    captures: Captures,
    attachment: Attachment,
}

// SAFETY: the only part that is not Send by itself is the raw context, an address that the driver accepts on any thread.
unsafe impl Send for ContextInner {}
// SAFETY: the driver's own locks protect the context that the address names; the other fields are `Sync`.
unsafe impl Sync for ContextInner {}

static IDS: Counter = Counter::new();

/// The first sticky error of a context, after which the context is lost.
#[derive(Default)]
pub(crate) struct Poison(OnceLock<DriverError>);

impl Poison {
    #[inline]
    pub(crate) fn first(&self) -> Option<&DriverError> {
        self.0.get()
    }

    /// Stores the first reported error; later ones are consequences of it.
    pub(crate) fn report(&self, error: &DriverError) {
        let _ = self.0.set(error.clone());
    }
}

impl Context {
    pub(crate) fn primary(device: &Device) -> Result<Self> {
        // Before the lock, which another thread of the parent may have held when the child was forked.
        device.driver().enter("cuDevicePrimaryCtxRetain")?;
        drop_deferred();
        let facts = device.facts()?;
        let limits = device.limits()?.clone();
        let make = || {
            let mut raw = std::ptr::null_mut();
            // SAFETY: `raw` lives through the call and the device exists.
            unsafe { driver_call!(device.driver(), cuDevicePrimaryCtxRetain(&mut raw, facts.raw)) }?;
            Ok(Arc::new(ContextInner::new(device, raw, limits)))
        };
        facts.context.find_or_make(|_| true, make).map(Context)
    }

    /// The device of the context.
    #[must_use]
    #[inline]
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The device's limits for launches.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// assert!(context.limits().max_threads_per_block >= 1024);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[inline]
    pub fn limits(&self) -> &DeviceLimits {
        &self.0.limits
    }

    /// The table of functions behind this context.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut version = 0;
    /// // SAFETY: the integer lives through the call.
    /// unsafe { (context.api().cuDriverGetVersion()?)(&mut version) };
    /// assert!(version >= 12_000);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn api(&self) -> &Arc<DriverApi> {
        self.0.device.driver().api()
    }

    /// The raw handle, retained while any clone of the context lives.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// // The context that this crate binds before each call.
    /// context.synchronize()?;
    /// let mut bound = std::ptr::null_mut();
    /// // SAFETY: the pointer lives through the call.
    /// unsafe { (context.api().cuCtxGetCurrent()?)(&mut bound) };
    /// assert_eq!(bound, context.as_raw());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn as_raw(&self) -> CUcontext {
        self.0.raw
    }

    /// The context's id, which no other context of this process ever has.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// assert_eq!(context.id(), context.device().primary_context()?.id());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[inline]
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// The default stream (stream 0) of this context: the legacy default stream, or, with
    /// `CUDA_DRIVER_PER_THREAD_DEFAULT_STREAM=1` in the environment, the per-thread default stream of the calling
    /// thread.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = context.default_stream();
    /// stream.synchronize()?;
    /// assert!(stream.query()?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn default_stream(&self) -> Stream {
        Stream::null(self)
    }

    /// Waits for all work of this context, and before that for other threads to end their
    /// [captures](crate::Graph::capture) in it; a capture that begins meanwhile waits for this.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// context.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::KernelPanic`] if kernels panicked: the panic of the first stream in the order of their ids, with the
    /// others in its text; [`Error::Invalid`] inside a capture of the calling thread; [`Error::Driver`] if work failed.
    pub fn synchronize(&self) -> Result<()> {
        let position = self.0.panics.position();
        self.wait_for_all()?;
        if drop_deferred() {
            // Deferred drops enqueue frees in their streams.
            self.wait_for_all()?;
        }
        self.0.panics.report(position, self)
    }

    /// As [`synchronize`](Context::synchronize), but leaves kernel panics to the next wait that reports them: for code
    /// that only needs the work to be finished.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// context.wait_for_all()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] inside a capture of the calling thread; [`Error::Driver`] if work failed.
    pub fn wait_for_all(&self) -> Result<()> {
        // Before the lock, which another thread of the parent may have held when the child was forked.
        self.0.admit("cuCtxSynchronize")?;
        // SAFETY: the call has no argument; the context is bound by the macro.
        self.0.captures.while_none_active(|| unsafe { driver_call!(self, cuCtxSynchronize()) })?
    }

    /// Waits for all work of this context, drops this handle, and removes the context from the thread's selection. The
    /// context ends with its last handle and the last object in it.
    ///
    /// Unlike a drop, it returns errors.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// context.set_current();
    /// context.close()?;
    /// assert!(cuda_driver::Context::current().is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`synchronize`](Context::synchronize).
    pub fn close(self) -> Result<()> {
        current::deselect(&self);
        self.synchronize()
    }

    /// Free and total memory of the device.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// println!("{} MiB free", context.memory_info()?.free >> 20);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both integers live through the call.
        unsafe { driver_call!(self, cuMemGetInfo_v2(&mut free, &mut total)) }?;
        Ok(MemoryInfo { free, total })
    }

    /// The sticky error that lost this context, if there was one.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// assert!(context.poison().is_none() && !context.is_lost());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn poison(&self) -> Option<&DriverError> {
        self.0.poison.first()
    }

    /// Returns true if every call on this context is refused: a sticky error was reported, or this process is a forked
    /// child.
    ///
    /// Destructors check it, because nothing can be released then.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.is_lost()
    }

    /// A panic record for one synchronous launch: only the caller, who waits for the launch, gets its panic.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let record = context.detached_panic_record()?;
    /// assert_eq!(record.device_ptr() % 16, 0);
    /// record.finish()?;                       // nothing was launched
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] if the device cannot map host memory or there is none left.
    pub fn detached_panic_record(&self) -> Result<DetachedPanicRecord> {
        self.0.panics.detached(self)
    }

    /// Registers a kernel that may panic. Returns the id that it writes into the record; never 0.
    ///
    /// `decoder` turns the raw record into a message. It runs on the thread whose synchronisation finds the panic.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use std::sync::Arc;
    /// use cuda_driver::{KernelPanic, PanicDecoder};
    ///
    /// let decoder: PanicDecoder = Arc::new(|raw| KernelPanic {
    ///     kernel: "add".into(),
    ///     message: format!("check {} failed", raw.site),
    ///     file: String::new(),
    ///     line: 0,
    ///     column: 0,
    ///     block: raw.block,
    ///     thread: raw.thread,
    ///     others: Vec::new(),
    /// });
    /// assert_ne!(context.register_kernel(decoder), 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn register_kernel(&self, decoder: PanicDecoder) -> u32 {
        self.0.panics.register(decoder)
    }

    /// Prepares a call on this context. For [`driver_call!`](crate::driver_call).
    ///
    /// # Errors
    ///
    /// [`Error::Forked`], [`Error::Poisoned`], or the error of binding the context to the thread.
    #[doc(hidden)]
    #[inline]
    pub fn enter(&self, call: &'static str) -> Result<Entered<'_>> {
        self.0.enter(call)
    }

    /// Turns the status that `call` returned into a result. For [`driver_call!`](crate::driver_call).
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] for every status but success; a sticky one poisons the context.
    #[doc(hidden)]
    #[inline]
    pub fn check(&self, code: CUresult, call: &'static str) -> Result<()> {
        self.0.check(code, call)
    }

    /// The state that the layer above attaches to this context. The first call makes it; later ones cost one load.
    #[doc(hidden)]
    #[inline]
    pub fn attached<T: Attached>(&self, make: impl FnOnce() -> T) -> &T {
        self.0.attachment.get_or_attach(make)
    }

    /// The error of a status other than success; a sticky one poisons the context.
    #[cold]
    pub(crate) fn failure(&self, code: CUresult, call: &'static str) -> Error {
        self.0.fail(code, call)
    }

    pub(crate) fn panics(&self) -> &ContextPanics {
        &self.0.panics
    }

    /// The launches of the legacy default stream.
    #[inline]
    pub(crate) fn legacy_panics(&self) -> &Arc<StreamPanics> {
        &self.0.legacy
    }

    pub(crate) fn per_thread_streams(&self) -> &PerThreadStreams {
        &self.0.threads
    }

    pub(crate) fn events(&self) -> &EventPool {
        &self.0.events
    }

    pub(crate) fn streams(&self) -> &StreamPool {
        &self.0.streams
    }

    pub(crate) fn captures(&self) -> &Captures {
        &self.0.captures
    }

    /// Returns an error unless `other`, the context of `what`, is this one.
    #[inline]
    pub(crate) fn expect_same(&self, other: &Context, what: &dyn fmt::Display) -> Result<()> {
        if self == other { Ok(()) } else { Err(self.other_context(other, what)) }
    }

    #[cold]
    fn other_context(&self, other: &Context, what: &dyn fmt::Display) -> Error {
        Error::invalid(format!(
            "{what} belongs to the context of device {}, not to that of device {}; objects of two contexts cannot work \
             together",
            other.device().ordinal(),
            self.device().ordinal()
        ))
    }
}

impl ContextInner {
    fn new(device: &Device, raw: CUcontext, limits: DeviceLimits) -> Self {
        let panics = ContextPanics::default();
        let legacy = panics.of_stream(StreamId::LEGACY);
        ContextInner {
            id: IDS.next(),
            device: device.clone(),
            raw,
            limits,
            poison: Poison::default(),
            panics,
            legacy,
            threads: PerThreadStreams::default(),
            events: EventPool::default(),
            streams: StreamPool::default(),
            captures: Captures::default(),
            attachment: Attachment::default(),
        }
    }

    /// Moves the context into a new handle, so that a destructor can make calls in it; with the attached state if
    /// `whole`.
    fn resurrect(&mut self, whole: bool) -> Context {
        let mut last = ContextInner::new(&self.device, self.raw, self.limits.clone());
        last.id = self.id;
        last.panics = std::mem::take(&mut self.panics);
        last.legacy = self.legacy.clone();
        last.threads = std::mem::take(&mut self.threads);
        last.events = std::mem::take(&mut self.events);
        last.streams = std::mem::take(&mut self.streams);
        last.captures = std::mem::take(&mut self.captures);
        last.poison = std::mem::take(&mut self.poison);
        if whole {
            last.attachment = std::mem::take(&mut self.attachment);
        }
        let context = Context(Arc::new(last));
        context.panics().watch_exit(&context);
        context
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.poison.first().is_some() || fork::is_forked_child()
    }

    #[inline]
    pub(crate) fn enter(&self, call: &'static str) -> Result<Entered<'_>> {
        let api = self.admit(call)?;
        Entered::new(api, self.raw).map_err(|failure| self.not_entered(failure))
    }

    #[inline]
    pub(crate) fn check(&self, code: CUresult, call: &'static str) -> Result<()> {
        if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(self.fail(code, call)) }
    }

    /// Refuses calls in a forked child and on a lost context.
    #[inline]
    pub(crate) fn admit(&self, call: &'static str) -> Result<&DriverApi> {
        let api = self.device.driver().enter(call)?;
        match self.poison.first() {
            None => Ok(api),
            Some(first) => Err(self.refuse(call, first)),
        }
    }

    #[cold]
    fn not_entered(&self, failure: Failure) -> Error {
        match failure {
            Failure::Error(error) => error,
            Failure::Status(code, call) => describe(self.device.driver().api(), code, call).into(),
        }
    }

    #[cold]
    fn refuse(&self, call: &'static str, first: &DriverError) -> Error {
        Error::Poisoned(Box::new(Poisoned { call, device: self.device.ordinal(), first: first.clone() }))
    }

    #[cold]
    fn fail(&self, code: CUresult, call: &'static str) -> Error {
        let error = describe(self.device.driver().api(), code, call);
        if status::is_sticky(code) {
            self.poison.report(&error);
        }
        error.into()
    }
}

impl Drop for ContextInner {
    fn drop(&mut self) {
        if fork::is_forked_child() {
            return;
        }
        if is_in_host_fn() {
            return defer_drop(Box::new(self.resurrect(true)));
        }
        if let Some(attached) = self.attachment.take()
            && self.poison.first().is_none()
        {
            // The last handle now is the resurrected one.
            return attached.close(&self.resurrect(false));
        }
        self.panics.report_remaining();
        if self.poison.first().is_none() {
            self.panics.close(self);
            self.events.close(self);
            self.streams.close(self);
            self.threads.close(self);
        }
        current::forget(self.device.driver().api(), self.raw);
        let released = self.device.as_raw().and_then(|raw| {
            // SAFETY: this object retained the context once and releases it once, after everything in it is gone.
            unsafe { driver_call!(self.device.driver(), cuDevicePrimaryCtxRelease_v2(raw)) }
        });
        if let Err(error) = released {
            tracing::warn!(%error, device = self.device.ordinal(), "a primary context could not be released");
        }
    }
}

impl PartialEq for Context {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for Context {}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("device", &self.0.device.ordinal())
            .field("raw", &self.0.raw)
            .field("poisoned", &self.0.poison.first().is_some())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "primary context of {}", self.0.device)
    }
}
