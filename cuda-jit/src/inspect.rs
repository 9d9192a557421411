//! What became of a kernel: its code at each stage, what it uses, and how many fit.
//!
//! [`CompiledKernel`] asks the driver that loaded it. [`assemble`] needs no driver: NVIDIA's `ptxas` says what the
//! machine code uses. The machine code as text is `nvdisasm`'s; both are looked for as
//! [`cuda_sys::toolkit`] does.

use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_driver::{Context, Function, FunctionAttributes, LaunchConfig};
use cuda_sys::toolkit::Environment;
use object::{Object, ObjectSection};

use crate::cache::Lookup;
use crate::compile::compile;
use crate::error::{Error, Result};
use crate::kernel::{CompiledKernel, Kernel};
use crate::kir;
use crate::launch::configured;
use crate::target::{ComputeCapability, Target};

/// How many threads of a kernel a multiprocessor runs at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occupancy {
    /// Blocks on a multiprocessor.
    pub blocks: u32,
    /// Threads of those blocks.
    pub threads: u32,
    /// Their part of the threads that a multiprocessor can run, from 0 to 1.
    pub fraction: f64,
}

impl CompiledKernel {
    /// The symbol of its entry.
    pub fn name(&self) -> &'static str {
        &self.loaded.compiled.entry
    }

    /// The kernel's path with its generic arguments, and its parameters' types.
    pub fn signature(&self) -> &'static str {
        &self.loaded.signature
    }

    /// What it was compiled for.
    pub fn target(&self) -> Target {
        self.loaded.compiled.target
    }

    /// Its PTX.
    pub fn ptx(&self) -> &'static str {
        &self.loaded.compiled.ptx
    }

    /// Its KIR.
    pub fn kir(&self) -> &'static kir::Module {
        &self.loaded.compiled.module
    }

    /// Its LLVM IR after LLVM's passes, for which it is compiled once more.
    ///
    /// # Errors
    ///
    /// If the back end fails.
    pub fn llvm(&self) -> Result<String> {
        Ok(self.loaded.compiled.llvm_ir()?.optimized)
    }

    /// Its LLVM IR before LLVM's passes, for which it is compiled once more.
    ///
    /// # Errors
    ///
    /// If the back end fails.
    pub fn llvm_before_passes(&self) -> Result<String> {
        Ok(self.loaded.compiled.llvm_ir()?.built)
    }

    /// Its machine code as text, by NVIDIA's `ptxas` and `nvdisasm`.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] if one of them is not there, with the places where it was looked for, or fails.
    pub fn sass(&self) -> Result<String> {
        Assembled::new(self.ptx(), self.target())?.sass()
    }

    /// The flow of control through its machine code, as a graph for Graphviz, by NVIDIA's `ptxas` and `nvdisasm`.
    ///
    /// # Errors
    ///
    /// As for [`sass`](CompiledKernel::sass).
    pub fn sass_cfg(&self) -> Result<String> {
        Assembled::new(self.ptx(), self.target())?.sass_cfg()
    }

    /// The function in its context.
    pub fn function(&self) -> &'static Function {
        &self.loaded.function
    }

    fn attributes(&self) -> &FunctionAttributes {
        self.loaded.function.attributes()
    }

    /// Registers that a thread uses.
    pub fn registers(&self) -> u32 {
        self.attributes().registers
    }

    /// Shared memory that a block uses before any dynamic one, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.attributes().shared_bytes + self.loaded.compiled.carved_bytes as u32
    }

    /// Local memory that a thread uses, in bytes.
    pub fn local_bytes(&self) -> u32 {
        self.attributes().local_bytes
    }

    /// Constant memory that it uses, in bytes.
    pub fn const_bytes(&self) -> u32 {
        self.attributes().const_bytes
    }

    /// The most threads that a block of it can have.
    pub fn max_threads_per_block(&self) -> u32 {
        self.attributes().max_threads_per_block
    }

    /// The most blocks of it that a multiprocessor runs at once.
    ///
    /// # Errors
    ///
    /// If the driver refuses the block.
    pub fn max_active_blocks(&self, block_threads: u32, dynamic_shared_bytes: usize) -> Result<u32> {
        let bytes = dynamic_shared_bytes.saturating_add(self.loaded.compiled.carved_bytes);
        Ok(self.loaded.function.max_active_blocks(block_threads, bytes)?)
    }

    /// The most blocks that a cooperative launch can have: as many as the device runs at once.
    ///
    /// # Errors
    ///
    /// If the driver refuses the block.
    pub fn max_cooperative_blocks(&self, block_threads: u32, dynamic_shared_bytes: usize) -> Result<u32> {
        let multiprocessors = self.function().context().limits().multiprocessors;
        Ok(self.max_active_blocks(block_threads, dynamic_shared_bytes)? * multiprocessors)
    }

    /// How many clusters of a launch in that configuration the device runs at once; the hardware may find room for fewer.
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

    /// Blocks of the largest cluster that it can be launched in with the block and the shared memory of that configuration.
    ///
    /// # Errors
    ///
    /// If the configuration is not possible.
    pub fn max_cluster_blocks(&self, config: &LaunchConfig) -> Result<u32> {
        Ok(self.function().max_cluster_blocks(&configured(&self.loaded.compiled, config))?)
    }

    /// How full a multiprocessor is with blocks of so many threads.
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

    /// The block size that keeps most threads resident, and the smallest grid that fills the device with such blocks, as
    /// (grid, block).
    ///
    /// # Errors
    ///
    /// If the driver fails.
    pub fn suggested_launch(&self, dynamic_shared_bytes: usize) -> Result<(u32, u32)> {
        let bytes = dynamic_shared_bytes.saturating_add(self.loaded.compiled.carved_bytes);
        Ok(self.loaded.function.max_potential_block_size(bytes, 0)?)
    }
}

