//! `bundle`: one archive with the demo, the tests and the measurements, for an x86-64 Linux machine that has a GPU driver
//! and neither Rust nor a toolkit.
//!
//! LLVM is included as the shared library of the Rust toolchain, which the executables find in the folder beside their own.
//! They are built in a target folder of their own, so that other builds are not invalidated.
//!
//! Invariant: the archive unpacks to one folder, in which `./run` needs nothing else but the C library, zlib and libgcc.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::doctor;
use crate::workspace::{self, Artifact, output};

/// The folder in the archive.
const NAME: &str = "cuda-bundle";

/// The limit for the size of the archive, in bytes.
const MAX_SIZE: u64 = 60_000_000;

/// Packages whose tests concern development and are not bundled.
const DEVELOPMENT_ONLY: &[&str] = &["xtask", "cuda-jit-macros"];

/// Tests that read the sources or build something: the executable, and a prefix of the tests' names.
const NEED_SOURCES: &[(&str, &str)] = &[
    ("cuda-driver", "status::tests::explanations"),
    ("cuda-driver.nvtx", "a_tool_"),
    ("cuda-driver.runtime", ""),
    ("cuda-jit-compiler", "tests::another_list"),
    ("cuda-jit-compiler", "tests::the_compilers_identity"),
    ("cuda-jit.all", "depth::"),
    ("cuda-jit.all", "kir_files::"),
    ("cuda-jit.all", "programs::"),
    ("cuda-jit.all", "refused::"),
    ("cuda-nccl-sim.all", ""),
    ("cuda-sys.library", ""),
    ("cuda-sys.links", ""),
    ("cuda-sys.nvtx", "a_tool_"),
    ("cuda-sys.nvtx", "without_a_tool_or_"),
    ("cuda-tests.main", "c_client::"),
    ("cuda-tests.main", "choice::"),
    ("cuda-tests.main", "cudarc::"),
    ("cuda-tests.main", "vectors::"),
];

/// The script that runs the programs of the unpacked bundle.
const RUN: &str = include_str!("bundle/run.sh");

#[derive(Args)]
pub(crate) struct Options {
    /// Write this archive instead of `cuda-bundle.tar.xz` in the target folder
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = workspace::metadata()?;
    let target = Path::new(metadata["target_directory"].as_str().context("cargo has no target folder")?).join("bundle");
    let archive = match &options.output {
        Some(file) => std::path::absolute(file)?,
        None => target.join(format!("{NAME}.tar.xz")),
    };
    let folder = target.join(NAME);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    collect(&target, &folder)?;
    pack(&folder, &archive)?;
    let size = fs::metadata(&archive)?.len();
    println!("{} ({:.1} MB)", archive.display(), size as f64 / 1e6);
    ensure!(size < MAX_SIZE, "the archive has {size} bytes; it must have less than {MAX_SIZE}");
    Ok(())
}

/// Builds everything and copies it to `folder`.
fn collect(target: &Path, folder: &Path) -> Result<()> {
    for part in ["bin", "tests", "lib"] {
        fs::create_dir_all(folder.join(part))?;
    }
    let mut programs = size_optimized_cargo(target);
    programs.args(["build", "--release", "--package", "cuda-examples", "--package", "cuda-benches"]);
    for made in workspace::build(programs.args(["--package", "cuda-sim-cdylib"]))? {
        let part = if made.kind == "cdylib" { "lib" } else { "bin" };
        copy(&made.file, &folder.join(part))?;
    }
    let mut tests = size_optimized_cargo(target);
    tests.args(["test", "--release", "--no-run", "--workspace"]);
    for package in DEVELOPMENT_ONLY {
        tests.args(["--exclude", package]);
    }
    for made in workspace::build(&mut tests)?.iter().filter(|made| made.test) {
        if list(&made.file)?.is_empty() {
            continue;
        }
        let file = folder.join("tests").join(test_name(made));
        fs::copy(&made.file, &file).with_context(|| format!("cannot copy {}", made.file.display()))?;
    }
    copy(&doctor::llvm()?, &folder.join("lib"))?;
    write_sources_list(folder)?;
    fs::write(folder.join("README.txt"), readme()?)?;
    fs::write(folder.join("run"), RUN)?;
    Ok(fs::set_permissions(folder.join("run"), fs::Permissions::from_mode(0o755))?)
}

/// A cargo command that builds small executables, which find LLVM in the folder `lib` beside their own.
fn size_optimized_cargo(target: &Path) -> Command {
    let mut cargo = workspace::cargo();
    cargo.env("CARGO_TARGET_DIR", target);
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "false").env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    cargo
}

/// A test executable's name in the bundle: package and target, such as `cuda-mem.device`.
fn test_name(made: &Artifact) -> String {
    match made.kind.as_str() {
        "lib" => made.package.clone(),
        _ => format!("{}.{}", made.package, made.target),
    }
}

fn copy(file: &Path, folder: &Path) -> Result<()> {
    let name = file.file_name().context("a file has a name")?;
    fs::copy(file, folder.join(name)).with_context(|| format!("cannot copy {}", file.display()))?;
    Ok(())
}

