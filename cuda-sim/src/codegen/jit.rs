//! LLVM IR text to machine code in this process.
//!
//! Each kernel is parsed, optimised and compiled to an object in a context of its own, and linked by one process-wide
//! LLJIT. Code lives as long as its [`Compiled`], so that a process which loads new texts for ever does not grow.
//!
//! # Safety
//!
//! The ORC functions are used as their C headers say: handles that a call consumes are not used again, errors are
//! turned into messages (which consumes them), and the JIT lives in a static. An address is valid as long as the
//! [`Code`] that it came with: a [`Compiled`] owns the code of every address that it gives, and a launch holds it.

use super::abi::{BlocksFn, RangeFn, RegionFn};
use super::{Effort, KernelCode, Part, guard, math};
use crate::environment::ENVIRONMENT;
use crate::exec::pool::POOL;
use crate::ir::sync::Plan;
use crate::memory::MEMORY;
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::memory_buffer::MemoryBuffer;
use cuda_llvm::inkwell::module::Module;
use cuda_llvm::inkwell::passes::PassBuilderOptions;
use cuda_llvm::inkwell::targets::{CodeModel, FileType, RelocMode, Target, TargetMachine};
use cuda_llvm::inkwell::values::{BasicValue, InstructionOpcode, InstructionValue};
use cuda_llvm::inkwell::{AtomicOrdering, OptimizationLevel};
use cuda_llvm::llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use cuda_llvm::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use cuda_llvm::llvm_sys::orc2::lljit::{
    LLVMOrcCreateLLJIT, LLVMOrcLLJITAddObjectFileWithRT, LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup,
    LLVMOrcLLJITMangleAndIntern, LLVMOrcLLJITRef,
};
use cuda_llvm::llvm_sys::orc2::{
    LLVMJITEvaluatedSymbol, LLVMJITSymbolFlags, LLVMOrcAbsoluteSymbols, LLVMOrcCSymbolMapPair,
    LLVMOrcJITDylibCreateResourceTracker, LLVMOrcJITDylibDefine, LLVMOrcReleaseResourceTracker,
    LLVMOrcResourceTrackerRef, LLVMOrcResourceTrackerRemove,
};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A kernel as machine code.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) entry: Entry,
    /// Keeps the code of `entry`, where that is a function.
    _first: Option<Arc<Code>>,
    regions: Vec<Later>,
    /// Each region's loop in step, and that without guesses.
    strips: Vec<[Option<Later>; 2]>,
    plan: Arc<Plan>,
}

/// How a module is compiled.
#[derive(Clone, Copy, Debug)]
struct Mode {
    effort: Effort,
    /// Whether accesses to registered host memory are possible.
    registered: bool,
    /// Whether a block may run it more than once.
    repeats: bool,
}

/// Code that is compiled when it is needed first.
#[derive(Debug)]
struct Later {
    part: Part,
    mode: Mode,
    code: OnceCell<Code>,
}

impl Later {
    fn new(part: &Part, mode: Mode) -> Later {
        Later { part: part.clone(), mode: Mode { repeats: part.repeats, ..mode }, code: OnceCell::new() }
    }

    /// Compiled by the first caller while others wait.
    fn address(&self) -> Result<usize, String> {
        self.code.get_or_try_init(|| link(&self.part.ir, self.mode)).map(|code| code.address)
    }
}

/// Machine code of one module, which goes when this does.
#[derive(Debug)]
struct Code {
    address: usize,
    tracker: LLVMOrcResourceTrackerRef,
}

// SAFETY: the tracker is touched by `drop` alone, under the lock of the JIT.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        let Some(jit) = JIT.get() else { return };
        let _exclusive = jit.lock();
        // SAFETY: the tracker is live, and nothing runs or finds the code any more: its owner goes.
        if let Err(why) = check(unsafe { LLVMOrcResourceTrackerRemove(self.tracker) }) {
            tracing::warn!("machine code could not be removed: {why}");
        }
        // SAFETY: the one reference that `add` was given, not used again.
        unsafe { LLVMOrcReleaseResourceTracker(self.tracker) };
    }
}

/// The address that the entry of a loop in step tells.
fn told(entry: usize) -> usize {
    // SAFETY: the symbol is what the code generator defines for such a module: it tells where the address stands.
    let table = unsafe { std::mem::transmute::<usize, extern "C" fn() -> *const usize>(entry) }();
    // SAFETY: the word is part of the code, which callers hold.
    unsafe { table.read() }
}

/// How a kernel is begun.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// A loop over blocks.
    Blocks(BlocksFn),
    /// Regions that a scheduler runs.
    Regions,
    /// A function of one thread that runs as a fiber; schedules are random with a seed.
    Fiber { function: usize, seed: Option<u64> },
}

