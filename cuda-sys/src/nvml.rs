//! NVML, the library that monitors and manages devices: the contents of `nvml.h`, and a table of the functions of
//! `libnvidia-ml.so.1`, which comes with the driver.
//!
//! Each version of each function has its own name (`nvmlInit_v2`). Bit fields are the bytes that hold them. A function's
//! version is that of the first toolkit whose header declares it; drivers may have had it earlier. The functions are
//! documented in the [NVML manual](https://docs.nvidia.com/deploy/nvml-api/index.html).
//!
//! # Examples
//!
//! ```
//! use cuda_sys::nvml::NvmlApi;
//!
//! match NvmlApi::load() {
//!     Ok(nvml) => {
//!         // SAFETY: the function takes nothing.
//!         let status = unsafe { (nvml.nvmlInit_v2()?)() };
//!         println!("{status:?}");
//!     }
//!     Err(error) => assert!(error.to_string().contains("libnvidia-ml.so.1")),
//! }
//! # Ok::<(), cuda_sys::MissingSymbol>(())
//! ```
//!
//! # Safety
//!
//! `unsafe` code calls the library's function for the version, with the type that the header declares.

use core::ffi::*;

use crate::MissingSymbol;
use crate::functions::{Exported, Functions, Interface, exported, written_version};
use crate::system;
use crate::table::{DefaultStream, Symbol};

generated_types! { "nvml" }

/// NVML as a table of C functions.
///
/// # Examples
///
/// ```
/// use cuda_sys::nvml::NvmlApi;
/// // SAFETY: the table holds no function.
/// let missing = unsafe { NvmlApi::from_fns(&Default::default()) }.nvmlSystemGetDriverBranch().unwrap_err();
/// assert!(missing.to_string().contains("which came with CUDA 12.6"));
/// ```
pub struct NvmlApi(Functions<{ SYMBOLS.len() }>);

library_methods! { NvmlApi, NvmlFns, INTERFACE, "nvml::NvmlApi" }

macro_rules! table {
    ($($functions:tt)*) => { function_table! { NvmlApi, NvmlFns, "NVML"; $($functions)* } };
}
generated_table! { "nvml" }

/// The value of the `version` field of NVML's structures: the size of the structure combined with the number of its version.
///
/// # Examples
///
/// ```
/// use cuda_sys::nvml::{nvmlMemory_v2_t, struct_version};
/// let memory = nvmlMemory_v2_t { version: struct_version::<nvmlMemory_v2_t>(2), ..Default::default() };
/// assert_eq!(memory.version, 40 | 2 << 24);
/// ```
#[must_use]
pub const fn struct_version<T>(version: u32) -> c_uint {
    size_of::<T>() as c_uint | version << 24
}

const INTERFACE: &Interface = &Interface {
    what: "NVML",
    symbols: SYMBOLS,
    files: system::NVML.here(),
    versions: crate::error::Versions::Cuda,
    toolkit: false,
    before_open: |_| (),
    version,
    find: exported,
};

/// The driver's CUDA version, 0 if NVML reports none, as it may before it is initialised.
fn version(exported: Exported<'_>) -> c_int {
    // SAFETY: a library exports this name only for the header's function, which writes one integer.
    unsafe { written_version(exported, "nvmlSystemGetCudaDriverVersion_v2") }
}
