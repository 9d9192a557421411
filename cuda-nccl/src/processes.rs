//! MPI as the start of several processes ([`MpiProcesses`]), and the choice between NCCL and MPI as the transport.
//!
//! The crate [`mpi`] (rsmpi) is re-exported: a program initialises it, and keeps what it returns.

use std::time::Duration;

use cuda_driver::{Context, Device, Driver};
use mpi::traits::{AsRaw, Communicator as MpiCommunicator};

use crate::bootstrap::Bootstrap;
use crate::communicator::{Communicator, Options};
use crate::error::{Error, Result};
use crate::library::{Nccl, UniqueId};
use crate::transport::Link;
use crate::transport::mpi::MpiLink;
use crate::transport::mpi::comm::{Comm, expect_threads};

/// The environment variable that names the transport: `nccl` or `mpi`.
///
/// # Examples
///
/// ```
/// match std::env::var(cuda_nccl::TRANSPORT_VARIABLE) {
///     Ok(transport) => println!("data is moved by {transport}"),
///     Err(_) => println!("data is moved by NCCL where all processes have it, else by MPI"),
/// }
/// ```
pub const TRANSPORT_VARIABLE: &str = "CUDA_NCCL_TRANSPORT";

/// The library that moves the data of a communicator.
///
/// # Examples
///
/// ```
/// use cuda_nccl::Transport;
/// assert_eq!("mpi".parse::<Transport>().unwrap(), Transport::Mpi);
/// assert!("tcp".parse::<Transport>().unwrap_err().to_string().starts_with("`tcp` is no transport"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// NCCL: from device to device.
    Nccl,
    /// MPI, through page-locked memory of the host, or from device memory if it can.
    Mpi,
}

impl std::str::FromStr for Transport {
    type Err = Error;

    fn from_str(text: &str) -> Result<Transport> {
        match text {
            "nccl" => Ok(Transport::Nccl),
            "mpi" => Ok(Transport::Mpi),
            other => Err(Error::invalid(format!("`{other}` is no transport; {TRANSPORT_VARIABLE} is `nccl` or `mpi`"))),
        }
    }
}

/// The processes of a communicator of MPI: the world, or a part of it.
///
/// As a [`Bootstrap`] it gives NCCL's identifier to all processes by a broadcast of MPI. It has a duplicate of the communicator,
/// so that no message of the program's gets between, and MPI's errors are returned from its own calls.
///
/// # Examples
///
/// ```
/// use cuda_nccl::{Communicator, MpiProcesses, Options, mpi};
///
/// /// One process for each device.
/// fn start(driver: &cuda_driver::Driver) -> Result<(), Box<dyn std::error::Error>> {
///     let (universe, _) = mpi::initialize_with_threading(mpi::Threading::Multiple).ok_or("MPI is initialised already")?;
///     let mut processes = MpiProcesses::new(&universe.world())?;
///     let context = processes.device(driver)?.primary_context()?;
///     let communicator = Communicator::from_mpi(&context, &mut processes, &Options::new())?;
///     println!("rank {} of {}", communicator.rank(), communicator.size());
///     println!("process {} of {} on its machine", processes.local_rank(), processes.local_size());
///     communicator.close()?;
///     Ok(())
/// }
/// ```
pub struct MpiProcesses {
    comm: Comm,
    local_rank: usize,
    local_size: usize,
}

impl MpiProcesses {
    /// The processes of a communicator of MPI. All of them call it.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{MpiProcesses, Result, mpi};
    /// use mpi::topology::{Color, Communicator};
    ///
    /// /// The processes of even and of odd rank.
    /// fn halves(world: &impl Communicator) -> Result<Option<MpiProcesses>> {
    ///     let part = world.split_by_color(Color::with_value(world.rank() % 2));
    ///     part.map(|part| MpiProcesses::new(&part)).transpose()
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if MPI is not initialised; [`Error::Mpi`] with MPI's code.
    pub fn new<C: MpiCommunicator + AsRaw<Raw = mpi::ffi::MPI_Comm>>(communicator: &C) -> Result<MpiProcesses> {
        let comm = Comm::duplicate(communicator.as_raw())?;
        let machine = comm.of_machine()?.place;
        Ok(MpiProcesses { comm, local_rank: machine.rank, local_size: machine.size })
    }

    /// The rank of this process among those of its machine.
    #[must_use]
    pub fn local_rank(&self) -> usize {
        self.local_rank
    }

    /// The number of processes on this machine.
    #[must_use]
    pub fn local_size(&self) -> usize {
        self.local_size
    }

    /// The device of this process: that of its local rank, modulo the number of devices.
    ///
    /// # Examples
    ///
    /// ```
    /// fn context(processes: &cuda_nccl::MpiProcesses, driver: &cuda_driver::Driver) -> cuda_nccl::Result<cuda_driver::Context> {
    ///     Ok(processes.device(driver)?.primary_context()?)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] if there is no device.
    pub fn device(&self, driver: &Driver) -> Result<Device> {
        Ok(driver.device(self.local_rank % driver.device_count()?.max(1))?)
    }

    /// Waits until all processes call it, no longer than the limit.
    ///
    /// # Examples
    ///
    /// ```
    /// fn meet(processes: &cuda_nccl::MpiProcesses) -> cuda_nccl::Result<()> {
    ///     processes.barrier(std::time::Duration::from_secs(60))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`], [`Error::Mpi`].
    pub fn barrier(&self, limit: Duration) -> Result<()> {
        self.comm.meet("barrier", limit)
    }

