//! The start of the programs: one process for each device, which MPI starts.
//!
//! `mpirun -np 4 cargo run --release -p cuda-example-mpi --features mpi --bin heat_mpi` runs one. Data are moved by NCCL where all
//! processes have it, else by MPI; `CUDA_NCCL_TRANSPORT=mpi` chooses.

pub mod scaling;
#[cfg(feature = "mpi")]
mod start;

#[cfg(feature = "mpi")]
pub use start::{Rank, run};

/// A checksum of numbers and of their order.
///
/// # Examples
///
/// ```
/// use cuda_example_mpi::checksum;
/// assert_ne!(checksum([1, 2].into_iter()), checksum([2, 1].into_iter()));
/// ```
pub fn checksum(numbers: impl Iterator<Item = u32>) -> u64 {
    let mix = |hash: u64, number: u32| (hash ^ u64::from(number)).wrapping_mul(0x0100_0000_01b3);
    numbers.fold(0xcbf2_9ce4_8422_2325, mix)
}
