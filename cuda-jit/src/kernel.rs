//! A kernel's specialisations: compiled once per types, constants and target, loaded once per context.
//!
//! One [`KernelCache`] per kernel holds them. Threads that ask for the same one wait for a single compilation, and a
//! failed one is tried again by the next; so is one that panicked.
//!
//! # Safety
//!
//! The one block loads PTX that the back end made of a verified module. [`Kernel`] is an `unsafe` trait, since launches believe it.

use std::any::{TypeId, type_name};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use cuda_driver::{Context, Function, JitOptions, KernelPanic, RawPanic, Stream};
use cuda_sys::CUfunction_attribute;
use once_cell::sync::OnceCell;

#[cfg(feature = "bundle")]
use crate::bundle::find as bundled;
use crate::cache::{Counters, Stats};
use crate::compiled::Compiled;
use crate::constant::{Held, Resident};
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
/// [`site`](Self::site) and [`instance`](Self::instance) are those of one function, which rustc has checked; its parameters are of
/// the types [`Params`](Self::Params); [`UNCHECKED`](Self::UNCHECKED) is true if the function's accesses are not checked; and
/// the other functions are as provided. `#[kernel]` implements it.
///
/// By hand it takes the word `unsafe`:
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
    /// The types of its parameters, as a tuple, every lifetime `'static`.
    type Params: KernelParams;

    /// Whether its accesses are not checked, so that a launch is `unsafe`.
    const UNCHECKED: bool = false;

    /// What is one for all its specialisations.
    fn site() -> &'static KernelSite;

    /// What rustc knows of it.
    fn instance() -> Instance;

    /// The function as written.
    #[must_use]
    fn definition() -> &'static Definition {
        Self::site().definition()
    }

    /// Where its specialisations are kept.
    #[must_use]
    fn cache() -> &'static KernelCache {
        &Self::site().cache
    }

    /// How often its specialisations were found on disk; see [`crate::cache`].
    #[must_use]
    fn stats() -> Stats {
        Self::cache().counters.stats()
    }

    /// Its specialisations that have been loaded, in every context, the oldest first.
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
        Self::cache().loaded.iter().map(CompiledKernel::new).collect()
    }
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

/// What all specialisations of a kernel share: the function as written, and where they are kept.
#[derive(Debug)]
pub struct KernelSite {
    encoded: Encoded,
    cache: KernelCache,
}

impl KernelSite {
    /// What the macro captured, nothing compiled yet.
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

/// The specialisations of one kernel. What is in it stays as long as the process.
#[derive(Debug)]
pub struct KernelCache {
    compiled: Slots<ComputeCapability, Arc<Compiled>>,
    loaded: Slots<u64, Loaded>,
    counters: Counters,
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
    /// The kernel's path with its generic arguments, and its parameters' types.
    pub(crate) signature: String,
    pub(crate) function: Function,
    /// The default stream of its context, on the thread that loaded it.
    pub(crate) stream: Stream,
    /// The kernel's number in panic records.
    pub(crate) id: u32,
    /// Whether its launches are what their configurations say: it adds no shared memory and does not ask for all blocks at
    /// once.
    pub(crate) as_written: bool,
    /// The constants of the host's that it reads.
    pub(crate) constants: Vec<Arc<Resident>>,
    /// The block that occupancy chooses for `forall`, in threads.
    pub(crate) block: OnceCell<u32>,
    /// The address of the place whose few blocks were warned of last.
    pub(crate) warned: AtomicUsize,
}

impl Default for KernelCache {
    fn default() -> Self {
        Self::new()
    }
}

impl KernelCache {
    /// An empty one.
    pub const fn new() -> Self {
        Self { compiled: Slots(OnceCell::new()), loaded: Slots(OnceCell::new()), counters: Counters::new() }
    }

    /// The specialisation in a context; compiled and loaded if it is not yet there.
    #[inline]
    pub(crate) fn loaded<K: Kernel>(&self, context: &Context) -> Result<&Loaded> {
        let cell = self.loaded.cell::<K>(context.id());
        match cell.get() {
            Some(loaded) => Ok(loaded),
            None => cell.get_or_try_init(|| {
                warnings::check()?;
                let cc = context.device().compute_capability()?;
                load::<K>(context, self.compiled::<K>(cc.into())?)
            }),
        }
    }

    pub(crate) fn compiled<K: Kernel>(&self, device: ComputeCapability) -> Result<Arc<Compiled>> {
        let cell = self.compiled.cell::<K>(device);
        cell.get_or_try_init(|| self.obtain::<K>(device).map(Arc::new)).cloned()
    }

    /// The code of a specialisation for a device: from a bundle or, where there is a compiler, compiled.
    fn obtain<K: Kernel>(&self, device: ComputeCapability) -> Result<Compiled> {
        let instance = K::instance();
        #[cfg(all(feature = "bundle", feature = "compiler"))]
        if let Some(recording) = crate::record::active()? {
            let compiled = self.compile(instance, device)?;
            recording.add(&compiled, &signature::<K>())?;
            return Ok(compiled);
        }
        match bundled(&instance, signature::<K>, device) {
            Ok(compiled) => Ok(compiled),
            Err(reason) => self.not_bundled::<K>(instance, device, reason),
        }
    }

