//! nvJitLink, which links device code at run time: the contents of `nvJitLink.h`, and a table of the functions of
//! `libnvJitLink`.
//!
//! It needs no driver and no device. The functions are documented in the
//! [nvJitLink manual](https://docs.nvidia.com/cuda/nvjitlink/index.html).
//!
//! # Examples
//!
//! ```
//! use cuda_sys::nvjitlink::NvJitLinkApi;
//!
//! match NvJitLinkApi::load() {
//!     Ok(api) => println!("nvJitLink from {}", api.origin()),
//!     Err(error) => println!("{error}"),
//! }
//! ```
//!
//! # Safety
//!
//! `unsafe` code calls the library's function for the version, with the type that the header declares.

use core::ffi::*;

use crate::MissingSymbol;
use crate::functions::{Exported, Functions, Interface};
use crate::library::Library;
use crate::system;
use crate::table::{DefaultStream, Symbol};

generated_types! { "nvjitlink" }

/// nvJitLink as a table of C functions.
///
/// # Examples
///
/// ```
/// use cuda_sys::nvjitlink::NvJitLinkApi;
/// // SAFETY: the table holds no function.
/// let missing = unsafe { NvJitLinkApi::from_fns(&Default::default()) }.nvJitLinkVersion().unwrap_err();
/// assert!(missing.to_string().contains("which came with CUDA 12.3"));
/// ```
pub struct NvJitLinkApi(Functions<{ SYMBOLS.len() }>);

library_methods! { NvJitLinkApi, NvJitLinkFns, INTERFACE, "nvjitlink::NvJitLinkApi" }
toolkit_methods! { NvJitLinkApi, INTERFACE, "nvjitlink::NvJitLinkApi", "libnvJitLink.so.13" }

macro_rules! table {
    ($($functions:tt)*) => { function_table! { NvJitLinkApi, NvJitLinkFns, "nvJitLink"; $($functions)* } };
}
generated_table! { "nvjitlink" }

const INTERFACE: &Interface = &Interface {
    what: "nvJitLink",
    symbols: SYMBOLS,
    files: system::NVJITLINK.here(),
    versions: crate::error::Versions::Cuda,
    toolkit: true,
    before_open: |_| (),
    version,
    find,
};

/// The address of a function, by its plain name, or by the versioned name that the first releases of the library exported.
fn find(library: &Library, _version: c_int, symbol: &Symbol) -> Option<*mut c_void> {
    let versioned = ["13_0", "12_0"].map(|version| format!("__{}_{version}", symbol.base));
    library.exported(symbol.base).or_else(|| versioned.iter().find_map(|name| library.exported(name)))
}

type VersionFn = unsafe extern "C" fn(*mut c_uint, *mut c_uint) -> nvJitLinkResult;

/// The CUDA version of nvJitLink, 0 if it reports none: those before 12.3 do not.
fn version(exported: Exported<'_>) -> c_int {
    let Some(address) = exported("nvJitLinkVersion") else { return 0 };
    // SAFETY: a library exports this name only for the header's function.
    let get_version = unsafe { core::mem::transmute::<*mut c_void, VersionFn>(address) };
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the function writes two integers, which live through the call.
    let status = unsafe { get_version(&mut major, &mut minor) };
    let version = c_int::try_from(1000 * u64::from(major) + 10 * u64::from(minor)).unwrap_or(0);
    if status == nvJitLinkResult::NVJITLINK_SUCCESS { version } else { 0 }
}
