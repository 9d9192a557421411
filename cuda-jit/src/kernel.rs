//! A kernel's specialisations: compiled once per types, constants and target, loaded once per context.
//!
//! One [`KernelCache`] per kernel holds them. Threads that ask for the same one wait for a single compilation, and a
//! failed one is tried again by the next.
//!
//! # Safety
//!
//! The one block loads PTX that the back end made of a verified module.

use std::any::TypeId;
use std::sync::Arc;

use cuda_driver::{Context, Function, FunctionAttributes, JitOptions, KernelPanic, Module, RawPanic};
use once_cell::sync::OnceCell;
use parking_lot::RwLock;

use crate::compile::{Compiled, compile};
use crate::error::Result;
use crate::harvest::Instance;
use crate::kir;
use crate::launch::KernelParams;
use crate::syntax::Definition;
use crate::target::{ComputeCapability, Target};

/// A specialisation of a `#[kernel]` function; the macro implements it for the type of the function's name.
pub trait Kernel: 'static {
    /// The types of its parameters, as a tuple, every lifetime `'static`.
    type Params: KernelParams;
    /// The types of its generic parameters, as a tuple.
    type Generics: 'static;

    /// The function as written.
    fn definition() -> &'static Definition;

    /// What rustc knows of it.
    fn instance() -> Instance;

    /// The bits of its constant parameters.
    fn consts() -> impl Iterator<Item = u64>;

    /// Where its specialisations are kept, one for all of them.
    fn cache() -> &'static KernelCache;
}

/// The specialisations of one kernel.
#[derive(Debug)]
pub struct KernelCache {
    compiled: RwLock<Vec<Entry<Target, Compiled>>>,
    loaded: RwLock<Vec<Entry<u64, Loaded>>>,
}

/// Something made once for a specialisation and a place.
#[derive(Debug)]
struct Entry<P, T> {
    generics: TypeId,
    consts: Vec<u64>,
    place: P,
    cell: Arc<OnceCell<Arc<T>>>,
}

/// A specialisation in a context, ready to launch.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) function: Function,
    /// What identifies the kernel in the context's panic record.
    pub(crate) id: u32,
    /// The block that occupancy chooses for `forall`, in threads.
    pub(crate) block: OnceCell<u32>,
}

impl Default for KernelCache {
    fn default() -> Self {
        Self::new()
    }
}

impl KernelCache {
    /// An empty one.
    pub const fn new() -> Self {
        Self { compiled: RwLock::new(Vec::new()), loaded: RwLock::new(Vec::new()) }
    }

    /// The specialisation in a context; compiled and loaded if it is not yet there.
    pub(crate) fn loaded<K: Kernel>(&self, context: &Context) -> Result<Arc<Loaded>> {
        let cell = entry::<K, _, _>(&self.loaded, context.id());
        if let Some(loaded) = cell.get() {
            return Ok(loaded.clone());
        }
        let loaded = cell.get_or_try_init(|| {
            let cc = context.device().compute_capability()?;
            let compiled = self.compiled::<K>(Target::new(ComputeCapability::from(cc))?)?;
            load::<K>(context, compiled).map(Arc::new)
        })?;
        Ok(loaded.clone())
    }

    fn compiled<K: Kernel>(&self, target: Target) -> Result<Arc<Compiled>> {
        let cell = entry::<K, _, _>(&self.compiled, target);
        let compiled = cell.get_or_try_init(|| compile(&K::instance(), &target, false).map(Arc::new))?;
        Ok(compiled.clone())
    }
}

/// The cell of a specialisation, made if it is not there. The common case takes a read lock and allocates nothing.
fn entry<K: Kernel, P: PartialEq + Copy, T>(entries: &RwLock<Vec<Entry<P, T>>>, place: P) -> Arc<OnceCell<Arc<T>>> {
    let generics = TypeId::of::<(K, K::Generics)>();
    let is_it = |entry: &Entry<P, T>| {
        entry.generics == generics && entry.place == place && K::consts().eq(entry.consts.iter().copied())
    };
    if let Some(entry) = entries.read().iter().find(|entry| is_it(entry)) {
        return entry.cell.clone();
    }
    let mut entries = entries.write();
    if let Some(entry) = entries.iter().find(|entry| is_it(entry)) {
        return entry.cell.clone();
    }
    let cell = Arc::new(OnceCell::new());
    entries.push(Entry { generics, consts: K::consts().collect(), place, cell: cell.clone() });
    cell
}

