//! LLVM IR text to the bytes of an object file: the choice of passes and the target machine.
//!
//! Loading the bytes is not here ([`super::loader`]). Each module has an LLVM context of its own, so any number can be
//! compiled at the same time.
//!
//! # Safety
//!
//! The one `unsafe impl` lets a target machine move between threads; only one thread uses it at a time.

use super::{Effort, consecutive, divisions, empty_masks, guard, interleaved, narrow_loads, reductions, shared_values};
use crate::environment::ENVIRONMENT;
use crate::memory::MEMORY;
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::module::Module;
use cuda_llvm::inkwell::passes::PassBuilderOptions;
use cuda_llvm::inkwell::targets::{CodeModel, FileType, RelocMode, Target, TargetMachine};
use cuda_llvm::inkwell::values::{BasicValue, InstructionOpcode, InstructionValue};
use cuda_llvm::inkwell::{AtomicOrdering, OptimizationLevel};
use parking_lot::Mutex;

/// The way in which a module is compiled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    pub(super) effort: Effort,
    /// True if the kernel may access registered host memory.
    pub(super) registered: bool,
    /// True if a block may run the code more than once.
    pub(super) repeats: bool,
    /// True if the rows of a block are multiples of [`WHOLE`] threads.
    pub(super) whole: bool,
}

/// Returns the target machine for this CPU, or for the level of its architecture that the environment names.
fn machine(effort: Effort) -> Result<TargetMachine, String> {
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).map_err(|e| e.to_string())?;
    let (cpu, features) = match ENVIRONMENT.cpu {
        Some(level) => (level.to_owned(), String::new()),
        None => (
            TargetMachine::get_host_cpu_name().to_string_lossy().into_owned(),
            TargetMachine::get_host_cpu_features().to_string_lossy().into_owned(),
        ),
    };
    target
        .create_target_machine(
            &triple,
            &cpu,
            &features,
            if effort == Effort::Full { OptimizationLevel::Less } else { OptimizationLevel::None },
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| "LLVM cannot generate code for this machine".to_owned())
}

/// A target machine that is not in use.
struct Idle(TargetMachine, Effort);

// SAFETY: a target machine has no thread affinity, and the thread that takes it from the list has exclusive access.
unsafe impl Send for Idle {}

/// Unused target machines: detecting the features of this CPU takes as long as a small pass.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

/// Calls `work` with a target machine.
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

/// The passes that run before address guards are inserted: registers become values.
const VALUES: &str = "globaldce,cgscc(inline),function(sroa<modify-cfg>,early-cse<memssa>,\
    simplifycfg<hoist-common-insts;speculate-blocks>,instcombine<no-verify-fixpoint>)";

/// The passes that make thread loops fast; `default<O2>` takes twice as long for the same code.
const LOOPS: &str =
    "function(early-cse,reassociate,loop-mssa(loop-rotate,licm<allowspeculation>,simple-loop-unswitch))";

/// Further passes for code that a block runs repeatedly, such as a loop around a barrier: unswitching, which makes a
/// thread loop for each direction of a uniform branch. Elsewhere it is not worth the code size.
const UNSWITCH: &str = "function(loop-mssa(simple-loop-unswitch<nontrivial;trivial>))";

/// Further passes for all code.
const PIPELINE: &str = "function(simplifycfg,instcombine<no-verify-fixpoint>,\
    loop(indvars,loop-deletion),gvn,sccp,instcombine<no-verify-fixpoint>,adce,\
    loop-mssa(licm<allowspeculation>),simplifycfg)";

/// The passes that vectorise thread loops, once stores are marked ([`group`]).
const VECTORS: &str = "function(loop-vectorize<interleave-forced-only;no-vectorize-forced-only>,\
    instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm<allowspeculation>),early-cse,sink),globaldce";

/// The passes that turn the constant-trip loops of a vectorised loop into straight vector code. They run after the
/// others.
const UNROLL: &str = "function(loop(loop-unroll-full),sroa<modify-cfg>,instcombine<no-verify-fixpoint>,simplifycfg,\
    gvn,loop-mssa(licm<allowspeculation>),instcombine<no-verify-fixpoint>,simplifycfg,sink),globaldce";

