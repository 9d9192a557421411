//! Typed launches: the conversion of a kernel's Rust arguments to the driver's.
//!
//! rustc checks the arguments' types against the kernel's ([`KernelArg`]); the configuration is checked against the device
//! before anything is allocated, copied or launched. For device arrays and scalars, the launch itself allocates nothing.
//!
//! # Safety
//!
//! The blocks pass the driver the parameters that [`KernelArgs`] bound: the cells of the kernel's own parameter types.

mod args;
mod captures;
mod closure;
mod config;
mod host;
mod params;
mod values;

use std::any::TypeId;
use std::panic::Location;
use std::sync::atomic::Ordering;

use cuda_driver::{
    CheckedLaunch, Context, GraphError, LaunchConfig, LaunchConfigError, OpenCapture, Stream, withholding_panics,
};
use cuda_mem::{DeviceArray, Element, Storage, StorageMut};
use ndarray::Dimension;

pub use crate::tuples::KernelParams;
pub use args::{KernelArg, KernelArgs};
pub use captures::{Borrowed, Capturable, CaptureDim, Captured, Captures, HostCaptures, capture_kind};
pub use closure::{
    CaptureWitness, ClosureArg, DeviceClosure, DeviceFunction, KernelClosure, List, PassedCallee, PassedNonDevice,
    Site, WitnessCallee, WitnessType, closure_arg, witness_answer, witness_callee, witness_cast, witness_closure,
    witness_constant, witness_path, witness_type,
};
pub use config::{Configuration, Tasks};
pub use host::{HostMemory, HostMemoryMut, In, InOut, Out};
pub use params::{Params, Sizes};
pub use values::ArgType;

use crate::compiled::Compiled;
use crate::constant;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Loaded, Specialisation};
use crate::warnings::{self, Warning};

/// A launch whose arguments are being bound.
///
/// # Examples
///
/// ```
/// use cuda_driver::Context;
/// use cuda_jit::{Result, device::grid, kernel, launch::{KernelArg, Launch}};
/// use cuda_mem::DeviceArray;
/// use ndarray::Ix1;
///
/// /// Samples of a sound on the device.
/// struct Samples(DeviceArray<f32, Ix1>);
///
/// // SAFETY: it pushes the address and the length of an array, which it borrows exclusively, and has recorded the write.
/// unsafe impl KernelArg<&'static mut [f32]> for &mut Samples {
///     type Bound = ();
///
///     fn context(&self) -> Option<&Context> {
///         Some(self.0.context())
///     }
///
///     fn bind(self, launch: &mut Launch<'_>) -> Result<()> {
///         assert_eq!(launch.kernel(), "amplify");
///         launch.same_context(self.0.context())?;
///         launch.write(&mut self.0)?; // `launch.read` for an array that the kernel only reads
///         launch.push(self.0.device_ptr());
///         launch.push(self.0.len() as u64);
///         Ok(())
///     }
///
///     fn finish((): ()) -> Result<()> {
///         Ok(())
///     }
/// }
///
/// #[kernel]
/// fn amplify(samples: &mut [f32], by: f32) {
///     let i = grid::<1>();
///     if i < samples.len() {
///         samples[i] *= by;
///     }
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut samples = Samples(cuda_mem::from_slice(&context, &[0.25, 0.5])?);
/// amplify::launch((1, 32), &mut samples, 2.0)?;
/// assert_eq!(samples.0.copy_to_host()?.to_vec(), [0.5, 1.0]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[derive(Debug)]
pub struct Launch<'a> {
    context: &'a Context,
    queue: Queue<'a>,
    kernel: &'static str,
    params: Params,
    /// The number of arguments that have been bound.
    bound: usize,
    /// True if an argument is copied back, for which the launch waits.
    waits: bool,
    /// The call site, if warnings about it are enabled.
    place: Option<&'static Location<'static>>,
}

