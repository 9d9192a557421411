//! A shared library: how it is found, opened, kept open, and asked for symbols. It knows no CUDA function.
//!
//! # Safety
//!
//! Opening a library runs its initialisers. [`Library::open`] is therefore `unsafe`, and its caller promises that the file is
//! the library that its name says. The names of [`loader_names`] and the environment's variables (`LD_LIBRARY_PATH`,
//! `CUDA_HOME`, `CUDA_DRIVER_PATH`) are promises of the system and of the person who starts the program: safe Rust cannot
//! change either, for `std::env::set_var` is `unsafe`. Symbols are looked up and not used here.

use core::ffi::c_void;
use core::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use crate::error::LoadError;
use crate::system::{System, loader_names};
use crate::toolkit::Environment;

/// A shared library that stays open for the life of the process.
pub(crate) struct Library {
    /// Never closed: function pointers handed out carry no lifetime, and CUDA's libraries start threads of their own.
    library: ManuallyDrop<libloading::Library>,
}

impl Library {
    /// Opens the library at `path`; a name without a slash is searched for as the system's loader does.
    ///
    /// An error is the loader's reason.
    ///
    /// # Safety
    ///
    /// Running the library's initialisers is sound, and its symbols are the functions that their names say.
    pub(crate) unsafe fn open(path: &Path) -> Result<Library, String> {
        // SAFETY: the caller's promise.
        let library = unsafe { libloading::Library::new(path) }.map_err(|error| words(&error))?;
        Ok(Library { library: ManuallyDrop::new(library) })
    }

    /// The address of an exported symbol.
    pub(crate) fn exported(&self, name: &str) -> Option<*mut c_void> {
        // SAFETY: the symbol is only looked up; as an address it is not used here.
        let symbol = unsafe { self.library.get::<Option<unsafe extern "C" fn()>>(name) }.ok()?;
        Some((*symbol)? as *mut c_void)
    }
}

/// The loader's own words, which are one level below libloading's.
fn words(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |words| words.to_string())
}

/// Checks that the system's loader finds one of CUDA's libraries by this name.
///
/// The library is opened for that, and stays open. Only names under which CUDA's libraries are installed are looked for,
/// `libcuda.so.1` or `libnvrtc.so.13`: opening any other library would run code that nobody has promised to be sound.
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
/// [`LoadError`], with the loader's reason, or where `name` is no name of a CUDA library.
pub fn loader_finds(name: &str) -> Result<(), LoadError> {
    let path = Path::new(name);
    let names = loader_names(System::HERE);
    let opened = match names.contains(&name) {
        // SAFETY: the system's loader finds by this name what was installed as that library, see the head of this file.
        true => unsafe { Library::open(path) },
        false => Err(format!("this is no name of a CUDA library; these are: {}", names.join(", "))),
    };
    opened.map(drop).map_err(|reason| LoadError::new("a CUDA library", vec![(path.to_owned(), reason)], None))
}

/// Opens the first of `names` that the system's loader finds, else the first that `environment`'s toolkit has, where the
/// library is one of a toolkit. A full path among `names` is passed over, and not told, where there is no such file.
///
/// `before` is called with each full path before it is opened.
///
/// # Safety
///
/// What is installed under these names, and what `environment` has under them, are the libraries that they say, as for
/// [`Library::open`].
pub(crate) unsafe fn search(
    what: &'static str,
    names: &[&str],
    environment: Option<&Environment>,
    before: unsafe fn(&Path),
) -> Result<(Library, PathBuf), LoadError> {
    let mut tried = Vec::new();
    for name in names.iter().filter(|name| Path::new(name).is_relative() || Path::new(name).is_file()) {
        // SAFETY: the caller's promise.
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
                // SAFETY: the caller's promise for the library at this path.
                unsafe { before(&path) };
                // SAFETY: the caller's promise.
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

    /// On most machines there is no such folder, which is no news to who reads the error.
    #[test]
    fn a_path_without_a_file_is_not_told() {
        let names = ["libno-such.so.2", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "/no-such/libcuda.so.1"];
        // SAFETY: no library is opened: no loader finds the first, and the second is a text.
        let error = unsafe { search("the made-up driver", &names, None, |_| ()) }.err().unwrap().to_string();
        assert!(error.contains("Cargo.toml`: ") && !error.contains("/no-such"), "{error}");
    }

    #[test]
    fn all_names_that_were_tried_are_told_with_their_reasons() {
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
        // Every Linux has it, and it must not be opened by that function.
        for name in ["libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6", "./libcuda.so.1", ""] {
            let error = loader_finds(name).unwrap_err().to_string();
            let expected =
                format!("cannot load a CUDA library `{name}`: this is no name of a CUDA library; these are: libcuda");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}
