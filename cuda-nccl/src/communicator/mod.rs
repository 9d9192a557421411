//! [`Communicator`]: a rank of a group of devices, and the state that it shares with the watchdog and with graphs.
//!
//! `init` makes communicators, `operations` has their operations. Communicators do not block in NCCL or MPI: where a call is still
//! in progress, or a peer is lost, the wait is here and has a time limit.
//!
//! Invariants: the link is used under the lock of [`State`], and is gone from it once it is closed or aborted; no graph with an
//! operation of the communicator outlives the link, unless it was aborted, and then the graph is not launched.
//!
//! # Safety
//!
//! The block makes an operation through the link that the state holds, under its lock, with memory that is borrowed and prepared.

mod init;
mod operations;

pub use init::Options;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cuda_driver::{AroundLaunch, Context, Event, Stream};
use cuda_sys::CUstream;
use cuda_sys::nccl::{ncclComm_t, ncclResult_t};
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use crate::call::{Call, Place};
use crate::error::{Error, Failed, NcclError, Result, Subject, Timeout};
use crate::library::Nccl;
use crate::pause::Pause;
use crate::transport::Link;

/// A rank of a group of devices that exchange data.
///
/// Every rank makes the same operations in the same order; each returns once it is enqueued. A communicator may be used by
/// several threads, whose operations then have no defined order among them.
///
/// Dropping it waits for its operations, within its time limit, and never panics; [`close`](Communicator::close) returns the
/// error.
///
/// # Examples
///
/// ```
/// use cuda_nccl::{Communicator, Nccl, Options, Reduction};
///
/// /// The sum of the ranks' numbers, on every device of the process.
/// fn sum_of_ranks(nccl: &Nccl, driver: &cuda_driver::Driver) -> cuda_nccl::Result<()> {
///     let contexts = driver.devices()?.iter().map(|device| device.primary_context()).collect::<Result<Vec<_>, _>>()?;
///     let communicators = Communicator::all(nccl, &contexts, &Options::new())?;
///     std::thread::scope(|scope| {
///         let rank = |communicator: Communicator| {
///             let stream = cuda_driver::Stream::new(communicator.context())?;
///             let mut x = cuda_mem::from_slice(&stream, &[communicator.rank() as f32; 1000])?;
///             communicator.all_reduce_in_place(&mut x, Reduction::Sum, &stream)?;
///             communicator.wait(&stream)
///         };
///         let ranks: Vec<_> = communicators.into_iter().map(|each| scope.spawn(move || rank(each))).collect();
///         ranks.into_iter().try_for_each(|rank| rank.join().expect("no rank panics"))
///     })
/// }
/// ```
pub struct Communicator(pub(crate) Arc<Owner>);

/// The owner of the link: a communicator, and the graphs with operations of it.
pub(crate) struct Owner(Arc<Core>);

/// The state of a communicator, which the watchdog shares. Without an owner its link is gone.
pub(crate) struct Core {
    /// The library; `None` for another transport.
    pub(crate) nccl: Option<Nccl>,
    pub(crate) context: Context,
    pub(crate) place: Place,
    pub(crate) limit: Duration,
    pub(crate) state: Mutex<State>,
}

/// The part of the state that changes.
pub(crate) struct State {
    /// The connection to the other ranks; `None` once it is closed or aborted.
    link: Option<Link>,
    /// The first error that ended the communicator.
    failed: Option<Arc<Error>>,
    /// The last operation, for messages.
    last: (&'static str, Option<u32>),
    /// The streams with operations that may not have finished.
    pending: SmallVec<[Pending; 2]>,
    /// True once an operation was captured in a graph.
    captured: bool,
    /// The number of graphs' launches that have been admitted and are not yet enqueued.
    launching: usize,
}

/// A stream with operations that may not have finished.
struct Pending {
    stream: Stream,
    /// An event after operations, and the time at which the watchdog recorded it.
    mark: Option<(Event, std::time::Instant)>,
}

impl State {
    pub(crate) fn new(link: Link) -> State {
        State {
            link: Some(link),
            failed: None,
            last: ("the creation of the communicator", None),
            pending: SmallVec::new(),
            captured: false,
            launching: 0,
        }
    }

