//! `check generate`: builds of cuda-sys and the crates above with bindings that the build makes, of the headers of several versions of
//! CUDA.
//!
//! Each version's toolkit is laid out in another way that toolkits have, the software device's library answers through the
//! bindings, and cuda-mem, with the oldest version all of cuda-prelude, compiles with them. All builds are in a target folder of their own: where the toolkit is found in another place, what depends
//! on it is built again.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use cuda_sys::toolkit::TARGET;

use crate::setup::{self, Toolkit};
use crate::workspace::{self, Scratch, cargo};

/// The features of cuda-sys that bind a library.
const TABLES: [&str; 5] = ["runtime", "nvrtc", "nvjitlink", "nvml", "nvtx"];

/// Runs all of it, with every version of CUDA or with three.
pub(crate) fn run(toolkit: &Toolkit, every: bool) -> Result<()> {
    let libclang = std::env::var_os("LIBCLANG_PATH").map_or_else(|| toolkit.libclang(), PathBuf::from);
    features(&libclang)?;
    let (driver, xtask) = (workspace::software_device()?, workspace::program("xtask")?);
    for (at, (version, include)) in setup::headers_of_versions(every)?.into_iter().enumerate() {
        let machine = Scratch::new("generate")?;
        let place = Place::of(at, machine.path(), &include)?;
        let out = machine.path().join("out");
        let mut gen_bindings = Command::new(&xtask);
        gen_bindings.arg("gen-bindings").arg("--out").arg(&out).env("LIBCLANG_PATH", &libclang);
        workspace::output(place.apply(&mut gen_bindings))?;
        let mut test = cargo();
        test.args(["test", "--quiet", "--package", "cuda-sys", "--target-dir", "target/generate", "--test", "loads"]);
        test.arg("--features").arg(format!("generate,{}", TABLES.join(",")));
        place.apply(&mut test).env("LIBCLANG_PATH", &libclang);
        test.env("CUDA_DRIVER_PATH", &driver)
            .env("EXPECTED_CUDA_VERSION", number(version)?)
            .env("EXPECTED_BINDINGS", out);
        workspace::run(test.env("RUSTFLAGS", "--deny warnings"))
            .with_context(|| format!("bindings of CUDA {version}, {}", place.shown))?;
        // With the features of the test, cuda-sys is not generated again.
        let above = if at == 0 { "cuda-prelude" } else { "cuda-mem" };
        let mut check = cargo();
        check.args(["check", "--quiet", "--package", above, "--target-dir", "target/generate", "--features"]);
        check.arg(TABLES.map(|table| format!("cuda-sys/{table}")).join(",") + ",cuda-sys/generate");
        place.apply(&mut check).env("LIBCLANG_PATH", &libclang);
        workspace::run(check.env("RUSTFLAGS", "--deny warnings"))
            .with_context(|| format!("{above} with bindings of CUDA {version}"))?;
        println!("generate: CUDA {version} reaches the software device, {above} compiles, {}", place.shown);
    }
    layouts(&libclang)
}

/// `12040` of `12.4`.
fn number(version: &str) -> Result<String> {
    let (major, minor) = version.split_once('.').context("a version has two numbers")?;
    Ok((1000 * major.parse::<u32>()? + 10 * minor.parse::<u32>()?).to_string())
}

/// Each library's feature alone, and all together, on the headers of 13.0, with warnings as errors.
fn features(libclang: &Path) -> Result<()> {
    let home = setup::compilers()?.join("cuda13");
    let all = TABLES.join(",");
    for features in [""].into_iter().chain(TABLES).chain([all.as_str()]) {
        let mut check = cargo();
        check.args(["check", "--quiet", "--package", "cuda-sys", "--target-dir", "target/generate", "--features"]);
        check.arg(format!("generate,{features}")).env("LIBCLANG_PATH", libclang).env("RUSTFLAGS", "--deny warnings");
        workspace::run(check.env("CUDA_HOME", &home).env_remove("CONDA_PREFIX"))?;
    }
    println!("generate: features compile alone and together");
    Ok(())
}

/// A toolkit where discovery finds it, made of links to real headers.
struct Place {
    variable: &'static str,
    root: PathBuf,
    shown: &'static str,
}

impl Place {
    /// One of the ways in which toolkits are laid out, in turn.
    fn of(turn: usize, machine: &Path, include: &Path) -> Result<Place> {
        let root = machine.join("a toolkit");
        let (variable, below, shown) = match turn % 3 {
            0 => ("CONDA_PREFIX", format!("targets/{TARGET}/include"), "in conda's layout with targets"),
            1 => ("CONDA_PREFIX", "include".to_owned(), "in conda's layout with include"),
            _ => ("CUDA_HOME", "include".to_owned(), "in CUDA_HOME with spaces, through symbolic links"),
        };
        let folder = root.join(below);
        fs::create_dir_all(folder.parent().context("below the root")?)?;
        symlink(include, &folder)?;
        let link = machine.join("the default toolkit");
        symlink(&root, &link)?;
        Ok(Place { variable, root: if variable == "CUDA_HOME" { link } else { root }, shown })
    }

    /// Makes it the one toolkit that a command finds.
    fn apply<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env_remove("CONDA_PREFIX").env_remove("CUDA_HOME").env(self.variable, &self.root)
    }
}

/// The generator's own tests on real headers and libclangs, which need one.
fn layouts(libclang: &Path) -> Result<()> {
    let made = workspace::tests_of("cuda-sys-gen")?;
    let tests: Vec<_> = made.iter().filter(|made| made.target == "toolkits").collect();
    ensure!(!tests.is_empty(), "cargo built no test `toolkits`");
    tests.iter().try_for_each(|test| workspace::run(Command::new(&test.file).env("LIBCLANG_PATH", libclang)))
}
