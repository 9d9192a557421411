//! The code generator: control-flow graphs to LLVM IR as text, and LLVM IR to machine code.
//!
//! This is the only module that names LLVM. Emission ([`kernel`], [`ops`] and the modules beside them) writes text and
//! needs no LLVM, so a module is checked completely when it is loaded ([`check`](check::check)); a kernel is emitted
//! and compiled ([`jit`]) when it is first launched.
//!
//! Registers are stack slots that LLVM promotes; each region contains the thread loop. Addresses are offsets from a
//! pointer whose value, 0, LLVM does not know: unlike `inttoptr` that lets it see strides, and unlike a constant null
//! pointer it promises nothing about dereferenceability.

pub(crate) mod abi;
mod background;
mod batch;
mod carry;
mod check;
mod compare;
mod consecutive;
mod convert;
mod copies;
mod divisions;
mod dot;
mod emit;
mod empty_masks;
mod float;
mod guard;
mod half;
mod integer;
mod interleaved;
pub(crate) mod jit;
mod kernel;
mod loader;
mod loops;
mod math;
mod mbarrier;
mod memory;
pub(crate) mod narrow;
mod narrow_loads;
pub(crate) mod object;
mod object_cache;
mod ops;
mod reductions;
mod region;
mod shared_values;
pub(crate) mod texts;
pub(crate) mod vector_loop;
mod video;
mod warm;

use crate::ir::callees::reached;
use crate::ir::fences::order_accesses;
use crate::ir::loops::depth;
use crate::ir::lower::Program;
use crate::ir::matrix::MAX_WORDS;
use crate::ir::regions::Regions;
use crate::ir::sync::{FRAME_BYTES, Plan};
use crate::ir::{Function, RESERVED_SHARED};
use crate::ptx::Result;
pub(crate) use check::check;
use cuda_jit_cache::Key;
use kernel::Functions;
pub(crate) use kernel::{Flavour, LoopCode};
pub(crate) use object_cache::folder;
use std::sync::Arc;
use texts::Texts;

/// Returns true if an LLVM was found that compiles.
pub(crate) fn has_llvm() -> bool {
    cuda_llvm::initialize().is_ok()
}

/// A kernel that is ready to be compiled.
#[derive(Debug)]
pub(crate) struct KernelCode {
    /// The index among the program's functions.
    pub(crate) function: usize,
    /// The part of each region; empty if threads can only be fibers.
    pub(crate) regions: Vec<Part>,
    /// For each region its loops, by [`LoopCode`].
    pub(crate) loops: Vec<[Option<Part>; 3]>,
    pub(crate) texts: Arc<Texts>,
    pub(crate) shape: Shape,
    /// True if a scheduler runs the regions.
    pub(crate) scheduled: bool,
    /// True if the code asks the checkers about each access.
    pub(crate) checked: bool,
    /// True for checked code if threads may order accesses by other means than barriers ([`order_accesses`]).
    pub(crate) has_fences: bool,
    pub(crate) effort: Effort,
    /// The number of instructions of all regions, which determines compile time. An instruction of several regions
    /// counts once for each.
    pub(crate) instructions: usize,
    pub(crate) plan: Arc<Plan>,
}

/// The properties of a kernel that launches need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    /// Bytes of frame per thread.
    pub(crate) frame_bytes: u64,
    /// Bytes of local memory per thread, including the stack of calls.
    pub(crate) local_bytes: u64,
    /// Bytes of shared memory, without the launch's dynamic shared memory.
    pub(crate) static_shared: u64,
    /// The bytes at its end that are reserved for libraries.
    pub(crate) reserved_shared: u64,
    /// True if it calls functions that were not inlined.
    pub(crate) calls: bool,
    /// An upper bound of the stack that its functions use, if none is recursive.
    pub(crate) stack_frames: u64,
}

/// A module with one entry and the functions that it calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The index of its LLVM IR among the kernel's texts.
    pub(crate) number: usize,
    /// True if a thread that continues will most likely reach it.
    pub(crate) hot: bool,
    /// True if a block may run it more than once.
    pub(crate) repeats: bool,
    /// True for a vectorised loop that runs all threads of a block together.
    pub(crate) wide: bool,
}

/// The optimisation effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    Full,
    /// For code that is needed soon, until there is optimised code, and for kernels so large that LLVM's optimisers,
    /// which take more than linear time, would not finish.
    Least,
}

/// The limits, in instructions and in nested loops, up to which kernels are optimised.
const OPTIMISED: (usize, usize) = (1 << 15, 32);

/// The limit on the length of a straight-line sequence in kernels that are optimised: LLVM's scheduler takes quadratic
/// time, 5 s for 10,000 integer instructions.
const IN_A_ROW: usize = 1 << 13;