    /// Notes that the stream has an operation that may not have finished.
    #[inline]
    fn note(&mut self, stream: &Stream) {
        let known = |pending: &Pending| pending.stream.id() == stream.id();
        if !self.pending.last().is_some_and(known) && !self.pending.iter().any(known) {
            self.pending.push(Pending { stream: stream.clone(), mark: None });
        }
    }

    /// Notes the last operation, for messages.
    pub(crate) fn note_last(&mut self, last: (&'static str, Option<u32>)) {
        self.last = last;
    }

    /// Notes an operation, in a stream or else in a graph.
    #[inline]
    pub(crate) fn note_call(&mut self, call: &Call, stream: Option<&Stream>) {
        self.last = (call.kind.name(), call.peer);
        match stream {
            Some(stream) => self.note(stream),
            None => self.captured = true,
        }
    }
}

impl Core {
    /// The rank's place with an operation, for messages.
    pub(crate) fn subject(&self, operation: &'static str, peer: Option<u32>) -> Subject {
        self.place.subject(operation, peer.map(|peer| peer as usize))
    }

    fn last(&self, state: &State) -> Subject {
        self.subject(state.last.0, state.last.1)
    }

    /// The link, for an operation; an error if the communicator has failed.
    #[inline]
    pub(crate) fn live<'a>(&self, state: &'a State, operation: &'static str, peer: Option<u32>) -> Result<&'a Link> {
        match &state.link {
            Some(link) => Ok(link),
            None => Err(self.refusal(state, operation, peer)),
        }
    }

    #[cold]
    fn refusal(&self, state: &State, operation: &'static str, peer: Option<u32>) -> Error {
        let subject = self.subject(operation, peer);
        match &state.failed {
            Some(cause) => Error::Failed(Box::new(Failed { subject, cause: cause.clone() })),
            None => Error::invalid(format!("{subject} not called: the communicator is closed")),
        }
    }

    /// Makes a call in a stream, in which its memory is prepared.
    #[inline]
    pub(crate) fn enqueue(&self, call: &Call, stream: &Stream) -> Result<()> {
        self.issue(call, stream.as_raw(), Some(stream))
    }

    /// Makes a call in a stream that is captured, in which its memory is recorded.
    pub(crate) fn enqueue_captured(&self, call: &Call, stream: CUstream) -> Result<()> {
        self.issue(call, stream, None)
    }

    #[inline]
    fn issue(&self, call: &Call, raw: CUstream, stream: Option<&Stream>) -> Result<()> {
        let mut state = self.state.lock();
        let link = self.live(&state, call.kind.name(), call.peer)?;
        link.fork(call, stream)?;
        // SAFETY: the link is used under its lock; the stream is of its device, as the callers have checked, and so is the
        // memory, which is borrowed and prepared.
        let status = unsafe { link.issue(call, self.place, &self.context, raw, stream) }?;
        link.join(call, stream)?;
        state.note_call(call, stream);
        match status {
            ncclResult_t::ncclSuccess => Ok(()),
            status => self.finish(&mut state, status, call.kind.c_name()),
        }
    }

    /// The result of a call with another status than success: waits while it is in progress.
    #[cold]
    pub(crate) fn finish(
        &self,
        state: &mut MutexGuard<'_, State>,
        status: ncclResult_t,
        call: &'static str,
    ) -> Result<()> {
        match status {
            ncclResult_t::ncclSuccess => Ok(()),
            ncclResult_t::ncclInProgress => self.settle(state, call),
            status => {
                let subject = Some(self.last(state));
                let error = self.error(state, status, call, subject);
                // The arguments were refused, which changes nothing.
                let refused = [ncclResult_t::ncclInvalidArgument, ncclResult_t::ncclInvalidUsage].contains(&status);
                Err(if refused { error } else { self.fail(state, error) })
            }
        }
    }