    #[cfg(feature = "compiler")]
    fn compile(&self, instance: Instance, device: ComputeCapability) -> Result<Compiled> {
        let (target, lookup) = (crate::target::Target::new(device)?, crate::cache::Lookup::Find(&self.counters));
        crate::compile::compile(instance, target, lookup)
    }

    #[cfg(feature = "compiler")]
    fn not_bundled<K: Kernel>(
        &self,
        instance: Instance,
        device: ComputeCapability,
        reason: NotBundled,
    ) -> Result<Compiled> {
        if reason != NotBundled::NothingEmbedded {
            tracing::debug!(kernel = signature::<K>(), %reason, "compiled, since no bundle has it");
        }
        self.compile(instance, device)
    }

    #[cfg(not(feature = "compiler"))]
    fn not_bundled<K: Kernel>(&self, _: Instance, device: ComputeCapability, reason: NotBundled) -> Result<Compiled> {
        Err(crate::Error::NotBundled { kernel: signature::<K>(), device, reason })
    }
}

#[cfg(not(feature = "bundle"))]
fn bundled(_: &Instance, _: fn() -> String, _: ComputeCapability) -> Result<Compiled, NotBundled> {
    Err(NotBundled::NothingEmbedded)
}

/// The kernel's path with its generic arguments, and its parameters' types.
fn signature<K: Kernel>() -> String {
    [type_name::<K>(), type_name::<K::Params>()].concat()
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

impl<P, T> Slots<P, T> {
    /// What has been made so far.
    fn iter(&self) -> impl Iterator<Item = &T> {
        let slots = std::iter::successors(self.0.get(), |slot| slot.next.0.get());
        slots.filter_map(|slot| slot.cell.get())
    }
}

impl<P, T> Slot<P, T> {
    #[cold]
    fn new(kernel: TypeId, place: P) -> Self {
        Slot { kernel, place, cell: OnceCell::new(), next: Slots(OnceCell::new()) }
    }
}

fn load<K: Kernel>(context: &Context, compiled: Arc<Compiled>) -> Result<Loaded> {
    let _span = tracing::debug_span!("load", kernel = %compiled.entry, target = %compiled.target).entered();
    let mut options = JitOptions::new();
    let syntax::Options { debug, lineinfo, max_registers: registers, shared_memory_carveout, .. } =
        K::definition().options;
    if debug || lineinfo {
        options = options.debug(debug).line_info(lineinfo);
    }
    if registers != 0 {
        options = options.max_registers(registers);
    }
    // SAFETY: the PTX is the back end's for a verified module, and machine code is what ptxas made of it: it touches only memory
    // that its parameters lead to, and the launch passes what the kernel's typed parameters stand for. Of a bundle, the
    // fingerprint says that it is this kernel's, and whoever has embedded it promises that it was recorded so.
    let module = unsafe { device_runtime::load(context, &compiled.ptx, compiled.cubin, &options) }?;
    let function = module.function(&compiled.entry)?;
    if let Some(percent) = shared_memory_carveout {
        let carveout = CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        function.set_attribute(carveout, percent.into())?;
    }
    let join = |(symbol, held): &(String, HostConstant)| Held::of(held).join(&module, symbol);
    let constants = compiled.held.iter().map(join).collect::<Result<Vec<_>>>()?;
    let sites = compiled.clone();
    let id = context.register_kernel(Arc::new(move |raw: &RawPanic| decode(&sites, raw)));
    let stream = context.default_stream();
    let as_written = !compiled.cooperative && compiled.spilled_bytes == 0;
    Ok(Loaded {
        compiled,
        signature: signature::<K>(),
        function,
        stream,
        id,
        as_written,
        constants,
        block: OnceCell::new(),
        warned: AtomicUsize::new(0),
    })
}

/// What a record says, by the module's sites.
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

    /// A kernel whose first compilations panic in the compiler's front.
    struct Faulty;

    // SAFETY: it is compiled and never launched.
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
        let compile = || Faulty::cache().compiled::<Faulty>(ComputeCapability::DEFAULT);
        for _ in 0..2 {
            std::panic::catch_unwind(compile).unwrap_err();
        }
        assert_eq!(compile().unwrap().entry, "first");
        // Another specialisation's slot stands behind the one that panicked.
        assert!(Faulty::cache().compiled::<first>(ComputeCapability::DEFAULT).unwrap().ptx.contains(".entry first("));
    }

    #[test]
    fn threads_wait_for_one_compilation_of_each_target() {
        let targets = [ComputeCapability::from((8, 0)), (9, 0).into()];
        static CACHE: KernelCache = KernelCache::new();
        let compiled = std::thread::scope(|scope| {
            let one = |n: usize| scope.spawn(move || CACHE.compiled::<first>(targets[n % 2]).unwrap());
            let threads: Vec<_> = (0..16).map(one).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for (n, one) in compiled.iter().enumerate() {
            assert!(Arc::ptr_eq(one, &compiled[n % 2]));
        }
        assert_eq!(CACHE.compiled.iter().count(), 2);
    }
}
