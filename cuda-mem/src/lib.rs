//! Device memory with ndarray's shapes: [`DeviceArray`], and the untyped [`Buffer`] below it.
//!
//! The crate copies memory and orders accesses to it. It launches only one kernel of its own, for strided copies;
//! `cuda-jit` launches others. It never chooses a device: every function takes a [`Context`](cuda_driver::Context) or a
//! [`Stream`](cuda_driver::Stream), or an array that has one.
//!
//! Invariants:
//!
//! - A buffer tracks the streams that access it. A conflicting access on another stream waits for them on the device,
//!   and so does freeing; safe code cannot race between launches, and an access on the same stream as before makes no
//!   driver call.
//! - Element types are plain data, so that any bytes in device memory are a value.
//! - An array without elements has no memory and makes no driver call.
//! - Copies of pageable host memory are blocking; asynchronous copies take page-locked memory.
//! - Host accesses to device-accessible memory wait for the devices' accesses to it.
//!
//! # Examples
//!
//! ```
//! use cuda_mem::{device_array_like, to_device};
//! use ndarray::array;
//!
//! # fn main() -> cuda_mem::Result<()> {
//! let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
//! let x = to_device(&context, &array![[1.0_f32, 2.0], [3.0, 4.0]])?;
//! let y = device_array_like(&x)?;
//! assert_eq!(y.shape(), [2, 2]);
//! assert_eq!(x.copy_to_host()?, array![[1.0, 2.0], [3.0, 4.0]]);
//! # Ok(())
//! # }
//! ```

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod alloc;
mod array;
mod buffer;
mod copy;
mod error;
mod graph;
mod host;
mod layout;
#[cfg(all(test, loom))]
mod loom_models;
mod share;
mod spans;
mod sync;

pub use alloc::{
    CachingManager, DeferCleanup, MemoryManager, MemoryPool, MemoryStatistics, PendingLimits, PoolReuse,
    PoolStatistics, defer_cleanup, free_pending, memory_info, memory_statistics, reset_peak, set_memory_manager,
    set_pending_limits,
};
pub use array::create::{device_array, device_array_like, from_slice, to_device, zeros};
pub use array::like::Like;
pub use array::storage::{Owned, ReadOnly, Storage, StorageMut, View, ViewMut};
pub use array::target::AllocTarget;
pub use array::{DeviceArray, DeviceArrayView, DeviceArrayViewMut};
pub use buffer::Buffer;
pub use copy::progress::Progress;
pub use copy::transfer::{GivenBack, Transfer};
pub use cuda_mem_element::{Element, Exchanged, NumberKind};
pub use error::{Error, OutOfMemory, Refused, Result};
pub use host::array::{
    HostArray, HostKind, Managed, Mapped, OnDevice, PageLocked, Pinned, Registered, RegisteredMapped,
};
pub use host::managed::{Advice, MemoryLocation};
pub use host::memory::{
    HostOptions, ManagedArray, MappedArray, PinnedArray, managed_array, managed_array_like, mapped_array,
    mapped_array_like, pinned_array, pinned_array_like,
};
pub use host::registered::{MappedView, PinnedView, mapped, pinned};
pub use share::dlpack::{Dlpack, ManagedTensor, ffi};
pub use share::exchange::ExchangeError;
pub use share::interface::CudaArrayInterface;
pub use share::ipc::{IpcHandle, open_ipc_array, shareable_array};
