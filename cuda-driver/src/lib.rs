//! Safe wrappers over the CUDA driver: [`Driver`], [`Device`], [`Context`], [`Stream`], [`Event`], [`Module`] and
//! [`Function`], with launch configurations that are checked before anything is launched.
//!
//! The crate never chooses a driver: it is passed a [`cuda_sys::DriverApi`], and does not know whether a GPU or a
//! software device answers. It holds no memory and no arrays (`cuda-mem` does), and compiles no kernels (`cuda-jit`
//! does).
//!
//! Invariants:
//!
//! - Every object holds the [`Context`] it lives in, so none can outlive it and none is ever invalid.
//! - Every call makes its context the thread's current one and afterwards restores the previous one, so that other
//!   libraries of the process find theirs. Where none was current, the call's own stays current.
//! - A sticky error (one after which the driver refuses everything) is stored: later calls on that context do not reach
//!   the driver, and their error names the first cause.
//! - A forked child gets [`Error::Forked`] from every call.
//! - Dropping an object never panics and never makes a later call fail: errors of a drop are reported through
//!   [`tracing`].
//!
//! # Examples
//!
//! ```
//! use cuda_driver::{Driver, Event, Stream};
//!
//! # fn main() -> cuda_driver::Result<()> {
//! let driver = Driver::new(cuda_sim::driver_api())?;
//! let context = driver.device(0)?.primary_context()?;
//! let stream = Stream::new(&context)?;
//! let (start, end) = (Event::new(&context)?, Event::new(&context)?);
//! stream.scope(|s| {
//!     start.record(s)?;
//!     end.record(s)
//! })?;
//! assert!(start.elapsed_ms(&end)? >= 0.0);
//! # Ok(())
//! # }
//! ```

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use cuda_sys;

mod call;
mod context;
mod device;
mod driver;
mod error;
mod fork;
mod graph;
mod launch;
#[cfg(all(test, loom))]
mod loom_models;
mod module;
pub mod nvtx;
mod panic;
mod profiler;
mod registry;
pub mod runtime;
mod status;
mod stream;
mod sync;
mod thread;

pub use context::attached::Attached;
pub use context::current::{CurrentGuard, Entered};
pub use context::settings::{CacheConfig, ContextLimit};
pub use context::{Context, MemoryInfo};
pub use device::Device;
pub use device::identity::Uuid;
pub use device::limits::DeviceLimits;
pub use driver::Driver;
pub use error::{DriverError, Error, NotInModule, Poisoned, Result};
pub use graph::{
    Access, AroundLaunch, Bind, Capture, ConditionalHandle, CopySide, Fill, Graph, GraphError, GraphExec, GraphLaunch,
    GraphMemory, GraphNode, GraphPanicRecord, InstantiateOptions, LaunchKind, MemoryCopy, MemoryId, OpenCapture,
};
pub use launch::config::LaunchConfig;
pub use launch::dims::{Dim3, Dims, Extent};
pub use launch::error::{LaunchConfigError, LaunchPart};
pub use module::Module;
pub use module::function::{CheckedLaunch, Function, FunctionAttributes};
pub use module::image::{Image, ImageKind};
pub use module::jit::JitOptions;
pub use module::jit_log::JitError;
pub use module::link::Linker;
pub use module::params::{Arguments, Parameter};
pub use panic::{
    DetachedPanicRecord, KernelPanic, PanicDecoder, PanicRecord, RawPanic, StreamPosition, Writers, withholding_panics,
};
pub use profiler::ProfilerGuard;
pub use stream::deferred_drop::{defer_drop, drop_deferred, is_in_host_fn};
pub use stream::done::Done;
pub use stream::event::Event;
pub use stream::scope::StreamScope;
pub use stream::{Stream, StreamId, StreamOptions, external_stream};
