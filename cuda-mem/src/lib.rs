//! Device memory with ndarray's shapes: [`DeviceArray`], and the untyped [`Buffer`] below it.
//!
//! The crate moves bytes and orders their users. It launches no kernels but one of its own, which moves elements that lie
//! apart; `cuda-jit` launches others. It never chooses a device: every function takes a [`Context`](cuda_driver::Context) or a
//! [`Stream`](cuda_driver::Stream), or an array that has one.
//!
//! What always holds:
//!
//! - A buffer knows which streams use it. A conflicting use on another stream waits for them on the device, and so does
//!   freeing; safe code cannot race between launches, and a use on the same stream as before makes no driver call.
//! - Element types are plain data, so that any bytes a device leaves in memory are a value.
//! - An array without elements has no memory and makes no driver call.
//! - Copies of pageable host memory return when the host's side is done with; copies that run on take page-locked memory.
//! - The host's access to memory that devices reach waits for their uses of it.
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
mod assign;
mod buffer;
mod create;
mod dlpack;
mod error;
mod exchange;
mod external;
mod graph;
mod host_array;
mod host_copy;
mod host_memory;
mod index;
mod interface;
mod ipc;
#[cfg(feature = "json")]
mod json;
mod layout;
mod like;
#[cfg(all(test, loom))]
mod loom_models;
mod managed;
mod peer;
mod pitched;
mod place;
mod progress;
mod queue;
mod records;
mod registered;
mod scoped;
mod show;
mod spans;
mod staging;
mod storage;
mod strided;
mod sync;
mod transfer;
mod uses;
mod view;

pub use alloc::{
    CachingManager, DeferCleanup, MemoryManager, MemoryPool, MemoryStatistics, PendingLimits, PoolReuse,
    PoolStatistics, defer_cleanup, free_pending, memory_info, memory_statistics, reset_peak, set_memory_manager,
    set_pending_limits,
};
pub use array::{DeviceArray, DeviceArrayView, DeviceArrayViewMut};
pub use buffer::Buffer;
pub use create::{device_array, device_array_like, from_slice, to_device, zeros};
pub use cuda_mem_element::{Element, Exchanged, NumberKind};
pub use dlpack::{Dlpack, ManagedTensor, ffi};
pub use error::{Error, OutOfMemory, Refused, Result};
pub use exchange::ExchangeError;
pub use host_array::{
    HostArray, HostKind, Managed, Mapped, OnDevice, PageLocked, Pinned, Registered, RegisteredMapped,
};
pub use host_memory::{
    HostOptions, ManagedArray, MappedArray, PinnedArray, managed_array, managed_array_like, mapped_array,
    mapped_array_like, pinned_array, pinned_array_like,
};
pub use interface::CudaArrayInterface;
pub use ipc::{IpcHandle, open_ipc_array, shareable_array};
pub use like::Like;
pub use managed::{Advice, MemoryLocation};
pub use place::Place;
pub use progress::Progress;
pub use registered::{MappedView, PinnedView, mapped, pinned};
pub use storage::{Owned, ReadOnly, Storage, StorageMut, View, ViewMut};
pub use transfer::{GivenBack, Transfer};
