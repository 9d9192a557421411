//! A kernel's specialisations: compiled once per combination of types, constants and target, loaded once per context.
//!
//! One [`KernelCache`] per kernel has them. Threads that request the same one wait for a single compilation. If it fails or
//! panics, the next request compiles again.
//!
//! # Safety
//!
//! The one block loads PTX that the back end generated from a verified module. [`Kernel`] is an `unsafe` trait, since
//! launches rely on it.

use std::any::{TypeId, type_name};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use cuda_driver::{Context, ContextLimit, Function, JitOptions, KernelPanic, RawPanic, Stream};
use cuda_sys::CUfunction_attribute;
use once_cell::sync::OnceCell;

#[cfg(feature = "bundle")]
use crate::bundle::find as bundled;
use crate::cache::{Counters, Stats};
use crate::compiled::Compiled;
use crate::constant::{Instances, Resident};
use crate::device_runtime;
use crate::error::{NotBundled, Result};
use crate::syntax::{self, Definition, Encoded};
use crate::target::ComputeCapability;
use crate::tuples::KernelParams;
use crate::typeinfo::{HostConstant, Instance};
use crate::warnings;

/// A specialisation of a `#[kernel]` function; the macro implements it for the type of the function's name.
///
/// # Safety
///
/// [`site`](Self::site) and [`instance`](Self::instance) belong to one function, which rustc has type-checked; its
/// parameters have the types [`Params`](Self::Params); [`UNCHECKED`](Self::UNCHECKED) is true if the function's accesses
/// are not checked; and the other functions are as provided. `#[kernel]` implements it.
///
/// Implementing it by hand requires `unsafe`:
///
/// ```compile_fail,E0200
/// # use cuda_jit::{Kernel, KernelSite, typeinfo::Instance, kernel};
/// #[kernel]
/// fn write(out: &mut [u32]) {
///     out[0] = 1;
/// }
///
/// struct Mine;
///
/// impl Kernel for Mine {
///     type Params = (u64, u64);
///
///     fn site() -> &'static KernelSite {
///         write::site()
///     }
///
///     fn instance() -> Instance {
///         write::instance()
///     }
/// }
/// ```
pub unsafe trait Kernel: 'static {
    /// The types of its parameters, as a tuple, with every lifetime `'static`.
    type Params: KernelParams;

    /// True if its accesses are not checked, so that a launch is `unsafe`.
    const UNCHECKED: bool = false;

    /// Its launch bounds: the most threads per block, the least blocks per multiprocessor, the most blocks per cluster; 0 if unset.
    const LAUNCH_BOUNDS: [u32; 3] = [0; 3];

    /// The data that all its specialisations share.
    fn site() -> &'static KernelSite;

    /// Its instance, with the function that returns its type information.
    fn instance() -> Instance;

    /// The function as written.
    #[must_use]
    fn definition() -> &'static Definition {
        Self::site().definition()
    }

    /// The cache of its specialisations.
    #[must_use]
    fn cache() -> &'static KernelCache {
        &Self::site().cache
    }

    /// The hits and misses of its specialisations in the disk cache; see [`crate::cache`].
    #[must_use]
    fn stats() -> Stats {
        Self::cache().counters.stats()
    }

    /// Its loaded specialisations in all contexts, in the order of loading.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{Kernel, Num, kernel};
    ///
    /// #[kernel]
    /// fn first<T: Num>(out: &mut [T], value: T) {
    ///     out[0] = value;
    /// }
    ///
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// first::launch((1, 1), &mut cuda_mem::zeros(&context, 1)?, 1_u32)?;
    /// first::launch((1, 1), &mut cuda_mem::zeros(&context, 1)?, 1.0_f32)?;
    /// let names: Vec<_> = first::<u32>::overloads().iter().map(|kernel| kernel.name().to_owned()).collect();
    /// assert_eq!(names, ["first_u32", "first_f32"]);
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    #[must_use]
    fn overloads() -> Vec<CompiledKernel> {
        // Code with source lines may stand beside the same code without them.
        let mut known = HashSet::new();
        let slots = Self::cache().loaded.iter();
        let first = slots.filter(|(kernel, (context, _), _)| known.insert((*kernel, *context)));
        first.map(|(.., loaded)| CompiledKernel::new(loaded)).collect()
    }
}

/// A kernel that is compiled and loaded for a device, with its code and its resources.
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
/// assert!(kernel.signature().ends_with("fill(&mut [u32], u32)"));
/// let occupancy = kernel.occupancy(256, 0)?;
/// assert_eq!(occupancy.threads, occupancy.blocks * 256);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CompiledKernel {
    pub(crate) loaded: &'static Loaded,
}

