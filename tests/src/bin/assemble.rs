//! Assembles compiled kernels with NVIDIA's assembler: `assemble --ptxas FILE FOLDER...`.
//!
//! The folders contain kernels that the compiler has dumped (`CUDA_JIT_DUMP_DIR`). Every `.kir` is compiled for each of
//! [`TARGETS`] and assembled, for the oldest of those for which its PTX is the same; every `.ptx` is assembled for its own target,
//! if the assembler supports that. Duplicates are assembled once. Nothing is run.

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

/// A file of a folder.
struct File {
    name: String,
    text: String,
    /// True for a kernel, false for PTX.
    is_kernel: bool,
}

/// A text to assemble: its origin, target and PTX.
struct Job {
    name: String,
    target: String,
    ptx: String,
}

impl Job {
    /// Returns true if the texts differ in nothing but their versions and targets.
    fn is_code_of(&self, other: &Job) -> bool {
        let is_code = |line: &&str| !line.starts_with(".version") && !line.starts_with(".target");
        self.ptx.lines().filter(is_code).eq(other.ptx.lines().filter(is_code))
    }
}

/// The results of the texts.
#[derive(Default)]
struct Totals {
    assembled: usize,
    /// Those whose target the assembler does not support.
    skipped: usize,
    /// The errors of those that it refuses.
    failures: Vec<String>,
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
    let (mut files, mut seen) = (Vec::new(), BTreeSet::new());
    for folder in arguments {
        collect(Path::new(&folder), &mut seen, &mut files)?;
    }
    let Totals { assembled, skipped, failures } = assemble(&ptxas, &files)?;
    ensure!(assembled > 0, "there is nothing to assemble; {usage}");
    for failure in &failures {
        eprintln!("{failure}");
    }
    ensure!(failures.is_empty(), "{} of {assembled} texts are refused by {}", failures.len(), ptxas.display());
    println!(
        "{assembled} texts of {} kernels and files assembled; {skipped} skipped, since the assembler does not support their targets",
        files.len(),
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

/// Adds the files of a folder whose texts are not in `seen`.
fn collect(folder: &Path, seen: &mut BTreeSet<String>, files: &mut Vec<File>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for file in paths {
        let extension = file.extension().unwrap_or_default().to_string_lossy().into_owned();
        if extension != "kir" && extension != "ptx" {
            continue;
        }
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        if seen.insert(text.clone()) {
            files.push(File { name: file.display().to_string(), text, is_kernel: extension == "kir" });
        }
    }
    Ok(())
}

/// Compiles a kernel for the targets that support its instructions: for the oldest and the newest, and for those between if the two
/// texts differ. What is valid for a target is valid for later ones, so that only the first of equal texts remains.
fn compiled(name: &str, text: &str) -> Result<Vec<Job>> {
    let module = text::parse(text).with_context(|| name.to_owned())?;
    if let Err(error) = verify(&module) {
        bail!("{name}: {error}");
    }
    // A kernel that declares source variables is compiled for debuggers.
    let options = Options { debug: !module.types.is_empty(), ..Options::default() };
    let job = |capability: (u32, u32)| -> Result<Option<Job>> {
        let target = Target::new(capability)?;
        let ptx = match emit(&module, &target, &options) {
            Err(EmitError::TooOld { .. }) => return Ok(None),
            emitted => emitted.with_context(|| format!("{name} for {target}"))?.ptx,
        };
        Ok(Some(Job { name: name.to_owned(), target: target.to_string(), ptx }))
    };
    let [oldest, between @ .., newest] = TARGETS;
    let (first, last) = (job(oldest)?, job(newest)?);
    let is_same = matches!((&first, &last), (Some(first), Some(last)) if first.is_code_of(last));
    let between = if is_same { Vec::new() } else { between.into_iter().map(job).collect::<Result<_>>()? };
    let mut jobs: Vec<Job> = Vec::new();
    for job in [vec![first], between, vec![last]].into_iter().flatten().flatten() {
        if !jobs.iter().any(|known| known.is_code_of(&job)) {
            jobs.push(job);
        }
    }
    Ok(jobs)
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

/// Compiles the kernels and runs the assembler on every text, on all cores.
fn assemble(ptxas: &Path, files: &[File]) -> Result<Totals> {
    let known = known_targets(ptxas)?;
    let folder = std::env::temp_dir().join(format!("assemble-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let (next, totals) = (AtomicUsize::new(0), Mutex::new(Totals::default()));
    let worker = |number: usize| -> Result<()> {
        let to = folder.join(format!("{number}.ptx"));
        while let Some(File { name, text, is_kernel }) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let jobs = if *is_kernel { compiled(name, text)? } else { vec![written(name, text.clone())?] };
            for job in jobs {
                let is_known = known.contains(&format!("'{}'", job.target));
                let failure = if is_known { refused(ptxas, &job, &to)? } else { None };
                let mut totals = totals.lock().expect("no worker panics");
                *(if is_known { &mut totals.assembled } else { &mut totals.skipped }) += 1;
                totals.failures.extend(failure);
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
    done.map(|_| totals.into_inner().expect("no worker panics"))
}

/// Assembles a text by way of a file; returns what is wrong if the assembler refuses it.
fn refused(ptxas: &Path, job: &Job, file: &Path) -> Result<Option<String>> {
    std::fs::write(file, &job.ptx)?;
    let mut ptxas = Command::new(ptxas);
    if job.ptx.contains(&format!(".target {}, debug", job.target)) {
        ptxas.arg("-g");
    }
    ptxas.arg(format!("-arch={}", job.target)).args(["-o", "/dev/null"]).arg(file);
    let output = ptxas.output().with_context(|| format!("cannot run {ptxas:?}"))?;
    let is_refused = !output.status.success() && !is_known_crash(output.status.code(), &job.ptx);
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(is_refused.then(|| format!("{} for {}:\n{said}\n{}", job.name, job.target, job.ptx)))
}
