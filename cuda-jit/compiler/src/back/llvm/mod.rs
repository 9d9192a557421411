//! The LLVM back end: compiles a [`Module`] to PTX.
//!
//! It verifies the module, builds LLVM IR, runs LLVM's passes and prints PTX. It knows neither Rust source nor a
//! driver, and it is the only part of this crate that names inkwell. Invariant: only verified modules reach LLVM, which
//! aborts the process on some input that it cannot compile.
//!
//! # The kernel's interface
//!
//! The PTX has one visible entry, named as the module's first function. Its parameters are the KIR parameters in
//! order, each of its natural size and alignment (`bool` is one byte, pointers are eight), and then two that the
//! launch adds:
//!
//! | parameter | PTX | meaning |
//! |---|---|---|
//! | panic record | `.u64` | device address of the launch's panic record, aligned to [`PANIC_RECORD_ALIGN`]; never null |
//! | launch tag | `.u64` | what identifies the kernel (low half, never 0) and the launch (high half) in the record |
//!
//! # The panic record
//!
//! 104 bytes, zero before the first launch. The first thread that panics changes the state from 0 to
//! 1 and fills the rest; it writes the kernel's number last, after a system-wide fence. Other threads that find the
//! record taken only end. The host reads the record when its kernel number is not 0, after it has waited for the
//! launch, and then resets the kernel number and the state to 0.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | `u32` | state: 0 free, 1 taken |
//! | 4 | `u32` | the kernel's half of the launch tag; never 0 |
//! | 8 | `u32` | the site's index in [`Module::sites`] |
//! | 12 | `[u32; 3]` | block index |
//! | 24 | `[u32; 3]` | thread index |
//! | 36 | `u32` | the launch's half of the launch tag |
//! | 40 | `[u64; 8]` | the arguments; those that the site does not have mean nothing |
//!
//! # Floating point
//!
//! Without [`Module::contract`] every operation is printed with `.rn` (`add.rn.f32`), which ptxas may not fuse. With it
//! LLVM fuses operations into `fma.rn` where it can, and prints the others without `.rn` (`add.f32`), which ptxas may
//! still fuse, as with nvcc's default. Nothing else is relaxed. [`Options::fast_math`] has the effect of nvcc's
//! `-use_fast_math`: subnormal `f32` are flushed to zero, and division and square root of `f32` are approximate.
//! Mathematical functions on `f32` that have an instruction become it (`sin.approx`, `ex2.approx`, `lg2.approx` and
//! those derived from them). It never assumes that there are no NaNs or infinities, so that a check on a float stays a
//! check.

mod atomic;
mod cached;
mod cast128;
mod cfg;
mod debug;
mod export;
mod float8;
mod float_rem;
mod function;
mod half;
mod hoist;
mod inlined;
mod libdevice;
mod lifetimes;
mod local_atomic;
mod machine;
mod negation;
mod ops;
mod panic;
mod print;
mod raw;
mod reduce;
mod requirements;
mod stack;
mod sync;
mod variables;
mod widening_mul;

use std::fmt;

use inkwell::builder::BuilderError;

use self::machine::PtxFeatures;
use crate::kir::Module;
use crate::syntax::with_stack;
use crate::target::{ComputeCapability, Target};
use crate::valid::{self, VerifyError};
use cuda_llvm::inkwell;

/// The alignment of the panic record in bytes.
///
/// # Examples
///
/// ```
/// use cuda_jit::back::llvm::PANIC_RECORD_ALIGN;
///
/// // a record has 104 bytes
/// let record = std::alloc::Layout::from_size_align(104, PANIC_RECORD_ALIGN)?;
/// assert_eq!(record.pad_to_align().size(), 112);
/// # Ok::<(), std::alloc::LayoutError>(())
/// ```
pub const PANIC_RECORD_ALIGN: usize = 16;

/// The stack size for LLVM, which recurses along chains of dependent instructions and must not depend on the launching
/// thread's stack.
const STACK: usize = 64 << 20;