    /// The error of a status of NCCL.
    #[cold]
    fn error(&self, state: &State, status: ncclResult_t, call: &'static str, subject: Option<Subject>) -> Error {
        match (&self.nccl, &state.link) {
            (Some(nccl), Some(Link::Nccl(link))) => {
                Error::Nccl(Box::new(NcclError::new(&nccl.0, Some(link.comm), status, call, subject)))
            }
            (Some(nccl), _) => Error::Nccl(Box::new(NcclError::new(&nccl.0, None, status, call, subject))),
            (None, _) => Error::invalid(format!("{call}: {status:?}")),
        }
    }

    /// Waits until a call that is in progress has ended.
    pub(crate) fn settle(&self, state: &mut MutexGuard<'_, State>, call: &'static str) -> Result<()> {
        let mut pause = Pause::new(self.limit);
        loop {
            match self.async_error(state)? {
                ncclResult_t::ncclInProgress => {}
                status => return self.finish(state, status, call),
            }
            if !pause.wait() {
                return Err(self.time_out(state));
            }
        }
    }

    /// The transport's status of the communicator, which an error of the transport ends.
    fn async_error(&self, state: &mut MutexGuard<'_, State>) -> Result<ncclResult_t> {
        let link = self.live(state, state.last.0, state.last.1)?;
        match (link, link.status()) {
            (Link::Nccl(_), status) => status,
            #[cfg(feature = "mpi")]
            (Link::Mpi(_), status) => status.map_err(|error| self.fail(state, error)),
        }
    }

    /// Gives the communicator up because its time limit has passed.
    #[cold]
    fn time_out(&self, state: &mut MutexGuard<'_, State>) -> Error {
        let error = Timeout { subject: self.last(state), limit: self.limit };
        self.fail(state, Error::Timeout(Box::new(error)))
    }

    /// Ends the communicator with an error, which ends its operations on the device. Returns the error.
    #[cold]
    pub(crate) fn fail(&self, state: &mut MutexGuard<'_, State>, error: Error) -> Error {
        tracing::error!(%error, "a communicator is aborted");
        if state.failed.is_none() {
            state.failed = Some(Arc::new(error.clone()));
        }
        self.abort(state);
        error
    }

    /// Aborts the communicator, which ends its operations on the device.
    fn abort(&self, state: &mut MutexGuard<'_, State>) {
        // A launch of a graph that was admitted still uses the handle's memory.
        while state.launching > 0 {
            MutexGuard::unlocked(state, std::thread::yield_now);
        }
        let Some(link) = state.link.take() else { return };
        let context = self.context.clone();
        let abort = move || link.abort(&context);
        if state.captured {
            // NCCL waits for the end of all graphs with the communicator's operations, which somebody may hold who waits for us.
            drop(std::thread::Builder::new().name("nccl-abort".into()).spawn(abort));
        } else {
            abort();
        }
        state.pending.clear();
    }

    /// Returns the error of the communicator if it has failed, or if NCCL reports one.
    fn check(&self) -> Result<()> {
        let mut state = self.state.lock();
        match self.async_error(&mut state)? {
            ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress => Ok(()),
            status => self.fail_with(&mut state, status),
        }
    }

    /// Ends the communicator with an error that NCCL reports for work that was enqueued.
    #[cold]
    fn fail_with(&self, state: &mut MutexGuard<'_, State>, status: ncclResult_t) -> Result<()> {
        let (call, subject) = ("ncclCommGetAsyncError", Some(self.last(state)));
        let error = self.error(state, status, call, subject);
        Err(self.fail(state, error))
    }

    /// Waits for the stream, and gives the communicator up if that takes too long.
    fn wait(&self, stream: &Stream) -> Result<()> {
        let mut pause = Pause::new(self.limit);
        while !stream.query()? {
            self.check()?;
            if !pause.wait() {
                return Err(self.time_out(&mut self.state.lock()));
            }
        }
        // It has ended; this reports panics of kernels.
        stream.synchronize()?;
        self.check()
    }

