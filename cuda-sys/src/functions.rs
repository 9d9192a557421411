//! [`Functions`]: what every table of C functions is made of, whichever library they are from.
//!
//! The tables that users see ([`DriverApi`](crate::DriverApi) and its like) wrap one of these each and add the functions'
//! types (`table.rs`). Nothing here knows a function; what a library needs that is its own stands in its [`Interface`].
//!
//! # Safety
//!
//! `unsafe` stands where a library is opened or functions are taken as they are, of which the caller promises that they are
//! what the interface says; and where a library is asked for its version, by the function of that name.

use core::ffi::{c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

use crate::error::{LoadError, MissingSymbol};
use crate::library::{self, Library};
use crate::slots::Slots;
use crate::table::Symbol;
use crate::toolkit::Environment;

/// Finds a library's function by symbol.
pub(crate) type Exported<'a> = &'a dyn Fn(&str) -> Option<*mut c_void>;

/// What is particular to a library.
pub(crate) struct Interface {
    /// What it is, in messages: `the CUDA driver`.
    pub(crate) what: &'static str,
    /// Its functions, in the order of their slots.
    pub(crate) symbols: &'static [Symbol],
    /// The names that its files have, the preferred one first.
    pub(crate) files: &'static [&'static str],
    /// Whether it comes with the toolkit, and may be found there.
    pub(crate) toolkit: bool,
    /// Called with a library's full path before that is opened. Its contract is that the library may be opened.
    pub(crate) before: unsafe fn(&Path),
    /// The CUDA version of the library (0 where it does not tell), given a way to find its functions by symbol.
    pub(crate) version: fn(Exported<'_>) -> c_int,
    /// The address of a symbol, given the library and its version.
    pub(crate) find: fn(&Library, c_int, &Symbol) -> Option<*mut c_void>,
}

/// `N` functions of a library or of a table, each found when it is first asked for.
pub(crate) struct Functions<const N: usize> {
    interface: &'static Interface,
    slots: Slots<N>,
    origin: Box<str>,
    library: Option<Library>,
    version: OnceLock<c_int>,
}

impl<const N: usize> Functions<N> {
    /// The functions of the first library that is found by one of the interface's names.
    ///
    /// # Safety
    ///
    /// As for [`library::search`].
    pub(crate) unsafe fn load(interface: &'static Interface, environment: &Environment) -> Result<Self, LoadError> {
        let environment = interface.toolkit.then_some(environment);
        // SAFETY: the caller's promise.
        let found = unsafe { library::search(interface.what, interface.files, environment, interface.before) };
        found.map(|(library, path)| Self::of_library(interface, library, &path))
    }

    /// The functions of the library at `path`.
    ///
    /// # Safety
    ///
    /// As for [`Library::open`]: it is a library of this interface.
    pub(crate) unsafe fn load_from(interface: &'static Interface, path: &Path) -> Result<Self, LoadError> {
        // A bare name is searched for by the system's loader.
        if path.components().count() > 1 {
            // SAFETY: the caller's promise for the library at this path.
            unsafe { (interface.before)(path) };
        }
        // SAFETY: the caller's promise.
        match unsafe { Library::open(path) } {
            Ok(library) => Ok(Self::of_library(interface, library, path)),
            Err(reason) => Err(LoadError::new(interface.what, vec![(path.to_owned(), reason)], None)),
        }
    }

    fn of_library(interface: &'static Interface, library: Library, path: &Path) -> Self {
        let origin = path.display().to_string().into();
        Functions { interface, slots: Slots::unresolved(), origin, library: Some(library), version: OnceLock::new() }
    }

    /// The functions at `addresses`; null is one that is missing.
    ///
    /// # Safety
    ///
    /// Each address is of a function that does what the interface's library does by that name.
    pub(crate) unsafe fn of_addresses(interface: &'static Interface, addresses: &[*mut c_void; N]) -> Self {
        let origin = "a table of functions".into();
        Functions { interface, slots: Slots::of(addresses), origin, library: None, version: OnceLock::new() }
    }

    /// The same under another name in messages.
    pub(crate) fn named(self, origin: &str) -> Self {
        Functions { origin: origin.into(), ..self }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The CUDA version, asked for once.
    pub(crate) fn version(&self) -> Option<c_int> {
        let version = *self.version.get_or_init(|| match &self.library {
            Some(library) => (self.interface.version)(&|name| library.exported(name)),
            None => (self.interface.version)(&|name| {
                let slot = self.interface.symbols.iter().position(|symbol| symbol.name == name)?;
                self.slots.resolved(slot)
            }),
        });
        (version > 0).then_some(version)
    }

    /// The address of the function in `slot`; the hot path of every generated method.
    #[inline]
    pub(crate) fn address(&self, slot: usize) -> Result<*mut c_void, MissingSymbol> {
        match self.slots.resolved(slot) {
            Some(address) => Ok(address),
            None => self.resolve(slot),
        }
    }

    #[cold]
    fn resolve(&self, slot: usize) -> Result<*mut c_void, MissingSymbol> {
        let symbol = &self.interface.symbols[slot];
        let find = || (self.interface.find)(self.library.as_ref()?, self.version().unwrap_or(0), symbol);
        let found = self.slots.resolve(slot, find);
        found.ok_or_else(|| MissingSymbol::new(self.interface.what, symbol, &self.origin, self.version()))
    }
}

/// The address of an exported symbol, for libraries whose files' names say no more than themselves.
#[cfg(any(feature = "nvrtc", feature = "nvml"))]
pub(crate) fn exported(library: &Library, _version: c_int, symbol: &Symbol) -> Option<*mut c_void> {
    library.exported(symbol.base)
}

/// The version that the function of that name writes, 0 where there is none or where it fails.
///
/// # Safety
///
/// What is exported by that name takes a pointer to one integer, which it writes, and returns a status of 32 bits that is
/// 0 for success.
pub(crate) unsafe fn written_version(exported: Exported<'_>, name: &str) -> c_int {
    type VersionFn = unsafe extern "C" fn(*mut c_int) -> c_int;
    let Some(address) = exported(name) else { return 0 };
    // SAFETY: the caller's promise; the header's status types are integers of 32 bits, see `c_enum`.
    let get_version = unsafe { core::mem::transmute::<*mut c_void, VersionFn>(address) };
    let mut version = 0;
    // SAFETY: the function writes one integer, and `version` lives through the call.
    let status = unsafe { get_version(&mut version) };
    if status == 0 { version } else { 0 }
}
