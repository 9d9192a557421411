//! [`Pieces`]: an operation divided into pieces that fit into a slot, the same on all ranks. Nothing is called here.

use std::ops::Range;

use cuda_sys::nccl::{ncclDataType_t, ncclRedOp_t};

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
/// Averages are divided on the host, and floats of 16 bits are reduced there, so that these pass through slots.
fn is_direct(call: &Call) -> bool {
    let bytes = call.elements.count.checked_mul(call.elements.bytes);
    let has_count = bytes.is_some_and(|bytes| i32::try_from(bytes).is_ok());
    let reduces = matches!(call.kind, Kind::AllReduce | Kind::Reduce | Kind::ReduceScatter);
    let on_host = call.op == ncclRedOp_t::ncclAvg
        || matches!(call.elements.data, ncclDataType_t::ncclFloat16 | ncclDataType_t::ncclBfloat16);
    has_count && !(reduces && on_host)
}

/// The parts that this rank gives and gets, each of as many elements as the call has; `None` where it has none.
fn parts(call: &Call, place: Place) -> (Option<usize>, Option<usize>) {
    let root = call.peer.is_some_and(|peer| peer as usize == place.rank);
    let (all, one) = (place.size, 1);
    match call.kind {
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
    }
}

/// Returns the address and the bytes of what this rank gives, if it lies where its result will be. MPI's name for operations in place
/// is not portable, so such an operand is copied aside.
pub(super) fn in_place(call: &Call, place: Place) -> Option<(u64, usize)> {
    let (Some(gives), Some(gets)) = parts(call, place) else { return None };
    let part = call.elements.count * call.elements.bytes;
    let end = |start: u64, parts: usize| start + (parts * part) as u64;
    (call.send < end(call.recv, gets) && call.recv < end(call.send, gives)).then_some((call.send, gives * part))
}

impl Pieces {
    /// The division of a call; `aware` is true if MPI can access the device's memory.
    pub(super) fn of(call: &Call, place: Place, aware: bool) -> Pieces {
        if aware && is_direct(call) {
            let Elements { count, bytes, .. } = call.elements;
            return Pieces { count, bytes, each: count.max(1), source: None, result: None, direct: true };
        }
        let (source, result) = parts(call, place);
        let divided =
            matches!(call.kind, Kind::AllGather | Kind::ReduceScatter | Kind::AllToAll | Kind::Gather | Kind::Scatter);
        let bytes = call.elements.bytes.max(1);
        let each = slot_bytes(place.size) / bytes / if divided { place.size } else { 1 };
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
    fn an_mpi_that_knows_the_device_gets_operations_whole() {
        let pieces = |kind, count, data, op| {
            let elements = Elements { count, data, bytes: 4 };
            let call = Call { kind, send: 1000, recv: 9000, elements, op, peer: Some(1) };
            Pieces::of(&call, Place { rank: 0, size: 2 }, true)
        };
        let of_floats = |kind, count| pieces(kind, count, ncclDataType_t::ncclFloat32, ncclRedOp_t::ncclSum);
        for kind in Kind::ALL {
            let whole = of_floats(kind, SLOT);
            assert!(whole.is_direct() && whole.len() == 1 && whole.elements(0) == (0..SLOT), "{kind:?}");
            assert!(whole.source(0).is_none() && whole.result(0).is_none() && of_floats(kind, 0).len() == 0);
            assert!(!of_floats(kind, 1 << 29).is_direct(), "MPI's counts end below 2^31 bytes");
        }
        for kind in [Kind::AllReduce, Kind::Reduce, Kind::ReduceScatter] {
            assert!(!pieces(kind, 10, ncclDataType_t::ncclFloat32, ncclRedOp_t::ncclAvg).is_direct(), "{kind:?}");
            assert!(!pieces(kind, 10, ncclDataType_t::ncclBfloat16, ncclRedOp_t::ncclMax).is_direct(), "{kind:?}");
        }
        assert!(pieces(Kind::AllGather, 10, ncclDataType_t::ncclFloat16, ncclRedOp_t::ncclSum).is_direct());
    }

    #[test]
    fn what_lies_where_the_result_will_be_is_in_place() {
        let elements = Elements { count: 10, data: ncclDataType_t::ncclFloat32, bytes: 4 };
        let found = |kind, send, recv, rank| {
            let call = Call { kind, send, recv, elements, op: ncclRedOp_t::ncclSum, peer: Some(1) };
            in_place(&call, Place { rank, size: 3 })
        };
        assert_eq!(found(Kind::AllReduce, 1000, 1000, 0), Some((1000, 40)));
        assert_eq!(found(Kind::AllReduce, 1000, 1040, 0), None);
        assert_eq!(found(Kind::AllReduce, 1040, 1000, 0), None);
        // The part of rank 2 of what is gathered, and of what is scattered by the root, rank 1.
        assert_eq!(found(Kind::AllGather, 1080, 1000, 2), Some((1080, 40)));
        assert_eq!(found(Kind::AllGather, 1120, 1000, 2), None);
        assert_eq!(found(Kind::ReduceScatter, 1000, 1080, 2), Some((1000, 120)));
        assert_eq!(found(Kind::Scatter, 1000, 1040, 1), Some((1000, 120)));
        assert_eq!(found(Kind::Scatter, 1000, 1040, 2), None, "it gives nothing");
        assert_eq!(found(Kind::Reduce, 1000, 1000, 0), None, "it gets nothing");
        assert_eq!(found(Kind::Broadcast, 1000, 1000, 1), None);
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