    /// One round of the watchdog: ends the communicator if it has failed or if its operations take too long.
    pub(crate) fn inspect(&self) {
        // Whoever holds the lock looks at the communicator's state and its time limit.
        let Some(mut state) = self.state.try_lock() else { return };
        if state.link.is_none() || state.pending.is_empty() {
            return;
        }
        match self.async_error(&mut state) {
            Ok(ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress) => {}
            Ok(status) => return drop(self.fail_with(&mut state, status)),
            Err(error) => return tracing::debug!(%error, "a communicator's state is not known"),
        }
        let limit = self.limit;
        state.pending.retain(|pending| !pending.stream.query().unwrap_or(true));
        let late = state.pending.iter_mut().any(|pending| pending.is_late(limit));
        if late {
            self.time_out(&mut state);
        }
    }

    /// Waits for the operations, and ends the connection.
    fn close(&self) -> Result<()> {
        let mut state = self.state.lock();
        if state.link.is_none() {
            return state.failed.as_ref().map_or(Ok(()), |_| Err(self.refusal(&state, "close", None)));
        }
        let streams: SmallVec<[Stream; 2]> = state.pending.drain(..).map(|pending| pending.stream).collect();
        drop(state);
        let waited = match self.context.is_lost() {
            true => Ok(()),
            false => streams.iter().try_for_each(|stream| self.wait(stream)),
        };
        let mut state = self.state.lock();
        if waited.is_err() {
            self.abort(&mut state);
            return waited;
        }
        let Some(link) = state.link.take() else { return Ok(()) };
        link.close(&self.context, self.subject("close", None))
    }
}

impl Pending {
    /// Returns true if operations did not end within the limit after the watchdog first saw them.
    fn is_late(&mut self, limit: Duration) -> bool {
        if let Some((event, since)) = &self.mark {
            if let Ok(false) = event.query() {
                return since.elapsed() > limit;
            }
            // The operations before the mark have ended; there are later ones.
            self.mark = None;
        }
        let marked = Event::without_timing(self.stream.context()).and_then(|event| {
            event.record(&self.stream)?;
            Ok(event)
        });
        match marked {
            Ok(event) => self.mark = Some((event, std::time::Instant::now())),
            Err(error) => tracing::debug!(%error, "a stream with operations could not be marked"),
        }
        false
    }
}

impl Owner {
    pub(crate) fn new(core: Arc<Core>) -> Owner {
        crate::watchdog::watch(&core);
        Owner(core)
    }
}

impl std::ops::Deref for Owner {
    type Target = Core;

    #[inline]
    fn deref(&self) -> &Core {
        &self.0
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if self.state.lock().link.is_some()
            && let Err(error) = self.close()
        {
            tracing::warn!(%error, "a communicator could not be closed");
        }
    }
}

/// A communicator in a graph: a launch is refused once the communicator has failed, and watched otherwise.
pub(crate) struct InGraph(pub(crate) Arc<Owner>);

impl AroundLaunch for InGraph {
    fn around(&self, stream: &Stream, enqueue: &mut dyn FnMut() -> cuda_driver::Result<()>) -> cuda_driver::Result<()> {
        let mut state = self.0.state.lock();
        self.0.live(&state, "the launch of a graph", None)?;
        state.note(stream);
        state.last = ("the launch of a graph", None);
        state.launching += 1;
        drop(state);
        let enqueued = enqueue();
        self.0.state.lock().launching -= 1;
        enqueued
    }
}

impl Communicator {
    /// This rank, from 0 on.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.0.place.rank
    }

    /// The number of ranks.
    ///
    /// # Examples
    ///
    /// ```
    /// /// The part of so many elements that is this rank's.
    /// fn part(communicator: &cuda_nccl::Communicator, elements: usize) -> std::ops::Range<usize> {
    ///     let start = |rank| elements * rank / communicator.size();
    ///     start(communicator.rank())..start(communicator.rank() + 1)
    /// }
    /// ```
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.place.size
    }