impl CompiledKernel {
    pub(crate) fn new(loaded: &'static Loaded) -> Self {
        CompiledKernel { loaded }
    }
}

/// The data that all specialisations of a kernel share: the function as written, and the cache.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct KernelSite {
    encoded: Encoded,
    cache: KernelCache,
}

impl KernelSite {
    /// A kernel from its captured syntax, with nothing compiled yet.
    #[must_use]
    pub const fn new(encoded: Encoded) -> Self {
        KernelSite { encoded, cache: KernelCache::new() }
    }

    /// The function as written.
    #[must_use]
    pub fn definition(&'static self) -> &'static Definition {
        self.encoded.definition()
    }
}

/// The specialisations of one kernel, which are never freed.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct KernelCache {
    compiled: Slots<(ComputeCapability, Lines), Arc<Compiled>>,
    loaded: Slots<(u64, Lines), Loaded>,
    counters: Counters,
}

/// True for code with source lines beside what the kernel's options say: the checkers of the software device ask for them, perhaps
/// after the kernel was compiled.
type Lines = bool;

#[cfg(feature = "compiler")]
fn lines() -> Lines {
    crate::front::has_source_lines()
}

#[cfg(not(feature = "compiler"))]
fn lines() -> Lines {
    false
}

/// Values created once per specialisation and `P`: an append-only list, so that lookups take no lock.
#[derive(Debug)]
struct Slots<P, T>(OnceCell<Box<Slot<P, T>>>);

#[derive(Debug)]
struct Slot<P, T> {
    /// The [`Specialisation`]'s.
    kernel: TypeId,
    place: P,
    cell: OnceCell<T>,
    next: Slots<P, T>,
}

/// A specialisation in a context, ready to launch.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) compiled: Arc<Compiled>,
    /// The kernel's path with its generic arguments, and its parameters' types.
    pub(crate) signature: String,
    pub(crate) function: Function,
    /// The default stream of its context, for the thread that loaded it.
    pub(crate) stream: Stream,
    /// The kernel's number in panic records.
    pub(crate) id: u32,
    /// True if its launches use their configurations unchanged: it adds no shared memory and is not cooperative.
    pub(crate) as_written: bool,
    /// The host-updatable constants that it reads.
    pub(crate) constants: Vec<Arc<Resident>>,
    /// The block size that occupancy suggests for `forall`, in threads.
    pub(crate) block: OnceCell<u32>,
    /// The address of the call site that was last warned of a grid with few blocks.
    pub(crate) warned: AtomicUsize,
}

impl Default for KernelCache {
    fn default() -> Self {
        Self::new()
    }
}

impl KernelCache {
    /// An empty cache.
    pub const fn new() -> Self {
        Self { compiled: Slots(OnceCell::new()), loaded: Slots(OnceCell::new()), counters: Counters::new() }
    }

    /// The specialisation in a context, or in that of the context that `current` returns, which is compiled and loaded at the
    /// first call.
    #[inline]
    pub(crate) fn loaded(
        &self,
        kernel: TypeId,
        specialisation: fn() -> Specialisation,
        context: Option<&Context>,
        current: fn() -> Result<Context>,
    ) -> Result<&Loaded> {
        let own;
        let context = match context {
            Some(context) => context,
            None => {
                own = current()?;
                &own
            }
        };
        let cell = self.loaded.cell(kernel, (context.id(), lines()));
        match cell.get() {
            Some(loaded) => Ok(loaded),
            None => self.load(cell, &specialisation(), context),
        }
    }

