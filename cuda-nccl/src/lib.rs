//! Collective operations on device arrays of several GPUs, in one process or in many: safe wrappers over
//! [NCCL](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/index.html).
//!
//! A [`Communicator`] is a rank of a group of devices. Its operations take [`DeviceArray`](cuda_mem::DeviceArray)s, and are ordered
//! on streams like kernels: they enter the arrays' access records, and can be captured in graphs. NCCL is opened when a program
//! asks for it ([`Nccl`]), and its absence is an error value.
//!
//! Invariants:
//!
//! - Lengths, ranks and devices are checked before NCCL is called. Errors name the rank, the operation and the peer.
//! - Communicators do not block in NCCL. Every wait has a time limit, also that of a copy to the host: a lost peer, or a call
//!   that another rank does not make, ends the communicator with an error.
//! - A call that is in order adds no allocation to NCCL's.
//!
//! # Deadlocks
//!
//! Safe code can make ranks wait for each other; the time limit ends that with an error. All ranks make the operations of
//! a communicator in the same order. Operations of two communicators with the same devices are made in the same order on all
//! ranks as well, also on different streams: on a device that runs the one while another device runs the other, both wait. One
//! thread that drives several ranks, and ranks that send to each other, put their calls into a [`group`]. Work of the host that
//! other ranks wait for must not come after a wait for an operation.
//!
//! # Examples
//!
//! ```
//! use cuda_nccl::{Communicator, Environment, Nccl, Options, Reduction};
//!
//! /// The mean over all processes, which torchrun, srun or mpirun started.
//! fn mean(driver: &cuda_driver::Driver, own: &[f32]) -> cuda_nccl::Result<ndarray::Array1<f32>> {
//!     let context = driver.device(Environment::from_process()?.local_rank())?.primary_context()?;
//!     let communicator = Communicator::from_environment(&Nccl::load()?, &context, &Options::new())?;
//!     let stream = cuda_driver::Stream::new(&context)?;
//!     let mut x = cuda_mem::from_slice(&stream, own)?;
//!     communicator.all_reduce_in_place(&mut x, Reduction::Average, &stream)?;
//!     communicator.wait(&stream)?;
//!     Ok(x.copy_to_host()?)
//! }
//! ```
//!
//! # Safety
//!
//! `unsafe` is in `transport/`, `communicator/` and `group.rs` (calls of NCCL and MPI), `error.rs` (NCCL's texts) and `library.rs` (opens the
//! library that the environment names). Each file states its argument.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bootstrap;
mod call;
mod communicator;
mod error;
mod group;
mod library;
mod number;
mod pause;
mod plan;
#[cfg(feature = "mpi")]
mod processes;
mod target;
mod transport;
mod watchdog;

#[cfg(feature = "mpi")]
pub use ::mpi;
pub use bootstrap::{Bootstrap, BootstrapError, Environment};
pub use communicator::{Communicator, Options};
pub use error::{Error, Failed, LengthError, MpiError, NcclError, Result, Subject, Timeout};
pub use group::{Group, group};
pub use library::{NCCL_VARIABLE, Nccl, UniqueId};
pub use number::{Number, Reduction};
#[cfg(feature = "mpi")]
pub use processes::{MpiProcesses, TRANSPORT_VARIABLE, Transport};
pub use target::Target;
#[cfg(feature = "mpi")]
pub use transport::mpi::aware::MPI_MEMORY_VARIABLE;
