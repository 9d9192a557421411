//! [`DriverApi`]: the one table of C functions through which everything above reaches a CUDA driver.
//!
//! It knows neither devices nor contexts and never chooses a driver; it finds functions. A function is looked up when it is
//! first asked for, and what was found, or that nothing was found, is remembered.
//!
//! Invariant: a slot holds `UNRESOLVED`, `MISSING`, or the address of a C function whose type is the one that the
//! generated method of that slot declares.
//!
//! # Safety
//!
//! `unsafe` stands where a shared library is opened and asked for symbols, and where the driver's own functions for that
//! are called. Their types come from the toolkit's headers; that a library which exports a symbol means the header's
//! function by it is the convention of C that every CUDA program rests on.

use core::ffi::{c_int, c_void};
use core::fmt;
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::ffi::CString;
use std::path::Path;
use std::sync::OnceLock;

use crate::driver::{CUdriverProcAddress_flags, CUdriverProcAddressQueryResult, CUresult, cuuint64_t};
use crate::error::{LoadError, MissingSymbol};
use crate::table::{DefaultStream, DriverFns, SYMBOLS, Slot, Symbol};

/// Not looked up yet.
const UNRESOLVED: *mut c_void = core::ptr::null_mut();
/// Looked up and not found. No function has this address.
const MISSING: *mut c_void = core::ptr::without_provenance_mut(1);

/// A CUDA driver as a table of C functions: the real one, another library, or any table.
///
/// Each method has the name of a C function and returns a pointer to it, so that a call reads
/// `unsafe { (api.cuInit()?)(0) }`. After the first, a call costs one load and one comparison more than a direct call.
///
/// It is `Send` and `Sync`, and derived to be so from its parts: slots are atomic, and what they hold are addresses of code
/// that is never unloaded. The driver API itself may be called from every thread; which context is current is a matter of
/// each thread.
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
/// let api = DriverApi::from_fns(&DriverFns { cuDeviceGetCount: Some(count), ..DriverFns::default() });
/// let mut devices = 0;
/// // SAFETY: `devices` lives through the call.
/// let status = unsafe { (api.cuDeviceGetCount()?)(&mut devices) };
/// assert_eq!((status, devices), (CUresult::CUDA_SUCCESS, 2));
///
/// let missing = api.cuInit().unwrap_err();
/// assert_eq!(missing.symbol().name, "cuInit");
/// # Ok::<(), cuda_sys::MissingSymbol>(())
/// ```
pub struct DriverApi {
    /// One slot per element of [`SYMBOLS`], in an array so that a slot's position needs no check.
    slots: Box<[AtomicPtr<c_void>; SYMBOLS.len()]>,
    origin: Box<str>,
    library: Option<DriverLibrary>,
}

/// How the driver's library tells addresses: its own lookup, and the version it implements.
type ProcAddress = unsafe extern "C" fn(
    *const core::ffi::c_char,
    *mut *mut c_void,
    c_int,
    cuuint64_t,
    *mut CUdriverProcAddressQueryResult,
) -> CUresult;

/// A shared library that stays open for the life of the process.
struct DriverLibrary {
    /// Never closed: function pointers handed out carry no lifetime, and drivers start threads of their own.
    library: ManuallyDrop<libloading::Library>,
    /// The driver's CUDA version (0 where it does not tell), and its lookup where it has one.
    version: OnceLock<(c_int, Option<ProcAddress>)>,
}

impl DriverApi {
    /// Opens the system's driver, `libcuda.so.1`.
    ///
    /// # Examples
    ///
    /// ```
    /// match cuda_sys::DriverApi::load() {
    ///     Ok(api) => assert_eq!(api.origin(), "libcuda.so.1"),
    ///     Err(error) => assert!(error.to_string().contains("libcuda.so.1")),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LoadError`] where the loader does not find or accept the library.
    pub fn load() -> Result<DriverApi, LoadError> {
        Self::load_from("libcuda.so.1")
    }

