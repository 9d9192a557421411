//! Inspection of compiled kernels: the code at each stage, resource use, and occupancy.
//!
//! [`CompiledKernel`] queries the driver that loaded it. [`assemble`] needs no driver: NVIDIA's `ptxas` reports the
//! resources of the machine code.

use std::any::TypeId;

use cuda_driver::{Context, Function, FunctionAttributes, LaunchConfig};

#[cfg(feature = "compiler")]
pub use crate::assemble::Assembled;
use crate::error::Result;
use crate::kernel::{CompiledKernel, Kernel, Specialisation};
use crate::launch::configured;
use crate::target::Target;
#[cfg(feature = "compiler")]
use crate::{cache::Lookup, compile::compile, error::Error, kir, races::Races, target::ComputeCapability};

/// The number of threads of a kernel that a multiprocessor runs concurrently.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::grid, kernel};
///
/// #[kernel]
/// fn twice(x: &mut [f32]) {
///     let i = grid::<1>();
///     if i < x.len() {
///         x[i] *= 2.0;
///     }
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let kernel = twice::compile()?;
/// let occupancy = kernel.occupancy(256, 0)?;
/// assert_eq!(occupancy.threads, 256 * occupancy.blocks);
/// assert_eq!(occupancy.blocks, kernel.max_active_blocks(256, 0)?);
/// assert!(occupancy.fraction > 0.0 && occupancy.fraction <= 1.0);
/// // As many blocks as the device runs at the same time, and a grid that fills it.
/// assert!(kernel.max_cooperative_blocks(256, 0)? >= occupancy.blocks);
/// let (grid, block) = kernel.suggested_launch(0)?;
/// assert!(grid > 0 && block <= kernel.max_threads_per_block());
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occupancy {
    /// Blocks on a multiprocessor.
    pub blocks: u32,
    /// Threads of those blocks.
    pub threads: u32,
    /// The ratio of these threads to the maximum of a multiprocessor, from 0 to 1.
    pub fraction: f64,
}

