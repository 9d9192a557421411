//! LLVM's machinery around a module: the target machine, the passes, PTX out.
//!
//! A target machine costs more to make than a small kernel to compile, so each thread keeps those that it used.
//!
//! LLVM's code generator simplifies once more what it is given, and what is a third of a compilation finds little behind
//! the passes that ran before. So from level 2 on it is told not to ([`OptimizationLevel::None`]), and what did find
//! something runs here: [`passes`] and [`LATE`] by name, [`wide`] written out. ptxas sees no difference in what is then
//! left to it, copies between registers and branches to what follows. Only what keeps variables in memory is generated at
//! LLVM's usual level, which alone lets them share it.

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
use super::raw::Diagnostics;
use super::{EmitError, LlvmIr, Options, Output};
use super::{hoist, inlined, wide};
use crate::kir;
use crate::target::{ComputeCapability, Target};

const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// PTX 7.0, which has all that KIR and libdevice ask for; LLVM's choice for older targets is older, and it aborts on what
/// that has not.
const LEAST_VERSION: &str = "+ptx70";

/// PTX 7.8, which every driver of CUDA 12 reads: debug information needs 7.5.
const LINES_VERSION: &str = "+ptx78";

/// PTX 8.1, in which `sm_89` has the conversions of 8-bit floats; it comes with 7.8, and LLVM aborts.
const FLOAT8_VERSION: &str = "+ptx81";

/// LLVM's passes for a level of optimisation.
///
/// Levels 2 and 3 are LLVM's own lists cut to what changes kernels, in half the time: no vectoriser, since a thread has no
/// vectors; nothing that propagates between functions, since nearly all are inlined; no pass that divergent branches
/// forbid; each of those that simplify as often as it made the code of the kernels in `benches` smaller.
///
/// Loops whose turns need checks from some turn on are split (`irce`): the first part, which makes none, can be unrolled.
/// That copies the loop, so nothing in the module may wait for other threads. Loops are unrolled late, so that what comes
/// before sees each once, unless the kernel has arrays of a thread's own: those become registers only where constants index
/// them.
fn passes(opt_level: u8, shape: Shape) -> String {
    if opt_level == 0 {
        // LLVM 22 takes `select(-1 <u w, w + 1, !w)` for the absolute value of `!w`, unless the comparison is folded
        return "default<O0>,function(instsimplify)".to_owned();
    }
    if opt_level < 2 {
        return format!("default<O{opt_level}>");
    }
    let simplify = "instcombine<no-verify-fixpoint>";
    let split = if shape.waits { "" } else { ",irce" };
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

/// What LLVM's code generator would do first, once checks have left the loops: the addresses of a loop's turns are added up,
/// and neighbours in memory become one access.
const LATE: &str = "function(loop(loop-reduce),load-store-vectorizer)";

/// What a module has that some passes are for.
#[derive(Clone, Copy)]
struct Shape {
    /// Functions beside the kernel.
    calls: bool,
    /// Arrays of a thread's own.
    arrays: bool,
    /// Threads wait for others.
    waits: bool,
}

impl Shape {
    fn of(module: &Module<'_>, kir: &kir::Module) -> Self {
        let mut defined = module.get_functions().filter(|function| function.get_first_basic_block().is_some());
        Self {
            calls: defined.nth(1).is_some(),
            arrays: kir.functions.iter().any(|f| !f.arrays.is_empty()),
            waits: kir.synchronises(),
        }
    }
}

/// What a module wants of the PTX that it becomes, for which targets may come with too old a version.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Wants {
    /// Debug information.
    lines: bool,
    /// The conversions of 8-bit floats.
    float8: bool,
}

impl Wants {
    pub(super) fn of(module: &kir::Module) -> Self {
        Self { lines: module.has_lines(), float8: module.has_float8() }
    }

