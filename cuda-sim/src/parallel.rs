//! Parallel loops for loading and compiling.

use crate::exec::pool::POOL;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The stack size of a thread that emits or compiles.
const STACK: usize = 16 << 20;

/// Returns the results of `work` for each item, in their order. It uses up to `most` threads, including the calling
/// one, and no more than the pool has.
pub(crate) fn in_parallel<I: Sync, O: Send>(items: &[I], most: usize, work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let result = work(item);
            done.lock().push((at, result));
        }
    };
    let threads = POOL.workers().min(items.len()).min(most);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If the system gives no thread, the others do its part.
            let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
        work();
    });
    let mut done = done.into_inner();
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns the number of threads that pay off for this many instructions: 2,000 take about a millisecond.
pub(crate) fn threads_for(instructions: usize) -> usize {
    1 + instructions / 2000
}
