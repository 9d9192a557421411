//! A loaded module: checked code, shared by all loads of the same text, and this load's own variables.
//!
//! # Safety
//!
//! The one `unsafe` copies initial values into memory that was just allocated for them.

use crate::codegen::jit::Compiled;
use crate::codegen::object::WHOLE;
use crate::codegen::{self, Flavour, KernelCode};
use crate::environment::ENVIRONMENT;
use crate::exec::launch::{Fault, Launch};
use crate::exec::report;
use crate::ir::layout::Area;
use crate::ir::lower::{Program, lower};
use crate::ir::{Function, Symbol};
use crate::link::with_library;
use crate::memory::{Kind, MEMORY};
use crate::ptx;
use crate::service;
use crate::source::Sources;
use once_cell::sync::{Lazy, OnceCell};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::ffi::CString;
use std::sync::Arc;

/// A kernel, compiled when it is first needed.
pub(crate) struct Kernel {
    pub(crate) name: CString,
    program: Arc<Program>,
    sources: Arc<Sources>,
    plain: Code,
    /// For launches in clusters, whose code differs: an address in shared memory tells of which block.
    clustered: OnceCell<Code>,
}

/// A kernel's code for one kind of launch.
struct Code {
    code: KernelCode,
    /// For blocks of any rows, and of rows that are whole vectors.
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
    pub(crate) fn function(&self) -> &Function {
        &self.program.functions[self.plain.code.function]
    }

    pub(crate) fn local_bytes(&self) -> u64 {
        self.plain.code.shape.local_bytes
    }

    fn code(&self, clustered: bool) -> Result<&Code, String> {
        if !clustered {
            return Ok(&self.plain);
        }
        self.clustered.get_or_try_init(|| {
            let code = codegen::emit_clustered(&self.program, self.plain.code.function);
            code.map(Code::new).map_err(|e| e.to_string())
        })
    }

    /// The machine code for blocks of this size, in clusters or not, compiled by the first caller while others wait.
    pub(crate) fn compiled(&self, params: &[u64], block: [u32; 3], clustered: bool) -> Result<&Arc<Compiled>, String> {
        if ENVIRONMENT.fibers || self.function().only_fibers {
            return self.fibers(params, clustered);
        }
        let code = self.code(clustered)?;
        let registered = self.meets_registered(params);
        // What is scheduled runs parts of rows.
        let whole = !code.code.scheduled && block[0].is_multiple_of(WHOLE);
        let cell = &code.compiled[usize::from(whole)][usize::from(registered)];
        cell.get_or_try_init(|| Compiled::new(&code.code, registered, whole).map(Arc::new))
    }

    /// The machine code of threads that are fibers.
    pub(crate) fn fibers(&self, params: &[u64], clustered: bool) -> Result<&Arc<Compiled>, String> {
        let code = self.code(clustered)?;
        let registered = self.meets_registered(params);
        code.fibers[usize::from(registered)].get_or_try_init(|| {
            let flavour = Flavour { exact: false, clustered };
            let (ir, plan) = codegen::emit_fiber(&self.program, &code.code, flavour).map_err(|e| e.to_string())?;
            Compiled::fiber(&ir, plan, &code.code, registered).map(Arc::new)
        })
    }

    /// Whether a launch may access registered memory: its address is a parameter, or is loaded.
    fn meets_registered(&self, params: &[u64]) -> bool {
        MEMORY.has_registrations()
            && (self.program.loads_addresses() || params.iter().any(|word| MEMORY.near_registered(*word)))
    }

    /// What is known of a fault: its text for the log.
    pub(crate) fn explain(&self, launch: &Launch, fault: &Fault) -> String {
        let found = match fault {
            Fault::Memory { block, .. } => {
                self.exact(launch.cluster.is_some()).and_then(|exact| launch.search(exact, *block))
            }
            _ => None,
        };
        report::text((&self.function().name, &self.sources), launch, fault, found)
    }

    /// What is said of the breakpoints that a launch came to, if it came to any.
    pub(crate) fn told_of_breakpoints(&self, launch: &Launch) -> Option<String> {
        let found = service::breakpoints(launch.grid_id)?;
        Some(report::breakpoints((&self.function().name, &self.sources), launch, &found))
    }

    /// Code that asks the runtime about each access, compiled for one search.
    fn exact(&self, clustered: bool) -> Option<Compiled> {
        let code = &self.plain.code;
        let flavour = Flavour { exact: true, clustered };
        let (ir, plan) = codegen::emit_fiber(&self.program, code, flavour).ok()?;
        let code = Compiled::fiber(&ir, plan, code, false);
        code.inspect_err(|why| tracing::error!("exact code: {why}")).ok()
    }
}