impl Effort {
    /// Returns the effort for a kernel together with the functions that it calls.
    fn of<'a>(mut functions: impl Iterator<Item = &'a Function>) -> Effort {
        let in_a_row = |f: &Function| f.blocks.iter().any(|block| block.insts.len() > IN_A_ROW);
        let large = |f: &Function| f.instructions() > OPTIMISED.0 || depth(f) > OPTIMISED.1 || in_a_row(f);
        if functions.any(large) { Effort::Least } else { Effort::Full }
    }
}

/// Emits a kernel.
pub(crate) fn emit(program: &Program, index: usize, flavour: Flavour) -> Result<KernelCode> {
    let function = &program.functions[index];
    let called = reached(&program.functions, index);
    let effort = Effort::of(called.iter().map(|f| &program.functions[*f]).chain([function]));
    let reserves = called.iter().chain([&index]).any(|f| program.functions[*f].reserves_shared());
    let reserved_shared = if reserves { RESERVED_SHARED.into() } else { 0 };
    let code = KernelCode {
        function: index,
        regions: Vec::new(),
        loops: Vec::new(),
        texts: Arc::new(Texts::new(Key::new(&[]), Vec::new())),
        shape: Shape {
            frame_bytes: FRAME_BYTES + 4 * MAX_WORDS as u64,
            local_bytes: program.local_bytes(index),
            static_shared: match reserved_shared {
                0 => function.signature.shared_bytes,
                _ => function.signature.shared_bytes.next_multiple_of(16) + reserved_shared,
            },
            reserved_shared,
            calls: !called.is_empty(),
            stack_frames: called.iter().chain([&index]).map(|f| kernel::frame(&program.functions[*f])).sum(),
        },
        scheduled: true,
        checked: flavour.checked,
        has_fences: flavour.checked && order_accesses(&program.functions, index),
        effort,
        instructions: 0,
        plan: Arc::default(),
    };
    if function.signature.only_fibers {
        return Ok(code);
    }
    let functions = Functions::emit(program, index, flavour)?;
    let regions = Regions::new(function, flavour.clustered, flavour.checked);
    let count = |region| {
        let blocks = regions.blocks(function, region);
        blocks.into_iter().map(|block| function.blocks[block].insts.len() + 1).sum::<usize>()
    };
    let polls = (0..regions.heads.len()).map(|region| regions.polls.get(&region).copied()).collect();
    let mut texts = Vec::new();
    let parts = functions.modules(&regions, &mut texts)?;
    let loops = functions.loops(&regions, &mut texts)?;
    let identity = texts::identity(&texts, parts.iter().chain(loops.iter().flatten().flatten()));
    Ok(KernelCode {
        regions: parts,
        loops,
        texts: Arc::new(Texts::new(identity, texts)),
        shape: Shape { frame_bytes: regions.frame_bytes, ..code.shape },
        scheduled: regions.scheduled,
        instructions: (0..regions.heads.len()).map(count).sum(),
        plan: Arc::new(Plan { polls, sites: regions.sites }),
        ..code
    })
}

/// Counts of a kernel's final code, in which a loss of speed shows on every CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeCounts {
    /// Regions: the parts that threads run without interruption.
    pub regions: usize,
    /// Bytes of registers per thread that are spilled between regions.
    pub frame_bytes: u64,
    /// Gathers and scatters in the parts that all threads run, without those in groups.
    pub gathers: usize,
    /// Gathers and scatters in groups: each thread accesses consecutive elements, and plain accesses replace them where all
    /// threads of a vector take part.
    pub grouped: usize,
    /// The number of those parts that have vector instructions.
    pub vectorised: usize,
}

/// Compiles a kernel for blocks whose rows are whole vectors, and counts.
pub(crate) fn counts(code: &KernelCode) -> Result<CodeCounts, String> {
    let loops = code.loops.iter().flatten().flatten();
    let (mut gathers, mut grouped, mut vectorised) = (0, 0, 0);
    for part in code.regions.iter().chain(loops).filter(|part| part.hot) {
        let mode = object::Mode { effort: code.effort, registered: false, repeats: part.repeats, whole: true };
        let (found, in_groups, vectors) = object::vectors(code.texts.get(part.number)?, mode)?;
        gathers += found;
        grouped += in_groups;
        vectorised += usize::from(vectors);
    }
    Ok(CodeCounts { regions: code.regions.len(), frame_bytes: code.shape.frame_bytes, gathers, grouped, vectorised })
}

/// Emits the LLVM module in which the threads of a kernel are fibers, and the plan of the places where they wait.
pub(crate) fn emit_fiber(program: &Program, code: &KernelCode, flavour: Flavour) -> Result<(String, Plan)> {
    Functions::emit(program, code.function, flavour)?.fiber()
}
