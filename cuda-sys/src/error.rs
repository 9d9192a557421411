//! What can go wrong between a caller and a driver's functions, as values with a message that names the thing and a way out.

use core::ffi::c_int;
use core::fmt;
use std::path::{Path, PathBuf};

use crate::table::Symbol;

/// A driver's library could not be opened.
#[derive(Debug)]
pub struct LoadError {
    path: PathBuf,
    reason: libloading::Error,
}

impl LoadError {
    pub(crate) fn new(path: &Path, reason: libloading::Error) -> LoadError {
        LoadError { path: path.to_owned(), reason }
    }

    /// The library that was asked for.
    ///
    /// # Examples
    ///
    /// ```
    /// let error = cuda_sys::DriverApi::load_from("/nowhere/libcuda.so").err().unwrap();
    /// assert_eq!(error.path(), std::path::Path::new("/nowhere/libcuda.so"));
    /// ```
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot load the CUDA driver library `{}`: ", self.path.display())?;
        // The loader's own words are one level down.
        match std::error::Error::source(&self.reason) {
            Some(words) => write!(f, "{words}"),
            None => write!(f, "{}", self.reason),
        }
    }
}

impl std::error::Error for LoadError {}

/// A driver has no function of this name.
#[derive(Clone, Debug)]
pub struct MissingSymbol(Box<Missing>);

#[derive(Clone, Debug)]
struct Missing {
    symbol: &'static Symbol,
    origin: Box<str>,
    driver_version: Option<c_int>,
}

impl MissingSymbol {
    pub(crate) fn new(symbol: &'static Symbol, origin: &str, driver_version: Option<c_int>) -> MissingSymbol {
        MissingSymbol(Box::new(Missing { symbol, origin: origin.into(), driver_version }))
    }

    /// The function that was asked for.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::{DriverApi, DriverFns};
    /// let missing = DriverApi::from_fns(&DriverFns::default()).cuMemAllocAsync().unwrap_err();
    /// assert_eq!(missing.symbol().version, 11020);
    /// ```
    #[must_use]
    pub fn symbol(&self) -> &'static Symbol {
        self.0.symbol
    }

    /// The CUDA version of the driver that was asked (`1000 * major + 10 * minor`), where it told.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::{DriverApi, DriverFns};
    /// let missing = DriverApi::from_fns(&DriverFns::default()).cuInit().unwrap_err();
    /// assert_eq!(missing.driver_version(), None);
    /// ```
    #[must_use]
    pub fn driver_version(&self) -> Option<c_int> {
        self.0.driver_version
    }
}

impl fmt::Display for MissingSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Missing { symbol, origin, driver_version } = &*self.0;
        let introduced = CudaVersion(symbol.version);
        write!(f, "the CUDA driver ({origin}")?;
        if let Some(version) = *driver_version {
            write!(f, ", CUDA {}", CudaVersion(version))?;
        }
        write!(f, ") has no function `{}`, which came with CUDA {introduced}", symbol.name)?;
        match *driver_version {
            Some(version) if version < symbol.version => write!(f, "; a driver for CUDA {introduced} or newer has it"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for MissingSymbol {}

/// `12040` as `12.4`.
struct CudaVersion(c_int);

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}
