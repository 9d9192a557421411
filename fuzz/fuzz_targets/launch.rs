//! Kernels that certainly end, on small buffers: a launch returns a result or one of CUDA's errors, and never crashes.
//!
//! Only kernels without backward branches, and with calls of earlier functions only, are launched. Their steps are bounded
//! and counted; a kernel that may take more than [`MAX_STEPS`] is left to the target `ptx`.
//! `cargo +nightly fuzz run launch -- -dict=fuzz/ptx.dict`; with `CUDA_SIM_ENGINE=fibers` for the other engine.
//!
//! # Safety
//!
//! Driver calls get pointers to live locals, as CUDA requires. A kernel gets more bytes of parameters than it can have, all of
//! which are addresses of one buffer.
#![no_main]

use cuda_sim::driver_api;
use cuda_sim::ptx::{self, Function, FunctionKind, Item, Opcode, Operand, Statement};
use cuda_sys::CUresult;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use std::collections::{HashMap, HashSet};
use std::ffi::{CString, c_void};
use std::ptr::null_mut;

/// The limit for the instructions that one thread executes.
const MAX_STEPS: u64 = 20_000;
/// Threads in a block: a full warp, and part of another.
const THREADS: u32 = 40;
const BUFFER: usize = 4096;

/// An upper bound for the instructions that a call of the function executes; `None` if it may not end.
fn steps(function: &Function, known: &HashMap<&str, u64>) -> Option<u64> {
    let (mut labels, mut steps) = (HashSet::new(), 1u64);
    for statement in function.body.as_ref()? {
        match statement {
            Statement::Label(name, _) => {
                labels.insert(name.as_str());
            }
            Statement::BranchTargets(_, targets) if targets.iter().any(|t| labels.contains(t.as_str())) => return None,
            Statement::Instruction(instruction) => {
                // An indirect branch can go backwards: its table may come before it and name a label in between.
                let up = |operand: &Operand| matches!(operand, Operand::Name(name) if labels.contains(name.as_str()));
                let jumps = instruction.opcode == Opcode::BrxIdx;
                let up = instruction.opcode == Opcode::Bra && instruction.operands.iter().any(up);
                if jumps || up || instruction.opcode == Opcode::Nanosleep {
                    return None;
                }
                let called = match &instruction.call {
                    Some(call) => *known.get(call.callee.as_str())?,
                    None => 1,
                };
                steps = steps.saturating_add(called);
            }
            _ => {}
        }
    }
    (steps <= MAX_STEPS).then_some(steps)
}

/// The kernels of a text that certainly end.
fn ending(module: &ptx::Module) -> Vec<&Function> {
    let mut known = HashMap::new();
    let mut kernels = Vec::new();
    for item in &module.items {
        let Item::Function(function) = item else { continue };
        let Some(steps) = steps(function, &known) else { continue };
        known.insert(function.name.as_str(), steps);
        if function.kind == FunctionKind::Entry {
            kernels.push(function);
        }
    }
    kernels
}

macro_rules! call {
    ($name:ident($($argument:expr),*)) => {{
        let function = driver_api().$name().expect(stringify!($name));
        // SAFETY: pointers are to live locals of the types that CUDA declares, and handles are those that the driver returned.
        unsafe { function($($argument),*) }
    }};
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(module) = ptx::parse(text) else { return };
    let kernels = ending(&module);
    let Ok(image) = CString::new(text) else { return };
    if kernels.is_empty() {
        return;
    }
    let (mut context, mut loaded, mut buffer) = (null_mut(), null_mut(), 0);
    call!(cuInit(0));
    call!(cuDevicePrimaryCtxRetain(&mut context, 0));
    call!(cuCtxSetCurrent(context));
    let code = call!(cuModuleLoadData(&mut loaded, image.as_ptr().cast()));
    assert_ne!(code, CUresult::CUDA_ERROR_UNKNOWN, "the driver panicked");
    if code == CUresult::CUDA_SUCCESS {
        assert_eq!(call!(cuMemAlloc_v2(&mut buffer, BUFFER)), CUresult::CUDA_SUCCESS);
        call!(cuMemsetD8_v2(buffer, 0x3c, BUFFER));
        let mut values = vec![buffer + 1024; 4096];
        let mut size = size_of_val(values.as_slice());
        for kernel in kernels {
            let Ok(name) = CString::new(kernel.name.as_str()) else { continue };
            let mut extra: [*mut c_void; 5] =
                [std::ptr::without_provenance_mut(1), values.as_mut_ptr().cast(), std::ptr::without_provenance_mut(2),
                 (&raw mut size).cast(), null_mut()];
            let mut f = null_mut();
            if call!(cuModuleGetFunction(&mut f, loaded, name.as_ptr())) != CUresult::CUDA_SUCCESS {
                continue;
            }
            let code = call!(cuLaunchKernel(
                f, 2, 1, 1, THREADS, 1, 1, 64, null_mut(), null_mut(), extra.as_mut_ptr()
            ));
            assert_ne!(code, CUresult::CUDA_ERROR_UNKNOWN, "{}", kernel.name);
            assert_ne!(call!(cuCtxSynchronize()), CUresult::CUDA_ERROR_UNKNOWN, "{}", kernel.name);
        }
    }
    // A fault is sticky; a reset also unloads the module and frees the buffer.
    call!(cuDevicePrimaryCtxReset_v2(0));
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { fuzz::mutate(data, size, max_size, seed) });
