//! [`Capture`]: records the launches of a closure as a graph.
//!
//! The driver captures streams. The streams captured here are private to a capture, so that no stream of a user's is
//! left in capture mode, and no work of another thread gets into the graph. The closure gets no [`Stream`], so that a
//! copy of host memory, which would access the memory once during the capture and never at a launch, does not compile.
//!
//! A [`Capture`] may be cloned and may outlive the closure. Work is enqueued through it under the lock of the capture
//! while that is open, and refused afterwards.
//!
//! Invariants: a stream goes back to the pool only after its capture has ended without an error; every memory access is
//! recorded before it is enqueued, and ordered after the conflicting accesses of other branches.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are live streams of the context, which the capture owns and uses
//! under its lock.

mod open;

use std::any::Any;
use std::ffi::c_void;
use std::fmt;

use cuda_sys::{CUevent_record_flags, CUevent_wait_flags, CUstream, CUstreamCaptureMode};

use super::bind::MemoryId;
use super::{Contents, Graph, GraphError};
use crate::context::Context;
use crate::driver_call;
use crate::error::Result;
use crate::launch::config::LaunchConfig;
use crate::module::function::Function;
use crate::module::params::Arguments;
#[cfg(doc)]
use crate::stream::Stream;
use crate::stream::StreamId;
use crate::stream::event::Event;
use crate::stream::host_fn::{self, Repeated};
use crate::stream::pool::Queue;
use crate::sync::{Arc, Mutex};

pub use open::{GraphPanicRecord, OpenCapture};

/// A branch of a graph capture, in which launches come one after the other; see [`Graph::capture`].
///
/// It takes the place of a stream in launches. Clones mean the same branch; [`fork`](Capture::fork) makes another.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::{Capture, Graph};
///
/// fn say(c: &Capture, text: &'static str) -> cuda_driver::Result<()> {
///     c.launch_host_fn(move || println!("{text}"))
/// }
///
/// let graph = Graph::capture(&context, |c| {
///     say(c, "one")?;
///     say(c, "two")
/// })?;
/// assert_eq!(graph.nodes()?.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Capture {
    shared: Arc<Shared>,
    /// The index of its stream in the capture's list.
    branch: usize,
}

struct Shared {
    context: Context,
    state: Mutex<State>,
}

/// The state of a capture.
struct State {
    open: bool,
    /// The streams of the branches; the capture began in the first one.
    streams: Vec<Queue>,
    contents: Contents,
    accesses: Vec<BranchAccesses>,
}

// SAFETY: the raw streams are addresses that the driver accepts on any thread; they are used under the lock.
unsafe impl Send for State {}

/// The branches that access an allocation: the last writer, and the readers since.
struct BranchAccesses {
    id: MemoryId,
    writer: Option<usize>,
    readers: Vec<usize>,
}

impl BranchAccesses {
    /// The branches that an access has to be ordered after.
    fn conflicts(&self, branch: usize, writes: bool) -> Vec<usize> {
        let readers = self.readers.iter().filter(|_| writes);
        self.writer.iter().chain(readers).copied().filter(|other| *other != branch).collect()
    }

    fn note(&mut self, branch: usize, writes: bool) {
        if writes {
            self.writer = Some(branch);
            self.readers.clear();
        } else if self.writer != Some(branch) && !self.readers.contains(&branch) {
            self.readers.push(branch);
        }
    }
}

