//! LLVM IR text to machine code in this process.
//!
//! Each kernel is parsed, optimised and compiled to an object in a context of its own, and linked by one process-wide
//! LLJIT into a library of its own. Code stays for the life of the process: kernels are few, and cached by content.
//!
//! # Safety
//!
//! The ORC functions are used as their C headers say: handles that a call consumes are not used again, errors are
//! turned into messages (which consumes them), and the JIT lives in a static, so no address it gives goes stale.

use super::abi::{BlocksFn, RangeFn, RegionFn};
use super::{KernelCode, math};
use crate::environment::ENVIRONMENT;
use crate::ir::sync::Plan;
use cuda_llvm::inkwell::OptimizationLevel;
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::memory_buffer::MemoryBuffer;
use cuda_llvm::inkwell::passes::PassBuilderOptions;
use cuda_llvm::inkwell::targets::{CodeModel, FileType, RelocMode, Target, TargetMachine};
use cuda_llvm::llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use cuda_llvm::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use cuda_llvm::llvm_sys::orc2::lljit::{
    LLVMOrcCreateLLJIT, LLVMOrcLLJITAddObjectFile, LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup,
    LLVMOrcLLJITMangleAndIntern, LLVMOrcLLJITRef,
};
use cuda_llvm::llvm_sys::orc2::{
    LLVMJITEvaluatedSymbol, LLVMJITSymbolFlags, LLVMOrcAbsoluteSymbols, LLVMOrcCSymbolMapPair, LLVMOrcJITDylibDefine,
};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::ffi::{CStr, CString};
use std::sync::Arc;

/// A kernel as machine code.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) entry: Entry,
    /// Regions 1 and up: text, and address once compiled.
    others: Vec<(String, OnceCell<usize>)>,
    plan: Arc<Plan>,
}

/// How a kernel is begun.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// A loop over blocks.
    Blocks(BlocksFn),
    /// Regions that a scheduler runs: their addresses, 0 for those that are compiled when a thread needs them; then for
    /// each region the address of its loop in step, or 0.
    Regions(Vec<usize>),
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

    fn add(&mut self, object: &[u8]) -> Result<(), String> {
        let name = c"kernel".as_ptr();
        // SAFETY: the range is valid for its length and is copied.
        let buffer = unsafe { LLVMCreateMemoryBufferWithMemoryRangeCopy(object.as_ptr().cast(), object.len(), name) };
        // SAFETY: `self.jit` is a live LLJIT.
        let library = unsafe { LLVMOrcLLJITGetMainJITDylib(self.jit) };
        // SAFETY: JIT and library are live; the buffer is taken over.
        check(unsafe { LLVMOrcLLJITAddObjectFile(self.jit, library, buffer) })
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
fn machine() -> Result<TargetMachine, String> {
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).map_err(|e| e.to_string())?;
    let (cpu, features) = (TargetMachine::get_host_cpu_name(), TargetMachine::get_host_cpu_features());
    target
        .create_target_machine(
            &triple,
            &cpu.to_string_lossy(),
            &features.to_string_lossy(),
            OptimizationLevel::Less,
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| "LLVM cannot generate code for this machine".to_owned())
}

/// What makes thread loops fast, and no more: `default<O2>` takes twice as long for the same code.
const PIPELINE: &str = "globaldce,cgscc(inline),function(sroa<modify-cfg>,early-cse<memssa>,\
    simplifycfg<hoist-common-insts;speculate-blocks>,instcombine<no-verify-fixpoint>,reassociate,\
    loop-mssa(loop-rotate,licm<allowspeculation>,simple-loop-unswitch),simplifycfg,instcombine<no-verify-fixpoint>,\
    loop(indvars,loop-deletion),gvn,sccp,instcombine<no-verify-fixpoint>,adce,\
    loop-mssa(licm<allowspeculation>),simplifycfg,loop-vectorize<interleave-forced-only;no-vectorize-forced-only>,\
    instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm<allowspeculation>),early-cse,sink),globaldce";

/// What turns loops of constant length over the threads of a strip into vectors, after the above.
const STRIPS: &str = "function(loop(loop-unroll-full),sroa<modify-cfg>,instcombine<no-verify-fixpoint>,simplifycfg,\
    gvn,loop-mssa(licm<allowspeculation>),instcombine<no-verify-fixpoint>,simplifycfg,sink),globaldce";

