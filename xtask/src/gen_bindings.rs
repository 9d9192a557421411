//! `gen-bindings`: writes `cuda-sys/src/generated` or another folder from real headers, or compares them with `--check`.
//!
//! The headers are those of the toolkit that is found, or the newest from PyPI. The committed bindings lose no declaration without
//! `--shrink`. `--check` always reads the newest headers.
//!
//! Other tasks do not compile bindgen: without the feature `bindings` this command starts cargo again with it.
//!
//! Invariant: the committed files depend only on the headers and on the committed history, neither on the machine nor on the files
//! generated before.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

#[derive(Args)]
pub(crate) struct Options {
    /// Change nothing; fail with the difference if there is one, and check the bindings with the C compiler and the headers
    /// of three versions of CUDA
    #[arg(long)]
    check: bool,
    /// Read the headers in these folders, of one version of CUDA each, and record their declarations in the history
    #[arg(long, value_name = "INCLUDE", num_args = 1.., conflicts_with = "check")]
    record: Vec<PathBuf>,
    /// Read the headers of the toolkit in this folder, or `newest` for those of the newest CUDA from PyPI [default: the
    /// toolkit of CONDA_PREFIX, CUDA_HOME or /usr/local/cuda, else `newest`]
    #[arg(long, value_name = "DIR|newest", conflicts_with_all = ["check", "record"])]
    toolkit: Option<PathBuf>,
    /// Write the bindings of the feature `generate`, completed from the committed ones, to this folder, and leave the committed
    /// ones unchanged
    #[arg(long, value_name = "DIR", conflicts_with_all = ["check", "record"])]
    out: Option<PathBuf>,
    /// Write the committed bindings even if they lose declarations, as with headers of an older CUDA
    #[arg(long, conflicts_with_all = ["check", "record", "out"])]
    shrink: bool,
}

/// Starts this command again with bindgen.
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
    if let Some(toolkit) = &options.toolkit {
        let word = toolkit.as_os_str() == "newest";
        cargo.arg("--toolkit").arg(if word { toolkit.clone() } else { std::path::absolute(toolkit)? });
    }
    if let Some(out) = &options.out {
        cargo.arg("--out").arg(std::path::absolute(out)?);
    }
    if options.shrink {
        cargo.arg("--shrink");
    }
    if std::env::var_os("LIBCLANG_PATH").is_none() {
        cargo.env("LIBCLANG_PATH", setup::toolkit()?.libclang());
    }
    // It replaces this process, so that an error is reported once.
    let error = cargo.current_dir(workspace::root()).exec();
    Err(anyhow::Error::new(error).context("cannot run cargo"))
}

#[cfg(feature = "bindings")]
pub(crate) fn run(options: &Options) -> Result<()> {
    use crate::bindings;

    if !options.record.is_empty() {
        return bindings::record(&options.record);
    }
    if options.check {
        return bindings::check();
    }
    let Options { toolkit, out, shrink, .. } = options;
    bindings::write(&bindings::Request { toolkit: toolkit.as_deref(), out: out.as_deref(), shrink: *shrink })
}
