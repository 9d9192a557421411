//! A loaded module: checked code, which all loads of the same text share, and this load's own variables.
//!
//! # Safety
//!
//! Initial values are copied into memory that was just allocated for them.

mod record;

use crate::check;
use crate::codegen::jit::{self, Compiled};
use crate::codegen::object::WHOLE;
use crate::codegen::{self, CodeCounts, Flavour, KernelCode};
use crate::environment::{Checks, ENVIRONMENT};
use crate::exec::launch::{Fault, Launch};
use crate::exec::report;
use crate::exec::search::Found;
use crate::ir::layout::{Area, Global};
use crate::ir::lower::{Program, lower};
use crate::ir::{Function, Signature, Symbol};
use crate::link::with_library;
use crate::memory::{AllocationKind, MEMORY};
use crate::ptx::{self, FunctionKind};
use crate::service;
use crate::source::Sources;
use cuda_jit_cache::Key;
use once_cell::sync::{Lazy, OnceCell};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::CString;
use std::sync::Arc;

/// A module's text, and its parsed program, which is created on demand: cached machine code does not need it.
struct Origin {
    text: Arc<str>,
    /// The key of its record on disk.
    key: OnceCell<Key>,
    made: OnceCell<(Arc<Program>, Sources)>,
}

impl Origin {
    fn new(text: &str) -> Origin {
        Origin { text: Arc::from(text), key: OnceCell::new(), made: OnceCell::new() }
    }

    fn key(&self) -> &Key {
        self.key.get_or_init(|| record::key(&self.text))
    }

    fn made(&self) -> ptx::Result<&(Arc<Program>, Sources)> {
        self.made.get_or_try_init(|| {
            let module = ptx::parse(&self.text)?;
            let sources = Sources::new(&module);
            Ok((Arc::new(lower(&with_library(module))?), sources))
        })
    }

    fn program(&self) -> ptx::Result<Arc<Program>> {
        self.made().map(|(program, _)| Arc::clone(program))
    }

    /// Emits the code of a kernel for launches with or without clusters.
    fn emitted(&self, function: usize, clustered: bool) -> ptx::Result<KernelCode> {
        codegen::emit(&*self.program()?, function, Flavour { clustered, ..Flavour::default() })
    }

    /// Returns that code from disk, or emits it and writes it there.
    fn code(self: &Arc<Self>, function: usize, clustered: bool) -> Result<KernelCode, String> {
        if let Some(code) = record::find_kernel(self, function, clustered) {
            return Ok(code);
        }
        let code = self.emitted(function, clustered).map_err(|error| error.to_string())?;
        record::keep_kernel(self, clustered, &code);
        Ok(code)
    }
}

/// A kernel, emitted and compiled on demand.
pub(crate) struct Kernel {
    pub(crate) name: CString,
    facts: KernelFacts,
    /// True if a kernel of the module can obtain an address other than by its parameters.
    loads_addresses: bool,
    origin: Arc<Origin>,
    /// Code for launches without and with clusters, in which shared-memory addresses contain the rank of their block.
    codes: [OnceCell<Code>; 2],
    /// Code for the checkers, by the bits of its kind ([`Kernel::checked`]).
    checked: [OnceCell<Arc<Compiled>>; 32],
}

/// The kind of launch that code for the checkers serves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CheckedKind {
    pub(crate) fibers: bool,
    pub(crate) clustered: bool,
    /// True if it may access registered host memory.
    pub(crate) registered: bool,
    /// True if the rows of its blocks are whole vectors.
    pub(crate) whole: bool,
}

/// A kernel's code for one kind of launch.
struct Code {
    code: KernelCode,
    /// For blocks with any rows, and with rows that are whole vectors.
    compiled: [Variants; 2],
    fibers: Variants,
}

/// Code without and with accesses to registered host memory.
type Variants = [OnceCell<Arc<Compiled>>; 2];

impl Code {
    fn new(code: KernelCode) -> Code {
        Code { code, compiled: Default::default(), fibers: Variants::default() }
    }
}

