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
pub struct Reach {
    /// From the first to the last.
    pub(crate) bytes: Range<usize>,
    /// Whether all of them are used, and not only some.
    pub(crate) dense: bool,
}

impl Reach {
    pub(crate) fn all_of(bytes: Range<usize>) -> Self {
        Reach { bytes, dense: true }
    }

    pub(crate) fn overlaps(&self, other: &Reach) -> bool {
        self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }

    fn covers(&self, part: &Reach) -> bool {
        self.bytes.start <= part.bytes.start && part.bytes.end <= self.bytes.end
    }

    /// Whether a use of this reach has waited for whatever a use of that part has to wait for.
    fn vouches_for(&self, part: &Reach) -> bool {
        self.dense && self.covers(part)
    }

    /// From the first byte of either to the last.
    fn hull(&self, other: &Reach) -> Range<usize> {
        self.bytes.start.min(other.bytes.start)..self.bytes.end.max(other.bytes.end)
    }

    /// The two as one dense reach, if they are dense and leave no gap.
    fn joined(&self, other: &Reach) -> Option<Self> {
        let touch = self.bytes.start <= other.bytes.end && other.bytes.start <= self.bytes.end;
        (self.dense && other.dense && touch).then(|| Reach::all_of(self.hull(other)))
    }
}

/// A stream that uses bytes of the buffer.
struct Use<Q> {
    /// The stream's number.
    id: u64,
    stream: Q,
    reach: Reach,
    writes: bool,
}

/// The uses of one buffer, from the earliest to the latest.
pub(crate) struct Uses<Q>(SmallVec<[Use<Q>; 2]>);

impl<Q> Default for Uses<Q> {
    fn default() -> Self {
        Uses(SmallVec::new())
    }
}

/// With how many records those of one stream are joined.
const MANY: usize = 16;

impl<Q: Queue> Uses<Q> {
    /// Orders a read on `stream` after every write that it reaches, and records it.
    pub(crate) fn read(&mut self, reach: Reach, stream: &Q) -> Result<()> {
        let id = stream.number();
        let vouches = |earlier: &Use<Q>| earlier.id == id && earlier.reach.vouches_for(&reach);
        let vouched = self.0.iter().rposition(vouches);
        let since = vouched.map_or(0, |at| at + 1);
        let conflicts = |earlier: &Use<Q>| earlier.writes && earlier.reach.overlaps(&reach);
        self.before(since, stream, conflicts)?;
        if vouched.is_some() && !self.0[since..].iter().any(conflicts) {
            return Ok(());
        }
        self.0.retain(|earlier| earlier.id != id || earlier.writes || !reach.covers(&earlier.reach));
        self.record(Use { id, stream: stream.clone(), reach, writes: false });
        Ok(())
    }

    /// Orders what comes on `stream` after every write of some of `reach`, without recording it.
    pub(crate) fn writes_before(&self, reach: &Reach, stream: &Q) -> Result<()> {
        self.before(0, stream, |earlier| earlier.writes && earlier.reach.overlaps(reach))
    }

    /// Orders a write on `stream` after every earlier use that it reaches, and records it.
    pub(crate) fn write(&mut self, reach: Reach, stream: &Q) -> Result<()> {
        let id = stream.number();
        if self.are_only_of(id, &reach) {
            return Ok(());
        }
        let vouches = |earlier: &Use<Q>| earlier.id == id && earlier.writes && earlier.reach.vouches_for(&reach);
        let since = self.0.iter().rposition(vouches).map_or(0, |at| at + 1);
        self.before(since, stream, |earlier| earlier.reach.overlaps(&reach))?;
        self.0.retain(|earlier| !(reach.covers(&earlier.reach) && (reach.dense || earlier.id == id)));
        self.record(Use { id, stream: stream.clone(), reach, writes: true });
        Ok(())
    }

    /// Whether nothing but a write of at least these bytes on the stream is recorded: a write of them there needs nothing.
    #[inline]
    pub(crate) fn are_only_of(&self, id: u64, reach: &Reach) -> bool {
        matches!(&self.0[..], [only] if only.id == id && only.writes && only.reach.covers(reach))
    }

    /// Whether nothing but one use is recorded, and that of exactly these bytes.
    #[inline]
    pub(crate) fn is_one_of(&self, reach: &Reach) -> bool {
        matches!(&self.0[..], [only] if only.reach == *reach)
    }

    /// Orders a write on `stream` after the only use, of the same bytes, and records it in its place: what [`write`](Uses::write)
    /// does, for memory that goes from stream to stream.
    #[inline]
    pub(crate) fn follow(&mut self, stream: &Q) -> Result<()> {
        let [only] = &mut self.0[..] else { unreachable!("there is one") };
        let id = stream.number();
        if only.id != id {
            stream.wait_for(&only.stream)?;
            (only.id, only.stream) = (id, stream.clone());
        }
        only.writes = true;
        Ok(())
    }

    /// The latest streams that vouch for all of `reach` since the last write of any: reads of them need nothing there. 0 stands
    /// for none.
    pub(crate) fn settled(&self, reach: &Reach) -> [u64; 2] {
        let mut settled = [0; 2];
        for earlier in self.0.iter().rev() {
            if settled[0] != earlier.id && earlier.reach.vouches_for(reach) {
                if settled[0] != 0 {
                    settled[1] = earlier.id;
                    break;
                }
                settled[0] = earlier.id;
            }
            if earlier.writes {
                break;
            }
        }
        settled
    }

    /// Orders what comes on `stream` after every use.
    pub(crate) fn all_before(&self, stream: &Q) -> Result<()> {
        self.before(0, stream, |_| true)
    }

    /// Makes the host wait for every write that `reach` overlaps. The records stay: a part that lies between may have been
    /// prepared and not yet enqueued.
    pub(crate) fn wait_for_writes(&self, reach: &Reach) -> Result<Vec<Q::Waited>> {
        let writes = self.0.iter().filter(|earlier| earlier.writes && earlier.reach.overlaps(reach));
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
    fn before(&self, since: usize, stream: &Q, conflicts: impl Fn(&Use<Q>) -> bool) -> Result<()> {
        let (id, uses) = (stream.number(), &self.0[since..]);
        for (at, earlier) in uses.iter().enumerate() {
            let waited = |other: &Use<Q>| other.id == earlier.id && conflicts(other);
            if earlier.id != id && conflicts(earlier) && !uses[..at].iter().any(waited) {
                stream.wait_for(&earlier.stream)?;
            }
        }
        Ok(())
    }

    /// Adds a use that has waited for what it conflicts with.
    fn record(&mut self, new: Use<Q>) {
        if let Some(last) = self.0.last_mut().filter(|last| last.id == new.id && last.writes == new.writes)
            && let Some(joined) = last.reach.joined(&new.reach)
        {
            last.reach = joined;
            return;
        }
        if self.0.len() >= MANY {
            self.join_streams();
        }
        self.0.push(new);
    }

    /// Leaves one read and one write of each stream, which stand for the others of the same stream. Each has the place of the
    /// latest, so that no use in between vouches that it has been waited for.
    fn join_streams(&mut self) {
        let mut latest_first: SmallVec<[Use<Q>; 2]> = SmallVec::new();
        for earlier in self.0.drain(..).rev() {
            match latest_first.iter_mut().find(|later| later.id == earlier.id && later.writes == earlier.writes) {
                Some(later) => later.reach = Reach { bytes: later.reach.hull(&earlier.reach), dense: false },
                None => latest_first.push(earlier),
            }
        }
        latest_first.reverse();
        self.0 = latest_first;
    }
}
