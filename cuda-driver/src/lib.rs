//! Safe wrappers over the CUDA driver: [`Driver`], [`Device`], [`Context`], [`Stream`], [`Event`], [`Module`] and
//! [`Function`], with launch configurations that are checked before anything is launched.
//!
//! The crate never chooses a driver: it is handed a [`cuda_sys::DriverApi`], and does not know whether a GPU or a
//! software device answers. It holds no memory and no arrays (`cuda-mem` does), and compiles no kernels (`cuda-jit`
//! does).
//!
//! What always holds:
//!
//! - Every object holds the [`Context`] it lives in, so none can outlive it and none is ever invalid.
//! - Every call makes its context the thread's current one, and afterwards the one current again that was before, so that
//!   other libraries of the process find theirs. Where none was, the call's own stays.
//! - A sticky error (one after which the driver refuses everything) is remembered: later calls on that context do not
//!   reach the driver, and name the first cause.
//! - A forked child gets [`Error::Forked`] from every call.
//! - Dropping an object never panics and never makes a later call fail: what goes wrong there is reported through
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

mod attached;
mod attributes;
mod call;
mod captures;
mod cluster;
mod context;
mod current;
mod device;
mod dims;
mod done;
mod driver;
mod error;
mod event;
mod extended;
mod fork;
mod function;
mod graph;
mod host_fn;
mod identity;
mod idle;
mod image;
mod jit;
mod jit_log;
mod later;
mod launch_config;
mod launch_error;
mod limits;
mod link;
#[cfg(all(test, loom))]
mod loom_models;
mod module;
pub mod nvtx;
mod panic;
mod params;
mod pool;
mod profiler;
mod registry;
pub mod runtime;
mod scope;
mod settings;
mod status;
mod stream;
mod sync;
mod thread;
mod thread_streams;

pub use attached::Attached;
pub use context::{Context, MemoryInfo};
pub use current::{CurrentGuard, Entered};
pub use device::Device;
pub use dims::{Dim3, Dims, Extent};
pub use done::Done;
pub use driver::Driver;
pub use error::{DriverError, Error, NotInModule, Poisoned, Result};
pub use event::Event;
pub use function::{CheckedLaunch, Function, FunctionAttributes};
pub use graph::{
    Access, AroundLaunch, Capture, ConditionalHandle, CopySide, Fill, Graph, GraphError, GraphExec, GraphLaunch,
    GraphMemory, GraphNode, GraphPanicRecord, InstantiateOptions, LaunchKind, Lend, MemoryCopy, MemoryId, OpenCapture,
};
pub use identity::Uuid;
pub use image::{Image, ImageKind};
pub use jit::JitOptions;
pub use jit_log::JitError;
pub use later::{drop_later, drop_what_is_left, is_in_host_fn};
pub use launch_config::LaunchConfig;
pub use launch_error::{LaunchConfigError, LaunchPart};
pub use limits::DeviceLimits;
pub use link::Linker;
pub use module::Module;
pub use panic::{
    DetachedPanicRecord, KernelPanic, PanicDecoder, PanicRecord, RawPanic, StreamPosition, Writers, withholding_panics,
};
pub use params::{Arguments, Parameter};
pub use profiler::ProfilerGuard;
pub use scope::StreamScope;
pub use settings::{CacheConfig, ContextLimit};
pub use stream::{Stream, StreamId, StreamOptions, external_stream};
