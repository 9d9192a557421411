//! NVRTC, which compiles CUDA C++ at run time: the contents of `nvrtc.h`, and a table of the functions of `libnvrtc`.
//!
//! It needs no driver and no device. The functions are documented in the
//! [NVRTC manual](https://docs.nvidia.com/cuda/nvrtc/index.html).
//!
//! # Examples
//!
//! ```
//! use cuda_sys::nvrtc::NvrtcApi;
//!
//! match NvrtcApi::load() {
//!     Ok(nvrtc) => {
//!         let (mut major, mut minor) = (0, 0);
//!         // SAFETY: the two integers live through the call.
//!         let status = unsafe { (nvrtc.nvrtcVersion()?)(&mut major, &mut minor) };
//!         println!("NVRTC {major}.{minor}: {status:?}");
//!     }
//!     Err(error) => println!("{error}"),
//! }
//! # Ok::<(), cuda_sys::MissingSymbol>(())
//! ```
//!
//! # Safety
//!
//! `unsafe` code calls the library's function for the version, with the type that the header declares, and opens the
//! library that comes with it.

use core::ffi::*;
use std::path::Path;

use crate::MissingSymbol;
use crate::functions::{Exported, Functions, Interface, exported};
use crate::library::Library;
use crate::system::{self, System};
use crate::table::{DefaultStream, Symbol};

generated_types! { "nvrtc" }

/// NVRTC as a table of C functions.
///
/// # Examples
///
/// ```
/// use cuda_sys::nvrtc::NvrtcApi;
/// // SAFETY: the table holds no function.
/// let missing = unsafe { NvrtcApi::from_fns(&Default::default()) }.nvrtcGetPCHHeapSize().unwrap_err();
/// assert!(missing.to_string().contains("which came with CUDA 12.8"));
/// ```
pub struct NvrtcApi(Functions<{ SYMBOLS.len() }>);

library_methods! { NvrtcApi, NvrtcFns, INTERFACE, "nvrtc::NvrtcApi" }
toolkit_methods! { NvrtcApi, INTERFACE, "nvrtc::NvrtcApi", "libnvrtc.so.13" }

macro_rules! table {
    ($($functions:tt)*) => { function_table! { NvrtcApi, NvrtcFns, "NVRTC"; $($functions)* } };
}
generated_table! { "nvrtc" }

const INTERFACE: &Interface = &Interface {
    what: "NVRTC",
    symbols: SYMBOLS,
    files: system::NVRTC.here(),
    versions: crate::error::Versions::Cuda,
    toolkit: true,
    before_open: open_builtins,
    version,
    find: exported,
};

/// Opens the library of NVRTC's own headers, `libnvrtc-builtins.so.13.0`, from NVRTC's folder. NVRTC loads it by its bare name
/// when it compiles, and would fail if the folder is not in the loader's path.
///
/// # Safety
///
/// `nvrtc` is NVRTC's library, which opens that file itself.
unsafe fn open_builtins(nvrtc: &Path) {
    let entries = nvrtc.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let files = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let start = system::nvrtc_builtins(System::HERE);
    let builtins = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
    for path in files.filter(|path| builtins(path)) {
        // If it cannot be opened, NVRTC reports that itself.
        // SAFETY: the caller promises that `nvrtc` is NVRTC, which opens this file itself.
        let _ = unsafe { Library::open(&path) };
    }
}

type VersionFn = unsafe extern "C" fn(*mut c_int, *mut c_int) -> nvrtcResult;

/// The CUDA version of NVRTC, 0 if it reports none.
fn version(exported: Exported<'_>) -> c_int {
    let Some(address) = exported("nvrtcVersion") else { return 0 };
    // SAFETY: a library exports this name only for the header's function.
    let get_version = unsafe { core::mem::transmute::<*mut c_void, VersionFn>(address) };
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the function writes two integers, which live through the call.
    let status = unsafe { get_version(&mut major, &mut minor) };
    if status == nvrtcResult::NVRTC_SUCCESS { 1000 * major + 10 * minor } else { 0 }
}
