//! [`AccessRecords`]: the access records of one buffer, shared by many threads.
//!
//! It makes no calls but those of its queues. Invariant: every prepared access is in [`AccessList`], or ordered before
//! one that is; decisions by `synced_streams` without the lock are the same as under the lock.

use crate::buffer::access::{AccessList, ByteRange};
use crate::buffer::queue::Queue;
use crate::error::Result;
use crate::sync::{AtomicU64, Mutex, Ordering};

pub(crate) struct AccessRecords<Q> {
    bytes: usize,
    accesses: Mutex<AccessList<Q>>,
    /// The numbers of queues on which a read needs neither wait nor record, since they have a record for all bytes and
    /// nothing has written since; 0 for none. It saves most reads the lock, also if two streams alternate. It is set
    /// under the lock. A write of other bytes may change it while a read that saw its queue continues: the record that
    /// the read relies on stays.
    synced_streams: [AtomicU64; 2],
}

impl<Q: Queue> AccessRecords<Q> {
    /// The records of a buffer that nothing has accessed yet.
    pub(crate) fn new(bytes: usize) -> Self {
        AccessRecords { bytes, accesses: Mutex::default(), synced_streams: [AtomicU64::new(0), AtomicU64::new(0)] }
    }

    /// The byte range of the whole buffer.
    pub(crate) fn all(&self) -> ByteRange {
        ByteRange::all_of(0..self.bytes)
    }

    /// Records that the memory exists from now on in the order of `queue`, for which all others wait.
    pub(crate) fn begin(&mut self, queue: &Q) -> Result<()> {
        let all = self.all();
        self.accesses.get_mut().write(all, queue)?;
        self.set_synced_streams([queue.number(), 0]);
        Ok(())
    }

    /// Orders a read on `queue` after the last writes of its byte range, and records it.
    #[inline]
    pub(crate) fn read(&self, range: impl FnOnce() -> ByteRange, queue: &Q) -> Result<()> {
        let number = queue.number();
        if self.synced_streams.iter().any(|synced| synced.load(Ordering::Acquire) == number) {
            return Ok(());
        }
        self.record(|accesses| accesses.read(range(), queue))
    }

    /// Orders a write on `queue` after every earlier access to its byte range, and records it.
    #[inline]
    pub(crate) fn write(&mut self, range: impl FnOnce() -> ByteRange, queue: &Q) -> Result<()> {
        let (all, accesses) = (self.all(), self.accesses.get_mut());
        if accesses.is_sole_writer(queue.number(), &all) {
            return Ok(());
        }
        let range = range();
        if range.bytes.is_empty() {
            return Ok(());
        }
        if range == all && accesses.is_single(&all) {
            accesses.replace_only(queue)?;
            self.set_synced_streams([queue.number(), 0]);
            return Ok(());
        }
        let recorded = accesses.write(range, queue);
        let synced_streams = accesses.synced_streams(&all);
        self.set_synced_streams(synced_streams);
        recorded
    }

    /// As [`write`](AccessRecords::write), of bytes that the caller accesses exclusively while others may access other
    /// bytes.
    pub(crate) fn write_shared(&self, range: ByteRange, queue: &Q) -> Result<()> {
        if range.bytes.is_empty() { Ok(()) } else { self.record(|accesses| accesses.write(range, queue)) }
    }

    /// Orders later work of `queue` after every write that overlaps `range`, without recording it.
    pub(crate) fn order_after_writes(&self, range: &ByteRange, queue: &Q) -> Result<()> {
        self.accesses.lock().order_after_writes(range, queue)
    }

    /// Waits on the host until every write of some of the bytes has finished, while others may access other bytes.
    pub(crate) fn wait_for_writes(&self, range: &ByteRange) -> Result<Vec<Q::Waited>> {
        self.accesses.lock().wait_for_writes(range)
    }

    /// Waits on the host until every write has finished. None is prepared or begins while the caller holds the borrow,
    /// which covers all the memory.
    pub(crate) fn finish_writes(&self) -> Result<Vec<Q::Waited>> {
        self.record(AccessList::finish_writes)
    }

    /// Waits on the host until every access has finished. None begins while the caller holds the borrow.
    pub(crate) fn finish(&mut self) -> Result<Vec<Q::Waited>> {
        self.record(AccessList::finish)
    }

    /// Removes the access records of a queue, all of which the host has waited for.
    pub(crate) fn forget(&mut self, number: u64) {
        self.accesses.get_mut().forget(number);
        self.set_synced_streams([0; 2]);
    }

    /// Orders later work of the returned queue after every access: the queue that needs the fewest waits, or `other` if
    /// there was no access.
    pub(crate) fn end(&mut self, other: impl FnOnce() -> Q) -> Result<Q> {
        let accesses = self.accesses.get_mut();
        let queue = accesses.last_stream().cloned().unwrap_or_else(other);
        accesses.order_after_all(&queue)?;
        Ok(queue)
    }

    /// Orders later work of `queue` after every access, before the memory is given up.
    pub(crate) fn order_before(&mut self, queue: &Q) -> Result<()> {
        self.accesses.get_mut().order_after_all(queue)
    }

    /// Waits on the host until every access has finished, before the memory is freed.
    pub(crate) fn wait_for_all(&mut self) -> Result<()> {
        self.accesses.get_mut().wait_on_host().map(drop)
    }

    fn record<R>(&self, work: impl FnOnce(&mut AccessList<Q>) -> Result<R>) -> Result<R> {
        let mut accesses = self.accesses.lock();
        let recorded = work(&mut accesses);
        self.set_synced_streams(accesses.synced_streams(&self.all()));
        recorded
    }

    /// Sets the synced streams; the caller has the lock or exclusive access.
    fn set_synced_streams(&self, numbers: [u64; 2]) {
        for (synced, number) in self.synced_streams.iter().zip(numbers) {
            synced.store(number, Ordering::Release);
        }
    }
}