impl Graph {
    /// Captures a graph: the launches that `work` makes with the [`Capture`] that it gets. Nothing runs now.
    ///
    /// A launch takes the capture in place of a stream: `add::launch((blocks, threads, c), &x, &mut out)?`. The arrays
    /// are bound again at each launch of the executable graph, see [`GraphExec::launch`](super::GraphExec::launch).
    /// Operations that take a [`Stream`], such as a copy from or to the host, cannot be captured. `?` converts errors
    /// of launches, as in [`Stream::scope`].
    ///
    /// While a graph is captured, other threads that [synchronise](Context::synchronize) the whole context wait for its
    /// end; inside `work` the call returns an error.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Driver, Graph, LaunchConfig, Module, Stream};
    ///
    /// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// // SAFETY: the kernel touches no memory.
    /// let nothing = unsafe { Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// let config = LaunchConfig::new(4, 32);
    /// let graph = Graph::capture(&context, |c| {
    ///     // SAFETY: the kernel has no parameters.
    ///     unsafe { c.launch(&nothing, &config, &mut []) }?;
    ///     let side = c.fork()?;
    ///     // SAFETY: the kernel has no parameters. The two launches that follow may run concurrently.
    ///     unsafe { side.launch(&nothing, &config, &mut []) }?;
    ///     // SAFETY: the kernel has no parameters.
    ///     unsafe { c.launch(&nothing, &config, &mut []) }
    /// })?;
    /// assert_eq!((graph.nodes()?.len(), graph.edges()?.len()), (3, 2));
    /// let stream = Stream::new(&context)?;
    /// graph.instantiate()?.launch(&stream, ())?;
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A copy from the host is a type error, since a capture is no stream:
    ///
    /// ```compile_fail,E0308
    /// # fn copy(context: &cuda_driver::Context, buffer: &mut Vec<u8>) -> cuda_driver::Result<()> {
    /// fn copy_to_device(stream: &cuda_driver::Stream, host: &[u8]) {}
    ///
    /// cuda_driver::Graph::capture(context, |c| Ok(copy_to_device(c, &[1, 2, 3])))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `work`; [`Error::Driver`](crate::Error::Driver) with the driver's status.
    ///
    /// # Panics
    ///
    /// With the panic of `work`, after the capture has ended.
    pub fn capture(context: &Context, work: impl FnOnce(&Capture) -> Result<()>) -> Result<Graph> {
        let capture = Capture::begin(context)?;
        let ending = EndOnUnwind(&capture);
        let worked = work(&capture);
        std::mem::forget(ending);
        let ended = capture.end();
        worked.and(ended)
    }
}

/// Ends the capture when `work` panics.
struct EndOnUnwind<'a>(&'a Capture);

impl Drop for EndOnUnwind<'_> {
    fn drop(&mut self) {
        drop(self.0.end());
    }
}

impl Capture {
    fn begin(context: &Context) -> Result<Self> {
        // A forked child is refused before the lock, which another thread of the parent may have held.
        context.0.admit("cuStreamBeginCapture_v2")?;
        context.captures().begin();
        let began = context.streams().take(context, StreamId::unique()).and_then(|stream| {
            // Other threads, and the closure itself, may load modules and allocate, which is no part of the graph.
            let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
            // SAFETY: the stream is idle and has no other owner.
            let began = unsafe { driver_call!(context, cuStreamBeginCapture_v2(stream.raw, mode)) };
            match began {
                Ok(()) => Ok(stream),
                Err(error) => {
                    context.streams().destroy(context, stream);
                    Err(error)
                }
            }
        });
        let stream = began.inspect_err(|_| context.captures().end(context))?;
        let state = State { open: true, streams: vec![stream], contents: Contents::default(), accesses: Vec::new() };
        let shared = Shared { context: context.clone(), state: Mutex::new(state) };
        Ok(Capture { shared: Arc::new(shared), branch: 0 })
    }

    /// Ends the capture: joins all branches and returns the captured graph.
    fn end(&self) -> Result<Graph> {
        let context = &self.shared.context;
        let mut state = self.shared.state.lock();
        state.open = false;
        let joined = (1..state.streams.len()).try_for_each(|branch| state.join(context, 0, branch));
        let mut raw = std::ptr::null_mut();
        // SAFETY: the stream is the one that the capture began in, and `raw` lives through the call.
        let ended = unsafe { driver_call!(context, cuStreamEndCapture(state.streams[0].raw, &mut raw)) };
        for stream in state.streams.drain(..) {
            // If the capture has failed, a stream may still be in capture mode.
            match &ended {
                Ok(()) => context.streams().put(context, stream, true),
                Err(_) => context.streams().destroy(context, stream),
            }
        }
        context.captures().end(context);
        ended?;
        let graph = Graph::from_parts(context, raw, std::mem::take(&mut state.contents));
        joined.map(|()| graph)
    }

