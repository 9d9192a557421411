//! Development tasks; `cargo xtask --help` lists them. This file only names the commands: each is a file of its own.
#![forbid(unsafe_code)]

#[cfg(feature = "bindings")]
mod bindings;
mod doctor;
mod gen_bindings;
mod setup;
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
    /// Downloads NVIDIA's headers, compilers and libclang from PyPI, laid out as a conda environment
    Setup(setup::Options),
    /// Writes cuda-sys' bindings from the headers of a CUDA toolkit
    GenBindings(gen_bindings::Options),
    /// Says what this machine has: driver, toolkit, LLVM
    Doctor(doctor::Options),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Setup(options) => setup::run(&options),
        Command::GenBindings(options) => gen_bindings::run(&options),
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
