//! `use cuda_prelude::*;`: GPU kernels in Rust, on a GPU or, where there is none, on the software device.
//!
//! This crate is the entry point: it chooses the driver, keeps a current device per thread, and exports the names that a
//! Numba user looks for. They are implemented in the crates below it. It has no `unsafe` code.
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
//! # Choice of the device
//!
//! The driver is opened once, on first use: the library that `CUDA_DRIVER_PATH` names, or the software device if it is `sim`;
//! else `libcuda.so.1` if it has a device; else the software device, which a line on standard error reports.
//! `CUDA_DRIVER_PATH=sim` selects the software device without the line; `CUDA_DRIVER_PATH=libcuda.so.1` never selects it.
//! Without the feature `sim` the program has no software device, and a machine without a GPU is an error. Compiling to PTX
//! opens no driver, and neither does [`runtime::version`], which calls the CUDA runtime library, nor [`nvtx`], which talks to
//! profilers.
#![forbid(unsafe_code)]

/// The name by which the macros' expansions refer to this crate. A glob import of this crate under any name, or of a crate that
/// re-exports it, imports the name too.
#[doc(hidden)]
pub extern crate self as cuda_prelude;

#[cfg(doctest)]
mod book;
mod check;
mod choice;
mod devices;
mod host_memory;
mod memory;
mod streams;

pub use check::{CheckError, CheckReport, CheckedAccess, Checker, check, check_with};
pub use choice::{DRIVER_VARIABLE, driver, is_simulated};
pub use cuda_driver::{
    Capture, Context, Device, Event, Graph, GraphExec, KernelPanic, LaunchConfig, ProfilerGuard, Stream,
    external_stream, nvtx, runtime,
};
#[cfg(feature = "bundle")]
pub use cuda_jit::bundle;
pub use cuda_jit::device::{
    AtomicCounter, AtomicInteger, AtomicNumber, AtomicOrder, AtomicScope, AtomicValue, AtomicWord, BitWord, Block,
    Bytes4, Cached, Cluster, Coalesced, Conditional, FULL_MASK, Grid, LoadOrder, Reduced, Shuffled, StoreOrder, Tile,
    TileSize, active_mask, all_sync, any_sync, as_vectors, as_vectors_mut, atomic_add, atomic_add_with, atomic_and,
    atomic_and_with, atomic_dec, atomic_dec_with, atomic_exch, atomic_exch_with, atomic_fence, atomic_inc,
    atomic_inc_with, atomic_load, atomic_load_with, atomic_max, atomic_max_with, atomic_min, atomic_min_with,
    atomic_nanmax, atomic_nanmax_with, atomic_nanmin, atomic_nanmin_with, atomic_or, atomic_or_with, atomic_store,
    atomic_store_with, atomic_sub, atomic_sub_with, atomic_xor, atomic_xor_with, ballot_sync, block_dim, block_idx,
    breakpoint, brev, byte_perm, cas, cas_with, clock, clock64, cluster_block_idx, cluster_blocks, cluster_dim,
    cluster_idx, cluster_rank, clz, coalesced_threads, compute_capability, dp4a, dynamic_shared, eq_sync, ffs,
    funnelshift_l, funnelshift_r, globaltimer, grid, grid_dim, grid_size, lane_id, lanemask_eq, lanemask_ge,
    lanemask_gt, lanemask_le, lanemask_lt, ldca, ldcg, ldcs, ldcv, ldg, ldlu, libdevice, match_all_sync,
    match_any_sync, nanosleep, order, popc, reduce_add_sync, reduce_and_sync, reduce_max_sync, reduce_min_sync,
    reduce_or_sync, reduce_xor_sync, scope, set_conditional, shared, shfl_down_sync, shfl_sync, shfl_up_sync,
    shfl_xor_sync, stcg, stcs, stwb, stwt, sync_threads, sync_threads_and, sync_threads_count, sync_threads_or,
    sync_warp, this_block, this_cluster, this_grid, thread_idx, threadfence, threadfence_block, threadfence_system,
    tiled_partition, warp_size,
};
#[cfg(feature = "compiler")]
pub use cuda_jit::export::ExportedFunction;
pub use cuda_jit::host::for_each_thread;
pub use cuda_jit::launch::{HostMemory, HostMemoryMut, In, InOut, Out};
#[cfg(all(feature = "bundle", feature = "compiler"))]
pub use cuda_jit::record;
pub use cuda_jit::target::ComputeCapability;
pub use cuda_jit::typeinfo::{DeviceType, ElementType, ValueType};
pub use cuda_jit::{
    CompiledKernel, Complex, Complex32, Complex64, Constant, Error, Float, Integer, Kernel, Num, Result, Vector, bf16,
    bf16x2, cache, cuda_vectors, e4m3, e4m3x2, e5m2, e5m2x2, e8m0, e8m0x2, f16, f16x2, f32x2, f32x3, f32x4, f64x2,
    f64x3, f64x4, i8x2, i8x3, i8x4, i16x2, i16x3, i16x4, i32x2, i32x3, i32x4, i64x2, i64x3, i64x4, inspect, u8x2, u8x3,
    u8x4, u16x2, u16x3, u16x4, u32x2, u32x3, u32x4, u64x2, u64x3, u64x4, warm, warnings,
};
#[cfg(feature = "compiler")]
pub use cuda_jit::{kir_of, recompile};
#[cfg(feature = "bundle")]
pub use cuda_jit_macros::prelude_embed_kernels as embed_kernels;
pub use cuda_jit_macros::{
    PreludeDeviceType as DeviceType, prelude_device as device, prelude_device_fn as device_fn,
    prelude_kernel as kernel, prelude_printf as printf,
};
pub use cuda_mem::{
    Advice, CachingManager, CudaArrayInterface, DeferCleanup, DeviceArray, DeviceArrayView, DeviceArrayViewMut, Dlpack,
    Element, Exchanged, HostOptions, IpcHandle, Like, ManagedArray, MappedArray, MappedView, MemoryLocation,
    MemoryManager, MemoryPool, MemoryStatistics, PendingLimits, PinnedArray, PinnedView, Progress, ReadOnly, Transfer,
    free_pending, memory_info, memory_statistics, open_ipc_array, reset_peak, set_memory_manager, set_pending_limits,
};
pub use devices::{
    close, compile_ptx, compile_ptx_for_current_device, current_context, current_device, detect, gpus, is_available,
    is_bfloat16_supported, is_float8_supported, is_float16_supported, list_devices, profile_start, profile_stop,
    profiling, select_device, synchronize,
};
pub use host_memory::{
    managed_array, managed_array_like, mapped, mapped_array, mapped_array_like, pinned, pinned_array, pinned_array_like,
};
pub use memory::{defer_cleanup, device_array, device_array_like, from_slice, shareable_array, to_device, zeros};
pub use streams::{
    capture, default_stream, event, event_elapsed_time, event_without_timing, legacy_default_stream,
    per_thread_default_stream, stream,
};

/// The items that the macros' expansions refer to; not part of the public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::current_context;
    pub use cuda_jit::__private::*;

    /// The macros that kernels can call.
    pub mod macros {
        pub use cuda_jit::__private::macros::*;

        /// The macros that this crate defines.
        pub mod printf {
            pub use crate::printf;
        }
    }
}
