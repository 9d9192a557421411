//! `gen-bindings`: writes `cuda-sys/src/generated` from real headers, or with `--check` compares.
//!
//! bindgen is not compiled for other tasks: without the feature `bindings` this starts cargo again with it.
//!
//! Invariant: the files depend on the headers and on the committed history alone, neither on the machine nor on what was
//! generated before.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

#[derive(Args)]
pub(crate) struct Options {
    /// Change nothing; fail with the difference where there is one, and ask the C compiler about the headers of three
    /// versions of CUDA
    #[arg(long)]
    check: bool,
    /// Read the headers in these folders, of one version of CUDA each, and note in the history what they declare
    #[arg(long, value_name = "INCLUDE", num_args = 1.., conflicts_with = "check")]
    record: Vec<PathBuf>,
}

/// Starts this command again, with bindgen.
#[cfg(not(feature = "bindings"))]
pub(crate) fn run(options: &Options) -> Result<()> {
    use crate::{setup, workspace};
    use std::os::unix::process::CommandExt as _;

    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--quiet", "--package", "xtask", "--features", "bindings", "--", "gen-bindings"]);
    if options.check {
        cargo.arg("--check");
    }
    if !options.record.is_empty() {
        let folders = options.record.iter().map(std::path::absolute).collect::<Result<Vec<_>, _>>()?;
        cargo.arg("--record").args(folders);
    }
    if std::env::var_os("LIBCLANG_PATH").is_none() {
        cargo.env("LIBCLANG_PATH", setup::toolkit()?.libclang());
    }
    // Takes this process' place, so that an error is reported once.
    let error = cargo.current_dir(workspace::root()).exec();
    Err(anyhow::Error::new(error).context("cannot run cargo"))
}

#[cfg(feature = "bindings")]
pub(crate) fn run(options: &Options) -> Result<()> {
    use crate::bindings;

    if !options.record.is_empty() {
        return bindings::record(&options.record);
    }
    if options.check { bindings::check() } else { bindings::write() }
}
