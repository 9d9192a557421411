//! Every interleaving of small programs on the crate's bookkeeping: access records, pending frees, cached blocks,
//! statistics.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p cuda-mem --lib loom --profile loom`.

use std::sync::Arc;

use loom::sync::{Mutex, RwLock};
use loom::thread;

use crate::alloc::{FreeBlock, FreeList, Pending, Statistics};
use crate::buffer::access::ByteRange;
use crate::buffer::queue::Queue;
use crate::buffer::records::AccessRecords;
use crate::error::Result;

fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(body);
}

/// Two threads free while a third takes all pending frees: each free is made once.
#[test]
fn loom_each_pending_free_is_made_once() {
    model(|| {
        let (pending, made) = (Arc::new(Pending::default()), Arc::new(Mutex::new(Vec::new())));
        let free = |item: u32| {
            let (pending, made) = (pending.clone(), made.clone());
            move || {
                if let Some(batch) = pending.add(item, 8, 1, usize::MAX) {
                    made.lock().unwrap().extend(batch.items);
                }
            }
        };
        let threads = [thread::spawn(free(1)), thread::spawn(free(2))];
        if let Some(batch) = pending.take() {
            made.lock().unwrap().extend(batch.items);
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let mut all = made.lock().unwrap().clone();
        all.extend(pending.take_all().items);
        all.sort_unstable();
        assert_eq!((all, pending.size()), (vec![1, 2], (0, 0)));
    });
}

/// A guard that began before another thread frees: no free is made until it ends, though the queue is full.
#[test]
fn loom_no_free_is_made_while_a_guard_defers() {
    model(|| {
        let pending = Arc::new(Pending::default());
        pending.defer();
        let other = {
            let pending = pending.clone();
            thread::spawn(move || {
                pending.defer();
                assert!(pending.add(1, 8, 0, 0).is_none());
                pending.resume();
                // The other thread's guard still defers.
                assert!(pending.take().is_none());
            })
        };
        assert!(pending.add(2, 8, 0, 0).is_none());
        other.join().unwrap();
        pending.resume();
        assert_eq!(pending.take().unwrap().items.len(), 2);
    });
}

/// A batch that could not be freed goes back while others free: nothing is lost, and the bytes are right.
#[test]
fn loom_items_that_are_put_back_are_pending_again() {
    model(|| {
        let pending = Arc::new(Pending::default());
        assert!(pending.add(1, 8, 9, usize::MAX).is_none());
        let other = {
            let pending = pending.clone();
            thread::spawn(move || assert!(pending.add(2, 4, 9, usize::MAX).is_none()))
        };
        if let Some(batch) = pending.take() {
            pending.put_back(batch);
        }
        other.join().unwrap();
        assert_eq!(pending.size(), (2, 12));
    });
}

/// Two streams request the one free block: one gets it.
#[test]
fn loom_a_cached_block_has_one_taker() {
    model(|| {
        let free_list = Arc::new(FreeList::default());
        free_list.put(FreeBlock { address: 1, bytes: 512, context: 1, stream: 1, freed: () });
        let other = {
            let free_list = free_list.clone();
            thread::spawn(move || free_list.take(512, 1, 2).inspect(|block| free_list.put(*block)).is_some())
        };
        let mine = free_list.take(512, 1, 1);
        let theirs = other.join().unwrap();
        assert!(mine.is_some() || theirs, "one of them gets it");
        let left = free_list.drain(1).len();
        assert_eq!(left + usize::from(mine.is_some()), 1, "and neither gets a second one");
    });
}

/// The peak is that of some order of the allocations, and never less than the live bytes at the end.
#[test]
fn loom_the_peak_is_exact() {
    model(|| {
        let statistics = Arc::new(Statistics::default());
        let other = {
            let statistics = statistics.clone();
            thread::spawn(move || {
                statistics.allocated(4);
                statistics.freed(4);
            })
        };
        statistics.allocated(2);
        other.join().unwrap();
        let read = statistics.read();
        assert_eq!((read.live_bytes, read.allocations, read.frees), (2, 2, 1));
        assert!([4, 6].contains(&read.peak_bytes), "{}", read.peak_bytes);
    });
}

/// The number of streams in the models.
const STREAMS: usize = 4;

/// A vector clock: for each stream, the number of its operations that are ordered before.
type Clock = [usize; STREAMS];

fn merge(to: &mut Clock, from: Clock) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.max(*to));
}

/// A model device that runs nothing and tracks the order of operations.
#[derive(Default)]
struct Device {
    /// For each stream, the operations ordered before its next one.
    streams: [Clock; STREAMS],
    /// The operations that the host has waited for.
    finished: Clock,
    /// Every access to the one memory: stream, number in it, bytes, and true if it writes.
    used: Vec<(usize, usize, ByteRange, bool)>,
}

/// A stream of the model device.
#[derive(Clone)]
struct ModelStream(usize, Arc<Mutex<Device>>);

impl ModelStream {
    /// Enqueues an access, or the free, which is a write of all bytes, and checks that it is ordered after all accesses
    /// that it conflicts with.
    fn enqueue(&self, range: &ByteRange, writes: bool) {
        let device = &mut *self.1.lock().unwrap();
        for (stream, number, other, written) in &device.used {
            let before = device.streams[self.0][*stream].max(device.finished[*stream]) >= *number;
            let conflicts = (writes || *written) && range.overlaps(other);
            assert!(before || !conflicts, "{range:?} on {} is not ordered after {other:?} on {stream}", self.0);
        }
        device.streams[self.0][self.0] += 1;
        device.used.push((self.0, device.streams[self.0][self.0], range.clone(), writes));
    }
}