impl CompiledKernel {
    /// Its entry symbol.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::grid, kernel};
    ///
    /// #[kernel]
    /// fn fill(out: &mut [u32], value: u32) {
    ///     out[grid::<1>()] = value;
    /// }
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let _selected = context.select();
    /// let kernel = fill::compile()?;
    /// assert_eq!(kernel.name(), "fill");
    /// assert!(kernel.signature().ends_with("fill(&mut [u32], u32)"));
    /// assert!(kernel.ptx().contains(".entry fill("));
    /// assert!(kernel.ptx().contains(&format!(".target {}", kernel.target())));
    /// assert_eq!(kernel.function().context(), &context);
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    pub fn name(&self) -> &'static str {
        &self.loaded.compiled.entry
    }

    /// The kernel's path with its generic arguments, and its parameters' types.
    pub fn signature(&self) -> &'static str {
        &self.loaded.signature
    }

    /// The target that it was compiled for.
    pub fn target(&self) -> Target {
        self.loaded.compiled.target
    }

    /// Its PTX.
    pub fn ptx(&self) -> &'static str {
        &self.loaded.compiled.ptx
    }

    /// The function in its context.
    pub fn function(&self) -> &'static Function {
        &self.loaded.function
    }

    fn attributes(&self) -> &FunctionAttributes {
        self.loaded.function.attributes()
    }

    /// The registers per thread.
    pub fn registers(&self) -> u32 {
        self.attributes().registers
    }

    /// The static shared memory per block, in bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::thread_idx, kernel, shared};
    ///
    /// #[kernel]
    /// fn twice(x: &mut [f32]) {
    ///     let tile = shared!([f32; 64]);
    ///     tile[thread_idx().x] = x[thread_idx().x];
    ///     x[thread_idx().x] += tile[thread_idx().x];
    /// }
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let _selected = context.select();
    /// let kernel = twice::compile()?;
    /// assert_eq!((kernel.shared_bytes(), kernel.local_bytes()), (256, 0));
    /// println!("{} registers, {} bytes of constant memory", kernel.registers(), kernel.const_bytes());
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    pub fn shared_bytes(&self) -> u32 {
        self.attributes().shared_bytes + self.loaded.compiled.spilled_bytes as u32
    }

    /// The local memory per thread, in bytes.
    pub fn local_bytes(&self) -> u32 {
        self.attributes().local_bytes
    }

    /// Constant memory that it uses, in bytes.
    pub fn const_bytes(&self) -> u32 {
        self.attributes().const_bytes
    }

    /// The maximum number of threads in a block of this kernel.
    pub fn max_threads_per_block(&self) -> u32 {
        self.attributes().max_threads_per_block
    }

    /// The maximum number of its blocks that a multiprocessor runs concurrently.
    ///
    /// # Errors
    ///
    /// If the driver refuses the block.
    pub fn max_active_blocks(&self, block_threads: u32, dynamic_shared_bytes: usize) -> Result<u32> {
        let bytes = dynamic_shared_bytes.saturating_add(self.loaded.compiled.spilled_bytes);
        Ok(self.loaded.function.max_active_blocks(block_threads, bytes)?)
    }

    /// The maximum number of blocks in a cooperative launch: as many as the device runs concurrently.
    ///
    /// # Errors
    ///
    /// If the driver refuses the block.
    pub fn max_cooperative_blocks(&self, block_threads: u32, dynamic_shared_bytes: usize) -> Result<u32> {
        let multiprocessors = self.function().context().limits().multiprocessors;
        Ok(self.max_active_blocks(block_threads, dynamic_shared_bytes)? * multiprocessors)
    }

    /// The maximum number of clusters of this configuration that the device runs concurrently; the hardware may run fewer.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_driver::LaunchConfig;
    /// use cuda_jit::{device::{block_idx, this_cluster}, kernel};
    ///
    /// #[kernel]
    /// fn blocks(out: &mut [usize]) {
    ///     out[block_idx().x] = this_cluster().num_blocks();
    /// }
    ///
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let _selected = context.select();
    /// let kernel = blocks::compile()?;
    /// let config = LaunchConfig::new(8, 1024);
    /// assert_eq!(kernel.max_cluster_blocks(&config)?, 8);
    /// assert_eq!(kernel.max_active_clusters(&config.cluster(8))?, 33);
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the configuration is not possible, or has no clusters.
    pub fn max_active_clusters(&self, config: &LaunchConfig) -> Result<u32> {
        Ok(self.function().max_active_clusters(&configured(&self.loaded.compiled, config))?)
    }

    /// The number of blocks in the largest cluster that can be launched with this configuration's block and shared memory.
    ///
    /// # Errors
    ///
    /// If the configuration is not possible.
    pub fn max_cluster_blocks(&self, config: &LaunchConfig) -> Result<u32> {
        Ok(self.function().max_cluster_blocks(&configured(&self.loaded.compiled, config))?)
    }

    /// The occupancy of a multiprocessor with blocks of this many threads.
    ///
    /// # Errors
    ///
    /// If the driver refuses the block.
    pub fn occupancy(&self, block_threads: u32, dynamic_shared_bytes: usize) -> Result<Occupancy> {
        use cuda_sys::CUdevice_attribute as Attribute;
        let blocks = self.max_active_blocks(block_threads, dynamic_shared_bytes)?;
        let attribute = Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR;
        let most = self.function().context().device().attribute(attribute)?;
        let threads = blocks * block_threads;
        Ok(Occupancy { blocks, threads, fraction: f64::from(threads) / f64::from(most.max(1)) })
    }

    /// The block size with the highest occupancy, and the smallest grid that fills the device with such blocks, as (grid,
    /// block).
    ///
    /// # Errors
    ///
    /// If the driver fails.
    pub fn suggested_launch(&self, dynamic_shared_bytes: usize) -> Result<(u32, u32)> {
        let bytes = dynamic_shared_bytes.saturating_add(self.loaded.compiled.spilled_bytes);
        Ok(self.loaded.function.max_potential_block_size(bytes, 0)?)
    }
}

