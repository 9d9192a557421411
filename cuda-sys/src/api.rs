//! [`DriverApi`]: the one table of C functions through which everything above reaches a CUDA driver.
//!
//! It only finds functions: it knows neither devices nor contexts and never chooses a driver. A function is looked up on first
//! use, through the driver's own `cuGetProcAddress` if it has that, and the result, also a failure, is cached.
//!
//! # Safety
//!
//! `unsafe` code calls the driver's functions for its version and its symbols. Their types come from the toolkit's headers.
//! It relies on the convention of C on which every CUDA program relies: a symbol that a library exports is the function
//! that the header declares by that name.

use core::ffi::{c_int, c_void};
use std::ffi::CString;

use crate::driver::{CUdriverProcAddress_flags, CUdriverProcAddressQueryResult, CUresult, cuuint64_t};
use crate::error::LoadError;
use crate::functions::{Exported, Functions, Interface, written_version};
use crate::library::Library;
use crate::system;
use crate::table::{DefaultStream, DriverFns, SYMBOLS, Symbol};

/// A CUDA driver as a table of C functions: the real one, another library, or any table.
///
/// Each method has the name of a C function and returns a pointer to it, so that a call reads
/// `unsafe { (api.cuInit()?)(0) }`. After the first, a call costs one load and one comparison more than a direct call.
///
/// It is `Send` and `Sync`, which the compiler derives from its parts: slots are atomic, and hold addresses of code that is
/// never unloaded. The driver API itself may be called from every thread; each thread has its own current context.
///
/// # Examples
///
/// ```
/// use cuda_sys::{CUresult, DriverApi, DriverFns};
///
/// unsafe extern "C" fn count(out: *mut core::ffi::c_int) -> CUresult {
///     // SAFETY: the caller passes a pointer to one integer.
///     unsafe { *out = 2 };
///     CUresult::CUDA_SUCCESS
/// }
///
/// let fns = DriverFns { cuDeviceGetCount: Some(count), ..DriverFns::default() };
/// // SAFETY: the function does what the manual says of it.
/// let api = unsafe { DriverApi::from_fns(&fns) };
/// let mut devices = 0;
/// // SAFETY: `devices` lives through the call.
/// let status = unsafe { (api.cuDeviceGetCount()?)(&mut devices) };
/// assert_eq!((status, devices), (CUresult::CUDA_SUCCESS, 2));
///
/// let missing = api.cuInit().unwrap_err();
/// assert_eq!(missing.symbol().name, "cuInit");
/// # Ok::<(), cuda_sys::MissingSymbol>(())
/// ```
pub struct DriverApi(pub(crate) Functions<{ SYMBOLS.len() }>);

library_methods! { DriverApi, DriverFns, INTERFACE, "DriverApi" }

impl DriverApi {
    /// The CUDA version that the driver implements, as `1000 * major + 10 * minor`: 13.0 is 13000. `None` if the driver does
    /// not report it.
    ///
    /// This is the only driver function that the table calls by itself; it needs no initialised driver.
    ///
    /// # Examples
    ///
    /// ```
    /// use core::ffi::c_int;
    /// use cuda_sys::{CUresult, DriverApi, DriverFns};
    ///
    /// unsafe extern "C" fn version(out: *mut c_int) -> CUresult {
    ///     // SAFETY: the caller passes a pointer to one integer.
    ///     unsafe { *out = 12040 };
    ///     CUresult::CUDA_SUCCESS
    /// }
    ///
    /// let fns = DriverFns { cuDriverGetVersion: Some(version), ..DriverFns::default() };
    /// // SAFETY: the function does what the manual says of it.
    /// let api = unsafe { DriverApi::from_fns(&fns) };
    /// assert_eq!(api.driver_version(), Some(12040));
    /// ```
    #[must_use]
    pub fn driver_version(&self) -> Option<c_int> {
        self.0.version()
    }

    /// Opens the library that the environment variable `CUDA_DRIVER_PATH` names; `None` where it is unset or empty.
    ///
    /// A name without a slash is searched for by the system's loader. Setting the variable promises that the library is a
    /// CUDA driver, as setting `LD_LIBRARY_PATH` does for `libcuda.so.1`; a program can set it only by `std::env::set_var`,
    /// which is `unsafe`. `cuda-prelude` handles the value `sim` itself before it calls this function; here it is an ordinary
    /// name of a library.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::DriverApi;
    ///
    /// match DriverApi::from_environment() {
    ///     Ok(Some(api)) => println!("the driver is {}", api.origin()),
    ///     Ok(None) => assert!(std::env::var_os("CUDA_DRIVER_PATH").is_none_or(|path| path.is_empty())),
    ///     Err(error) => println!("{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LoadError`], which names the path and the loader's reason.
    pub fn from_environment() -> Result<Option<DriverApi>, LoadError> {
        let path = std::env::var_os("CUDA_DRIVER_PATH").filter(|path| !path.is_empty());
        // SAFETY: setting the variable, which safe Rust cannot do, promises that the library is a CUDA driver.
        path.map(|path| unsafe { DriverApi::load_from(path) }).transpose()
    }
}

const INTERFACE: &Interface = &Interface {
    what: "the CUDA driver",
    symbols: SYMBOLS,
    files: system::DRIVER.here(),
    versions: crate::error::Versions::Cuda,
    toolkit: false,
    before_open: |_| (),
    version,
    find,
};