fn load<K: Kernel>(context: &Context, compiled: Arc<Compiled>) -> Result<Loaded> {
    let mut options = JitOptions::new();
    let registers = K::definition().options.max_registers;
    if registers != 0 {
        options = options.max_registers(registers);
    }
    // SAFETY: the PTX is the back end's for a verified module: it touches only memory that its parameters lead to,
    // and the launch passes what the kernel's typed parameters stand for.
    let module = unsafe { Module::load_ptx_with(context, &compiled.output.ptx, &options) }?;
    let function = module.function(&compiled.entry)?;
    let sites = compiled.clone();
    let id = context.register_kernel(Arc::new(move |raw: &RawPanic| decode(&sites, raw)));
    Ok(Loaded { compiled, function, id, block: OnceCell::new() })
}

/// What a record says, by the module's sites.
fn decode(compiled: &Compiled, raw: &RawPanic) -> KernelPanic {
    let kernel = compiled.entry.clone();
    let RawPanic { site, block, thread, args, .. } = *raw;
    let known = compiled.module.sites.get(site as usize);
    let (message, file, line, column) = match known {
        Some(site) => (render(&site.message, args), site.file.clone(), site.line, site.column),
        None => (format!("the panic record names site {site}, which this kernel does not have"), String::new(), 0, 0),
    };
    KernelPanic { kernel, message, file, line, column, block, thread }
}

/// A site's message with its arguments: `{0}`, `{1}` unsigned, `{0i}`, `{1i}` signed, doubled braces as themselves.
fn render(message: &str, args: [u64; 2]) -> String {
    let mut text = String::with_capacity(message.len() + 16);
    let mut rest = message;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let tail = &rest[at..];
        let argument = [("{0}", args[0].to_string()), ("{1}", args[1].to_string())];
        let signed = [("{0i}", args[0].cast_signed().to_string()), ("{1i}", args[1].cast_signed().to_string())];
        let brace = [("{{", "{".to_owned()), ("}}", "}".to_owned())];
        let found = argument.into_iter().chain(signed).chain(brace).find(|(form, _)| tail.starts_with(form));
        let (form, value) = found.unwrap_or((&tail[..1], tail[..1].to_owned()));
        text.push_str(&value);
        rest = &tail[form.len()..];
    }
    text.push_str(rest);
    text
}

/// A kernel that is compiled and loaded for a device: what it uses, and its code.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::grid, kernel};
///
/// #[kernel]
/// fn fill(out: &mut [u32], value: u32) {
///     let i = grid::<1>();
///     if i < out.len() {
///         out[i] = value;
///     }
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// let kernel = fill::compile()?;
/// assert!(kernel.max_threads_per_block() >= 256);
/// assert!(kernel.ptx().contains(".entry fill"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    loaded: Arc<Loaded>,
    instance: Instance,
    target: Target,
}

impl CompiledKernel {
    /// The symbol of its entry.
    pub fn name(&self) -> &str {
        &self.loaded.compiled.entry
    }

    /// Its PTX.
    pub fn ptx(&self) -> &str {
        &self.loaded.compiled.output.ptx
    }

    /// Its KIR.
    pub fn kir(&self) -> &kir::Module {
        &self.loaded.compiled.module
    }

    /// Its optimised LLVM IR, for which it is compiled once more.
    ///
    /// # Errors
    ///
    /// If the back end fails.
    pub fn llvm(&self) -> Result<String> {
        let compiled = compile(&self.instance, &self.target, true)?;
        Ok(compiled.output.llvm_ir.unwrap_or_default())
    }

    /// The function in its context.
    pub fn function(&self) -> &Function {
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
        self.attributes().shared_bytes
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
        Ok(self.loaded.function.max_active_blocks(block_threads, dynamic_shared_bytes)?)
    }
}

/// Compiles and loads a kernel for the context that `current` gives.
///
/// # Errors
///
/// If there is no context, or the kernel does not compile or load.
pub fn compile_for<K: Kernel>(current: fn() -> Result<Context>) -> Result<CompiledKernel> {
    let context = current()?;
    let loaded = K::cache().loaded::<K>(&context)?;
    let target = Target::new(ComputeCapability::from(context.device().compute_capability()?))?;
    Ok(CompiledKernel { loaded, instance: K::instance(), target })
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn messages_take_their_arguments() {
        assert_eq!(render("index {0} of {1}", [7, 5]), "index 7 of 5");
        assert_eq!(render("{1i} is not {0i}", [u64::MAX, 3]), "3 is not -1");
        assert_eq!(render("assertion failed: {{ x }} > {0", [1, 2]), "assertion failed: { x } > {0");
    }
}