/// Properties that need the compiler.
#[cfg(feature = "compiler")]
impl CompiledKernel {
    /// Its KIR.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::grid, kernel};
    ///
    /// #[kernel]
    /// fn twice(x: &mut [f32]) {
    ///     let i = grid::<1>();
    ///     if i < x.len() {
    ///         x[i] *= 2.0;
    ///     }
    /// }
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let _selected = context.select();
    /// let kernel = twice::compile()?;
    /// assert!(!kernel.kir()?.functions.is_empty());
    /// // LLVM's passes remove most of what the back end writes.
    /// assert!(kernel.llvm_before_passes()?.contains("define") && kernel.llvm()?.contains("define"));
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If it comes from a bundle of another compiler version, and this one refuses it.
    pub fn kir(&self) -> Result<&'static kir::Module> {
        self.loaded.compiled.source.module()
    }

    /// Its data races: a proof that it has none, or the places where the proof fails. The kernel is lowered and analysed
    /// again at each call, also if its code comes from the disk cache.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::grid, kernel};
    ///
    /// #[kernel]
    /// fn twice(x: &mut [f32]) {
    ///     let i = grid::<1>();
    ///     if i < x.len() {
    ///         x[i] *= 2.0;
    ///     }
    /// }
    ///
    /// #[kernel]
    /// fn shifted(x: &mut [f32]) {
    ///     let i = grid::<1>();
    ///     if i + 1 < x.len() {
    ///         x[i] = x[i + 1];
    ///     }
    /// }
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let _selected = context.select();
    /// assert!(twice::compile()?.races()?.is_proved());
    /// let races = shifted::compile()?.races()?;
    /// assert_eq!(races.places().len(), 1);
    /// assert_eq!(races.places()[0].access(), "write of `x`");
    /// println!("{races}");
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If it comes from a bundle of another compiler version, and this one refuses it.
    pub fn races(&self) -> Result<Races> {
        crate::compile::races(&self.loaded.compiled.source.instance)
    }

    /// Its LLVM IR after LLVM's passes, for which it is compiled again.
    ///
    /// # Errors
    ///
    /// If the back end fails.
    pub fn llvm(&self) -> Result<String> {
        Ok(self.loaded.compiled.llvm_ir()?.optimized)
    }

    /// Its LLVM IR before LLVM's passes, for which it is compiled again.
    ///
    /// # Errors
    ///
    /// If the back end fails.
    pub fn llvm_before_passes(&self) -> Result<String> {
        Ok(self.loaded.compiled.llvm_ir()?.built)
    }

    /// Its machine code as text, by NVIDIA's `ptxas` and `nvdisasm`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{Error, device::grid, kernel};
    ///
    /// #[kernel]
    /// fn twice(x: &mut [f32]) {
    ///     let i = grid::<1>();
    ///     if i < x.len() {
    ///         x[i] *= 2.0;
    ///     }
    /// }
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let _selected = context.select();
    /// let kernel = twice::compile()?;
    /// match kernel.sass().and_then(|text| Ok((text, kernel.sass_cfg()?))) {
    ///     Ok((text, graph)) => assert!(text.contains("twice") && graph.starts_with("digraph")),
    ///     Err(error) => assert!(matches!(error, Error::Tool(_)), "{error}"), // no toolkit
    /// }
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] if one of them is missing, with the places that were searched, or fails.
    pub fn sass(&self) -> Result<String> {
        Assembled::new(self.ptx(), self.target())?.sass()
    }

    /// The control-flow graph of its machine code, for Graphviz, by NVIDIA's `ptxas` and `nvdisasm`.
    ///
    /// # Errors
    ///
    /// The same as [`sass`](CompiledKernel::sass).
    pub fn sass_cfg(&self) -> Result<String> {
        Assembled::new(self.ptx(), self.target())?.sass_cfg()
    }
}

/// Compiles and loads a kernel for the context that `current` returns.
///
/// # Errors
///
/// If there is no context, or the kernel does not compile or load.
#[cfg_attr(doc, doc(hidden))]
pub fn compile_for<K: Kernel>(current: fn() -> Result<Context>) -> Result<CompiledKernel> {
    let loaded = K::cache().loaded(TypeId::of::<K>(), Specialisation::of::<K>, None, current)?;
    Ok(CompiledKernel::new(loaded))
}

/// Compiles a kernel and assembles it with NVIDIA's `ptxas`, without a driver.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Error, inspect, kernel};
///
/// #[kernel]
/// fn first(out: &mut [u32]) {
///     out[0] = 1;
/// }
///
/// match inspect::assemble::<first>((9, 0)) {
///     Ok(assembled) => assert!(assembled.registers > 0 && assembled.local_bytes == 0),
///     Err(error) => assert!(matches!(error, Error::Tool(_)) && error.to_string().contains("ptxas")),
/// }
/// ```
///
/// # Errors
///
/// If the kernel does not compile; [`Error::Tool`] if `ptxas` is missing, with the places that were searched, or refuses
/// the kernel.
#[cfg(feature = "compiler")]
pub fn assemble<K: Kernel>(cc: impl TryInto<ComputeCapability, Error: Into<Error>>) -> Result<Assembled> {
    let target = Target::new(cc.try_into().map_err(Into::into)?)?;
    let compiled = compile(K::instance(), target, Lookup::None)?;
    let mut assembled = Assembled::new(&compiled.ptx, target)?;
    assembled.shared_bytes += compiled.spilled_bytes as u32;
    Ok(assembled)
}
