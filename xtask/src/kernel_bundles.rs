//! A step of `check`: a program without the compiler, which launches kernels from a bundle.
//!
//! `tests/bundled` records its kernels as a member of the workspace, with the compiler. A copy of it outside the workspace is then
//! built without the compiler. It must be small, need only the C library, run in a root folder that is empty except for a driver,
//! and refuse kernels whose source has changed. The example `examples/bundle` is recorded and built beside it. The driver is the software device as a library, together with its LLVM.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::workspace::{self, cargo, output, scratch};

/// The package, and its source.
const PACKAGE: &str = "cuda-tests-bundled";
const SOURCE: &str = "tests/bundled/src/bin";
/// The example, which is the name of its program and of its package.
const EXAMPLE: &str = "cuda-example-bundle";
/// The output of a correct run.
const EXPECTED: &str = "100000 sums, 0 wrong\n";
/// The limit for its size beyond that of hello world, in bytes.
const MAX_EXTRA_BYTES: u64 = 3_000_000;
/// The libraries that it may be linked with, besides the loader.
const LIBRARIES: [&str; 3] = ["linux-vdso.so.1", "libgcc_s.so.1", "libc.so.6"];
/// A function of LLVM whose name programs with the compiler contain.
const LLVM_SYMBOL: &[u8] = b"LLVMContextCreate";

/// Changes of the source that change a kernel: a description, the text, and its replacement.
const CHANGES: [(&str, &str, &str); 3] = [
    ("a device function", "pair.first + pair.second", "pair.first - pair.second"),
    ("a constant", "BIAS: f32 = 0.5", "BIAS: f32 = 1.5"),
    ("a struct", "    first: f32,\n    second: f32,", "    second: f32,\n    first: f32,"),
];

pub(crate) fn run() -> Result<()> {
    features()?;
    let driver = workspace::software_device()?;
    let program = Program::copied()?;
    program.without_a_bundle()?;
    let compiling = program.record(&driver)?;
    let bare = program.build()?;
    ensure!(program.launch(&bare, &driver)? == EXPECTED, "the bundled kernel computes something else");
    let example = bare.with_file_name(EXAMPLE);
    let pictures = [program.launch(&workspace::program(EXAMPLE)?, &driver)?, program.launch(&example, &driver)?];
    ensure!(pictures[0] == pictures[1], "the example draws something else without a compiler:\n{}", pictures[1]);
    ensure!(!contains(&example, LLVM_SYMBOL)?, "the example contains names of LLVM's functions");
    ensure!(
        contains(&compiling, LLVM_SYMBOL)? && !contains(&bare, LLVM_SYMBOL)?,
        "the bundled program contains names of LLVM's functions, or the compiling one does not"
    );
    linked(&bare)?;
    size(&bare)?;
    in_an_empty_root(&bare, &driver)?;
    program.changed(&driver)?;
    times(&bare, &driver)
}

/// Each feature of cuda-prelude must compile alone, without warnings; without the software device the choice of the driver must be an
/// error.
fn features() -> Result<()> {
    let prelude = |command: &str, features: &str| {
        let mut cargo = cargo();
        cargo.args([command, "--quiet", "--package", "cuda-prelude", "--no-default-features", "--features", features]);
        cargo
    };
    for features in ["", "bundle", "compiler", "sim"] {
        let mut clippy = prelude("clippy", features);
        workspace::run(clippy.args(["--package", "cuda-jit", "--lib", "--", "--deny", "warnings"]))?;
    }
    workspace::run(prelude("test", "bundle").args(["--lib", "choice::"]))
}

/// The folder of the copy outside the workspace.
struct Program(PathBuf);

impl Program {
    /// Copies the package's source, and writes a manifest that belongs to no workspace.
    fn copied() -> Result<Self> {
        let (root, folder) = (workspace::root(), workspace::root().join("target/bundles/program"));
        let sources = folder.join("src/bin");
        fs::create_dir_all(&sources)?;
        for name in ["bundled.rs", "hello.rs", "module.rs"] {
            write(&sources.join(name), &fs::read_to_string(root.join(SOURCE).join(name))?)?;
        }
        let example = fs::read_to_string(root.join("examples/bundle/src/main.rs"))?;
        write(&sources.join(EXAMPLE).with_extension("rs"), &example)?;
        let at = |name: &str| root.join(name).display().to_string();
        let manifest = format!(
            "[package]\nname = \"{PACKAGE}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             cuda-driver = {{ path = {:?} }}\n\
             cuda-prelude = {{ path = {:?}, default-features = false, features = [\"bundle\"] }}\nndarray = \"0.17\"\n\n\
             [profile.dev]\ndebug = false\nstrip = true\nopt-level = \"s\"\n\n[workspace]\n",
            at("cuda-driver"),
            at("cuda-prelude"),
        );
        write(&folder.join("Cargo.toml"), &manifest)?;
        // The lock file keeps the workspace's versions.
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        Ok(Program(folder))
    }

