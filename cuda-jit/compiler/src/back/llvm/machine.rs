//! LLVM's target machine and pass pipeline: from a module to PTX.
//!
//! Creating a target machine takes longer than compiling a small kernel, so each thread caches those that it used.
//!
//! LLVM's code generator runs an optimisation pipeline of its own, a third of the compile time, which finds little
//! after the passes that ran before. So from level 2 on it is switched off ([`OptimizationLevel::None`]), and its
//! useful parts run here: [`passes`] and [`LATE`] by name, [`widening_mul`] by hand. ptxas compiles the remaining register
//! copies and jumps away. Only modules with variables in memory are generated at LLVM's default level, which alone
//! merges stack slots.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use cuda_llvm::inkwell;
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::data_layout::DataLayout;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, RelocMode, Target as LlvmTarget, TargetData, TargetMachine, TargetTriple};
use inkwell::values::InstructionOpcode;

use super::debug;
use super::float8;
use super::function::lower_module;
use super::inlined::Inlined;
use super::panic::Publication;
use super::raw::Diagnostics;
use super::{EmitError, LlvmIr, Options, Output};
use super::{hoist, inlined, negation, widening_mul};
use crate::kir;
use crate::target::{ComputeCapability, Target};

const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// PTX 7.0, which has every instruction that KIR and libdevice use. LLVM's default version for older targets is lower,
/// and it aborts on instructions that the version lacks.
const LEAST_VERSION: &str = "+ptx70";

/// PTX 7.8, which every driver of CUDA 12 reads; debug information needs 7.5.
const LINES_VERSION: &str = "+ptx78";

/// PTX 8.1, in which `sm_89` has conversions of 8-bit floats; LLVM's default is 7.8, where it aborts.
const FLOAT8_VERSION: &str = "+ptx81";

/// The pass pipeline of an optimisation level.
///
/// Levels 2 and 3 are LLVM's own pipelines reduced to what improves kernels, in half the time: no vectoriser, since a
/// thread has no vectors; no interprocedural analysis, since nearly all functions are inlined; no pass that divergent
/// branches forbid; and each simplification as often as it made the code of the kernels in `benches` smaller.
///
/// Loops with range checks are split (`irce`): the main loop has no checks and can be unrolled. That duplicates the
/// loop, so the module must have no convergent operations. Loops are unrolled late, so that earlier passes see them
/// once, unless the kernel has local arrays, which are only promoted to registers if indices are constant.
fn passes(opt_level: u8, shape: Shape) -> String {
    if opt_level == 0 {
        // LLVM 22 folds `select(-1 <u w, w + 1, !w)` to the absolute value of `!w` unless the comparison is folded
        // first
        return "default<O0>,function(instsimplify)".to_owned();
    }
    if opt_level < 2 {
        return format!("default<O{opt_level}>");
    }
    let simplify = "instcombine<no-verify-fixpoint>";
    let split = if shape.convergent { "" } else { ",irce" };
    let unroll = format!("loop-unroll<O{opt_level}>");
    let functions = [
        "sroa<modify-cfg>,early-cse<memssa>,simplifycfg",
        simplify,
        &format!("tailcallelim,reassociate,constraint-elimination{split}"),
        "loop-mssa(loop-instsimplify,loop-simplifycfg,licm,loop-rotate,licm,simple-loop-unswitch<nontrivial>)",
        "simplifycfg",
        if shape.arrays {
            "loop(indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>"
        } else {
            "loop(indvars,loop-deletion)"
        },
        "gvn,correlated-propagation",
        simplify,
        "adce,dse,loop-mssa(licm)",
        "simplifycfg<forward-switch-cond;switch-range-to-icmp;hoist-common-insts;sink-common-insts>",
        "slsr",
        &unroll,
        "early-cse<memssa>",
        simplify,
        "div-rem-pairs,simplifycfg",
    ]
    .join(",");
    if shape.calls {
        format!(
            "nvvm-reflect,function(nvvm-intr-range,sroa<modify-cfg>,early-cse,simplifycfg),cgscc(inline),globaldce,\
             function({functions})"
        )
    } else {
        format!("globaldce,function(nvvm-intr-range,{functions})")
    }
}

