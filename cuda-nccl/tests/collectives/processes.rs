//! Several processes that meet by torchrun's, Slurm's and Open MPI's variables: each test starts its own program again, a process
//! for each rank.

use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use cuda_driver::Driver;
use cuda_mem::from_slice;
use cuda_nccl::{Communicator, Environment, Nccl, Options, Reduction, Result};

use crate::{MACHINE, Rank};

/// Set in the processes that a test starts.
const VARIABLE: &str = "CUDA_NCCL_TEST_PROCESS";

/// Variables of the launchers, which a test must not take over from its surroundings.
const LAUNCHERS: [&str; 14] = [
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "CUDA_NCCL_PORT",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_LOCALID",
    "SLURM_JOB_ID",
    "SLURM_JOB_NODELIST",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
];

/// A port that nobody has at the moment.
fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

/// Starts a test of this program again for each list of variables, and returns what the processes printed.
fn run(test: &str, ranks: &[Vec<(&str, String)>]) -> Vec<Output> {
    let port = free_port();
    let start = |variables: &Vec<(&str, String)>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in LAUNCHERS {
            command.env_remove(name);
        }
        command
            .env(VARIABLE, "1")
            .env("MASTER_PORT", &port)
            .envs(variables.iter().map(|(name, value)| (*name, value.as_str())));
        command.spawn().unwrap()
    };
    let children: Vec<_> = ranks.iter().map(start).collect();
    children.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A process of a test: sums with the others, and prints the sum.
fn sum_with_the_others(limit: Duration) -> Result<()> {
    let (nccl, driver) = MACHINE.as_ref().expect("the test has asked before");
    let start = Environment::from_process()?;
    let context = driver.device(start.local_rank())?.primary_context()?;
    let communicator = Communicator::from_environment(nccl, &context, &Options::new().timeout(limit))?;
    let rank = Rank::new(communicator);
    let mut x = from_slice(&rank.stream, &vec![1 + rank.rank() as u64; 1000])?;
    rank.communicator.all_reduce_in_place(&mut x, Reduction::Sum, &rank.stream)?;
    rank.communicator.wait(&rank.stream)?;
    let sums = x.copy_to_host()?;
    assert!(sums.iter().all(|sum| *sum == sums[0]));
    println!("rank {} of {} has the sum {}", rank.rank(), rank.size(), sums[0]);
    rank.communicator.close()
}

/// Returns true in a process that a test started, after its work, and where there is no library.
fn is_process_or_skipped(limit: Duration) -> bool {
    if MACHINE.is_none() {
        println!("skipped: no library");
        return true;
    }
    let is_process = std::env::var_os(VARIABLE).is_some();
    if is_process && let Err(error) = sum_with_the_others(limit) {
        println!("{error}");
        std::process::exit(1);
    }
    is_process
}

/// Three ranks that meet by the variables which `of_rank` gives for a rank.
fn meet(test: &str, of_rank: impl Fn(usize) -> Vec<(&'static str, String)>) {
    if is_process_or_skipped(Duration::from_secs(60)) {
        return;
    }
    let outputs = run(test, &[of_rank(0), of_rank(1), of_rank(2)]);
    for (rank, output) in outputs.iter().enumerate() {
        let text = text(output);
        assert!(output.status.success() && text.contains(&format!("rank {rank} of 3 has the sum 6")), "{text}");
    }
}

/// Torchrun's variables of a rank of three.
fn of_torchrun(rank: usize) -> Vec<(&'static str, String)> {
    let rank = rank.to_string();
    let address = "127.0.0.1".to_owned();
    vec![("RANK", rank.clone()), ("WORLD_SIZE", "3".to_owned()), ("LOCAL_RANK", rank), ("MASTER_ADDR", address)]
}

#[test]
fn processes_meet_by_torchruns_variables() {
    meet("processes::processes_meet_by_torchruns_variables", of_torchrun);
}

#[test]
fn processes_meet_by_slurms_variables() {
    meet("processes::processes_meet_by_slurms_variables", |rank| {
        let of_launcher = [("SLURM_PROCID", rank), ("SLURM_NTASKS", 3), ("SLURM_LOCALID", rank)];
        let mut variables: Vec<_> = of_launcher.map(|(name, value)| (name, value.to_string())).into();
        variables.push(("MASTER_ADDR", "127.0.0.1".to_owned()));
        variables
    });
}

#[test]
fn processes_meet_by_open_mpis_variables() {
    meet("processes::processes_meet_by_open_mpis_variables", |rank| {
        let of_launcher =
            [("OMPI_COMM_WORLD_RANK", rank), ("OMPI_COMM_WORLD_SIZE", 3), ("OMPI_COMM_WORLD_LOCAL_RANK", rank)];
        of_launcher.map(|(name, value)| (name, value.to_string())).into()
    });
}

#[test]
fn a_process_that_does_not_come_is_named() {
    const NAME: &str = "processes::a_process_that_does_not_come_is_named";
    if is_process_or_skipped(Duration::from_secs(2)) {
        return;
    }
    let outputs = run(NAME, &[of_torchrun(0), of_torchrun(1)]);
    for output in &outputs {
        let text = text(output);
        assert!(!output.status.success() && text.contains("of 3 ranks these did not come within 2s: 2"), "{text}");
    }
}

#[test]
fn two_processes_of_one_rank_are_refused() {
    const NAME: &str = "processes::two_processes_of_one_rank_are_refused";
    if is_process_or_skipped(Duration::from_secs(20)) {
        return;
    }
    let outputs = run(NAME, &[of_torchrun(0), of_torchrun(1), of_torchrun(1)]);
    for output in &outputs {
        let text = text(output);
        assert!(!output.status.success() && text.contains("rank 1"), "{text}");
    }
}

/// A process whose device is a part of the program: sums with both of its devices, and prints the sums.
fn sum_on_the_device_inside() -> Result<()> {
    let driver = Driver::new(cuda_sim::driver_api())?;
    let contexts = [driver.device(0)?.primary_context()?, driver.device(1)?.primary_context()?];
    let options = Options::new().timeout(Duration::from_secs(60));
    let all = Communicator::all(&Nccl::load()?, &contexts, &options)?;
    let sum = |each: Communicator| {
        let rank = Rank::new(each);
        let mut x = from_slice(&rank.stream, &vec![1 + rank.rank() as u64; 1000])?;
        rank.communicator.all_reduce_in_place(&mut x, Reduction::Sum, &rank.stream)?;
        rank.communicator.wait(&rank.stream)?;
        Ok::<u64, cuda_nccl::Error>(x.copy_to_host()?.sum())
    };
    let sums: Vec<_> = std::thread::scope(|scope| {
        let ranks: Vec<_> = all.into_iter().map(|each| scope.spawn(move || sum(each))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    for sum in sums {
        println!("the sum of all is {}", sum?);
    }
    Ok(())
}

#[test]
fn a_program_may_contain_the_device() {
    if std::env::var_os(VARIABLE).is_some() {
        return sum_on_the_device_inside().unwrap();
    }
    let software = MACHINE.as_ref().is_some_and(|(nccl, _)| nccl.origin().contains("libnccl_sim"));
    if !software {
        println!("skipped: no software NCCL");
        return;
    }
    let variables = vec![("CUDA_DRIVER_PATH", String::new()), ("CUDA_SIM_DEVICES", "2".to_owned())];
    let output = &run("processes::a_program_may_contain_the_device", &[variables])[0];
    let text = text(output);
    assert!(output.status.success() && text.matches("the sum of all is 3000").count() == 2, "{text}");
}