    fn bundle(&self) -> PathBuf {
        self.0.join("kernels.bundle")
    }

    /// Checks that the build fails without a bundle, and with a damaged one.
    fn without_a_bundle(&self) -> Result<()> {
        for (contents, text) in
            [(None, "there is no bundle of kernels at `"), (Some("half"), "the file is no bundle of kernels")]
        {
            let _ = fs::remove_file(self.bundle());
            if let Some(contents) = contents {
                fs::write(self.bundle(), contents)?;
            }
            // Cargo does not track the file while it is absent.
            touch(&self.0.join("src/bin/bundled.rs"))?;
            let error = self.build().err().context("a program without its bundle was built")?.to_string();
            ensure!(error.contains(text), "{error}");
        }
        fs::remove_file(self.bundle())?;
        touch(&self.0.join("src/bin/bundled.rs"))
    }

    /// Runs the workspace's programs, which compile and record their kernels; returns the executable of the first.
    fn record(&self, driver: &Path) -> Result<PathBuf> {
        let program = workspace::program("bundled")?;
        let record = |program: &Path| {
            let mut record = Command::new(program);
            record.env("CUDA_JIT_RECORD", self.bundle()).env("CUDA_JIT_RECORD_TARGETS", "7.5,9.0");
            output(record.env("CUDA_DRIVER_PATH", driver))
        };
        ensure!(record(&program)? == EXPECTED, "the compiled kernel computes something else");
        record(&workspace::program(EXAMPLE)?)?;
        Ok(program)
    }

    /// Builds it without a compiler.
    fn build(&self) -> Result<PathBuf> {
        let mut build = cargo();
        build.current_dir(&self.0).args(["build", "--quiet", "--bins", "--target-dir"]);
        output(build.arg(workspace::root().join("target/bundles")))?;
        Ok(workspace::root().join("target/bundles/debug/bundled"))
    }

    fn launch(&self, program: &Path, driver: &Path) -> Result<String> {
        output(Command::new(program).env("CUDA_DRIVER_PATH", driver))
    }

    /// Checks that a changed kernel is refused, and that a change outside of kernels is not.
    fn changed(&self, driver: &Path) -> Result<()> {
        let file = self.0.join("src/bin/bundled.rs");
        let source = fs::read_to_string(&file)?;
        for (part, from, to) in CHANGES {
            let other = source.replacen(from, to, 1);
            ensure!(other != source, "the source has no `{from}`");
            write(&file, &other)?;
            let error =
                self.launch(&self.build()?, driver).err().with_context(|| format!("{part}: the old kernel ran"))?;
            let text = "is not the one that was recorded; record it: ";
            ensure!(error.to_string().contains(text), "{error}");
        }
        write(&file, &source.replacen("// a comment", "// another", 1))?;
        ensure!(self.launch(&self.build()?, driver)? == EXPECTED, "another comment is another kernel");
        write(&file, &source)
    }
}

/// Writes a file if its content changes, so that nothing is rebuilt needlessly.
fn write(path: &Path, text: &str) -> Result<()> {
    let same = fs::read_to_string(path).is_ok_and(|old| old == text);
    if same { Ok(()) } else { fs::write(path, text).with_context(|| format!("cannot write {}", path.display())) }
}

fn touch(path: &Path) -> Result<()> {
    Ok(fs::File::options().append(true).open(path)?.set_modified(std::time::SystemTime::now())?)
}

fn contains(file: &Path, bytes: &[u8]) -> Result<bool> {
    Ok(fs::read(file)?.windows(bytes.len()).any(|window| window == bytes))
}

/// The libraries that an executable or library is linked with: their names, and their files if they have one.
fn needed(file: &Path) -> Result<Vec<(String, Option<PathBuf>)>> {
    let text = output(Command::new("ldd").arg(file))?;
    let line = |line: &str| {
        let (name, rest) = line.trim().split_once(' ')?;
        let path = rest.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from);
        Some((name.to_owned(), path.or_else(|| name.starts_with('/').then(|| name.into()))))
    };
    Ok(text.lines().filter_map(line).collect())
}

