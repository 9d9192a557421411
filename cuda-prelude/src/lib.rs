//! `use cuda_prelude::*;`: GPU kernels in Rust, on a GPU or, where there is none, on the software device.
//!
//! This crate is the door: it chooses the driver, keeps a current device per thread, and gathers the names that a
//! Numba user looks for. What they do is in the crates below it. It holds no `unsafe` code.
//!
//! # Examples
//!
//! ```
//! use cuda_prelude::*;
//! use ndarray::Array1;
//!
//! #[kernel]
//! fn add_arrays<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
//!     let i = grid::<1>();
//!     if i < out.len() {
//!         out[i] = x[i] + y[i];
//!     }
//! }
//!
//! fn main() -> Result<()> {
//!     let x = to_device(&Array1::from_iter((0..1000).map(|i| i as f32)))?;
//!     let mut out = device_array_like(&x)?;
//!     let threads = 128;
//!     let blocks = out.len().div_ceil(threads);
//!     add_arrays::launch((blocks, threads), &x, &x, &mut out)?;
//!     assert_eq!(out.copy_to_host()?[999], 1998.0);
//!     Ok(())
//! }
//! ```
//!
//! # Which device
//!
//! The driver is opened once, when it is first needed: the library that `CUDA_DRIVER_PATH` names, or the software
//! device if it is `sim`; else `libcuda.so.1` if it has a device; else the software device, which one line on standard
//! error says. `CUDA_DRIVER_PATH=sim` asks for the software device and silences the line;
//! `CUDA_DRIVER_PATH=libcuda.so.1` forbids it. Compiling to PTX opens no driver.
#![forbid(unsafe_code)]

#[cfg(doctest)]
mod book;
mod choice;
mod devices;
mod memory;
mod streams;

pub use choice::{DRIVER_VARIABLE, driver, is_simulated};
pub use cuda_driver::{Context, Device, Event, KernelPanic, LaunchConfig, Stream};
pub use cuda_jit::device::{
    AtomicInteger, AtomicNumber, FULL_MASK, Shuffled, active_mask, all_sync, any_sync, atomic_add, atomic_and,
    atomic_dec, atomic_exch, atomic_inc, atomic_max, atomic_min, atomic_or, atomic_sub, atomic_xor, ballot_sync,
    block_dim, block_idx, cas, dynamic_shared, eq_sync, grid, grid_dim, grid_size, lane_id, match_any_sync, shared,
    shfl_down_sync, shfl_sync, shfl_up_sync, shfl_xor_sync, sync_threads, sync_threads_and, sync_threads_count,
    sync_threads_or, sync_warp, thread_idx, threadfence, threadfence_block, threadfence_system, warp_size,
};
pub use cuda_jit::harvest::{DeviceType, ElementType, ValueType};
pub use cuda_jit::host::for_each_thread;
pub use cuda_jit::launch::{In, InOut, Out};
pub use cuda_jit::target::ComputeCapability;
pub use cuda_jit::{
    CompiledKernel, Error, Float, Integer, Kernel, Num, Result, bf16, cache, f16, inspect, kir_of, warm, warnings,
};
pub use cuda_jit_macros::{
    PreludeDeviceType as DeviceType, prelude_device as device, prelude_device_fn as device_fn,
    prelude_kernel as kernel, prelude_printf as printf,
};
pub use cuda_mem::{DeviceArray, Element};
pub use devices::{
    compile_ptx, compile_ptx_for_current_device, current_context, current_device, detect, is_available, list_devices,
    select_device, synchronize,
};
pub use memory::{device_array, device_array_like, from_slice, to_device, zeros};
pub use streams::{
    default_stream, event, event_elapsed_time, event_without_timing, legacy_default_stream, per_thread_default_stream,
    stream,
};

/// What the macros' expansions name. Not for people.
#[doc(hidden)]
pub mod __private {
    pub use crate::current_context;
    pub use cuda_jit::__private::*;
}
