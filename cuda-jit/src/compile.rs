//! From a kernel's specialisation to PTX: the passes in order. Makes no driver call.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use cuda_jit_compiler::libdevice;

use crate::back::llvm::{self, LaunchBounds, LlvmIr, Output};
use crate::cache::{Lookup, Place};
use crate::error::{Error, Result};
use crate::front::{self, Lowered};
use crate::harvest::{HostConstant, Instance};
use crate::kir::Module;
use crate::syntax::{self, Definition};
use crate::target::Target;

/// A kernel compiled for one target.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// What was compiled.
    pub(crate) instance: Instance,
    /// What for.
    pub(crate) target: Target,
    /// The symbol of the entry.
    pub(crate) entry: String,
    /// The module, whose sites explain panics.
    pub(crate) module: Module,
    /// The dimensions in which the kernel asks for its place; 0 if it does not.
    pub(crate) grid_dims: usize,
    /// The constants that the host writes between launches, by their symbols.
    pub(crate) held: Vec<(String, HostConstant)>,
    /// Whether its grid waits for itself.
    pub(crate) cooperative: bool,
    /// Bytes of dynamic shared memory that its `shared!` arrays take, because they are more than fixed memory holds.
    pub(crate) carved_bytes: usize,
    /// The code.
    pub(crate) ptx: String,
}

/// Compiles one specialisation, or takes its PTX from the disk cache, as `lookup` says.
///
/// The front end runs in either case: what it yields is the key, and the places of panics are part of it.
pub(crate) fn compile(instance: Instance, target: Target, lookup: Lookup<'_>) -> Result<Compiled> {
    let definition = instance.definition();
    let span = tracing::debug_span!("compile", kernel = definition.name, %target);
    let _entered = span.enter();
    let Lowered { module, grid_dims, held } = front::lower(&instance)?;
    let entry = module.functions[0].name.clone();
    let options = options(&definition.options);
    let lookup = if definition.options.cache { lookup } else { Lookup::None };
    // Without libdevice there is nothing to find: the back end says so.
    let linked = if module.calls_libdevice() { libdevice::bitcode().unwrap_or_default() } else { &[] };
    let place = lookup.is_some().then(|| Place::of(&module.to_string(), &target, &options, linked)).flatten();
    let found = place.as_ref().and_then(|place| place.get(lookup));
    let ptx = match found {
        Some(ptx) => ptx,
        None => {
            let ptx = emit(definition, &module, &target, &options)?.ptx;
            if let Some(place) = &place {
                place.put(&entry, &target, &ptx);
            }
            ptx
        }
    };
    if let Some(folder) = std::env::var_os(DUMP_VARIABLE).filter(|folder| !folder.is_empty()) {
        dump(folder.as_ref(), &module, &ptx);
    }
    let held = held.into_iter().map(|(id, held)| (module.constants[id.index()].symbol(id.index()), held)).collect();
    let cooperative = module.is_cooperative();
    let carved_bytes = module.carved_shared().map_or(0, |carved| carved.bytes as usize);
    Ok(Compiled { instance, target, entry, module, grid_dims, held, cooperative, carved_bytes, ptx })
}

impl Compiled {
    /// Its LLVM IR, for which it is compiled once more.
    pub(crate) fn llvm_ir(&self) -> Result<LlvmIr> {
        let definition = self.instance.definition();
        let options = llvm::Options { keep_llvm_ir: true, ..options(&definition.options) };
        Ok(emit(definition, &self.module, &self.target, &options)?.llvm_ir.unwrap_or_default())
    }
}

pub(crate) fn emit(
    definition: &Definition,
    module: &Module,
    target: &Target,
    options: &llvm::Options,
) -> Result<Output> {
    let Definition { name, file, line, .. } = *definition;
    let place = |source| Error::Emit { kernel: name, file, line, source: Box::new(source) };
    llvm::emit(module, target, options).map_err(place)
}

/// A folder into which every compiled kernel is written, as KIR and PTX.
const DUMP_VARIABLE: &str = "CUDA_JIT_DUMP_DIR";

/// Writes a kernel's code under names that its contents make unique. Only an aid: a failure is reported, not returned.
fn dump(folder: &Path, module: &Module, ptx: &str) {
    let (kir, name) = (module.to_string(), &module.functions[0].name);
    let mut hasher = DefaultHasher::new();
    (&kir, ptx).hash(&mut hasher);
    let base = folder.join(format!("{name}-{:016x}", hasher.finish()));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(base.with_extension("kir"), kir))
        .and_then(|()| std::fs::write(base.with_extension("ptx"), ptx));
    if let Err(error) = written {
        tracing::warn!(%error, folder = %folder.display(), "{DUMP_VARIABLE}: kernel `{name}` not written");
    }
}

/// The options of `#[kernel(..)]` as the back end takes them.
pub(crate) fn options(options: &syntax::Options) -> llvm::Options {
    let given = |value: u32| (value != 0).then_some(value);
    let [max_threads, min_blocks, max_cluster] = options.launch_bounds;
    let bounds = LaunchBounds { max_threads, min_blocks: given(min_blocks), max_cluster: given(max_cluster) };
    llvm::Options {
        opt_level: options.opt,
        fast_math: options.fastmath,
        max_registers: given(options.max_registers),
        launch_bounds: given(max_threads).map(|_| bounds),
        cluster: Some(options.cluster).filter(|extents| *extents != [0; 3]),
        debug: options.debug,
        keep_llvm_ir: false,
    }
}
