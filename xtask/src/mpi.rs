//! A step of `check`: programs over MPI. The features `mpi`, which all steps have where there is MPI, and only there.
//!
//! The tests of communicators over MPI are among those of the step `test`. Here `mpirun` starts the programs of `examples/mpi` with
//! 1, 2 and 4 processes, over MPI and over the software NCCL. They fail if the result is not that of a single device, and this step
//! if the bytes that were counted are not those of the programs' model. It also runs the batch file for Slurm, and, for `bench`, the
//! measurements.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::workspace::{self, output, scratch, whole};

const PROGRAMS: [&str; 3] = ["heat_mpi", "training_mpi", "sample_sort_mpi"];
/// The program that compares the speeds with those of MPI itself.
const SPEED: &str = "all_reduce_mpi";

/// The settings of Open MPI: as many processes as are asked for, also as root, and no access to each other's memory, which
/// containers forbid.
const SETTINGS: [(&str, &str); 4] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
];

/// The tools of MPI that are missing here, with what installs them.
fn missing() -> Option<String> {
    let is_missing = |tool: &&str| output(Command::new(tool).arg("--version")).is_err();
    let tool = ["mpicc", "mpirun"].into_iter().find(is_missing)?;
    Some(format!("no {tool}; Debian: `apt install libopenmpi-dev openmpi-bin`"))
}

/// The features of members that need MPI, or none where it is missing.
pub(crate) fn features() -> Vec<&'static str> {
    if missing().is_some() { Vec::new() } else { vec!["cuda-nccl/mpi", "cuda-example-mpi/mpi"] }
}

/// The software device and the software NCCL, on which the programs run.
struct Libraries {
    driver: PathBuf,
    nccl: PathBuf,
}

impl Libraries {
    fn new(driver: PathBuf) -> Result<Libraries> {
        let nccl = driver.with_file_name("libnccl_sim.so");
        ensure!(nccl.is_file(), "cargo built no {}", nccl.display());
        Ok(Libraries { driver, nccl })
    }

    /// Sets what processes of a program need, of which each has a device.
    fn set(&self, command: &mut Command, processes: usize, transport: &str) {
        command.envs(SETTINGS).env("CUDA_NCCL_TRANSPORT", transport).env("CUDA_NCCL_PATH", &self.nccl);
        command.env("CUDA_DRIVER_PATH", &self.driver).env("CUDA_SIM_DEVICES", processes.to_string());
        command.env("CUDA_SIM_THREADS", "1");
    }

    /// A program with several processes.
    fn mpirun(&self, program: &Path, processes: usize, transport: &str) -> Command {
        let mut mpirun = Command::new("mpirun");
        mpirun.arg("-np").arg(processes.to_string()).arg(program);
        self.set(&mut mpirun, processes, transport);
        mpirun
    }
}

/// The number before some words of a text.
fn number_before(text: &str, words: &str) -> Option<usize> {
    text.split_once(words)?.0.rsplit(' ').next()?.parse().ok()
}

/// The bytes that the software NCCL has counted, by its messages of ended communicators.
fn counted_by_nccl(messages: &str) -> usize {
    messages.lines().filter_map(|line| number_before(line, " bytes sent to other ranks")).sum()
}

/// The bytes of the messages that Open MPI's monitor has counted, without those of its collective operations.
fn counted_by_mpi(folder: &Path) -> Result<usize> {
    let mut sum = 0;
    for file in std::fs::read_dir(folder)? {
        let text = std::fs::read_to_string(file?.path())?;
        let messages = text.lines().filter(|line| line.starts_with("E\t"));
        sum += messages
            .filter_map(|line| line.split('\t').nth(3)?.strip_suffix(" bytes")?.parse::<usize>().ok())
            .sum::<usize>();
    }
    Ok(sum)
}

/// Runs a program, and compares the bytes that were counted with those that it expects.
fn run_counted(libraries: &Libraries, program: &Path, processes: usize, transport: &str) -> Result<()> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let folder = scratch("mpi")?;
    let mut mpirun = libraries.mpirun(program, processes, transport);
    mpirun.env("NCCL_DEBUG", "INFO");
    mpirun.env("OMPI_MCA_pml_monitoring_enable", "2").env("OMPI_MCA_pml_monitoring_enable_output", "3");
    mpirun.env("OMPI_MCA_pml_monitoring_filename", folder.path().join("rank"));
    let ended = mpirun.output()?;
    let [text, messages] = [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    ensure!(ended.status.success(), "{} from `{name}`\n{text}{messages}", ended.status);
    let over = format!("on {processes} devices over {}: checksum", transport.to_uppercase());
    ensure!(text.contains(&over), "`{name}` does not run {over}:\n{text}");
    let expected = number_before(&text, " bytes sent").with_context(|| format!("no bytes of `{name}`:\n{text}"))?;
    let counted = match transport {
        "nccl" => counted_by_nccl(&messages),
        // MPI divides the messages of its collective operations as it likes.
        _ if name == "heat_mpi" => counted_by_mpi(folder.path())?,
        _ => expected,
    };
    ensure!(counted == expected, "`{name}` {over}: {counted} bytes were sent, and its model has {expected}");
    print!("{text}");
    Ok(())
}

