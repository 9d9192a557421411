//! [`Functions`]: the common part of the tables of C functions of all libraries.
//!
//! Each public table, such as [`DriverApi`](crate::DriverApi), wraps one of these and adds the functions' types (`table.rs`).
//! This file names no function of a library; the parts that differ between libraries are in their [`Interface`].
//!
//! # Safety
//!
//! `unsafe` code opens libraries and takes addresses of functions: the caller promises that these are the ones that the
//! interface describes. It also calls a library's function for its version, which that name denotes in every version.

use core::ffi::{c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

use crate::error::{LoadError, MissingSymbol, Versions};
use crate::library::{self, Library};
use crate::slots::Slots;
use crate::table::Symbol;
use crate::toolkit::Environment;

/// Finds a library's function by symbol.
pub(crate) type Exported<'a> = &'a dyn Fn(&str) -> Option<*mut c_void>;

/// The parts of a table that differ between libraries.
pub(crate) struct Interface {
    /// The library's name in messages: `the CUDA driver`.
    pub(crate) what: &'static str,
    /// Its functions, in the order of their slots.
    pub(crate) symbols: &'static [Symbol],
    /// The names that its files have, the preferred one first.
    pub(crate) files: &'static [&'static str],
    /// The versions that its functions have.
    pub(crate) versions: Versions,
    /// True if it comes with the toolkit, and may be found there.
    pub(crate) toolkit: bool,
    /// Called with the full path of a library before it is opened. Its contract is that opening the library is sound.
    pub(crate) before_open: unsafe fn(&Path),
    /// Returns the CUDA version of the library, 0 if it reports none, given a lookup of its functions by symbol.
    pub(crate) version: fn(Exported<'_>) -> c_int,
    /// Returns the address of a symbol, given the library and its version.
    pub(crate) find: fn(&Library, c_int, &Symbol) -> Option<*mut c_void>,
}

/// `N` functions of a library or of a table, each resolved on first use.
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
    /// The contract of [`library::search`].
    pub(crate) unsafe fn load(interface: &'static Interface, environment: &Environment) -> Result<Self, LoadError> {
        let environment = interface.toolkit.then_some(environment);
        // SAFETY: the caller promises that the libraries found by these names are the interface's.
        let found = unsafe { library::search(interface.what, interface.files, environment, interface.before_open) };
        found.map(|(library, path)| Self::of_library(interface, library, &path))
    }

    /// The functions of the library at `path`.
    ///
    /// # Safety
    ///
    /// The contract of [`Library::open`]; and the library is one of this interface.
    pub(crate) unsafe fn load_from(interface: &'static Interface, path: &Path) -> Result<Self, LoadError> {
        // A bare name is searched for by the system's loader.
        if path.components().count() > 1 {
            // SAFETY: the caller promises that the library at this path is the interface's, so opening it is sound.
            unsafe { (interface.before_open)(path) };
        }
        // SAFETY: the caller promises that the library at this path is the interface's.
        match unsafe { Library::open(path) } {
            Ok(library) => Ok(Self::of_library(interface, library, path)),
            Err(reason) => Err(LoadError::new(interface.what, vec![(path.to_owned(), reason)], None)),
        }
    }

    fn of_library(interface: &'static Interface, library: Library, path: &Path) -> Self {
        let origin = path.display().to_string().into();
        Functions { interface, slots: Slots::unresolved(), origin, library: Some(library), version: OnceLock::new() }
    }

    /// The functions at `addresses`; a null address is a missing function.
    ///
    /// # Safety
    ///
    /// Each address is of a function that does what the interface's library does by that name.
    pub(crate) unsafe fn of_addresses(interface: &'static Interface, addresses: &[*mut c_void; N]) -> Self {
        let origin = "a table of functions".into();
        Functions { interface, slots: Slots::of(addresses), origin, library: None, version: OnceLock::new() }
    }

    /// Renames it for messages.
    pub(crate) fn named(self, origin: &str) -> Self {
        Functions { origin: origin.into(), ..self }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The CUDA version, read once.
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
        found.ok_or_else(|| {
            MissingSymbol::new(self.interface.what, self.interface.versions, symbol, &self.origin, self.version())
        })
    }
}

/// The address of an exported symbol, in whichever version of the library.
#[cfg(any(feature = "nvrtc", feature = "nvml", feature = "nccl"))]
pub(crate) fn exported(library: &Library, _version: c_int, symbol: &Symbol) -> Option<*mut c_void> {
    library.exported(symbol.base)
}

/// The version that the function of that name writes, 0 if the function is missing or fails.
///
/// # Safety
///
/// The function exported by that name takes a pointer to one integer, which it writes, and returns a 32-bit status, 0 for
/// success.
pub(crate) unsafe fn written_version(exported: Exported<'_>, name: &str) -> c_int {
    type VersionFn = unsafe extern "C" fn(*mut c_int) -> c_int;
    let Some(address) = exported(name) else { return 0 };
    // SAFETY: the caller promises that the function has this type; the headers' status types are 32-bit integers (`c_enum`).
    let get_version = unsafe { core::mem::transmute::<*mut c_void, VersionFn>(address) };
    let mut version = 0;
    // SAFETY: the function writes one integer, and `version` lives through the call.
    let status = unsafe { get_version(&mut version) };
    if status == 0 { version } else { 0 }
}
