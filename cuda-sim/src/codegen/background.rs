//! Background compilation: a queue of tasks, and threads that run while there are tasks.
//!
//! LLVM's tables must not be destroyed while a thread uses them. At the end of the process, [`Queue::close`] therefore
//! waits for the tasks that have begun and drops the others. A task whose owner was dropped does not begin, so unloaded
//! modules are not compiled.

use crate::sync::{Condvar, Mutex, spawn};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// A task that can run in the background.
pub(super) trait Task: Send + Sync {
    fn run(&self);
}

/// A queue of tasks, with the number of threads that run them.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    /// Notified when a thread ends.
    ended: Condvar,
    /// Notified when the queue is closed.
    closed: Condvar,
}

struct State<T> {
    waiting: VecDeque<Weak<T>>,
    threads: usize,
    /// The time at which tasks may begin; `None` for at once.
    begin: Option<Instant>,
    closed: bool,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        let state = State { waiting: VecDeque::new(), threads: 0, begin: None, closed: false };
        Queue { state: Mutex::new(state), ended: Condvar::default(), closed: Condvar::default() }
    }
}

/// The stack size of a compiler thread.
const STACK: usize = 16 << 20;

impl<T: Task + 'static> Queue<T> {
    /// Adds tasks and starts up to `most` threads for them, none of which begins before `grace` has passed. If the
    /// system gives no thread, or the queue is closed, the tasks are dropped.
    pub(super) fn push(self: &Arc<Self>, tasks: impl IntoIterator<Item = Weak<T>>, most: usize, grace: Duration) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        state.begin = (!grace.is_zero()).then(|| Instant::now() + grace);
        state.waiting.extend(tasks);
        let wanted = most.min(state.threads + state.waiting.len());
        while state.threads < wanted {
            state.threads += 1;
            let queue = Arc::clone(self);
            if !spawn("cuda-sim translation".to_owned(), STACK, move || queue.work()) {
                state.threads -= 1;
                break;
            }
        }
        if state.threads == 0 {
            state.waiting.clear();
        }
    }

    /// Runs tasks until the queue is empty.
    fn work(&self) {
        while let Some(task) = self.next() {
            // The panic was reported; the owner keeps the code that it has.
            let _ = catch_unwind(AssertUnwindSafe(|| task.run()));
        }
    }

    /// Returns the next task whose owner is alive. A thread that gets none ends.
    fn next(&self) -> Option<Arc<T>> {
        let mut state = self.state.lock();
        while let Some(left) = state.begin.and_then(|begin| begin.checked_duration_since(Instant::now()))
            && !state.closed
        {
            (state, _) = self.closed.wait_for(state, left);
        }
        while let Some(task) = state.waiting.pop_front() {
            if let Some(task) = task.upgrade() {
                return Some(task);
            }
        }
        state.threads -= 1;
        self.ended.notify_all();
        None
    }

    /// Drops the tasks that have not begun, accepts no more, and waits for those that run. If that takes longer than `patience`,
    /// `slow` is called once.
    pub(super) fn close(&self, patience: Duration, slow: impl FnOnce()) {
        let mut state = self.state.lock();
        state.closed = true;
        state.waiting.clear();
        self.closed.notify_all();
        let mut slow = Some(slow);
        while state.threads > 0 {
            let timed_out;
            (state, timed_out) = self.ended.wait_for(state, patience);
            if let Some(slow) = slow.take_if(|_| timed_out) {
                slow();
            }
        }
    }

    /// Waits until all tasks are done.
    #[cfg(any(test, loom))]
    pub(super) fn wait_idle(&self) {
        let mut state = self.state.lock();
        while state.threads > 0 {
            state = self.ended.wait(state);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    const GRACE: Duration = Duration::from_millis(1);

    struct Count(AtomicUsize);

    impl Task for Count {
        fn run(&self) {
            assert_ne!(self.0.fetch_add(1, Ordering::Relaxed), 100, "a task that panics");
        }
    }

    fn count(from: usize) -> Arc<Count> {
        Arc::new(Count(AtomicUsize::new(from)))
    }

    #[test]
    fn tasks_are_done_but_those_whose_owner_is_gone_and_a_panic_is_one_tasks() {
        let queue = Arc::new(Queue::default());
        let (one, panics, two, gone) = (count(0), count(100), count(0), count(0));
        let tasks = [&one, &panics, &gone, &two].map(Arc::downgrade);
        drop(gone);
        queue.push(tasks, 1, GRACE);
        queue.wait_idle();
        assert_eq!([&one, &panics, &two].map(|task| task.0.load(Ordering::Relaxed)), [1, 101, 1]);
        queue.push([Arc::downgrade(&one)], 3, GRACE);
        queue.wait_idle();
        assert_eq!(one.0.load(Ordering::Relaxed), 2, "threads that have ended are replaced");
    }

    #[test]
    fn a_queue_that_is_closed_takes_nothing() {
        let queue = Arc::new(Queue::default());
        let task = count(0);
        queue.close(Duration::MAX, || {});
        queue.push([Arc::downgrade(&task)], 2, GRACE);
        queue.close(Duration::MAX, || {});
        assert_eq!(task.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn who_closes_a_queue_does_not_wait_for_tasks_that_may_not_begin() {
        let queue = Arc::new(Queue::default());
        let task = count(0);
        queue.push([Arc::downgrade(&task)], 2, Duration::from_secs(1 << 30));
        queue.close(Duration::MAX, || {});
        assert_eq!(task.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn who_closes_a_queue_hears_once_of_a_task_that_does_not_end() {
        struct Slow {
            has_begun: AtomicBool,
            end: Mutex<std::sync::mpsc::Receiver<()>>,
        }
        impl Task for Slow {
            fn run(&self) {
                self.has_begun.store(true, Ordering::Relaxed);
                self.end.lock().recv().expect("the sender is alive");
            }
        }
        let queue = Arc::new(Queue::default());
        let (end, wait) = std::sync::mpsc::channel();
        let task = Arc::new(Slow { has_begun: AtomicBool::new(false), end: Mutex::new(wait) });
        queue.push([Arc::downgrade(&task)], 1, Duration::ZERO);
        while !task.has_begun.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let mut heard = 0;
        queue.close(GRACE, || {
            heard += 1;
            end.send(()).expect("the task waits");
        });
        assert_eq!(heard, 1);
    }

    #[test]
    fn without_threads_nothing_waits() {
        let queue = Arc::new(Queue::default());
        let task = count(0);
        queue.push([Arc::downgrade(&task)], 0, GRACE);
        queue.wait_idle();
        assert_eq!((task.0.load(Ordering::Relaxed), Arc::weak_count(&task)), (0, 0));
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use loom::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Task for Count {
        fn run(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn model(body: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(body);
    }

    /// A task that is added while the last thread ends is run all the same, once.
    #[test]
    fn loom_a_task_is_done_once_whenever_it_comes() {
        model(|| {
            let queue = Arc::new(Queue::default());
            let tasks = [Arc::new(Count::default()), Arc::new(Count::default())];
            queue.push([Arc::downgrade(&tasks[0])], 1, Duration::ZERO);
            queue.push([Arc::downgrade(&tasks[1])], 1, Duration::ZERO);
            queue.wait_idle();
            assert!(tasks.iter().all(|task| task.0.load(Ordering::Relaxed) == 1));
        });
    }

    /// After a queue was closed, no task runs.
    #[test]
    fn loom_a_closed_queue_does_nothing_more() {
        model(|| {
            let queue = Arc::new(Queue::default());
            let tasks = [Arc::new(Count::default()), Arc::new(Count::default())];
            queue.push(tasks.each_ref().map(Arc::downgrade), 2, Duration::ZERO);
            queue.close(Duration::MAX, || {});
            let done = || tasks.iter().map(|task| task.0.load(Ordering::Relaxed)).sum::<usize>();
            let before = done();
            loom::thread::yield_now();
            assert_eq!(done(), before);
        });
    }
}
