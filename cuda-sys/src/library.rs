//! A shared library: finding and opening it, keeping it open, and looking up symbols. It knows no CUDA function.
//!
//! # Safety
//!
//! Opening a library runs its initialisers. [`Library::open`] is therefore `unsafe`, and its caller promises that the file is
//! the library that its name says. For the names of [`loader_names`] the system makes that promise, and for the variables
//! `LD_LIBRARY_PATH`, `CUDA_HOME` and `CUDA_DRIVER_PATH` the person who starts the program: safe Rust can change neither, since
//! `std::env::set_var` is `unsafe`. Symbols are looked up here, but not used.

use core::ffi::c_void;
use core::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use crate::error::LoadError;
use crate::system::{System, loader_names};
use crate::toolkit::Environment;

/// A shared library that stays open for the life of the process.
pub(crate) struct Library {
    /// It is never closed: the function pointers that are returned have no lifetime, and CUDA's libraries start threads.
    library: ManuallyDrop<libloading::Library>,
}

impl Library {
    /// Opens the library at `path`; a name without a slash is searched for by the system's loader.
    ///
    /// The error is the loader's reason.
    ///
    /// # Safety
    ///
    /// Running the library's initialisers is sound, and its symbols are the functions that their names say.
    pub(crate) unsafe fn open(path: &Path) -> Result<Library, String> {
        // SAFETY: the caller promises that running the library's initialisers is sound.
        let library = unsafe { libloading::Library::new(path) }.map_err(|error| loader_message(&error))?;
        Ok(Library { library: ManuallyDrop::new(library) })
    }

    /// The address of an exported symbol.
    pub(crate) fn exported(&self, name: &str) -> Option<*mut c_void> {
        // SAFETY: the symbol is only looked up; its address is not used here.
        let symbol = unsafe { self.library.get::<Option<unsafe extern "C" fn()>>(name) }.ok()?;
        Some((*symbol)? as *mut c_void)
    }
}

/// The loader's own message, which is the source of libloading's error.
fn loader_message(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |words| words.to_string())
}

/// Checks that the system's loader finds one of CUDA's libraries by this name.
///
/// The check opens the library, which then stays open. Only the names under which CUDA's libraries are installed are
/// allowed, such as `libcuda.so.1` or `libnvrtc.so.13`: opening any other library would run code that nobody has promised to
/// be sound.
///
/// # Examples
///
/// ```
/// let error = cuda_sys::loader_finds("libnowhere.so.1").unwrap_err();
/// assert!(error.to_string().contains("`libnowhere.so.1`: this is no name of a CUDA library"));
/// ```
///
/// # Errors
///
/// [`LoadError`], with the loader's reason, or if `name` is not the name of a CUDA library.
pub fn loader_finds(name: &str) -> Result<(), LoadError> {
    let path = Path::new(name);
    let names = loader_names(System::HERE);
    let opened = match names.contains(&name) {
        // SAFETY: the name is CUDA's, and the library that the system has installed under it is that library.
        true => unsafe { Library::open(path) },
        false => Err(format!("this is no name of a CUDA library; these are: {}", names.join(", "))),
    };
    opened.map(drop).map_err(|reason| LoadError::new("a CUDA library", vec![(path.to_owned(), reason)], None))
}

/// Opens the first of `names` that the system's loader finds, else the first that the toolkit of `environment` has. A full
/// path among `names` is skipped, and not reported, if there is no such file.
///
/// `before_open` is called with each full path before it is opened.
///
/// # Safety
///
/// The files that the system and `environment` have under these names are the libraries that the names say, as
/// [`Library::open`] requires.
pub(crate) unsafe fn search(
    what: &'static str,
    names: &[&str],
    environment: Option<&Environment>,
    before_open: unsafe fn(&Path),
) -> Result<(Library, PathBuf), LoadError> {
    let mut tried = Vec::new();
    for name in names.iter().filter(|name| Path::new(name).is_relative() || Path::new(name).is_file()) {
        // SAFETY: the caller promises that the system's library of this name is what the name says.
        match unsafe { Library::open(Path::new(name)) } {
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
                // SAFETY: the caller promises that the environment's library is what its name says, so opening it is sound.
                unsafe { before_open(&path) };
                // SAFETY: the caller promises that the environment's library is what its name says.
                match unsafe { Library::open(&path) } {
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

    /// Most machines have no such folder, so its absence would only distract in the error.
    #[test]
    fn a_path_without_a_file_is_not_reported() {
        let names = ["libno-such.so.2", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "/no-such/libcuda.so.1"];
        // SAFETY: no library is opened: the loader does not find the first, and the second is a text file.
        let error = unsafe { search("the made-up driver", &names, None, |_| ()) }.err().unwrap().to_string();
        assert!(error.contains("Cargo.toml`: ") && !error.contains("/no-such"), "{error}");
    }

    #[test]
    fn an_error_lists_every_name_that_was_tried_with_its_reason() {
        let names = ["libno-such.so.2", "libno-such.so.1"];
        // SAFETY: there are no libraries of these names.
        let error = unsafe { search("the made-up driver", &names, None, |_| ()) }.err().unwrap().to_string();
        let (head, tried) = error.split_once('\n').unwrap();
        assert_eq!(head, "cannot load the made-up driver library; tried:");
        for (line, name) in tried.lines().zip(names) {
            assert!(line.starts_with(&format!("  `{name}`: {name}: cannot open shared object file")), "{error}");
        }
        assert_eq!(tried.lines().count(), 2, "{error}");
    }

    #[test]
    fn safe_code_opens_no_library_of_its_own_choice() {
        // Every Linux system has this library, and the function must not open it.
        for name in ["libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6", "./libcuda.so.1", ""] {
            let error = loader_finds(name).unwrap_err().to_string();
            let expected =
                format!("cannot load a CUDA library `{name}`: this is no name of a CUDA library; these are: libcuda");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}
