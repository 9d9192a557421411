//! Development tasks; `cargo xtask --help` lists them. This file only lists the commands; each has its own file.
#![forbid(unsafe_code)]

mod bench;
#[cfg(feature = "bindings")]
mod bindings;
mod book;
mod bundle;
mod cache;
mod check;
mod checked;
mod clients;
mod containers;
mod demo;
mod doctor;
mod error_texts;
mod examples;
mod fuzz;
mod gen_bindings;
mod generate;
mod kernel_bundles;
mod layers;
mod modules;
mod mpi;
mod neighbours;
mod next_llvm;
mod package;
mod pictures;
mod python;
mod sanitize;
mod setup;
mod test;
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
    /// Build an example and run it: adds a million numbers on the GPU, or on the software device
    Demo(demo::Options),
    /// Run every test; without a GPU, those that need one are skipped by name
    Test(test::Options),
    /// Run the whole gate: format, layers, clippy, documentation, bindings, tests, NVIDIA's assembler
    Check(check::Options),
    /// Run correct programs on the software device with every checker of kernels, whose reports are false accusations
    Checked(checked::Options),
    /// Try in minimal Debian systems what this one lacks: other LLVMs and none, AArch64, Windows; needs root
    Containers(containers::Options),
    /// Build each public crate from its package
    Package,
    /// Run every example, which draw the pictures of the book
    Pictures,
    /// Write the book's list of what is not there yet, and build the book below the target folder
    Book,
    /// Build the example package for Python, and run its tests on the software device with NumPy and Numba
    Python(python::Options),
    /// Build the crates that use candle, burn and cuda-core, and run their tests on the software device
    Neighbours,
    /// Run the tests of other people's packages on the software device, and write the table of `docs/clients.md`
    Clients(clients::Options),
    /// Run the benchmarks, and print a line `NAME VALUE UNIT` for each figure
    Bench(bench::Options),
    /// Compare random kernels on the host and on the software device, bit for bit
    Fuzz(fuzz::Options),
    /// Pack demo, tests and benchmarks for a machine that has only a GPU driver
    Bundle(bundle::Options),
    /// Download NVIDIA's headers and compilers and libclang from PyPI, in the layout of a conda environment
    Setup(setup::Options),
    /// Write cuda-sys' bindings from the headers of a CUDA toolkit
    GenBindings(gen_bindings::Options),
    /// Show or empty the folder of compiled kernels
    Cache(cache::Options),
    /// Show this machine's driver, devices, toolkit and LLVM
    Doctor(doctor::Options),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Demo(options) => demo::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Checked(options) => checked::run(&options),
        Command::Containers(options) => containers::run(&options),
        Command::Package => package::run(),
        Command::Pictures => pictures::run(),
        Command::Book => book::run(),
        Command::Python(options) => python::run(&options),
        Command::Neighbours => neighbours::run(),
        Command::Clients(options) => clients::run(&options),
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
            // The chain of causes, without a backtrace, since the errors are about the project and not about the task.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;

    const CONTRIBUTING: &str = include_str!("../../CONTRIBUTING.md");

    /// The rows of the table of commands that are about a command.
    fn rows(command: &str) -> Vec<&'static str> {
        let of_command = |row: &&str| {
            let usages = row.match_indices("`cargo xtask ").map(|(at, begin)| &row[at + begin.len()..]);
            row.starts_with("| `cargo xtask ")
                && usages.into_iter().any(|usage| usage.split([' ', '`']).next() == Some(command))
        };
        CONTRIBUTING.lines().filter(of_command).collect()
    }

    #[test]
    fn contributing_lists_every_command_with_its_options() {
        let cli = Cli::command();
        for command in cli.get_subcommands() {
            let rows = rows(command.get_name()).join("\n");
            assert!(!rows.is_empty(), "CONTRIBUTING.md lacks `cargo xtask {}`", command.get_name());
            for argument in command.get_arguments() {
                if let Some(long) = argument.get_long().filter(|long| *long != "help") {
                    assert!(
                        rows.contains(&format!("--{long}")),
                        "{}: CONTRIBUTING.md lacks --{long}",
                        command.get_name()
                    );
                }
                for value in argument.get_possible_values() {
                    let name = value.get_name();
                    let is_flag = matches!(name, "true" | "false");
                    assert!(is_flag || rows.contains(&format!("`{name}`")), "CONTRIBUTING.md lacks `{name}`");
                }
            }
            for action in command.get_subcommands().filter(|action| action.get_name() != "help") {
                let usage = format!("`cargo xtask {} {}", command.get_name(), action.get_name());
                assert!(rows.contains(&usage), "CONTRIBUTING.md lacks {usage}`");
            }
        }
    }

    #[test]
    fn contributing_lists_only_commands_that_exist() {
        let cli = Cli::command();
        let known: BTreeSet<&str> = cli.get_subcommands().map(|command| command.get_name()).collect();
        let usages = CONTRIBUTING.split("`cargo xtask ").skip(1).filter_map(|rest| rest.split([' ', '`']).next());
        let unknown: Vec<&str> = usages.filter(|usage| !usage.starts_with('-') && !known.contains(usage)).collect();
        assert_eq!(unknown, [""; 0]);
    }

    #[test]
    fn contributing_lists_every_step_of_the_gate() {
        for name in check::step_names() {
            assert!(CONTRIBUTING.contains(&format!("`{name}`")), "CONTRIBUTING.md lacks the step `{name}`");
        }
    }
}