/// The destination of a launch.
#[derive(Debug)]
enum Queue<'a> {
    Stream(&'a Stream),
    Capture(OpenCapture<'a>),
}

impl Launch<'_> {
    /// Records that the kernel reads an array, and orders the launch after previous writes.
    ///
    /// # Errors
    ///
    /// If the driver fails.
    #[inline]
    pub fn read<T: Element, D: Dimension, S: Storage>(&mut self, array: &DeviceArray<T, D, S>) -> Result<()> {
        match &self.queue {
            Queue::Stream(stream) => Ok(array.prepare_read(stream)?),
            Queue::Capture(_) => self.captured(|capture, what| array.capture_read(capture, what)),
        }
    }

    /// Records that the kernel writes an array, and orders the launch after previous uses.
    ///
    /// # Errors
    ///
    /// If the driver fails.
    #[inline]
    pub fn write<T: Element, D: Dimension, S: StorageMut>(&mut self, array: &mut DeviceArray<T, D, S>) -> Result<()> {
        match &self.queue {
            Queue::Stream(stream) => Ok(array.prepare_write(stream)?),
            Queue::Capture(_) => self.captured(|capture, what| array.capture_write(capture, what)),
        }
    }

    /// Records a use in the capture; not inlined, so that launches in streams stay small.
    #[cold]
    fn captured(
        &mut self,
        note: impl FnOnce(&mut OpenCapture<'_>, &dyn Fn() -> String) -> cuda_mem::Result<()>,
    ) -> Result<()> {
        let (bound, kernel) = (self.bound, self.kernel);
        match &mut self.queue {
            Queue::Stream(_) => Ok(()),
            Queue::Capture(capture) => Ok(note(capture, &|| argument(bound, kernel))?),
        }
    }

    /// Refuses a copy for one launch in a graph, which is launched repeatedly.
    fn expect_stream(&self) -> Result<()> {
        match self.queue {
            Queue::Stream(_) => Ok(()),
            Queue::Capture(_) => Err(self.not_capturable()),
        }
    }

    #[cold]
    fn not_capturable(&self) -> Error {
        let what = format!("{}, a copy of host memory,", argument(self.bound, self.kernel));
        cuda_driver::Error::from(GraphError::NotCapturable(what)).into()
    }

    /// Records that an array, if it is not empty, is copied back after the launch.
    fn copies_back<T: Element, D: Dimension>(&mut self, array: &DeviceArray<T, D>) {
        self.waits |= array.len() * size_of::<T>() != 0;
    }

    /// The context that the kernel will run in.
    pub fn context(&self) -> &Context {
        self.context
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &'static str {
        self.kernel
    }

    /// Warns that an argument's host memory is copied for the launch.
    fn warn_of_copy(&self, bytes: usize) {
        if let Some(place) = self.place {
            warnings::warn(Warning::ImplicitCopy, self.kernel, place, || {
                let index = self.bound;
                format!("{bytes} bytes of host memory are copied for argument {index}; `to_device` copies them once")
            });
        }
    }

    /// Appends a number or address to the driver's parameters.
    #[inline]
    pub fn push(&mut self, bits: impl Into<u128>) {
        self.params.push(bits.into());
    }

    /// Refuses an argument that belongs to another context.
    ///
    /// # Errors
    ///
    /// If `context` is not the launch's.
    #[inline]
    pub fn same_context(&self, context: &Context) -> Result<()> {
        if context == self.context { Ok(()) } else { Err(self.other_context(context)) }
    }

    #[cold]
    fn other_context(&self, context: &Context) -> Error {
        let (found, wanted) = (context.device().ordinal(), self.context.device().ordinal());
        Error::OtherContext { kernel: self.kernel, index: self.bound, found, wanted }
    }
}

/// The compile error for an unchecked kernel in a safe launch.
const UNCHECKED: &str = "this kernel is `unchecked`: its own `launch`, which is `unsafe`, launches it";

/// An argument's name in messages.
fn argument(index: usize, kernel: &str) -> String {
    format!("argument {index} of kernel `{kernel}`")
}

/// Launches a kernel: in the configuration's stream, else in the default stream of the context of the first device array,
/// else in that of the context that `current` returns.
///
/// # Errors
///
/// If the configuration exceeds the device's limits, the kernel does not compile, or the driver fails. Nothing is launched
/// then.
///
/// A kernel with unchecked accesses is launched by its own `unsafe` function; here it does not compile:
///
/// ```compile_fail
/// # use cuda_jit::{kernel, launch::launch};
/// #[kernel(unchecked)]
/// fn write(out: &mut [u32], at: usize) {
///     out[at] = 1;
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let mut out = cuda_mem::zeros::<u32, _>(&context, 1)?;
/// launch::<write, _>(|| unreachable!(), &(1, 1).into(), (&mut out, 100_usize))?;
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[cfg_attr(doc, doc(hidden))]
#[inline]
#[track_caller]
pub fn launch<K, A>(current: fn() -> Result<Context>, config: &LaunchConfig, args: A) -> Result<()>
where
    K: Kernel,
    A: KernelArgs<K::Params>,
{
    const { assert!(!K::UNCHECKED, "{}", UNCHECKED) };
    // SAFETY: the kernel checks its accesses, as the assertion above ensures.
    unsafe { launch_unchecked::<K, A>(current, config, args) }
}

/// Launches a kernel as [`launch`] does, including one with unchecked accesses.
///
/// # Errors
///
/// As for [`launch`].
///
/// # Safety
///
/// If the kernel is `unchecked`, every index that it uses is within its slice.
#[cfg_attr(doc, doc(hidden))]
#[inline]
#[track_caller]
pub unsafe fn launch_unchecked<K, A>(current: fn() -> Result<Context>, config: &LaunchConfig, args: A) -> Result<()>
where
    K: Kernel,
    A: KernelArgs<K::Params>,
{
    let loaded = loaded::<K, A>(current, config.chosen_context(), &args)?;
    // WitnessCallee here: as a function value, it would return a location in the standard library.
    let caller = Location::caller();
    let place = (!config.is_quiet()).then_some(caller);
    run::<K, A>(loaded, config, args, place)
}

/// Launches a kernel for at least this many threads in one dimension.
///
/// # Errors
///
/// As for [`launch`].
#[cfg_attr(doc, doc(hidden))]
#[track_caller]
pub fn forall<K, A>(current: fn() -> Result<Context>, tasks: impl Tasks, args: A) -> Result<()>
where
    K: Kernel,
    A: KernelArgs<K::Params>,
{
    const { assert!(!K::UNCHECKED, "{}", UNCHECKED) };
    // SAFETY: the kernel checks its accesses, as the assertion above ensures.
    unsafe { forall_unchecked::<K, A>(current, tasks, args) }
}

/// Launches a kernel as [`forall`] does, including one with unchecked accesses.
///
/// # Errors
///
/// As for [`launch`].
///
/// # Safety
///
/// As for [`launch_unchecked`].
#[cfg_attr(doc, doc(hidden))]
#[track_caller]
pub unsafe fn forall_unchecked<K, A>(current: fn() -> Result<Context>, tasks: impl Tasks, args: A) -> Result<()>
where
    K: Kernel,
    A: KernelArgs<K::Params>,
{
    let (threads, asked) = tasks.into_parts();
    let [count, ..] = threads.extents();
    if count == 0 {
        return Ok(());
    }
    let loaded = loaded::<K, A>(current, asked.chosen_context(), &args)?;
    let block = loaded.best_block(asked.dynamic_shared_bytes())?;
    // The user does not choose the number of blocks, so no warning is given about it, only about copies.
    let config = asked.resized(blocks(count, block), block).quiet();
    run::<K, A>(loaded, &config, args, Some(Location::caller()))
}

/// The number of blocks for this many threads. A negative number is kept, so that the check of the grid refuses it.
fn blocks(count: i128, block: u32) -> i64 {
    let block = i128::from(block);
    let blocks = if count > 0 { (count + block - 1) / block } else { count };
    i64::try_from(blocks).unwrap_or(i64::MAX)
}

#[inline]
fn loaded<K, A>(current: fn() -> Result<Context>, chosen: Option<&Context>, args: &A) -> Result<&'static Loaded>
where
    K: Kernel,
    A: KernelArgs<K::Params>,
{
    let context = match chosen {
        Some(_) => chosen,
        None => args.context(),
    };
    K::cache().loaded(TypeId::of::<K>(), Specialisation::of::<K>, context, current)
}

/// Refuses a launch with fewer dimensions than the kernel queries, and one that repeats each position because it extends in
/// more.
#[inline]
fn check_dimensions(loaded: &Loaded, config: &LaunchConfig, checked: &CheckedLaunch<'_>) -> Result<()> {
    if suits(loaded.compiled.grid_dims, config.ndim(), checked.grid(), checked.block()) {
        return Ok(());
    }
    Err(wrong_dimensions(loaded, config))
}

/// Returns true if a launch with this number of dimensions suits a kernel that queries `used` dimensions; 0 if it queries
/// none.
#[inline]
pub(crate) fn suits(used: usize, given: usize, grid: [u32; 3], block: [u32; 3]) -> bool {
    // Written out, since an indexed array would have to be stored in memory first.
    let extends_in = |[_, y, z]: [u32; 3]| match (y, z) {
        (1, 1) => 1,
        (_, 1) => 2,
        _ => 3,
    };
    used == 0 || given >= used && extends_in(grid).max(extends_in(block)) <= used
}

#[cold]
fn wrong_dimensions(loaded: &Loaded, config: &LaunchConfig) -> Error {
    let (kernel, used) = (Some(loaded.compiled.entry.to_string()), loaded.compiled.grid_dims);
    cuda_driver::Error::from(LaunchConfigError::Dimensions { kernel, given: config.ndim(), used }).into()
}

/// Refuses clusters with more blocks than the kernel's launch bounds allow.
#[inline]
fn check_clusters(limit: u32, loaded: &Loaded, checked: &CheckedLaunch<'_>) -> Result<()> {
    let Some(extents) = checked.cluster() else { return Ok(()) };
    let blocks = extents.iter().product();
    if limit == 0 || blocks <= limit {
        return Ok(());
    }
    let kernel = loaded.compiled.entry.to_string();
    Err(cuda_driver::Error::from(LaunchConfigError::ClusterBounds { kernel, blocks, limit }).into())
}

/// Returns true if a grid has fewer blocks than the device has multiprocessors.
#[inline]
fn is_small(grid: [u32; 3], multiprocessors: u32) -> bool {
    let [x, y, z] = grid.map(u64::from);
    // Each factor is below 2^32, and the product of the first two exceeds any device's multiprocessors or is below 2^32.
    x * y < u64::from(multiprocessors) && x * y * z < u64::from(multiprocessors)
}

impl Loaded {
    /// The block size with the highest occupancy, in threads.
    fn best_block(&self, shared_bytes: usize) -> Result<u32> {
        let ask = || {
            let (_, block) =
                self.function.max_potential_block_size(shared_bytes.saturating_add(self.compiled.spilled_bytes), 0)?;
            Ok(block.max(1))
        };
        // Without dynamic shared memory, which is the usual case, it is queried once.
        if shared_bytes == 0 { self.block.get_or_try_init(ask).copied() } else { ask() }
    }

    /// Warns that a launch has fewer blocks than the device has multiprocessors; cheap for a call site that has just
    /// warned.
    fn warn_of_few_blocks(&self, kernel: &str, grid: [u32; 3], place: &'static Location<'static>) {
        let address = std::ptr::from_ref(place).addr();
        if self.warned.load(Ordering::Relaxed) == address {
            return;
        }
        self.warned.store(address, Ordering::Relaxed);
        let multiprocessors = self.function.context().limits().multiprocessors;
        warnings::warn(Warning::LowOccupancy, kernel, place, || {
            let blocks: u64 = grid.map(u64::from).iter().product();
            format!("a grid of {blocks} leaves some of the device's {multiprocessors} multiprocessors without work")
        });
    }
}

/// The configuration with the requirements of the kernel added.
pub(crate) fn configured(compiled: &Compiled, config: &LaunchConfig) -> LaunchConfig {
    let bytes = config.dynamic_shared_bytes().saturating_add(compiled.spilled_bytes);
    let config = config.clone().shared_bytes(bytes);
    if compiled.cooperative { config.cooperative() } else { config }
}

/// Binds the arguments and launches. What does not depend on the arguments' types is not generic, so that unoptimised builds
/// have it once and not for each kernel.
fn run<K, A>(loaded: &Loaded, config: &LaunchConfig, args: A, place: Option<&'static Location<'static>>) -> Result<()>
where
    K: Kernel,
    A: KernelArgs<K::Params>,
{
    let (with_requirements, own);
    let config = if loaded.as_written {
        config
    } else {
        with_requirements = configured(&loaded.compiled, config);
        &with_requirements
    };
    let (context, kernel) = (loaded.function.context(), K::definition().name);
    let checked = checked(loaded, config, kernel, K::LAUNCH_BOUNDS[2], &|sizes| args.measure(sizes))?;
    warn_of_small_grid(loaded, config, kernel, &checked, place);
    let queue = match (config.chosen_capture(), config.chosen_stream()) {
        (Some(capture), _) => Queue::Capture(capture.open()?),
        (None, Some(stream)) => Queue::Stream(stream),
        (None, None) if loaded.stream.is_per_thread() => {
            own = context.default_stream();
            Queue::Stream(&own)
        }
        (None, None) => Queue::Stream(&loaded.stream),
    };
    let mut launch = Launch { context, queue, kernel, params: Params::new(), bound: 0, waits: false, place };
    let bound = args.bind(&mut launch)?;
    check_sizes(loaded, &checked, &launch)?;
    if launch.waits {
        let mut bound = Some(bound);
        return run_and_wait(loaded, checked, launch, &mut || bound.take().map_or(Ok(()), A::finish));
    }
    enqueue(loaded, checked, &mut launch)?;
    drop(launch);
    A::finish(bound)
}

/// Checks a configuration that has all the kernel's requirements, before anything is copied. `measure` appends the sizes of the
/// arguments, as far as they are known; addresses are not.
#[inline]
fn checked<'a>(
    loaded: &'a Loaded,
    config: &'a LaunchConfig,
    kernel: &'static str,
    cluster_limit: u32,
    measure: &dyn Fn(&mut Sizes),
) -> Result<CheckedLaunch<'a>> {
    let checked = loaded.function.check_config(config)?;
    check_dimensions(loaded, config, &checked)?;
    check_clusters(cluster_limit, loaded, &checked)?;
    if let Some(requirements) = &loaded.compiled.requirements {
        requirements.check_extents(kernel, checked.grid(), checked.block())?;
        let mut sizes = Sizes::default();
        measure(&mut sizes);
        requirements.check_known_sizes(kernel, checked.grid(), checked.block(), &|index| sizes.cell(index))?;
    }
    if config.is_programmatic() {
        return Err(cuda_driver::Error::from(LaunchConfigError::Programmatic { kernel: kernel.to_owned() }).into());
    }
    Ok(checked)
}