    /// The context of the rank's device.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// NCCL's library; `None` for a communicator over MPI.
    ///
    /// # Examples
    ///
    /// ```
    /// fn is_recent(communicator: &cuda_nccl::Communicator) -> bool {
    ///     communicator.nccl().is_some_and(|nccl| nccl.version() >= Some((2, 28, 0)))
    /// }
    /// ```
    #[must_use]
    pub fn nccl(&self) -> Option<&Nccl> {
        self.0.nccl.as_ref()
    }

    /// NCCL's handle, for functions that this crate does not wrap; null once the communicator has failed, and over MPI.
    ///
    /// # Examples
    ///
    /// ```
    /// fn is_live(communicator: &cuda_nccl::Communicator) -> bool {
    ///     !communicator.as_raw().is_null()
    /// }
    /// ```
    #[must_use]
    pub fn as_raw(&self) -> ncclComm_t {
        self.0.state.lock().link.as_ref().map_or(std::ptr::null_mut(), Link::as_raw)
    }

    /// Waits on the host for the stream's work, as [`Stream::synchronize`] does, and for no longer than the time limit.
    ///
    /// If a peer is lost, or NCCL reports an error of an operation, the communicator is aborted: its operations end without a
    /// result, the wait ends with the error, and so does every later call. Other waits for the stream, such as a copy to the
    /// host, end too, after the same time; they report nothing, so that [`check`](Communicator::check) has to follow.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Reduction, Result};
    /// use cuda_mem::DeviceArray;
    ///
    /// fn total(c: &Communicator, x: &mut DeviceArray<f64, ndarray::Ix1>, s: &cuda_driver::Stream) -> Result<()> {
    ///     c.all_reduce_in_place(x, Reduction::Sum, s)?;
    ///     c.wait(s)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`], [`Error::Nccl`] or [`Error::Failed`] for the communicator; [`Error::Driver`] for work of the
    /// stream.
    pub fn wait(&self, stream: &Stream) -> Result<()> {
        self.0.wait(stream)
    }

    /// Returns the error of the communicator if it has failed, or if NCCL reports one now. Does not wait.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    /// use ndarray::{Array1, Ix1};
    ///
    /// fn result(communicator: &Communicator, x: &cuda_mem::DeviceArray<f32, Ix1>) -> Result<Array1<f32>> {
    ///     let host = x.copy_to_host()?;
    ///     communicator.check()?; // the operations before the copy have ended with a result
    ///     Ok(host)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Nccl`] or [`Error::Failed`].
    pub fn check(&self) -> Result<()> {
        self.0.check()
    }

    /// Ends the communicator: its operations end without a result, on this rank at once and on the others with an error or by
    /// their time limits. Later calls are errors.
    ///
    /// # Examples
    ///
    /// ```
    /// fn give_up(communicator: &cuda_nccl::Communicator) {
    ///     communicator.abort();
    ///     assert!(communicator.check().is_err());
    /// }
    /// ```
    pub fn abort(&self) {
        let mut state = self.0.state.lock();
        if state.failed.is_none() && state.link.is_some() {
            let subject = self.0.subject("abort", None);
            state.failed = Some(Arc::new(Error::invalid(format!("{subject}: the program ended the communicator"))));
        }
        self.0.abort(&mut state);
    }

    /// Waits for the communicator's operations, and frees it. A communicator of which a graph holds operations is freed with
    /// the graph.
    ///
    /// # Examples
    ///
    /// ```
    /// fn end(communicator: cuda_nccl::Communicator) -> cuda_nccl::Result<()> {
    ///     communicator.close()
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`wait`](Communicator::wait), and NCCL's own.
    pub fn close(self) -> Result<()> {
        Arc::into_inner(self.0).map_or(Ok(()), |owner| owner.close())
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Communicator")
            .field("rank", &self.rank())
            .field("size", &self.size())
            .field("device", &self.context().device().ordinal())
            .finish_non_exhaustive()
    }
}
