//! [`Call`]: one call of NCCL whose arguments have been checked.
//!
//! `all_to_all`, `gather` and `scatter` came with NCCL 2.28; where the library lacks them, they are made of sends and receives.
//!
//! # Safety
//!
//! The caller of [`Call::issue`] promises a live communicator and stream, and that the memory of the call, which the arrays'
//! borrows keep, is prepared for it. Each block passes on that promise.

use std::ffi::{c_int, c_void};

use cuda_sys::MissingSymbol;
use cuda_sys::nccl::{NcclApi, cudaStream_t, ncclComm_t, ncclDataType_t, ncclRedOp_t, ncclResult_t};

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

/// A call of NCCL.
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

impl Call {
    /// Makes the call.
    ///
    /// # Safety
    ///
    /// The communicator is live, at `place`, and used by nobody else during the call; the stream is live and of its device; the
    /// addresses are of as many elements as the operation reads and writes, which are live and not used in conflict, in the
    /// order of the stream.
    #[inline]
    pub(crate) unsafe fn issue(
        &self,
        api: &NcclApi,
        comm: ncclComm_t,
        place: Place,
        stream: cudaStream_t,
    ) -> Result<ncclResult_t, MissingSymbol> {
        let Elements { count, data, .. } = self.elements;
        let (send, recv) = (self.send as *const c_void, self.recv as *mut c_void);
        let peer = self.peer.unwrap_or(0) as c_int;
        /// Calls a function of the table.
        macro_rules! call {
            ($name:ident($($argument:expr),*)) => {{
                let function = api.$name()?;
                // SAFETY: the caller keeps the contract of `issue`, which is that of the function.
                Ok(unsafe { function($($argument),*) })
            }};
        }
        /// As `call!`, with the function's replacement where the library lacks it.
        macro_rules! newer {
            ($name:ident($($argument:expr),*)) => {
                match api.$name() {
                    // SAFETY: the caller keeps the contract of `issue`, which is that of the function.
                    Ok(function) => Ok(unsafe { function($($argument),*) }),
                    // SAFETY: the caller keeps the contract of `issue`.
                    Err(_) => unsafe { self.issue_parts(api, comm, place, stream) },
                }
            };
        }
        match self.kind {
            Kind::AllReduce => call!(ncclAllReduce(send, recv, count, data, self.op, comm, stream)),
            Kind::Reduce => call!(ncclReduce(send, recv, count, data, self.op, peer, comm, stream)),
            Kind::Broadcast => call!(ncclBroadcast(send, recv, count, data, peer, comm, stream)),
            Kind::AllGather => call!(ncclAllGather(send, recv, count, data, comm, stream)),
            Kind::ReduceScatter => call!(ncclReduceScatter(send, recv, count, data, self.op, comm, stream)),
            Kind::AllToAll => newer!(ncclAlltoAll(send, recv, count, data, comm, stream)),
            Kind::Gather => newer!(ncclGather(send, recv, count, data, peer, comm, stream)),
            Kind::Scatter => newer!(ncclScatter(send, recv, count, data, peer, comm, stream)),
            Kind::Send => call!(ncclSend(send, count, data, peer, comm, stream)),
            Kind::Recv => call!(ncclRecv(recv, count, data, peer, comm, stream)),
        }
    }

    /// Makes the call of sends and receives.
    ///
    /// # Safety
    ///
    /// As for [`issue`](Call::issue).
    #[cold]
    unsafe fn issue_parts(
        &self,
        api: &NcclApi,
        comm: ncclComm_t,
        place: Place,
        stream: cudaStream_t,
    ) -> Result<ncclResult_t, MissingSymbol> {
        let (start, end) = (api.ncclGroupStart()?, api.ncclGroupEnd()?);
        // A group that has begun must end: the functions of its calls are looked up before.
        api.ncclSend()?;
        api.ncclRecv()?;
        // SAFETY: the function takes nothing.
        let mut status = unsafe { start() };
        for part in self.parts(place) {
            if status == ncclResult_t::ncclSuccess {
                // SAFETY: the part's elements are among those of this call, whose contract the caller keeps.
                status = unsafe { part.issue(api, comm, place, stream) }?;
            }
        }
        // SAFETY: the function takes nothing, and the group was begun above.
        let ended = unsafe { end() };
        Ok(if status == ncclResult_t::ncclSuccess { ended } else { status })
    }