/// Checks the sizes that a proof relies on, with the values of all parameters.
#[inline]
fn check_sizes(loaded: &Loaded, checked: &CheckedLaunch<'_>, launch: &Launch<'_>) -> Result<()> {
    let Some(requirements) = &loaded.compiled.requirements else { return Ok(()) };
    requirements.check_sizes(launch.kernel, checked.grid(), checked.block(), &|index| launch.params.cell(index))
}

/// Warns that a launch has fewer blocks than the device has multiprocessors, unless its configuration is quiet.
#[inline]
fn warn_of_small_grid(
    loaded: &Loaded,
    config: &LaunchConfig,
    kernel: &'static str,
    checked: &CheckedLaunch<'_>,
    place: Option<&'static Location<'static>>,
) {
    if let Some(place) = place
        && !config.is_quiet()
        && is_small(checked.grid(), loaded.function.context().limits().multiprocessors)
    {
        loaded.warn_of_few_blocks(kernel, checked.grid(), place);
    }
}

/// Launches and waits, so that the launch reports its own panic, and no other launch does.
fn run_and_wait(
    loaded: &Loaded,
    checked: CheckedLaunch<'_>,
    mut launch: Launch<'_>,
    finish: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let record = launch.context.detached_panic_record()?;
    let Queue::Stream(stream) = launch.queue else { return Err(launch.not_capturable()) };
    launch.push(record.device_ptr());
    launch.push(record.tag(loaded.id));
    if let Err(error) = enqueue_in(stream, loaded, checked, &mut launch.params) {
        record.finish()?;
        return Err(error);
    }
    drop(launch);
    // If waiting fails, the launch may still run, and its panic record must not be reused.
    withholding_panics(finish)?;
    Ok(record.finish()?)
}

