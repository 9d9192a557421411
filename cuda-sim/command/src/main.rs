//! `cuda-sim`: runs any program that opens NVIDIA's driver on the software device instead.

mod info;
mod library;
mod run;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Runs CUDA programs on the software device: on the CPU, without a GPU and without NVIDIA's driver.
#[derive(Parser)]
#[command(name = "cuda-sim", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a program with the software device in place of NVIDIA's driver
    Run(run::Options),
    /// Prints the software devices and the variables that describe them
    Info(info::Options),
    /// Prints the folder with the library, for `LD_LIBRARY_PATH`
    Folder,
}

fn main() -> ExitCode {
    match execute(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cuda-sim: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Command) -> Result<()> {
    match command {
        Command::Run(options) => run::run(&options),
        Command::Info(options) => info::info(&options),
        Command::Folder => {
            println!("{}", library::folder()?.display());
            Ok(())
        }
    }
}