/// Writes the full names of the tests that cannot run without the sources. Fails if an entry matches no test, so that the list
/// stays up to date.
fn write_sources_list(folder: &Path) -> Result<()> {
    let mut lines = String::new();
    for (executable, start) in NEED_SOURCES {
        let mut tests = list(&folder.join("tests").join(executable))?;
        tests.retain(|test| test.starts_with(start));
        if tests.is_empty() {
            bail!("`{executable}` has no test that begins with `{start}`; correct the list in xtask/src/bundle.rs");
        }
        lines.extend(tests.iter().map(|test| format!("{executable} {test}\n")));
    }
    Ok(fs::write(folder.join("tests.need-sources"), lines)?)
}

/// The names of an executable's tests.
fn list(executable: &Path) -> Result<Vec<String>> {
    let mut list = Command::new(executable);
    list.args(["--list", "--format=terse"]);
    let listed = output(&mut list)?;
    Ok(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

fn readme() -> Result<String> {
    let rustc = output(Command::new("rustc").arg("--version"))?;
    Ok(format!(
        "GPU kernels in Rust: demo, tests and measurements, ready to run.\n\n\
         ./run demo          adds a million numbers on the GPU, or on the software device\n\
         ./run test [NAME]   runs the tests (those whose name contains NAME)\n\
         ./run bench         measures; each figure is a line NAME VALUE UNIT\n\
         ./run info          says what this machine has\n\n\
         CUDA_DRIVER_PATH=sim before a command runs it on the software device. The tests run on it unless\n\
         CUDA_DRIVER_PATH=libcuda.so.1 names the GPU's driver.\n\
         Needed: x86-64 Linux with glibc 2.34 or newer, zlib and libgcc. Built by {rustc}"
    ))
}

/// Packs a folder, under its own name.
fn pack(folder: &Path, archive: &Path) -> Result<()> {
    let parent = folder.parent().context("the bundle has a parent folder")?;
    let mut tar = Command::new("tar");
    // The executables have most of their code in common, so the dictionary is large enough for all of them.
    tar.args(["--create", "--sort=name", "--owner=0", "--group=0"]);
    tar.args(["--use-compress-program=xz --lzma2=preset=6,dict=192MiB", "--file"]);
    tar.arg(archive).arg("--directory").arg(parent).arg(NAME);
    output(&mut tar).context("`bundle` needs tar and xz (Debian: `apt install xz-utils`)")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::scratch;

    /// Runs `./run test ARGUMENTS` in a bundle whose executables are `echo` and another command.
    fn run_tests(name: &str, arguments: &[&str], other: &str) -> (bool, String) {
        let scratch = scratch(name).unwrap();
        let folder = scratch.path();
        fs::create_dir(folder.join("tests")).unwrap();
        // These are links, because a file that was just written may still be open in a process that another test starts.
        std::os::unix::fs::symlink("/bin/echo", folder.join("tests/one")).unwrap();
        std::os::unix::fs::symlink(other, folder.join("tests/two")).unwrap();
        fs::write(folder.join("tests.need-sources"), "one a::b\none c\n").unwrap();
        fs::write(folder.join("run"), RUN).unwrap();
        let output = Command::new("sh").arg(folder.join("run")).arg("test").args(arguments).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    }

    #[test]
    fn the_script_runs_every_executable_and_skips_by_name() {
        let (passed, text) = run_tests("bundle-pass", &["it"], "/bin/true");
        assert!(passed, "{text}");
        assert!(text.contains("skipped: one a::b (needs the sources)\n"), "{text}");
        assert!(text.contains("==> one\nit --skip a::b --skip c\n==> two\n"), "{text}");
        assert!(text.ends_with("all of 2 test executables passed\n"), "{text}");
    }

    #[test]
    fn the_script_gives_each_module_a_process_on_a_named_driver() {
        let scratch = scratch("bundle-modules").unwrap();
        fs::write(scratch.path().join("run"), RUN).unwrap();
        // Functions in place of an executable and of `timeout`, which cannot call one.
        let shell = r#"
            fake() { case $1 in --list) printf 'a::x: test\na::y: test\na::b::z: test\nw: test\n' ;; *) echo "ran $*" ;; esac; }
            timeout() { shift; "$@"; }
            . ./run >/dev/null 2>&1
            run_tests fake"#;
        let run = |driver: &str| {
            let mut sh = Command::new("sh");
            output(sh.args(["-c", shell]).current_dir(scratch.path()).env("CUDA_DRIVER_PATH", driver)).unwrap()
        };
        assert_eq!(run("libcuda.so.1"), "ran --exact a::x a::y\nran --exact a::b::z\nran --exact w\n");
        assert_eq!(run("sim"), "ran \n");
    }

    #[test]
    fn the_script_fails_with_the_names_of_the_failed_executables() {
        let (passed, text) = run_tests("bundle-fail", &[], "/bin/false");
        assert!(!passed, "{text}");
        assert!(text.ends_with("FAILED: two\n"), "{text}");
        assert!(text.contains("==> one\n--skip a::b"), "{text}");
    }
}
