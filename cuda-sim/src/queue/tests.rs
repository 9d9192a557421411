//! Tests of the engine with real threads: order, dependencies, the legacy rules, and the absence of threads for idle
//! queues.

use super::{BatchEntry as Entry, Engine, Lane, Order, Point, Start, Task};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;

/// The entries that have run, in order, and a gate at which entries can wait.
#[derive(Default)]
struct Log {
    ran: Mutex<Vec<u32>>,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Log {
    fn open(&self) {
        *self.open.lock() = true;
        self.opened.notify_all();
    }

    fn order(&self) -> Vec<u32> {
        self.ran.lock().clone()
    }
}

struct Step {
    log: Arc<Log>,
    number: u32,
    gated: bool,
    runs_on_any_thread: bool,
}

impl Task for Step {
    fn run(self) {
        if self.gated {
            let mut open = self.log.open.lock();
            while !*open {
                self.log.opened.wait(&mut open);
            }
        }
        self.log.ran.lock().push(self.number);
    }

    fn runs_on_any_thread(&self) -> bool {
        self.runs_on_any_thread
    }
}

fn step(log: &Arc<Log>, number: u32) -> Option<Step> {
    Some(Step { log: Arc::clone(log), number, gated: false, runs_on_any_thread: true })
}

fn gated(log: &Arc<Log>, number: u32) -> Option<Step> {
    Some(Step { log: Arc::clone(log), number, gated: true, runs_on_any_thread: false })
}

fn engine() -> (Arc<Engine<Step>>, Arc<Log>) {
    (Engine::new(8), Arc::default())
}

#[test]
fn a_queue_keeps_its_order_and_others_go_on() {
    let (engine, log) = engine();
    let group = engine.group();
    let (a, b) = (engine.queue(group, Order::Blocking, 0), engine.queue(group, Order::Blocking, 0));
    engine.submit(a, Vec::new(), gated(&log, 1), Start::Driver);
    let last = engine.submit(a, Vec::new(), step(&log, 2), Start::Driver);
    let other = engine.submit(b, Vec::new(), step(&log, 3), Start::Driver);
    engine.wait(other);
    assert_eq!(log.order(), [3]);
    assert!(!engine.reached(last));
    log.open();
    engine.wait(last);
    assert_eq!(log.order(), [3, 1, 2]);
    assert!(engine.group_tails(group).is_empty());
}

#[test]
fn an_entry_waits_for_points_of_other_queues() {
    let (engine, log) = engine();
    let group = engine.group();
    let (a, b) = (engine.queue(group, Order::NonBlocking, 0), engine.queue(group, Order::NonBlocking, 0));
    let first = engine.submit(a, Vec::new(), gated(&log, 1), Start::Driver);
    engine.submit(b, vec![first], None, Start::Here);
    let last = engine.submit(b, Vec::new(), step(&log, 2), Start::Here);
    assert!(!engine.reached(last));
    log.open();
    engine.wait(last);
    assert_eq!(log.order(), [1, 2]);
}

#[test]
fn the_legacy_queue_is_ordered_with_blocking_ones_only() {
    let (engine, log) = engine();
    let group = engine.group();
    let legacy = engine.queue(group, Order::Legacy, 0);
    let (blocking, free) = (engine.queue(group, Order::Blocking, 0), engine.queue(group, Order::NonBlocking, 0));
    engine.submit(blocking, Vec::new(), gated(&log, 1), Start::Driver);
    engine.submit(legacy, Vec::new(), step(&log, 2), Start::Driver);
    let after = engine.submit(blocking, Vec::new(), step(&log, 3), Start::Driver);
    let apart = engine.submit(free, Vec::new(), step(&log, 4), Start::Driver);
    engine.wait(apart);
    assert_eq!(log.order(), [4]);
    assert_eq!(engine.tails(legacy).len(), 2, "the blocking queue and its own");
    assert!(!engine.reached(after));
    log.open();
    engine.wait(after);
    assert_eq!(log.order(), [4, 1, 2, 3]);
}

#[test]
fn the_waiting_thread_runs_what_nobody_took() {
    let (engine, log) = engine();
    let group = engine.group();
    let queue = engine.queue(group, Order::Blocking, 0);
    for number in 0..100 {
        let point = engine.submit(queue, Vec::new(), step(&log, number), Start::Wait);
        engine.wait(point);
    }
    assert_eq!(log.order(), (0..100).collect::<Vec<_>>());
    assert_eq!(engine.drivers(), 0, "no thread was needed");
}

#[test]
fn a_closed_queue_finishes_and_takes_nothing_more() {
    let (engine, log) = engine();
    let group = engine.group();
    let queue = engine.queue(group, Order::Blocking, 0);
    engine.submit(queue, Vec::new(), gated(&log, 1), Start::Driver);
    let last = engine.submit(queue, Vec::new(), step(&log, 2), Start::Driver);
    engine.close(queue);
    let refused: Point = engine.submit(queue, Vec::new(), step(&log, 3), Start::Driver);
    log.open();
    engine.wait(last);
    engine.wait(refused);
    assert_eq!(log.order(), [1, 2]);
}

#[test]
fn many_queues_on_few_drivers() {
    let engine = Engine::new(2);
    let log = Arc::<Log>::default();
    let group = engine.group();
    let queues: Vec<_> = (0..20).map(|_| engine.queue(group, Order::NonBlocking, 0)).collect();
    let points: Vec<_> = (0..1000u32)
        .map(|n| engine.submit(queues[n as usize % 20], Vec::new(), step(&log, n), Start::Driver))
        .collect();
    points.into_iter().for_each(|point| engine.wait(point));
    let order = log.order();
    assert_eq!(order.len(), 1000);
    for lane in 0..20 {
        let own: Vec<_> = order.iter().filter(|n| *n % 20 == lane).collect();
        assert!(own.is_sorted(), "{own:?}");
    }
}

#[test]
fn a_batch_is_one_item_of_its_queue_and_its_branches_run_at_once() {
    let (engine, log) = engine();
    let group = engine.group();
    let queue = engine.queue(group, Order::Blocking, 0);
    let lanes = [Lane::Queue(queue), Lane::New(group, 0), Lane::New(group, 0)];
    let entry = |lane, after: &[usize], task| Entry { lane, depends: Vec::new(), after: after.to_vec(), task };
    // 1, then 2 (waiting at the gate) concurrently with 3 and 4; then 5.
    let batch = vec![
        entry(0, &[], step(&log, 1)),
        entry(1, &[0], gated(&log, 2)),
        entry(2, &[0], step(&log, 3)),
        entry(2, &[], step(&log, 4)),
        entry(0, &[1, 3], step(&log, 5)),
    ];
    let points = engine.submit_batch(&lanes, batch);
    let last = engine.submit(queue, Vec::new(), step(&log, 6), Start::Driver);
    engine.wait(points[3]);
    assert_eq!(log.order(), [1, 3, 4]);
    assert_eq!(engine.group_tails(group).len(), 2, "the queue and the held branch");
    log.open();
    engine.wait(last);
    assert_eq!(log.order(), [1, 3, 4, 2, 5, 6]);
    assert!(points.iter().all(|point| engine.reached(*point)), "points of ended lanes are reached");
    assert!(engine.group_tails(group).is_empty());
}
