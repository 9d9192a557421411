//! [`Pieces`]: an operation divided into pieces that fit into a slot, the same on all ranks. Nothing is called here.

use std::ops::Range;

use crate::call::{Call, Elements, Kind, Place};

/// The bytes of a slot, in each direction. Both ends of a message divide it alike, so that this is part of the protocol.
pub(super) const SLOT: usize = 1 << 20;

/// Slots of a lane: while MPI moves one piece, the device fills the next ones and empties those before.
pub(super) const DEPTH: usize = 4;

/// Rows of the device's memory that a piece copies from or to, one behind the other in the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    /// The device's address of the first row.
    pub(super) at: u64,
    /// The bytes of a row.
    pub(super) width: usize,
    pub(super) rows: usize,
    /// The bytes from a row to the next.
    pub(super) pitch: usize,
}

/// An operation's division into pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    /// The elements of a rank's part.
    count: usize,
    /// The bytes of an element.
    bytes: usize,
    /// The elements of each piece but the last.
    each: usize,
    /// The parts' address and number from which a piece is copied to the host; `None` where this rank gives nothing.
    source: Option<(u64, usize)>,
    /// The same for what is copied to the device.
    result: Option<(u64, usize)>,
    /// True if MPI accesses the device's memory itself, all at once.
    direct: bool,
}

/// The bytes of a slot that has room for an element of each rank.
pub(super) fn slot_bytes(size: usize) -> usize {
    SLOT.max(8 * size).next_multiple_of(64)
}

/// True if an MPI that knows the device's memory may access that of a call. All ranks decide alike.
///
/// Such libraries copy the operands of reductions to the host themselves, and MPI has no portable name for operations in place, so
/// that these pass through slots.
fn is_direct(call: &Call) -> bool {
    let bytes = call.elements.count.checked_mul(call.elements.bytes);
    let has_count = bytes.is_some_and(|bytes| i32::try_from(bytes).is_ok());
    has_count && matches!(call.kind, Kind::Send | Kind::Recv | Kind::Broadcast | Kind::AllToAll)
}

impl Pieces {
    /// The division of a call; `aware` is true if MPI can access the device's memory.
    pub(super) fn of(call: &Call, place: Place, aware: bool) -> Pieces {
        if aware && is_direct(call) {
            let Elements { count, bytes, .. } = call.elements;
            return Pieces { count, bytes, each: count.max(1), source: None, result: None, direct: true };
        }
        let root = call.peer.is_some_and(|peer| peer as usize == place.rank);
        let (all, one) = (place.size, 1);
        let (source, result) = match call.kind {
            Kind::AllReduce => (Some(one), Some(one)),
            Kind::Reduce => (Some(one), root.then_some(one)),
            Kind::Broadcast => (root.then_some(one), (!root).then_some(one)),
            Kind::AllGather => (Some(one), Some(all)),
            Kind::ReduceScatter => (Some(all), Some(one)),
            Kind::AllToAll => (Some(all), Some(all)),
            Kind::Gather => (Some(one), root.then_some(all)),
            Kind::Scatter => (root.then_some(all), Some(one)),
            Kind::Send => (Some(one), None),
            Kind::Recv => (None, Some(one)),
        };
        let divided =
            matches!(call.kind, Kind::AllGather | Kind::ReduceScatter | Kind::AllToAll | Kind::Gather | Kind::Scatter);
        let bytes = call.elements.bytes.max(1);
        let each = slot_bytes(place.size) / bytes / if divided { all } else { one };
        Pieces {
            count: call.elements.count,
            bytes,
            each: each.max(1),
            source: source.map(|rows| (call.send, rows)),
            result: result.map(|rows| (call.recv, rows)),
            direct: false,
        }
    }

    /// True if MPI accesses the device's memory itself.
    pub(super) fn is_direct(&self) -> bool {
        self.direct
    }

    /// The number of pieces.
    pub(super) fn len(&self) -> usize {
        self.count.div_ceil(self.each)
    }

    /// The elements of a rank's part that belong to a piece.
    pub(super) fn elements(&self, piece: usize) -> Range<usize> {
        piece * self.each..self.count.min((piece + 1) * self.each)
    }

