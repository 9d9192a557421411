//! Assembles compiled kernels with NVIDIA's assembler: `assemble --ptxas FILE FOLDER...`.
//!
//! The folders contain kernels that the compiler has dumped (`CUDA_JIT_DUMP_DIR`). Every `.kir` is compiled for each of
//! [`TARGETS`] and assembled; every `.ptx` is assembled for its own target, if the assembler supports that. Duplicates are
//! assembled once. Nothing is run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail, ensure};
use cuda_jit::back::llvm::{EmitError, Options, emit};
use cuda_jit::kir::text;
use cuda_jit::target::Target;
use cuda_jit::valid::verify;

/// The oldest architecture that both the assembler and the project support, the later ones of data centres, and the newest.
const TARGETS: [(u32, u32); 5] = [(7, 5), (8, 0), (9, 0), (10, 0), (12, 0)];

/// A text to assemble: its origin, target and PTX.
struct Job {
    name: String,
    target: String,
    ptx: String,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let usage = "usage: assemble --ptxas FILE FOLDER...";
    ensure!(arguments.next().is_some_and(|flag| flag == "--ptxas"), usage);
    let ptxas = PathBuf::from(arguments.next().context(usage)?);
    let mut jobs = Vec::new();
    let mut seen = BTreeSet::new();
    for folder in arguments {
        collect(Path::new(&folder), &mut seen, &mut jobs)?;
    }
    let known = known_targets(&ptxas)?;
    let collected = jobs.len();
    jobs.retain(|job| known.contains(&format!("'{}'", job.target)));
    ensure!(!jobs.is_empty(), "there is nothing to assemble; {usage}");
    let failures = assemble(&ptxas, &jobs)?;
    for failure in &failures {
        eprintln!("{failure}");
    }
    ensure!(failures.is_empty(), "{} of {} texts are refused by {}", failures.len(), jobs.len(), ptxas.display());
    println!(
        "{} texts of {} kernels and files assembled; {} skipped, since the assembler does not support their targets",
        jobs.len(),
        seen.len(),
        collected - jobs.len()
    );
    Ok(())
}

/// The assembler's list of targets, each in quotes. LLVM supports older ones, and some that CUDA 13 renamed.
fn known_targets(ptxas: &Path) -> Result<String> {
    let output = Command::new(ptxas).arg("--help").output().with_context(|| format!("cannot run {ptxas:?}"))?;
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    for (major, minor) in TARGETS {
        ensure!(help.contains(&format!("'sm_{major}{minor}'")), "{} has no sm_{major}{minor}", ptxas.display());
    }
    Ok(help)
}

/// Adds the texts of a folder that are not in `seen`.
fn collect(folder: &Path, seen: &mut BTreeSet<String>, jobs: &mut Vec<Job>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    for file in files {
        let extension = file.extension().unwrap_or_default().to_string_lossy().into_owned();
        if extension != "kir" && extension != "ptx" {
            continue;
        }
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.display().to_string();
        if !seen.insert(text.clone()) {
            continue;
        }
        if extension == "kir" {
            jobs.extend(compiled(&name, &text)?);
        } else {
            jobs.push(written(&name, text)?);
        }
    }
    Ok(())
}

/// Compiles a kernel for every target that supports its instructions.
fn compiled(name: &str, text: &str) -> Result<Vec<Job>> {
    let module = text::parse(text).with_context(|| name.to_owned())?;
    if let Err(error) = verify(&module) {
        bail!("{name}: {error}");
    }
    // A kernel that declares source variables is compiled for debuggers.
    let options = Options { debug: !module.types.is_empty(), ..Options::default() };
    let job = |capability: (u32, u32)| {
        let target = Target::new(capability)?;
        let ptx = match emit(&module, &target, &options) {
            Err(EmitError::TooOld { .. }) => return Ok(None),
            emitted => emitted.with_context(|| format!("{name} for {target}"))?.ptx,
        };
        Ok(Some(Job { name: name.to_owned(), target: target.to_string(), ptx }))
    };
    TARGETS.into_iter().filter_map(|capability| job(capability).transpose()).collect()
}

/// The job for PTX that a test has written.
fn written(name: &str, ptx: String) -> Result<Job> {
    let line =
        ptx.lines().find_map(|line| line.strip_prefix(".target ")).with_context(|| format!("{name}: no .target"))?;
    let target = line.split([',', ' ']).next().unwrap_or_default().to_owned();
    Ok(Job { name: name.to_owned(), target, ptx })
}

/// Returns true for a known bug of the assembler: ptxas 13.0 crashes at an `atom.cas.b16` in a text with debug sections.
fn is_known_crash(code: Option<i32>, ptx: &str) -> bool {
    code.is_none() && ptx.contains(", debug") && ptx.contains("cas.b16")
}

/// Runs the assembler on every text, on all cores. Returns its errors for the texts that it refuses.
fn assemble(ptxas: &Path, jobs: &[Job]) -> Result<Vec<String>> {
    let folder = std::env::temp_dir().join(format!("assemble-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = |number: usize| -> Result<()> {
        let file = folder.join(format!("{number}.ptx"));
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            std::fs::write(&file, &job.ptx)?;
            let mut ptxas = Command::new(ptxas);
            if job.ptx.contains(&format!(".target {}, debug", job.target)) {
                ptxas.arg("-g");
            }
            ptxas.arg(format!("-arch={}", job.target)).args(["-o", "/dev/null"]).arg(&file);
            let output = ptxas.output().with_context(|| format!("cannot run {ptxas:?}"))?;
            if !output.status.success() && !is_known_crash(output.status.code(), &job.ptx) {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                let failure = format!("{} for {}:\n{said}\n{}", job.name, job.target, job.ptx);
                failures.lock().expect("no worker panics").push(failure);
            }
        }
        Ok(())
    };
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let done: Result<Vec<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers)
            .map(|number| {
                let worker = &worker;
                scope.spawn(move || worker(number))
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect()
    });
    std::fs::remove_dir_all(&folder)?;
    done.map(|_| failures.into_inner().expect("no worker panics"))
}
