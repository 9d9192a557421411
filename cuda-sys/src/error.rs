//! The errors of loading a library and of finding its functions. Each message names the cause and a way out.

use core::ffi::c_int;
use core::fmt;
use std::path::{Path, PathBuf};

use crate::table::Symbol;
use crate::toolkit::NotFound;

/// A library that could not be opened by any of its names, in any place.
///
/// # Examples
///
/// ```
/// // SAFETY: there is no such library, so nothing of it runs.
/// let error = unsafe { cuda_sys::DriverApi::load_from("/nowhere/libcuda.so") }.err().unwrap();
/// assert!(error.to_string().starts_with("cannot load the CUDA driver library `/nowhere/libcuda.so`: "));
/// ```
#[derive(Debug)]
pub struct LoadError {
    what: &'static str,
    /// Each name or path with the reason why it was not opened.
    tried: Vec<(PathBuf, String)>,
    /// The failed search of the toolkit for the first of the names, if the library comes with the toolkit.
    missing: Option<NotFound>,
}

impl LoadError {
    pub(crate) fn new(what: &'static str, tried: Vec<(PathBuf, String)>, missing: Option<NotFound>) -> LoadError {
        LoadError { what, tried, missing }
    }

    /// The library that was requested; the first of its names if it has several.
    ///
    /// # Examples
    ///
    /// ```
    /// // SAFETY: there is no such library, so nothing of it runs.
    /// let error = unsafe { cuda_sys::DriverApi::load_from("/nowhere/libcuda.so") }.err().unwrap();
    /// assert_eq!(error.path(), std::path::Path::new("/nowhere/libcuda.so"));
    /// ```
    #[must_use]
    pub fn path(&self) -> &Path {
        self.tried.first().map_or(Path::new(""), |(path, _)| path)
    }

    /// The names and paths that were tried, in order, each with the loader's reason.
    ///
    /// # Examples
    ///
    /// ```
    /// // SAFETY: there is no such library, so nothing of it runs.
    /// let error = unsafe { cuda_sys::DriverApi::load_from("/nowhere/libcuda.so") }.err().unwrap();
    /// let tried: Vec<_> = error.tried().collect();
    /// assert_eq!(tried[0].0, std::path::Path::new("/nowhere/libcuda.so"));
    /// assert!(tried[0].1.contains("No such file"));
    /// ```
    pub fn tried(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.tried.iter().map(|(path, reason)| (path.as_path(), reason.as_str()))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tried: Vec<_> = self.tried().collect();
        // `the CUDA driver library`, `NVRTC`.
        let what = if self.what.starts_with("the ") { format!("{} library", self.what) } else { self.what.to_owned() };
        match &*tried {
            [(path, reason)] => write!(f, "cannot load {what} `{}`: {reason}", path.display())?,
            several => {
                write!(f, "cannot load {what}; tried:")?;
                for (path, reason) in several {
                    write!(f, "\n  `{}`: {reason}", path.display())?;
                }
            }
        }
        match &self.missing {
            Some(missing) => write!(f, "\n{missing}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for LoadError {}

/// A function that a library lacks.
///
/// # Examples
///
/// ```
/// // SAFETY: the table holds no function.
/// let missing = unsafe { cuda_sys::DriverApi::from_fns(&Default::default()) }.cuInit().unwrap_err();
/// assert!(missing.to_string().starts_with("the CUDA driver (a table of functions) has no function `cuInit`"));
/// ```
#[derive(Clone, Debug)]
pub struct MissingSymbol(Box<Missing>);

#[derive(Clone, Debug)]
struct Missing {
    what: &'static str,
    versions: Versions,
    symbol: &'static Symbol,
    origin: Box<str>,
    driver_version: Option<c_int>,
}

impl MissingSymbol {
    pub(crate) fn new(
        what: &'static str,
        versions: Versions,
        symbol: &'static Symbol,
        origin: &str,
        driver_version: Option<c_int>,
    ) -> MissingSymbol {
        MissingSymbol(Box::new(Missing { what, versions, symbol, origin: origin.into(), driver_version }))
    }

    /// The function that was requested.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::{DriverApi, DriverFns};
    /// // SAFETY: the table holds no function.
    /// let missing = unsafe { DriverApi::from_fns(&DriverFns::default()) }.cuMemAllocAsync().unwrap_err();
    /// assert_eq!(missing.symbol().version, 11020);
    /// ```
    #[must_use]
    pub fn symbol(&self) -> &'static Symbol {
        self.0.symbol
    }

    /// The CUDA version of the driver or other library that lacks the function (`1000 * major + 10 * minor`), if it reports one.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_sys::{DriverApi, DriverFns};
    /// // SAFETY: the table holds no function.
    /// let missing = unsafe { DriverApi::from_fns(&DriverFns::default()) }.cuInit().unwrap_err();
    /// assert_eq!(missing.driver_version(), None);
    /// ```
    #[must_use]
    pub fn driver_version(&self) -> Option<c_int> {
        self.0.driver_version
    }
}

impl fmt::Display for MissingSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Missing { what, versions, symbol, origin, driver_version } = &*self.0;
        let introduced = versions.written(symbol.version);
        write!(f, "{what} ({origin}")?;
        if let Some(version) = *driver_version {
            write!(f, ", {}", versions.written(version))?;
        }
        write!(f, ") has no function `{}`, which came with {introduced}", symbol.name)?;
        if let Some(until) = symbol.until {
            write!(f, " and was removed in {}", versions.written(until))?;
        }
        match (*driver_version, versions) {
            (Some(version), Versions::Cuda) if version < symbol.version => {
                write!(f, "; {} for {introduced} or newer has it", indefinite(what))
            }
            _ => Ok(()),
        }
    }
}

/// The name with an indefinite article: `a driver` for `the CUDA driver`; `NVRTC` stays.
fn indefinite(what: &str) -> String {
    what.strip_prefix("the CUDA ").map_or_else(|| what.to_owned(), |what| format!("a {what}"))
}

impl std::error::Error for MissingSymbol {}

/// The versions of a library's functions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Versions {
    /// CUDA's: `12040` is 12.4.
    Cuda,
    /// NCCL's own: `22803` is 2.28.3.
    #[cfg_attr(not(feature = "nccl"), expect(dead_code, reason = "the library with these versions is left out"))]
    Nccl,
}

impl Versions {
    /// Formats a version as `CUDA 12.4` or `NCCL 2.28.3`.
    fn written(self, version: c_int) -> String {
        match self {
            Versions::Cuda => format!("CUDA {}.{}", version / 1000, version % 1000 / 10),
            Versions::Nccl => format!("NCCL {}.{}.{}", version / 10_000, version % 10_000 / 100, version % 100),
        }
    }
}
