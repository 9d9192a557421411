//! `check generate`: builds cuda-sys and the crates above it with the feature `generate`, from the headers of several versions
//! of CUDA.
//!
//! Each version's toolkit has a different layout. The test of cuda-sys calls the software device's library through the bindings,
//! and cuda-mem, or with the oldest version all of cuda-prelude, compiles with them. A warning of rustc is an error.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use cuda_sys::toolkit::TARGET;

use crate::setup::{self, Toolkit};
use crate::workspace::{self, cargo, scratch};

/// The features of cuda-sys for libraries.
const TABLES: [&str; 6] = ["runtime", "nvrtc", "nvjitlink", "nvml", "nvtx", "nccl"];

/// Runs the step with every version of CUDA, or with three.
pub(crate) fn run(toolkit: &Toolkit, every: bool) -> Result<()> {
    let libclang = std::env::var_os("LIBCLANG_PATH").map_or_else(|| toolkit.libclang(), PathBuf::from);
    features(&libclang)?;
    let (driver, xtask) = (workspace::software_device()?, workspace::program("xtask")?);
    for (at, (version, include)) in setup::headers_of_versions(every)?.into_iter().enumerate() {
        let machine = scratch("generate")?;
        let layout = Layout::of(at, machine.path(), &include)?;
        let out = machine.path().join("out");
        let mut gen_bindings = Command::new(&xtask);
        gen_bindings.arg("gen-bindings").arg("--out").arg(&out).env("LIBCLANG_PATH", &libclang);
        workspace::output(layout.apply(&mut gen_bindings))?;
        let mut test = cargo();
        test.args(["test", "--quiet", "--package", "cuda-sys", "--test", "loads"]);
        test.arg("--features").arg(format!("generate,{}", TABLES.join(",")));
        layout.apply(&mut test).env("LIBCLANG_PATH", &libclang);
        test.env("CUDA_DRIVER_PATH", &driver)
            .env("EXPECTED_CUDA_VERSION", number(version)?)
            .env("EXPECTED_BINDINGS", out);
        without_warnings(&mut test).with_context(|| format!("bindings of CUDA {version}, {}", layout.description))?;
        // The features are those of the test, so that cuda-sys is not generated again.
        let above = if at == 0 { "cuda-prelude" } else { "cuda-mem" };
        let mut check = cargo();
        check.args(["check", "--quiet", "--package", above, "--features"]);
        check.arg(TABLES.map(|table| format!("cuda-sys/{table}")).join(",") + ",cuda-sys/generate");
        layout.apply(&mut check).env("LIBCLANG_PATH", &libclang);
        without_warnings(&mut check).with_context(|| format!("{above} with bindings of CUDA {version}"))?;
        println!("generate: CUDA {version} reaches the software device, {above} compiles, {}", layout.description);
    }
    layouts(&libclang)
}

/// Runs a command of cargo, in which rustc may warn of nothing. To deny warnings by a flag, every dependency would be built again.
fn without_warnings(command: &mut Command) -> Result<()> {
    let output = command.stderr(Stdio::piped()).spawn()?.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    eprint!("{text}");
    ensure!(output.status.success(), "{} from cargo", output.status);
    // the summary of a package's warnings; what a build script warns of is no defect of the bindings
    let warned = text.lines().find(|line| line.starts_with("warning: `") && line.contains(" generated "));
    warned.map_or(Ok(()), |line| bail!("{line}"))
}

/// Converts `12.4` to `12040`.
fn number(version: &str) -> Result<String> {
    let (major, minor) = version.split_once('.').context("a version has two numbers")?;
    Ok((1000 * major.parse::<u32>()? + 10 * minor.parse::<u32>()?).to_string())
}

/// Checks each library's feature alone with the committed bindings, and all together with those of the headers of 13.0, with
/// warnings as errors. A file of generated bindings is the same whatever the other features are, so that it is read once.
fn features(libclang: &Path) -> Result<()> {
    let home = setup::compilers()?.join("cuda13");
    let all = format!("generate,{}", TABLES.join(","));
    for features in [""].into_iter().chain(TABLES).chain([all.as_str()]) {
        let mut check = cargo();
        check.args(["check", "--quiet", "--package", "cuda-sys", "--features", features]);
        check.env("LIBCLANG_PATH", libclang).env("CUDA_HOME", &home).env_remove("CONDA_PREFIX");
        without_warnings(&mut check)?;
    }
    println!("generate: features compile alone and together");
    Ok(())
}

/// A toolkit of links to real headers, in one of the layouts that the search supports.
struct Layout {
    variable: &'static str,
    root: PathBuf,
    description: &'static str,
}

impl Layout {
    /// Creates the layouts in turn.
    fn of(turn: usize, machine: &Path, include: &Path) -> Result<Layout> {
        let root = machine.join("a toolkit");
        let (variable, below, description) = match turn % 3 {
            0 => ("CONDA_PREFIX", format!("targets/{TARGET}/include"), "in conda's layout with targets"),
            1 => ("CONDA_PREFIX", "include".to_owned(), "in conda's layout with include"),
            _ => ("CUDA_HOME", "include".to_owned(), "in CUDA_HOME with spaces, through symbolic links"),
        };
        let folder = root.join(below);
        fs::create_dir_all(folder.parent().context("below the root")?)?;
        symlink(include, &folder)?;
        let link = machine.join("the default toolkit");
        symlink(&root, &link)?;
        Ok(Layout { variable, root: if variable == "CUDA_HOME" { link } else { root }, description })
    }

    /// Makes it the only toolkit that a command finds.
    fn apply<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env_remove("CONDA_PREFIX").env_remove("CUDA_HOME").env(self.variable, &self.root)
    }
}

/// Runs the generator's own tests, which need real headers and a libclang.
fn layouts(libclang: &Path) -> Result<()> {
    let made = workspace::tests_of("cuda-sys-gen")?;
    let tests: Vec<_> = made.iter().filter(|made| made.target == "toolkits").collect();
    ensure!(!tests.is_empty(), "cargo built no test `toolkits`");
    tests.iter().try_for_each(|test| workspace::run(Command::new(&test.file).env("LIBCLANG_PATH", libclang)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of a command that prints a text as cargo prints warnings.
    fn printing(text: &str) -> Result<()> {
        without_warnings(Command::new("sh").args(["-c", "printf '%s' \"$0\" >&2", text]))
    }

    #[test]
    fn warnings_of_rustc_are_errors() {
        let error = printing("warning: unused import\n\nwarning: `cuda-sys` (lib) generated 1 warning\n").unwrap_err();
        assert_eq!(error.to_string(), "warning: `cuda-sys` (lib) generated 1 warning");
        printing("warning: cuda-sys@0.1.0: nvml.h is missing\n").expect("what a build script warns of is allowed");
    }
}
