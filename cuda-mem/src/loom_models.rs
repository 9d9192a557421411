//! Every interleaving of small programs on the crate's bookkeeping: pending frees, kept blocks, statistics.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p cuda-mem --lib loom --release`.

use std::sync::Arc;

use loom::sync::Mutex;
use loom::thread;

use crate::alloc::{Block, Pending, Shelf, Statistics};

fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(body);
}

/// Two threads free while a third asks for all that is pending: each free is made once.
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

/// A guard that began before another thread frees: nothing is made until it ends, though the queue is full.
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
                // The guard of the other thread is still there.
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
fn loom_what_is_put_back_is_pending_again() {
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

/// Two streams ask for the one block that was freed: one gets it.
#[test]
fn loom_a_kept_block_goes_to_one() {
    model(|| {
        let shelf = Arc::new(Shelf::default());
        shelf.put(Block { address: 1, bytes: 512, context: 1, stream: 1, freed: () });
        let other = {
            let shelf = shelf.clone();
            thread::spawn(move || shelf.take(512, 1, 2).inspect(|block| shelf.put(*block)).is_some())
        };
        let mine = shelf.take(512, 1, 1);
        let theirs = other.join().unwrap();
        assert!(mine.is_some() || theirs, "somebody gets it");
        let left = shelf.drain(1).len();
        assert_eq!(left + usize::from(mine.is_some()), 1, "and nobody a second one");
    });
}

/// The peak is what was live at once in some order of the allocations, and never less than at the end.
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
