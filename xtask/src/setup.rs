//! `setup`: the parts of NVIDIA's toolkit that development uses, from PyPI, in one folder laid out as conda does.
//!
//! Headers (for bindings), ptxas, nvcc and nvdisasm (for checks and comparisons), libdevice, and libclang for bindgen. The
//! library and its users need none of it. Other tasks call [`toolkit`].
//!
//! Beside it [`numba`] is a folder of its own, which only `bench sim` asks for.
//!
//! Invariant: a folder either holds all of its wheels, and a stamp that names them, or counts as absent; it is put together
//! beside its place and renamed into it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use cuda_sys::toolkit::{Environment, TARGET};

use crate::workspace::{self, Scratch, output};

/// What is downloaded. nvdisasm exists as a wheel from 13.2 on, and reads what 13.0 writes.
const WHEELS: &[&str] = &[
    "nvidia-cuda-runtime==13.0.*",
    "nvidia-cuda-profiler-api==13.0.*",
    "nvidia-cuda-crt==13.0.*",
    "nvidia-cuda-nvcc==13.0.*",
    "nvidia-nvvm==13.0.*",
    "nvidia-cuda-nvdisasm==13.2.*",
    "libclang==18.1.1",
];

/// Numba, whose simulator `bench sim` compares with.
const NUMBA: &[&str] = &["numba==0.61.2", "llvmlite==0.44.0", "numpy==2.2.6"];

/// The stamp's file, which holds the wheels that a folder was made from.
const STAMP: &str = "wheels.txt";

#[derive(Args)]
pub(crate) struct Options {
    /// Where to put it instead of `target/toolkit`
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Compile, assemble and disassemble a kernel with it
    #[arg(long)]
    verify: bool,
}

/// An installed toolkit.
pub(crate) struct Toolkit {
    root: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let toolkit = match &options.dir {
        Some(dir) => install(&std::path::absolute(dir)?)?,
        None => toolkit()?,
    };
    println!("toolkit   {}", toolkit.root().display());
    println!("headers   {}", toolkit.include()?.display());
    println!("libdevice {}", toolkit.libdevice()?.display());
    println!("ptxas     {}", toolkit.tool("ptxas")?.display());
    println!("nvcc      {}", toolkit.tool("nvcc")?.display());
    println!("nvdisasm  {}", toolkit.tool("nvdisasm")?.display());
    println!("libclang  {}", toolkit.libclang().display());
    if options.verify {
        verify(&toolkit)?;
    }
    Ok(())
}

/// The toolkit in `target/toolkit`, downloaded where it is not there yet.
pub(crate) fn toolkit() -> Result<Toolkit> {
    install(&default_dir("toolkit"))
}

/// The toolkit in `target/toolkit` where it is there already.
pub(crate) fn installed() -> Option<Toolkit> {
    let root = default_dir("toolkit");
    complete(&root, WHEELS).then_some(Toolkit { root })
}

/// A folder for Python's search path with Numba in it, downloaded where it is not there yet.
pub(crate) fn numba() -> Result<PathBuf> {
    let dir = default_dir("numba");
    fetch(&dir, NUMBA, |_| Ok(()))?;
    Ok(dir.join(SITE))
}

/// One place whatever `CARGO_TARGET_DIR` is: builds in different folders share a download of 300 MB.
fn default_dir(name: &str) -> PathBuf {
    workspace::root().join("target").join(name)
}

impl Toolkit {
    /// The root, a conda environment's folder as far as toolkit discovery is concerned.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of `cuda.h`.
    pub(crate) fn include(&self) -> Result<PathBuf> {
        Ok(Environment::only(&self.root).headers()?)
    }

    /// The file `libdevice.10.bc`.
    pub(crate) fn libdevice(&self) -> Result<PathBuf> {
        Ok(Environment::only(&self.root).libdevice()?)
    }

    /// `ptxas`, `nvcc` (which needs g++ on the machine) or `nvdisasm`.
    pub(crate) fn tool(&self, name: &str) -> Result<PathBuf> {
        Ok(Environment::only(&self.root).tool(name)?)
    }

    /// The folder of `libclang.so`, for `LIBCLANG_PATH`.
    pub(crate) fn libclang(&self) -> PathBuf {
        self.root.join("libclang")
    }
}

/// Where pip puts what it installs.
const SITE: &str = "site";

/// What the stamp of these wheels says.
fn stamp(wheels: &[&str]) -> String {
    wheels.join("\n") + "\n"
}

/// Whether the stamp in `dir` names exactly these wheels.
fn complete(dir: &Path, wheels: &[&str]) -> bool {
    fs::read_to_string(dir.join(STAMP)).is_ok_and(|found| found == stamp(wheels))
}

fn install(dir: &Path) -> Result<Toolkit> {
    fetch(dir, WHEELS, lay_out)?;
    Ok(Toolkit { root: dir.to_owned() })
}

