//! Loom models: every interleaving of small programs on the real engine.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p cuda-sim --lib loom --profile loom`. Loom also reports a thread that waits for
//! ever, so each model shows that no wake-up is lost.
//!
//! # Safety
//!
//! The cells are tracked by loom: an unordered access fails the model.

use super::{BatchEntry as Entry, Engine, Lane, Order, Start, Task};
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// A cell that loom tracks: two unordered accesses are an error.
struct Watched(UnsafeCell<u32>);
// SAFETY: loom checks that all accesses are ordered.
unsafe impl Send for Watched {}
// SAFETY: loom checks that all accesses are ordered.
unsafe impl Sync for Watched {}

type Cell = Arc<Watched>;

enum Step {
    Write(Cell, u32),
    /// Expects the value and writes the next one.
    Follow(Cell, u32),
    Count(Arc<AtomicUsize>),
}

impl Task for Step {
    fn run(self) {
        match self {
            // SAFETY: loom checks that no other access is concurrent.
            Step::Write(cell, value) => cell.0.with_mut(|at| unsafe { *at = value }),
            Step::Follow(cell, expected) => cell.0.with_mut(|at| {
                // SAFETY: loom checks that no other access is concurrent.
                let found = unsafe { *at };
                assert_eq!(found, expected);
                // SAFETY: loom checks that no other access is concurrent.
                unsafe { *at = expected + 1 };
            }),
            Step::Count(count) => drop(count.fetch_add(1, Ordering::Relaxed)),
        }
    }

    fn runs_on_any_thread(&self) -> bool {
        !matches!(self, Step::Write(..))
    }
}

fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(body);
}

fn cell() -> Cell {
    Arc::new(Watched(UnsafeCell::new(0)))
}

fn read(cell: &Cell) -> u32 {
    // SAFETY: loom checks that no other access is concurrent.
    cell.0.with(|at| unsafe { *at })
}

/// A queue's entries run in order, each once, on a driver or on the waiting thread.
#[test]
fn loom_a_queue_runs_in_order_and_each_entry_once() {
    model(|| {
        let engine = Engine::new(1);
        let cell = cell();
        let group = engine.group();
        let queue = engine.queue(group, Order::NonBlocking, 0);
        engine.submit(queue, Vec::new(), Some(Step::Follow(Arc::clone(&cell), 0)), Start::Driver);
        let last = engine.submit(queue, Vec::new(), Some(Step::Follow(Arc::clone(&cell), 1)), Start::Driver);
        engine.wait(last);
        assert_eq!(read(&cell), 2);
        engine.end();
    });
}

/// A wait for an event: the second queue sees the writes of the first one before the point.
#[test]
fn loom_a_point_orders_two_queues() {
    model(|| {
        let engine = Engine::new(2);
        let cell = cell();
        let group = engine.group();
        let (a, b) = (engine.queue(group, Order::NonBlocking, 0), engine.queue(group, Order::NonBlocking, 0));
        let recorded = engine.submit(a, Vec::new(), Some(Step::Write(Arc::clone(&cell), 1)), Start::Driver);
        let last = engine.submit(b, vec![recorded], Some(Step::Follow(Arc::clone(&cell), 1)), Start::Driver);
        engine.wait(last);
        assert_eq!(read(&cell), 2);
        engine.end();
    });
}

/// Two threads submit to one queue and synchronise: nothing is lost, and nobody waits for ever.
#[test]
fn loom_two_clients_on_one_queue() {
    model(|| {
        let engine = Engine::new(1);
        let count = Arc::new(AtomicUsize::new(0));
        let group = engine.group();
        let queue = engine.queue(group, Order::Blocking, 0);
        let (other, counted) = (Arc::clone(&engine), Arc::clone(&count));
        let thread = loom::thread::spawn(move || {
            let point = other.submit(queue, Vec::new(), Some(Step::Count(counted)), Start::Driver);
            other.wait(point);
        });
        let point = engine.submit(queue, Vec::new(), Some(Step::Count(Arc::clone(&count))), Start::Here);
        engine.wait(point);
        thread.join().unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 2);
        engine.end();
    });
}

/// Blocking queue, legacy queue, blocking queue: they run in this order although they are three queues.
#[test]
fn loom_the_legacy_queue_stands_between() {
    model(|| {
        let engine = Engine::new(1);
        let cell = cell();
        let group = engine.group();
        let legacy = engine.queue(group, Order::Legacy, 0);
        let (a, b) = (engine.queue(group, Order::Blocking, 0), engine.queue(group, Order::Blocking, 0));
        engine.submit(a, Vec::new(), Some(Step::Write(Arc::clone(&cell), 1)), Start::Driver);
        engine.submit(legacy, Vec::new(), Some(Step::Follow(Arc::clone(&cell), 1)), Start::Driver);
        let last = engine.submit(b, Vec::new(), Some(Step::Follow(Arc::clone(&cell), 2)), Start::Driver);
        engine.wait(last);
        assert_eq!(read(&cell), 3);
        engine.end();
    });
}

/// A queue that is closed while it has work finishes it.
#[test]
fn loom_a_queue_closed_under_way() {
    model(|| {
        let engine = Engine::new(1);
        let cell = cell();
        let group = engine.group();
        let queue = engine.queue(group, Order::Blocking, 0);
        let point = engine.submit(queue, Vec::new(), Some(Step::Write(Arc::clone(&cell), 1)), Start::Driver);
        engine.close(queue);
        engine.wait(point);
        assert_eq!(read(&cell), 1);
        engine.end();
    });
}

/// A batch that forks from its queue and joins it again: both branches run between the entries before and after it.
#[test]
fn loom_a_batch_forks_and_joins() {
    model(|| {
        let engine = Engine::new(2);
        let (left, right) = (cell(), cell());
        let group = engine.group();
        let queue = engine.queue(group, Order::NonBlocking, 0);
        let follow = |cell: &Cell, value| Some(Step::Follow(Arc::clone(cell), value));
        let entry = |lane, after: &[usize], task| Entry { lane, depends: Vec::new(), after: after.to_vec(), task };
        let lanes = [Lane::Queue(queue), Lane::New(group, 0)];
        let batch = vec![
            entry(0, &[], Some(Step::Write(Arc::clone(&left), 1))),
            entry(1, &[0], follow(&right, 0)),
            entry(0, &[], follow(&left, 1)),
            entry(0, &[1], None),
        ];
        engine.submit_batch(&lanes, batch);
        let last = engine.submit(queue, Vec::new(), follow(&right, 1), Start::Driver);
        engine.wait(last);
        assert_eq!((read(&left), read(&right)), (2, 2));
        engine.end();
    });
}