    /// The sends and receives that amount to the operation.
    fn parts(&self, place: Place) -> impl Iterator<Item = Call> + '_ {
        let bytes = (self.elements.count * self.elements.bytes) as u64;
        let root = self.peer.unwrap_or(0) as usize;
        let is_root = place.rank == root;
        (0..place.size).flat_map(move |rank| {
            let at = rank as u64 * bytes;
            let (sends, recvs, from, to) = match self.kind {
                Kind::AllToAll => (true, true, self.send + at, self.recv + at),
                Kind::Gather => (rank == root, is_root, self.send, self.recv + at),
                _ => (is_root, rank == root, self.send + at, self.recv),
            };
            // The root's own part may be in place already.
            let own = rank == place.rank;
            let in_place = self.kind != Kind::AllToAll && own && is_root && from == to;
            let peer = Some(rank as u32);
            let send = Call { kind: Kind::Send, send: from, peer, ..*self };
            let recv = Call { kind: Kind::Recv, recv: to, peer, ..*self };
            [(sends && !in_place).then_some(send), (recvs && !in_place).then_some(recv)].into_iter().flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of an operation on `rank` of 3, as kind, peer and offset in elements of 4 bytes.
    fn parts(kind: Kind, root: Option<u32>, rank: usize, in_place: bool) -> Vec<(Kind, u32, u64)> {
        let elements = Elements { count: 2, data: ncclDataType_t::ncclInt32, bytes: 4 };
        let (send, recv) = match (kind, in_place) {
            (_, false) => (1000, 2000),
            (Kind::Gather, true) => (2000 + 8 * rank as u64, 2000),
            (_, true) => (1000, 1000 + 8 * rank as u64),
        };
        let call = Call { kind, send, recv, elements, op: ncclRedOp_t::ncclSum, peer: root };
        let place = Place { rank, size: 3 };
        let offset = |part: &Call| if part.kind == Kind::Send { part.send - send } else { part.recv - recv };
        call.parts(place).map(|part| (part.kind, part.peer.unwrap(), offset(&part) / 8)).collect()
    }

    #[test]
    fn the_root_of_a_gather_receives_from_all_and_the_others_send_once() {
        assert_eq!(
            parts(Kind::Gather, Some(1), 1, false),
            [(Kind::Recv, 0, 0), (Kind::Send, 1, 0), (Kind::Recv, 1, 1), (Kind::Recv, 2, 2)]
        );
        assert_eq!(parts(Kind::Gather, Some(1), 1, true), [(Kind::Recv, 0, 0), (Kind::Recv, 2, 2)]);
        assert_eq!(parts(Kind::Gather, Some(1), 2, false), [(Kind::Send, 1, 0)]);
    }

    #[test]
    fn the_root_of_a_scatter_sends_to_all_and_the_others_receive_once() {
        assert_eq!(
            parts(Kind::Scatter, Some(0), 0, false),
            [(Kind::Send, 0, 0), (Kind::Recv, 0, 0), (Kind::Send, 1, 1), (Kind::Send, 2, 2)]
        );
        assert_eq!(parts(Kind::Scatter, Some(0), 0, true), [(Kind::Send, 1, 1), (Kind::Send, 2, 2)]);
        assert_eq!(parts(Kind::Scatter, Some(0), 2, false), [(Kind::Recv, 0, 0)]);
    }

    #[test]
    fn each_rank_of_an_all_to_all_sends_to_and_receives_from_all() {
        let expected: Vec<_> =
            (0..3).flat_map(|rank| [Kind::Send, Kind::Recv].map(|kind| (kind, rank, rank.into()))).collect();
        assert_eq!(parts(Kind::AllToAll, None, 1, false), expected);
    }
}
