//! `python`: the example package for Python, installed by pip as its users install it, and its tests on the software device. It is no
//! step of the gate: the package is built apart from the workspace, with PyO3.
//!
//! A package that Python's index lacks is no failure, but for numba-cuda where it is asked for: the command prints what it skips.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::workspace::{self, output, run as run_command, scratch};
use crate::{setup, wheels};

#[derive(Args)]
pub(crate) struct Options {
    /// Also with numba-cuda, which NVIDIA maintains (230 MB)
    #[arg(long)]
    numba_cuda: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let had = setup::numba().and_then(|numba| Ok((numba, setup::maturin()?)));
    let (numba, maturin) = match had {
        Ok(sites) => sites,
        Err(error) => {
            println!("skipped: python (NumPy, Numba or maturin cannot be had: {error:#})");
            return Ok(());
        }
    };
    let library = workspace::software_device_alone(&[])?;
    let package = workspace::root().join("examples/python");
    let folder = scratch("python")?;
    install(&package, &maturin, folder.path())?;
    let program = package.join("tests/test_arrays.py");
    let python = || {
        let mut python = Command::new("python3");
        python.env("PYTHONDONTWRITEBYTECODE", "1").env("CUDA_DRIVER_PATH", &library);
        python
    };
    let mut tests = python();
    tests.arg(&program).env("PYTHONPATH", joined(&[folder.path(), &numba])?);
    // One library for both, so that they work in one context.
    run_command(tests.env("NUMBA_CUDA_DRIVER", &library))?;
    if options.numba_cuda {
        println!("with numba-cuda");
        let driver = scratch("driver")?;
        std::os::unix::fs::symlink(&library, driver.path().join("libcuda.so.1"))?;
        wheels::customize(driver.path(), &[&setup::numba_cuda()?])?;
        let mut tests = python();
        tests.arg(&program).env("PYTHONPATH", joined(&[driver.path(), folder.path()])?);
        run_command(tests.env("LD_LIBRARY_PATH", driver.path()))?;
    }
    Ok(())
}

/// Builds the package with the maturin of that folder, without optimisation, and installs it into `site`.
fn install(package: &Path, maturin: &Path, site: &Path) -> Result<()> {
    let program = maturin.join("bin");
    if !program.join("maturin").is_file() {
        bail!("no maturin in {}", program.display());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]);
    pip.arg("--target").arg(site).arg(package);
    pip.env("PIP_USER", "0").env("PATH", joined(&[&program, Path::new(&path)])?).env("PYTHONPATH", maturin);
    pip.env("MATURIN_PEP517_ARGS", "--profile dev").env("CARGO_TARGET_DIR", workspace::root().join("target/python"));
    output(&mut pip).map(drop)
}

/// Paths of a search, in this order; each may be several.
fn joined(paths: &[&Path]) -> Result<OsString> {
    let all: Vec<_> = paths.iter().flat_map(std::env::split_paths).collect();
    std::env::join_paths(all).context("a folder's name has a colon")
}