/// What all loads of one text share.
pub(crate) struct Image {
    program: Arc<Program>,
    pub(crate) kernels: HashMap<String, Arc<Kernel>>,
    /// Names in the order of the text.
    pub(crate) names: Vec<String>,
}

impl Image {
    fn new(text: &str) -> ptx::Result<Image> {
        let module = ptx::parse(text)?;
        let sources = Arc::new(Sources::new(&module));
        let program = Arc::new(lower(&with_library(module))?);
        let codes = codegen::emit(&program)?;
        let names: Vec<String> = codes.iter().map(|c| program.functions[c.function].name.clone()).collect();
        let mut kernels = HashMap::new();
        for (code, name) in codes.into_iter().zip(&names) {
            let c_name = CString::new(name.as_str()).unwrap_or_default();
            let kernel = Kernel {
                name: c_name,
                program: Arc::clone(&program),
                sources: Arc::clone(&sources),
                plain: Code::new(code),
                clustered: OnceCell::new(),
            };
            kernels.insert(name.clone(), Arc::new(kernel));
        }
        Ok(Image { program, kernels, names })
    }
}

impl Image {
    /// Offset and size of a variable that has `.attribute(.managed)`.
    pub(crate) fn managed(&self, name: &str) -> Option<(u64, u64)> {
        let layout = &self.program.layout;
        layout.globals.get(name).copied().filter(|_| matches!(layout.symbols.get(name), Some(Symbol::Managed(_))))
    }
}

/// Images by their text, most recently loaded last.
type Cache = VecDeque<(Arc<str>, Arc<Image>)>;

static CACHE: Lazy<Mutex<Cache>> = Lazy::new(Mutex::default);
/// How many texts are remembered.
const CACHED: usize = 64;

/// The image of a text: parsed and checked once for as long as it is remembered.
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
    if cache.len() >= CACHED {
        cache.pop_front();
    }
    cache.push_back((Arc::from(text), Arc::clone(&image)));
    Ok(image)
}

/// Memory of an area of variables, with their initial values.
pub(crate) struct Variables(u64);

impl Variables {
    /// `None` where there is no memory. `managed` is where the managed variables are that initial values name.
    fn new(area: &Area, managed: u64) -> Option<Variables> {
        if area.bytes == 0 {
            return Some(Variables(0));
        }
        let base = MEMORY.alloc(area.bytes, Kind::Internal).ok()?;
        let mut bytes = area.image.clone();
        let places = area.own.iter().map(|at| (at, base)).chain(area.managed.iter().map(|at| (at, managed)));
        for (at, address) in places {
            let field = &mut bytes[*at as usize..*at as usize + 8];
            let mut value = [0; 8];
            value.copy_from_slice(field);
            field.copy_from_slice(&u64::from_le_bytes(value).wrapping_add(address).to_le_bytes());
        }
        // SAFETY: the allocation is new and at least as long as the image, which is never longer than the area.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), base as *mut u8, bytes.len()) };
        Some(Variables(base))
    }

    /// The managed variables of an image; `None` where there is no memory.
    pub(crate) fn managed(image: &Image) -> Option<Variables> {
        Variables::new(&image.program.layout.managed, 0)
    }

    /// 0 where there are none.
    pub(crate) fn address(&self) -> u64 {
        self.0
    }
}

impl Drop for Variables {
    fn drop(&mut self) {
        if self.0 != 0 {
            // Allocated by `new` and freed here alone; a reset of the context leaves internal memory alone.
            let _ = MEMORY.free(self.0, |kind| kind == Kind::Internal);
        }
    }
}

/// A loaded module.
pub(crate) struct Module {
    pub(crate) image: Arc<Image>,
    data: Variables,
    /// Those that it has in common with other modules of its library.
    pub(crate) managed: Arc<Variables>,
}

impl Module {
    /// Gives the variables memory and their initial values; `None` where there is no memory.
    pub(crate) fn new(image: Arc<Image>) -> Option<Module> {
        let managed = Arc::new(Variables::managed(&image)?);
        Module::with(image, managed)
    }

    /// A module with managed variables that are there.
    pub(crate) fn with(image: Arc<Image>, managed: Arc<Variables>) -> Option<Module> {
        let data = Variables::new(&image.program.layout.data, managed.address())?;
        Some(Module { image, data, managed })
    }

    /// Address of its variables; 0 where it has none.
    pub(crate) fn data(&self) -> u64 {
        self.data.address()
    }

    /// Address and size of a variable.
    pub(crate) fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.image.managed(name).map(|(offset, bytes)| (self.managed.address() + offset, bytes)).or_else(|| {
            self.image.program.layout.globals.get(name).map(|(offset, bytes)| (self.data() + offset, *bytes))
        })
    }
}

/// Compiles all of a text's kernels, every region, for both engines.
///
/// # Errors
///
/// What is wrong with the text.
///
/// # Panics
///
/// If LLVM refuses what the code generator wrote.
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
