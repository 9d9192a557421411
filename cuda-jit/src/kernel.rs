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

use cuda_driver::{Context, Function, FunctionAttributes, JitOptions, KernelPanic, Module, RawPanic, Stream};
use once_cell::sync::OnceCell;

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

    /// The function as written.
    fn definition() -> &'static Definition;

    /// What rustc knows of it.
    fn instance() -> Instance;

    /// Where its specialisations are kept, one for all of them.
    fn cache() -> &'static KernelCache;
}

/// The specialisations of one kernel. What is in it stays as long as the process.
#[derive(Debug)]
pub struct KernelCache {
    compiled: Slots<Target, Arc<Compiled>>,
    loaded: Slots<u64, Loaded>,
}

/// Things made once for a specialisation and a place: a list that only grows, so that finding one takes no lock.
#[derive(Debug)]
struct Slots<P, T>(OnceCell<Box<Slot<P, T>>>);

#[derive(Debug)]
struct Slot<P, T> {
    /// The type that the macro made for the specialisation, its constants included.
    kernel: TypeId,
    place: P,
    cell: OnceCell<T>,
    next: Slots<P, T>,
}

/// A specialisation in a context, ready to launch.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) function: Function,
    /// The default stream of its context.
    pub(crate) stream: Stream,
    /// Where the context's kernels write their panics: the address on the device.
    pub(crate) panic_record: u64,
    /// What identifies the kernel in that record.
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
        Self { compiled: Slots(OnceCell::new()), loaded: Slots(OnceCell::new()) }
    }

    /// The specialisation in a context; compiled and loaded if it is not yet there.
    #[inline]
    pub(crate) fn loaded<K: Kernel>(&self, context: &Context) -> Result<&Loaded> {
        let cell = self.loaded.cell::<K>(context.id());
        match cell.get() {
            Some(loaded) => Ok(loaded),
            None => cell.get_or_try_init(|| {
                let cc = context.device().compute_capability()?;
                load::<K>(context, self.compiled::<K>(Target::new(ComputeCapability::from(cc))?)?)
            }),
        }
    }

    fn compiled<K: Kernel>(&self, target: Target) -> Result<Arc<Compiled>> {
        let cell = self.compiled.cell::<K>(target);
        let compiled = cell.get_or_try_init(|| compile(&K::instance(), &target, false).map(Arc::new))?;
        Ok(compiled.clone())
    }
}

impl<P: PartialEq + Copy, T> Slots<P, T> {
    /// The cell of a specialisation, made if it is not there.
    #[inline]
    fn cell<K: Kernel>(&self, place: P) -> &OnceCell<T> {
        let kernel = TypeId::of::<K>();
        let mut slots = self;
        loop {
            let slot = match slots.0.get() {
                Some(slot) => slot,
                // Threads that race here append one after the other: each looks at what the one before it appended.
                None => slots.0.get_or_init(|| Box::new(Slot::new(kernel, place))),
            };
            if slot.kernel == kernel && slot.place == place {
                return &slot.cell;
            }
            slots = &slot.next;
        }
    }
}

impl<P, T> Slot<P, T> {
    #[cold]
    fn new(kernel: TypeId, place: P) -> Self {
        Slot { kernel, place, cell: OnceCell::new(), next: Slots(OnceCell::new()) }
    }
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
    let panic_record = context.panic_record()?.device_ptr();
    let stream = context.default_stream();
    Ok(Loaded { compiled, function, stream, panic_record, id, block: OnceCell::new() })
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
    loaded: &'static Loaded,
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
