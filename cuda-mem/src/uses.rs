//! Use records: which streams use a buffer, and which of them a new use has to wait for.
//!
//! A record is a stream, not an event: when a conflicting use comes, an event is recorded on that stream there and then,
//! which covers the use and costs nothing while there is no conflict. A record is never overwritten by one that has not
//! waited for it. Invariant: every use of the memory that may still run is in a stream that stands here, or ordered before
//! one that does.
//!
//! A use has to be enqueued before the next conflicting one is prepared. The borrow of the buffer sees to that: it lasts
//! from the preparation until the use is enqueued, and conflicting ones cannot overlap.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions that wait, on a stream that the record holds.

use cuda_driver::{Stream, StreamId, driver_call};

use crate::error::Result;

/// A stream that uses the buffer.
struct Use {
    /// The queue that the stream meant when the use was recorded: a per-thread stream means another one elsewhere.
    id: StreamId,
    stream: Stream,
}

/// The uses of one buffer.
#[derive(Default)]
pub(crate) struct Uses {
    /// The last writer. It also stands for reads on the same stream.
    writer: Option<Use>,
    /// Streams that have read since, each after the writer; not the writer's own.
    readers: Vec<Use>,
}

impl Uses {
    /// Orders a read on `stream` after the last write, and records it. From then on until the next write, reads on that
    /// stream need nothing.
    pub(crate) fn read(&mut self, stream: &Stream) -> Result<()> {
        let id = stream.id();
        match &self.writer {
            Some(writer) if writer.id == id => return Ok(()),
            _ if self.readers.iter().any(|reader| reader.id == id) => return Ok(()),
            _ => self.writes_before(stream)?,
        }
        self.readers.push(Use { id, stream: stream.clone() });
        Ok(())
    }

    /// Orders what comes on `stream` after the last write, without recording it.
    pub(crate) fn writes_before(&self, stream: &Stream) -> Result<()> {
        let id = stream.id();
        match &self.writer {
            Some(writer) if writer.id != id => writer.before(stream),
            _ => Ok(()),
        }
    }

    /// Orders a write on `stream` after every earlier use, and records it in their place.
    pub(crate) fn write(&mut self, stream: &Stream) -> Result<()> {
        let id = stream.id();
        if self.are_only_of(id) {
            return Ok(());
        }
        self.all_before(stream)?;
        self.readers.clear();
        self.writer = Some(Use { id, stream: stream.clone() });
        Ok(())
    }

    /// Whether the buffer was written on the stream last, and not read on another since: a write there needs nothing.
    #[inline]
    pub(crate) fn are_only_of(&self, id: StreamId) -> bool {
        matches!(&self.writer, Some(writer) if writer.id == id) && self.readers.is_empty()
    }

    /// Orders what comes on `stream` after every use.
    pub(crate) fn all_before(&self, stream: &Stream) -> Result<()> {
        let id = stream.id();
        self.all().filter(|other| other.id != id).try_for_each(|other| other.before(stream))
    }

    /// Makes the host wait for every use.
    pub(crate) fn wait_on_host(&self) -> Result<()> {
        self.all().try_for_each(Use::wait_on_host)
    }

    /// A stream in which a last use costs the fewest waits: the latest user that the calling thread can reach.
    pub(crate) fn last_stream(&self) -> Option<&Stream> {
        let reachable = |candidate: &&Use| candidate.id == candidate.stream.id();
        self.all().filter(reachable).last().map(|last| &last.stream)
    }

    fn all(&self) -> impl Iterator<Item = &Use> {
        self.writer.iter().chain(&self.readers)
    }
}

impl Use {
    /// Makes `stream` wait for this use, which is on another queue.
    fn before(&self, stream: &Stream) -> Result<()> {
        if self.is_out_of_reach() { self.wait_on_host() } else { Ok(stream.wait_for(&self.stream)?) }
    }

    /// Whether the use is on another thread's per-thread stream, on which this thread can record no event.
    fn is_out_of_reach(&self) -> bool {
        self.id != self.stream.id()
    }

    fn wait_on_host(&self) -> Result<()> {
        let context = self.stream.context();
        let waited = if self.is_out_of_reach() {
            context.wait_for_all()
        } else {
            // SAFETY: the stream is live, since the record holds it.
            unsafe { driver_call!(context, cuStreamSynchronize(self.stream.as_raw())) }
        };
        Ok(waited?)
    }
}
