//! Communicators on an NCCL that moves nothing: the arguments of its calls, the checks before them, and failures.
//!
//! # Safety
//!
//! The environment is changed before anything reads it.

mod operations;
mod recorder;
mod states;

use std::sync::LazyLock;
use std::time::Duration;

use cuda_driver::{Context, Driver};
use cuda_nccl::{Communicator, Options, Result};

static DRIVER: LazyLock<Driver> = LazyLock::new(|| {
    // SAFETY: every test begins here, before it starts threads or the software device reads the variable.
    unsafe { std::env::set_var("CUDA_SIM_DEVICES", "2") };
    Driver::new(cuda_sim::driver_api()).unwrap()
});

fn context(device: usize) -> Context {
    DRIVER.device(device).unwrap().primary_context().unwrap()
}

/// Rank `rank` of `size`, on device 0, with a time limit.
fn rank_within(rank: usize, size: usize, limit: Duration) -> Result<Communicator> {
    let nccl = recorder::nccl(true);
    let made =
        Communicator::from_id(&nccl, &context(0), nccl.unique_id()?, rank, size, &Options::new().timeout(limit))?;
    recorder::calls();
    Ok(made)
}

/// Rank `rank` of `size`, on device 0.
fn rank(rank: usize, size: usize) -> Communicator {
    rank_within(rank, size, Duration::from_secs(60)).unwrap()
}