/// Passes that LLVM's code generator would run first, here after checks are hoisted: strength reduction of addresses in
/// loops, and vectorisation of adjacent memory accesses.
const LATE: &str = "function(loop(loop-reduce),load-store-vectorizer)";

/// The properties of a module that decide which passes run.
#[derive(Clone, Copy)]
struct Shape {
    /// It has functions other than the kernel.
    calls: bool,
    /// It has local arrays.
    arrays: bool,
    /// It has convergent operations.
    convergent: bool,
}

impl Shape {
    fn of(module: &Module<'_>, kir: &kir::Module) -> Self {
        let mut defined = module.get_functions().filter(|function| function.get_first_basic_block().is_some());
        Self {
            calls: defined.nth(1).is_some(),
            arrays: kir.functions.iter().any(|f| !f.arrays.is_empty()),
            convergent: kir.synchronises(),
        }
    }
}

/// The features of PTX that a module needs, for which a target's default version may be too old.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PtxFeatures {
    /// Debug information.
    lines: bool,
    /// The conversions of 8-bit floats.
    float8: bool,
}

impl PtxFeatures {
    pub(super) fn of(module: &kir::Module) -> Self {
        Self { lines: module.has_lines(), float8: module.has_float8() }
    }

    /// The lowest PTX version for a target; the default versions of newer targets are no lower.
    fn version(self, cc: ComputeCapability) -> &'static str {
        match cc {
            cc if self.float8 && cc == float8::SINCE.into() => FLOAT8_VERSION,
            cc if self.lines && cc < (8, 9).into() => LINES_VERSION,
            cc if cc < (8, 0).into() => LEAST_VERSION,
            _ => "",
        }
    }
}

thread_local! {
    static MACHINES: RefCell<HashMap<(Target, u8, PtxFeatures), Machine>> = RefCell::default();
}

/// Calls `use_it` with this thread's cached machine for the target, whose PTX has these features.
pub(super) fn with<R>(
    target: &Target,
    opt_level: u8,
    features: PtxFeatures,
    use_it: impl FnOnce(&Machine) -> R,
) -> Result<R, EmitError> {
    MACHINES.with(|machines| {
        let mut machines = machines.borrow_mut();
        let machine = match machines.entry((*target, opt_level, features)) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(Machine::new(target, opt_level, features)?)
            }
        };
        Ok(use_it(machine))
    })
}

/// LLVM's code generator for one target and level.
pub(super) struct Machine {
    machine: TargetMachine,
    /// The machine that merges stack slots, created on first use.
    merging_stack_slots: OnceCell<TargetMachine>,
    data: TargetData,
    triple: TargetTriple,
    opt_level: u8,
    target: Target,
    features: PtxFeatures,
}

impl Machine {
    fn new(target: &Target, opt_level: u8, features: PtxFeatures) -> Result<Self, EmitError> {
        cuda_llvm::initialize()?;
        let level = if opt_level == 1 { OptimizationLevel::Less } else { OptimizationLevel::None };
        let machine = target_machine(target, features, level)?;
        let (data, triple) = (machine.get_target_data(), machine.get_triple());
        Ok(Self { machine, merging_stack_slots: OnceCell::new(), data, triple, opt_level, target: *target, features })
    }

    /// The code generator for a module: the one that merges stack slots if it has variables in memory.
    fn generator(&self, variables: bool) -> Result<&TargetMachine, EmitError> {
        if self.opt_level < 2 || !variables {
            return Ok(&self.machine);
        }
        if let Some(machine) = self.merging_stack_slots.get() {
            return Ok(machine);
        }
        // The next level adds value numbering, after passes that have done it: the same code for a tenth more time.
        let machine = target_machine(&self.target, self.features, OptimizationLevel::Default)?;
        Ok(self.merging_stack_slots.get_or_init(|| machine))
    }

