//! [`Function`]: a kernel of a loaded module: attributes, occupancy and launch.
//!
//! It knows nothing of the kernel's parameters: launching is `unsafe` here; the layers above have typed launches.
//!
//! # Safety
//!
//! The blocks call C functions whose obligations are a live function (its module is held by `self`) and pointers that live
//! through the call; a launch's obligations are passed on to its caller.

mod checked;

use std::ffi::c_void;
use std::fmt;

use cuda_sys::{CUfunction, CUfunction_attribute as Attribute};

use crate::context::Context;
use crate::context::settings::CacheConfig;
use crate::driver_call;
use crate::error::Result;
use crate::launch::cluster;
use crate::launch::config::{Geometry, LaunchConfig};
use crate::launch::error::LaunchConfigError;
use crate::module::params::{self, Arguments, Parameter};
use crate::module::{Module, c_name};
use crate::stream::Stream;
use crate::sync::{Arc, AtomicBool, AtomicU32, Mutex, Ordering};

pub use checked::CheckedLaunch;

/// A kernel of a [`Module`]. Clones are cheap and mean the same function.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, LaunchConfig, Module};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
/// // SAFETY: the kernel touches no memory.
/// let nothing = unsafe { Module::load_ptx(&context, ptx) }?.function("nothing")?;
/// println!("{} registers", nothing.attributes().registers);
/// // SAFETY: the kernel has no parameters.
/// unsafe { nothing.launch(&LaunchConfig::new(1, 32), &context.default_stream(), &mut []) }?;
/// context.synchronize()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Function(Arc<FunctionInner>);

struct FunctionInner {
    module: Module,
    raw: CUfunction,
    name: String,
    attributes: FunctionAttributes,
    parameters: Option<Box<[Parameter]>>,
    /// The present limit of the function's dynamic shared memory, in bytes.
    dynamic_limit: AtomicU32,
    /// Locked while the limit is raised, so that it never falls behind a concurrent launch.
    raising: Mutex<()>,
    /// True if clusters beyond the portable size are allowed.
    non_portable: AtomicBool,
}

// SAFETY: the raw function is an address that the driver accepts on any thread.
unsafe impl Send for FunctionInner {}
// SAFETY: the driver's own locks protect the function that the address names.
unsafe impl Sync for FunctionInner {}

/// The resources that a function needs, as the driver's compiler decided.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
/// # // SAFETY: the kernel touches no memory.
/// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
/// let needs = nothing.attributes();
/// assert!(needs.max_threads_per_block >= 1 && needs.local_bytes == 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionAttributes {
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of static shared memory of each block.
    pub shared_bytes: u32,
    /// Bytes of local memory of each thread.
    pub local_bytes: u32,
    /// Bytes of constant memory.
    pub const_bytes: u32,
    /// The maximum number of threads in a block of this function.
    pub max_threads_per_block: u32,
    /// PTX version it was compiled for, as `10 * major + minor`.
    pub ptx_version: u32,
    /// Compute capability of its machine code, as `10 * major + minor`.
    pub binary_version: u32,
    /// The cluster dimensions that the function requires, if it requires any.
    pub required_cluster: Option<[u32; 3]>,
}

