//! The code generator: control-flow graphs to LLVM IR as text, and that to machine code.
//!
//! The only module that names LLVM. Emission ([`kernel`], [`ops`] and its neighbours) writes text and needs no LLVM at
//! all, so a module is checked completely when it is first loaded; [`jit`] compiles a kernel when it is first launched.
//!
//! Registers are stack slots of the function that LLVM promotes; the thread loop stands inside each region. Addresses
//! are offsets from a pointer whose value, 0, LLVM does not know: unlike `inttoptr` that lets it see strides, and
//! unlike a constant null it promises nothing about what may be accessed.

pub(crate) mod abi;
mod background;
mod carry;
mod compare;
mod convert;
mod copies;
mod dot;
mod emit;
mod float;
mod guard;
mod half;
mod integer;
pub(crate) mod jit;
mod kept;
mod kernel;
mod linked;
mod math;
mod mbarrier;
mod memory;
pub(crate) mod narrow;
pub(crate) mod object;
mod ops;
mod region;
pub(crate) mod strip;
pub(crate) mod texts;
mod video;
mod warm;

use crate::exec::pool::POOL;
use crate::ir::Function;
use crate::ir::loops::depth;
use crate::ir::lower::Program;
use crate::ir::matrix::MAX_WORDS;
use crate::ir::regions::Regions;
use crate::ir::sync::{FRAME_BYTES, Plan};
use crate::ptx::{FunctionKind, Result};
use cuda_jit_cache::Key;
pub(crate) use kept::folder;
pub(crate) use kernel::Flavour;
use kernel::Functions;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use texts::Texts;

/// Whether there is an LLVM that compiles.
pub(crate) fn has_llvm() -> bool {
    cuda_llvm::initialize().is_ok()
}

/// A kernel ready to be compiled.
#[derive(Debug)]
pub(crate) struct KernelCode {
    /// Index among the program's functions.
    pub(crate) function: usize,
    /// A part for each region; none where threads can only be fibers.
    pub(crate) regions: Vec<Part>,
    /// For each region its loop in step, and the one for when that guessed wrong.
    pub(crate) strips: Vec<[Option<Part>; 2]>,
    pub(crate) texts: Arc<Texts>,
    pub(crate) shape: Shape,
    /// Whether the regions are scheduled.
    pub(crate) scheduled: bool,
    pub(crate) effort: Effort,
    /// Instructions of all regions, those that stand in several counted in each: what translation takes time for.
    pub(crate) instructions: usize,
    pub(crate) plan: Arc<Plan>,
}

/// What launches need to know of a kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    /// Bytes of frame for each thread.
    pub(crate) frame_bytes: u64,
    /// Bytes of local memory for each thread, the stack of calls included.
    pub(crate) local_bytes: u64,
    /// Bytes of shared memory, without what the launch asks for.
    pub(crate) static_shared: u64,
    /// Whether it calls functions that are not part of it.
    pub(crate) calls: bool,
    /// Bytes of the processor's stack that its functions take, at most, if none recurs.
    pub(crate) stack_frames: u64,
}

/// A module with one entry and what that calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The number of its LLVM IR among the kernel's texts.
    pub(crate) number: usize,
    /// Whether a thread that goes on will most likely come to it.
    pub(crate) hot: bool,
    /// Whether a block may run it more than once.
    pub(crate) repeats: bool,
}

/// How much is done to make code fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    Full,
    /// For code that is to run soon, until there is better one, and for kernels so large that LLVM's optimisers, which take more than linear time, would not end.
    Least,
}

/// The largest kernels, in instructions and in nested loops, that are optimised.
const OPTIMISED: (usize, usize) = (1 << 15, 32);

/// The most instructions in a row that are: LLVM's scheduler takes time that grows with their square, 5 s for 10,000 of
/// integers.
const IN_A_ROW: usize = 1 << 13;

impl Effort {
    /// The effort for a kernel with the functions that it calls.
    fn of<'a>(mut functions: impl Iterator<Item = &'a Function>) -> Effort {
        let in_a_row = |f: &Function| f.blocks.iter().any(|block| block.insts.len() > IN_A_ROW);
        let large = |f: &Function| f.instructions() > OPTIMISED.0 || depth(f) > OPTIMISED.1 || in_a_row(f);
        if functions.any(large) { Effort::Least } else { Effort::Full }
    }
}

