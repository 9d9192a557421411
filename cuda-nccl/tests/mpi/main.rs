//! Communicators that MPI starts, and those over MPI. `cargo test --features mpi --test mpi` starts this program again by `mpirun`,
//! with each scenario and several numbers of processes; an argument selects scenarios whose name contains it.
//!
//! `CUDA_NCCL_TEST_LARGE=1` adds arrays of 16 million elements.

mod against_mpi;
mod failures;
#[path = "../operations/mod.rs"]
mod operations;
mod scenarios;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use cuda_driver::Driver;
use cuda_nccl::{Communicator, MpiProcesses, Options, mpi};
use mpi::environment::Universe;
use operations::Rank;

/// The end that a scenario must have.
enum End {
    /// Every process ends with success.
    Success,
    /// The processes do not all end with success; one of them prints this text before.
    Failure(&'static str),
}

/// A scenario: its name, the numbers of processes, the end, and what each process does.
type Scenario = (&'static str, &'static [usize], End, fn(&World));

const SCENARIOS: &[Scenario] = &[
    ("reductions", &[2, 4], End::Success, scenarios::reductions),
    ("moves", &[1, 2, 4], End::Success, scenarios::moves),
    ("against_mpi", &[2, 4], End::Success, against_mpi::run),
    ("groups", &[2, 4], End::Success, scenarios::groups),
    ("splits", &[4], End::Success, scenarios::splits),
    ("several_streams", &[3], End::Success, scenarios::several_streams),
    ("two_communicators", &[2], End::Success, scenarios::two_communicators),
    ("refusals", &[2], End::Success, scenarios::refusals),
    ("nccl", &[2, 4], End::Success, scenarios::nccl),
    ("transport", &[2], End::Success, scenarios::transport),
    ("reductions_in_device_memory", &[2, 4], End::Success, scenarios::reductions),
    ("moves_in_device_memory", &[2, 4], End::Success, scenarios::moves),
    ("groups_in_device_memory", &[2, 4], End::Success, scenarios::groups),
    ("against_mpi_in_device_memory", &[2], End::Success, against_mpi::run),
    ("other_operation", &[2, 3], End::Success, failures::other_operation),
    ("other_length", &[2], End::Success, failures::other_length),
    ("short_message", &[2], End::Success, failures::short_message),
    ("long_message", &[2], End::Success, failures::long_message),
    ("absent_rank", &[2], End::Failure("the absence was reported"), failures::absent_rank),
    ("killed_rank", &[4], End::Failure("about to be killed"), failures::killed_rank),
    ("other_length_in_device_memory", &[2], End::Success, failures::other_length),
    ("absent_rank_in_device_memory", &[2], End::Failure("the absence was reported"), failures::absent_rank),
    ("lost_message_in_device_memory", &[2], End::Success, failures::lost_message),
    ("kept_message_in_device_memory", &[2], End::Failure("the process ends"), failures::kept_message),
];

/// The scenario that a process of `mpirun` runs.
const VARIABLE: &str = "CUDA_NCCL_TEST_SCENARIO";
/// No scenario takes so long.
const LIMIT: Duration = Duration::from_secs(240);

/// The processes of a scenario, as one of them sees them.
struct World {
    universe: Universe,
    driver: Driver,
    processes: MpiProcesses,
}

impl World {
    fn new() -> World {
        let (universe, threading) = mpi::initialize_with_threading(mpi::Threading::Multiple).unwrap();
        assert_eq!(threading, mpi::Threading::Multiple);
        let processes = MpiProcesses::new(&universe.world()).unwrap();
        let api = match cuda_sys::DriverApi::from_environment().unwrap() {
            Some(api) => std::sync::Arc::new(api),
            None => cuda_sim::driver_api(),
        };
        World { universe, driver: Driver::new(api).unwrap(), processes }
    }

    /// A rank over MPI.
    fn rank(&self) -> Rank {
        self.rank_within(Duration::from_secs(60))
    }

    fn rank_within(&self, limit: Duration) -> Rank {
        let context = self.processes.device(&self.driver).unwrap().primary_context().unwrap();
        let options = Options::new().timeout(limit);
        Rank::new(Communicator::over_mpi(&context, &self.processes, &options).unwrap())
    }
}

fn main() -> ExitCode {
    if let Ok(name) = std::env::var(VARIABLE) {
        let Some((.., work)) = SCENARIOS.iter().find(|scenario| scenario.0 == name) else { return ExitCode::FAILURE };
        // A panic must end the other processes as well.
        let world = World::new();
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&world)));
        if ended.is_err() {
            use mpi::topology::Communicator as _;
            world.universe.world().abort(1);
        }
        return ExitCode::SUCCESS;
    }
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut failed = 0;
    for (name, sizes, end, _) in SCENARIOS.iter().filter(|scenario| scenario.0.contains(&filter)) {
        for size in *sizes {
            let start = Instant::now();
            let result = run(name, *size, end);
            println!(
                "test {name} with {size} processes ... {} ({:.1?})",
                ["ok", "FAILED"][usize::from(result.is_err())],
                start.elapsed()
            );
            if let Err(output) = result {
                println!("{output}");
                failed += 1;
            }
        }
    }
    println!("test result: {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a scenario by `mpirun`; an error is what the processes printed.
fn run(name: &str, size: usize, end: &End) -> Result<(), String> {
    let program = std::env::current_exe().unwrap();
    let mut mpirun = Command::new("mpirun");
    mpirun.args(["-np", &size.to_string()]).arg(&program).env(VARIABLE, name);
    mpirun.env("CUDA_SIM_DEVICES", "2").env("CUDA_SIM_THREADS", "1");
    for (variable, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        // Containers forbid processes to read each other's memory.
        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    ] {
        mpirun.env(variable, value);
    }
    // A software device's memory is the process's own, so that every MPI can access it.
    let memory = if name.ends_with("_in_device_memory") { "device" } else { "host" };
    mpirun.env(cuda_nccl::MPI_MEMORY_VARIABLE, memory);
    if name == "nccl" {
        let Some((driver, nccl)) = built(&program) else {
            println!("skipped: nccl (no libcuda_sim.so and libnccl_sim.so beside the tests; `cargo build` makes them)");
            return Ok(());
        };
        mpirun.env("CUDA_DRIVER_PATH", driver).env(cuda_nccl::NCCL_VARIABLE, nccl).env("CUDA_SIM_DEVICES", "4");
    }
    let start = Instant::now();
    let scratch = tempfile::tempfile().unwrap();
    let output = || scratch.try_clone().unwrap();
    let mut child = mpirun.stdout(output()).stderr(output()).spawn().map_err(|error| format!("mpirun: {error}"))?;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut text = String::new();
    let mut scratch = scratch;
    std::io::Seek::rewind(&mut scratch).unwrap();
    std::io::Read::read_to_string(&mut scratch, &mut text).unwrap();
    let Some(status) = status else { return Err(format!("no end within {LIMIT:?}\n{text}")) };
    let expected = match end {
        End::Success => status.success(),
        End::Failure(line) => !status.success() && text.contains(line),
    };
    if expected { Ok(()) } else { Err(format!("{status}\n{text}")) }
}

/// The software device and the software NCCL that cargo built.
fn built(program: &std::path::Path) -> Option<(PathBuf, PathBuf)> {
    let folder = program.ancestors().nth(2)?;
    let (driver, nccl) = (folder.join("libcuda_sim.so"), folder.join("libnccl_sim.so"));
    (driver.is_file() && nccl.is_file()).then_some((driver, nccl))
}