/// Compiles and loads a kernel for the context that `current` gives.
///
/// # Errors
///
/// If there is no context, or the kernel does not compile or load.
pub fn compile_for<K: Kernel>(current: fn() -> Result<Context>) -> Result<CompiledKernel> {
    Ok(CompiledKernel::new(K::cache().loaded::<K>(&current()?)?))
}

/// A kernel's machine code, and what `ptxas` says that it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assembled {
    /// The machine code, an ELF file.
    pub cubin: Vec<u8>,
    /// Registers of a thread.
    pub registers: u32,
    /// Shared memory of a block, in bytes, before any dynamic one.
    pub shared_bytes: u32,
    /// Local memory of a thread, in bytes.
    pub local_bytes: u32,
    /// Constant memory, the parameters' included, in bytes.
    pub const_bytes: u32,
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
/// If the kernel does not compile; [`Error::Tool`] if `ptxas` is not there, with the places where it was looked for, or
/// refuses the kernel.
pub fn assemble<K: Kernel>(cc: impl TryInto<ComputeCapability, Error: Into<Error>>) -> Result<Assembled> {
    let target = Target::new(cc.try_into().map_err(Into::into)?)?;
    let compiled = compile(K::instance(), target, Lookup::None)?;
    let mut assembled = Assembled::new(&compiled.ptx, target)?;
    assembled.shared_bytes += compiled.carved_bytes as u32;
    Ok(assembled)
}

impl Assembled {
    fn new(ptx: &str, target: Target) -> Result<Self> {
        let ptxas = tool("ptxas")?;
        let folder = tempfile::tempdir().map_err(|error| Error::Tool(format!("no temporary folder: {error}")))?;
        let (source, cubin) = (folder.path().join("kernel.ptx"), folder.path().join("kernel.cubin"));
        std::fs::write(&source, ptx).map_err(|error| unusable(&source, &error))?;
        let mut command = Command::new(ptxas);
        if ptx.lines().any(|line| line.starts_with(".target") && line.ends_with(", debug")) {
            command.arg("-g");
        }
        let verbose = run(command.arg("-v").arg(format!("-arch={target}")).arg("-o").arg(&cubin).arg(&source))?;
        let bytes = std::fs::read(&cubin).map_err(|error| unusable(&cubin, &error))?;
        Ok(Self::read(&verbose, bytes))
    }