/// Marks stores as parallel again. If LLVM merges two stores it drops their metadata, and for a single store without
/// it, it compares the addresses of all of them before it runs a vectorised loop.
///
/// Unmarked plain stores are only to the function's own variables, on its stack or in a thread's local memory: a
/// pointer that derives from a loaded one does not point to the former, and no other thread uses the latter.
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

/// Runs passes. Each call has a fixed cost, so there are few calls.
fn run(module: &Module<'_>, machine: &TargetMachine, passes: &[&str]) -> Result<(), String> {
    let passes: Vec<&str> = passes.iter().copied().filter(|passes| !passes.is_empty()).collect();
    module.run_passes(&passes.join(","), machine, PassBuilderOptions::create()).map_err(|e| e.to_string())
}

/// The number of threads of the longest common vector. If the rows of a block are multiples of it, as they mostly are,
/// the thread loop needs no remainder loop, which takes LLVM as long to compile as the main one.
pub(crate) const WHOLE: u32 = 16;

/// The function that kernels call for the length of a row: it returns the length, and if `whole`, in a form that shows
/// LLVM that it is a multiple of [`WHOLE`].
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

/// Optimises a module's text and calls `work` with it, and with the number of gathers and scatters in groups.
fn with_optimised<T>(
    ir: &str,
    mode: Mode,
    work: impl FnOnce(&Module<'_>, &TargetMachine, usize) -> Result<T, String>,
) -> Result<T, String> {
    cuda_llvm::initialize().map_err(|error| error.to_string())?;
    let ir = &format!("{ir}{}", row(mode.whole));
    let context = Context::create();
    let module = cuda_llvm::parse_ir(&context, ir).map_err(|e| format!("{e}\n{ir}"))?;
    with_machine(mode.effort, |machine| {
        module.set_triple(&machine.get_triple());
        module.set_data_layout(&machine.get_target_data().get_data_layout());
        let mut grouped = 0;
        run(&module, machine, &[VALUES])?;
        guard::rewrite(&context, &module, MEMORY.guards(), mode.registered)?;
        if mode.effort == Effort::Full {
            run(&module, machine, &[LOOPS, if mode.repeats { UNSWITCH } else { "" }, PIPELINE])?;
            if divisions::hoist(&context, &module) {
                run(&module, machine, &[divisions::PASSES])?;
            }
            if reductions::combine(&context, &module)? {
                run(&module, machine, &[reductions::PASSES])?;
            }
            group(&context, &module)?;
            narrow_loads::widen(&context, &module)?;
            shared_values::divide(&context, &module)?;
            run(&module, machine, &[VECTORS, if ir.contains("@vector_loop") { UNROLL } else { "" }])?;
            let groups = interleaved::group(&context, &module)?;
            grouped = groups.accesses;
            if consecutive::check_addresses(&context, &module, &groups.functions)? {
                run(&module, machine, &[consecutive::PASSES])?;
            }
            empty_masks::redirect(&context, &module)?;
        }
        if ENVIRONMENT.print_llvm {
            eprintln!("{}", module.print_to_string().to_string_lossy());
        }
        work(&module, machine, grouped)
    })
}

/// Optimises and compiles a module's text to the bytes of an object file.
pub(super) fn object(ir: &str, mode: Mode) -> Result<Vec<u8>, String> {
    with_optimised(ir, mode, |module, machine, _| {
        let object = machine.write_to_memory_buffer(module, FileType::Object).map_err(|e| e.to_string())?;
        Ok(object.as_slice().to_vec())
    })
}

/// Returns the number of gathers and scatters in a module's optimised code, of those that plain accesses replace where all
/// threads take part ([`interleaved`]), and true if it has vector instructions.
pub(super) fn vectors(ir: &str, mode: Mode) -> Result<(usize, usize, bool), String> {
    with_optimised(ir, mode, |module, _, grouped| {
        let text = module.print_to_string().to_string();
        let code = || text.lines().filter(|line| line.starts_with("  "));
        let calls = |name| code().filter(|line| line.contains("call ") && line.contains(name)).count();
        let gathers = calls("@llvm.masked.gather.") + calls("@llvm.masked.scatter.");
        let lanes = |line: &str| {
            line.split('<').any(|part| part.split_once(" x ").is_some_and(|(n, _)| n.parse::<u32>().is_ok()))
        };
        Ok((gathers - grouped.min(gathers), grouped, code().any(lanes)))
    })
}
