//! The worker pool: threads that live as long as the process and help with launches, several launches at a time.
//!
//! The calling thread takes part in its own launch. A small launch therefore needs no wake-up, a pool of one has no
//! threads, and a launch makes progress even if all helpers are busy with another one that does not end. Helpers join
//! the launch that has waited longest and still has room.
//!
//! A worker's number is a slot: no two threads have the same one at the same time, so memory indexed by slot belongs to
//! one worker. Invariant, under the one lock: a slot is free or owned by one thread; a job's `active` counts the
//! helpers that run it, and its owner leaves only when there are none. A panic in a job, which is a defect, is resumed
//! in its owner and leaves the pool intact.

use super::fault;
use crate::environment::ENVIRONMENT;
use crate::queue::DRIVERS;
use crate::sync::{Condvar, Mutex, spawn};
use once_cell::sync::Lazy;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// The function that the pool runs, called once by each worker that takes part.
pub(crate) type JobFn = dyn Fn(usize) + Send + Sync;

/// The result of a worker's part of a job: success, or its panic.
type JobResult = Result<(), Box<dyn Any + Send>>;

/// Runs one worker's part of a job.
fn take_part(work: &JobFn, slot: usize) -> JobResult {
    // Only the launch's own state can be left inconsistent by a panic, and the launch has failed then.
    catch_unwind(AssertUnwindSafe(|| work(slot)))
}

struct Job {
    number: u64,
    work: Arc<JobFn>,
    /// The number of helpers that may still join, and the number that run the job.
    room: usize,
    active: usize,
    /// The first panic of a helper.
    ended: JobResult,
    done: Arc<Condvar>,
}

struct State {
    jobs: Vec<Job>,
    number: u64,
    /// Slots without an owner; the one used last, whose memory is in the cache, is taken first.
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

/// The stack size of a worker: calls of device functions run on it.
const STACK: usize = 16 << 20;
/// The number of client threads that can wait for their launches at the same time; more have to wait for a slot.
const CLIENTS: usize = 64;

impl Pool {
    /// Creates a pool of `workers` threads, for at most `launches` launches at a time.
    fn new(workers: usize, launches: usize) -> Pool {
        let slots = workers - 1 + launches;
        let free = (workers - 1..slots).rev().collect();
        let state = State { jobs: Vec::new(), number: 0, free, closing: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), wake: Condvar::default(), freed: Condvar::default() });
        let mut started = 1;
        for slot in 0..workers - 1 {
            let shared = Arc::clone(&shared);
            // If the system gives no thread, the pool is smaller.
            if !spawn(format!("cuda-sim {slot}"), STACK, move || help(&shared, slot)) {
                break;
            }
            started += 1;
        }
        Pool { shared, workers: started, slots }
    }

    /// Returns the number of threads that can run one launch.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Returns the exclusive upper bound of worker numbers.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Runs `work` on the calling thread and, unless `alone`, on every helper that becomes free before that has
    /// finished; returns when all have.
    ///
    /// # Panics
    ///
    /// If `work` does, on any of the threads.
    pub(crate) fn run(&self, work: Arc<JobFn>, alone: bool) {
        let mut state = self.shared.state.lock();
        let slot = loop {
            match state.free.pop() {
                Some(slot) => break slot,
                None => state = self.shared.freed.wait(state),
            }
        };
        if alone || self.workers == 1 {
            drop(state);
            let ended = take_part(&*work, slot);
            self.release_slot(slot);
            return ended.unwrap_or_else(|panic| resume_unwind(panic));
        }
        state.number += 1;
        let number = state.number;
        let done = Arc::new(Condvar::default());
        state.jobs.push(Job {
            number,
            work: Arc::clone(&work),
            room: self.workers - 1,
            active: 0,
            ended: Ok(()),
            done: Arc::clone(&done),
        });
        drop(state);
        self.shared.wake.notify_all();
        let mut ended = take_part(&*work, slot);
        let mut state = self.shared.state.lock();
        while let Some(at) = state.jobs.iter().position(|job| job.number == number) {
            state.jobs[at].room = 0;
            if state.jobs[at].active == 0 {
                ended = ended.and(state.jobs.remove(at).ended);
                break;
            }
            state = done.wait(state);
        }
        drop(state);
        self.release_slot(slot);
        ended.unwrap_or_else(|panic| resume_unwind(panic));
    }

    fn release_slot(&self, slot: usize) {
        let mut state = self.shared.state.lock();
        state.free.push(slot);
        let last = state.free.len() == 1;
        drop(state);
        if last {
            self.shared.freed.notify_one();
        }
    }

    /// Ends the helpers, so that a loom model ends.
    #[cfg(all(test, loom))]
    fn end(&self) {
        self.shared.state.lock().closing = true;
        self.shared.wake.notify_all();
    }
}

