//! The pool: threads that live as long as the process and help with launches, several launches at once.
//!
//! The calling thread takes part in its own launch, so a small launch costs no wake-up, a pool of one has no threads at
//! all, and a launch goes on although all helpers are busy with another that does not end. Helpers join the launch that
//! has waited longest and still has room.
//!
//! A worker's number is a slot: no two threads have the same one at the same time, so memory kept by slot is the
//! worker's own. Invariant, under the one lock: a slot is free or held by one thread; a job's `active` counts the helpers
//! that run it, and its owner leaves only when there are none.

use super::fault;
use crate::environment::ENVIRONMENT;
use crate::queue::DRIVERS;
use crate::sync::{Condvar, Mutex, spawn};
use once_cell::sync::Lazy;
use std::sync::Arc;

/// What the pool runs: called once by each worker that takes part.
pub(crate) type Work = dyn Fn(usize) + Send + Sync;

struct Job {
    number: u64,
    work: Arc<Work>,
    /// Helpers that may still join, and those that run it.
    room: usize,
    active: usize,
    done: Arc<Condvar>,
}

struct State {
    jobs: Vec<Job>,
    number: u64,
    /// Slots that nobody holds; the one used last, whose memory is warm, is taken first.
    free: Vec<usize>,
    closing: bool,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    /// A slot became free.
    freed: Condvar,
}

/// A pool of workers.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    workers: usize,
    slots: usize,
}

/// The process's pool; `CUDA_SIM_THREADS` sets its size.
pub(crate) static POOL: Lazy<Pool> = Lazy::new(|| {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    fault::install();
    Pool::new(ENVIRONMENT.threads.unwrap_or_else(cores).clamp(1, 256), DRIVERS + CLIENTS)
});

/// Stack of a worker: calls of device functions run on it.
const STACK: usize = 16 << 20;
/// Threads of clients that take part in launches they wait for, at the same time; more have to wait for a slot.
const CLIENTS: usize = 64;

impl Pool {
    /// A pool of that many workers, for at most that many launches at once.
    fn new(workers: usize, launches: usize) -> Pool {
        let slots = workers - 1 + launches;
        let free = (workers - 1..slots).rev().collect();
        let state = State { jobs: Vec::new(), number: 0, free, closing: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), wake: Condvar::default(), freed: Condvar::default() });
        let mut started = 1;
        for slot in 0..workers - 1 {
            let shared = Arc::clone(&shared);
            // Where the system gives no thread, the pool is smaller.
            if !spawn(format!("cuda-sim {slot}"), STACK, move || help(&shared, slot)) {
                break;
            }
            started += 1;
        }
        Pool { shared, workers: started, slots }
    }

    /// Threads that run one launch together.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Numbers that workers have are below this.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Runs `work` on the calling thread, and unless `alone` on every helper that is free before that has finished;
    /// returns when all have.
    pub(crate) fn run(&self, work: Arc<Work>, alone: bool) {
        let mut state = self.shared.state.lock();
        let slot = loop {
            match state.free.pop() {
                Some(slot) => break slot,
                None => state = self.shared.freed.wait(state),
            }
        };
        if alone || self.workers == 1 {
            drop(state);
            work(slot);
            self.give_back(slot);
            return;
        }
        state.number += 1;
        let number = state.number;
        let done = Arc::new(Condvar::default());
        let job = Job { number, work: Arc::clone(&work), room: self.workers - 1, active: 0, done: Arc::clone(&done) };
        state.jobs.push(job);
        drop(state);
        self.shared.wake.notify_all();
        work(slot);
        let mut state = self.shared.state.lock();
        while let Some(at) = state.jobs.iter().position(|job| job.number == number) {
            state.jobs[at].room = 0;
            if state.jobs[at].active == 0 {
                state.jobs.remove(at);
                break;
            }
            state = done.wait(state);
        }
        drop(state);
        self.give_back(slot);
    }

    fn give_back(&self, slot: usize) {
        let mut state = self.shared.state.lock();
        state.free.push(slot);
        let last = state.free.len() == 1;
        drop(state);
        if last {
            self.shared.freed.notify_one();
        }
    }

    /// Ends the helpers, so that a model ends.
    #[cfg(all(test, loom))]
    fn end(&self) {
        self.shared.state.lock().closing = true;
        self.shared.wake.notify_all();
    }
}

/// A helper's life.
fn help(shared: &Shared, slot: usize) {
    let mut state = shared.state.lock();
    loop {
        if let Some(job) = state.jobs.iter_mut().find(|job| job.room > 0) {
            job.room -= 1;
            job.active += 1;
            let (number, work) = (job.number, Arc::clone(&job.work));
            drop(state);
            work(slot);
            drop(work);
            state = shared.state.lock();
            if let Some(job) = state.jobs.iter_mut().find(|job| job.number == number) {
                job.active -= 1;
                if job.active == 0 {
                    job.done.notify_one();
                }
            }
        } else if state.closing {
            return;
        } else {
            state = shared.wake.wait(state);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn several_launches_run_at_once_on_slots_of_their_own() {
        let pool = Pool::new(3, 4);
        let barrier = std::sync::Barrier::new(4);
        let slots = parking_lot::Mutex::new(Vec::new());
        let ran = Arc::new(AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let counted = Arc::clone(&ran);
                let (pool, barrier, slots) = (&pool, &barrier, &slots);
                scope.spawn(move || {
                    let (sender, receiver) = std::sync::mpsc::channel();
                    let sender = parking_lot::Mutex::new(sender);
                    let work = move |slot| {
                        counted.fetch_add(1, Ordering::Relaxed);
                        let _ = sender.lock().send(slot);
                    };
                    barrier.wait();
                    pool.run(Arc::new(work), false);
                    slots.lock().extend(receiver);
                });
            }
        });
        let slots = slots.into_inner();
        assert!((4..=12).contains(&ran.load(Ordering::Relaxed)));
        assert_eq!(slots.len(), ran.load(Ordering::Relaxed));
        assert!(slots.iter().all(|slot| *slot < pool.slots()));
        assert_eq!(pool.shared.state.lock().free.len(), 4);
        assert!(pool.shared.state.lock().jobs.is_empty());
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use loom::sync::atomic::{AtomicUsize, Ordering};

    /// A launch sees all that its helpers did, also when two are under way and the helper is one.
    #[test]
    fn loom_a_launch_ends_after_its_helpers() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let pool = Arc::new(Pool::new(2, 2));
            let other = Arc::clone(&pool);
            let run = |pool: &Pool| {
                let (entered, left) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
                let (e, l) = (Arc::clone(&entered), Arc::clone(&left));
                let work = move |_| {
                    e.fetch_add(1, Ordering::Relaxed);
                    l.fetch_add(1, Ordering::Relaxed);
                };
                pool.run(Arc::new(work), false);
                assert_eq!(entered.load(Ordering::Relaxed), left.load(Ordering::Relaxed));
                assert!(left.load(Ordering::Relaxed) >= 1);
            };
            let thread = loom::thread::spawn(move || run(&other));
            run(&pool);
            thread.join().unwrap();
            pool.end();
        });
    }
}
