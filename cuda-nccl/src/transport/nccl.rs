//! [`NcclLink`]: NCCL as the transport.
//!
//! `all_to_all`, `gather` and `scatter` came with NCCL 2.28; where the library lacks them, they are made of sends and receives.
//!
//! # Safety
//!
//! The caller of [`Call::issue`] promises a live communicator and stream, and that the memory of the call, which the arrays'
//! borrows keep, is prepared for it. Each block passes on that promise. A link's handle is live until the link is consumed.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use cuda_driver::Context;
use cuda_sys::nccl::{NcclApi, cudaStream_t, ncclComm, ncclComm_t, ncclResult_t};
use cuda_sys::{CUstream, MissingSymbol};

use crate::call::{Call, Elements, Kind, Place};
use crate::error::{Error, NcclError, Result, Subject};
use crate::library::Nccl;

/// A live communicator of NCCL.
pub(crate) struct NcclLink {
    pub(crate) nccl: Nccl,
    pub(crate) comm: NonNull<ncclComm>,
}

// SAFETY: NCCL accepts a communicator's handle on any thread; it is used under the lock of the communicator's state.
unsafe impl Send for NcclLink {}

impl NcclLink {
    /// Makes a call in a stream.
    ///
    /// # Safety
    ///
    /// As for [`Call::issue`], with the link's communicator.
    #[inline]
    pub(crate) unsafe fn issue(
        &self,
        call: &Call,
        place: Place,
        context: &Context,
        stream: CUstream,
    ) -> Result<ncclResult_t> {
        let _entered = context.enter(call.kind.c_name())?;
        // SAFETY: the caller keeps the contract; the handle is live.
        Ok(unsafe { call.issue(&self.nccl.0, self.comm.as_ptr(), place, stream) }?)
    }

    /// NCCL's status of the communicator.
    pub(crate) fn status(&self) -> Result<ncclResult_t> {
        let mut found = ncclResult_t::ncclSuccess;
        // SAFETY: the handle is live and used under its lock; the status lives through the call.
        let status = unsafe { (self.nccl.0.ncclCommGetAsyncError()?)(self.comm.as_ptr(), &mut found) };
        Ok(if status == ncclResult_t::ncclSuccess { found } else { status })
    }

    /// Ends the communicator's operations on the device, and frees the handle.
    pub(crate) fn abort(self, context: &Context) {
        let aborted = context.enter("ncclCommAbort").map_err(Error::from).and_then(|_entered| {
            let abort = self.nccl.0.ncclCommAbort()?;
            // SAFETY: the handle is live, and the link is consumed.
            Ok(unsafe { abort(self.comm.as_ptr()) })
        });
        match aborted {
            Ok(ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress) => {}
            Ok(status) => tracing::warn!(?status, "a communicator could not be aborted"),
            Err(error) => tracing::warn!(%error, "a communicator could not be aborted"),
        }
    }

    /// Frees the handle.
    pub(crate) fn close(self, context: &Context, subject: Subject) -> Result<()> {
        let _entered = context.enter("ncclCommDestroy")?;
        // SAFETY: the handle is live, and the link is consumed.
        let status = unsafe { (self.nccl.0.ncclCommDestroy()?)(self.comm.as_ptr()) };
        match status {
            ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress => Ok(()),
            status => {
                let error = NcclError::new(&self.nccl.0, None, status, "ncclCommDestroy", Some(subject));
                Err(Error::Nccl(Box::new(error)))
            }
        }
    }
}

/// NCCL's group, which spans the calls of a thread; nothing for another transport.
pub(crate) struct Bracket(Option<unsafe extern "C" fn() -> ncclResult_t>);

impl Bracket {
    /// Begins a group. It must be ended.
    pub(crate) fn begin(nccl: Option<&Nccl>) -> Result<Bracket> {
        let Some(nccl) = nccl else { return Ok(Bracket(None)) };
        // A group that has begun must end: the function is looked up before.
        let (start, end) = (nccl.0.ncclGroupStart()?, nccl.0.ncclGroupEnd()?);
        // SAFETY: the function takes nothing.
        match unsafe { start() } {
            ncclResult_t::ncclSuccess => Ok(Bracket(Some(end))),
            status => Err(Error::Nccl(Box::new(NcclError::new(&nccl.0, None, status, "ncclGroupStart", None)))),
        }
    }

    /// Ends the group, which enqueues its operations.
    pub(crate) fn end(self) -> ncclResult_t {
        // SAFETY: the function takes nothing, and the group was begun.
        self.0.map_or(ncclResult_t::ncclSuccess, |end| unsafe { end() })
    }
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
    use cuda_sys::nccl::{ncclDataType_t, ncclRedOp_t};

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
