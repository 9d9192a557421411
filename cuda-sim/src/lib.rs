//! A software CUDA driver: runs PTX on this machine's CPU.
//!
//! [`driver_api`] returns the table of C functions on which everything above a CUDA driver is built. PTX is parsed by
//! [`ptx`], lowered to a control-flow graph, split into regions that contain the thread loop, compiled through LLVM for
//! this CPU, and run on all cores. The same functions are the C library `libcuda_sim.so`.
//!
//! Environment: `CUDA_SIM_PROFILE` (`sm_75`, `sm_80`, `sm_90`, `sm_120`) selects the simulated card, `CUDA_SIM_DEVICES`
//! the number of devices, `CUDA_SIM_ENGINE=fibers` the slow, exact engine. The table of all variables and their allowed
//! values is in the header of `environment.rs` and in the book. A value that is not allowed is an error of `cuInit`.
//!
//! ARCHITECTURE, from text to result: `ptx` (text, syntax tree, instruction table) → `link` (linking of modules, the
//! device library) → `ir` (control-flow graph, liveness, regions) → `codegen` (LLVM IR as text, machine code; the only
//! part that names LLVM) → `exec` (workers, blocks, faults). `check` has the checkers of `CUDA_SIM_CHECK`. `service` has the functions that running kernels call
//! (printf, assert, malloc). `queue` runs the operations of streams, each stream in order and all concurrently; `memory`
//! is the devices' memory, `source` maps PTX lines to source lines, `json` escapes text, `device` has the devices' limits, `driver` the C
//! functions. `cpu` is processor-specific assembly, and `sync` has the synchronisation primitives, replaceable for loom.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("the software device runs on Linux, on x86-64 and AArch64: its way out of faults is written for these");

mod check;
mod codegen;
mod cpu;
mod device;
mod driver;
mod environment;
mod exec;
mod ir;
mod json;
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

pub use check::is_on as is_checking;
#[doc(hidden)]
pub use check::{Accessed, Report, check_with};
pub use codegen::CodeCounts;
pub use driver::driver_api;
pub use module::code_counts;
#[cfg(fuzzing)]
#[doc(hidden)]
pub use module::compile;

#[cfg(all(test, not(loom)))]
mod tests;
