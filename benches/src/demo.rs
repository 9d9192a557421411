//! The demo: `demo.run_ms` is the time of the whole process. Also prints the device that it would run on.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use cuda_prelude::{current_device, driver, is_simulated};

use crate::figures::{print_measured, time};

pub(crate) fn run() -> Result<()> {
    let program = std::env::current_exe()?.with_file_name("vector_add");
    let folder = tempfile::tempdir()?;
    let mut failure = None;
    let seconds = time(1, 9, || {
        let status =
            Command::new(&program).arg("--out").arg(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        match status {
            Ok(status) if status.success() => {}
            other => failure = Some(other),
        }
    });
    if let Some(failure) = failure {
        let status = failure.with_context(|| format!("cannot run {}", program.display()))?;
        ensure!(status.success(), "{status} from {}", program.display());
    }
    print_measured("demo.run_ms", seconds * 1e3, "ms");
    Ok(())
}

/// Prints the device that programs would use.
pub(crate) fn device() -> Result<()> {
    let (device, (major, minor)) = (current_device()?, driver()?.version()?);
    let kind = if is_simulated()? { "software" } else { "driver's" };
    println!("device   {device}, {kind}, CUDA {major}.{minor}");
    Ok(())
}