/// Optimises and compiles a module's text to an object file's bytes.
fn object(ir: &str, symbol: &str) -> Result<Vec<u8>, String> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(ir.as_bytes(), "kernel");
    let module = context.create_module_from_ir(buffer).map_err(|e| format!("{e}\n{ir}"))?;
    let function = module.get_function("kernel").ok_or("the kernel was not emitted")?;
    function.as_global_value().set_name(symbol);
    let machine = machine()?;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module.run_passes(PIPELINE, &machine, PassBuilderOptions::create()).map_err(|e| e.to_string())?;
    if ir.contains("@strip") {
        module.run_passes(STRIPS, &machine, PassBuilderOptions::create()).map_err(|e| e.to_string())?;
    }
    if ENVIRONMENT.print_llvm {
        eprintln!("{}", module.print_to_string().to_string_lossy());
    }
    let object = machine.write_to_memory_buffer(&module, FileType::Object).map_err(|e| e.to_string())?;
    Ok(object.as_slice().to_vec())
}

/// Compiles and links one module, and gives the address of its function.
fn link(ir: &str) -> Result<usize, String> {
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
    let object = object(ir, &symbol)?;
    let mut jit = jit.lock();
    jit.add(&object)?;
    jit.lookup(&symbol)
}

impl Compiled {
    /// Compiles a kernel's first module; the others follow when a thread needs them.
    ///
    /// # Errors
    ///
    /// LLVM's message, with the text that it refused; that is a defect of the code generator.
    pub(crate) fn new(code: &KernelCode) -> Result<Compiled, String> {
        let address = link(&code.regions[0])?;
        let entry = if code.scheduled {
            // SAFETY: the symbol is what the code generator defines where regions are scheduled: it tells the table.
            let table = unsafe { std::mem::transmute::<usize, extern "C" fn() -> *const usize>(address) }();
            // SAFETY: the table has two addresses for each region and lives as long as the code, that is for ever.
            Entry::Regions(unsafe { std::slice::from_raw_parts(table, 2 * code.regions.len()) }.to_vec())
        } else {
            // SAFETY: the symbol is region 0, which the code generator defines with exactly this signature.
            Entry::Blocks(unsafe { std::mem::transmute::<usize, BlocksFn>(address) })
        };
        let others = code.regions[1..].iter().map(|ir| (ir.clone(), OnceCell::new())).collect();
        Ok(Compiled { entry, others, plan: Arc::clone(&code.plan) })
    }

    /// Compiles the fiber of a kernel's thread.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn fiber(code: &KernelCode, ir: &str, seed: Option<u64>) -> Result<Compiled, String> {
        let entry = Entry::Fiber { function: link(ir)?, seed };
        Ok(Compiled { entry, others: Vec::new(), plan: Arc::clone(&code.plan) })
    }

    /// The same code with another seed for its schedules.
    #[cfg(test)]
    pub(crate) fn seeded(&self, seed: Option<u64>) -> Compiled {
        let Entry::Fiber { function, .. } = self.entry else { panic!("only fibers have schedules") };
        Compiled { entry: Entry::Fiber { function, seed }, others: Vec::new(), plan: Arc::clone(&self.plan) }
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The code of a region that is scheduled; cold ones are compiled by the first caller while others wait.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn range(&self, region: usize) -> Result<RangeFn, String> {
        let address = match &self.entry {
            Entry::Regions(table) if table[region] != 0 => table[region],
            _ => *self.others[region - 1].1.get_or_try_init(|| link(&self.others[region - 1].0))?,
        };
        // SAFETY: the address is that of a scheduled region, which the code generator defines with this signature.
        Ok(unsafe { std::mem::transmute::<usize, RangeFn>(address) })
    }

    /// The code that runs a strip of threads through the loop that a region begins with, if they may do it in step.
    pub(crate) fn strip(&self, region: usize) -> Option<RangeFn> {
        let Entry::Regions(table) = &self.entry else { return None };
        let address = table[table.len() / 2 + region];
        // SAFETY: the address is that of a strip, which the code generator defines with this signature.
        (address != 0).then(|| unsafe { std::mem::transmute::<usize, RangeFn>(address) })
    }

    /// The code of region 1 and up, compiled by the first caller while others wait.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn region(&self, region: usize) -> Result<RegionFn, String> {
        let (ir, cell) = &self.others[region - 1];
        let address = cell.get_or_try_init(|| link(ir))?;
        // SAFETY: the symbol is a cold region, which the code generator defines with exactly this signature.
        Ok(unsafe { std::mem::transmute::<usize, RegionFn>(*address) })
    }
}
