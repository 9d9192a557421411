//! `test`: runs every test of the workspace, including those of the documentation. The README's second command.
//!
//! Other compilers and clients that tests run are downloaded first. If that fails, those tests are skipped by name.
//! On a machine without a GPU everything runs on the software device; a test that needs a GPU prints
//! `skipped: NAME (no GPU)`. Cargo's output is passed on, so that its `test result:` lines come last.

use std::ffi::OsString;

use anyhow::Result;
use clap::Args;

use crate::{setup, workspace};

#[derive(Args)]
pub(crate) struct Options {
    /// Arguments for `cargo test`, such as `-p cuda-mem` instead of the whole workspace, or a filter for names
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    all(&options.arguments, &[])
}

/// Runs the tests with more arguments and environment variables than usual.
pub(crate) fn all(arguments: &[OsString], variables: &[(&str, OsString)]) -> Result<()> {
    let of_packages = arguments.iter().any(|argument| argument.to_str().is_some_and(|text| text.starts_with("-p")));
    // The tests' C clients link with the library, which cargo does not build, since the tests do not depend on it.
    let mut cargo = if of_packages {
        workspace::run(workspace::cargo().args(["build", "--package", "cuda-sim-cdylib"]))?;
        let mut cargo = workspace::cargo();
        cargo.arg("test");
        cargo
    } else {
        let library = workspace::software_device()?;
        setup::for_tests();
        let mut cargo = workspace::whole("test");
        cargo.env("CUDA_TESTS_LIBRARY", library);
        cargo.env("CUDA_TESTS_RUSTC", workspace::libraries()?.join("\n"));
        cargo
    };
    workspace::run(cargo.arg("--no-fail-fast").args(arguments).envs(variables.iter().cloned()))
}
