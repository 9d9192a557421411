//! NCCL for software devices: a C library with the functions of NVIDIA's `nccl.h`, between threads of a process and processes
//! of a machine, through shared memory.
//!
//! It stands in for `libnccl.so.2` as `libcuda_sim.so` does for `libcuda.so.1`: programs that are written for NCCL run and are
//! tested without GPUs. It works with the software device only, whose memory is the process's own, and reaches it through the
//! driver's public functions. What NCCL leaves undefined it reports: calls that do not match between the ranks, and ranks that
//! are gone.
//!
//! From call to data: `exports` (C functions) → `check` (arguments), `group`, `create` (communicators by id, split and
//! shrink) → `enqueue` (streams and graphs) → `run` (algorithms) → `transfer` (pieces) → `watch` (waits, mismatches) →
//! `segment` (the shared file), `ring` (a pair's slots), `sync` (atomics and doorbells, which loom replaces). `communicator`
//! has the state of a rank, `element` types and reductions, `driver` the software device, `failure` errors and messages,
//! `abi` the header's types.

#[cfg(not(target_os = "linux"))]
compile_error!("the software NCCL runs on Linux: ranks sleep on futexes and lock files by descriptor");

#[cfg(not(loom))]
mod abi;
#[cfg(not(loom))]
mod call;
#[cfg(not(loom))]
mod check;
#[cfg(not(loom))]
mod communicator;
#[cfg(not(loom))]
mod create;
#[cfg(not(loom))]
mod driver;
#[cfg(not(loom))]
mod element;
#[cfg(not(loom))]
mod enqueue;
#[cfg(not(loom))]
mod exports;
#[cfg(not(loom))]
mod failure;
#[cfg(not(loom))]
mod group;
#[cfg(all(test, loom))]
mod loom_models;
mod ring;
#[cfg(not(loom))]
mod run;
#[cfg(not(loom))]
mod segment;
mod sync;
#[cfg(not(loom))]
mod transfer;
#[cfg(not(loom))]
mod watch;
