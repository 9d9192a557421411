//! Access records: the streams that access the bytes of a buffer, and the conflicts that a new access waits for.
//!
//! A record is a stream, not an event: when a conflicting access comes, an event is recorded on that stream at that
//! moment. It covers the access, and costs nothing while there is no conflict. A record is dropped only when another
//! one covers it: one on the same stream, or one that has waited for it. Invariant: every access that may still run is
//! on a stream with a record for its bytes, or ordered before one that is.
//!
//! An access has to be enqueued before the next conflicting one is prepared. The borrow of the elements ensures that:
//! it lasts from the preparation until the access is enqueued, and conflicting borrows cannot overlap. Accesses to two
//! interleaved views do not conflict, though their byte ranges overlap: one may be prepared while the other is not yet
//! enqueued, so that a wait for its stream does not cover it. Therefore only a dense access, which touches every byte
//! of its range, may cover other records.
//!
//! The trait [`Queue`] abstracts streams, so that models can replace them.

use std::ops::Range;

use smallvec::SmallVec;

use crate::buffer::queue::Queue;
use crate::error::Result;

/// The byte range of an access to a buffer.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// The bytes from the first to the last.
    pub(crate) bytes: Range<usize>,
    /// True if every byte of the range is accessed.
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

    /// Returns true if an access to this range has waited for everything that an access to `part` has to wait for.
    fn covers(&self, part: &ByteRange) -> bool {
        self.dense && self.encloses(part)
    }

    /// The range from the first byte of either to the last.
    fn hull(&self, other: &ByteRange) -> Range<usize> {
        self.bytes.start.min(other.bytes.start)..self.bytes.end.max(other.bytes.end)
    }

    /// Both as one dense range, if they are dense and have no gap between them.
    fn merged(&self, other: &ByteRange) -> Option<Self> {
        let touch = self.bytes.start <= other.bytes.end && other.bytes.start <= self.bytes.end;
        (self.dense && other.dense && touch).then(|| ByteRange::all_of(self.hull(other)))
    }
}

/// An access of a stream to bytes of the buffer.
struct AccessRecord<Q> {
    /// The stream's number.
    id: u64,
    stream: Q,
    range: ByteRange,
    writes: bool,
}

/// The access records of one buffer, from the earliest to the latest.
pub(crate) struct AccessList<Q>(SmallVec<[AccessRecord<Q>; 2]>);

impl<Q> Default for AccessList<Q> {
    fn default() -> Self {
        AccessList(SmallVec::new())
    }
}

/// The number of records at which those of each stream are merged.
const MAX_RECORDS: usize = 16;

impl<Q: Queue> AccessList<Q> {
    /// Orders a read on `stream` after every write that overlaps its range, and records it.
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

    /// Orders later work of `stream` after every write that overlaps `range`, without recording it.
    pub(crate) fn order_after_writes(&self, range: &ByteRange, stream: &Q) -> Result<()> {
        self.wait_for_conflicts(0, stream, |earlier| earlier.writes && earlier.range.overlaps(range))
    }

    /// Orders a write on `stream` after every earlier access that overlaps its range, and records it.
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

    /// Returns true if the only record is a write of at least these bytes on the stream: then a write of them there
    /// needs neither wait nor record.
    #[inline]
    pub(crate) fn is_sole_writer(&self, id: u64, range: &ByteRange) -> bool {
        matches!(&self.0[..], [only] if only.id == id && only.writes && only.range.encloses(range))
    }

    /// Returns true if there is one record, and it has exactly these bytes.
    #[inline]
    pub(crate) fn is_single(&self, range: &ByteRange) -> bool {
        matches!(&self.0[..], [only] if only.range == *range)
    }

    /// Orders a write on `stream` after the only recorded access, of the same bytes, and replaces its record. Same
    /// effect as [`write`](AccessList::write), for memory that moves from stream to stream.
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

    /// The latest streams with a record that covers all of `range` since the last write of any part of it: reads there
    /// need neither wait nor record. 0 means none.
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

    /// Orders later work of `stream` after every access.
    pub(crate) fn order_after_all(&self, stream: &Q) -> Result<()> {
        self.wait_for_conflicts(0, stream, |_| true)
    }

    /// Makes the host wait for every write that overlaps `range`. The records stay: an interleaved access may have been
    /// prepared and not yet enqueued.
    pub(crate) fn wait_for_writes(&self, range: &ByteRange) -> Result<Vec<Q::Waited>> {
        let writes = self.0.iter().filter(|earlier| earlier.writes && earlier.range.overlaps(range));
        writes.map(|write| write.stream.finish()).collect()
    }

    /// Makes the host wait for every access.
    pub(crate) fn wait_on_host(&self) -> Result<Vec<Q::Waited>> {
        self.0.iter().map(|earlier| earlier.stream.finish()).collect()
    }

    /// Makes the host wait for every write. Each record becomes a read, which stands for the later reads of its stream.
    /// No other thread prepares an access meanwhile.
    pub(crate) fn finish_writes(&mut self) -> Result<Vec<Q::Waited>> {
        let mut waited = Vec::new();
        for write in self.0.iter_mut().filter(|earlier| earlier.writes) {
            waited.push(write.stream.finish()?);
            write.writes = false;
        }
        Ok(waited)
    }

    /// Makes the host wait for every access, and clears the records. No other thread prepares an access meanwhile.
    pub(crate) fn finish(&mut self) -> Result<Vec<Q::Waited>> {
        let waited = self.wait_on_host()?;
        self.0.clear();
        Ok(waited)
    }

    /// Removes the records of a stream, whose accesses have finished. No other thread prepares an access meanwhile.
    pub(crate) fn forget(&mut self, id: u64) {
        self.0.retain(|earlier| earlier.id != id);
    }

    /// The stream on which a final access needs the fewest waits: that of the latest record.
    pub(crate) fn last_stream(&self) -> Option<&Q> {
        self.0.last().map(|last| &last.stream)
    }

    /// Makes `stream` wait for the conflicting records from `since` on: once for each other stream.
    fn wait_for_conflicts(&self, since: usize, stream: &Q, conflicts: impl Fn(&AccessRecord<Q>) -> bool) -> Result<()> {
        let (id, records) = (stream.number(), &self.0[since..]);
        for (at, earlier) in records.iter().enumerate() {
            let waited = |other: &AccessRecord<Q>| other.id == earlier.id && conflicts(other);
            if earlier.id != id && conflicts(earlier) && !records[..at].iter().any(waited) {
                stream.wait_for(&earlier.stream)?;
            }
        }
        Ok(())
    }

    /// Adds the record of an access that has waited for its conflicts.
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

    /// Merges the records into one read and one write per stream. Each takes the position of the latest one, so that no
    /// record in between covers it.
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