struct Jit {
    jit: LLVMOrcLLJITRef,
    /// How many kernels were added: the prefix of the next one's symbols.
    count: u64,
}

// SAFETY: LLJIT may be used from any thread; the mutex around it makes its use exclusive as well.
unsafe impl Send for Jit {}

static JIT: OnceCell<Mutex<Jit>> = OnceCell::new();

/// Turns an LLVM error into its text.
fn check(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: `error` is an error that was not consumed yet; this consumes it and gives a string that is ours.
    let message = unsafe { LLVMGetErrorMessage(error) };
    // SAFETY: LLVM gives a NUL-terminated string that lives until it is disposed of.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    // SAFETY: `message` came from LLVMGetErrorMessage and is not used afterwards.
    unsafe { LLVMDisposeErrorMessage(message) };
    Err(text)
}

impl Jit {
    /// An LLJIT with the helpers defined in its main library.
    fn new() -> Result<Jit, String> {
        let mut jit = std::ptr::null_mut();
        // SAFETY: a null builder asks for the defaults, for this process's target, which is initialised.
        check(unsafe { LLVMOrcCreateLLJIT(&mut jit, std::ptr::null_mut()) })?;
        let mut pairs = Vec::new();
        for (name, address) in math::symbols() {
            let name = CString::new(name).map_err(|e| e.to_string())?;
            // SAFETY: `jit` is live; the string is copied. The reference count goes to the pair below.
            let symbol = unsafe { LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr()) };
            // Flags 1 and 4 are "exported" and "callable".
            let flags = LLVMJITSymbolFlags { GenericFlags: 5, TargetFlags: 0 };
            let evaluated = LLVMJITEvaluatedSymbol { Address: address as u64, Flags: flags };
            pairs.push(LLVMOrcCSymbolMapPair { Name: symbol, Sym: evaluated });
        }
        // SAFETY: the pairs are copied, and the references of their names are taken over.
        let unit = unsafe { LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len()) };
        // SAFETY: `jit` is a live LLJIT.
        let library = unsafe { LLVMOrcLLJITGetMainJITDylib(jit) };
        // SAFETY: library and unit are live; the library takes the unit over.
        check(unsafe { LLVMOrcJITDylibDefine(library, unit) })?;
        Ok(Jit { jit, count: 0 })
    }

    /// Adds an object file's bytes, and gives what they can be removed by.
    fn add(&mut self, object: &[u8]) -> Result<LLVMOrcResourceTrackerRef, String> {
        let name = c"kernel".as_ptr();
        // SAFETY: the range is valid for its length and is copied.
        let buffer = unsafe { LLVMCreateMemoryBufferWithMemoryRangeCopy(object.as_ptr().cast(), object.len(), name) };
        // SAFETY: `self.jit` is a live LLJIT.
        let library = unsafe { LLVMOrcLLJITGetMainJITDylib(self.jit) };
        // SAFETY: the library is live.
        let tracker = unsafe { LLVMOrcJITDylibCreateResourceTracker(library) };
        // SAFETY: JIT and tracker are live; the buffer is taken over.
        check(unsafe { LLVMOrcLLJITAddObjectFileWithRT(self.jit, tracker, buffer) })?;
        Ok(tracker)
    }

    fn lookup(&self, name: &str) -> Result<usize, String> {
        let name = CString::new(name).map_err(|e| e.to_string())?;
        let mut address = 0;
        // SAFETY: `self.jit` is live, `address` is a live local, and the name is NUL-terminated.
        check(unsafe { LLVMOrcLLJITLookup(self.jit, &mut address, name.as_ptr()) })?;
        Ok(address as usize)
    }
}

/// The machine that code is generated for: this one.
fn machine(effort: Effort) -> Result<TargetMachine, String> {
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).map_err(|e| e.to_string())?;
    let (cpu, features) = (TargetMachine::get_host_cpu_name(), TargetMachine::get_host_cpu_features());
    target
        .create_target_machine(
            &triple,
            &cpu.to_string_lossy(),
            &features.to_string_lossy(),
            if effort == Effort::Full { OptimizationLevel::Less } else { OptimizationLevel::None },
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| "LLVM cannot generate code for this machine".to_owned())
}

/// What comes before the checks of addresses are put in: registers become values.
const VALUES: &str = "globaldce,cgscc(inline),function(sroa<modify-cfg>,early-cse<memssa>,\
    simplifycfg<hoist-common-insts;speculate-blocks>,instcombine<no-verify-fixpoint>)";

/// What makes thread loops fast, and no more: `default<O2>` takes twice as long for the same code.
const LOOPS: &str =
    "function(early-cse,reassociate,loop-mssa(loop-rotate,licm<allowspeculation>,simple-loop-unswitch))";

