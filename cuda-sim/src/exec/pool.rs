//! The pool: threads that live as long as the process and run one launch at a time together.
//!
//! The calling thread is worker 0, so a small launch costs no wake-up, and a pool of one has no threads at all.

use super::fault;
use once_cell::sync::Lazy;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;

/// What the pool runs: called once by each worker that takes part.
pub(crate) type Work = dyn Fn(usize) + Send + Sync;

struct Shared {
    job: Mutex<Job>,
    wake: Condvar,
    done: Condvar,
}

#[derive(Default)]
struct Job {
    generation: u64,
    work: Option<Arc<Work>>,
    running: usize,
}

/// A pool of workers.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    workers: usize,
    /// Held for the duration of a launch.
    turn: Mutex<()>,
}

/// The process's pool; `CUDA_SIM_THREADS` sets its size.
pub(crate) static POOL: Lazy<Pool> = Lazy::new(|| {
    let wanted = std::env::var("CUDA_SIM_THREADS").ok().and_then(|n| n.parse::<usize>().ok());
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Pool::new(wanted.unwrap_or_else(cores).clamp(1, 256))
});

/// Stack of a worker: calls of device functions run on it.
const STACK: usize = 16 << 20;

impl Pool {
    fn new(workers: usize) -> Pool {
        fault::install();
        let shared = Arc::new(Shared { job: Mutex::new(Job::default()), wake: Condvar::new(), done: Condvar::new() });
        let mut started = 1;
        for index in 1..workers {
            let shared = Arc::clone(&shared);
            let builder = std::thread::Builder::new().name(format!("cuda-sim {index}")).stack_size(STACK);
            // Where the system gives no thread, the pool is smaller.
            if builder.spawn(move || worker(&shared, index)).is_err() {
                break;
            }
            started += 1;
        }
        Pool { shared, workers: started, turn: Mutex::new(()) }
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Runs `work` on every worker, or on the calling thread alone, and returns when all have finished.
    pub(crate) fn run(&self, work: Arc<Work>, alone: bool) {
        let _turn = self.turn.lock();
        if alone || self.workers == 1 {
            return work(0);
        }
        {
            let mut job = self.shared.job.lock();
            job.generation += 1;
            job.work = Some(Arc::clone(&work));
            job.running = self.workers - 1;
        }
        self.shared.wake.notify_all();
        work(0);
        let mut job = self.shared.job.lock();
        while job.running > 0 {
            self.shared.done.wait(&mut job);
        }
        job.work = None;
    }
}

fn worker(shared: &Shared, index: usize) {
    let mut seen = 0;
    loop {
        let work = {
            let mut job = shared.job.lock();
            while job.generation == seen {
                shared.wake.wait(&mut job);
            }
            seen = job.generation;
            job.work.clone()
        };
        if let Some(work) = work {
            work(index);
        }
        let mut job = shared.job.lock();
        job.running -= 1;
        if job.running == 0 {
            shared.done.notify_one();
        }
    }
}