    /// The figures in what `ptxas -v` prints, and what only the machine code says.
    fn read(verbose: &str, cubin: Vec<u8>) -> Self {
        let sum = |unit: &str| numbers_before(verbose, unit).sum();
        Assembled {
            registers: numbers_before(verbose, " registers").next().unwrap_or(0),
            shared_bytes: sum(" bytes smem"),
            local_bytes: sum(" bytes stack frame"),
            const_bytes: const_bytes(&cubin),
            cubin,
        }
    }

    /// The machine code as text, by NVIDIA's `nvdisasm`.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] if it is not there, with the places where it was looked for, or fails.
    pub fn sass(&self) -> Result<String> {
        self.disassembled("-c")
    }

    /// The flow of control through the machine code, as a graph in the language of Graphviz, by NVIDIA's `nvdisasm`: a node
    /// for each piece without a branch.
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
    /// match inspect::assemble::<first>((9, 0)).and_then(|assembled| assembled.sass_cfg()) {
    ///     Ok(graph) => assert!(graph.starts_with("digraph") && graph.contains("first")),
    ///     Err(error) => assert!(matches!(error, Error::Tool(_)), "{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`sass`](Assembled::sass).
    pub fn sass_cfg(&self) -> Result<String> {
        self.disassembled("-cfg")
    }

    fn disassembled(&self, form: &str) -> Result<String> {
        let nvdisasm = tool("nvdisasm")?;
        let file =
            tempfile::NamedTempFile::new().map_err(|error| Error::Tool(format!("no temporary file: {error}")))?;
        std::fs::write(file.path(), &self.cubin).map_err(|error| unusable(file.path(), &error))?;
        run(Command::new(nvdisasm).arg(form).arg(file.path()))
    }
}

/// The sizes of the banks of constant memory; newer versions of `ptxas` do not print them.
fn const_bytes(cubin: &[u8]) -> u32 {
    let Ok(file) = object::File::parse(cubin) else { return 0 };
    let banks = file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".nv.constant")));
    banks.map(|bank| u32::try_from(bank.size()).unwrap_or(u32::MAX)).sum()
}

/// The numbers that stand right before a unit.
fn numbers_before<'a>(text: &'a str, unit: &'a str) -> impl Iterator<Item = u32> + 'a {
    text.match_indices(unit)
        .filter_map(move |(at, _)| text[..at].rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
}

fn tool(name: &str) -> Result<PathBuf> {
    Environment::from_process().tool(name).map_err(|missing| Error::Tool(missing.to_string()))
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::Tool(format!("{}: {error}", path.display()))
}

/// Both outputs of a tool that succeeds.
fn run(command: &mut Command) -> Result<String> {
    let program = PathBuf::from(command.get_program());
    let failed = |why: String| Error::Tool(format!("{}: {why}", program.display()));
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Err(failed(error.to_string())),
    };
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(text.into_owned()) } else { Err(failed(format!("{}\n{text}", output.status))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_ptxas_are_read() {
        let verbose = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
                       ptxas info    : Function properties for k\n    \
                       48 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
                       ptxas info    : Used 12 registers, used 1 barriers, 48 bytes cumulative stack size, \
                       1024 bytes smem\n";
        let read = Assembled::read(verbose, Vec::new());
        assert_eq!((read.registers, read.shared_bytes, read.local_bytes), (12, 1024, 48));
    }

    #[test]
    fn a_tool_that_fails_says_what_it_said() {
        let error = run(Command::new("sh").args(["-c", "echo no such arch >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.starts_with("sh: exit status: 3\n") && error.contains("no such arch"), "{error}");
        let error = run(&mut Command::new("/nowhere/ptxas")).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/ptxas: "), "{error}");
    }
}
