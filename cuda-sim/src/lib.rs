//! A software CUDA driver: runs PTX on this machine's CPU.
//!
//! [`driver_api`] gives the table of C functions that everything above a CUDA driver works with. PTX is parsed by
//! [`ptx`], lowered to a control-flow graph, cut into regions with the thread loop inside, compiled through LLVM for
//! this CPU, and run over all cores. The same functions are the C library `libcuda_sim.so`.
//!
//! Environment: `CUDA_SIM_PROFILE` (`sm_75`, `sm_80`, `sm_90`, `sm_120`) chooses the device that is shown,
//! `CUDA_SIM_DEVICES` how many there are, `CUDA_SIM_ENGINE=fibers` the slow, exact engine; the table of all variables, and
//! what each allows, is at the head of `environment.rs` and in the book. A value that is not allowed is an error of
//! `cuInit`.
//!
//! ARCHITECTURE, from text to result: `ptx` (text, tree, instruction table) → `link` (several modules to one, the
//! device's own functions) → `ir` (control-flow graph, liveness, regions) → `codegen` (LLVM IR as text, machine code;
//! the only part that names LLVM) → `exec` (workers, blocks, faults). `service` is what kernels ask for while they run
//! (printf, assert, malloc). `queue` runs what is enqueued in streams, each in order and all at once; `memory` is the
//! devices' memory, `source` the lines that a text was compiled from, `device` their limits, `driver` the C functions. `cpu` is what is written in the
//! processor's own instructions, `sync` holds the locks of what queues and wakes, for loom.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("the software device runs on Linux, on x86-64 and AArch64: its way out of faults is written for these");

mod codegen;
mod cpu;
mod device;
mod driver;
mod environment;
mod exec;
mod ir;
mod link;
#[cfg(feature = "exports")]
mod log;
mod memory;
mod module;
mod parallel;
pub mod ptx;
mod queue;
mod service;
mod source;
mod sync;

pub use driver::driver_api;
#[cfg(fuzzing)]
#[doc(hidden)]
pub use module::compile;

#[cfg(all(test, not(loom)))]
mod tests;