fn linked(bare: &Path) -> Result<()> {
    for (name, _) in needed(bare)? {
        ensure!(LIBRARIES.contains(&&*name) || name.contains("/ld-linux"), "the bundled program is linked with {name}");
    }
    Ok(())
}

fn size(bare: &Path) -> Result<()> {
    let larger = fs::metadata(bare)?.len() - fs::metadata(bare.with_file_name("hello"))?.len();
    println!("bundle.larger_than_hello_bytes {larger} B");
    ensure!(larger <= MAX_EXTRA_BYTES, "{larger} bytes more than hello world; {MAX_EXTRA_BYTES} are allowed");
    Ok(())
}

/// Runs it in a root folder that contains only it, the C library and a driver.
fn in_an_empty_root(bare: &Path, driver: &Path) -> Result<()> {
    if output(Command::new("id").arg("-u"))?.trim() != "0" {
        println!("skipped: the run in an empty root folder (only root may change it)");
        return Ok(());
    }
    let scratch = scratch("root")?;
    let root = scratch.path();
    let llvm = sysroot_llvm()?;
    for file in [bare, driver, &llvm] {
        for (_, library) in needed(file)? {
            library.map_or(Ok(()), |library| put(&library, &root.join(library.strip_prefix("/")?)))?;
        }
    }
    fs::create_dir_all(root.join("tmp"))?;
    for (file, name) in [(bare, "program"), (driver, "libcuda_sim.so"), (&llvm, "libLLVM.so")] {
        put(file, &root.join(name))?;
    }
    let mut chroot = Command::new("chroot");
    chroot
        .arg(root)
        .arg("/program")
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("CUDA_DRIVER_PATH", "/libcuda_sim.so")
        .env("CUDA_LLVM_PATH", "/libLLVM.so");
    ensure!(output(&mut chroot)? == EXPECTED, "the bundled kernel computes something else in an empty root folder");
    Ok(())
}

/// The toolchain's LLVM.
fn sysroot_llvm() -> Result<PathBuf> {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]).current_dir(workspace::root()))?;
    let is_llvm = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libLLVM"));
    let libraries = fs::read_dir(Path::new(sysroot.trim()).join("lib"))?.flatten().map(|entry| entry.path());
    libraries
        .filter(is_llvm)
        .max_by_key(|path| fs::metadata(path).map_or(0, |facts| facts.len()))
        .context("no LLVM in the toolchain")
}

/// Puts a file into the root folder, as a hard link if possible, since LLVM is large.
fn put(file: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        return Ok(());
    }
    fs::create_dir_all(to.parent().context("below the root folder")?)?;
    let file = fs::canonicalize(file)?;
    fs::hard_link(&file, to)
        .or_else(|_| fs::copy(&file, to).map(drop))
        .with_context(|| format!("cannot copy {}", file.display()))
}

/// Measures the time that finding a kernel in a bundle adds to the driver's loading, in fresh processes that find its machine code on
/// disk.
fn times(bare: &Path, driver: &Path) -> Result<()> {
    let scratch = scratch("times")?;
    let run = |program: &Path, argument: &OsStr| {
        let mut run = Command::new(program);
        run.arg(argument).env("CUDA_DRIVER_PATH", driver).env("CUDA_JIT_CACHE_DIR", scratch.path());
        output(&mut run)
    };
    let (alone, ptx) = (bare.with_file_name("module"), scratch.path().join("kernel.ptx"));
    fs::write(&ptx, run(bare, "ptx".as_ref())?)?;
    // Other work on the machine only adds time, so the fastest of each counts.
    let (mut kernel, mut module) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..11 {
        kernel = kernel.min(run(bare, "kernel".as_ref())?.trim().parse()?);
        module = module.min(run(&alone, ptx.as_ref())?.trim().parse()?);
    }
    println!("bundle.kernel_ms {kernel:.3} ms");
    println!("bundle.module_ms {module:.3} ms");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_applies_to_the_source() {
        let source = fs::read_to_string(workspace::root().join(SOURCE).join("bundled.rs")).unwrap();
        for (part, from, to) in CHANGES {
            assert_eq!(source.matches(from).count(), 1, "{part}");
            assert_eq!(from.lines().count(), to.lines().count(), "{part}: lines would differ too");
        }
    }
}
