//! LLVM IR text to an object file's bytes: which of LLVM's passes run, and on what machine.
//!
//! Not here: what becomes of the bytes ([`super::linked`]). A module has a context of its own, so any number is compiled at
//! the same time.
//!
//! # Safety
//!
//! The one `unsafe impl` lets target machines go from thread to thread, each in one thread's hands at a time.

use super::{Effort, guard};
use crate::environment::ENVIRONMENT;
use crate::memory::MEMORY;
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::module::Module;
use cuda_llvm::inkwell::passes::PassBuilderOptions;
use cuda_llvm::inkwell::targets::{CodeModel, FileType, RelocMode, Target, TargetMachine};
use cuda_llvm::inkwell::values::{BasicValue, InstructionOpcode, InstructionValue};
use cuda_llvm::inkwell::{AtomicOrdering, OptimizationLevel};
use parking_lot::Mutex;

/// How a module is compiled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    pub(super) effort: Effort,
    /// True if accesses to registered host memory are possible.
    pub(super) registered: bool,
    /// True if a block may run it more than once.
    pub(super) repeats: bool,
    /// True if rows of threads are whole vectors ([`WHOLE`]).
    pub(super) whole: bool,
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

/// A machine that nobody uses now.
struct Idle(TargetMachine, Effort);

// SAFETY: a target machine is a description that knows no thread; whoever takes it from the list has it alone.
unsafe impl Send for Idle {}

/// Machines that were made: finding out what this one can do takes as long as a small pass.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

/// Gives a machine to `work`.
fn with_machine<T>(effort: Effort, work: impl FnOnce(&TargetMachine) -> Result<T, String>) -> Result<T, String> {
    let idle = {
        let mut idle = IDLE.lock();
        idle.iter().position(|known| known.1 == effort).map(|at| idle.swap_remove(at))
    };
    let machine = idle.map_or_else(|| machine(effort).map(|machine| Idle(machine, effort)), Ok)?;
    let result = work(&machine.0);
    IDLE.lock().push(machine);
    result
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

/// Runs passes; each call has its price, so they are few.
fn run(module: &Module<'_>, machine: &TargetMachine, passes: &[&str]) -> Result<(), String> {
    let passes: Vec<&str> = passes.iter().copied().filter(|passes| !passes.is_empty()).collect();
    module.run_passes(&passes.join(","), machine, PassBuilderOptions::create()).map_err(|e| e.to_string())
}

/// Threads of the longest vectors that are usual: where the rows of a block are multiples of it, as they mostly are, the
/// loop over threads needs no second loop for a rest, which takes LLVM as long to compile as the first.
pub(crate) const WHOLE: u32 = 16;

/// What kernels call for the length of a row: the length, or the same said so that LLVM sees that it is whole vectors.
fn row(whole: bool) -> String {
    let vectors = match whole {
        true => format!(
            "  %vectors = udiv i32 %n, {WHOLE}\n  %none = icmp eq i32 %vectors, 0\n  \
             %some = select i1 %none, i32 1, i32 %vectors\n  %row = mul nuw nsw i32 %some, {WHOLE}\n"
        ),
        false => "  %row = add i32 %n, 0\n".to_owned(),
    };
    format!("define internal i32 @sim.row(i32 %n) {{\n{vectors}  ret i32 %row\n}}\n")
}

/// Optimises and compiles a module's text to an object file's bytes.
pub(super) fn object(ir: &str, mode: Mode) -> Result<Vec<u8>, String> {
    cuda_llvm::initialize().map_err(|error| error.to_string())?;
    let ir = &format!("{ir}{}", row(mode.whole));
    let context = Context::create();
    let module = cuda_llvm::parse_ir(&context, ir).map_err(|e| format!("{e}\n{ir}"))?;
    with_machine(mode.effort, |machine| {
        module.set_triple(&machine.get_triple());
        module.set_data_layout(&machine.get_target_data().get_data_layout());
        run(&module, machine, &[VALUES])?;
        guard::rewrite(&context, &module, MEMORY.guards(), mode.registered)?;
        if mode.effort == Effort::Full {
            run(&module, machine, &[LOOPS, if mode.repeats { UNSWITCH } else { "" }, PIPELINE])?;
            group(&context, &module)?;
            run(&module, machine, &[VECTORS, if ir.contains("@strip") { STRIPS } else { "" }])?;
        }
        if ENVIRONMENT.print_llvm {
            eprintln!("{}", module.print_to_string().to_string_lossy());
        }
        let object = machine.write_to_memory_buffer(&module, FileType::Object).map_err(|e| e.to_string())?;
        Ok(object.as_slice().to_vec())
    })
}