/// What follows for code that a block runs again and again, such as a loop around a barrier: a loop over threads for each
/// way that a branch goes which is the same for all of them. Elsewhere it is not worth its code.
const UNSWITCH: &str = "function(loop-mssa(simple-loop-unswitch<nontrivial;trivial>))";

/// What follows in any case.
const PIPELINE: &str = "function(simplifycfg,instcombine<no-verify-fixpoint>,\
    loop(indvars,loop-deletion),gvn,sccp,instcombine<no-verify-fixpoint>,adce,\
    loop-mssa(licm<allowspeculation>),simplifycfg)";

/// What makes loops over threads vectors, when stores are marked ([`group`]).
const VECTORS: &str = "function(loop-vectorize<interleave-forced-only;no-vectorize-forced-only>,\
    instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm<allowspeculation>),early-cse,sink),globaldce";

/// What turns loops of constant length over the threads of a strip into vectors, after the above.
const STRIPS: &str = "function(loop(loop-unroll-full),sroa<modify-cfg>,instcombine<no-verify-fixpoint>,simplifycfg,\
    gvn,loop-mssa(licm<allowspeculation>),instcombine<no-verify-fixpoint>,simplifycfg,sink),globaldce";

/// Marks the stores again that threads may do in any order: where LLVM merges two of them, it forgets the mark, and with
/// one store that has none it compares the addresses of all before it runs the threads of a loop as vectors.
///
/// Plain stores go without a mark only to variables of the function's own, on its stack or in a thread's local memory:
/// a pointer that derives from one that was loaded is not to the former, and the latter is no other thread's.
fn group(context: &Context, module: &Module<'_>) -> Result<(), String> {
    let kind = context.get_kind_id("llvm.access.group");
    let insts = || module.get_functions().flat_map(|f| f.get_basic_block_iter()).flat_map(|b| b.get_instructions());
    let Some(group) = insts().find_map(|inst| inst.get_metadata(kind)) else { return Ok(()) };
    let plain = |inst: &InstructionValue<'_>| {
        let ordering = inst.get_atomic_ordering().unwrap_or(AtomicOrdering::NotAtomic);
        ordering == AtomicOrdering::NotAtomic && inst.get_volatile() == Ok(false)
    };
    let behind_loaded = |inst: &InstructionValue<'_>| {
        let mut pointer = inst.get_operand(1)?.value()?.as_instruction_value()?;
        while pointer.get_opcode() == InstructionOpcode::GetElementPtr {
            pointer = pointer.get_operand(0)?.value()?.as_instruction_value()?;
        }
        Some(pointer.get_opcode() == InstructionOpcode::Load)
    };
    let stores = insts().filter(|inst| inst.get_opcode() == InstructionOpcode::Store);
    for store in stores.filter(|inst| inst.get_metadata(kind).is_none() && plain(inst)) {
        if behind_loaded(&store) == Some(true) {
            store.set_metadata(group, kind).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// Optimises and compiles a module's text to an object file's bytes.
fn object(ir: &str, symbol: &str, mode: Mode) -> Result<Vec<u8>, String> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(ir.as_bytes(), "kernel");
    let module = context.create_module_from_ir(buffer).map_err(|e| format!("{e}\n{ir}"))?;
    let function = module.get_function("kernel").ok_or("the kernel was not emitted")?;
    function.as_global_value().set_name(symbol);
    let machine = machine(mode.effort)?;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module.run_passes(VALUES, &machine, PassBuilderOptions::create()).map_err(|e| e.to_string())?;
    guard::rewrite(&context, &module, MEMORY.guards(), mode.registered)?;
    if mode.effort == Effort::Full {
        module.run_passes(LOOPS, &machine, PassBuilderOptions::create()).map_err(|e| e.to_string())?;
        if mode.repeats {
            module.run_passes(UNSWITCH, &machine, PassBuilderOptions::create()).map_err(|e| e.to_string())?;
        }
        module.run_passes(PIPELINE, &machine, PassBuilderOptions::create()).map_err(|e| e.to_string())?;
        group(&context, &module)?;
        module.run_passes(VECTORS, &machine, PassBuilderOptions::create()).map_err(|e| e.to_string())?;
    }
    if mode.effort == Effort::Full && ir.contains("@strip") {
        module.run_passes(STRIPS, &machine, PassBuilderOptions::create()).map_err(|e| e.to_string())?;
    }
    if ENVIRONMENT.print_llvm {
        eprintln!("{}", module.print_to_string().to_string_lossy());
    }
    let object = machine.write_to_memory_buffer(&module, FileType::Object).map_err(|e| e.to_string())?;
    Ok(object.as_slice().to_vec())
}

/// Compiles and links one module.
fn link(ir: &str, mode: Mode) -> Result<Code, String> {
    let jit = JIT.get_or_try_init(|| {
        cuda_llvm::initialize();
        Jit::new().map(Mutex::new)
    })?;
    let symbol = {
        let mut jit = jit.lock();
        jit.count += 1;
        // All code shares one library, so symbols carry a number.
        format!("k{}", jit.count)
    };
    // Compiling needs no lock, linking does.
    let object = object(ir, &symbol, mode)?;
    let mut jit = jit.lock();
    let tracker = jit.add(&object)?;
    Ok(Code { address: jit.lookup(&symbol)?, tracker })
}

impl Compiled {
    /// Compiles what a kernel begins with; the rest follows when a thread needs it.
    ///
    /// # Errors
    ///
    /// LLVM's message, with the text that it refused; that is a defect of the code generator.
    pub(crate) fn new(code: &KernelCode, registered: bool) -> Result<Compiled, String> {
        let mode = Mode { effort: code.effort, registered, repeats: false };
        let later = |part: &Part| Later::new(part, mode);
        let mut this = Compiled {
            entry: Entry::Regions,
            _first: None,
            regions: code.regions.iter().map(later).collect(),
            strips: code.strips.iter().map(|both| both.each_ref().map(|part| part.as_ref().map(later))).collect(),
            plan: Arc::clone(&code.plan),
        };
        let first = this.regions[0].address()?;
        if !code.scheduled {
            // SAFETY: the symbol is region 0, which the code generator defines with exactly this signature.
            this.entry = Entry::Blocks(unsafe { std::mem::transmute::<usize, BlocksFn>(first) });
        }
        Ok(this)
    }

    /// The address of something's code. A thread that goes on to a hot part will come to the others: they are compiled
    /// with it, on as many threads as the pool has.
    fn address(&self, later: &Later) -> Result<usize, String> {
        if later.part.hot && later.code.get().is_none() {
            let strips = self.strips.iter().flatten().flatten();
            let open = self.regions.iter().chain(strips).filter(|other| other.part.hot && other.code.get().is_none());
            together(&open.collect::<Vec<_>>());
        }
        later.address()
    }

    /// Compiles the fiber of a kernel's thread.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn fiber(ir: &str, plan: Plan, effort: Effort, registered: bool) -> Result<Compiled, String> {
        let first = Arc::new(link(ir, Mode { effort, registered, repeats: false })?);
        let entry = Entry::Fiber { function: first.address, seed: None };
        Ok(Compiled { entry, _first: Some(first), regions: Vec::new(), strips: Vec::new(), plan: Arc::new(plan) })
    }

    /// The same code with another seed for its schedules.
    #[cfg(test)]
    pub(crate) fn seeded(&self, seed: Option<u64>) -> Compiled {
        let Entry::Fiber { function, .. } = self.entry else { panic!("only fibers have schedules") };
        let entry = Entry::Fiber { function, seed };
        let (first, plan) = (self._first.clone(), Arc::clone(&self.plan));
        Compiled { entry, _first: first, regions: Vec::new(), strips: Vec::new(), plan }
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The code of a region that is scheduled, compiled by the first caller while others wait.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn range(&self, region: usize) -> Result<RangeFn, String> {
        let address = self.address(&self.regions[region])?;
        // SAFETY: the address is that of a scheduled region, which the code generator defines with this signature.
        Ok(unsafe { std::mem::transmute::<usize, RangeFn>(address) })
    }

    /// The code that runs a strip of threads through the loop that a region begins with, if they may do it in step;
    /// `careful` is the one without guesses, where that is another.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn strip(&self, region: usize, careful: bool) -> Result<Option<RangeFn>, String> {
        let Some(later) = &self.strips[region][usize::from(careful)] else { return Ok(None) };
        let address = told(self.address(later)?);
        // SAFETY: the address is that of a strip, which the code generator defines with this signature.
        Ok(Some(unsafe { std::mem::transmute::<usize, RangeFn>(address) }))
    }

    /// The code of region 1 and up where they are not scheduled, compiled by the first caller while others wait.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn region(&self, region: usize) -> Result<RegionFn, String> {
        let address = self.regions[region].address()?;
        // SAFETY: the symbol is a cold region, which the code generator defines with exactly this signature.
        Ok(unsafe { std::mem::transmute::<usize, RegionFn>(address) })
    }

    /// Compiles every region now.
    #[cfg(fuzzing)]
    pub(crate) fn complete(&self) -> Result<(), String> {
        self.regions.iter().chain(self.strips.iter().flatten().flatten()).try_for_each(|part| part.address().map(drop))
    }
}

/// Stack of a thread that compiles.
const STACK: usize = 16 << 20;

/// Compiles parts on several threads. What fails says so when it is asked for its address.
fn together(parts: &[&Later]) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let _ = part.address();
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..POOL.workers().min(parts.len()) {
            // Where the system gives no thread, the others do its part.
            let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
        work();
    });
}
