//! The CUDA runtime API: the contents of `cuda_runtime_api.h`, and a table of the functions of `libcudart`.
//!
//! The types and the table here are those of CUDA 13; [`v12`] has those of CUDA 12. There are two tables because some
//! functions take other parameters under the same name in the other major version (`cudaMemAdvise`), and some structures
//! have another layout ([`cudaDeviceProp`]). A table returns an error for a function of a library of the other version
//! whose parameters differ. The functions that take streams exist twice: for those whose names end in `_ptds` or `_ptsz`,
//! stream 0 is the calling thread's default stream.
//!
//! The functions are documented in the
//! [CUDA runtime API manual](https://docs.nvidia.com/cuda/cuda-runtime-api/index.html).
//!
//! # Examples
//!
//! ```
//! // The runtime library of this machine, of version 13 or 12.
//! match cuda_sys::runtime::installed_version() {
//!     Ok(version) => assert!(version >= 12000),
//!     Err(error) => assert!(error.to_string().contains("libcudart.so.13")),
//! }
//! ```
//!
//! # Safety
//!
//! `unsafe` code opens the library, and calls its function for the version with the type that the header declares.

use core::ffi::*;

use crate::functions::{Exported, Functions, Interface, written_version};
use crate::library::Library;
use crate::system;
use crate::table::{DefaultStream, Symbol};
use crate::toolkit::Environment;
use crate::{LoadError, MissingSymbol};

generated_types! { "runtime" }

/// The CUDA runtime, version 13, as a table of C functions.
///
/// # Examples
///
/// ```
/// use cuda_sys::runtime::RuntimeApi;
/// // SAFETY: the table holds no function.
/// let missing = unsafe { RuntimeApi::from_fns(&Default::default()) }.cudaMalloc().unwrap_err();
/// assert!(missing.to_string().starts_with("the CUDA runtime (a table of functions) has no function `cudaMalloc`"));
/// ```
pub struct RuntimeApi(Functions<{ SYMBOLS.len() }>);

library_methods! { RuntimeApi, RuntimeFns, INTERFACE, "runtime::RuntimeApi" }
toolkit_methods! { RuntimeApi, INTERFACE, "runtime::RuntimeApi", "libcudart.so.13" }

macro_rules! table {
    ($($functions:tt)*) => { function_table! { RuntimeApi, RuntimeFns, "the CUDA runtime API"; $($functions)* } };
}
generated_table! { "runtime" }

const INTERFACE: &Interface = &Interface {
    what: "the CUDA runtime",
    symbols: SYMBOLS,
    files: system::RUNTIME.here(),
    versions: crate::error::Versions::Cuda,
    toolkit: true,
    before_open: |_| (),
    version,
    find,
};

/// The CUDA version of the runtime library of this machine, as `1000 * major + 10 * minor`: the library of CUDA 13 if there
/// is one, else that of CUDA 12. The version is 0 if the library does not report one.
///
/// It needs no driver and no device.
///
/// # Examples
///
/// ```
/// if let Ok(version) = cuda_sys::runtime::installed_version() {
///     println!("CUDA runtime {}.{}", version / 1000, version % 1000 / 10);
/// }
/// ```
///
/// # Errors
///
/// [`LoadError`], which lists everything that was tried.
pub fn installed_version() -> Result<c_int, LoadError> {
    // SAFETY: the environment of the process names the libraries that it says: installing the libraries and setting the
    // variables, which safe Rust cannot do, promises that.
    unsafe { installed_version_in(&Environment::from_process()) }
}

/// The CUDA version of the runtime library, as [`installed_version`] returns it, found with the toolkit of another environment.
///
/// # Examples
///
/// ```
/// use cuda_sys::toolkit::Environment;
/// // SAFETY: there is nothing in that folder.
/// if let Err(error) = unsafe { cuda_sys::runtime::installed_version_in(&Environment::only("/nowhere")) } {
///     assert!(error.to_string().contains("/nowhere/lib64/libcudart.so.13"));
/// }
/// ```
///
/// # Errors
///
/// [`LoadError`], which lists everything that was tried.
///
/// # Safety
///
/// The contract of [`RuntimeApi::load_with`].
pub unsafe fn installed_version_in(environment: &Environment) -> Result<c_int, LoadError> {
    let names = [system::RUNTIME.here(), system::RUNTIME12.here()].concat();
    // SAFETY: the caller promises this for the environment's folders; the loader finds the system's own library.
    let search = unsafe { crate::library::search("the CUDA runtime", &names, Some(environment), |_| ()) };
    let (library, _) = search?;
    Ok(version(&|name| library.exported(name)))
}

/// The runtime's version, 0 if it does not report one.
fn version(exported: Exported<'_>) -> c_int {
    // SAFETY: a library exports this name only for the header's function, which writes one integer in all versions.
    unsafe { written_version(exported, "cudaRuntimeGetVersion") }
}

/// The address of a symbol, if the symbol has the signature of the table in the library's version.
fn find(library: &Library, version: c_int, symbol: &Symbol) -> Option<*mut c_void> {
    let alike = version >= symbol.version && symbol.until.is_none_or(|until| version < until);
    library.exported(symbol.base).filter(|_| alike)
}

pub mod v12 {
    //! The runtime API of CUDA 12: types, and a table of the functions of `libcudart.so.12`.
    //!
    //! # Examples
    //!
    //! ```
    //! use cuda_sys::runtime::{self, v12};
    //! // The same name has two layouts.
    //! assert_ne!(size_of::<runtime::cudaDeviceProp>(), size_of::<v12::cudaDeviceProp>());
    //! ```

    use core::ffi::*;

    use crate::MissingSymbol;
    use crate::functions::{Functions, Interface};
    use crate::system;
    use crate::table::{DefaultStream, Symbol};

    generated_types! { "runtime12" }

    /// The CUDA runtime, version 12, as a table of C functions.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::runtime::v12::RuntimeApi;
    /// // SAFETY: the table holds no function.
    /// let missing = unsafe { RuntimeApi::from_fns(&Default::default()) }.cudaThreadExit().unwrap_err();
    /// assert!(missing.to_string().contains("and was removed in CUDA 13.0"));
    /// ```
    pub struct RuntimeApi(Functions<{ SYMBOLS.len() }>);

    library_methods! { RuntimeApi, RuntimeFns, INTERFACE, "runtime::v12::RuntimeApi" }
    toolkit_methods! { RuntimeApi, INTERFACE, "runtime::v12::RuntimeApi", "libcudart.so.12" }

    macro_rules! table {
        ($($functions:tt)*) => { function_table! { RuntimeApi, RuntimeFns, "the CUDA 12 runtime API"; $($functions)* } };
    }
    generated_table! { "runtime12" }

    const INTERFACE: &Interface = &Interface { symbols: SYMBOLS, files: system::RUNTIME12.here(), ..*super::INTERFACE };
}
