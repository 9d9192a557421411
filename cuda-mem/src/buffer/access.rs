//! Use records: which streams use which bytes of a buffer, and which of them a new use has to wait for.
//!
//! A record is a stream, not an event: when a conflicting use comes, an event is recorded on that stream there and then,
//! which covers the use and costs nothing while there is no conflict. A record goes only when another stands for it: one on
//! the same stream, or one that has waited for it. Invariant: every use of the memory that may still run is in a stream that
//! stands here for its bytes, or ordered before one that does.
//!
//! A use has to be enqueued before the next conflicting one is prepared. The borrow of the elements sees to that: it lasts
//! from the preparation until the use is enqueued, and conflicting ones cannot overlap. Uses of two parts that lie
//! interleaved do not conflict, though their bytes do, from the first to the last: one may be prepared while the other is
//! not yet enqueued, so that waiting for its stream says nothing of it. Therefore only a dense use, which has every byte of
//! its reach, may stand for others or vouch that they have been waited for.
//!
//! What a stream is, [`Queue`] says, so that models put their own in its place.

use std::ops::Range;

use smallvec::SmallVec;

use crate::buffer::queue::Queue;
use crate::error::Result;

/// The bytes of a buffer that a use reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// From the first to the last.
    pub(crate) bytes: Range<usize>,
    /// True if all of them are used, and not only some.
    pub(crate) dense: bool,
}

impl ByteRange {
    pub(crate) fn all_of(bytes: Range<usize>) -> Self {
        ByteRange { bytes, dense: true }
    }

    pub(crate) fn overlaps(&self, other: &ByteRange) -> bool {
        self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }

    fn encloses(&self, part: &ByteRange) -> bool {
        self.bytes.start <= part.bytes.start && part.bytes.end <= self.bytes.end
    }

    /// Returns true if a use of this reach has waited for whatever a use of that part has to wait for.
    fn covers(&self, part: &ByteRange) -> bool {
        self.dense && self.encloses(part)
    }

    /// From the first byte of either to the last.
    fn hull(&self, other: &ByteRange) -> Range<usize> {
        self.bytes.start.min(other.bytes.start)..self.bytes.end.max(other.bytes.end)
    }

    /// The two as one dense reach, if they are dense and leave no gap.
    fn merged(&self, other: &ByteRange) -> Option<Self> {
        let touch = self.bytes.start <= other.bytes.end && other.bytes.start <= self.bytes.end;
        (self.dense && other.dense && touch).then(|| ByteRange::all_of(self.hull(other)))
    }
}

/// A stream that uses bytes of the buffer.
struct AccessRecord<Q> {
    /// The stream's number.
    id: u64,
    stream: Q,
    range: ByteRange,
    writes: bool,
}

/// The uses of one buffer, from the earliest to the latest.
pub(crate) struct AccessList<Q>(SmallVec<[AccessRecord<Q>; 2]>);

impl<Q> Default for AccessList<Q> {
    fn default() -> Self {
        AccessList(SmallVec::new())
    }
}

/// With how many records those of one stream are joined.
const MAX_RECORDS: usize = 16;

impl<Q: Queue> AccessList<Q> {
    /// Orders a read on `stream` after every write that it reaches, and records it.
    pub(crate) fn read(&mut self, range: ByteRange, stream: &Q) -> Result<()> {
        let id = stream.number();
        let covers = |earlier: &AccessRecord<Q>| earlier.id == id && earlier.range.covers(&range);
        let covered_at = self.0.iter().rposition(covers);
        let since = covered_at.map_or(0, |at| at + 1);
        let conflicts = |earlier: &AccessRecord<Q>| earlier.writes && earlier.range.overlaps(&range);
        self.wait_for_conflicts(since, stream, conflicts)?;
        if covered_at.is_some() && !self.0[since..].iter().any(conflicts) {
            return Ok(());
        }
        self.0.retain(|earlier| earlier.id != id || earlier.writes || !range.encloses(&earlier.range));
        self.record(AccessRecord { id, stream: stream.clone(), range, writes: false });
        Ok(())
    }

    /// Orders what comes on `stream` after every write of some of `range`, without recording it.
    pub(crate) fn order_after_writes(&self, range: &ByteRange, stream: &Q) -> Result<()> {
        self.wait_for_conflicts(0, stream, |earlier| earlier.writes && earlier.range.overlaps(range))
    }

    /// Orders a write on `stream` after every earlier use that it reaches, and records it.
    pub(crate) fn write(&mut self, range: ByteRange, stream: &Q) -> Result<()> {
        let id = stream.number();
        if self.is_sole_writer(id, &range) {
            return Ok(());
        }
        let covers = |earlier: &AccessRecord<Q>| earlier.id == id && earlier.writes && earlier.range.covers(&range);
        let since = self.0.iter().rposition(covers).map_or(0, |at| at + 1);
        self.wait_for_conflicts(since, stream, |earlier| earlier.range.overlaps(&range))?;
        self.0.retain(|earlier| !(range.encloses(&earlier.range) && (range.dense || earlier.id == id)));
        self.record(AccessRecord { id, stream: stream.clone(), range, writes: true });
        Ok(())
    }