    /// Opens the driver in the library at `path`; a name without a slash is searched for as the system's loader does.
    ///
    /// # Examples
    ///
    /// ```
    /// let error = cuda_sys::DriverApi::load_from("/nowhere/libcuda.so").err().unwrap();
    /// assert!(error.to_string().contains("/nowhere/libcuda.so"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`LoadError`], which names the path and the loader's reason.
    pub fn load_from(path: impl AsRef<Path>) -> Result<DriverApi, LoadError> {
        let path = path.as_ref();
        // SAFETY: the library's initialisers run. That the file is a CUDA driver is what the caller of a safe `load_from`
        // vouches for, as whoever sets a loader path does.
        let library = unsafe { libloading::Library::new(path) }.map_err(|reason| LoadError::new(path, reason))?;
        let library = DriverLibrary { library: ManuallyDrop::new(library), version: OnceLock::new() };
        Ok(DriverApi {
            slots: Box::new(core::array::from_fn(|_| AtomicPtr::new(UNRESOLVED))),
            origin: path.display().to_string().into(),
            library: Some(library),
        })
    }

    /// The driver that consists of the functions in `fns`; all others are missing.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::{DriverApi, DriverFns};
    /// let api = DriverApi::from_fns(&DriverFns::default());
    /// assert!(api.cuInit().is_err());
    /// ```
    #[must_use]
    pub fn from_fns(fns: &DriverFns) -> DriverApi {
        let addresses = fns.addresses();
        let slot = |at: usize| if addresses[at].is_null() { MISSING } else { addresses[at] };
        DriverApi {
            slots: Box::new(core::array::from_fn(|at| AtomicPtr::new(slot(at)))),
            origin: "a table of functions".into(),
            library: None,
        }
    }

    /// The same driver under another name in messages.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::{DriverApi, DriverFns};
    /// let api = DriverApi::from_fns(&DriverFns::default()).named("the recorder");
    /// assert!(api.cuInit().unwrap_err().to_string().contains("the recorder"));
    /// ```
    #[must_use]
    pub fn named(self, origin: &str) -> DriverApi {
        DriverApi { origin: origin.into(), ..self }
    }

    /// Where the functions come from, for messages: a library's name or path, or what [`named`](Self::named) was given.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::{DriverApi, DriverFns};
    /// assert_eq!(DriverApi::from_fns(&DriverFns::default()).origin(), "a table of functions");
    /// ```
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The CUDA version that the driver implements, as `1000 * major + 10 * minor`, where it tells: 13.0 is 13000.
    ///
    /// The one call that this crate makes by itself; it needs no initialised driver.
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
    /// assert_eq!(DriverApi::from_fns(&fns).driver_version(), Some(12040));
    /// assert_eq!(DriverApi::from_fns(&DriverFns::default()).driver_version(), None);
    /// ```
    #[must_use]
    pub fn driver_version(&self) -> Option<c_int> {
        let version = match &self.library {
            Some(library) => library.version().0,
            // Not through the method: its error asks for the version again.
            None if self.slot(Slot::cuDriverGetVersion) == MISSING => 0,
            None => ask_version(self.cuDriverGetVersion().ok()?),
        };
        (version > 0).then_some(version)
    }

    fn slot(&self, slot: Slot) -> *mut c_void {
        self.slots[slot as usize].load(Ordering::Acquire)
    }

    /// The address of a function; the hot path of every generated method.
    #[inline]
    pub(crate) fn address(&self, slot: Slot) -> Result<*mut c_void, MissingSymbol> {
        let address = self.slot(slot);
        if address.addr() > MISSING.addr() { Ok(address) } else { self.resolve(slot) }
    }

    /// Looks a function up and remembers the answer. Threads that race here find the same answer.
    #[cold]
    fn resolve(&self, slot: Slot) -> Result<*mut c_void, MissingSymbol> {
        let symbol = &SYMBOLS[slot as usize];
        let slot = &self.slots[slot as usize];
        if slot.load(Ordering::Acquire) == UNRESOLVED {
            let found = self.library.as_ref().and_then(|library| library.find(symbol));
            slot.store(found.unwrap_or(MISSING), Ordering::Release);
        }
        match slot.load(Ordering::Acquire) {
            MISSING => Err(MissingSymbol::new(symbol, &self.origin, self.driver_version())),
            address => Ok(address),
        }
    }
}

