//! A shared library: how it is found, opened, kept open, and asked for symbols. It knows no CUDA function.
//!
//! # Safety
//!
//! Opening a library runs its initialisers; that the file is the library that its name says is what the caller vouches for,
//! as whoever sets a loader path does. Symbols are looked up and not used here.

use core::ffi::c_void;
use core::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use crate::error::LoadError;
use crate::toolkit::Environment;

/// A shared library that stays open for the life of the process.
pub(crate) struct Library {
    /// Never closed: function pointers handed out carry no lifetime, and CUDA's libraries start threads of their own.
    library: ManuallyDrop<libloading::Library>,
}

impl Library {
    /// Opens the library at `path`; a name without a slash is searched for as the system's loader does.
    pub(crate) fn open(path: &Path) -> Result<Library, libloading::Error> {
        // SAFETY: see the head of this file.
        let library = unsafe { libloading::Library::new(path) }?;
        Ok(Library { library: ManuallyDrop::new(library) })
    }

    /// The address of an exported symbol.
    pub(crate) fn exported(&self, name: &str) -> Option<*mut c_void> {
        // SAFETY: the symbol is only looked up; as an address it is not used here.
        let symbol = unsafe { self.library.get::<Option<unsafe extern "C" fn()>>(name) }.ok()?;
        Some((*symbol)? as *mut c_void)
    }
}

/// Whether the system's loader finds a library by this name, and why not.
///
/// The library is opened for that, and stays open.
///
/// # Examples
///
/// ```
/// let error = cuda_sys::loader_finds("libnowhere.so.1").unwrap_err();
/// assert!(error.to_string().contains("libnowhere.so.1"));
/// ```
///
/// # Errors
///
/// [`LoadError`], with the loader's reason.
pub fn loader_finds(name: &str) -> Result<(), LoadError> {
    let path = Path::new(name);
    let opened =
        Library::open(path).map_err(|reason| LoadError::new("a CUDA library", vec![(path.to_owned(), reason)], None));
    opened.map(drop)
}

/// Opens the first of `names` that the system's loader finds, else the first that `environment`'s toolkit has, where the
/// library is one of a toolkit.
///
/// `before` is called with each full path before it is opened.
pub(crate) fn search(
    what: &'static str,
    names: &[&str],
    environment: Option<&Environment>,
    before: fn(&Path),
) -> Result<(Library, PathBuf), LoadError> {
    let mut tried = Vec::new();
    for name in names {
        match Library::open(Path::new(name)) {
            Ok(library) => return Ok((library, PathBuf::from(name))),
            Err(reason) => tried.push((PathBuf::from(name), reason)),
        }
    }
    let mut missing = None;
    for (environment, name) in
        environment.iter().flat_map(|environment| names.iter().map(move |name| (environment, name)))
    {
        match environment.library(name) {
            Ok(path) => {
                before(&path);
                match Library::open(&path) {
                    Ok(library) => return Ok((library, path)),
                    Err(reason) => tried.push((path, reason)),
                }
            }
            Err(error) => missing = missing.or(Some(error)),
        }
    }
    Err(LoadError::new(what, tried, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_that_were_tried_are_told_with_their_reasons() {
        let names = ["libno-such.so.2", "libno-such.so.1"];
        let error = search("the made-up driver", &names, None, |_| ()).err().unwrap().to_string();
        let (head, tried) = error.split_once('\n').unwrap();
        assert_eq!(head, "cannot load the made-up driver library; tried:");
        for (line, name) in tried.lines().zip(names) {
            assert!(line.starts_with(&format!("  `{name}`: {name}: cannot open shared object file")), "{error}");
        }
        assert_eq!(tried.lines().count(), 2, "{error}");
    }
}
