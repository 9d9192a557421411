//! Cooperative launches: whether the barrier of the grid can still open.
//!
//! Only threads of the launch write to the workspace of that barrier. So once each worker's blocks have all begun, and have
//! had a turn since any thread of the launch did something other than look at the workspace, none goes on any more. A worker
//! tells after each of its turns which of the two it was; what it tells comes after what its threads wrote, and a turn that is
//! counted begins after an earlier one of the same worker was counted, hence after all that was written.

use crate::sync::Mutex;

/// The workers of a launch that hold blocks.
#[derive(Default)]
pub(crate) struct Waiting(Mutex<Vec<Worker>>);

struct Worker {
    number: usize,
    /// Its turns in which all of its blocks waited, since anybody's went on.
    turns: u32,
    blocks: u64,
}

/// The turns after which what a worker's threads saw is newer than all that was written.
const ENOUGH: u32 = 2;

impl Waiting {
    /// A worker that may begin blocks from now on.
    pub(crate) fn enter(&self, number: usize) {
        self.0.lock().push(Worker { number, turns: 0, blocks: 0 });
    }

    /// A worker without blocks, which begins no more.
    pub(crate) fn leave(&self, number: usize) {
        self.0.lock().retain(|worker| worker.number != number);
    }

    /// A thread of a worker's may have written.
    pub(crate) fn moved(&self) {
        self.0.lock().iter_mut().for_each(|worker| worker.turns = 0);
    }

    /// All blocks of a worker's, which begins no more, wait for the grid. Returns how many of the launch do, if none can go
    /// on any more.
    pub(crate) fn waits(&self, number: usize, blocks: u64) -> Option<u64> {
        let mut workers = self.0.lock();
        for worker in workers.iter_mut().filter(|worker| worker.number == number) {
            (worker.turns, worker.blocks) = (worker.turns.saturating_add(1), blocks);
        }
        let stuck = workers.iter().all(|worker| worker.turns >= ENOUGH);
        stuck.then(|| workers.iter().map(|worker| worker.blocks).sum())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_worker_has_waited_since_any_went_on() {
        let waiting = Waiting::default();
        [3, 5].into_iter().for_each(|worker| waiting.enter(worker));
        assert_eq!([3, 3, 3, 5].map(|worker| waiting.waits(worker, 10)), [None; 4]);
        waiting.moved();
        assert_eq!([5, 3, 5].map(|worker| waiting.waits(worker, 10)), [None; 3]);
        assert_eq!(waiting.waits(3, 7), Some(17));
    }

    #[test]
    fn a_worker_that_has_left_is_not_waited_for() {
        let waiting = Waiting::default();
        [0, 1].into_iter().for_each(|worker| waiting.enter(worker));
        assert_eq!([0, 0].map(|worker| waiting.waits(worker, 4)), [None; 2]);
        waiting.leave(1);
        assert_eq!(waiting.waits(0, 4), Some(4));
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32, Ordering};

    /// A worker with one block, whose thread goes on when the word has a value, and leaves another there.
    fn worker(waiting: &Waiting, word: &AtomicU32, number: usize, awaited: u32, left: u32) -> Option<u64> {
        loop {
            if word.load(Ordering::Acquire) == awaited {
                word.store(left, Ordering::Release);
                waiting.moved();
                break;
            }
            if let Some(blocks) = waiting.waits(number, 1) {
                return Some(blocks);
            }
            loom::thread::yield_now();
        }
        waiting.leave(number);
        None
    }

    fn run(first: u32) -> [Option<u64>; 2] {
        let (waiting, word) = (Arc::new(Waiting::default()), Arc::new(AtomicU32::new(first)));
        [0, 1].into_iter().for_each(|number| waiting.enter(number));
        let (other, its_word) = (Arc::clone(&waiting), Arc::clone(&word));
        let thread = loom::thread::spawn(move || worker(&other, &its_word, 1, 1, 2));
        let mine = worker(&waiting, &word, 0, 2, 3);
        [mine, thread.join().unwrap()]
    }

    /// The second waits for nothing, the first for the second: in no order is one of them given up.
    #[test]
    fn loom_no_block_is_given_up_that_can_go_on() {
        loom::model(|| assert_eq!(run(1), [None, None]));
    }

    /// Both wait for each other: one of them finds it out.
    #[test]
    fn loom_blocks_that_wait_for_each_other_are_found() {
        loom::model(|| {
            let (waiting, word) = (Arc::new(Waiting::default()), Arc::new(AtomicU32::new(0)));
            [0, 1].into_iter().for_each(|number| waiting.enter(number));
            let turns = |waiting: &Waiting, word: &AtomicU32, number| {
                let mut found = 0;
                for _ in 0..2 {
                    assert_eq!(word.load(Ordering::Acquire), 0);
                    found += u32::from(waiting.waits(number, 1).is_some());
                }
                found
            };
            let (other, its_word) = (Arc::clone(&waiting), Arc::clone(&word));
            let thread = loom::thread::spawn(move || turns(&other, &its_word, 1));
            let mine = turns(&waiting, &word, 0);
            assert!(mine + thread.join().unwrap() >= 1);
        });
    }
}
