//! `bench`: builds the measurements in release mode and runs them. Each figure is a line `NAME VALUE UNIT` on standard
//! output; everything else goes to standard error. With `--plot` the program of the measurements draws them afterwards.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};

use crate::{mpi, pictures, setup, workspace};

#[derive(Args)]
pub(crate) struct Options {
    /// The measurements to run; all of them if none is given
    groups: Vec<Group>,
    /// Draw the figures of the groups compile and sim into the book's pictures
    #[arg(long)]
    plot: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Compile time from Rust to PTX compared with Numba and NVRTC; downloads them and libdevice if they are missing
    Compile,
    /// Registers and instructions compared with nvcc's; downloads NVIDIA's tools if they are missing
    Codegen,
    /// Ten kernels on a GPU compared with the same in CUDA C++; nothing without a GPU. Downloads NVRTC if it is missing
    Gpu,
    /// Time that a kernel adds to `cargo check` of its crate
    Rustc,
    /// The software device compared with plain loops, pocl and Numba's simulator; downloads Numba if it is missing
    Sim,
    /// First launches of large kernels on the software device
    FirstLaunch,
    /// Real programs on the software device compared with plain loops in Rust
    Programs,
    /// Overhead of cuda-driver over the driver's functions
    Driver,
    /// Overhead of a typed launch over the driver's call
    Launch,
    /// Overhead of a collective operation over NCCL's function; where MPI is installed, the speed over MPI compared with MPI's own, and
    /// the overlap of a halo exchange
    Nccl,
    /// Overhead of device memory over the driver's functions, and copies of strided arrays compared with ndarray's
    Mem,
    /// Time of the demo's whole process
    Demo,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut build = workspace::cargo();
    build.args(["build", "--quiet", "--release", "--package", "cuda-benches", "--package", "cuda-examples", "--bins"]);
    let made = workspace::build(&mut build)?;
    let bench = made.iter().find(|artifact| artifact.target == "cuda-bench").context("cargo made no `cuda-bench`")?;
    let groups = if options.groups.is_empty() { Group::value_variants() } else { &options.groups };
    let mut command = Command::new(&bench.file);
    for group in groups {
        command.arg(group.to_possible_value().expect("no group is hidden").get_name());
    }
    if groups.contains(&Group::Compile) || groups.contains(&Group::Codegen) {
        // All compared compilers take mathematical functions from libdevice.
        let toolkit = setup::toolkit()?;
        command.env("CUDA_HOME", toolkit.root()).env_remove("CONDA_PREFIX");
        for tool in ["ptxas", "nvdisasm", "nvcc"] {
            command.arg(format!("--{tool}")).arg(toolkit.tool(tool)?);
        }
    }
    if groups.contains(&Group::Gpu) {
        command.arg("--nvrtc").arg(setup::compilers()?.join("cuda13/lib64"));
    }
    type Peer = (Group, &'static str, fn() -> Result<PathBuf>);
    let peers: [Peer; 2] = [(Group::Compile, "numba-cuda", setup::numba_cuda), (Group::Sim, "numba", setup::numba)];
    for (_, name, download) in peers.into_iter().filter(|(group, ..)| groups.contains(group)) {
        match download() {
            Ok(folder) => {
                command.arg(format!("--{name}")).arg(folder);
            }
            // Without a peer the group still measures our own side.
            Err(error) => eprintln!("{name} cannot be downloaded: {error:#}"),
        }
    }
    if options.plot {
        plot(&bench.file, &printed(&mut command)?)?;
    } else {
        workspace::run(&mut command)?;
    }
    if groups.contains(&Group::Nccl) { mpi::bench() } else { Ok(()) }
}

/// Runs the command, and returns the lines that it prints, which are printed at once too.
fn printed(command: &mut Command) -> Result<String> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut text = String::new();
    for line in BufReader::new(child.stdout.take().context("the output is piped")?).lines() {
        let line = line?;
        println!("{line}");
        text.extend([line.as_str(), "\n"]);
    }
    let status = child.wait()?;
    ensure!(status.success(), "{status} from the measurements");
    Ok(text)
}

/// Draws figures into the book's pictures.
fn plot(bench: &Path, figures: &str) -> Result<()> {
    let mut child = Command::new(bench).arg("plot").arg(pictures::folder()).stdin(Stdio::piped()).spawn()?;
    child.stdin.take().context("the input is piped")?.write_all(figures.as_bytes())?;
    let status = child.wait()?;
    ensure!(status.success(), "{status} from the plots");
    Ok(())
}
