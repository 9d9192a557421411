//! [`Records`]: the uses of one buffer, which many threads prepare.
//!
//! It makes no calls but those of its queues. Invariant: every use that was prepared is in [`Uses`], or in the order of one
//! that is; nothing is decided by what `settled` says unless the lock would say so too.

use crate::error::Result;
use crate::queue::Queue;
use crate::sync::{AtomicU64, Mutex, Ordering};
use crate::uses::{Reach, Uses};

pub(crate) struct Records<Q> {
    bytes: usize,
    uses: Mutex<Uses<Q>>,
    /// The numbers of queues on which a read needs neither wait nor record, since they have a record for all bytes and none
    /// has written since; 0 for none. Saves most reads the lock, also where two streams take turns. They are set under
    /// the lock. A write of other bytes may set them while a read that saw one goes on: the record that the read relies on
    /// stays.
    settled: [AtomicU64; 2],
}

impl<Q: Queue> Records<Q> {
    /// Those of a buffer that nothing has used yet.
    pub(crate) fn new(bytes: usize) -> Self {
        Records { bytes, uses: Mutex::default(), settled: [AtomicU64::new(0), AtomicU64::new(0)] }
    }

    /// All of the buffer.
    pub(crate) fn all(&self) -> Reach {
        Reach::all_of(0..self.bytes)
    }

    /// Notes that the memory exists from now on in the order of `queue`: all others wait for that.
    pub(crate) fn begin(&mut self, queue: &Q) -> Result<()> {
        let all = self.all();
        self.uses.get_mut().write(all, queue)?;
        self.settle([queue.number(), 0]);
        Ok(())
    }

    /// Orders a read on `queue` after the last writes of what it reaches, and records it.
    #[inline]
    pub(crate) fn read(&self, reach: impl FnOnce() -> Reach, queue: &Q) -> Result<()> {
        let number = queue.number();
        if self.settled.iter().any(|settled| settled.load(Ordering::Acquire) == number) {
            return Ok(());
        }
        self.record(|uses| uses.read(reach(), queue))
    }

    /// Orders a write on `queue` after every earlier use of what it reaches, and records it.
    #[inline]
    pub(crate) fn write(&mut self, reach: impl FnOnce() -> Reach, queue: &Q) -> Result<()> {
        let (all, uses) = (self.all(), self.uses.get_mut());
        if uses.are_only_of(queue.number(), &all) {
            return Ok(());
        }
        let reach = reach();
        if reach.bytes.is_empty() {
            return Ok(());
        }
        if reach == all && uses.is_one_of(&all) {
            uses.follow(queue)?;
            self.settle([queue.number(), 0]);
            return Ok(());
        }
        let recorded = uses.write(reach, queue);
        let settled = uses.settled(&all);
        self.settle(settled);
        recorded
    }

    /// As [`write`](Records::write), of bytes that the caller has to itself while others use other bytes.
    pub(crate) fn write_shared(&self, reach: Reach, queue: &Q) -> Result<()> {
        if reach.bytes.is_empty() { Ok(()) } else { self.record(|uses| uses.write(reach, queue)) }
    }

    /// Orders what comes on `queue` after every write of some of `reach`, without recording it.
    pub(crate) fn writes_before(&self, reach: &Reach, queue: &Q) -> Result<()> {
        self.uses.lock().writes_before(reach, queue)
    }

    /// Waits on the host until every write of some of the bytes is over, while others may use other bytes.
    pub(crate) fn wait_for_writes(&self, reach: &Reach) -> Result<Vec<Q::Waited>> {
        self.uses.lock().wait_for_writes(reach)
    }

    /// Waits on the host until every write is over. None begins, and none is prepared, while the caller keeps the borrow,
    /// which is of all the memory.
    pub(crate) fn finish_writes(&self) -> Result<Vec<Q::Waited>> {
        self.record(Uses::finish_writes)
    }

    /// Waits on the host until every use is over. None begins while the caller keeps the borrow.
    pub(crate) fn finish(&mut self) -> Result<Vec<Q::Waited>> {
        self.record(Uses::finish)
    }

    /// Forgets the uses on a queue, all of which the host has waited for.
    pub(crate) fn forget(&mut self, number: u64) {
        self.uses.get_mut().forget(number);
        self.settle([0; 2]);
    }

    /// Makes sure that what comes on the returned queue comes after every use: on the one that has to wait for the fewest, or
    /// on `other` if there was no use.
    pub(crate) fn end(&mut self, other: impl FnOnce() -> Q) -> Result<Q> {
        let uses = self.uses.get_mut();
        let queue = uses.last_stream().cloned().unwrap_or_else(other);
        uses.all_before(&queue)?;
        Ok(queue)
    }

    /// Makes what comes on `queue` come after every use, for the end of the memory.
    pub(crate) fn order_before(&mut self, queue: &Q) -> Result<()> {
        self.uses.get_mut().all_before(queue)
    }

    /// Waits on the host until every use is over, for the end of the memory.
    pub(crate) fn wait_for_all(&mut self) -> Result<()> {
        self.uses.get_mut().wait_on_host().map(drop)
    }

    fn record<R>(&self, work: impl FnOnce(&mut Uses<Q>) -> Result<R>) -> Result<R> {
        let mut uses = self.uses.lock();
        let recorded = work(&mut uses);
        self.settle(uses.settled(&self.all()));
        recorded
    }

    /// Sets what is settled; the caller has the lock, or the records to itself.
    fn settle(&self, numbers: [u64; 2]) {
        for (settled, number) in self.settled.iter().zip(numbers) {
            settled.store(number, Ordering::Release);
        }
    }
}