    /// The transport of all processes: that which [`TRANSPORT_VARIABLE`] names, else NCCL if all of them have it.
    fn choose(&self) -> Result<Option<Nccl>> {
        let wanted = std::env::var(TRANSPORT_VARIABLE).ok().filter(|text| !text.is_empty());
        let wanted = wanted.map(|text| text.parse::<Transport>()).transpose();
        let nccl = match &wanted {
            Ok(None | Some(Transport::Nccl)) => Some(Nccl::load()),
            _ => None,
        };
        // The processes agree before anybody gives up: the others would wait.
        let all_have_it = self.comm.min(i32::from(matches!(nccl, Some(Ok(_)))))? == 1;
        match (wanted?, nccl) {
            (_, Some(Ok(nccl))) if all_have_it => Ok(Some(nccl)),
            (Some(Transport::Nccl), Some(Err(error))) => Err(error),
            (Some(Transport::Nccl), _) => Err(Error::invalid(format!(
                "rank {} of {}: {TRANSPORT_VARIABLE} is `nccl`, and another process has no NCCL or another value of the variable",
                self.comm.place.rank, self.comm.place.size
            ))),
            _ => Ok(None),
        }
    }
}

impl std::fmt::Debug for MpiProcesses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rank, size) = (self.comm.place.rank, self.comm.place.size);
        f.debug_struct("MpiProcesses").field("rank", &rank).field("size", &size).finish_non_exhaustive()
    }
}

impl Bootstrap for MpiProcesses {
    fn rank(&self) -> usize {
        self.comm.place.rank
    }

    fn size(&self) -> usize {
        self.comm.place.size
    }

    fn share(&mut self, id: Option<UniqueId>, options: &Options) -> Result<UniqueId> {
        self.comm.meet("the creation of the communicator", options.limit())?;
        let mut bytes = id.map_or([0; UniqueId::LEN], |id| id.to_bytes());
        self.comm.broadcast(&mut bytes)?;
        Ok(UniqueId::from_bytes(bytes))
    }
}

impl Communicator {
    /// The communicator of all these processes, over NCCL or MPI: the transport that the environment variable
    /// [`TRANSPORT_VARIABLE`] names, else NCCL if all processes have it, else MPI. All processes call it.
    ///
    /// [`Communicator::meet`] with the same processes is one over NCCL in any case, and [`over_mpi`](Communicator::over_mpi) one
    /// over MPI.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, MpiProcesses, Options, Result};
    ///
    /// fn start(context: &cuda_driver::Context, processes: &mut MpiProcesses) -> Result<Communicator> {
    ///     let communicator = Communicator::from_mpi(context, processes, &Options::new())?;
    ///     println!("NCCL: {}", communicator.nccl().is_some());
    ///     Ok(communicator)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a value of the variable that is not allowed; the errors of [`meet`](Communicator::meet) and
    /// [`over_mpi`](Communicator::over_mpi).
    pub fn from_mpi(context: &Context, processes: &mut MpiProcesses, options: &Options) -> Result<Communicator> {
        match processes.choose()? {
            Some(nccl) => Communicator::meet(&nccl, context, processes, options),
            None => Communicator::over_mpi(context, processes, options),
        }
    }

    /// The communicator of all these processes over MPI, which needs no NCCL. All processes call it.
    ///
    /// Its operations are those of any communicator, and are ordered on streams. Their data pass through page-locked memory in
    /// pieces, except where MPI can access device memory ([`MPI_MEMORY_VARIABLE`](crate::MPI_MEMORY_VARIABLE)). What MPI lacks is an error: operations in graphs. A lost rank ends waits by the time limit, as with NCCL; MPI
    /// cannot take its unfinished messages back, so that the process must end by `MPI_Abort` (`world.abort(1)`) then, not by
    /// MPI's regular end, which would wait for them.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, MpiProcesses, Options, Reduction, Result};
    ///
    /// fn sum(context: &cuda_driver::Context, processes: &MpiProcesses) -> Result<()> {
    ///     let communicator = Communicator::over_mpi(context, processes, &Options::new())?;
    ///     let stream = cuda_driver::Stream::new(context)?;
    ///     let mut x = cuda_mem::from_slice(&stream, &[communicator.rank() as f32; 100])?;
    ///     communicator.all_reduce_in_place(&mut x, Reduction::Sum, &stream)?;
    ///     communicator.wait(&stream)?;
    ///     communicator.close()
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if MPI was initialised without `MPI_THREAD_MULTIPLE`, or for a value of the variable that is not allowed;
    /// [`Error::Timeout`] if a process does not call it;
    /// [`Error::Mpi`] with MPI's code.
    pub fn over_mpi(context: &Context, processes: &MpiProcesses, options: &Options) -> Result<Communicator> {
        expect_threads()?;
        processes.comm.meet("the creation of the communicator", options.limit())?;
        let comm = Comm::duplicate(processes.comm.raw())?;
        let place = comm.place;
        let link = Link::Mpi(MpiLink::new(comm, context, options.limit())?);
        Ok(Communicator::of_link(link, None, context.clone(), place, options.limit()))
    }
}
