//! Development tasks; `cargo xtask --help` lists them. This file only names the commands: each is a file of its own.
#![forbid(unsafe_code)]

mod bench;
#[cfg(feature = "bindings")]
mod bindings;
mod bundle;
mod bundles;
mod cache;
mod check;
mod containers;
mod demo;
mod doctor;
mod examples;
mod fuzz;
mod gen_bindings;
mod generate;
mod layers;
mod modules;
mod next_llvm;
mod package;
mod pictures;
mod python;
mod sanitize;
mod setup;
mod test;
mod texts;
mod tidy;
mod wheels;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Development tasks of the CUDA stack", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Builds an example and runs it: a million numbers are added on the GPU, or on the software device
    Demo(demo::Options),
    /// Runs every test; those that need a GPU are skipped by name where there is none
    Test(test::Options),
    /// Runs the whole gate: format, layers, clippy, documentation, bindings, tests, NVIDIA's assembler
    Check(check::Options),
    /// Builds and runs a user's project in Debian systems of their own, with each LLVM that they have and with none; needs root
    Containers,
    /// Builds each public crate from the package that it is published as
    Package,
    /// Runs every example, which draw their pictures into the book
    Pictures,
    /// Builds the example package for Python and runs its tests on the software device, with NumPy and Numba
    Python(python::Options),
    /// Measures, and prints a line `NAME VALUE UNIT` for each figure
    Bench(bench::Options),
    /// Compares kernels made at random on the host and on the software device, bit for bit
    Fuzz(fuzz::Options),
    /// Packs demo, tests and measurements for a machine with a GPU driver and nothing else
    Bundle(bundle::Options),
    /// Downloads NVIDIA's headers, compilers and libclang from PyPI, laid out as a conda environment
    Setup(setup::Options),
    /// Writes cuda-sys' bindings from the headers of a CUDA toolkit
    GenBindings(gen_bindings::Options),
    /// Shows or empties the folder of compiled kernels
    Cache(cache::Options),
    /// Says what this machine has: driver, toolkit, LLVM
    Doctor(doctor::Options),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Demo(options) => demo::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Containers => containers::run(),
        Command::Package => package::run(),
        Command::Pictures => pictures::run(),
        Command::Python(options) => python::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Bundle(options) => bundle::run(&options),
        Command::Setup(options) => setup::run(&options),
        Command::GenBindings(options) => gen_bindings::run(&options),
        Command::Cache(options) => cache::run(&options),
        Command::Doctor(options) => doctor::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The chain of causes, without a backtrace: what a task reports is about the project and not about the task.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
