//! The search for LLVM: the locations in order, and the candidate libraries in each.
//!
//! # Safety
//!
//! `dladdr` is called, with pointers to live locals, for the file that contains a function of this crate.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names the library or its folder; if it is set, nothing else is tried.
pub(crate) const VARIABLE: &str = "CUDA_LLVM_PATH";

/// The releases with which all tests pass, in order of preference within a folder.
pub(crate) const SUPPORTED: &[u32] = &[22, 23];
/// The release that is loaded with a warning.
pub(crate) const NEXT: u32 = 24;

/// Folders of the system's libraries, in addition to those of the loader.
const SYSTEM: &[&str] = &[
    #[cfg(target_arch = "x86_64")]
    "/usr/lib/x86_64-linux-gnu",
    #[cfg(target_arch = "aarch64")]
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
];

/// A location that is searched, and the libraries there that may be LLVM.
#[derive(Debug)]
pub(crate) struct Location {
    /// The location, for messages.
    pub(crate) name: String,
    /// The candidates; the system's loader searches for names without a folder.
    pub(crate) libraries: Vec<PathBuf>,
}

impl Location {
    fn new(name: impl Into<String>, libraries: Vec<PathBuf>) -> Self {
        Location { name: name.into(), libraries }
    }

    /// A folder, with a description for messages.
    fn folder(description: &str, folder: &Path) -> Self {
        Location::new(format!("{description}, {}", folder.display()), named_libraries(folder))
    }
}

/// All locations, in the order in which they are tried. Each is searched only when the iterator reaches it.
pub(crate) fn locations() -> Box<dyn Iterator<Item = Location>> {
    if let Some(chosen) = env::var_os(VARIABLE).filter(|chosen| !chosen.is_empty()) {
        return Box::new(std::iter::once(chosen_location(Path::new(&chosen))));
    }
    let beside = image_folders().into_iter().flat_map(|folder| {
        [
            Location::folder("beside the program", &folder),
            Location::folder("beside the program", &folder.join("../lib")),
        ]
    });
    let built = option_env!("CUDA_LLVM_TOOLCHAIN").into_iter();
    let built =
        built.map(|lib| Location::new(format!("the toolchain of the build, {lib}"), ranked_libraries(Path::new(lib))));
    let rustc = std::iter::once_with(sysroot);
    let system = std::iter::once_with(|| {
        let folders = SYSTEM.iter().map(Path::new);
        Location::new(
            format!("the system's folders, {}", SYSTEM.join(", ")),
            folders.flat_map(named_libraries).collect(),
        )
    });
    let loader = std::iter::once_with(|| Location::new("the system's loader", names().map(PathBuf::from).collect()));
    Box::new(beside.chain(built).chain(rustc).chain(system).chain(loader))
}

/// The location that `CUDA_LLVM_PATH` names: one library, or every library in a folder.
fn chosen_location(chosen: &Path) -> Location {
    let name = format!("{VARIABLE}={}", chosen.display());
    if chosen.is_dir() {
        Location::new(name, ranked_libraries(chosen))
    } else {
        Location::new(name, vec![chosen.to_owned()])
    }
}

/// The file names of LLVM in distributions; the last is that of builds before the first release of its major version.
fn names() -> impl Iterator<Item = String> {
    let released = SUPPORTED.iter().chain([&NEXT]).map(|major| format!("libLLVM.so.{major}.1"));
    released.chain([format!("libLLVM.so.{NEXT}.0")])
}

/// The libraries in a folder that have a known name, which includes that of the build's toolchain. The folder is not listed, as
/// it may have many files.
fn named_libraries(folder: &Path) -> Vec<PathBuf> {
    let built = option_env!("CUDA_LLVM_BUILD").filter(|name| !name.is_empty()).map(str::to_owned);
    built.into_iter().chain(names()).map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

/// Lists the libraries in a folder, in order of preference.
fn ranked_libraries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<(usize, PathBuf)> = entries.filter_map(|path| Some((rank(&path)?, path))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The rank of a library by the release in its name, 0 for the preferred one; `None` if it is not a supported LLVM.
fn rank(path: &Path) -> Option<usize> {
    let version = path.file_name()?.to_str()?.strip_prefix("libLLVM.so.")?;
    let major: u32 = version.split(['.', '-']).next()?.parse().ok()?;
    SUPPORTED.iter().chain([&NEXT]).position(|known| *known == major)
}

/// The library folder of the toolchain whose `rustc` is in the path.
fn sysroot() -> Location {
    let name = "`rustc --print sysroot`";
    let Ok(output) = Command::new("rustc").args(["--print", "sysroot"]).output() else {
        return Location::new(format!("{name}, which does not run"), Vec::new());
    };
    let lib = Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("lib");
    Location::new(format!("{name}, {}", lib.display()), ranked_libraries(&lib))
}

/// The folders of the executable, and of the shared library that contains this crate.
fn image_folders() -> Vec<PathBuf> {
    let folder = |file: PathBuf| Some(file.canonicalize().ok()?.parent()?.to_owned());
    let executable = env::current_exe().ok().and_then(folder);
    let own = own_image().and_then(folder).filter(|own| Some(own) != executable.as_ref());
    executable.into_iter().chain(own).collect()
}

/// The file from which this function was loaded.
#[cfg(unix)]
fn own_image() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` takes any address, and writes through the pointer, which is to a live local.
    let found = unsafe { libc::dladdr(own_image as *const libc::c_void, info.as_mut_ptr()) };
    // SAFETY: zeros are valid for the struct, whose fields are pointers and integers.
    let name = unsafe { info.assume_init() }.dli_fname;
    if found == 0 || name.is_null() {
        return None;
    }
    // SAFETY: the loader's names end with a zero, and live while the file is loaded, which contains this running function.
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
    fn a_folder_yields_the_supported_releases_with_the_oldest_first() {
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
        let found = ranked_libraries(folder.path());
        let found: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(found, ["libLLVM.so.22.1-rust-1.95.0-stable", "libLLVM.so.23.1", "libLLVM.so.24.0"]);
        assert!(ranked_libraries(&folder.path().join("nowhere")).is_empty());
        let named = named_libraries(folder.path());
        for name in ["libLLVM.so.23.1", "libLLVM.so.24.0"] {
            assert!(named.contains(&folder.path().join(name)), "{named:?}");
        }
    }

    #[test]
    fn the_chosen_path_is_a_library_or_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libLLVM.so.23.1");
        // A missing library is tried, so that the error names it.
        assert_eq!(chosen_location(&library).libraries, std::slice::from_ref(&library));
        std::fs::write(&library, "").unwrap();
        assert_eq!(chosen_location(folder.path()).libraries, [library]);
    }
}