impl Kernel {
    /// Returns the text of the kernel's module.
    pub(crate) fn text(&self) -> &str {
        &self.origin.text
    }

    pub(crate) fn signature(&self) -> &Signature {
        &self.facts.signature
    }

    /// Returns true if the text was parsed.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn is_parsed(&self) -> bool {
        self.origin.made.get().is_some()
    }

    /// Returns true if its code was emitted, or found on disk.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn has_code(&self) -> bool {
        self.codes.iter().any(|code| code.get().is_some())
    }

    pub(crate) fn program(&self) -> Result<Arc<Program>, String> {
        self.origin.program().map_err(|error| error.to_string())
    }

    pub(crate) fn local_bytes(&self) -> u64 {
        self.facts.local_bytes
    }

    fn code(&self, clustered: bool) -> Result<&Code, String> {
        let cell = &self.codes[usize::from(clustered)];
        cell.get_or_try_init(|| self.origin.code(self.facts.function, clustered).map(Code::new))
    }

    /// Returns the machine code for blocks of this size, with or without clusters. The first caller compiles it while
    /// others wait.
    #[cfg(any(all(test, not(loom)), fuzzing))]
    pub(crate) fn compiled(&self, params: &[u64], block: [u32; 3], clustered: bool) -> Result<&Arc<Compiled>, String> {
        self.compiled_for(check::session::checks(), params, block, clustered)
    }

    /// As [`Kernel::compiled`], with these checkers.
    pub(crate) fn compiled_for(
        &self,
        checks: Checks,
        params: &[u64],
        block: [u32; 3],
        clustered: bool,
    ) -> Result<&Arc<Compiled>, String> {
        if checks.of_kernels() {
            let fibers = ENVIRONMENT.fibers || ENVIRONMENT.seed.is_some();
            let (registered, whole) = (self.may_access_registered(params), block[0].is_multiple_of(WHOLE));
            return self.checked(checks, CheckedKind { fibers, clustered, registered, whole });
        }
        if ENVIRONMENT.fibers || self.facts.signature.only_fibers {
            return self.fibers(params, clustered);
        }
        let code = self.code(clustered)?;
        let registered = self.may_access_registered(params);
        // Scheduled regions run parts of rows.
        let whole = !code.code.scheduled && block[0].is_multiple_of(WHOLE);
        let cell = &code.compiled[usize::from(whole)][usize::from(registered)];
        if cell.get().is_some() {
            jit::start_deferred();
        }
        cell.get_or_try_init(|| Compiled::new(&code.code, registered, whole).map(Arc::new))
    }

    /// Returns the machine code that runs threads as fibers.
    pub(crate) fn fibers(&self, params: &[u64], clustered: bool) -> Result<&Arc<Compiled>, String> {
        let code = self.code(clustered)?;
        let registered = self.may_access_registered(params);
        code.fibers[usize::from(registered)].get_or_try_init(|| {
            let flavour = Flavour { clustered, ..Flavour::default() };
            let (ir, plan) = codegen::emit_fiber(&*self.program()?, &code.code, flavour).map_err(|e| e.to_string())?;
            Compiled::fiber(&ir, plan, &code.code, registered).map(Arc::new)
        })
    }

    /// Returns machine code for these checkers.
    pub(crate) fn checked(&self, checks: Checks, kind: CheckedKind) -> Result<&Arc<Compiled>, String> {
        let CheckedKind { fibers, clustered, registered, whole } = kind;
        let fibers = fibers || self.facts.signature.only_fibers;
        // Races are found by the accesses themselves.
        let bounded = !checks.has(Checks::RACE);
        let bits = [fibers, clustered, bounded, registered && !fibers, whole && !fibers];
        let cell = &self.checked[bits.iter().fold(0, |all, bit| 2 * all + usize::from(*bit))];
        cell.get_or_try_init(|| {
            let (program, flavour) = (self.program()?, Flavour { exact: true, checked: true, clustered, bounded });
            let code = codegen::emit(&program, self.facts.function, flavour).map_err(|e| e.to_string())?;
            if !fibers {
                return Compiled::new(&code, registered, whole && !code.scheduled).map(Arc::new);
            }
            let (ir, plan) = codegen::emit_fiber(&program, &code, flavour).map_err(|e| e.to_string())?;
            Compiled::fiber(&ir, plan, &code, false).map(Arc::new)
        })
    }

    /// Returns `file:line` for a line of the PTX, if it is known.
    pub(crate) fn source(&self, line: u32) -> Option<String> {
        self.origin.made().ok()?.1.of(line)
    }

    /// Returns true if a launch may access registered memory: an address in it is a parameter, or may be loaded.
    fn may_access_registered(&self, params: &[u64]) -> bool {
        MEMORY.has_registrations() && (self.loads_addresses || params.iter().any(|word| MEMORY.near_registered(*word)))
    }

    /// Counts the kernel's final code for launches without clusters.
    fn counts(&self) -> Result<CodeCounts, String> {
        codegen::counts(&self.code(false)?.code)
    }

    /// Returns the text of a fault for the log.
    pub(crate) fn explain(&self, launch: &Launch, fault: &Fault) -> String {
        let found = match fault {
            Fault::Memory { .. } if launch.code.checked => check::found(),
            Fault::Memory { block, .. } => self.search(launch, *block),
            _ => None,
        };
        self.with_sources(|of| report::text(of, launch, fault, found))
    }

    /// Finds the illegal access of a block of a launch by running it again.
    pub(crate) fn search(&self, launch: &Launch, block: u64) -> Option<Found> {
        self.exact(launch.cluster.is_some()).and_then(|exact| launch.search(exact, block))
    }

    /// Returns the report of the breakpoints that a launch reached, if there were any.
    pub(crate) fn breakpoint_report(&self, launch: &Launch) -> Option<String> {
        let found = service::breakpoints(launch.grid_id)?;
        Some(self.with_sources(|of| report::breakpoints(of, launch, &found)))
    }

    /// Calls `report` with the kernel's name and source lines.
    fn with_sources<T>(&self, report: impl FnOnce((&str, &Sources)) -> T) -> T {
        match self.origin.made() {
            Ok((_, sources)) => report((&self.signature().name, sources)),
            // The text was loaded before, so it has no errors.
            Err(_) => report((&self.signature().name, &Sources::default())),
        }
    }

    /// Compiles code that asks the runtime about each access, for one search.
    fn exact(&self, clustered: bool) -> Option<Compiled> {
        let code = &self.code(false).ok()?.code;
        let flavour = Flavour { exact: true, clustered, ..Flavour::default() };
        let (ir, plan) = codegen::emit_fiber(&*self.program().ok()?, code, flavour).ok()?;
        let code = Compiled::fiber(&ir, plan, code, false);
        code.inspect_err(|why| tracing::error!("exact code: {why}")).ok()
    }
}

