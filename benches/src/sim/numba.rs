//! Numba's simulator, in a Python process.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::Tools;

/// The kernels in Python, and the script that times two of them.
const SCRIPT: &str = concat!(include_str!("../../python/kernels.py"), include_str!("../../python/simulator.py"));

/// Seconds of the vector add and of the tiled product.
pub(super) fn seconds(tools: &Tools) -> Result<[f64; 2]> {
    let packages =
        tools.get("numba").context("`cargo xtask bench sim` downloads it and says where with --numba FOLDER")?;
    let mut python = Command::new("python3");
    let output = python
        .args(["-c", SCRIPT])
        .env("PYTHONPATH", packages)
        .env("NUMBA_ENABLE_CUDASIM", "1")
        .output()
        .context("cannot run `python3`; install Python 3.10 to 3.13")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout)?;
    let times: Vec<f64> = printed.lines().map(str::parse).collect::<Result<_, _>>()?;
    <[f64; 2]>::try_from(times).ok().with_context(|| format!("`{printed}` is not two times"))
}