    /// Returns true if nothing but a write of at least these bytes on the stream is recorded: a write of them there
    /// needs nothing.
    #[inline]
    pub(crate) fn is_sole_writer(&self, id: u64, range: &ByteRange) -> bool {
        matches!(&self.0[..], [only] if only.id == id && only.writes && only.range.encloses(range))
    }

    /// Returns true if nothing but one use is recorded, and that of exactly these bytes.
    #[inline]
    pub(crate) fn is_single(&self, range: &ByteRange) -> bool {
        matches!(&self.0[..], [only] if only.range == *range)
    }

    /// Orders a write on `stream` after the only use, of the same bytes, and records it in its place: what [`write`](AccessList::write)
    /// does, for memory that goes from stream to stream.
    #[inline]
    pub(crate) fn replace_only(&mut self, stream: &Q) -> Result<()> {
        let [only] = &mut self.0[..] else { unreachable!("there is one") };
        let id = stream.number();
        if only.id != id {
            stream.wait_for(&only.stream)?;
            (only.id, only.stream) = (id, stream.clone());
        }
        only.writes = true;
        Ok(())
    }

    /// The latest streams that vouch for all of `range` since the last write of any: reads of them need nothing there. 0 stands
    /// for none.
    pub(crate) fn synced_streams(&self, range: &ByteRange) -> [u64; 2] {
        let mut synced_streams = [0; 2];
        for earlier in self.0.iter().rev() {
            if synced_streams[0] != earlier.id && earlier.range.covers(range) {
                if synced_streams[0] != 0 {
                    synced_streams[1] = earlier.id;
                    break;
                }
                synced_streams[0] = earlier.id;
            }
            if earlier.writes {
                break;
            }
        }
        synced_streams
    }

    /// Orders what comes on `stream` after every use.
    pub(crate) fn order_after_all(&self, stream: &Q) -> Result<()> {
        self.wait_for_conflicts(0, stream, |_| true)
    }

    /// Makes the host wait for every write that `range` overlaps. The records stay: a part that lies between may have been
    /// prepared and not yet enqueued.
    pub(crate) fn wait_for_writes(&self, range: &ByteRange) -> Result<Vec<Q::Waited>> {
        let writes = self.0.iter().filter(|earlier| earlier.writes && earlier.range.overlaps(range));
        writes.map(|write| write.stream.finish()).collect()
    }

    /// Makes the host wait for every use.
    pub(crate) fn wait_on_host(&self) -> Result<Vec<Q::Waited>> {
        self.0.iter().map(|earlier| earlier.stream.finish()).collect()
    }

    /// Makes the host wait for every write. Each is over then; its record stands on for the later reads of its stream. Nobody
    /// else prepares one meanwhile.
    pub(crate) fn finish_writes(&mut self) -> Result<Vec<Q::Waited>> {
        let mut waited = Vec::new();
        for write in self.0.iter_mut().filter(|earlier| earlier.writes) {
            waited.push(write.stream.finish()?);
            write.writes = false;
        }
        Ok(waited)
    }

    /// Makes the host wait for every use, of which none is left. Nobody else prepares one meanwhile.
    pub(crate) fn finish(&mut self) -> Result<Vec<Q::Waited>> {
        let waited = self.wait_on_host()?;
        self.0.clear();
        Ok(waited)
    }

    /// Forgets the uses on a stream, which are over. Nobody else prepares one meanwhile.
    pub(crate) fn forget(&mut self, id: u64) {
        self.0.retain(|earlier| earlier.id != id);
    }

    /// The stream in which a last use costs the fewest waits: the latest user.
    pub(crate) fn last_stream(&self) -> Option<&Q> {
        self.0.last().map(|last| &last.stream)
    }

    /// Makes `stream` wait for the uses from `since` on that conflict: once for each other stream.
    fn wait_for_conflicts(&self, since: usize, stream: &Q, conflicts: impl Fn(&AccessRecord<Q>) -> bool) -> Result<()> {
        let (id, uses) = (stream.number(), &self.0[since..]);
        for (at, earlier) in uses.iter().enumerate() {
            let waited = |other: &AccessRecord<Q>| other.id == earlier.id && conflicts(other);
            if earlier.id != id && conflicts(earlier) && !uses[..at].iter().any(waited) {
                stream.wait_for(&earlier.stream)?;
            }
        }
        Ok(())
    }

    /// Adds a use that has waited for what it conflicts with.
    fn record(&mut self, new: AccessRecord<Q>) {
        if let Some(last) = self.0.last_mut().filter(|last| last.id == new.id && last.writes == new.writes)
            && let Some(merged) = last.range.merged(&new.range)
        {
            last.range = merged;
            return;
        }
        if self.0.len() >= MAX_RECORDS {
            self.merge_by_stream();
        }
        self.0.push(new);
    }

    /// Leaves one read and one write of each stream, which stand for the others of the same stream. Each has the place of the
    /// latest, so that no use in between vouches that it has been waited for.
    fn merge_by_stream(&mut self) {
        let mut latest_first: SmallVec<[AccessRecord<Q>; 2]> = SmallVec::new();
        for earlier in self.0.drain(..).rev() {
            match latest_first.iter_mut().find(|later| later.id == earlier.id && later.writes == earlier.writes) {
                Some(later) => later.range = ByteRange { bytes: later.range.hull(&earlier.range), dense: false },
                None => latest_first.push(earlier),
            }
        }
        latest_first.reverse();
        self.0 = latest_first;
    }
}
