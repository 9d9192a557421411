//! Raw CUDA: the driver API's types and constants, one table of its C functions, and the search for the toolkit.
//!
//! The declarations of `cuda.h` and `cudaProfiler.h` are at the root of this crate under their C names. They are generated from
//! the headers of CUDA 13.5 and committed, so that building needs no toolkit; those headers have every function of CUDA 12.0
//! and newer. Other libraries are modules, each behind a feature: `runtime`, `nvrtc`, `nvjitlink`, `nvml`, `nvtx`, `nccl`. With the
//! feature `generate` the build makes the bindings from the headers of the machine's toolkit, and completes them from the
//! committed ones.
//! For a safe interface see the crate `cuda-driver`.
//!
//! - [`DriverApi`] is a CUDA driver as a table of functions: [`load`](DriverApi::load) opens the system's,
//!   [`from_environment`](DriverApi::from_environment) the one that `CUDA_DRIVER_PATH` names;
//!   [`load_from`](DriverApi::load_from) opens any library and [`from_fns`](DriverApi::from_fns) takes any table, which is
//!   `unsafe`: the caller promises that the functions do what CUDA's manual says. Functions are resolved on first use, and a
//!   missing one is an error that names it.
//! - Every version of every function has its exported symbol: `cuCtxCreate_v2`, `cuCtxCreate_v4`. There are no features for
//!   versions of CUDA. The plain name is the oldest variant (`cuMemAlloc` takes 32-bit sizes); C code gets the newest variant
//!   from the plain name by the header's macros. For the variants in `_ptds` and `_ptsz`, stream 0 is the calling thread's
//!   default stream.
//! - Enumerations are transparent integers with associated constants ([`CUresult::CUDA_SUCCESS`]), so that a code that is
//!   newer than the headers is a number; `Debug` names the enumerator where it is known.
//! - Structures that C code initialises with zeros implement `Default` as zeros.
//! - [`toolkit`] finds headers, libraries, libdevice and tools of a CUDA toolkit. Build scripts of dependants get the results
//!   as `DEP_CUDA_ROOT`, `DEP_CUDA_INCLUDE`, `DEP_CUDA_VERSION` and `DEP_CUDA_LIBDEVICE`.
//!
//! The functions are documented in the
//! [CUDA driver API manual](https://docs.nvidia.com/cuda/cuda-driver-api/index.html).
//!
//! # Examples
//!
//! A driver of two functions, called through the table like any driver:
//!
//! ```
//! use core::ffi::{c_int, c_uint};
//! use cuda_sys::{CUresult, DriverApi, DriverFns};
//!
//! unsafe extern "C" fn init(_flags: c_uint) -> CUresult {
//!     CUresult::CUDA_SUCCESS
//! }
//!
//! unsafe extern "C" fn device_count(count: *mut c_int) -> CUresult {
//!     // SAFETY: the caller passes a pointer to one integer.
//!     unsafe { *count = 1 };
//!     CUresult::CUDA_SUCCESS
//! }
//!
//! let fns = DriverFns { cuInit: Some(init), cuDeviceGetCount: Some(device_count), ..DriverFns::default() };
//! // SAFETY: both functions do what the manual says of them.
//! let api = unsafe { DriverApi::from_fns(&fns) }.named("two functions");
//!
//! // SAFETY: 0 is the one value of `flags` that is allowed.
//! let status = unsafe { (api.cuInit()?)(0) };
//! assert_eq!(status, CUresult::CUDA_SUCCESS);
//!
//! let mut count = 0;
//! // SAFETY: `count` lives through the call.
//! let status = unsafe { (api.cuDeviceGetCount()?)(&mut count) };
//! assert_eq!((status, count), (CUresult::CUDA_SUCCESS, 1));
//!
//! let missing = api.cuMemAllocAsync().unwrap_err();
//! assert_eq!(
//!     missing.to_string(),
//!     "the CUDA driver (two functions) has no function `cuMemAllocAsync`, which came with CUDA 11.2"
//! );
//! # Ok::<(), cuda_sys::MissingSymbol>(())
//! ```
//!
//! # Safety
//!
//! `unsafe` is in `library.rs` (opens libraries and looks up symbols), `table.rs` (casts an address to a typed function
//! pointer), `api.rs` and the libraries' modules (call the functions for versions and symbols, and a tool's functions) and
//! `c.rs` (zeroed structures). Each file states its argument.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[macro_use]
mod c;
#[macro_use]
#[expect(non_snake_case, non_camel_case_types, reason = "the names are those of the C headers")]
mod table;
mod api;
mod driver;
mod error;
mod functions;
mod library;
#[cfg(feature = "nccl")]
#[expect(non_snake_case, non_camel_case_types, reason = "the names are those of the C headers")]
pub mod nccl;
#[cfg(feature = "nvjitlink")]
#[expect(non_snake_case, non_camel_case_types, reason = "the names are those of the C headers")]
pub mod nvjitlink;
#[cfg(feature = "nvml")]
#[expect(non_snake_case, non_camel_case_types, reason = "the names are those of the C headers")]
pub mod nvml;
#[cfg(feature = "nvrtc")]
#[expect(non_snake_case, non_camel_case_types, reason = "the names are those of the C headers")]
pub mod nvrtc;
#[cfg(feature = "nvtx")]
#[expect(non_snake_case, reason = "the names are those of the C headers")]
pub mod nvtx;
#[cfg(feature = "runtime")]
#[expect(non_snake_case, non_camel_case_types, reason = "the names are those of the C headers")]
pub mod runtime;
mod slots;
mod sync;
mod system;
pub mod toolkit;

pub use api::DriverApi;
pub use driver::*;
pub use error::{LoadError, MissingSymbol};
pub use library::loader_finds;
pub use table::{DefaultStream, DriverFns, SYMBOLS, Symbol};