    #[cold]
    fn load<'a>(&self, cell: &'a OnceCell<Loaded>, kernel: &Specialisation, context: &Context) -> Result<&'a Loaded> {
        cell.get_or_try_init(|| {
            warnings::check()?;
            let cc = context.device().compute_capability()?;
            load(kernel, context, self.compiled(kernel, cc.into())?)
        })
    }

    /// The code of a specialisation for a device, which is compiled at the first call.
    pub(crate) fn compiled(&self, kernel: &Specialisation, device: ComputeCapability) -> Result<Arc<Compiled>> {
        let cell = self.compiled.cell(kernel.id, (device, lines()));
        cell.get_or_try_init(|| self.obtain(kernel, device).map(Arc::new)).cloned()
    }

    /// The code of a specialisation for a device: from a bundle or, if there is a compiler, compiled.
    fn obtain(&self, kernel: &Specialisation, device: ComputeCapability) -> Result<Compiled> {
        let instance = (kernel.instance)();
        #[cfg(all(feature = "bundle", feature = "compiler"))]
        if let Some(recording) = crate::record::active()? {
            let compiled = self.compile(instance, device)?;
            recording.add(&compiled, &kernel.signature())?;
            return Ok(compiled);
        }
        match bundled(&instance, &|| kernel.signature(), device) {
            Ok(compiled) => Ok(compiled),
            Err(reason) => self.not_bundled(kernel, instance, device, reason),
        }
    }

    #[cfg(feature = "compiler")]
    fn compile(&self, instance: Instance, device: ComputeCapability) -> Result<Compiled> {
        let (target, lookup) = (crate::target::Target::new(device)?, crate::cache::Lookup::Find(&self.counters));
        crate::compile::compile(instance, target, lookup)
    }

    #[cfg(feature = "compiler")]
    fn not_bundled(
        &self,
        kernel: &Specialisation,
        instance: Instance,
        device: ComputeCapability,
        reason: NotBundled,
    ) -> Result<Compiled> {
        if reason != NotBundled::NothingEmbedded {
            tracing::debug!(kernel = kernel.signature(), %reason, "compiled, since no bundle has it");
        }
        self.compile(instance, device)
    }

    #[cfg(not(feature = "compiler"))]
    fn not_bundled(
        &self,
        kernel: &Specialisation,
        _: Instance,
        device: ComputeCapability,
        reason: NotBundled,
    ) -> Result<Compiled> {
        Err(crate::Error::NotBundled { kernel: kernel.signature(), device, reason })
    }
}

#[cfg(not(feature = "bundle"))]
fn bundled(_: &Instance, _: &dyn Fn() -> String, _: ComputeCapability) -> Result<Compiled, NotBundled> {
    Err(NotBundled::NothingEmbedded)
}

/// A kernel's type as a value, so that the cache's functions are compiled once and not for each kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Specialisation {
    /// The type that the macro generated for the specialisation, its constants included.
    id: TypeId,
    /// The kernel's path with its generic arguments, and its parameters' types.
    names: [&'static str; 2],
    instance: fn() -> Instance,
    definition: fn() -> &'static Definition,
}

impl Specialisation {
    pub(crate) fn of<K: Kernel>() -> Self {
        Specialisation {
            id: TypeId::of::<K>(),
            names: [type_name::<K>(), type_name::<K::Params>()],
            instance: K::instance,
            definition: K::definition,
        }
    }

    fn signature(&self) -> String {
        self.names.concat()
    }
}

impl<P: PartialEq + Copy, T> Slots<P, T> {
    /// The cell of a specialisation, which is appended if it does not exist.
    #[inline]
    fn cell(&self, kernel: TypeId, place: P) -> &OnceCell<T> {
        let mut slots = self;
        loop {
            let slot = match slots.0.get() {
                Some(slot) => slot,
                // Threads that race here append one after the other: each checks the slot that the previous one appended.
                None => slots.0.get_or_init(|| Box::new(Slot::new(kernel, place))),
            };
            if slot.kernel == kernel && slot.place == place {
                return &slot.cell;
            }
            slots = &slot.next;
        }
    }
}

impl<P, T> Slots<P, T> {
    /// The values that have been created so far, with their specialisation and place.
    fn iter(&self) -> impl Iterator<Item = (TypeId, &P, &T)> {
        let slots = std::iter::successors(self.0.get(), |slot| slot.next.0.get());
        slots.filter_map(|slot| Some((slot.kernel, &slot.place, slot.cell.get()?)))
    }
}

impl<P, T> Slot<P, T> {
    #[cold]
    fn new(kernel: TypeId, place: P) -> Self {
        Slot { kernel, place, cell: OnceCell::new(), next: Slots(OnceCell::new()) }
    }
}