impl Queue for ModelStream {
    type Waited = ();

    fn number(&self) -> u64 {
        self.0 as u64 + 1
    }

    fn wait_for(&self, earlier: &Self) -> Result<()> {
        let device = &mut *self.1.lock().unwrap();
        let before = device.streams[earlier.0];
        merge(&mut device.streams[self.0], before);
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        let device = &mut *self.1.lock().unwrap();
        merge(&mut device.finished, device.streams[self.0]);
        Ok(())
    }
}

/// Memory of 64 bytes, freed by its drop, with real access records.
struct Memory {
    records: AccessRecords<ModelStream>,
    streams: [ModelStream; STREAMS],
}

impl Memory {
    /// Memory that the first stream has allocated and written.
    fn new() -> Self {
        let device = Arc::new(Mutex::new(Device::default()));
        let streams = std::array::from_fn(|number| ModelStream(number, device.clone()));
        let mut memory = Memory { records: AccessRecords::new(64), streams };
        memory.records.begin(&memory.streams[0]).unwrap();
        memory.streams[0].enqueue(&all(), true);
        memory
    }

    fn read(&self, range: &ByteRange, stream: usize) {
        self.records.read(|| range.clone(), &self.streams[stream]).unwrap();
        self.streams[stream].enqueue(range, false);
    }

    /// A write of bytes that nothing else accesses meanwhile.
    fn write_shared(&self, range: &ByteRange, stream: usize) {
        self.records.write_shared(range.clone(), &self.streams[stream]).unwrap();
        self.streams[stream].enqueue(range, true);
    }

    fn write(&mut self, stream: usize) {
        self.records.write(all, &self.streams[stream]).unwrap();
        self.streams[stream].enqueue(&all(), true);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return; // the failure is already reported
        }
        let end = self.records.end(|| unreachable!("the memory has been used")).unwrap();
        end.enqueue(&all(), true);
    }
}

fn all() -> ByteRange {
    ByteRange::all_of(0..64)
}

/// Two threads read on a stream each, a third writes and then drops, in any order: each access is ordered after those
/// that it conflicts with, and the free after all.
#[test]
fn loom_readers_a_writer_and_a_drop_are_ordered() {
    model(|| {
        let shared = Arc::new(RwLock::new(Some(Memory::new())));
        let reader = |stream: usize, times: usize| {
            let shared = shared.clone();
            move || {
                for _ in 0..times {
                    if let Some(memory) = &*shared.read().unwrap() {
                        memory.read(&all(), stream);
                    }
                }
            }
        };
        let threads = [thread::spawn(reader(1, 2)), thread::spawn(reader(2, 1))];
        if let Some(memory) = &mut *shared.write().unwrap() {
            memory.write(3);
        }
        let dropped = shared.write().unwrap().take();
        drop(dropped);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Two threads read on a stream each and drop the memory: the last one's free is ordered after both.
#[test]
fn loom_the_last_of_two_readers_frees_after_both() {
    model(|| {
        let memory = loom::sync::Arc::new(Memory::new());
        let reader = |stream: usize| {
            let memory = memory.clone();
            move || {
                memory.read(&all(), stream);
                memory.read(&all(), stream);
            }
        };
        let threads = [thread::spawn(reader(1)), thread::spawn(reader(2))];
        drop(memory);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A thread writes one half while another reads the other half, sometimes without the lock: later accesses wait for
/// both.
#[test]
fn loom_halves_are_ordered_with_the_whole() {
    model(|| {
        let memory = Arc::new(Memory::new());
        let (left, right) = (ByteRange::all_of(0..32), ByteRange::all_of(32..64));
        memory.read(&all(), 1);
        let other = {
            let memory = memory.clone();
            thread::spawn(move || {
                memory.write_shared(&left, 2);
                memory.read(&left, 2);
            })
        };
        memory.read(&right, 1);
        memory.read(&right, 2);
        other.join().unwrap();
        memory.read(&all(), 1);
        memory.read(&all(), 2);
        let mut memory = Arc::into_inner(memory).unwrap();
        memory.write(3);
    });
}

/// Two threads write interleaved parts, so that one prepares while the other has not enqueued yet: neither covers the
/// other, and later accesses wait for both.
#[test]
fn loom_interleaved_accesses_do_not_cover_each_other() {
    model(|| {
        let memory = Arc::new(Memory::new());
        let inner = ByteRange { bytes: 8..52, dense: false };
        let other = {
            let memory = memory.clone();
            thread::spawn(move || {
                // Its range encloses the other's, and its bytes lie between those, which the device cannot see.
                let outer = ByteRange { bytes: 4..64, dense: false };
                memory.records.write_shared(outer, &memory.streams[2]).unwrap();
                memory.streams[2].enqueue(&ByteRange::all_of(4..8), true);
            })
        };
        memory.records.write_shared(inner, &memory.streams[1]).unwrap();
        memory.streams[1].enqueue(&ByteRange::all_of(8..12), true);
        other.join().unwrap();
        memory.read(&ByteRange::all_of(8..52), 2);
        memory.read(&all(), 1);
        let mut memory = Arc::into_inner(memory).unwrap();
        memory.write(3);
    });
}

/// The host waits for the writes while another thread reads on the device, which is allowed: no record of the read is
/// lost.
#[test]
fn loom_the_hosts_wait_for_writes_loses_no_read() {
    model(|| {
        let memory = Arc::new(Memory::new());
        let other = {
            let memory = memory.clone();
            thread::spawn(move || memory.read(&all(), 1))
        };
        memory.records.finish_writes().unwrap();
        other.join().unwrap();
        let mut memory = Arc::into_inner(memory).unwrap();
        memory.write(2);
    });
}
