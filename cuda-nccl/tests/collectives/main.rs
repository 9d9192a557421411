//! Every operation against a reference on the host, with the NCCL that `CUDA_NCCL_PATH` names and the driver that
//! `CUDA_DRIVER_PATH` names; if neither is set, with the software device and the software NCCL that cargo built (`cargo xtask test`
//! builds them first), and without these each test prints that it is skipped.
//!
//! # Safety
//!
//! The environment is changed before anything but the standard library reads it.

mod failures;
mod moves;
#[path = "../operations/mod.rs"]
mod operations;
mod processes;
mod reductions;

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuda_driver::Driver;
use cuda_nccl::{Communicator, NCCL_VARIABLE, Nccl, Options, Result};
use cuda_sys::DriverApi;
use operations::Rank;

/// The library and the driver, if the environment names both or cargo built both.
static MACHINE: LazyLock<Option<(Nccl, Driver)>> = LazyLock::new(|| {
    if !is_set(NCCL_VARIABLE) && !is_set("CUDA_DRIVER_PATH") {
        choose_built()?;
    }
    if !is_set(NCCL_VARIABLE) {
        return None;
    }
    let api = DriverApi::from_environment().unwrap()?;
    Some((Nccl::load().unwrap(), Driver::new(std::sync::Arc::new(api)).unwrap()))
});

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Names the libraries that cargo built beside this program in the environment; `None` if it did not.
fn choose_built() -> Option<()> {
    let program = std::env::current_exe().unwrap();
    let folder = program.ancestors().nth(2)?;
    let (driver, nccl) = (folder.join("libcuda_sim.so"), folder.join("libnccl_sim.so"));
    if !driver.is_file() || !nccl.is_file() {
        return None;
    }
    for (variable, value) in [
        ("CUDA_DRIVER_PATH", driver.as_os_str()),
        (NCCL_VARIABLE, nccl.as_os_str()),
        ("CUDA_SIM_DEVICES", "4".as_ref()),
    ] {
        // SAFETY: every test waits for `MACHINE` before it loads a library or starts a thread, so that no code but the standard
        // library's, which takes its lock, reads the environment meanwhile.
        unsafe { std::env::set_var(variable, value) };
    }
    Some(())
}

/// Lets one test after the other have the devices: communicators of the same devices whose operations come in another order on
/// each device wait for each other.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Communicators of `size` ranks on devices of their own; `None`, with a line, where the machine has too few.
fn communicators(size: usize, options: &Options) -> Option<Vec<Communicator>> {
    let Some((nccl, driver)) = &*MACHINE else {
        println!("skipped: {NCCL_VARIABLE} and CUDA_DRIVER_PATH name no library");
        return None;
    };
    if driver.device_count().unwrap() < size {
        println!("skipped: {size} devices");
        return None;
    }
    let contexts: Vec<_> = (0..size).map(|at| driver.device(at).unwrap().primary_context().unwrap()).collect();
    Some(Communicator::all(nccl, &contexts, options).unwrap())
}

/// Runs `work` as each rank of `size`, a thread each.
fn with_ranks_within(size: usize, options: &Options, work: impl Fn(&Rank) -> Result<()> + Sync) {
    let _turn = turn();
    let Some(all) = communicators(size, options) else { return };
    std::thread::scope(|scope| {
        let work = &work;
        let ranks: Vec<_> = all.into_iter().map(|each| scope.spawn(move || work(&Rank::new(each)))).collect();
        ranks.into_iter().for_each(|rank| rank.join().unwrap().unwrap());
    });
}

/// Runs `work` as each rank of `size`, a thread each.
fn with_ranks(size: usize, work: impl Fn(&Rank) -> Result<()> + Sync) {
    with_ranks_within(size, &Options::new().timeout(Duration::from_secs(120)), work);
}
