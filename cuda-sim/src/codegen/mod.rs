//! The code generator: control-flow graphs to LLVM IR as text, and that to machine code.
//!
//! The only module that names LLVM. Emission ([`kernel`], [`ops`] and its neighbours) writes text and needs no LLVM at
//! all, so a module is checked completely when it is loaded; [`jit`] compiles a kernel when it is first launched.
//!
//! Registers are stack slots of the function that LLVM promotes; the thread loop stands inside each region. Addresses
//! are offsets from a pointer whose value, 0, LLVM does not know: unlike `inttoptr` that lets it see strides, and
//! unlike a constant null it promises nothing about what may be accessed.

pub(crate) mod abi;
mod carry;
mod compare;
mod convert;
mod dot;
mod emit;
mod float;
mod guard;
mod half;
mod integer;
pub(crate) mod jit;
mod kernel;
mod math;
mod memory;
mod narrow;
pub(crate) mod object;
mod ops;
mod orc;
mod region;
pub(crate) mod strip;

use crate::ir::Function;
use crate::ir::loops::depth;
use crate::ir::lower::Program;
use crate::ir::regions::{Kind, Regions};
use crate::ir::sync::{FRAME_BYTES, Plan};
use crate::ptx::{FunctionKind, Result};
use std::sync::Arc;

/// A kernel ready to be compiled.
#[derive(Debug)]
pub(crate) struct KernelCode {
    /// Index among the program's functions.
    pub(crate) function: usize,
    /// A module for each region; none where threads can only be fibers.
    pub(crate) regions: Vec<Part>,
    /// For each region its loop in step, and the one for when that guessed wrong.
    pub(crate) strips: Vec<[Option<Part>; 2]>,
    /// Bytes of frame for each thread.
    pub(crate) frame_bytes: u64,
    /// Bytes of local memory for each thread, the stack of calls included.
    pub(crate) local_bytes: u64,
    /// Whether it calls functions that are not part of it.
    pub(crate) calls: bool,
    /// Whether the regions are scheduled.
    pub(crate) scheduled: bool,
    pub(crate) effort: Effort,
    pub(crate) plan: Arc<Plan>,
}

/// LLVM IR of a module with one entry and what that calls.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) ir: String,
    /// Whether a thread that goes on will most likely come to it.
    pub(crate) hot: bool,
    /// Whether a block may run it more than once.
    pub(crate) repeats: bool,
}

/// How much is done to make code fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    Full,
    /// For kernels so large that LLVM's optimisers, which take more than linear time, would not end.
    Least,
}

/// The largest kernels, in instructions and in nested loops, that are optimised.
const OPTIMISED: (usize, usize) = (1 << 15, 32);

impl Effort {
    /// The effort for a kernel with the functions that it calls.
    fn of<'a>(mut functions: impl Iterator<Item = &'a Function>) -> Effort {
        let large = |f: &Function| f.instructions() > OPTIMISED.0 || depth(f) > OPTIMISED.1;
        if functions.any(large) { Effort::Least } else { Effort::Full }
    }
}

/// Local memory for calls that may recurse.
const RECURSION_BYTES: u64 = 64 << 10;

/// Emits every kernel of a program.
pub(crate) fn emit(program: &Program) -> Result<Vec<KernelCode>> {
    let functions = kernel::Functions::emit(program, false)?;
    let mut kernels = Vec::new();
    for (index, function) in program.functions.iter().enumerate() {
        if function.kind != FunctionKind::Entry {
            continue;
        }
        let called = functions.reached(index);
        let calls: u64 = called.iter().map(|f| program.functions[*f].stack_bytes()).sum();
        let effort = Effort::of(called.iter().map(|f| &program.functions[*f]).chain([function]));
        let recursion = if functions.recursive(index) { RECURSION_BYTES } else { 0 };
        let local_bytes = function.stack_bytes() + calls + recursion;
        if function.only_fibers {
            // Emitted here for what is wrong with it; compiled when it is launched, like all kernels.
            functions.fiber(program, index)?;
            kernels.push(KernelCode {
                function: index,
                regions: Vec::new(),
                strips: Vec::new(),
                frame_bytes: FRAME_BYTES,
                local_bytes,
                calls: !called.is_empty(),
                scheduled: true,
                effort,
                plan: Arc::default(),
            });
            continue;
        }
        let regions = Regions::new(function);
        let polls = regions.kinds.iter().map(|k| *k == Kind::Poll).collect();
        kernels.push(KernelCode {
            function: index,
            regions: functions.modules(program, index, &regions)?,
            strips: functions.strips(program, index, &regions)?,
            frame_bytes: regions.frame_bytes,
            local_bytes,
            calls: !called.is_empty(),
            scheduled: regions.scheduled,
            effort,
            plan: Arc::new(Plan { polls, sites: regions.sites }),
        });
    }
    Ok(kernels)
}

/// The LLVM module in which the threads of a kernel are fibers, and where they wait; `exact` asks the runtime about each
/// access.
pub(crate) fn emit_fiber(program: &Program, code: &KernelCode, exact: bool) -> Result<(String, Plan)> {
    kernel::Functions::emit(program, exact)?.fiber(program, code.function)
}