/// The launch size that a kernel is compiled for, as PTX directives.
///
/// See [PTX's performance directives](https://docs.nvidia.com/cuda/parallel-thread-execution/#performance-tuning-directives).
///
/// # Examples
///
/// ```
/// use cuda_jit::{back::llvm, kir::text, target::Target};
///
/// let module = text::parse("kir 1 kernel empty() { b0: return }")?;
/// let bounds = llvm::LaunchBounds { max_threads: 256, min_blocks: Some(2), max_cluster: None };
/// let options = llvm::Options { launch_bounds: Some(bounds), ..llvm::Options::default() };
/// let ptx = llvm::emit(&module, &Target::new((9, 0))?, &options)?.ptx;
/// assert!(ptx.contains(".maxntid 256") && ptx.contains(".minnctapersm 2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchBounds {
    /// The largest number of threads in a block, 1 to 1024 (`.maxntid`).
    pub max_threads: u32,
    /// The number of blocks that should fit a multiprocessor, at least 1 (`.minnctapersm`).
    pub min_blocks: Option<u32>,
    /// The largest number of blocks in a cluster, at least 1 (`.maxclusterrank`); needs compute capability 9.0.
    pub max_cluster: Option<u32>,
}

/// Options of compilation.
///
/// # Examples
///
/// ```
/// use cuda_jit::back::llvm::Options;
///
/// let options = Options { max_registers: Some(32), ..Options::default() };
/// assert_eq!(options.opt_level, 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// LLVM's optimisation level, 0 to 3.
    pub opt_level: u8,
    /// The same as nvcc's `-use_fast_math`; see the module's documentation.
    pub fast_math: bool,
    /// The largest number of registers of a thread, 1 to 255 (`.maxnreg`).
    pub max_registers: Option<u32>,
    /// The launch size to compile for.
    pub launch_bounds: Option<LaunchBounds>,
    /// The fixed extents, in blocks, of the clusters of every launch (`.reqnctapercluster`); needs compute capability
    /// 9.0.
    pub cluster: Option<[u32; 3]>,
    /// True for full debug information with variables, for which ptxas does not optimise; false for line tables only.
    pub debug: bool,
    /// True to return the LLVM IR, which costs time.
    pub keep_llvm_ir: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            opt_level: 3,
            fast_math: false,
            max_registers: None,
            launch_bounds: None,
            cluster: None,
            debug: false,
            keep_llvm_ir: false,
        }
    }
}

impl Options {
    fn check(&self, target: &Target) -> Result<(), EmitError> {
        let range = |name: &'static str, value: u32, low: u32, high: u32| {
            let given = EmitError::Option { name, value, low, high };
            if (low..=high).contains(&value) { Ok(()) } else { Err(given) }
        };
        range("opt_level", self.opt_level.into(), 0, 3)?;
        range("max_registers", self.max_registers.unwrap_or(1), 1, 255)?;
        if let Some(bounds) = self.launch_bounds {
            range("launch_bounds.max_threads", bounds.max_threads, 1, 1024)?;
            range("launch_bounds.min_blocks", bounds.min_blocks.unwrap_or(1), 1, 1024)?;
            range("launch_bounds.max_cluster", bounds.max_cluster.unwrap_or(1), 1, 32)?;
            if bounds.max_cluster.is_some() && target.capability().major < 9 {
                return Err(EmitError::ClusterTooOld("launch_bounds.max_cluster", *target));
            }
        }
        if let Some(extents) = self.cluster {
            let blocks = extents.iter().fold(1, |blocks: u32, extent| blocks.saturating_mul(*extent));
            range("cluster", blocks, 1, 32)?;
            if target.capability().major < 9 {
                return Err(EmitError::ClusterTooOld("cluster", *target));
            }
        }
        Ok(())
    }
}

/// The result of compilation.
///
/// # Examples
///
/// ```
/// use cuda_jit::{back::llvm::{self, LlvmIr, Output}, kir::text, target::Target};
///
/// let module = text::parse("kir 1 kernel empty() { b0: return }")?;
/// let options = llvm::Options { keep_llvm_ir: true, ..llvm::Options::default() };
/// let Output { ptx, llvm_ir } = llvm::emit(&module, &Target::new((9, 0))?, &options)?;
/// let LlvmIr { built, optimized } = llvm_ir.unwrap();
/// assert!(ptx.contains(".entry empty(") && built.contains("@empty(") && optimized.contains("@empty("));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The PTX text.
    pub ptx: String,
    /// The LLVM IR, if [`Options::keep_llvm_ir`] asked for it.
    pub llvm_ir: Option<LlvmIr>,
}

