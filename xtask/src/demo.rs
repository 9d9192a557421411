//! `demo`: builds an example in release mode and runs it. The README's first command.

use std::os::unix::process::CommandExt as _;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::workspace;

#[derive(Args)]
pub(crate) struct Options {
    /// The program of `examples/src/bin` to run
    #[arg(default_value = "vector_add")]
    program: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--quiet", "--release", "--package", "cuda-examples", "--bin", &options.program]);
    cargo.args(["--", "--out", "target/pictures"]);
    // It replaces this process, so that the demo's output and status are the command's.
    Err(cargo.exec()).context("cannot run cargo")
}