/// The properties of a module that a load needs.
#[derive(Debug)]
struct Facts {
    data: Area,
    managed: Area,
    globals: BTreeMap<String, Global>,
    loads_addresses: bool,
    /// In the order of the text.
    kernels: Vec<KernelFacts>,
}

#[derive(Debug)]
struct KernelFacts {
    signature: Signature,
    /// The index among the program's functions.
    function: usize,
    /// Bytes of local memory per thread, including the stack of calls.
    local_bytes: u64,
}

impl Facts {
    fn of(program: &Program) -> Facts {
        let layout = &program.layout;
        let global = |(name, &(offset, bytes)): (&String, &(u64, u64))| {
            let managed = matches!(layout.symbols.get(name), Some(Symbol::Managed(_)));
            (name.clone(), Global { offset, bytes, managed })
        };
        let entries = program.functions.iter().enumerate().filter(|(_, function)| function.kind == FunctionKind::Entry);
        let kernel = |(index, function): (usize, &Function)| KernelFacts {
            signature: function.signature.clone(),
            function: index,
            local_bytes: program.local_bytes(index),
        };
        Facts {
            data: layout.data.clone(),
            managed: layout.managed.clone(),
            globals: layout.globals.iter().map(global).collect(),
            loads_addresses: program.loads_addresses(),
            kernels: entries.map(kernel).collect(),
        }
    }
}

