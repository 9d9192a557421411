//! From a kernel's specialisation to PTX: the passes in order. Makes no driver call.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use crate::back::llvm::{self, LaunchBounds, Output};
use crate::error::{Error, Result};
use crate::front::{self, Lowered};
use crate::harvest::{Body, Instance};
use crate::kernel::Kernel;
use crate::kir::Module;
use crate::syntax;
use crate::target::{ComputeCapability, Target};

/// A kernel compiled for one target.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// The symbol of the entry.
    pub(crate) entry: String,
    /// The module, whose sites explain panics.
    pub(crate) module: Module,
    /// The dimensions in which the kernel asks for its place; 0 if it does not.
    pub(crate) grid_dims: usize,
    /// The code.
    pub(crate) output: Output,
}

/// Compiles one specialisation.
pub(crate) fn compile(instance: &Instance, target: &Target, keep_llvm_ir: bool) -> Result<Compiled> {
    let Body::Captured(definition, _) = instance.body else { panic!("a kernel is captured Rust") };
    let span = tracing::debug_span!("compile", kernel = definition.name, %target);
    let _entered = span.enter();
    let Lowered { module, grid_dims } = front::lower(instance)?;
    let options = options(&definition.options, keep_llvm_ir);
    let output = llvm::emit(&module, target, &options)
        .map_err(|source| Error::Emit { kernel: definition.name.to_owned(), source })?;
    if let Some(folder) = std::env::var_os(DUMP_VARIABLE).filter(|folder| !folder.is_empty()) {
        dump(folder.as_ref(), &module, &output);
    }
    Ok(Compiled { entry: module.functions[0].name.clone(), module, grid_dims, output })
}

/// A folder into which every compiled kernel is written, as KIR and PTX.
const DUMP_VARIABLE: &str = "CUDA_JIT_DUMP_DIR";

/// Writes a kernel's code under names that its contents make unique. Only an aid: a failure is reported, not returned.
fn dump(folder: &Path, module: &Module, output: &Output) {
    let (kir, name) = (module.to_string(), &module.functions[0].name);
    let mut hasher = DefaultHasher::new();
    (&kir, &output.ptx).hash(&mut hasher);
    let base = folder.join(format!("{name}-{:016x}", hasher.finish()));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(base.with_extension("kir"), kir))
        .and_then(|()| std::fs::write(base.with_extension("ptx"), &output.ptx));
    if let Err(error) = written {
        tracing::warn!(%error, folder = %folder.display(), "{DUMP_VARIABLE}: kernel `{name}` not written");
    }
}

/// The options of `#[kernel(..)]` as the back end takes them.
fn options(options: &syntax::Options, keep_llvm_ir: bool) -> llvm::Options {
    let given = |value: u32| (value != 0).then_some(value);
    let [max_threads, min_blocks, max_cluster] = options.launch_bounds;
    let bounds = LaunchBounds { max_threads, min_blocks: given(min_blocks), max_cluster: given(max_cluster) };
    llvm::Options {
        opt_level: options.opt,
        fast_math: options.fastmath,
        max_registers: given(options.max_registers),
        launch_bounds: given(max_threads).map(|_| bounds),
        keep_llvm_ir,
    }
}

/// Compiles a kernel to PTX for a compute capability. No device and no driver is needed.
///
/// # Examples
///
/// ```
/// use cuda_jit::{compile_ptx, device::grid, kernel};
///
/// #[kernel]
/// fn double(x: &mut [f32]) {
///     let i = grid::<1>();
///     if i < x.len() {
///         x[i] *= 2.0;
///     }
/// }
/// assert!(compile_ptx::<double>((9, 0))?.contains(".target sm_90"));
/// assert!(double::compile_ptx("9.0a")?.contains(".target sm_90a"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Errors
///
/// If the compute capability is unknown, or the kernel does not compile.
pub fn compile_ptx<K: Kernel>(cc: impl TryInto<ComputeCapability, Error: Into<Error>>) -> Result<String> {
    let target = Target::new(cc.try_into().map_err(Into::into)?)?;
    Ok(compile(&K::instance(), &target, false)?.output.ptx)
}

/// The KIR of a kernel, before any optimisation; [`crate::kir`] gives its meaning.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::grid, kernel, kir_of};
///
/// #[kernel]
/// fn fill(x: &mut [u8]) {
///     x[grid::<1>()] = 1;
/// }
/// assert!(kir_of::<fill>()?.to_string().contains("is out of bounds"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Errors
///
/// If the kernel uses something that the device language does not have for its types.
pub fn kir_of<K: Kernel>() -> Result<Module> {
    Ok(front::lower(&K::instance())?.module)
}
