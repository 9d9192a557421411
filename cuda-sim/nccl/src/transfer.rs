//! Transfers through the rings: sends, receives and reductions that make progress piece by piece, each as far as its peers
//! allow, so that one thread runs all transfers of an operation at once.
//!
//! # Safety
//!
//! A transfer's addresses are device memory of the process, or slots. Their ranges were checked when the call was enqueued,
//! and by the header's contract the client keeps them until the operation has run. Slots are written and read only between
//! the calls of the ring that hand them over.

use crate::element::{DataType, Operator, Scale, reduce, scale};
use crate::failure::{Failure, Result};
use crate::segment::{SLOTS, Segment};
use std::sync::atomic::Ordering;

/// The ring for contributions and messages, and that for results.
pub(crate) const DATA: usize = 0;
pub(crate) const RESULT: usize = 1;

/// A set of ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranks(pub(crate) u128);

impl Ranks {
    pub(crate) fn insert(&mut self, rank: usize) {
        self.0 |= 1 << rank;
    }

    pub(crate) fn contains(self, rank: usize) -> bool {
        self.0 >> rank & 1 != 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..128).filter(move |rank| self.contains(*rank))
    }
}

/// Bytes that go to a peer.
pub(crate) struct Send {
    pub(crate) peer: usize,
    pub(crate) lane: usize,
    pub(crate) from: usize,
    pub(crate) bytes: usize,
    pub(crate) count: usize,
    pub(crate) kind: DataType,
    pub(crate) factor: Option<Scale>,
}

/// Bytes that come from a peer.
pub(crate) struct Receive {
    pub(crate) peer: usize,
    pub(crate) lane: usize,
    pub(crate) to: usize,
    pub(crate) bytes: usize,
    pub(crate) count: usize,
    pub(crate) kind: DataType,
}

/// A part of all ranks' data that this rank reduces.
pub(crate) struct Reduce {
    /// The rank's own contribution.
    pub(crate) own: usize,
    pub(crate) to: usize,
    pub(crate) count: usize,
    pub(crate) kind: DataType,
    pub(crate) operator: Operator,
    /// True if the results go to all peers.
    pub(crate) spreads: bool,
}

enum Work {
    Send(Send),
    Receive(Receive),
    Reduce(Reduce),
}

/// A transfer, and the bytes that are done.
pub(crate) struct Transfer {
    work: Work,
    done: usize,
    /// True once a message without bytes was passed on.
    ended: bool,
}

impl From<Send> for Transfer {
    fn from(work: Send) -> Transfer {
        Transfer { work: Work::Send(work), done: 0, ended: false }
    }
}

impl From<Receive> for Transfer {
    fn from(work: Receive) -> Transfer {
        Transfer { work: Work::Receive(work), done: 0, ended: false }
    }
}

impl From<Reduce> for Transfer {
    fn from(work: Reduce) -> Transfer {
        let ended = work.count == 0;
        Transfer { work: Work::Reduce(work), done: 0, ended }
    }
}

/// Copies bytes between memory that the transfers may access.
pub(crate) fn copy(from: usize, to: usize, bytes: usize) {
    // SAFETY: both ranges are device memory that was checked, or slots; they may be the same.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
}

/// Multiplies contributions by a rank's factor.
pub(crate) fn scaled(kind: DataType, factor: Scale, from: usize, to: usize, count: usize) {
    // SAFETY: both ranges are device memory that was checked, or slots, of as many elements, and so is a factor on the
    // device.
    unsafe { scale(kind, factor, from as *const u8, to as *mut u8, count) };
}

impl Transfer {
    pub(crate) fn is_done(&self) -> bool {
        self.ended
    }

    /// Returns the ring on which it must keep its turn after earlier transfers.
    pub(crate) fn channel(&self) -> Option<(bool, usize, usize)> {
        match &self.work {
            Work::Send(send) => Some((true, send.peer, send.lane)),
            Work::Receive(receive) => Some((false, receive.peer, receive.lane)),
            Work::Reduce(_) => None,
        }
    }

    /// Adds the peers that it waits for.
    pub(crate) fn awaited(&self, segment: &Segment, ranks: &mut Ranks) {
        if self.ended {
            return;
        }
        match &self.work {
            Work::Send(send) => ranks.insert(send.peer),
            Work::Receive(receive) => ranks.insert(receive.peer),
            Work::Reduce(work) => {
                let own = segment.rank;
                for peer in segment.peers() {
                    let lacks = segment.ring(peer, own, DATA).readable(SLOTS).is_none();
                    let full = work.spreads && segment.ring(own, peer, RESULT).writable(SLOTS).is_none();
                    if lacks || full {
                        ranks.insert(peer);
                    }
                }
            }
        }
    }

