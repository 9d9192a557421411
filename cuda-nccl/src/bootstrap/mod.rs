//! [`Bootstrap`]: how the processes of a communicator find each other before NCCL connects them.
//!
//! [`Environment`] is the one for processes that `torchrun`, `srun` or `mpirun` started; its processes meet by TCP (`store.rs`),
//! by a protocol of one message each way (`roster.rs`).

mod environment;
mod error;
mod roster;
mod store;

pub use environment::Environment;
pub use error::BootstrapError;

use crate::communicator::Options;
use crate::error::Result;
use crate::library::UniqueId;

/// A way in which the processes of a communicator find each other.
///
/// Nothing unsafe relies on an implementation: a wrong rank or identifier is an error, or a wait that ends by its time limit.
///
/// # Examples
///
/// ```
/// use cuda_nccl::{Bootstrap, Communicator, Nccl, Options, Result, UniqueId};
///
/// /// A world of one process.
/// struct Alone;
///
/// impl Bootstrap for Alone {
///     fn rank(&self) -> usize {
///         0
///     }
///     fn size(&self) -> usize {
///         1
///     }
///     fn share(&mut self, id: Option<UniqueId>, _: &Options) -> Result<UniqueId> {
///         Ok(id.expect("rank 0 has it"))
///     }
/// }
///
/// fn alone(nccl: &Nccl, context: &cuda_driver::Context) -> Result<Communicator> {
///     Communicator::meet(nccl, context, &mut Alone, &Options::new())
/// }
/// ```
pub trait Bootstrap {
    /// The rank of this process, from 0 on.
    fn rank(&self) -> usize;

    /// The number of processes.
    fn size(&self) -> usize;

    /// Gives the identifier of rank 0, whose `id` it is, to all processes. Returns when this process has it.
    ///
    /// # Errors
    ///
    /// If processes do not come within the time limit, or disagree.
    fn share(&mut self, id: Option<UniqueId>, options: &Options) -> Result<UniqueId>;
}
