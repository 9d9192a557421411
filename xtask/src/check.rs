//! `check`: the whole gate, fast parts first. A change that passes may be merged; there are no other checks.
//!
//! Each step prints its name and its time, and the first failure ends the command. Most steps build in one target folder, with
//! the same profiles and features, so that little is compiled twice.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::setup::Toolkit;
use crate::workspace::{self, Common, cargo, run as run_command, scratch, whole};
use crate::{
    book, fuzz, generate, kernel_bundles, layers, modules, mpi, next_llvm, package, sanitize, setup, test, tidy,
};

#[derive(Args)]
pub(crate) struct Options {
    /// Run only the steps whose name contains this
    #[arg(value_name = "STEP")]
    only: Option<String>,
    /// In the step `generate`, read the headers of every CUDA from 12.0 on that PyPI has (255 MB), not only of three
    #[arg(long)]
    every_cuda: bool,
    /// In the step `llvm`, run all tests of cuda-jit and cuda-sim, not only some
    #[arg(long)]
    whole_llvm: bool,
}

/// The state that steps share.
struct Shared {
    toolkit: Toolkit,
    /// The folder to which the tests write the kernels that they compile.
    kernels: PathBuf,
    every_cuda: bool,
    whole_llvm: bool,
}

/// A step of the gate: its name and its function.
type Step = (&'static str, fn(&Shared) -> Result<()>);

const STEPS: &[Step] = &[
    ("format", |_| run_command(cargo().args(["fmt", "--all", "--check"]))),
    ("layers", |_| none([layers::faults(&workspace::metadata()?), modules::faults()?].concat())),
    ("tidy", |_| none(tidy::faults()?)),
    ("book", |_| book::check()),
    ("package", |_| package::check()),
    ("deny", deny),
    ("clippy", clippy),
    ("docs", docs),
    ("bindings", bindings),
    ("generate", |shared| generate::run(&shared.toolkit, shared.every_cuda)),
    ("test", tests),
    ("mpi", |_| mpi::run()),
    ("bundles", |_| kernel_bundles::run()),
    ("llvm", |shared| next_llvm::run(shared.whole_llvm)),
    ("fuzz", |_| fuzz::gate()),
    ("loom", loom),
    ("sanitize", |_| sanitize::run()),
    ("assemble", assemble),
];

/// The names of the steps, in their order.
pub(crate) fn step_names() -> impl Iterator<Item = &'static str> {
    STEPS.iter().map(|(name, _)| *name)
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let chosen = |step: &&Step| options.only.as_ref().is_none_or(|only| step.0.contains(only.as_str()));
    let steps: Vec<&Step> = STEPS.iter().filter(chosen).collect();
    if steps.is_empty() {
        bail!("no step has this name; the steps are {}", step_names().collect::<Vec<_>>().join(", "));
    }
    let scratch = scratch("check")?;
    let kernels = scratch.path().join("kernels");
    let toolkit = setup::toolkit()?;
    workspace::set_common(Common { variables: toolkit.for_bindgen()?, features: mpi::features() });
    let shared = Shared { toolkit, kernels, every_cuda: options.every_cuda, whole_llvm: options.whole_llvm };
    fs::create_dir_all(&shared.kernels)?;
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for (name, step) in steps {
        println!("==> {name}");
        let start = Instant::now();
        step(&shared).with_context(|| format!("check failed at `{name}`"))?;
        times.push((name, start.elapsed()));
    }
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    for (name, time) in times.iter().chain([&("all", total)]) {
        println!("check {name:<10} {:7.1} s", time.as_secs_f64());
    }
    Ok(())
}

/// Fails with the faults, if there are any.
fn none(faults: Vec<String>) -> Result<()> {
    match faults.len() {
        0 => Ok(()),
        count => bail!("{count} faults\n{}", faults.join("\n")),
    }
}

/// Checks the licences, duplicates and sources of the dependencies.
fn deny(_: &Shared) -> Result<()> {
    if workspace::output(cargo().args(["deny", "--version"])).is_err() {
        println!("skipped: deny (cargo-deny is not installed; `cargo install --locked cargo-deny` installs it)");
        return Ok(());
    }
    println!("skipped: advisories (their database is on the network; `cargo deny check advisories` queries it)");
    run_command(cargo().args([
        "deny",
        "--log-level",
        "error",
        "--all-features",
        "check",
        "licenses",
        "bans",
        "sources",
    ]))
}

fn clippy(_: &Shared) -> Result<()> {
    run_command(whole("clippy").args(["--all-targets", "--quiet", "--", "--deny", "warnings"]))
}

fn docs(_: &Shared) -> Result<()> {
    run_command(whole("doc").args(["--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "--deny warnings"))
}

/// Compares the committed bindings with the toolkit's headers.
fn bindings(shared: &Shared) -> Result<()> {
    let mut xtask = Command::new(workspace::program("xtask")?);
    xtask.current_dir(workspace::root()).args(["gen-bindings", "--check"]);
    shared.toolkit.set_libclang(&mut xtask);
    run_command(&mut xtask)
}

/// Runs the README's test command. Every kernel that a test compiles is written to the kernels' folder.
fn tests(shared: &Shared) -> Result<()> {
    let folder = OsString::from(&shared.kernels);
    test::all(&[], &[("CUDA_JIT_DUMP_DIR", folder.clone()), ("PTX_OUT_DIR", folder)])
}

/// Runs the loom models of queues, wake-ups and first uses by many threads. They have a target folder of their own, since the
/// flag applies to every dependency.
fn loom(_: &Shared) -> Result<()> {
    let mut models = cargo();
    models.args([
        "test",
        "--quiet",
        "--package",
        "cuda-sys",
        "--package",
        "cuda-sim",
        "--package",
        "cuda-driver",
        "--package",
        "cuda-mem",
        "--package",
        "cuda-nccl-sim",
        "--lib",
        "--profile",
        "loom",
        "--target-dir",
        "target/loom",
        "loom",
    ]);
    run_command(models.env("RUSTFLAGS", "--cfg loom"))
}

/// Assembles the kernels that the tests compiled with NVIDIA's assembler.
fn assemble(shared: &Shared) -> Result<()> {
    if fs::read_dir(&shared.kernels)?.next().is_none() {
        bail!("the tests wrote no kernel; run the step `test` before this one");
    }
    // It is built before CUDA_HOME is set, since with another toolkit cargo would rebuild cuda-sys.
    let mut assemble = Command::new(workspace::program("assemble")?);
    assemble.current_dir(workspace::root()).arg("--ptxas");
    // Kernels that call libdevice are compiled with the toolkit's libdevice.
    assemble.env("CUDA_HOME", shared.toolkit.root());
    run_command(assemble.arg(shared.toolkit.tool("ptxas")?).arg(&shared.kernels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_an_unknown_step_lists_the_steps() {
        let error = run(&Options { only: Some("linting".to_owned()), every_cuda: false, whole_llvm: false })
            .unwrap_err()
            .to_string();
        assert!(error.contains("format, layers, tidy"), "{error}");
    }

    #[test]
    fn the_error_lists_all_faults() {
        let error = none(vec!["a:1: x".to_owned(), "b:2: y".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "2 faults\na:1: x\nb:2: y");
    }
}