impl Function {
    pub(crate) fn find(module: &Module, name: &str) -> Result<Self> {
        let symbol = c_name(name)?;
        let context = module.context();
        let mut raw = std::ptr::null_mut();
        // SAFETY: the module is live, the name ends in NUL, and `raw` lives through the call.
        unsafe { driver_call!(context, cuModuleGetFunction(&mut raw, module.as_raw(), symbol.as_ptr())) }
            .map_err(|error| error.of_symbol("function", name))?;
        let ask = |attribute| raw_attribute(context, raw, attribute).map(i32::unsigned_abs);
        let attributes = FunctionAttributes {
            registers: ask(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            const_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            max_threads_per_block: ask(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            ptx_version: ask(Attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION)?,
            binary_version: ask(Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION)?,
            required_cluster: required_cluster(context, raw)?,
        };
        let granted = context.limits().shared_per_block.saturating_sub(attributes.shared_bytes as usize);
        let dynamic_limit = AtomicU32::new(u32::try_from(granted).unwrap_or(u32::MAX));
        let (parameters, raising) = (params::query(context, raw)?, Mutex::new(()));
        let (module, name, non_portable) = (module.clone(), name.to_owned(), AtomicBool::new(false));
        let inner = FunctionInner { module, raw, name, attributes, parameters, dynamic_limit, raising, non_portable };
        Ok(Function(Arc::new(inner)))
    }

    /// The function's name in its module.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// assert_eq!(nothing.name(), "nothing");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The module that holds the function.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// let again = nothing.module().function(nothing.name())?;
    /// assert_eq!(again.as_raw(), nothing.as_raw());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn module(&self) -> &Module {
        &self.0.module
    }

    /// The context that the function is loaded into.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// assert_eq!(nothing.context(), &context);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[inline]
    pub fn context(&self) -> &Context {
        self.0.module.context()
    }

    /// The raw handle; valid while a clone of the function lives.
    #[must_use]
    pub fn as_raw(&self) -> CUfunction {
        self.0.raw
    }

    /// The resources that the function needs; queried when the function was looked up.
    #[must_use]
    pub fn attributes(&self) -> &FunctionAttributes {
        &self.0.attributes
    }

    /// The function's parameters, where the driver reports them (CUDA 12.4 and newer); queried when the function was
    /// looked up.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Module;
    ///
    /// let ptx = "
    ///     .version 7.8
    ///     .target sm_75
    ///     .address_size 64
    ///     .visible .entry ignore(.param .u32 count, .param .u64 address) { ret; }";
    /// // SAFETY: the kernel touches no memory.
    /// let ignore = unsafe { Module::load_ptx(&context, ptx) }?.function("ignore")?;
    /// for parameter in ignore.parameters().unwrap_or_default() {
    ///     println!("{} bytes at {}", parameter.bytes, parameter.offset);      // 4 bytes at 0, 8 bytes at 8
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn parameters(&self) -> Option<&[Parameter]> {
        self.0.parameters.as_deref()
    }

    /// The present value of any attribute.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// use cuda_driver::cuda_sys::CUfunction_attribute as Attribute;
    ///
    /// let bytes = nothing.attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?;
    /// assert_eq!(bytes, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) if the driver does not know the attribute.
    pub fn attribute(&self, attribute: Attribute) -> Result<i32> {
        raw_attribute(self.context(), self.0.raw, attribute)
    }

    /// Changes an attribute, for example the preferred share of shared memory.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// use cuda_driver::cuda_sys::CUfunction_attribute as Attribute;
    ///
    /// nothing.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) if the driver refuses the attribute or the value.
    pub fn set_attribute(&self, attribute: Attribute, value: i32) -> Result<()> {
        // SAFETY: the function is live; an unknown attribute is refused with a status.
        unsafe { driver_call!(self.context(), cuFuncSetAttribute(self.0.raw, attribute, value)) }?;
        if attribute == Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES {
            self.0.dynamic_limit.store(value.unsigned_abs(), Ordering::Relaxed);
        }
        if attribute == Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED {
            self.0.non_portable.store(value != 0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Sets the function's preference between first-level cache and shared memory; a hint.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// nothing.set_cache_config(cuda_driver::CacheConfig::L1)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn set_cache_config(&self, config: CacheConfig) -> Result<()> {
        // SAFETY: the function is live.
        unsafe { driver_call!(self.context(), cuFuncSetCacheConfig(self.0.raw, config.raw())) }
    }

    /// The maximum number of blocks of `block_threads` threads and `dynamic_shared_bytes` that can be active on one
    /// multiprocessor.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// assert!(nothing.max_active_blocks(128, 0)? >= 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn max_active_blocks(&self, block_threads: u32, dynamic_shared_bytes: usize) -> Result<u32> {
        self.allow_dynamic(dynamic_shared_bytes)?;
        let block = i32::try_from(block_threads).unwrap_or(i32::MAX);
        let (context, raw) = (self.context(), self.0.raw);
        let mut blocks = 0;
        // SAFETY: the function is live and `blocks` lives through the call.
        unsafe {
            driver_call!(
                context,
                cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, raw, block, dynamic_shared_bytes)
            )
        }?;
        Ok(blocks.unsigned_abs())
    }

    /// The block size with the highest occupancy, and the smallest grid that fills the device with such blocks, as
    /// (grid, block). `limit` bounds the block; 0 means the function's own limit.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// let (grid, block) = nothing.max_potential_block_size(0, 0)?;
    /// println!("{grid} blocks of {block} threads fill the device");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn max_potential_block_size(&self, dynamic_shared_bytes: usize, limit: u32) -> Result<(u32, u32)> {
        self.allow_dynamic(dynamic_shared_bytes)?;
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        let (context, raw) = (self.context(), self.0.raw);
        let (mut grid, mut block) = (0, 0);
        // SAFETY: the function is live, both results live through the call, and no callback is given.
        unsafe {
            driver_call!(
                context,
                cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, raw, None, dynamic_shared_bytes, limit)
            )
        }?;
        Ok((grid.unsigned_abs(), block.unsigned_abs()))
    }

    /// Launches the function in `stream`; the stream in the configuration is ignored.
    ///
    /// The configuration is checked first. One driver call is made, and one more whenever the function needs more
    /// dynamic shared memory than any launch before.
    ///
    /// # Errors
    ///
    /// [`Error::LaunchConfig`](crate::Error::LaunchConfig) if the device or the function cannot run the configuration;
    /// [`Error::Invalid`](crate::Error::Invalid) for another number of parameters than the function has, where the
    /// driver reports it, and for a stream of another context; [`Error::Driver`](crate::Error::Driver) with the
    /// driver's status.
    ///
    /// # Safety
    ///
    /// `params` points to one value for each of the function's parameters, of their sizes and alignments. What the
    /// function does with them is sound: device memory that it accesses is live until the launch has finished, and
    /// meanwhile nothing else writes memory that it reads, or accesses memory that it writes.
    #[inline]
    pub unsafe fn launch(&self, config: &LaunchConfig, stream: &Stream, params: &mut [*mut c_void]) -> Result<()> {
        // SAFETY: the caller keeps the contract of the launch.
        unsafe { self.check_config(config)?.launch(stream, params) }
    }

    /// Launches the function in `stream` with a tuple of values, whose number and sizes are checked where the driver
    /// reports those of the parameters.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # use cuda_driver::{Driver, LaunchConfig, Module};
    /// # let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry ignore(.param .u32 n)\n{\n\tret;\n}\n";
    /// // SAFETY: the kernel touches no memory.
    /// let ignore = unsafe { Module::load_ptx(&context, ptx) }?.function("ignore")?;
    /// let (config, stream) = (LaunchConfig::new(1, 32), context.default_stream());
    /// // SAFETY: the kernel has one parameter of four bytes.
    /// unsafe { ignore.launch_with(&config, &stream, (7_u32,)) }?;
    /// // SAFETY: it is not launched.
    /// let error = unsafe { ignore.launch_with(&config, &stream, (7_u64,)) }.unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "parameter 0 of function `ignore` has 4 bytes, and a value of 8 was given; nothing was launched"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`launch`](Function::launch); [`Error::Invalid`](crate::Error::Invalid) too for a value of another size than
    /// its parameter.
    ///
    /// # Safety
    ///
    /// As for [`launch`](Function::launch).
    pub unsafe fn launch_with(&self, config: &LaunchConfig, stream: &Stream, values: impl Arguments) -> Result<()> {
        // SAFETY: the caller keeps the contract of the launch.
        self.with_values(values, |pointers| unsafe { self.launch(config, stream, pointers) })
    }

    /// Passes pointers to the values to `work`, if their number and sizes match the parameters, as far as the driver
    /// reports them.
    pub(crate) fn with_values<R>(
        &self,
        values: impl Arguments,
        work: impl FnOnce(&mut [*mut c_void]) -> Result<R>,
    ) -> Result<R> {
        values.with_pointers(|pointers, sizes| {
            if let Some(parameters) = &self.0.parameters {
                params::check_sizes(&self.0.name, sizes, parameters)?;
            }
            work(pointers)
        })
    }

    /// Checks a configuration against the device's limits and the function's; makes no call.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// use cuda_driver::LaunchConfig;
    ///
    /// assert_eq!(nothing.check_config(&LaunchConfig::new(4, 32))?.block(), [32, 1, 1]);
    /// let error = nothing.check_config(&LaunchConfig::new(4, 5000)).unwrap_err();
    /// assert!(error.to_string().contains("x is 5000, it must be from 1 to 1024"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LaunchConfig`](crate::Error::LaunchConfig), which names the value and the limit.
    // Inlined for the same reason as `LaunchConfig::fitting`.
    #[inline(always)]
    pub fn check_config(&self, config: &LaunchConfig) -> Result<CheckedLaunch<'_>> {
        let (limits, attributes) = (self.context().limits(), &self.0.attributes);
        match config.fitting(limits) {
            Some(geometry)
                if geometry.threads <= attributes.max_threads_per_block
                    && self.cluster_fits(config, &geometry).is_ok()
                    && attributes.shared_bytes as usize + geometry.shared_bytes as usize
                        <= limits.shared_per_block_optin =>
            {
                let (cooperative, programmatic) = (config.is_cooperative(), config.is_programmatic());
                Ok(CheckedLaunch { function: self, geometry, cooperative, programmatic })
            }
            _ => Err(self.refusal(config).into()),
        }
    }

    /// Returns an error unless the launch has the cluster dimensions that the function requires, if it requires any.
    #[inline]
    fn cluster_fits(&self, config: &LaunchConfig, geometry: &Geometry) -> Result<(), LaunchConfigError> {
        let Some(required) = self.0.attributes.required_cluster else { return Ok(()) };
        match config.chosen_cluster() {
            Some(cluster) if geometry.cluster != Some(required) => {
                Err(LaunchConfigError::ClusterRequired { kernel: self.0.name.clone(), cluster, required })
            }
            _ => cluster::divides(required, config.grid(), geometry.grid),
        }
    }

    /// The error for a refused configuration: the device's limits come before the function's own.
    #[cold]
    fn refusal(&self, config: &LaunchConfig) -> LaunchConfigError {
        let limits = self.context().limits();
        let geometry = match config.geometry(limits) {
            Ok(geometry) => geometry,
            Err(error) => return error,
        };
        let attributes = &self.0.attributes;
        let kernel = Some(self.0.name.clone());
        if geometry.threads > attributes.max_threads_per_block {
            let (threads, limit) = (geometry.threads.into(), attributes.max_threads_per_block);
            return LaunchConfigError::BlockThreads { block: config.block(), threads, limit, kernel };
        }
        if let Err(error) = self.cluster_fits(config, &geometry) {
            return error;
        }
        LaunchConfigError::SharedMemory {
            dynamic: config.dynamic_shared_bytes(),
            fixed: attributes.shared_bytes as usize,
            limit: limits.shared_per_block_optin,
            kernel,
        }
    }

    /// Raises the limit of the function's dynamic shared memory as a launch with this much would, for a question about such a launch:
    /// the driver answers that none fits beyond the limit. More than the device has is left to the driver.
    pub(crate) fn allow_dynamic(&self, bytes: usize) -> Result<()> {
        let room =
            self.context().limits().shared_per_block_optin.saturating_sub(self.0.attributes.shared_bytes as usize);
        match u32::try_from(bytes) {
            Ok(asked) if bytes <= room && asked > self.0.dynamic_limit.load(Ordering::Relaxed) => {
                self.raise_dynamic_limit(asked)
            }
            _ => Ok(()),
        }
    }

    /// Raises the limit of the function's dynamic shared memory.
    #[cold]
    fn raise_dynamic_limit(&self, bytes: u32) -> Result<()> {
        let _raising = self.0.raising.lock();
        if bytes <= self.0.dynamic_limit.load(Ordering::Relaxed) {
            return Ok(());
        }
        let value = i32::try_from(bytes).unwrap_or(i32::MAX);
        self.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, value)
    }
}

/// The cluster dimensions that a function requires; devices without clusters are not queried.
fn required_cluster(context: &Context, raw: CUfunction) -> Result<Option<[u32; 3]>> {
    if !context.limits().cluster_launch {
        return Ok(None);
    }
    let ask = |attribute| raw_attribute(context, raw, attribute).map(i32::unsigned_abs);
    let extents = [
        ask(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)?,
        ask(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)?,
        ask(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)?,
    ];
    Ok(Some(extents).filter(|extents| *extents != [0; 3]))
}

fn raw_attribute(context: &Context, raw: CUfunction, attribute: Attribute) -> Result<i32> {
    let mut value = 0;
    // SAFETY: the function is live and `value` lives through the call; an unknown attribute is refused with a status.
    unsafe { driver_call!(context, cuFuncGetAttribute(&mut value, attribute, raw)) }?;
    Ok(value)
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("name", &self.0.name)
            .field("attributes", &self.0.attributes)
            .finish_non_exhaustive()
    }
}
