//! `neighbours`: the crates of `interop/neighbours`, which use this stack together with candle, burn and NVIDIA's cuda-core, and their
//! tests on the software device. It is no step of the gate: the crates have a workspace of their own, with hundreds of dependencies.
//!
//! cuda-core reads a toolkit's headers when it is built, with libclang. Crates and headers that cannot be downloaded are no failure: the
//! command prints what it skips.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::setup;
use crate::workspace::{self, cargo, output, run as run_command, scratch};

pub(crate) fn run() -> Result<()> {
    let folder = workspace::root().join("interop/neighbours");
    let cargo = |command: &str| {
        let mut cargo = cargo();
        cargo.current_dir(&folder).args([command, "--locked"]);
        cargo.env("CARGO_TARGET_DIR", workspace::root().join("target/neighbours"));
        cargo
    };
    if let Err(error) = output(&mut cargo("fetch")) {
        println!("skipped: neighbours (their crates cannot be downloaded: {error:#})");
        return Ok(());
    }
    run_command(cargo("test").env("CUDA_DRIVER_PATH", "sim"))?;
    match setup::toolkit().and_then(|toolkit| Ok((toolkit, setup::curand()?))) {
        Ok((toolkit, headers)) => cuda_core(cargo("test"), &toolkit, &headers),
        Err(error) => {
            println!("skipped: cuda-core (headers or libclang cannot be downloaded: {error:#})");
            Ok(())
        }
    }
}

/// Tests with cuda-core, which loads `libcuda.so.1`.
fn cuda_core(mut tests: Command, toolkit: &setup::Toolkit, headers: &Path) -> Result<()> {
    let library = workspace::software_device_alone(&[])?;
    let scratch = scratch("driver")?;
    let driver = scratch.path().join("libcuda.so.1");
    std::os::unix::fs::symlink(library, &driver)?;
    tests.args(["--package", "cuda-example-core"]);
    tests.env("CUDA_HOME", headers).env_remove("CUDA_TOOLKIT_PATH");
    tests.envs(toolkit.for_bindgen()?);
    tests.env("LD_LIBRARY_PATH", scratch.path()).env("CUDA_DRIVER_PATH", &driver).env("CUDA_SIM_DEVICES", "2");
    run_command(&mut tests)
}