    /// Moves as many pieces as the rings allow. Returns true if there was one.
    pub(crate) fn advance(&mut self, segment: &Segment) -> Result<bool> {
        let mut moved = false;
        while !self.ended {
            let next = match &self.work {
                Work::Send(send) => send.piece(segment, self.done),
                Work::Receive(receive) => receive.piece(segment, self.done)?,
                Work::Reduce(work) => work.piece(segment, self.done),
            };
            let Some(bytes) = next else { break };
            self.done += bytes;
            moved = true;
            let all = match &self.work {
                Work::Send(send) => send.bytes,
                Work::Receive(receive) => receive.bytes,
                Work::Reduce(work) => work.count * work.kind.size(),
            };
            self.ended = self.done >= all;
        }
        Ok(moved)
    }
}

impl Send {
    fn piece(&self, segment: &Segment, done: usize) -> Option<usize> {
        let (own, peer, lane) = (segment.rank, self.peer, self.lane);
        let ring = segment.ring(own, peer, lane);
        let slot = ring.writable(SLOTS)?;
        let bytes = segment.slot_bytes().min(self.bytes - done);
        let place = segment.slot(own, peer, lane, slot).expose_provenance();
        match self.factor {
            Some(factor) => scaled(self.kind, factor, self.from + done, place, bytes / self.kind.size()),
            None => copy(self.from + done, place, bytes),
        }
        let tag = segment.tag(own, peer, lane, slot);
        tag.bytes.store(bytes as u64, Ordering::Relaxed);
        tag.count.store(self.count as u64, Ordering::Relaxed);
        tag.kind.store(self.kind.raw(), Ordering::Relaxed);
        ring.publish();
        segment.sent.fetch_add(bytes as u64, Ordering::Relaxed);
        segment.rank(peer).doorbell.ring();
        Some(bytes)
    }
}

impl Receive {
    fn piece(&self, segment: &Segment, done: usize) -> Result<Option<usize>> {
        let (own, peer, lane) = (segment.rank, self.peer, self.lane);
        let ring = segment.ring(peer, own, lane);
        let Some(slot) = ring.readable(SLOTS) else { return Ok(None) };
        let tag = segment.tag(peer, own, lane, slot);
        let (count, kind) = (tag.count.load(Ordering::Relaxed), tag.kind.load(Ordering::Relaxed));
        if count != self.count as u64 || kind != self.kind.raw() {
            let sent = DataType::of(kind as i32).map_or("an unknown type", DataType::name);
            return Err(Failure::usage(format!(
                "a send and the receive that meets it differ\n  rank {peer}: ncclSend, count {count}, {sent}, to rank \
                 {own}\n  rank {own}: ncclRecv, count {}, {}, from rank {peer}",
                self.count,
                self.kind.name()
            )));
        }
        let bytes = (tag.bytes.load(Ordering::Relaxed) as usize).min(self.bytes - done);
        copy(segment.slot(peer, own, lane, slot).expose_provenance(), self.to + done, bytes);
        ring.release();
        segment.rank(peer).doorbell.ring();
        Ok(Some(bytes))
    }
}

impl Reduce {
    fn piece(&self, segment: &Segment, done: usize) -> Option<usize> {
        let own = segment.rank;
        let bytes = segment.slot_bytes().min(self.count * self.kind.size() - done);
        let mut from = Vec::with_capacity(segment.ranks());
        let mut results = Vec::with_capacity(segment.ranks());
        // The own contribution of a scaled sum is multiplied where the result will be.
        let to = self.to + done;
        for rank in 0..segment.ranks() {
            if rank == own {
                from.push((self.own + done) as *const u8);
                continue;
            }
            let slot = segment.ring(rank, own, DATA).readable(SLOTS)?;
            from.push(segment.slot(rank, own, DATA, slot).cast_const());
            if self.spreads {
                let slot = segment.ring(own, rank, RESULT).writable(SLOTS)?;
                results.push((rank, slot));
            }
        }
        let count = bytes / self.kind.size();
        if let Operator::Scaled(factor) = self.operator {
            scaled(self.kind, factor, self.own + done, to, count);
            from[own] = to as *const u8;
        }
        // SAFETY: the contributions are slots that their senders have published and device memory that was checked, and so
        // is the result's, each of as many elements.
        unsafe { reduce(self.kind, self.operator, &from, to as *mut u8, count) };
        for (rank, slot) in results {
            copy(to, segment.slot(own, rank, RESULT, slot).expose_provenance(), bytes);
            let tag = segment.tag(own, rank, RESULT, slot);
            tag.bytes.store(bytes as u64, Ordering::Relaxed);
            tag.count.store(self.count as u64, Ordering::Relaxed);
            tag.kind.store(self.kind.raw(), Ordering::Relaxed);
            segment.ring(own, rank, RESULT).publish();
            segment.sent.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        for peer in segment.peers() {
            segment.ring(peer, own, DATA).release();
            segment.rank(peer).doorbell.ring();
        }
        Some(bytes)
    }
}