    /// Compiles a verified module.
    pub(super) fn compile(&self, kir: &kir::Module, options: &Options) -> Result<Output, EmitError> {
        let context = Context::create();
        let mut diagnostics = Diagnostics::collect(&context);
        let output = self.compile_in(&context, kir, options);
        let errors = diagnostics.take();
        if errors.is_empty() { output } else { Err(EmitError::Llvm(errors.join("; "))) }
    }

    fn compile_in(&self, context: &Context, kir: &kir::Module, options: &Options) -> Result<Output, EmitError> {
        let module = context.create_module("kernel");
        module.set_triple(&self.triple);
        let layout: DataLayout = self.data.get_data_layout();
        module.set_data_layout(&layout);
        let lines = lower_module(context, &module, kir, &self.target, options)?;
        self.verify(&module)?;
        let text = || options.keep_llvm_ir.then(|| module.print_to_string().to_string());
        let built = text();
        self.run(&passes(self.opt_level, Shape::of(&module, kir)), &module)?;
        if self.opt_level >= 2 && !kir.sites.is_empty() {
            hoist::checks(context, &module, Publication::of(kir, self.target.capability()))?;
            self.verify(&module)?;
        }
        let variables = has_variables(&module);
        if self.opt_level >= 2 && !variables {
            self.run(LATE, &module)?;
            widening_mul::combine(context, &module)?;
            self.verify(&module)?;
        }
        let llvm_ir = built.zip(text()).map(|(built, optimized)| LlvmIr { built, optimized });
        let (module, inlined) = match lines && !options.debug {
            true => self.with_lines_only(context, &module)?,
            false => (module, Inlined::default()),
        };
        let ptx = self
            .generator(variables)?
            .write_to_memory_buffer(&module, FileType::Assembly)
            .map_err(|error| EmitError::Llvm(error.to_string()))?;
        let text = ptx.as_slice();
        let text = text.strip_suffix(&[0]).unwrap_or(text);
        let ptx = String::from_utf8(text.to_vec()).map_err(|error| EmitError::Llvm(error.to_string()))?;
        Ok(Output { ptx: inlined::with_inlined_at(negation::as_products(ptx), &inlined), llvm_ir })
    }

    fn run(&self, passes: &str, module: &Module<'_>) -> Result<(), EmitError> {
        let options = PassBuilderOptions::create();
        module.run_passes(passes, &self.machine, options).map_err(|error| EmitError::Llvm(error.to_string()))
    }

    /// With debug assertions, runs LLVM's verifier.
    fn verify(&self, module: &Module<'_>) -> Result<(), EmitError> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        module.verify().map_err(|error| EmitError::Llvm(format!("{error}\n{}", module.print_to_string())))
    }

    /// Returns the module with only line tables as debug information, reparsed from its text, and its inlined
    /// locations.
    fn with_lines_only<'ctx>(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
    ) -> Result<(Module<'ctx>, Inlined), EmitError> {
        let (text, inlined) = inlined::marked(&debug::lines_only(&module.print_to_string().to_string()));
        let module = cuda_llvm::parse_ir(context, &text).map_err(EmitError::Llvm)?;
        Ok((module, inlined))
    }
}

/// Creates LLVM's code generator for a target with these PTX features.
fn target_machine(
    target: &Target,
    features: PtxFeatures,
    level: OptimizationLevel,
) -> Result<TargetMachine, EmitError> {
    let triple = TargetTriple::create(TRIPLE);
    let llvm = LlvmTarget::from_triple(&triple).map_err(|error| EmitError::Llvm(error.to_string()))?;
    let features = features.version(target.capability());
    llvm.create_target_machine(&triple, &target.to_string(), features, level, RelocMode::Default, CodeModel::Default)
        .ok_or_else(|| EmitError::Llvm(format!("no target machine for {target}")))
}

/// Returns true if a function has variables in memory.
fn has_variables(module: &Module<'_>) -> bool {
    let mut blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    blocks.any(|block| block.get_instructions().any(|inst| inst.get_opcode() == InstructionOpcode::Alloca))
}
