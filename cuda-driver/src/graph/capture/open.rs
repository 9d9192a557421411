//! [`OpenCapture`]: a capture that is locked for one launch, and the panic records of captured kernels.
//!
//! # Safety
//!
//! The block launches in a live stream of the function's context, which the capture owns and uses under its lock.

use std::any::Any;
use std::ffi::c_void;
use std::fmt;

use cuda_sys::{CUdeviceptr, CUstream};

use super::super::bind::{AroundLaunch, MemoryAccess, MemoryId, merge};
#[cfg(doc)]
use super::Capture;
use super::{BranchAccesses, State};
use crate::context::Context;
use crate::error::Result;
use crate::module::function::CheckedLaunch;
#[cfg(doc)]
use crate::module::function::Function;
use crate::sync::{Arc, MutexGuard};

/// A capture that is locked for one launch, from [`Capture::open`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let mut memory = 0;
/// # // SAFETY: the address lives through the call.
/// # unsafe { cuda_driver::driver_call!(&context, cuMemAlloc_v2(&mut memory, 64)) }?;
/// use std::sync::Arc;
/// use cuda_driver::{AroundLaunch, Graph, MemoryId, Result, Stream, driver_call};
///
/// /// Tells of each launch of a graph.
/// struct Told;
///
/// impl AroundLaunch for Told {
///     fn around(&self, stream: &Stream, enqueue: &mut dyn FnMut() -> Result<()>) -> Result<()> {
///         println!("launched in {:?}", stream.id());
///         enqueue()
///     }
/// }
///
/// let id = MemoryId::unique();
/// let graph = Graph::capture(&context, |c| {
///     let mut open = c.open()?;
///     assert_eq!(open.context(), &context);
///     open.enclose(Arc::new(Told));
///     open.record_access(id, true, || "the table (64 bytes)".into())?;
///     // SAFETY: the memory has 64 bytes; it is bound to each launch.
///     unsafe { open.enqueue(|stream| driver_call!(&context, cuMemsetD8Async(memory, 1, 64, stream))) }
/// })?;
/// let error = graph.instantiate()?.launch(&context.default_stream(), ()).unwrap_err();
/// assert!(error.to_string().starts_with("the graph uses the table (64 bytes), which was not bound to this launch"));
/// # context.synchronize()?;
/// # // SAFETY: nothing uses it any more.
/// # unsafe { cuda_driver::driver_call!(&context, cuMemFree_v2(memory)) }?;
/// # Ok(())
/// # }
/// ```
pub struct OpenCapture<'a> {
    pub(super) context: &'a Context,
    pub(super) branch: usize,
    pub(super) state: MutexGuard<'a, State>,
}

impl OpenCapture<'_> {
    /// The context that the graph's work runs in.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.context
    }

    pub(super) fn stream(&self) -> CUstream {
        self.state.streams[self.branch].raw
    }

    pub(super) fn keep(&mut self, value: Arc<dyn Any + Send + Sync>) {
        self.state.contents.keep(std::ptr::null_mut(), value);
    }

    /// Records that the next captured operation accesses an allocation, and orders it after conflicting accesses.
    /// `what` describes the access and its size for messages, such as "argument 0 of kernel `add` (400 bytes)".
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status; then the operation must not be captured.
    pub fn record_access(&mut self, id: MemoryId, writes: bool, what: impl FnOnce() -> String) -> Result<()> {
        let State { accesses, contents, .. } = &mut *self.state;
        let at = accesses.iter().position(|known| known.id == id).unwrap_or_else(|| {
            accesses.push(BranchAccesses { id, writer: None, readers: Vec::new() });
            accesses.len() - 1
        });
        merge(&mut contents.accesses, MemoryAccess { id, writes, what: what() });
        for other in self.state.accesses[at].conflicts(self.branch, writes) {
            self.state.join(self.context, self.branch, other)?;
        }
        self.state.accesses[at].note(self.branch, writes);
        Ok(())
    }

    /// A panic record for the kernel that is captured next. A panic of it, at any launch of the graph, is reported by
    /// the wait for that launch; where several launches were not waited for, by the wait for the first one.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Graph, GraphPanicRecord};
    ///
    /// let graph = Graph::capture(&context, |c| {
    ///     let record: GraphPanicRecord = c.open()?.panic_record()?;
    ///     println!("the kernel is passed {:#x} and {:#x}", record.device_ptr(), record.tag(7));
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) if the device cannot map host memory or there is none left.
    pub fn panic_record(&mut self) -> Result<GraphPanicRecord> {
        let panics = &mut self.state.contents.panics;
        if panics.is_empty() {
            panics.push(Arc::default());
        }
        let (device, number) = panics[0].add(self.context)?;
        Ok(GraphPanicRecord { device, number })
    }

    /// Adds a hook that encloses every launch of the graph.
    pub fn enclose(&mut self, around: Arc<dyn AroundLaunch>) {
        self.state.contents.around.push(around);
    }

    /// Captures a launch, and keeps its function with the graph.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a function of another context;
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    ///
    /// # Safety
    ///
    /// As for [`Function::launch`], at every launch of the graph; the memory passed to
    /// [`record_access`](OpenCapture::record_access) is live and ordered then.
    pub unsafe fn launch(&mut self, launch: CheckedLaunch<'_>, params: &mut [*mut c_void]) -> Result<()> {
        let function = launch.function();
        self.context.expect_same(function.context(), &format_args!("function `{}`", function.name()))?;
        let (kernel, grid, block) = (function.name(), launch.grid(), launch.block());
        let _span = tracing::trace_span!("capture_launch", kernel, ?grid, ?block).entered();
        launch.prepare_for_graph(params)?;
        self.keep(Arc::new(function.clone()));
        // SAFETY: the stream is live and of the function's context; the caller keeps the contract of the parameters.
        unsafe { launch.enqueue(self.stream(), params) }
    }

    /// Captures the work that `enqueue` enqueues in the raw stream that it gets.
    ///
    /// # Errors
    ///
    /// The error of `enqueue`.
    ///
    /// # Safety
    ///
    /// `enqueue` only enqueues in the stream. The enqueued work is sound at every launch of the graph, where the memory
    /// passed to [`record_access`](OpenCapture::record_access) is live and ordered.
    pub unsafe fn enqueue<R>(&mut self, enqueue: impl FnOnce(CUstream) -> Result<R>) -> Result<R> {
        enqueue(self.stream())
    }
}

/// The panic record of a captured kernel; from [`OpenCapture::panic_record`].
#[derive(Clone, Copy, Debug)]
pub struct GraphPanicRecord {
    device: CUdeviceptr,
    number: u32,
}

impl GraphPanicRecord {
    /// The record's address on the device, aligned to 16 bytes; valid while the context lives.
    #[must_use]
    pub fn device_ptr(&self) -> CUdeviceptr {
        self.device
    }

    /// The tag that the kernel writes: the number from [`Context::register_kernel`] in the low half.
    #[must_use]
    pub fn tag(&self, kernel: u32) -> u64 {
        u64::from(self.number) << 32 | u64::from(kernel)
    }
}

impl fmt::Debug for OpenCapture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenCapture").field("branch", &self.branch).finish_non_exhaustive()
    }
}