    /// The context that the graph's work runs in.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// cuda_driver::Graph::capture(&context, |c| {
    ///     assert_eq!(c.context(), &context);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.shared.context
    }

    /// Locks the capture for one launch; nothing else is captured until the returned value is dropped.
    ///
    /// For code that binds arguments and launches, such as typed launches.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Error, Graph, GraphError};
    ///
    /// let mut kept = None;
    /// Graph::capture(&context, |c| {
    ///     kept = Some(c.clone());
    ///     c.open().map(drop)
    /// })?;
    /// let Err(Error::Graph(error)) = kept.unwrap().open() else { panic!() };
    /// assert_eq!(*error, GraphError::CaptureEnded);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::CaptureEnded`] after the closure of [`Graph::capture`] has returned.
    pub fn open(&self) -> Result<OpenCapture<'_>> {
        let state = self.shared.state.lock();
        match state.open {
            true => Ok(OpenCapture { context: &self.shared.context, branch: self.branch, state }),
            false => Err(GraphError::CaptureEnded.into()),
        }
    }

    /// Another branch, which begins after the present end of this one. Later work of the two branches is unordered,
    /// unless it accesses the same memory. They are joined at the end of the capture, or by [`join`](Capture::join).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Graph;
    ///
    /// let graph = Graph::capture(&context, |c| {
    ///     c.launch_host_fn(|| ())?;
    ///     let side = c.fork()?;
    ///     c.launch_host_fn(|| ())?;
    ///     side.launch_host_fn(|| ())?;       // may run concurrently with the previous one
    ///     c.join(&side)?;
    ///     c.launch_host_fn(|| ())
    /// })?;
    /// assert_eq!((graph.nodes()?.len(), graph.edges()?.len()), (4, 4));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::CaptureEnded`]; [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn fork(&self) -> Result<Capture> {
        let mut open = self.open()?;
        let stream = open.context.streams().take(open.context, StreamId::unique())?;
        open.state.streams.push(stream);
        let branch = open.state.streams.len() - 1;
        open.state.join(open.context, branch, self.branch)?;
        Ok(Capture { shared: self.shared.clone(), branch })
    }

    /// Orders later work of this branch after all present work of `other`.
    ///
    /// # Errors
    ///
    /// [`GraphError::OtherCapture`] for a branch of another capture; [`GraphError::CaptureEnded`];
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn join(&self, other: &Capture) -> Result<()> {
        if !Arc::ptr_eq(&self.shared, &other.shared) {
            return Err(GraphError::OtherCapture.into());
        }
        let open = self.open()?;
        open.state.join(open.context, self.branch, other.branch)
    }

    /// Captures a launch of a function; the stream in the configuration is ignored.
    ///
    /// # Errors
    ///
    /// As for [`Function::launch`]; [`GraphError::CaptureEnded`].
    ///
    /// # Safety
    ///
    /// As for [`Function::launch`], at every launch of an executable graph of it.
    pub unsafe fn launch(&self, function: &Function, config: &LaunchConfig, params: &mut [*mut c_void]) -> Result<()> {
        let launch = function.check_config(config)?;
        // SAFETY: the caller keeps the contract of the launch.
        unsafe { self.open()?.launch(launch, params) }
    }

    /// Captures a launch of a function with a tuple of values, whose number and sizes are checked as those of
    /// [`Function::launch_with`].
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # use cuda_driver::{Driver, Graph, LaunchConfig, Module};
    /// # let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry ignore(.param .u32 n)\n{\n\tret;\n}\n";
    /// // SAFETY: the kernel touches no memory.
    /// let ignore = unsafe { Module::load_ptx(&context, ptx) }?.function("ignore")?;
    /// let config = LaunchConfig::new(1, 32);
    /// // SAFETY: the kernel has one parameter of four bytes.
    /// let graph = Graph::capture(&context, |c| unsafe { c.launch_with(&ignore, &config, (7_u32,)) })?;
    /// assert_eq!(graph.nodes()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`launch`](Capture::launch) and [`Function::launch_with`].
    ///
    /// # Safety
    ///
    /// As for [`launch`](Capture::launch).
    pub unsafe fn launch_with(&self, function: &Function, config: &LaunchConfig, values: impl Arguments) -> Result<()> {
        // SAFETY: the caller keeps the contract of the launch.
        function.with_values(values, |pointers| unsafe { self.launch(function, config, pointers) })
    }

    /// Captures a call of `work` on a thread of the driver, at each launch.
    ///
    /// `work` must not call CUDA: the driver refuses it or hangs. A panic in it is caught and reported through
    /// [`tracing`].
    ///
    /// # Errors
    ///
    /// [`GraphError::CaptureEnded`]; [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn launch_host_fn(&self, work: impl Fn() + Send + Sync + 'static) -> Result<()> {
        let work: Arc<Repeated> = Arc::new(Box::new(work));
        let data = Arc::as_ptr(&work).cast_mut().cast::<c_void>();
        let mut open = self.open()?;
        let stream = open.stream();
        open.keep(work);
        // SAFETY: the stream is captured, so the function becomes a node, and the closure is kept with the graph.
        unsafe { driver_call!(open.context, cuLaunchHostFunc(stream, Some(host_fn::run_repeated), data)) }
    }

    /// Captures a record of `event`, at each launch.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Event, Graph, Stream};
    ///
    /// let (stream, reached) = (Stream::new(&context)?, Event::new(&context)?);
    /// let graph = Graph::capture(&context, |c| c.record(&reached))?;
    /// graph.instantiate()?.launch(&stream, ())?;
    /// reached.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for an event of another context; [`GraphError::CaptureEnded`];
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn record(&self, event: &Event) -> Result<()> {
        self.context().expect_same(event.context(), event)?;
        let mut open = self.open()?;
        let (stream, raw) = (open.stream(), event.raw_to_record());
        open.state.contents.events.events.push((0, event.clone()));
        let external = CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL.0;
        // SAFETY: stream and event are live and of one context; the event is kept with the graph.
        unsafe { driver_call!(open.context, cuEventRecordWithFlags(raw, stream, external)) }
    }

    /// Captures a wait for `event`, in the state that it has when the graph is launched.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Event, Graph, Stream};
    ///
    /// let (first, second, ready) = (Stream::new(&context)?, Stream::new(&context)?, Event::without_timing(&context)?);
    /// let graph = Graph::capture(&context, |c| {
    ///     c.wait_event(&ready)?;
    ///     c.launch_host_fn(|| println!("used"))
    /// })?;
    /// first.launch_host_fn(|| println!("made"))?;
    /// ready.record(&first)?;
    /// graph.instantiate()?.launch(&second, ())?;         // "used" comes after "made"
    /// second.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`record`](Capture::record).
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        self.context().expect_same(event.context(), event)?;
        let mut open = self.open()?;
        let (stream, raw) = (open.stream(), event.as_raw());
        open.keep(Arc::new(event.clone()));
        let external = CUevent_wait_flags::CU_EVENT_WAIT_EXTERNAL.0;
        // SAFETY: stream and event are live and of one context; the event is kept with the graph.
        unsafe { driver_call!(open.context, cuStreamWaitEvent(stream, raw, external)) }
    }

    /// Keeps `value` alive as long as the graph and its executable graphs: for objects that addresses in nodes point
    /// to.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use std::sync::Arc;
    ///
    /// let table = Arc::new([1, 2, 3]);
    /// let graph = cuda_driver::Graph::capture(&context, |c| c.keep(table.clone()))?;
    /// assert_eq!(Arc::strong_count(&table), 2);
    /// drop(graph);
    /// assert_eq!(Arc::strong_count(&table), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::CaptureEnded`].
    pub fn keep(&self, value: impl Any + Send + Sync) -> Result<()> {
        self.open()?.keep(Arc::new(value));
        Ok(())
    }

    /// Runs `work` with the captured raw stream, for other libraries that enqueue in streams.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let mut memory = 0;
    /// # // SAFETY: the address lives through the call.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemAlloc_v2(&mut memory, 64)) }?;
    /// use cuda_driver::{Graph, driver_call};
    ///
    /// let graph = Graph::capture(&context, |c| {
    ///     // SAFETY: the memory has 64 bytes, and lives until the graph has run.
    ///     unsafe { c.with_raw(|stream| driver_call!(&context, cuMemsetD8Async(memory, 1, 64, stream))) }
    /// })?;
    /// assert_eq!(graph.nodes()?.len(), 1);
    /// # context.synchronize()?;
    /// # // SAFETY: nothing uses it any more.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemFree_v2(memory)) }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `work`; [`GraphError::CaptureEnded`].
    ///
    /// # Safety
    ///
    /// `work` only enqueues in the stream, and does not use this capture. The enqueued work is sound at every launch of
    /// an executable graph of it.
    pub unsafe fn with_raw<R>(&self, work: impl FnOnce(CUstream) -> Result<R>) -> Result<R> {
        let open = self.open()?;
        work(open.stream())
    }
}

impl State {
    /// Orders later work of branch `after` after all present work of branch `before`.
    fn join(&self, context: &Context, after: usize, before: usize) -> Result<()> {
        if after == before {
            return Ok(());
        }
        // SAFETY: both streams are live, of the context, and the capture's own.
        unsafe { context.events().order(context, self.streams[before].raw, self.streams[after].raw) }
    }
}

/// Two are equal if they are the same branch of the same capture.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// cuda_driver::Graph::capture(&context, |c| {
///     assert!(*c == c.clone() && *c != c.fork()?);
///     Ok(())
/// })?;
/// # Ok(())
/// # }
/// ```
impl PartialEq for Capture {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) && self.branch == other.branch
    }
}

impl Eq for Capture {}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("branch", &self.branch).finish_non_exhaustive()
    }
}
