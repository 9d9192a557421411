//! Typed launches: from a kernel's Rust arguments to the driver's.
//!
//! The arguments' types are checked against the kernel's by rustc ([`KernelArg`]); the configuration is checked
//! against the device before anything is allocated, copied or launched. The launch itself allocates nothing for
//! device arrays and scalars.
//!
//! # Safety
//!
//! The one block hands the driver what [`KernelArgs`] bound: the cells of the kernel's own parameter types.

mod args;
mod config;
mod host;
mod params;

use cuda_driver::{Context, LaunchConfig, LaunchConfigError, Stream};

pub use args::{KernelArg, KernelArgs, KernelParams};
pub use config::Configuration;
pub use host::{In, InOut, Out};
pub use params::Params;

use crate::error::{Error, Result};
use crate::kernel::{Kernel, Loaded};

/// A launch that is being put together.
#[derive(Debug)]
pub struct Launch<'a> {
    context: &'a Context,
    stream: &'a Stream,
    kernel: &'static str,
    params: Params,
    /// How many arguments have been bound.
    bound: usize,
}

impl Launch<'_> {
    /// The stream that the kernel will run in.
    pub fn stream(&self) -> &Stream {
        self.stream
    }

    /// The context that the kernel will run in.
    pub fn context(&self) -> &Context {
        self.context
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &'static str {
        self.kernel
    }

    /// Appends a number or address to the driver's parameters.
    pub fn push(&mut self, bits: u64) {
        self.params.push(bits);
    }

    /// Refuses an argument that lies in another context.
    ///
    /// # Errors
    ///
    /// If `context` is not the launch's.
    pub fn same_context(&self, context: &Context) -> Result<()> {
        if context.id() == self.context.id() {
            return Ok(());
        }
        let (found, wanted) = (context.device().ordinal(), self.context.device().ordinal());
        Err(Error::OtherContext { kernel: self.kernel, index: self.bound, found, wanted })
    }
}

/// Launches a kernel: in the configuration's stream, else in the default stream of the context that the first device
/// array lies in, else of the context that `current` gives.
///
/// # Errors
///
/// If the configuration is beyond the device's limits, the kernel does not compile, or the driver fails. Nothing is
/// launched then.
pub fn launch<K, A>(current: fn() -> Result<Context>, config: LaunchConfig, args: A) -> Result<()>
where
    K: Kernel,
    A: KernelArgs<K::Params>,
{
    let context = context(current, config.chosen_stream(), &args)?;
    let loaded = K::cache().loaded::<K>(&context)?;
    run::<K, A>(&context, &loaded, &config, args)
}

/// Launches a kernel for at least `count` threads in one dimension.
///
/// # Errors
///
/// As for [`launch`].
pub fn forall<K, A>(current: fn() -> Result<Context>, count: usize, args: A) -> Result<()>
where
    K: Kernel,
    A: KernelArgs<K::Params>,
{
    if count == 0 {
        return Ok(());
    }
    let context = context(current, None, &args)?;
    let loaded = K::cache().loaded::<K>(&context)?;
    let block = *loaded.block.get_or_try_init(|| {
        let (_, block) = loaded.function.max_potential_block_size(0, 0)?;
        Ok::<_, Error>(block.max(1))
    })?;
    let config = LaunchConfig::new(count.div_ceil(block as usize), block);
    run::<K, A>(&context, &loaded, &config, args)
}

fn context<P, A: KernelArgs<P>>(
    current: fn() -> Result<Context>,
    stream: Option<&Stream>,
    args: &A,
) -> Result<Context> {
    match stream.map(Stream::context).or_else(|| args.context()) {
        Some(context) => Ok(context.clone()),
        None => current(),
    }
}

/// Refuses a launch in fewer dimensions than the kernel asks for its place in, and one that repeats each place because
/// it extends in more.
fn check_dimensions(loaded: &Loaded, config: &LaunchConfig) -> Result<()> {
    let used = loaded.compiled.grid_dims;
    let repeats = |extents: [i128; 3]| extents[used..].iter().any(|&extent| extent != 1);
    if used == 0 || config.ndim() >= used && !repeats(config.grid().extents()) && !repeats(config.block().extents()) {
        return Ok(());
    }
    let kernel = loaded.compiled.entry.clone();
    let error = LaunchConfigError::Dimensions { kernel, given: config.ndim(), used };
    Err(cuda_driver::Error::from(error).into())
}

fn run<K, A>(context: &Context, loaded: &Loaded, config: &LaunchConfig, args: A) -> Result<()>
where
    K: Kernel,
    A: KernelArgs<K::Params>,
{
    loaded.function.check_config(config)?;
    check_dimensions(loaded, config)?;
    let default;
    let stream = match config.chosen_stream() {
        Some(stream) => stream,
        None => {
            default = context.default_stream();
            &default
        }
    };
    let mut launch = Launch { context, stream, kernel: K::definition().name, params: Params::new(), bound: 0 };
    let bound = args.bind(&mut launch)?;
    launch.push(context.panic_record()?.device_ptr());
    launch.push(u64::from(loaded.id));
    let Launch { mut params, .. } = launch;
    // SAFETY: the parameters are the kernel's in number, order and size: `KernelArgs` binds one argument of each
    // parameter's type, and the two that every kernel takes at the end follow. The memory that they name is alive and
    // ordered in this stream, because binding recorded its use there.
    unsafe { loaded.function.launch(config, stream, params.pointers()) }?;
    A::finish(bound, stream)
}
