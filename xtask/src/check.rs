//! `check`: the whole gate, fast parts first. A change that passes may be merged; there are no other checks.
//!
//! Each step prints its name and its time, and after a failure no other step begins. Most steps build in one target folder, with
//! the same profiles and features, so that little is compiled twice. rustc and the tests often leave a core idle, so the steps that
//! need little of that folder run beside the others, as processes whose output appears when they end.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// A copy of this program, whose file the steps build anew.
    program: PathBuf,
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

/// The steps that run beside the others, in their order: first those with a target folder of their own.
const BESIDE: [&str; 4] = ["sanitize", "loom", "generate", "bundles"];

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
    let (kernels, program) = (scratch.path().join("kernels"), scratch.path().join("xtask"));
    fs::copy(std::env::current_exe()?, &program).context("cannot copy this program")?;
    let toolkit = setup::toolkit()?;
    workspace::set_common(Common { variables: toolkit.for_bindgen()?, features: mpi::features() });
    let shared = Shared { toolkit, kernels, program, every_cuda: options.every_cuda, whole_llvm: options.whole_llvm };
    fs::create_dir_all(&shared.kernels)?;
    let start = Instant::now();
    let mut times = match &steps[..] {
        [step] => vec![here(step, &shared)?],
        _ => side_by_side(&steps, &shared)?,
    };
    if times.len() > 1 {
        times.push(("all", start.elapsed()));
    }
    for (name, time) in times {
        println!("check {name:<10} {:7.1} s", time.as_secs_f64());
    }
    Ok(())
}

/// The name of a step, and how long it took.
type Timed = (&'static str, Duration);

/// Runs the steps of [`BESIDE`] and the others at the same time, each kind in its order.
fn side_by_side(steps: &[&Step], shared: &Shared) -> Result<Vec<Timed>> {
    let failed = AtomicBool::new(false);
    let beside = BESIDE.iter().filter_map(|name| steps.iter().find(|step| step.0 == *name));
    let others = steps.iter().filter(|step| !BESIDE.contains(&step.0));
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| until_failure(beside, &failed, |step| as_process(step, shared)));
        let others = until_failure(others, &failed, |step| here(step, shared));
        let beside = beside.join().expect("the thread does not panic");
        Ok([others?, beside?].concat())
    })
}

/// Runs steps one after the other, until one fails, here or elsewhere.
fn until_failure<'a>(
    steps: impl Iterator<Item = &'a &'a Step>,
    failed: &AtomicBool,
    run: impl Fn(&Step) -> Result<Timed>,
) -> Result<Vec<Timed>> {
    let mut times = Vec::new();
    for step in steps {
        if failed.load(Ordering::Relaxed) {
            break;
        }
        let time = run(step);
        failed.fetch_or(time.is_err(), Ordering::Relaxed);
        times.push(time?);
    }
    Ok(times)
}

/// Runs a step in this process.
fn here((name, step): &Step, shared: &Shared) -> Result<Timed> {
    println!("==> {name}");
    let start = Instant::now();
    step(shared).with_context(|| format!("check failed at `{name}`"))?;
    Ok((name, start.elapsed()))
}

/// Runs a step as a process of its own, and prints its output when it has ended.
fn as_process((name, _): &Step, shared: &Shared) -> Result<Timed> {
    let mut command = Command::new(&shared.program);
    command.args(["check", name]);
    let options = [(shared.every_cuda, "--every-cuda"), (shared.whole_llvm, "--whole-llvm")];
    command.args(options.into_iter().filter(|(given, _)| *given).map(|(_, option)| option));
    let start = Instant::now();
    let (succeeded, text) = printed(command)?;
    print!("{text}");
    if !succeeded {
        bail!("check failed at `{name}`, whose output is above");
    }
    Ok((name, start.elapsed()))
}

/// Runs a command; returns if it succeeded, and what it and the commands that it starts print, in the order in which they do.
fn printed(mut command: Command) -> Result<(bool, String)> {
    let (mut reader, writer) = std::io::pipe()?;
    let mut process = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // Its ends of the pipe are closed, so that the text ends.
    drop(command);
    let mut text = Vec::new();
    reader.read_to_end(&mut text)?;
    Ok((process.wait()?.success(), String::from_utf8_lossy(&text).into_owned()))
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
    fn steps_beside_the_others_are_steps_that_their_names_choose_alone() {
        for name in BESIDE {
            assert_eq!(step_names().filter(|step| step.contains(name)).collect::<Vec<_>>(), [name]);
        }
    }

    #[test]
    fn after_a_failure_no_step_begins() {
        let steps: [Step; 3] = [("first", |_| Ok(())), ("second", |_| Ok(())), ("third", |_| Ok(()))];
        let begun = std::cell::RefCell::new(Vec::new());
        let failed = AtomicBool::new(false);
        let run = |step: &Step| {
            begun.borrow_mut().push(step.0);
            if step.0 == "second" { bail!("it fails") } else { Ok((step.0, Duration::ZERO)) }
        };
        let steps: Vec<&Step> = steps.iter().collect();
        assert_eq!(until_failure(steps.iter(), &failed, run).unwrap_err().to_string(), "it fails");
        assert_eq!(*begun.borrow(), ["first", "second"]);
        assert!(until_failure(steps.iter(), &failed, run).unwrap().is_empty(), "another step has failed");
    }

    #[test]
    fn the_output_of_a_process_is_kept_in_its_order() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo one; echo two >&2; sh -c 'echo three'; exit 3"]);
        let (succeeded, text) = printed(shell).unwrap();
        assert_eq!((succeeded, text.as_str()), (false, "one\ntwo\nthree\n"));
    }

    #[test]
    fn the_error_lists_all_faults() {
        let error = none(vec!["a:1: x".to_owned(), "b:2: y".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "2 faults\na:1: x\nb:2: y");
    }
}