/// The address of `symbol`: from the driver's own lookup (CUDA 12.0 and newer), else from the loader.
fn find(library: &Library, version: c_int, symbol: &Symbol) -> Option<*mut c_void> {
    // A driver older than the symbol would return the newest variant that it has, which takes other parameters.
    let asks = version >= symbol.version && symbol.base != "cuGetProcAddress";
    let lookup = library.exported("cuGetProcAddress_v2").filter(|_| asks);
    lookup.and_then(|lookup| ask_driver(lookup, symbol)).or_else(|| library.exported(symbol.name))
}

/// The CUDA version that a driver implements, 0 if it does not report one. Needs no initialised driver.
fn version(exported: Exported<'_>) -> c_int {
    // SAFETY: a library exports this name only for the header's function, which writes one integer.
    unsafe { written_version(exported, "cuDriverGetVersion") }
}

/// The type of `cuGetProcAddress_v2`.
type ProcAddress = unsafe extern "C" fn(
    *const core::ffi::c_char,
    *mut *mut c_void,
    c_int,
    cuuint64_t,
    *mut CUdriverProcAddressQueryResult,
) -> CUresult;

/// Asks the driver's `cuGetProcAddress_v2`, at `lookup`, for `symbol` by base name and version.
fn ask_driver(lookup: *mut c_void, symbol: &Symbol) -> Option<*mut c_void> {
    // SAFETY: a library exports this name only for the header's function, which has this type.
    let lookup = unsafe { core::mem::transmute::<*mut c_void, ProcAddress>(lookup) };
    let base = CString::new(symbol.base).expect("C identifiers hold no zero byte");
    let flags = match symbol.stream {
        DefaultStream::Legacy => CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_LEGACY_STREAM,
        DefaultStream::PerThread => CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
    };
    let mut address = core::ptr::null_mut();
    let mut found = CUdriverProcAddressQueryResult::default();
    // SAFETY: `base` is a C string and the two outputs are variables of the types declared; all live through the call.
    let status = unsafe { lookup(base.as_ptr(), &mut address, symbol.version, flags.0.into(), &mut found) };
    (status == CUresult::CUDA_SUCCESS && !address.is_null()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Slot;

    unsafe extern "C" fn version(out: *mut c_int) -> CUresult {
        // SAFETY: every caller in these tests passes one integer.
        unsafe { *out = 12020 };
        CUresult::CUDA_SUCCESS
    }

    unsafe extern "C" fn refuse(_flags: core::ffi::c_uint) -> CUresult {
        CUresult(4321)
    }

    #[test]
    fn functions_of_a_table_are_called_and_unknown_codes_are_numbers() {
        // SAFETY: `refuse` reads and writes nothing.
        let api = unsafe { DriverApi::from_fns(&DriverFns { cuInit: Some(refuse), ..DriverFns::default() }) };
        // SAFETY: `refuse` reads nothing.
        let status = unsafe { (api.cuInit().unwrap())(0) };
        assert_eq!(status.0, 4321);
        assert_eq!(status.name(), None);
        assert_eq!(format!("{status:?}"), "CUresult(4321)");
        assert_eq!(format!("{:?}", CUresult::CUDA_ERROR_OUT_OF_MEMORY), "CUDA_ERROR_OUT_OF_MEMORY");
    }

    #[test]
    fn a_function_that_a_table_lacks_is_an_error_with_both_versions() {
        let fns = DriverFns { cuDriverGetVersion: Some(version), ..DriverFns::default() };
        // SAFETY: `version` writes one integer, as the manual says.
        let api = unsafe { DriverApi::from_fns(&fns) };
        let missing = api.named("the recorder").cuCtxCreate_v4().unwrap_err();
        assert_eq!(
            missing.to_string(),
            "the CUDA driver (the recorder, CUDA 12.2) has no function `cuCtxCreate_v4`, which came with CUDA 12.5; \
             a driver for CUDA 12.5 or newer has it"
        );
        // SAFETY: the table holds no function.
        let missing = unsafe { DriverApi::from_fns(&DriverFns::default()) }.cuDriverGetVersion().unwrap_err();
        assert_eq!(missing.driver_version(), None);
    }

    #[test]
    fn the_table_is_shared_between_threads() {
        fn shared<T: Send + Sync>(_: &T) {}
        // SAFETY: the table holds no function.
        shared(&unsafe { DriverApi::from_fns(&DriverFns::default()) });
    }

    #[test]
    fn slots_symbols_and_addresses_are_in_the_same_order() {
        let fns = DriverFns { cuDriverGetVersion: Some(version), ..DriverFns::default() };
        let present = fns.addresses().iter().position(|address| !address.is_null()).unwrap();
        assert_eq!(present, Slot::cuDriverGetVersion as usize);
        assert_eq!(SYMBOLS[present].name, "cuDriverGetVersion");
    }

    #[test]
    fn no_two_symbols_have_the_same_base_name_version_and_stream() {
        let mut seen = std::collections::HashSet::new();
        for symbol in SYMBOLS {
            assert!(seen.insert((symbol.base, symbol.version, symbol.stream)), "two symbols are {symbol:?}");
            assert!(symbol.version >= 2000, "{symbol:?}");
        }
    }
}