impl fmt::Debug for DriverApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriverApi").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl DriverLibrary {
    /// The address of `symbol`: from the driver's own lookup, else from the loader.
    fn find(&self, symbol: &Symbol) -> Option<*mut c_void> {
        let (version, lookup) = self.version();
        // A driver older than the symbol would answer with the newest variant it has, which takes other parameters.
        let lookup = lookup.filter(|_| version >= symbol.version && symbol.base != "cuGetProcAddress");
        lookup.and_then(|lookup| ask_driver(lookup, symbol)).or_else(|| self.exported(symbol.name))
    }

    /// The address of an exported symbol.
    fn exported(&self, name: &str) -> Option<*mut c_void> {
        // SAFETY: the symbol is only looked up; as an address it is not used here.
        let symbol = unsafe { self.library.get::<Option<unsafe extern "C" fn()>>(name) }.ok()?;
        let address = (*symbol)? as *mut c_void;
        (address.addr() > MISSING.addr()).then_some(address)
    }

    /// Asked once: the driver's version, and its lookup where it exports one (CUDA 12.0 and newer).
    fn version(&self) -> (c_int, Option<ProcAddress>) {
        *self.version.get_or_init(|| {
            let version = self.exported("cuDriverGetVersion").map_or(0, |address| {
                // SAFETY: a library exports this name only for the header's function, see the head of this file.
                ask_version(unsafe { core::mem::transmute::<*mut c_void, VersionFn>(address) })
            });
            let lookup = self.exported("cuGetProcAddress_v2").map(|address| {
                // SAFETY: as above.
                unsafe { core::mem::transmute::<*mut c_void, ProcAddress>(address) }
            });
            (version, lookup)
        })
    }
}

type VersionFn = unsafe extern "C" fn(*mut c_int) -> CUresult;

/// The CUDA version that a driver implements, 0 where it fails to tell. Needs no initialised driver.
fn ask_version(get_version: VersionFn) -> c_int {
    let mut version = 0;
    // SAFETY: the function writes one integer, and `version` lives through the call.
    let status = unsafe { get_version(&mut version) };
    if status == CUresult::CUDA_SUCCESS { version } else { 0 }
}

/// Asks the driver for `symbol` by base name and version.
fn ask_driver(lookup: ProcAddress, symbol: &Symbol) -> Option<*mut c_void> {
    let base = CString::new(symbol.base).expect("C identifiers hold no zero byte");
    let flags = match symbol.stream {
        DefaultStream::Legacy => CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_LEGACY_STREAM,
        DefaultStream::PerThread => CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
    };
    let mut address = core::ptr::null_mut();
    let mut found = CUdriverProcAddressQueryResult::default();
    // SAFETY: `base` is a C string and the two outputs are variables of the types declared; all live through the call.
    let status = unsafe { lookup(base.as_ptr(), &mut address, symbol.version, flags.0.into(), &mut found) };
    (status == CUresult::CUDA_SUCCESS && address.addr() > MISSING.addr()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn version(out: *mut c_int) -> CUresult {
        // SAFETY: every caller in these tests passes one integer.
        unsafe { *out = 12020 };
        CUresult::CUDA_SUCCESS
    }

    unsafe extern "C" fn refuse(_flags: core::ffi::c_uint) -> CUresult {
        CUresult(4321)
    }

    #[test]
    fn a_tables_functions_are_called_and_codes_of_no_header_are_numbers() {
        let api = DriverApi::from_fns(&DriverFns { cuInit: Some(refuse), ..DriverFns::default() });
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
        let missing = DriverApi::from_fns(&fns).named("the recorder").cuCtxCreate_v4().unwrap_err();
        assert_eq!(
            missing.to_string(),
            "the CUDA driver (the recorder, CUDA 12.2) has no function `cuCtxCreate_v4`, which came with CUDA 12.5; \
             a driver for CUDA 12.5 or newer has it"
        );
        let missing = DriverApi::from_fns(&DriverFns::default()).cuDriverGetVersion().unwrap_err();
        assert_eq!(missing.driver_version(), None);
    }

    #[test]
    fn the_table_is_shared_between_threads() {
        fn shared<T: Send + Sync>(_: &T) {}
        shared(&DriverApi::from_fns(&DriverFns::default()));
    }

    #[test]
    fn slots_symbols_and_addresses_have_one_order() {
        let fns = DriverFns { cuDriverGetVersion: Some(version), ..DriverFns::default() };
        let present = fns.addresses().iter().position(|address| !address.is_null()).unwrap();
        assert_eq!(present, Slot::cuDriverGetVersion as usize);
        assert_eq!(SYMBOLS[present].name, "cuDriverGetVersion");
    }

    #[test]
    fn every_variant_has_its_own_version() {
        let mut seen = std::collections::HashSet::new();
        for symbol in SYMBOLS {
            assert!(seen.insert((symbol.base, symbol.version, symbol.stream)), "two symbols are {symbol:?}");
            assert!(symbol.version >= 2000, "{symbol:?}");
        }
    }
}
