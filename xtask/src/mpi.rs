//! A step of `check`: communicators that MPI starts, and those over MPI, with the feature `mpi`, which no other step builds.
//!
//! The tests and the programs of `examples/mpi` start their processes by `mpirun`. The programs run with 2 and 4 processes, over MPI
//! and over the software NCCL, and fail if the result is not that of a single device.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::setup::Toolkit;
use crate::workspace::{self, output, whole};

/// The features beside those of the other steps.
const FEATURES: [&str; 2] = ["--features", "cuda-nccl/mpi,cuda-example-mpi/mpi"];

const PROGRAMS: [&str; 3] = ["heat_mpi", "training_mpi", "sample_sort_mpi"];

/// The settings of Open MPI: as many processes as are asked for, also as root, and no access to each other's memory, which
/// containers forbid.
const SETTINGS: [(&str, &str); 4] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
];

pub(crate) fn run(toolkit: &Toolkit) -> Result<()> {
    for tool in ["mpicc", "mpirun"] {
        if output(Command::new(tool).arg("--version")).is_err() {
            println!("skipped: mpi (no {tool}; Debian: `apt install libopenmpi-dev openmpi-bin`)");
            return Ok(());
        }
    }
    let with_mpi = |command: &str| {
        let mut cargo = whole(command);
        cargo.args(FEATURES);
        // The declarations of MPI's header are read by libclang.
        if std::env::var_os("LIBCLANG_PATH").is_none() {
            cargo.env("LIBCLANG_PATH", toolkit.libclang());
        }
        cargo
    };
    let driver = workspace::software_device()?;
    let nccl = driver.with_file_name("libnccl_sim.so");
    ensure!(nccl.is_file(), "cargo built no {}", nccl.display());
    workspace::run(with_mpi("clippy").args(["--all-targets", "--quiet", "--", "--deny", "warnings"]))?;
    let tests = workspace::build(with_mpi("test").args(["--quiet", "--no-run", "--lib", "--test", "mpi"]))?;
    for test in tests.iter().filter(|made| made.package == "cuda-nccl") {
        workspace::run(Command::new(&test.file).current_dir(&test.folder))?;
    }
    let made =
        workspace::build(with_mpi("build").arg("--quiet").args(PROGRAMS.iter().flat_map(|name| ["--bin", name])))?;
    for name in PROGRAMS {
        let program =
            made.iter().find(|made| made.target == name).with_context(|| format!("cargo built no `{name}`"))?;
        for processes in ["2", "4"] {
            for transport in ["mpi", "nccl"] {
                let mut mpirun = Command::new("mpirun");
                mpirun.args(["-np", processes]).arg(&program.file).envs(SETTINGS);
                mpirun.env("CUDA_NCCL_TRANSPORT", transport).env("CUDA_NCCL_PATH", &nccl);
                mpirun.env("CUDA_DRIVER_PATH", &driver).env("CUDA_SIM_DEVICES", processes).env("CUDA_SIM_THREADS", "1");
                let text = output(&mut mpirun)?;
                let over = format!("on {processes} devices over {}: checksum", transport.to_uppercase());
                ensure!(text.contains(&over), "`{name}` does not run {over}:\n{text}");
                print!("{text}");
            }
        }
    }
    Ok(())
}
