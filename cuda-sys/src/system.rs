//! Names of CUDA's libraries and the folders of a toolkit that hold them, which differ between operating systems.
//!
//! The entries of both systems are compiled on both, so that those of Windows are tested on Linux. Nothing is opened here.
//! Windows' names were read from NVIDIA's packages of CUDA 12 and 13.

use std::path::{Path, PathBuf};

/// An operating system for which CUDA's files have names of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    Linux,
    Windows,
}

impl System {
    /// The system that the crate is compiled for.
    pub(crate) const HERE: System = if cfg!(windows) { System::Windows } else { System::Linux };
}

/// The names that a library's files have, the preferred one first.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    linux: &'static [&'static str],
    windows: &'static [&'static str],
}

impl Names {
    pub(crate) const fn of(self, system: System) -> &'static [&'static str] {
        match system {
            System::Linux => self.linux,
            System::Windows => self.windows,
        }
    }

    pub(crate) const fn here(self) -> &'static [&'static str] {
        self.of(System::HERE)
    }
}

/// The driver. The path is that of the Windows Subsystem for Linux, which not every distribution configures for its loader.
pub(crate) const DRIVER: Names =
    Names { linux: &["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"], windows: &["nvcuda.dll"] };
/// The runtime of CUDA 13.
pub(crate) const RUNTIME: Names = Names { linux: &["libcudart.so.13"], windows: &["cudart64_13.dll"] };
/// The runtime of CUDA 12.
pub(crate) const RUNTIME12: Names = Names { linux: &["libcudart.so.12"], windows: &["cudart64_12.dll"] };
pub(crate) const NVRTC: Names =
    Names { linux: &["libnvrtc.so.13", "libnvrtc.so.12"], windows: &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"] };
pub(crate) const NVJITLINK: Names = Names {
    linux: &["libnvJitLink.so.13", "libnvJitLink.so.12"],
    windows: &["nvJitLink_130_0.dll", "nvJitLink_120_0.dll"],
};
pub(crate) const NVML: Names =
    Names { linux: &["libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"], windows: &["nvml.dll"] };
/// NVIDIA has no NCCL for Windows.
pub(crate) const NCCL: Names = Names { linux: &["libnccl.so.2"], windows: &[] };

/// Every library, in the order in which messages list them.
const ALL: [Names; 7] = [DRIVER, RUNTIME, RUNTIME12, NVRTC, NVJITLINK, NVML, NCCL];

/// The names by which a system's loader finds CUDA's libraries.
pub(crate) fn loader_names(system: System) -> Vec<&'static str> {
    ALL.iter().flat_map(|names| names.of(system)).copied().filter(|name| !name.contains('/')).collect()
}

/// The machine's own toolkit: the one at a fixed place on Linux, the one that `CUDA_PATH` names on Windows, which NVIDIA's installer sets.
pub(crate) const fn local_toolkit(system: System) -> Local {
    match system {
        System::Linux => Local::At("/usr/local/cuda"),
        System::Windows => Local::Variable("CUDA_PATH"),
    }
}

/// A place of the machine's own toolkit: a folder, or the variable that names one.
pub(crate) enum Local {
    At(&'static str),
    Variable(&'static str),
}

/// The common prefix of the names of the libraries that hold NVRTC's own headers.
#[cfg(any(test, feature = "nvrtc"))]
pub(crate) const fn nvrtc_builtins(system: System) -> &'static str {
    match system {
        System::Linux => "libnvrtc-builtins.so",
        System::Windows => "nvrtc-builtins64_",
    }
}

/// The folders below a toolkit's root that may hold shared libraries on Windows: of an installed toolkit since CUDA 13, of a
/// wheel since CUDA 13, of both before CUDA 13, and of a conda environment.
const WINDOWS_FOLDERS: &[&str] = &["bin/x64", "bin/x86_64", "bin", "Library/bin/x64", "Library/bin"];

/// The folders below a toolkit's root that may hold shared libraries. On Linux they are those of `targets`, `lib64`, `lib`, and
/// Debian's multiarch folder below `lib`.
pub(crate) fn library_folders(
    system: System,
    root: &Path,
    targets: impl Iterator<Item = PathBuf>,
    multiarch: &str,
) -> Vec<PathBuf> {
    match system {
        System::Linux => {
            let folders = targets.map(|target| target.join("lib"));
            let folders = folders.chain(["lib64", "lib"].map(|folder| root.join(folder)));
            folders.chain([root.join("lib").join(multiarch)]).collect()
        }
        System::Windows => WINDOWS_FOLDERS.iter().map(|folder| root.join(folder)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_systems_have_names_for_the_same_versions_of_a_library() {
        for (names, linux, windows) in [
            (RUNTIME, vec!["libcudart.so.13"], vec!["cudart64_13.dll"]),
            (RUNTIME12, vec!["libcudart.so.12"], vec!["cudart64_12.dll"]),
            (NVRTC, vec!["libnvrtc.so.13", "libnvrtc.so.12"], vec!["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]),
            (
                NVJITLINK,
                vec!["libnvJitLink.so.13", "libnvJitLink.so.12"],
                vec!["nvJitLink_130_0.dll", "nvJitLink_120_0.dll"],
            ),
        ] {
            assert_eq!((names.of(System::Linux), names.of(System::Windows)), (&*linux, &*windows));
        }
    }

    #[test]
    fn the_loader_of_windows_gets_only_windows_names() {
        let names = loader_names(System::Windows);
        assert_eq!(names.first(), Some(&"nvcuda.dll"));
        assert!(names.contains(&"nvml.dll") && names.iter().all(|name| name.ends_with(".dll")), "{names:?}");
        let names = loader_names(System::Linux);
        assert_eq!(names.len(), 9, "a full path is no name: {names:?}");
        assert!(names.iter().all(|name| name.starts_with("lib") && name.contains(".so.")), "{names:?}");
    }

    #[test]
    fn the_builtins_of_each_release_of_nvrtc_have_the_common_prefix() {
        for (system, files) in [
            (System::Linux, ["libnvrtc-builtins.so.13.0", "libnvrtc-builtins.so.12.9"]),
            (System::Windows, ["nvrtc-builtins64_130.dll", "nvrtc-builtins64_124.dll"]),
        ] {
            assert!(files.iter().all(|file| file.starts_with(nvrtc_builtins(system))), "{system:?}");
            assert!(NVRTC.of(system).iter().all(|file| !file.starts_with(nvrtc_builtins(system))), "{system:?}");
        }
    }

    #[test]
    fn the_libraries_of_windows_packages_are_in_one_of_its_folders() {
        for file in [
            "CUDA/v13.0/bin/x64/cudart64_13.dll",
            "nvidia/cu13/bin/x86_64/nvrtc64_130_0.dll",
            "nvidia/cuda_nvrtc/bin/nvrtc64_120_0.dll",
            "CUDA/v12.4/bin/nvJitLink_120_0.dll",
            "conda/Library/bin/x64/cudart64_13.dll",
            "conda/Library/bin/cudart64_12.dll",
        ] {
            let root: PathBuf =
                Path::new(file).components().take(if file.starts_with("conda") { 1 } else { 2 }).collect();
            let folders = library_folders(System::Windows, &root, std::iter::empty(), "");
            assert!(folders.contains(&Path::new(file).parent().unwrap().to_owned()), "{file}");
        }
    }
}
