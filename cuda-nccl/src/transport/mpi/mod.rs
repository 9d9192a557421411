//! [`MpiLink`]: MPI as the transport, for machines without NCCL.
//!
//! An operation is enqueued as with NCCL: its data pass through page-locked memory in pieces (`pieces`, `lane`, `pinned`), so that
//! copies and MPI overlap, or are accessed by MPI where it can access device memory (`aware`). A thread calls MPI (`worker`) on a
//! communicator of its own (`comm`) with MPI's types (`numbers`).
//! Collective operations go one after the other through one lane; sends and receives have a lane for each peer and direction, so
//! that those of a group wait for nothing but their peers.
//!
//! # Safety
//!
//! The block enqueues copies of memory that the caller promises.

pub(crate) mod aware;
pub(crate) mod comm;
mod lane;
mod numbers;
mod pieces;
mod pinned;
mod worker;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use cuda_driver::{Context, Stream};
use parking_lot::Mutex;

use crate::call::{Call, Kind, Place};
use crate::error::{Error, Result, Subject};
use comm::Comm;
use lane::{Lane, Own, Way};
use pieces::Pieces;
use worker::{Job, Shared, Worker};

/// A live connection over MPI.
pub(crate) struct MpiLink {
    comm: Arc<Comm>,
    context: Context,
    lanes: Mutex<HashMap<Way, Lane>>,
    shared: Arc<Shared>,
    worker: JoinHandle<()>,
    /// True if MPI can access the device's memory, on all ranks.
    aware: bool,
}

impl MpiLink {
    /// A connection that has a communicator of MPI to itself.
    pub(crate) fn new(comm: Comm, context: &Context, limit: Duration) -> Result<MpiLink> {
        comm::expect_threads()?;
        let own = aware::knows_device_memory();
        // The ranks agree before one of them gives up: the others would wait.
        let aware = comm.min(i32::from(matches!(own, Ok(true))))? == 1;
        own?;
        let (comm, shared) = (Arc::new(comm), Arc::new(Shared::new(aware)));
        let worker = Worker::new(comm.clone(), shared.clone(), limit);
        let of_device = context.clone();
        let run = move || {
            // MPI copies device memory in the context that is current on its caller's thread.
            let _current = aware.then(|| of_device.select());
            worker.run();
        };
        let worker = std::thread::Builder::new().name("nccl-mpi".into()).spawn(run);
        let worker = worker.map_err(|error| Error::invalid(format!("the system gives no thread for MPI: {error}")))?;
        Ok(MpiLink { comm, context: context.clone(), lanes: Mutex::default(), shared, worker, aware })
    }

    /// Orders the lane of a call after the present work of its stream.
    pub(crate) fn fork(&self, call: &Call, stream: &Stream) -> Result<()> {
        self.status()?;
        let (way, mut lanes) = (way(call), self.lanes.lock());
        match lanes.entry(way) {
            Entry::Occupied(lane) => lane.get().fork(stream),
            Entry::Vacant(none) => {
                let lane = Lane::new(&self.context, way, self.comm.place.size)?;
                self.shared.add_lane(lane.slots.clone());
                none.insert(lane).fork(stream)
            }
        }
    }

    /// Orders later work of a call's stream after its lane.
    pub(crate) fn join(&self, call: &Call, stream: &Stream) -> Result<()> {
        self.lanes.lock().get(&way(call)).map_or(Ok(()), |lane| lane.join(stream))
    }

    /// Enqueues an operation in its lane, which was forked for it.
    ///
    /// # Safety
    ///
    /// As for [`Link::issue`](super::Link::issue).
    pub(crate) unsafe fn issue(&self, call: &Call) -> Result<()> {
        let pieces = Pieces::of(call, self.comm.place, self.aware);
        let own = own_part(call, self.comm.place);
        let (way, mut lanes) = (way(call), self.lanes.lock());
        let Some(lane) = lanes.get_mut(&way) else {
            return Err(Error::invalid("operations over MPI cannot be captured in a graph"));
        };
        if pieces.len() == 0 {
            // SAFETY: the caller keeps the contract.
            return unsafe { lane.enqueue(&pieces, own) };
        }
        let mut make = || {
            let operand = pieces::in_place(call, self.comm.place).filter(|_| pieces.is_direct());
            // SAFETY: as above.
            let aside = operand.map(|operand| unsafe { lane.copy_aside(operand) }).transpose()?;
            let call = Call { send: aside.unwrap_or(call.send), ..*call };
            self.shared.push(way, Job { call, pieces, first: lane.next(), slots: lane.slots.clone() });
            // SAFETY: as above.
            unsafe { lane.enqueue(&pieces, own) }?;
            aside.map_or(Ok(()), |aside| lane.free(aside))
        };
        // The worker, and those of the other ranks, would wait for pieces that the device never gives.
        make().inspect_err(|error| self.shared.fail(error.clone()))
    }

    /// The error that has ended the connection.
    pub(crate) fn status(&self) -> Result<()> {
        self.shared.failed().map_or(Ok(()), Err)
    }

    /// The connection of the ranks of one color.
    pub(crate) fn split(&self, color: Option<u32>, key: i32, limit: Duration) -> Result<Option<(MpiLink, Place)>> {
        let Some(part) = self.comm.split(color, key, limit)? else { return Ok(None) };
        let place = part.place;
        Ok(Some((MpiLink::new(part, &self.context, limit)?, place)))
    }

    /// Ends the operations, which have no result then. What MPI may still access is left to it.
    pub(crate) fn abort(self) {
        self.shared.fail(Error::invalid("the communicator was ended"));
        // The streams of the lanes may still wait for the program's work, and MPI has the communicator.
        std::mem::forget(self.lanes);
        std::mem::forget(self.comm);
    }

    /// Ends the connection after all operations have finished.
    pub(crate) fn close(self, subject: Subject) -> Result<()> {
        self.shared.end();
        if self.worker.join().is_err() {
            return Err(Error::invalid(format!("{subject}: the communicator's thread for MPI has panicked")));
        }
        self.shared.failed().map_or(Ok(()), Err)
    }
}

/// The lane of a call.
fn way(call: &Call) -> Way {
    match (call.kind, call.peer) {
        (Kind::Send, Some(peer)) => Way::Send(peer),
        (Kind::Recv, Some(peer)) => Way::Recv(peer),
        _ => Way::Collective,
    }
}

/// The part of the root that a broadcast copies on the device.
fn own_part(call: &Call, place: Place) -> Option<Own> {
    let is_root = call.kind == Kind::Broadcast && call.peer.is_some_and(|peer| peer as usize == place.rank);
    let bytes = call.elements.count * call.elements.bytes;
    (is_root && call.send != call.recv && bytes > 0).then_some(Own { from: call.send, to: call.recv, bytes })
}