fn load(kernel: &Specialisation, context: &Context, compiled: Arc<Compiled>) -> Result<Loaded> {
    let _span = tracing::debug_span!("load", kernel = %compiled.entry, target = %compiled.target).entered();
    let mut options = JitOptions::new();
    let syntax::Options { debug, lineinfo, max_registers: registers, shared_memory_carveout, .. } =
        (kernel.definition)().options;
    if debug || lineinfo {
        options = options.debug(debug).line_info(lineinfo);
    }
    if registers != 0 {
        options = options.max_registers(registers);
    }
    // SAFETY: the back end generated the PTX from a verified module, and ptxas the machine code from that PTX: it accesses
    // only memory that its parameters point to, and the launch passes arguments for the kernel's typed parameters. For a
    // bundle, the fingerprint shows that the entry is this kernel's, and the caller of `embed` guarantees that this crate
    // recorded it.
    let module = unsafe { device_runtime::load(context, &compiled.ptx, compiled.cubin, &options) }?;
    let function = module.function(&compiled.entry)?;
    if let Some(bytes) = compiled.recursion_stack {
        provide_stack(context, usize::try_from(bytes).unwrap_or(usize::MAX))?;
    }
    if let Some(percent) = shared_memory_carveout {
        let carveout = CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        function.set_attribute(carveout, percent.into())?;
    }
    let join = |(symbol, constant): &(String, HostConstant)| Instances::of(constant).join(&module, symbol);
    let constants = compiled.host_constants.iter().map(join).collect::<Result<Vec<_>>>()?;
    let sites = compiled.clone();
    let id = context.register_kernel(Arc::new(move |raw: &RawPanic| decode(&sites, raw)));
    let stream = context.default_stream();
    let as_written = !compiled.cooperative && compiled.spilled_bytes == 0;
    Ok(Loaded {
        compiled,
        signature: kernel.signature(),
        function,
        stream,
        id,
        as_written,
        constants,
        block: OnceCell::new(),
        warned: AtomicUsize::new(0),
    })
}

/// Raises the stack of the context's threads, if it is smaller: the driver does not know how much a recursion needs.
fn provide_stack(context: &Context, bytes: usize) -> Result<()> {
    if context.limit(ContextLimit::StackSize)? < bytes {
        context.set_limit(ContextLimit::StackSize, bytes)?;
    }
    Ok(())
}

/// Decodes a panic record, by the module's sites.
fn decode(compiled: &Compiled, raw: &RawPanic) -> KernelPanic {
    let kernel = compiled.entry.clone().into_owned();
    let RawPanic { site, block, thread, args, .. } = *raw;
    let known = compiled.sites.get(site as usize);
    let (message, file, line, column) = match known {
        Some(site) => (crate::message::render(&site.message, &args), site.file.clone(), site.line, site.column),
        None => (format!("the panic record names site {site}, which this kernel does not have"), String::new(), 0, 0),
    };
    KernelPanic { kernel, message, file, line, column, block, thread, others: Vec::new() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A kernel whose first compilations panic in the compiler's front end.
    struct Faulty;

    // SAFETY: it is only compiled and never launched.
    unsafe impl Kernel for Faulty {
        type Params = ();

        fn site() -> &'static KernelSite {
            static SITE: KernelSite = KernelSite::new(Encoded::new("", "", false, &[syntax::VERSION]));
            &SITE
        }

        fn instance() -> Instance {
            static CALLS: AtomicU32 = AtomicU32::new(0);
            assert!(CALLS.fetch_add(1, Ordering::Relaxed) >= 2, "a bug in the compiler");
            <first as Kernel>::instance()
        }
    }

    #[cuda_jit_macros::kernel]
    fn first(out: &mut [u32]) {
        out[0] = 1;
    }

    #[test]
    fn a_panic_in_the_compiler_poisons_nothing() {
        let compile = || Faulty::cache().compiled(&Specialisation::of::<Faulty>(), ComputeCapability::DEFAULT);
        for _ in 0..2 {
            std::panic::catch_unwind(compile).unwrap_err();
        }
        assert_eq!(compile().unwrap().entry, "first");
        // The slot of another specialisation follows the one that panicked.
        let compiled = Faulty::cache().compiled(&Specialisation::of::<first>(), ComputeCapability::DEFAULT).unwrap();
        assert!(compiled.ptx.contains(".entry first("));
    }

    #[test]
    fn threads_wait_for_one_compilation_of_each_target() {
        let targets = [ComputeCapability::from((8, 0)), (9, 0).into()];
        static CACHE: KernelCache = KernelCache::new();
        let compiled = std::thread::scope(|scope| {
            let one =
                |n: usize| scope.spawn(move || CACHE.compiled(&Specialisation::of::<first>(), targets[n % 2]).unwrap());
            let threads: Vec<_> = (0..16).map(one).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for (n, one) in compiled.iter().enumerate() {
            assert!(Arc::ptr_eq(one, &compiled[n % 2]));
        }
        assert_eq!(CACHE.compiled.iter().count(), 2);
    }
}
