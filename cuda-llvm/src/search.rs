//! Where LLVM may lie, and which of what lies there is taken.
//!
//! # Safety
//!
//! The loader is asked for the file that a function of this crate is in, with pointers to live locals.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the library, or its folder; nothing else is tried then.
pub(crate) const VARIABLE: &str = "CUDA_LLVM_PATH";

/// The releases that all tests pass with, in the order in which they are preferred within a folder.
pub(crate) const TRIED: &[u32] = &[22, 23];
/// A release that is taken with a warning.
pub(crate) const NEXT: u32 = 24;

/// Folders of the system's libraries, beside those that the loader knows.
const SYSTEM: &[&str] = &[
    #[cfg(target_arch = "x86_64")]
    "/usr/lib/x86_64-linux-gnu",
    #[cfg(target_arch = "aarch64")]
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
];

/// A place, and the libraries there that may be LLVM.
#[derive(Debug)]
pub(crate) struct Place {
    /// The place, for people.
    pub(crate) name: String,
    /// The libraries that are there; names without a folder are the loader's to find.
    pub(crate) libraries: Vec<PathBuf>,
}

impl Place {
    fn new(name: impl Into<String>, libraries: Vec<PathBuf>) -> Self {
        Place { name: name.into(), libraries }
    }

    /// A folder, and whose it is.
    fn folder(whose: &str, folder: &Path) -> Self {
        Place::new(format!("{whose}, {}", folder.display()), named_beside(folder))
    }
}

/// All places, in the order in which they are tried. What comes later is not looked at before it is needed.
pub(crate) fn places() -> Box<dyn Iterator<Item = Place>> {
    if let Some(chosen) = env::var_os(VARIABLE).filter(|chosen| !chosen.is_empty()) {
        return Box::new(std::iter::once(chosen_place(Path::new(&chosen))));
    }
    let beside = images().into_iter().flat_map(|folder| {
        [Place::folder("beside the program", &folder), Place::folder("beside the program", &folder.join("../lib"))]
    });
    let built = option_env!("CUDA_LLVM_TOOLCHAIN").into_iter();
    let built = built.map(|lib| Place::new(format!("the toolchain of the build, {lib}"), listed(Path::new(lib))));
    let rustc = std::iter::once_with(sysroot);
    let system = std::iter::once_with(|| {
        let folders = SYSTEM.iter().map(Path::new);
        Place::new(format!("the system's folders, {}", SYSTEM.join(", ")), folders.flat_map(named_beside).collect())
    });
    let loader = std::iter::once_with(|| Place::new("the system's loader", names().map(PathBuf::from).collect()));
    Box::new(beside.chain(built).chain(rustc).chain(system).chain(loader))
}

/// What `CUDA_LLVM_PATH` names: a library, or all in a folder.
fn chosen_place(chosen: &Path) -> Place {
    let name = format!("{VARIABLE}={}", chosen.display());
    if chosen.is_dir() { Place::new(name, listed(chosen)) } else { Place::new(name, vec![chosen.to_owned()]) }
}

/// The names under which systems have LLVM; the last is of builds before the first release of its number.
fn names() -> impl Iterator<Item = String> {
    let released = TRIED.iter().chain([&NEXT]).map(|major| format!("libLLVM.so.{major}.1"));
    released.chain([format!("libLLVM.so.{NEXT}.0")])
}

/// The libraries in a folder that has many files besides: by their names, the toolchain's of the build among them.
fn named_beside(folder: &Path) -> Vec<PathBuf> {
    let built = option_env!("CUDA_LLVM_BUILD").filter(|name| !name.is_empty()).map(str::to_owned);
    built.into_iter().chain(names()).map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

/// The libraries in a folder that has few files, those of releases that are preferred first.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<(usize, PathBuf)> = entries.filter_map(|path| Some((rank(&path)?, path))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// How far behind in preference a library stands, by its name; none of what is no LLVM that is taken.
fn rank(path: &Path) -> Option<usize> {
    let version = path.file_name()?.to_str()?.strip_prefix("libLLVM.so.")?;
    let major: u32 = version.split(['.', '-']).next()?.parse().ok()?;
    TRIED.iter().chain([&NEXT]).position(|known| *known == major)
}

/// The folder of the toolchain that `rustc` is, as the shell finds it.
fn sysroot() -> Place {
    let name = "`rustc --print sysroot`";
    let Ok(output) = Command::new("rustc").args(["--print", "sysroot"]).output() else {
        return Place::new(format!("{name}, which does not run"), Vec::new());
    };
    let lib = Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("lib");
    Place::new(format!("{name}, {}", lib.display()), listed(&lib))
}

/// The folders of the executable, and of the shared library that has this crate in it.
fn images() -> Vec<PathBuf> {
    let folder = |file: PathBuf| Some(file.canonicalize().ok()?.parent()?.to_owned());
    let executable = env::current_exe().ok().and_then(folder);
    let own = own_image().and_then(folder).filter(|own| Some(own) != executable.as_ref());
    executable.into_iter().chain(own).collect()
}

/// The file that this function was loaded from.
#[cfg(unix)]
fn own_image() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` takes any address, and writes through the pointer, to a live local.
    let found = unsafe { libc::dladdr(own_image as *const libc::c_void, info.as_mut_ptr()) };
    // SAFETY: zeros are valid for the struct, which has pointers and integers alone.
    let name = unsafe { info.assume_init() }.dli_fname;
    if found == 0 || name.is_null() {
        return None;
    }
    // SAFETY: the loader's names end with a zero, and stay while the file is loaded, which has this function in it.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes())))
}

#[cfg(not(unix))]
fn own_image() -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_yields_the_releases_that_are_tried_the_older_first() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            "libLLVM.so.24.0",
            "libLLVM.so.23.1",
            "libLLVM.so.22.1-rust-1.95.0-stable",
            "libLLVM.so.21.1",
            "libLLVM.so.25.0",
            "libLLVM-22.so",
            "libLLVM.so",
            "librustc_driver.so",
        ];
        for file in files {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let found = listed(folder.path());
        let found: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(found, ["libLLVM.so.22.1-rust-1.95.0-stable", "libLLVM.so.23.1", "libLLVM.so.24.0"]);
        assert!(listed(&folder.path().join("nowhere")).is_empty());
        let named = named_beside(folder.path());
        for name in ["libLLVM.so.23.1", "libLLVM.so.24.0"] {
            assert!(named.contains(&folder.path().join(name)), "{named:?}");
        }
    }

    #[test]
    fn what_is_chosen_is_a_library_or_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libLLVM.so.23.1");
        // a missing one is tried, so that an error names it
        assert_eq!(chosen_place(&library).libraries, std::slice::from_ref(&library));
        std::fs::write(&library, "").unwrap();
        assert_eq!(chosen_place(folder.path()).libraries, [library]);
    }
}