/// A module's LLVM IR.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LlvmIr {
    /// The IR before LLVM's passes.
    pub built: String,
    /// The IR after LLVM's passes.
    pub optimized: String,
}

/// The error of a failed compilation.
///
/// # Examples
///
/// ```
/// use cuda_jit::{back::llvm::{self, EmitError}, kir::text, target::Target};
///
/// let module = text::parse("kir 1 kernel empty() { b0: return }")?;
/// let options = llvm::Options { opt_level: 4, ..llvm::Options::default() };
/// let error = llvm::emit(&module, &Target::default(), &options).unwrap_err();
/// assert!(matches!(error, EmitError::Option { name: "opt_level", value: 4, .. }));
/// assert_eq!(error.to_string(), "`opt_level` is 4; it must be 0 to 3");
/// # Ok::<(), text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmitError {
    /// The module breaks a rule of KIR.
    Invalid(VerifyError),
    /// An option is out of range.
    Option {
        /// The option's name.
        name: &'static str,
        /// Its value.
        value: u32,
        /// The least value.
        low: u32,
        /// The greatest value.
        high: u32,
    },
    /// The kernel uses an operation that the device does not have.
    TooOld {
        /// The name of the operation.
        what: &'static str,
        /// The lowest compute capability that has it.
        needs: ComputeCapability,
        /// The target of the compilation.
        target: Target,
    },
    /// The options ask for clusters, which the target does not have.
    ClusterTooOld(&'static str, Target),
    /// The module calls libdevice, which was not found; the paths that were searched.
    NoLibdevice(String),
    /// No usable LLVM was found.
    NoLlvm(cuda_llvm::Error),
    /// LLVM reported an error, which is a bug of this crate or of LLVM.
    Llvm(String),
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::Invalid(error) => error.fmt(f),
            EmitError::Option { name, value, low, high } => {
                write!(f, "`{name}` is {value}; it must be {low} to {high}")
            }
            EmitError::ClusterTooOld(option, target) => {
                write!(f, "{option} needs sm_90 or newer, and the target is {target}")
            }
            EmitError::TooOld { what, needs, target } => {
                write!(f, "`{what}` needs {needs} or newer, and the target is {target}")
            }
            EmitError::NoLibdevice(message) => write!(f, "the kernel calls libdevice: {message}"),
            EmitError::NoLlvm(error) => error.fmt(f),
            EmitError::Llvm(message) => write!(f, "LLVM refused the kernel, which is a bug: {message}"),
        }
    }
}

impl std::error::Error for EmitError {}

impl From<cuda_llvm::Error> for EmitError {
    fn from(error: cuda_llvm::Error) -> Self {
        EmitError::NoLlvm(error)
    }
}

impl From<BuilderError> for EmitError {
    fn from(error: BuilderError) -> Self {
        EmitError::Llvm(error.to_string())
    }
}

/// Compiles a module.
///
/// # Examples
///
/// ```
/// use cuda_jit::{back::llvm, kir::text, target::Target};
///
/// let module = text::parse(
///     "kir 1 kernel fill(v0 out: ptr global f32 readwrite) { b0: v1: f32 = const f32 1.5 store v0, v1 return }",
/// )?;
/// let output = llvm::emit(&module, &Target::new((9, 0))?, &llvm::Options::default())?;
/// assert!(output.ptx.contains(".visible .entry fill("));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The module does not verify, an option is out of its range, there is no LLVM, or it reports an error.
pub fn emit(module: &Module, target: &Target, options: &Options) -> Result<Output, EmitError> {
    options.check(target)?;
    valid::verify(module).map_err(EmitError::Invalid)?;
    requirements::check(module, target)?;
    with_stack(STACK, || {
        machine::with(target, options.opt_level, PtxFeatures::of(module), |machine| machine.compile(module, options))
    })?
}

#[cfg(test)]
mod tests;