/// The main loop of a helper.
fn help(shared: &Shared, slot: usize) {
    let mut state = shared.state.lock();
    loop {
        if let Some(job) = state.jobs.iter_mut().find(|job| job.room > 0) {
            job.room -= 1;
            job.active += 1;
            let (number, work) = (job.number, Arc::clone(&job.work));
            drop(state);
            let ended = take_part(&*work, slot);
            drop(work);
            state = shared.state.lock();
            if let Some(job) = state.jobs.iter_mut().find(|job| job.number == number) {
                job.active -= 1;
                if job.ended.is_ok() {
                    job.ended = ended;
                }
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

    #[test]
    fn a_panic_ends_its_launch_and_not_the_pool() {
        let pool = Pool::new(3, 2);
        for alone in [true, false] {
            let work = Arc::new(|_| resume_unwind(Box::new("broken")));
            let ended = catch_unwind(AssertUnwindSafe(|| pool.run(work, alone)));
            assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"broken"));
        }
        assert_eq!(pool.shared.state.lock().free.len(), 2);
        assert!(pool.shared.state.lock().jobs.is_empty());
        // All helpers are still alive: three workers meet.
        let barrier = std::sync::Barrier::new(3);
        let meet = move |_| {
            barrier.wait();
        };
        pool.run(Arc::new(meet), false);
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use loom::sync::atomic::{AtomicUsize, Ordering};

    /// A launch sees all writes of its helpers, also if two launches run and there is one helper.
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

    /// A helper that panics is counted out, its owner gets the panic and nobody waits for ever; the pool ends after it.
    #[test]
    fn loom_a_panic_reaches_the_owner() {
        loom::model(|| {
            let pool = Pool::new(2, 1);
            let helped = Arc::new(AtomicUsize::new(0));
            let h = Arc::clone(&helped);
            let work = move |slot| {
                // Slot 0 is the helper's.
                if slot == 0 {
                    h.fetch_add(1, Ordering::Relaxed);
                    resume_unwind(Box::new(()));
                }
            };
            let ended = catch_unwind(AssertUnwindSafe(|| pool.run(Arc::new(work), false)));
            assert_eq!(ended.is_err(), helped.load(Ordering::Relaxed) == 1);
            assert_eq!(pool.shared.state.lock().free.len(), 1);
            pool.end();
        });
    }

    /// A pool that ends while launches arrive: each runs on its owner at least, and the helper leaves.
    #[test]
    fn loom_the_pool_ends_beside_a_launch() {
        loom::model(|| {
            let pool = Arc::new(Pool::new(2, 1));
            let other = Arc::clone(&pool);
            let ending = loom::thread::spawn(move || other.end());
            let ran = Arc::new(AtomicUsize::new(0));
            let r = Arc::clone(&ran);
            pool.run(
                Arc::new(move |_| {
                    r.fetch_add(1, Ordering::Relaxed);
                }),
                false,
            );
            assert!(ran.load(Ordering::Relaxed) >= 1);
            ending.join().unwrap();
        });
    }
}
