//! [`run`]: a process with its device and its communicator.

use anyhow::{Context as _, Result, ensure};
use cuda_nccl::{Communicator, MpiProcesses, Options, mpi};
use cuda_prelude::{Stream, driver};
use mpi::topology::Communicator as _;

/// A process with its device, which is selected.
pub struct Rank {
    /// The communicator of all processes.
    pub communicator: Communicator,
    /// A stream of the device.
    pub stream: Stream,
}

impl Rank {
    /// The part of so many items that is this rank's.
    pub fn part(&self, items: usize) -> std::ops::Range<usize> {
        self.part_of(self.communicator.rank(), items)
    }

    /// The part of so many items that is a rank's.
    pub fn part_of(&self, rank: usize, items: usize) -> std::ops::Range<usize> {
        let start = |rank| items * rank / self.communicator.size();
        start(rank)..start(rank + 1)
    }

    /// Prints the checksum of the result and the bytes that all ranks have sent, by the [model](crate::scaling), and compares the
    /// result with that of a single device. Rank 0 has both.
    ///
    /// # Errors
    ///
    /// If they differ.
    pub fn report(&self, name: &str, result: u64, single: u64, sent: usize) -> Result<()> {
        let transport = if self.communicator.nccl().is_some() { "NCCL" } else { "MPI" };
        let size = self.communicator.size();
        println!("{name} on {size} devices over {transport}: checksum {result:016x}, {sent} bytes sent");
        ensure!(result == single, "a single device has the checksum {single:016x}");
        Ok(())
    }
}

/// Starts MPI, and runs `work` with the communicator of all processes. An error ends all of them.
///
/// # Errors
///
/// The errors of the start.
pub fn run(work: impl FnOnce(&Rank) -> Result<()>) -> Result<()> {
    let start = mpi::initialize_with_threading(mpi::Threading::Multiple);
    let (universe, _) = start.context("MPI is initialised already")?;
    let mut processes = MpiProcesses::new(&universe.world())?;
    let context = processes.device(driver()?)?.primary_context()?;
    let _selected = context.select();
    let ended = Communicator::from_mpi(&context, &mut processes, &Options::new()).map_err(anyhow::Error::from);
    let ended = ended.and_then(|communicator| {
        let rank = Rank { communicator, stream: Stream::new(&context)? };
        work(&rank)?;
        Ok(rank.communicator.close()?)
    });
    if let Err(error) = ended {
        eprintln!("rank {}: {error:#}", universe.world().rank());
        universe.world().abort(1);
    }
    Ok(())
}