/// Runs the batch file for Slurm, with `mpirun` in the place of `srun`.
fn run_batch_file(libraries: &Libraries, program: &Path) -> Result<()> {
    let folder = scratch("mpi")?;
    let srun = folder.path().join("srun");
    std::fs::write(&srun, "#!/bin/sh\ntest \"$1\" = --mpi=pmix && shift && exec mpirun -np 2 \"$@\"\n")?;
    workspace::run(Command::new("chmod").arg("+x").arg(&srun))?;
    let mut path = vec![folder.path().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut batch = Command::new("bash");
    batch.arg(workspace::root().join("docs/slurm.sh")).arg(program).args(["--steps", "10"]);
    batch.env("PATH", std::env::join_paths(path)?);
    libraries.set(&mut batch, 2, "nccl");
    let text = output(&mut batch)?;
    ensure!(text.contains("heat on 2 devices over NCCL: checksum"), "the batch file for Slurm prints\n{text}");
    Ok(())
}

pub(crate) fn run() -> Result<()> {
    if let Some(missing) = missing() {
        println!("skipped: mpi ({missing})");
        return Ok(());
    }
    let libraries = Libraries::new(workspace::software_device()?)?;
    let names = PROGRAMS.into_iter().chain([SPEED]);
    let made = workspace::build(whole("build").arg("--quiet").args(names.flat_map(|name| ["--bin", name])))?;
    let find = |name: &str| {
        let program = made.iter().find(|made| made.target == name);
        program.map(|made| &made.file).with_context(|| format!("cargo built no `{name}`"))
    };
    for name in PROGRAMS {
        for processes in [1, 2, 4] {
            for transport in ["mpi", "nccl"] {
                run_counted(&libraries, find(name)?, processes, transport)?;
            }
        }
    }
    run_batch_file(&libraries, find(PROGRAMS[0])?)?;
    for transport in ["mpi", "nccl"] {
        let mut small = libraries.mpirun(find(SPEED)?, 2, transport);
        let text = output(small.args(["--most", "65536", "--runs", "3"]))?;
        ensure!(text.starts_with(&format!("nccl.{transport}.vs_host ")), "`{SPEED}` prints\n{text}");
        let mut timeline = libraries.mpirun(find(PROGRAMS[0])?, 2, transport);
        let text = output(timeline.args(["--steps", "10", "--timeline"]))?;
        ensure!(text.contains("nccl.heat.hidden "), "`heat_mpi --timeline` prints\n{text}");
    }
    Ok(())
}

/// Measures the transports with two processes, of which each has a thread for its device.
pub(crate) fn bench() -> Result<()> {
    if let Some(missing) = missing() {
        println!("skipped: the measurements over MPI ({missing})");
        return Ok(());
    }
    let toolkit = crate::setup::toolkit()?;
    let mut build = workspace::cargo();
    build.args(["build", "--quiet", "--release", "--features", "cuda-example-mpi/mpi"]);
    build.args(["cuda-example-mpi", "cuda-sim-cdylib", "cuda-nccl-sim"].iter().flat_map(|name| ["--package", name]));
    build.envs(toolkit.for_bindgen()?);
    let made = workspace::build(&mut build)?;
    let find = |name: &str| {
        let program = made.iter().find(|made| made.target == name);
        program.map(|made| made.file.clone()).with_context(|| format!("cargo built no `{name}`"))
    };
    let (heat, speed) = (find("heat_mpi")?, find(SPEED)?);
    let libraries = Libraries::new(heat.with_file_name("libcuda_sim.so"))?;
    for transport in ["mpi", "nccl"] {
        workspace::run(&mut libraries.mpirun(&speed, 2, transport))?;
    }
    let mut timeline = libraries.mpirun(&heat, 2, "mpi");
    workspace::run(timeline.args(["--rows", "4096", "--columns", "2048", "--steps", "20", "--timeline"]))
}
