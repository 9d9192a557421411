//! Compiles a kernel's specialisation to PTX: the passes in order. Makes no driver calls.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use cuda_jit_compiler::libdevice;
use cuda_jit_compiler::races::{self, Races};
use once_cell::sync::OnceCell;

use crate::back::llvm::{self, LaunchBounds, LlvmIr, Output};
use crate::cache::{Entry, Lookup};
use crate::compiled::Compiled;
use crate::error::{Error, Result};
use crate::front::{self, Lowered};
use crate::kir::Module;
use crate::requirements::Requirements;
use crate::syntax::Definition;
use crate::target::Target;
use crate::typeinfo::{Body, Instance};

/// The source of a compiled kernel.
#[derive(Debug)]
pub(crate) struct Source {
    /// The specialisation.
    pub(crate) instance: Instance,
    /// Its KIR; if the code comes from a bundle, it is lowered at first use.
    module: OnceCell<Module>,
}

impl Source {
    /// The source of a specialisation that has not been lowered.
    #[cfg(feature = "bundle")]
    pub(crate) fn new(instance: Instance) -> Self {
        Source { instance, module: OnceCell::new() }
    }

    /// Its KIR.
    pub(crate) fn module(&self) -> Result<&Module> {
        self.module.get_or_try_init(|| Ok(front::lower(&self.instance)?.module))
    }
}

/// Compiles one specialisation, or loads its PTX from the disk cache, according to `lookup`.
///
/// The front end runs in either case: its result is part of the key, and so are the source locations of panics.
pub(crate) fn compile(instance: Instance, target: Target, lookup: Lookup<'_>) -> Result<Compiled> {
    let definition = instance.definition();
    let span = tracing::debug_span!("compile", kernel = definition.name, %target);
    let _entered = span.enter();
    let Lowered { module, grid_dims, host_constants } = front::lower(&instance)?;
    let entry = module.functions[0].name.clone();
    let requirements = match definition.options.race_free {
        true => Some(proved(&instance)?),
        false => None,
    };
    let options = options(&instance);
    let lookup = if definition.options.cache { lookup } else { Lookup::None };
    // Without libdevice, nothing is linked, and the back end reports the error.
    let linked = if module.calls_libdevice() { libdevice::bitcode().unwrap_or_default() } else { &[] };
    let cached = lookup.is_some().then(|| Entry::of(&module.to_string(), &target, &options, linked)).flatten();
    let found = cached.as_ref().and_then(|cached| cached.get(lookup));
    let ptx = match found {
        Some(ptx) => ptx,
        None => {
            let ptx = emit(definition, &module, &target, &options)?.ptx;
            if let Some(cached) = &cached {
                cached.put(&entry, &target, &ptx);
            }
            ptx
        }
    };
    if let Some(folder) = std::env::var_os(DUMP_VARIABLE).filter(|folder| !folder.is_empty()) {
        dump(folder.as_ref(), &module, &ptx);
    }
    let host_constants = host_constants
        .into_iter()
        .map(|(id, constant)| (module.constants[id.index()].symbol(id.index()), constant))
        .collect();
    Ok(Compiled {
        target,
        entry: entry.into(),
        grid_dims,
        host_constants,
        cooperative: module.is_cooperative(),
        spilled_bytes: module.spilled_shared().map_or(0, |spilled| spilled.bytes as usize),
        recursion_stack: module.recursion_stack(options.opt_level < 2),
        sites: module.sites.clone(),
        requirements,
        ptx: ptx.into(),
        cubin: None,
        source: Source { instance, module: module.into() },
    })
}

impl Compiled {
    /// Its LLVM IR, for which it is compiled again.
    pub(crate) fn llvm_ir(&self) -> Result<LlvmIr> {
        let definition = self.source.instance.definition();
        let options = llvm::Options { keep_llvm_ir: true, ..options(&self.source.instance) };
        Ok(emit(definition, self.source.module()?, &self.target, &options)?.llvm_ir.unwrap_or_default())
    }
}

/// Analyses a kernel for data races, for which it is lowered again, with source locations.
pub(crate) fn races(instance: &Instance) -> Result<Races> {
    Ok(races::analyse(&front::lower_with_locations(instance)?.module))
}

/// The requirements of a `race_free` kernel; an error that lists the places if it is not proved.
fn proved(instance: &Instance) -> Result<Requirements> {
    let races = races(instance)?;
    let Definition { name, file, line, .. } = *instance.definition();
    if races.is_proved() {
        return Ok(Requirements::of(races.requirements()));
    }
    Err(Error::Races { kernel: name, file, line, races: Box::new(races) })
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

/// The environment variable for a folder into which the KIR and PTX of every compiled kernel are written.
const DUMP_VARIABLE: &str = "CUDA_JIT_DUMP_DIR";

/// Writes a kernel's code under names that its contents make unique. It is a debugging aid, so a failure is only logged.
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

/// The options of `#[kernel(..)]` as the back end takes them, with the launch bounds as rustc evaluated them.
pub(crate) fn options(instance: &Instance) -> llvm::Options {
    let given = |value: u32| (value != 0).then_some(value);
    let options = instance.definition().options;
    let [max_threads, min_blocks, max_cluster] = match instance.body {
        Body::Captured(_, probe) => probe().into_info().launch_bounds,
        _ => [0; 3],
    };
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
