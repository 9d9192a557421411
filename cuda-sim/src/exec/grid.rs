//! Deadlock detection for grid-wide barriers of cooperative launches.
//!
//! Only threads of the launch write to the workspace of that barrier. Once the blocks of every worker have all begun,
//! and have run since any thread of the launch did something other than poll the workspace, none can make progress any
//! more. A worker reports after each of its rounds which of the two it was. The report is made after its threads'
//! writes, and a round that counts begins after an earlier one of the same worker was counted, so after all those
//! writes.

use crate::sync::Mutex;

/// The workers of a launch that have resident blocks.
#[derive(Default)]
pub(crate) struct GridWaiters(Mutex<Vec<Worker>>);

struct Worker {
    number: usize,
    /// Rounds in which all of the worker's blocks waited, since any thread of the launch made progress.
    rounds: u32,
    blocks: u64,
}

/// The number of rounds after which a worker's threads have seen everything that was written.
const ROUNDS: u32 = 2;

impl GridWaiters {
    /// Adds a worker that may begin blocks from now on.
    pub(crate) fn enter(&self, number: usize) {
        self.0.lock().push(Worker { number, rounds: 0, blocks: 0 });
    }

    /// Removes a worker that has no blocks and begins no more.
    pub(crate) fn leave(&self, number: usize) {
        self.0.lock().retain(|worker| worker.number != number);
    }

    /// Reports that a thread of a worker may have written.
    pub(crate) fn progressed(&self) {
        self.0.lock().iter_mut().for_each(|worker| worker.rounds = 0);
    }

    /// Reports that all blocks of a worker, which begins no more, wait for the grid. Returns the number of waiting
    /// blocks of the launch if none can continue.
    pub(crate) fn waits(&self, number: usize, blocks: u64) -> Option<u64> {
        let mut workers = self.0.lock();
        for worker in workers.iter_mut().filter(|worker| worker.number == number) {
            (worker.rounds, worker.blocks) = (worker.rounds.saturating_add(1), blocks);
        }
        let stuck = workers.iter().all(|worker| worker.rounds >= ROUNDS);
        stuck.then(|| workers.iter().map(|worker| worker.blocks).sum())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_worker_has_waited_since_any_went_on() {
        let waiting = GridWaiters::default();
        [3, 5].into_iter().for_each(|worker| waiting.enter(worker));
        assert_eq!([3, 3, 3, 5].map(|worker| waiting.waits(worker, 10)), [None; 4]);
        waiting.progressed();
        assert_eq!([5, 3, 5].map(|worker| waiting.waits(worker, 10)), [None; 3]);
        assert_eq!(waiting.waits(3, 7), Some(17));
    }

    #[test]
    fn a_worker_that_has_left_is_not_waited_for() {
        let waiting = GridWaiters::default();
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

    /// A worker with one block, whose thread waits until the word is `awaited` and then stores `left`.
    fn worker(waiting: &GridWaiters, word: &AtomicU32, number: usize, awaited: u32, left: u32) -> Option<u64> {
        loop {
            if word.load(Ordering::Acquire) == awaited {
                word.store(left, Ordering::Release);
                waiting.progressed();
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
        let (waiting, word) = (Arc::new(GridWaiters::default()), Arc::new(AtomicU32::new(first)));
        [0, 1].into_iter().for_each(|number| waiting.enter(number));
        let (other, its_word) = (Arc::clone(&waiting), Arc::clone(&word));
        let thread = loom::thread::spawn(move || worker(&other, &its_word, 1, 1, 2));
        let mine = worker(&waiting, &word, 0, 2, 3);
        [mine, thread.join().unwrap()]
    }

    /// The second thread waits for nothing, the first for the second: no interleaving reports a deadlock.
    #[test]
    fn loom_no_block_is_given_up_that_can_go_on() {
        loom::model(|| assert_eq!(run(1), [None, None]));
    }

    /// Both threads wait for each other: one of them detects it.
    #[test]
    fn loom_blocks_that_wait_for_each_other_are_found() {
        loom::model(|| {
            let (waiting, word) = (Arc::new(GridWaiters::default()), Arc::new(AtomicU32::new(0)));
            [0, 1].into_iter().for_each(|number| waiting.enter(number));
            let rounds = |waiting: &GridWaiters, word: &AtomicU32, number| {
                let mut found = 0;
                for _ in 0..2 {
                    assert_eq!(word.load(Ordering::Acquire), 0);
                    found += u32::from(waiting.waits(number, 1).is_some());
                }
                found
            };
            let (other, its_word) = (Arc::clone(&waiting), Arc::clone(&word));
            let thread = loom::thread::spawn(move || rounds(&other, &its_word, 1));
            let mine = rounds(&waiting, &word, 0);
            assert!(mine + thread.join().unwrap() >= 1);
        });
    }
}