/// The part of a module that all loads of one text share.
pub(crate) struct Image {
    data: Area,
    managed: Area,
    globals: BTreeMap<String, Global>,
    pub(crate) kernels: HashMap<String, Arc<Kernel>>,
    /// Names in the order of the text.
    pub(crate) names: Vec<String>,
}

impl Image {
    fn new(text: &str) -> ptx::Result<Image> {
        let origin = Arc::new(Origin::new(text));
        if let Some(facts) = record::find(&origin) {
            return Ok(Image::of(facts, &origin));
        }
        let program = origin.program()?;
        codegen::check(&program)?;
        let facts = Facts::of(&program);
        record::keep(&origin, &facts);
        Ok(Image::of(facts, &origin))
    }

    fn of(facts: Facts, origin: &Arc<Origin>) -> Image {
        let Facts { data, managed, globals, loads_addresses, kernels } = facts;
        let names = kernels.iter().map(|kernel| kernel.signature.name.clone()).collect();
        let kernel = |facts: KernelFacts| {
            let kernel = Kernel {
                name: CString::new(facts.signature.name.as_str()).unwrap_or_default(),
                facts,
                loads_addresses,
                origin: Arc::clone(origin),
                codes: Default::default(),
                checked: Default::default(),
            };
            (kernel.facts.signature.name.clone(), Arc::new(kernel))
        };
        Image { data, managed, globals, kernels: kernels.into_iter().map(kernel).collect(), names }
    }

    /// Returns the offset and size of a managed variable.
    pub(crate) fn managed(&self, name: &str) -> Option<(u64, u64)> {
        self.globals.get(name).filter(|global| global.managed).map(|global| (global.offset, global.bytes))
    }
}

/// Images by text, the most recently loaded last.
type Cache = VecDeque<(Arc<str>, Arc<Image>)>;

static CACHE: Lazy<Mutex<Cache>> = Lazy::new(Mutex::default);
/// The limit on the number of cached images.
const MAX_CACHED: usize = 64;

/// Returns the image of a text, which is parsed and checked unless it is cached.
pub(crate) fn image(text: &str) -> ptx::Result<Arc<Image>> {
    {
        let mut cache = CACHE.lock();
        if let Some(at) = cache.iter().position(|(known, _)| **known == *text)
            && let Some(found) = cache.remove(at)
        {
            let image = Arc::clone(&found.1);
            cache.push_back(found);
            return Ok(image);
        }
    }
    let image = Arc::new(Image::new(text)?);
    let mut cache = CACHE.lock();
    if cache.len() >= MAX_CACHED {
        cache.pop_front();
    }
    cache.push_back((Arc::from(text), Arc::clone(&image)));
    Ok(image)
}

/// The memory of an area of variables, with their initial values.
pub(crate) struct Variables {
    base: u64,
    bytes: u64,
}

impl Variables {
    /// Allocates and initialises an area; `None` if there is no memory. `managed` is the address of the managed
    /// variables that initial values refer to.
    fn new(area: &Area, managed: u64) -> Option<Variables> {
        if area.bytes == 0 {
            return Some(Variables { base: 0, bytes: 0 });
        }
        let base = MEMORY.alloc(area.bytes, AllocationKind::Internal).ok()?;
        let mut bytes = area.image.clone();
        area.own.iter().for_each(|place| place.apply(&mut bytes, base));
        area.managed.iter().for_each(|place| place.apply(&mut bytes, managed));
        // SAFETY: the allocation is new and at least as long as the image, which is never longer than the area.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), base as *mut u8, bytes.len()) };
        Some(Variables { base, bytes: area.bytes })
    }

