//! `gen-bindings`: writes `cuda-sys/src/generated` from real headers, or with `--check` compares.
//!
//! bindgen is not compiled for other tasks: without the feature `bindings` this starts cargo again with it.
//!
//! Invariant: the files depend on the headers alone, neither on the machine nor on what was generated before.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

#[derive(Args)]
pub(crate) struct Options {
    /// Change nothing; fail with the difference where there is one
    #[arg(long)]
    check: bool,
    /// The toolkit's folder, instead of conda's, CUDA_HOME and /usr/local/cuda
    #[arg(long, value_name = "DIR")]
    toolkit: Option<PathBuf>,
}

/// Starts this command again, with bindgen.
#[cfg(not(feature = "bindings"))]
pub(crate) fn run(options: &Options) -> Result<()> {
    use crate::{setup, workspace};
    use std::os::unix::process::CommandExt as _;

    // Fails before bindgen is built, which takes a while.
    headers(options)?;
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--quiet", "--package", "xtask", "--features", "bindings", "--", "gen-bindings"]);
    if options.check {
        cargo.arg("--check");
    }
    if let Some(toolkit) = &options.toolkit {
        cargo.arg("--toolkit").arg(std::path::absolute(toolkit)?);
    }
    if std::env::var_os("LIBCLANG_PATH").is_none()
        && let Some(toolkit) = setup::installed()
    {
        cargo.env("LIBCLANG_PATH", toolkit.libclang());
    }
    // Takes this process' place, so that an error is reported once.
    Err(cargo.current_dir(workspace::root()).exec()).context("cannot run cargo")
}

#[cfg(feature = "bindings")]
pub(crate) fn run(options: &Options) -> Result<()> {
    use crate::bindings;
    use anyhow::bail;

    let include = headers(options)?;
    let generated = bindings::generate(&include)?;
    let folder = crate::workspace::root().join("cuda-sys/src/generated");
    let mut differences = String::new();
    for file in &generated.files {
        let path = folder.join(file.name);
        if options.check {
            differences += &bindings::difference(&path, &file.text)?;
        } else {
            std::fs::write(&path, &file.text).with_context(|| format!("cannot write {}", path.display()))?;
            println!("wrote {}", path.display());
        }
    }
    if !differences.is_empty() {
        bail!(
            "{differences}\nthe committed bindings are not those of {}; `cargo xtask gen-bindings` writes them",
            include.display()
        );
    }
    if options.check {
        let asserted = bindings::probe(&include, &generated.facts)?;
        println!("bindings agree with {}: {asserted} facts confirmed by the C compiler", include.display());
    }
    Ok(())
}

/// The folder of `cuda.h` that the options name, or that discovery finds.
fn headers(options: &Options) -> Result<PathBuf> {
    use cuda_sys::toolkit::Environment;

    let environment = match &options.toolkit {
        Some(root) => Environment::only(root),
        None => Environment::from_process(),
    };
    environment.headers().map_err(|error| {
        anyhow::anyhow!("{error}, or run `cargo xtask setup` and pass the folder that it prints with --toolkit")
    })
}