/// Local memory for calls that may recurse.
const RECURSION_BYTES: u64 = 64 << 10;

/// Emits every kernel of a program, for launches that are not in clusters.
pub(crate) fn emit(program: &Program) -> Result<Vec<KernelCode>> {
    let functions = Functions::emit(program, Flavour::default())?;
    let entry = |index: &usize| program.functions[*index].kind == FunctionKind::Entry;
    let entries: Vec<usize> = (0..program.functions.len()).filter(entry).collect();
    in_parallel(&entries, |index| emit_kernel(program, &functions, *index)).into_iter().collect()
}

/// Emits one of them again.
pub(crate) fn emit_again(program: &Program, index: usize) -> Result<KernelCode> {
    emit_kernel(program, &Functions::emit(program, Flavour::default())?, index)
}

/// Stack of a thread that emits or translates.
const STACK: usize = 16 << 20;

/// The results of some work for each item, in their order, by as many threads as the pool has.
fn in_parallel<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let result = work(item);
            done.lock().push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..POOL.workers().min(items.len()) {
            // Where the system gives no thread, the others do its part.
            let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
        work();
    });
    let mut done = done.into_inner();
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Emits one kernel for launches in clusters.
pub(crate) fn emit_clustered(program: &Program, index: usize) -> Result<KernelCode> {
    emit_kernel(program, &Functions::emit(program, Flavour { exact: false, clustered: true })?, index)
}

fn emit_kernel(program: &Program, functions: &Functions, index: usize) -> Result<KernelCode> {
    let function = &program.functions[index];
    let called = functions.reached(index);
    let calls: u64 = called.iter().map(|f| program.functions[*f].stack_bytes()).sum();
    let effort = Effort::of(called.iter().map(|f| &program.functions[*f]).chain([function]));
    let recursion = if functions.recursive(index) { RECURSION_BYTES } else { 0 };
    let code = KernelCode {
        function: index,
        regions: Vec::new(),
        strips: Vec::new(),
        texts: Arc::new(Texts::new(Key::new(&[]), Vec::new())),
        shape: Shape {
            frame_bytes: FRAME_BYTES + 4 * MAX_WORDS as u64,
            local_bytes: function.stack_bytes() + calls + recursion,
            static_shared: function.shared_bytes,
            calls: !called.is_empty(),
            stack_frames: called.iter().chain([&index]).map(|f| kernel::frame(&program.functions[*f])).sum(),
        },
        scheduled: true,
        effort,
        instructions: 0,
        plan: Arc::default(),
    };
    if function.only_fibers {
        // Emitted here for what is wrong with it; compiled when it is launched, like all kernels.
        functions.fiber(program, index)?;
        return Ok(code);
    }
    let regions = Regions::new(function, functions.flavour.clustered);
    let count = |region| {
        let blocks = regions.blocks(function, region);
        blocks.into_iter().map(|block| function.blocks[block].insts.len() + 1).sum::<usize>()
    };
    let polls = (0..regions.heads.len()).map(|region| regions.polls.get(&region).copied()).collect();
    let mut texts = Vec::new();
    let parts = functions.modules(program, index, &regions, &mut texts)?;
    let strips = functions.strips(program, index, &regions, &mut texts)?;
    let identity = texts::identity(&texts, parts.iter().chain(strips.iter().flatten().flatten()));
    Ok(KernelCode {
        regions: parts,
        strips,
        texts: Arc::new(Texts::new(identity, texts)),
        shape: Shape { frame_bytes: regions.frame_bytes, ..code.shape },
        scheduled: regions.scheduled,
        instructions: (0..regions.heads.len()).map(count).sum(),
        plan: Arc::new(Plan { polls, sites: regions.sites }),
        ..code
    })
}

/// The LLVM module in which the threads of a kernel are fibers, and where they wait.
pub(crate) fn emit_fiber(program: &Program, code: &KernelCode, flavour: Flavour) -> Result<(String, Plan)> {
    Functions::emit(program, flavour)?.fiber(program, code.function)
}