    /// Returns the managed variables of an image; `None` if there is no memory.
    pub(crate) fn managed(image: &Image) -> Option<Variables> {
        let variables = Variables::new(&image.managed, 0)?;
        variables.name(image, true);
        Some(variables)
    }

    /// Tells the checkers the variables' names.
    fn name(&self, image: &Image, managed: bool) {
        if check::events::enabled() {
            let own = image.globals.iter().filter(|(_, global)| global.managed == managed);
            check::events::variables(own.map(|(name, g)| (self.base + g.offset, name.clone(), g.bytes)));
        }
    }

    /// Returns the address; 0 if there are no variables.
    pub(crate) fn address(&self) -> u64 {
        self.base
    }
}

impl Drop for Variables {
    fn drop(&mut self) {
        if self.base != 0 {
            if check::events::enabled() {
                check::events::forget_variables(self.base..self.base + self.bytes);
            }
            // Allocated by `new` and freed only here; a reset of the context does not free internal memory.
            let _ = MEMORY.free(self.base, |kind| kind == AllocationKind::Internal);
        }
    }
}

/// A loaded module.
pub(crate) struct Module {
    pub(crate) image: Arc<Image>,
    data: Variables,
    /// The managed variables, which the modules of a library share.
    pub(crate) managed: Arc<Variables>,
}

impl Module {
    /// Allocates and initialises the variables; `None` if there is no memory.
    pub(crate) fn new(image: Arc<Image>) -> Option<Module> {
        let managed = Arc::new(Variables::managed(&image)?);
        Module::with(image, managed)
    }

    /// Creates a module that uses existing managed variables.
    pub(crate) fn with(image: Arc<Image>, managed: Arc<Variables>) -> Option<Module> {
        let data = Variables::new(&image.data, managed.address())?;
        data.name(&image, false);
        Some(Module { image, data, managed })
    }

    /// Returns the address of its variables; 0 if it has none.
    pub(crate) fn data(&self) -> u64 {
        self.data.address()
    }

    /// Returns the address and size of a variable.
    pub(crate) fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.image
            .managed(name)
            .map(|(offset, bytes)| (self.managed.address() + offset, bytes))
            .or_else(|| self.image.globals.get(name).map(|global| (self.data() + global.offset, global.bytes)))
    }
}

/// Compiles a kernel of a PTX module for this CPU and counts what its code is made of.
///
/// # Examples
///
/// ```
/// let ptx = ".version 7.8 .target sm_90 .address_size 64 .visible .entry k() { ret; }";
/// let counts = cuda_sim::code_counts(ptx, "k")?;
/// assert_eq!((counts.regions, counts.frame_bytes, counts.gathers), (1, 0, 0));
/// assert_eq!(cuda_sim::code_counts(ptx, "other").unwrap_err(), "the module has no kernel `other`");
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// A text that is not PTX, a module without a kernel of this name, or no LLVM.
pub fn code_counts(ptx: &str, kernel: &str) -> Result<CodeCounts, String> {
    let image = image(ptx).map_err(|error| error.to_string())?;
    let kernel = image.kernels.get(kernel).ok_or_else(|| format!("the module has no kernel `{kernel}`"))?;
    kernel.counts()
}

/// Compiles all of a text's kernels, every region, for both engines.
///
/// # Errors
///
/// The error in the text.
///
/// # Panics
///
/// If LLVM rejects the generated code.
#[cfg(fuzzing)]
pub fn compile(text: &str) -> ptx::Result<()> {
    let image = Image::new(text)?;
    for kernel in image.kernels.values() {
        let plain = [kernel.compiled(&[], [1; 3], false), kernel.compiled(&[], [WHOLE; 3], false)];
        let others = [kernel.fibers(&[], false), kernel.compiled(&[], [1; 3], true), kernel.fibers(&[], true)];
        for code in plain.into_iter().chain(others) {
            code.and_then(|code| code.complete()).unwrap_or_else(|why| panic!("{why}"));
        }
    }
    Ok(())
}