/// Appends the parameters that every kernel has at the end, and makes the driver call.
#[inline]
fn enqueue(loaded: &Loaded, checked: CheckedLaunch<'_>, launch: &mut Launch<'_>) -> Result<()> {
    let Launch { params, queue, .. } = launch;
    match queue {
        Queue::Stream(stream) => {
            let record = stream.panic_record()?;
            params.push(record.device_ptr().into());
            params.push(record.tag(loaded.id).into());
            enqueue_in(stream, loaded, checked, params)?;
        }
        Queue::Capture(capture) => {
            let record = capture.panic_record()?;
            params.push(record.device_ptr().into());
            params.push(record.tag(loaded.id).into());
            constant::enclose(&loaded.constants, capture);
            // SAFETY: the parameters are the kernel's in number, order and size: `KernelArgs` has bound one argument of
            // each parameter's type, and the two that every kernel has at the end follow. Binding recorded the memory's
            // uses in the capture, so that it is alive and ordered at each launch of the graph. The panic record lives as
            // long as the context.
            params.with_pointers(|params| unsafe { capture.launch(checked, params) })?;
        }
    }
    Ok(())
}

#[inline]
fn enqueue_in(stream: &Stream, loaded: &Loaded, checked: CheckedLaunch<'_>, params: &mut Params) -> Result<()> {
    let _constants = constant::read(&loaded.constants, stream)?;
    // SAFETY: the parameters are the kernel's in number, order and size: `KernelArgs` has bound one argument of each
    // parameter's type, and the two that every kernel has at the end follow. The memory that they refer to is alive and
    // ordered in this stream, because binding recorded its use there; the panic record lives as long as the context.
    Ok(params.with_pointers(|params| unsafe { checked.launch(stream, params) })?)
}
