//! [`Link`]: the connection of a rank to the others, by one of the transports. Arguments are checked and memory is ordered
//! before a transport is asked.
//!
//! # Safety
//!
//! The block passes on the promise of its caller.

pub(crate) mod nccl;

#[cfg(feature = "mpi")]
pub(crate) mod mpi;

use cuda_driver::{Context, Stream};
use cuda_sys::CUstream;
use cuda_sys::nccl::{ncclComm_t, ncclResult_t};

use crate::call::{Call, Place};
use crate::error::{Result, Subject};
use nccl::NcclLink;

/// A live connection of a rank to the others.
pub(crate) enum Link {
    Nccl(NcclLink),
    #[cfg(feature = "mpi")]
    Mpi(mpi::MpiLink),
}

impl Link {
    /// NCCL's handle; null for another transport.
    pub(crate) fn as_raw(&self) -> ncclComm_t {
        match self {
            Link::Nccl(link) => link.comm.as_ptr(),
            #[cfg(feature = "mpi")]
            Link::Mpi(_) => std::ptr::null_mut(),
        }
    }

    /// Begins a call in a stream. The calls of a group are all begun before the first one is made, so that none of them waits for
    /// another one.
    #[inline]
    pub(crate) fn fork(&self, call: &Call, stream: Option<&Stream>) -> Result<()> {
        match (self, stream) {
            #[cfg(feature = "mpi")]
            (Link::Mpi(link), Some(stream)) => link.fork(call, stream),
            _ => {
                let _ = call;
                Ok(())
            }
        }
    }

    /// Ends a call: later work of the stream waits for it. The calls of a group are ended after the last one was made.
    #[inline]
    pub(crate) fn join(&self, call: &Call, stream: Option<&Stream>) -> Result<()> {
        match (self, stream) {
            #[cfg(feature = "mpi")]
            (Link::Mpi(link), Some(stream)) => link.join(call, stream),
            _ => {
                let _ = call;
                Ok(())
            }
        }
    }

    /// Makes a call in a stream, `stream` or else the captured stream `raw`, between [`fork`](Link::fork) and
    /// [`join`](Link::join).
    ///
    /// # Safety
    ///
    /// The stream is live and of the link's device; the addresses of the call are of as many elements as the operation reads and
    /// writes, which are live and not used in conflict, in the order of the stream. The link is used by nobody else during the
    /// call.
    #[inline]
    pub(crate) unsafe fn issue(
        &self,
        call: &Call,
        place: Place,
        context: &Context,
        raw: CUstream,
        stream: Option<&Stream>,
    ) -> Result<ncclResult_t> {
        match self {
            // SAFETY: the caller keeps the contract.
            Link::Nccl(link) => unsafe { link.issue(call, place, context, stream.map_or(raw, Stream::as_raw)) },
            #[cfg(feature = "mpi")]
            // SAFETY: the caller keeps the contract.
            Link::Mpi(link) => unsafe { link.issue(call) }.map(|()| ncclResult_t::ncclSuccess),
        }
    }

    /// An error if operations of this call cannot be captured in graphs.
    pub(crate) fn expect_capturable(&self, subject: Subject) -> Result<()> {
        match self {
            Link::Nccl(_) => {
                let _ = subject;
                Ok(())
            }
            #[cfg(feature = "mpi")]
            Link::Mpi(_) => Err(crate::error::Error::invalid(format!(
                "{subject}: operations over MPI cannot be captured in a graph, since MPI runs on the host; make the call in a \
                 stream, or a communicator over NCCL"
            ))),
        }
    }

    /// The state of the operations that were enqueued.
    pub(crate) fn status(&self) -> Result<ncclResult_t> {
        match self {
            Link::Nccl(link) => link.status(),
            #[cfg(feature = "mpi")]
            Link::Mpi(link) => link.status().map(|()| ncclResult_t::ncclSuccess),
        }
    }

    /// Ends the operations, which have no result then.
    pub(crate) fn abort(self, context: &Context) {
        match self {
            Link::Nccl(link) => link.abort(context),
            #[cfg(feature = "mpi")]
            Link::Mpi(link) => link.abort(),
        }
    }

    /// Ends the connection after all operations have finished.
    pub(crate) fn close(self, context: &Context, subject: Subject) -> Result<()> {
        match self {
            Link::Nccl(link) => link.close(context, subject),
            #[cfg(feature = "mpi")]
            Link::Mpi(link) => link.close(subject),
        }
    }
}
