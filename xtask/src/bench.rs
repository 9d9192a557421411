//! `bench`: builds the measurements in release mode and runs them. Each figure is a line `NAME VALUE UNIT` on standard
//! output; everything else goes to standard error.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};

use crate::{setup, workspace};

#[derive(Args)]
pub(crate) struct Options {
    /// Which measurements; all of them if none is given
    groups: Vec<Group>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Time from Rust to PTX beside Numba and NVRTC; downloads them and libdevice if they are not there
    Compile,
    /// Registers and instructions beside nvcc's; downloads NVIDIA's tools if they are not there
    Codegen,
    /// What a kernel adds to the check of its crate
    Rustc,
    /// The software device beside plain loops, beside pocl and beside Numba's simulator; downloads Numba if it is not there
    Sim,
    /// First launches of large kernels on the software device
    FirstLaunch,
    /// What cuda-driver adds to the driver's functions
    Driver,
    /// What a typed launch costs beside the bare call
    Launch,
    /// What device memory adds to the driver's functions, and strided arrays beside ndarray's own copy
    Mem,
    /// The whole process of the demo
    Demo,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut build = workspace::cargo();
    build.args(["build", "--quiet", "--release", "--package", "cuda-benches", "--package", "cuda-examples", "--bins"]);
    let made = workspace::build(&mut build)?;
    let bench = made.iter().find(|artifact| artifact.target == "cuda-bench").context("cargo made no `cuda-bench`")?;
    let groups = if options.groups.is_empty() { Group::value_variants() } else { &options.groups };
    let mut command = std::process::Command::new(&bench.file);
    for group in groups {
        command.arg(group.to_possible_value().expect("no group is hidden").get_name());
    }
    if groups.contains(&Group::Compile) || groups.contains(&Group::Codegen) {
        // Mathematical functions are libdevice's for all who are compared.
        let toolkit = setup::toolkit()?;
        command.env("CUDA_HOME", toolkit.root()).env_remove("CONDA_PREFIX");
        for tool in ["ptxas", "nvdisasm", "nvcc"] {
            command.arg(format!("--{tool}")).arg(toolkit.tool(tool)?);
        }
    }
    type Peer = (Group, &'static str, fn() -> Result<PathBuf>);
    let peers: [Peer; 2] = [(Group::Compile, "numba-cuda", setup::numba_cuda), (Group::Sim, "numba", setup::numba)];
    for (_, name, download) in peers.into_iter().filter(|(group, ..)| groups.contains(group)) {
        match download() {
            Ok(folder) => {
                command.arg(format!("--{name}")).arg(folder);
            }
            // Measurements without a peer are measurements too.
            Err(error) => eprintln!("{name} cannot be downloaded: {error:#}"),
        }
    }
    workspace::run(&mut command)
}