    fn rows(&self, (at, rows): (u64, usize), piece: usize) -> Rows {
        let elements = self.elements(piece);
        let at = at + (elements.start * self.bytes) as u64;
        Rows { at, width: elements.len() * self.bytes, rows, pitch: self.count * self.bytes }
    }

    /// The device's memory that a piece is copied from.
    pub(super) fn source(&self, piece: usize) -> Option<Rows> {
        self.source.map(|parts| self.rows(parts, piece))
    }

    /// The device's memory that a piece's result is copied to.
    pub(super) fn result(&self, piece: usize) -> Option<Rows> {
        self.result.map(|parts| self.rows(parts, piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_sys::nccl::{ncclDataType_t, ncclRedOp_t};

    fn pieces(kind: Kind, count: usize, rank: usize, size: usize) -> Pieces {
        let elements = Elements { count, data: ncclDataType_t::ncclFloat32, bytes: 4 };
        let call = Call { kind, send: 1000, recv: 9000, elements, op: ncclRedOp_t::ncclSum, peer: Some(1) };
        Pieces::of(&call, Place { rank, size }, false)
    }

    #[test]
    fn the_pieces_cover_a_part_once_and_are_the_same_on_all_ranks() {
        for kind in [Kind::AllReduce, Kind::AllToAll, Kind::Gather, Kind::Scatter, Kind::Send, Kind::Broadcast] {
            for (count, size) in [(0, 2), (1, 3), (SLOT / 4, 2), (SLOT / 4 + 1, 4), (1_000_003, 1024)] {
                let own = pieces(kind, count, 0, size);
                let root = pieces(kind, count, 1, size);
                let mut end = 0;
                for piece in 0..own.len() {
                    assert_eq!(own.elements(piece), root.elements(piece));
                    assert_eq!(own.elements(piece).start, end, "{kind:?} {count} {size}");
                    end = own.elements(piece).end;
                    for rows in [root.source(piece), root.result(piece)].into_iter().flatten() {
                        assert!(rows.rows * rows.width <= slot_bytes(size) && rows.width > 0);
                    }
                }
                assert_eq!(end, count);
            }
        }
    }

    #[test]
    fn an_mpi_that_knows_the_device_gets_messages_whole_and_reductions_in_pieces() {
        let pieces = |kind, count| {
            let elements = Elements { count, data: ncclDataType_t::ncclFloat32, bytes: 4 };
            let call = Call { kind, send: 1000, recv: 9000, elements, op: ncclRedOp_t::ncclSum, peer: Some(1) };
            Pieces::of(&call, Place { rank: 0, size: 2 }, true)
        };
        for kind in [Kind::Send, Kind::Recv, Kind::Broadcast, Kind::AllToAll] {
            let whole = pieces(kind, SLOT);
            assert!(whole.is_direct() && whole.len() == 1 && whole.elements(0) == (0..SLOT), "{kind:?}");
            assert!(whole.source(0).is_none() && whole.result(0).is_none() && pieces(kind, 0).len() == 0);
            assert!(!pieces(kind, 1 << 29).is_direct(), "MPI's counts end below 2^31 bytes");
        }
        for kind in [Kind::AllReduce, Kind::Reduce, Kind::ReduceScatter, Kind::AllGather, Kind::Gather, Kind::Scatter] {
            assert!(!pieces(kind, 10).is_direct(), "{kind:?}");
        }
    }

    #[test]
    fn the_root_alone_copies_what_it_gives_or_gets() {
        let (other, root) = (pieces(Kind::Scatter, 10, 0, 3), pieces(Kind::Scatter, 10, 1, 3));
        assert_eq!(other.source(0), None);
        assert_eq!(root.source(0), Some(Rows { at: 1000, width: 40, rows: 3, pitch: 40 }));
        assert_eq!(root.result(0), Some(Rows { at: 9000, width: 40, rows: 1, pitch: 40 }));
        let second = pieces(Kind::AllGather, SLOT, 0, 2).result(1).unwrap();
        assert_eq!((second.at, second.rows, second.pitch), (9000 + SLOT as u64 / 2, 2, 4 * SLOT));
    }
}
