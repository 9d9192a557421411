//! [`BootstrapError`]: processes that could not find each other.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The reason why processes could not find each other.
///
/// # Examples
///
/// ```
/// use cuda_nccl::{BootstrapError, Environment};
///
/// let error = Environment::from_variables(|_| None).unwrap_err();
/// assert!(matches!(error, BootstrapError::NoRank));
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// No variable tells the rank.
    #[error(
        "no variable tells the rank of this process: neither RANK and WORLD_SIZE, which torchrun sets, nor SLURM_PROCID and \
         SLURM_NTASKS, which srun sets, nor OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE, which mpirun sets"
    )]
    NoRank,
    /// A variable is missing beside others.
    #[error("{set} is set and {missing} is not; a start of several processes sets both")]
    Missing {
        /// The variable that is set.
        set: &'static str,
        /// The variable that is not.
        missing: &'static str,
    },
    /// A variable has a value that is not allowed.
    #[error("{variable}={value} is not allowed: {allowed}")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// Rank 0 could not listen.
    #[error("rank 0 cannot listen on {address} for the other ranks: {cause}; CUDA_NCCL_PORT names another port")]
    Listen {
        /// The address.
        address: String,
        /// The system's error.
        cause: Arc<std::io::Error>,
    },
    /// Rank 0 was not reached within the time limit.
    #[error("rank {rank} of {size} did not reach rank 0 on {address} within {limit:?}; the last attempt: {cause}")]
    Unreachable {
        /// The calling rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
        /// The address of rank 0.
        address: String,
        /// The time limit.
        limit: Duration,
        /// The last attempt's error.
        cause: Arc<std::io::Error>,
    },
    /// Ranks did not come within the time limit.
    #[error("of {size} ranks these did not come within {limit:?}: {}", list(.ranks))]
    Absent {
        /// The ranks that did not come.
        ranks: Vec<usize>,
        /// The number of ranks.
        size: usize,
        /// The time limit.
        limit: Duration,
    },
    /// Two processes have the same rank.
    #[error("two processes say that they are rank {rank} of {size}: at {first} and at {second}")]
    SameRank {
        /// The rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
        /// The process that came first.
        first: SocketAddr,
        /// The process that came second.
        second: SocketAddr,
    },
    /// A process has another number of ranks.
    #[error("the process at {peer} says that it is rank {rank} of {theirs}, and rank 0 expects {size} ranks")]
    OtherSize {
        /// The process.
        peer: SocketAddr,
        /// Its rank.
        rank: usize,
        /// Its number of ranks.
        theirs: usize,
        /// The number of ranks that rank 0 expects.
        size: usize,
    },
    /// Rank 0 has refused all ranks.
    #[error("rank 0 has refused rank {rank} of {size}: {reason}")]
    Refused {
        /// The calling rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
        /// Rank 0's reason.
        reason: String,
    },
    /// The connection to rank 0 ended before it answered.
    #[error("rank {rank} of {size} has lost rank 0 while it waited for the other ranks: {cause}")]
    Lost {
        /// The calling rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
        /// The system's error.
        cause: Arc<std::io::Error>,
    },
}

/// The ranks with commas between them, at most eight.
fn list(ranks: &[usize]) -> String {
    let mut words: Vec<_> = ranks.iter().take(8).map(usize::to_string).collect();
    if ranks.len() > words.len() {
        words.push(format!("and {} more", ranks.len() - words.len()));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_ranks_is_cut() {
        let absent = |ranks| BootstrapError::Absent { ranks, size: 64, limit: Duration::from_secs(3) }.to_string();
        assert_eq!(absent(vec![2, 5]), "of 64 ranks these did not come within 3s: 2, 5");
        assert!(absent((1..20).collect()).ends_with("7, 8, and 11 more"));
    }

    #[test]
    fn errors_of_the_system_are_named_with_the_address() {
        let cause = || Arc::new(std::io::Error::from(std::io::ErrorKind::AddrInUse));
        let text = BootstrapError::Listen { address: "node:29500".into(), cause: cause() }.to_string();
        assert!(text.starts_with("rank 0 cannot listen on node:29500 for the other ranks: "), "{text}");
        let text = BootstrapError::Lost { rank: 1, size: 2, cause: cause() }.to_string();
        assert!(text.starts_with("rank 1 of 2 has lost rank 0 while it waited for the other ranks: "), "{text}");
    }
}