    /// The least version for a target; newer ones' own versions are no older.
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
    static MACHINES: RefCell<HashMap<(Target, u8, Wants), Machine>> = RefCell::default();
}

/// Calls `use_it` with this thread's machine for the target, whose PTX can hold what is wanted.
pub(super) fn with<R>(
    target: &Target,
    opt_level: u8,
    wants: Wants,
    use_it: impl FnOnce(&Machine) -> R,
) -> Result<R, EmitError> {
    MACHINES.with(|machines| {
        let mut machines = machines.borrow_mut();
        let machine = match machines.entry((*target, opt_level, wants)) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => entry.insert(Machine::new(target, opt_level, wants)?),
        };
        Ok(use_it(machine))
    })
}

/// LLVM's code generator for one target and level.
pub(super) struct Machine {
    machine: TargetMachine,
    /// The one that lets variables share memory, once it was needed.
    sharing: OnceCell<TargetMachine>,
    data: TargetData,
    triple: TargetTriple,
    opt_level: u8,
    target: Target,
    wants: Wants,
}

impl Machine {
    fn new(target: &Target, opt_level: u8, wants: Wants) -> Result<Self, EmitError> {
        cuda_llvm::initialize()?;
        let level = if opt_level == 1 { OptimizationLevel::Less } else { OptimizationLevel::None };
        let machine = target_machine(target, wants, level)?;
        let (data, triple) = (machine.get_target_data(), machine.get_triple());
        Ok(Self { machine, sharing: OnceCell::new(), data, triple, opt_level, target: *target, wants })
    }

    /// The code generator for a module: with variables in memory, the one that lets them share it.
    fn generator(&self, variables: bool) -> Result<&TargetMachine, EmitError> {
        if self.opt_level < 2 || !variables {
            return Ok(&self.machine);
        }
        if let Some(machine) = self.sharing.get() {
            return Ok(machine);
        }
        // The level above numbers values where this one looks for equal ones: the same code for a tenth more time.
        let machine = target_machine(&self.target, self.wants, OptimizationLevel::Default)?;
        Ok(self.sharing.get_or_init(|| machine))
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
            hoist::checks(context, &module)?;
            self.verify(&module)?;
        }
        let variables = has_variables(&module);
        if self.opt_level >= 2 && !variables {
            self.run(LATE, &module)?;
            wide::products(context, &module)?;
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
        Ok(Output { ptx: inlined::with_inlined_at(ptx, &inlined), llvm_ir })
    }

    fn run(&self, passes: &str, module: &Module<'_>) -> Result<(), EmitError> {
        let options = PassBuilderOptions::create();
        module.run_passes(passes, &self.machine, options).map_err(|error| EmitError::Llvm(error.to_string()))
    }

    /// Where debug assertions are on, whether the module is one that LLVM takes.
    fn verify(&self, module: &Module<'_>) -> Result<(), EmitError> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        module.verify().map_err(|error| EmitError::Llvm(format!("{error}\n{}", module.print_to_string())))
    }

    /// The module with line tables as its only debug information, read from its text, and what was inlined in it.
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

/// LLVM's code generator, whose PTX can hold what is wanted.
fn target_machine(target: &Target, wants: Wants, level: OptimizationLevel) -> Result<TargetMachine, EmitError> {
    let triple = TargetTriple::create(TRIPLE);
    let llvm = LlvmTarget::from_triple(&triple).map_err(|error| EmitError::Llvm(error.to_string()))?;
    let features = wants.version(target.capability());
    llvm.create_target_machine(&triple, &target.to_string(), features, level, RelocMode::Default, CodeModel::Default)
        .ok_or_else(|| EmitError::Llvm(format!("no target machine for {target}")))
}

/// Whether a function keeps a variable in memory.
fn has_variables(module: &Module<'_>) -> bool {
    let mut blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    blocks.any(|block| block.get_instructions().any(|inst| inst.get_opcode() == InstructionOpcode::Alloca))
}