/// Makes `dir` a folder of these wheels, whose contents `lay_out` moves to their places, unless it is one.
fn fetch(dir: &Path, wheels: &[&str], lay_out: impl Fn(&Path) -> Result<()>) -> Result<()> {
    if complete(dir, wheels) {
        return Ok(());
    }
    let parent = dir.parent().with_context(|| format!("`{}` is no folder to install into", dir.display()))?;
    let name = dir.file_name().with_context(|| format!("`{}` is no folder to install into", dir.display()))?;
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    let beside = |suffix: &str| parent.join(format!("{}.{suffix}", name.to_string_lossy()));
    // Two tasks that start together download once. The lock ends with this process, however that ends.
    let lock = File::create(beside("lock"))?;
    lock.lock()?;
    if complete(dir, wheels) {
        return Ok(());
    }
    ensure!(
        !dir.exists() || dir.join(STAMP).exists(),
        "`{}` is there and was not made by this command; name another folder with --dir",
        dir.display()
    );
    let staging = beside("new");
    remove(&staging)?;
    eprintln!("downloading {} wheels from PyPI to {}: {}", wheels.len(), dir.display(), wheels.join(" "));
    download(&staging.join(SITE), wheels)?;
    lay_out(&staging)?;
    fs::write(staging.join(STAMP), stamp(wheels))?;
    remove(dir)?;
    fs::rename(&staging, dir).with_context(|| format!("cannot move the download to {}", dir.display()))
}

fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", dir.display()))
        }
        _ => Ok(()),
    }
}

/// Installs the wheels into `site` with pip.
fn download(site: &Path, wheels: &[&str]) -> Result<()> {
    let pip = || {
        let mut pip = Command::new("python3");
        // A user's setting to install into their home folder contradicts a target.
        pip.args(["-m", "pip"]).env("PIP_USER", "0").env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
        pip
    };
    output(pip().arg("--version")).context(
        "wheels are downloaded with `python3 -m pip`, which does not run here; install it (Debian: `apt install \
         python3-pip`), or for a toolkit install CUDA 13 by other means and set CUDA_HOME to its folder",
    )?;
    let mut install = pip();
    install.args(["install", "--quiet", "--no-deps", "--no-compile", "--only-binary=:all:", "--target"]);
    output(install.arg(site).args(wheels)).context("pip cannot install the wheels")?;
    Ok(())
}

/// Moves what the wheels brought from `site-packages`' places to conda's.
fn lay_out(staging: &Path) -> Result<()> {
    let site = staging.join(SITE);
    let target = Path::new("targets").join(TARGET);
    let moves = [
        ("nvidia/cu13/include", target.join("include")),
        ("nvidia/cu13/lib", target.join("lib")),
        ("nvidia/cu13/bin", "bin".into()),
        ("nvidia/cu13/nvvm", "nvvm".into()),
        ("clang/native", "libclang".into()),
    ];
    for (from, to) in moves {
        let (from, to) = (site.join(from), staging.join(to));
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::rename(&from, &to).with_context(|| format!("the wheels brought no {}", from.display()))?;
    }
    remove(&site)
}

/// What `--verify` compiles.
const KERNEL: &str = "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }\n";

/// nvcc to PTX, ptxas to machine code, nvdisasm to text.
fn verify(toolkit: &Toolkit) -> Result<()> {
    let scratch = Scratch::new("verify")?;
    let file = |name: &str| scratch.path().join(name);
    fs::write(file("twice.cu"), KERNEL)?;
    let mut nvcc = Command::new(toolkit.tool("nvcc")?);
    output(nvcc.args(["-ptx", "-arch=sm_90", "-o"]).arg(file("twice.ptx")).arg(file("twice.cu")))
        .context("nvcc needs the C++ compiler g++ (Debian: `apt install g++`)")?;
    let mut ptxas = Command::new(toolkit.tool("ptxas")?);
    output(ptxas.args(["-arch=sm_90", "-o"]).arg(file("twice.cubin")).arg(file("twice.ptx")))?;
    let text = output(Command::new(toolkit.tool("nvdisasm")?).arg(file("twice.cubin")))?;
    if !text.contains("twice") || !text.contains("EXIT") {
        bail!("nvdisasm shows no kernel `twice`:\n{text}");
    }
    println!("verified  nvcc, ptxas and nvdisasm on a kernel for sm_90");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_another_stamp_counts_as_absent() {
        let scratch = Scratch::new("stamp").unwrap();
        assert!(!complete(scratch.path(), WHEELS));
        fs::write(scratch.path().join(STAMP), "nvidia-cuda-nvcc==12.0\n").unwrap();
        assert!(!complete(scratch.path(), WHEELS));
        fs::write(scratch.path().join(STAMP), stamp(WHEELS)).unwrap();
        assert!(complete(scratch.path(), WHEELS));
        assert!(!complete(scratch.path(), NUMBA));
    }

    #[test]
    fn a_folder_of_someone_else_is_not_replaced() {
        let scratch = Scratch::new("foreign").unwrap();
        let theirs = scratch.path().join("toolkit");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("thesis.tex"), "").unwrap();
        let error = install(&theirs).err().unwrap().to_string();
        assert!(error.contains("--dir"), "{error}");
        assert!(theirs.join("thesis.tex").exists());
    }

    #[test]
    fn wheels_are_laid_out_as_conda_does() {
        let scratch = Scratch::new("layout").unwrap();
        for file in [
            "nvidia/cu13/include/cuda.h",
            "nvidia/cu13/lib/libcudart.so.13",
            "nvidia/cu13/bin/ptxas",
            "nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
            "clang/native/libclang.so",
        ] {
            let file = scratch.path().join("site").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        lay_out(scratch.path()).unwrap();
        let toolkit = Toolkit { root: scratch.path().to_owned() };
        assert_eq!(toolkit.include().unwrap(), scratch.path().join("targets").join(TARGET).join("include"));
        assert_eq!(toolkit.tool("ptxas").unwrap(), scratch.path().join("bin/ptxas"));
        assert!(toolkit.libdevice().is_ok() && toolkit.libclang().join("libclang.so").is_file());
        assert!(!scratch.path().join("site").exists());
    }
}
