//! [`Call`]: one operation whose arguments have been checked, in NCCL's terms. The transports make it.

use cuda_sys::nccl::{ncclDataType_t, ncclRedOp_t};

/// The operation of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    AllReduce,
    Reduce,
    Broadcast,
    AllGather,
    ReduceScatter,
    AllToAll,
    Gather,
    Scatter,
    Send,
    Recv,
}

impl Kind {
    /// Every operation, in the order of their numbers.
    #[cfg(feature = "mpi")]
    pub(crate) const ALL: [Kind; 10] = [
        Kind::AllReduce,
        Kind::Reduce,
        Kind::Broadcast,
        Kind::AllGather,
        Kind::ReduceScatter,
        Kind::AllToAll,
        Kind::Gather,
        Kind::Scatter,
        Kind::Send,
        Kind::Recv,
    ];

    /// The name of MPI's function.
    #[cfg(feature = "mpi")]
    pub(crate) fn mpi_name(self) -> &'static str {
        match self {
            Kind::AllReduce => "MPI_Iallreduce",
            Kind::Reduce => "MPI_Ireduce",
            Kind::Broadcast => "MPI_Ibcast",
            Kind::AllGather => "MPI_Iallgather",
            Kind::ReduceScatter => "MPI_Ireduce_scatter_block",
            Kind::AllToAll => "MPI_Ialltoall",
            Kind::Gather => "MPI_Igather",
            Kind::Scatter => "MPI_Iscatter",
            Kind::Send => "MPI_Isend",
            Kind::Recv => "MPI_Irecv",
        }
    }

    /// The name of this crate's function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::AllReduce => "all_reduce",
            Kind::Reduce => "reduce",
            Kind::Broadcast => "broadcast",
            Kind::AllGather => "all_gather",
            Kind::ReduceScatter => "reduce_scatter",
            Kind::AllToAll => "all_to_all",
            Kind::Gather => "gather",
            Kind::Scatter => "scatter",
            Kind::Send => "send",
            Kind::Recv => "recv",
        }
    }

    /// The name of NCCL's function.
    pub(crate) fn c_name(self) -> &'static str {
        match self {
            Kind::AllReduce => "ncclAllReduce",
            Kind::Reduce => "ncclReduce",
            Kind::Broadcast => "ncclBroadcast",
            Kind::AllGather => "ncclAllGather",
            Kind::ReduceScatter => "ncclReduceScatter",
            Kind::AllToAll => "ncclAlltoAll",
            Kind::Gather => "ncclGather",
            Kind::Scatter => "ncclScatter",
            Kind::Send => "ncclSend",
            Kind::Recv => "ncclRecv",
        }
    }
}

/// The elements of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    pub(crate) count: usize,
    pub(crate) data: ncclDataType_t,
    /// The size of one in bytes.
    pub(crate) bytes: usize,
}

/// An operation with its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) kind: Kind,
    pub(crate) send: u64,
    pub(crate) recv: u64,
    pub(crate) elements: Elements,
    pub(crate) op: ncclRedOp_t,
    /// The root, or the rank at the other end; `None` for operations without one.
    pub(crate) peer: Option<u32>,
}

/// The caller's place in its communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) rank: usize,
    pub(crate) size: usize,
}
