//! Every interleaving of small programs on the crate's real code.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p cuda-driver --lib loom --profile loom`. loom also reports a thread that waits for ever,
//! so each model that waits shows that no wake-up is lost.

use std::convert::Infallible;
use std::task::{Wake, Waker};

use cuda_sys::CUresult;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::context::Poison;
use crate::error::DriverError;
use crate::graph::captures::Captures;
use crate::panic::{COUNT, GraphRecords, LaunchId, LaunchLog, RawPanic, RecordSlots, Waiter, slot_of};
use crate::registry::Registry;
use crate::stream::done::Completion;
use crate::stream::pool::Pool;
use crate::sync::{Arc, Condvar, Mutex};

fn model(body: impl Fn() + Send + Sync + 'static) {
    preempted(3, body);
}

/// Runs a program in each interleaving with at most this number of preemptions.
fn preempted(at_most: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(at_most);
    builder.check(body);
}

/// A value whose constructions and drops are counted.
struct Made(Arc<AtomicUsize>);

impl Drop for Made {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Many threads use a driver, or a device's context, for the first time: one makes it, and all get the same.
#[test]
fn loom_one_of_many_first_users_makes_the_object() {
    model(|| {
        let (registry, live, made) = (Arc::new(Registry::default()), counter(), counter());
        let get = {
            let (registry, live, made) = (registry.clone(), live.clone(), made.clone());
            move || {
                let make = || {
                    made.fetch_add(1, Ordering::SeqCst);
                    live.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, Infallible>(Arc::new(Made(live.clone())))
                };
                registry.find_or_make(|_| true, make).unwrap()
            }
        };
        let other = get.clone();
        let thread = thread::spawn(move || other());
        let mine = get();
        let theirs = thread.join().unwrap();
        assert!(Arc::ptr_eq(&mine, &theirs));
        assert_eq!((made.load(Ordering::SeqCst), live.load(Ordering::SeqCst)), (1, 1));
        drop((mine, theirs));
        assert_eq!(live.load(Ordering::SeqCst), 0);
    });
}

/// One thread drops the last reference while another looks the value up: constructions and drops balance, and nobody
/// gets a dropped value.
#[test]
fn loom_a_dropped_object_is_recreated() {
    model(|| {
        let (registry, live) = (Arc::new(Registry::default()), counter());
        let get = {
            let (registry, live) = (registry.clone(), live.clone());
            move || {
                let make = || {
                    live.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, Infallible>(Arc::new(Made(live.clone())))
                };
                registry.find_or_make(|_| true, make).unwrap()
            }
        };
        let first = get();
        let thread = thread::spawn(move || drop(first));
        let second = get();
        assert!(live.load(Ordering::SeqCst) >= 1);
        assert!(registry.while_empty(|| ()).is_none(), "one is held");
        thread.join().unwrap();
        drop(second);
        assert_eq!(live.load(Ordering::SeqCst), 0);
        assert!(registry.while_empty(|| ()).is_some());
    });
}

/// A failed construction is retried by the next thread.
#[test]
fn loom_a_failed_construction_is_retried() {
    model(|| {
        let (registry, tries) = (Arc::new(Registry::<usize>::default()), counter());
        let get = {
            let (registry, tries) = (registry.clone(), tries.clone());
            move || {
                let make = || match tries.fetch_add(1, Ordering::SeqCst) {
                    0 => Err(()),
                    tried => Ok(Arc::new(tried)),
                };
                registry.find_or_make(|_| true, make)
            }
        };
        let other = get.clone();
        let thread = thread::spawn(move || other().is_ok());
        let mine = get().is_ok();
        let theirs = thread.join().unwrap();
        assert!(mine != theirs, "the first fails, the second succeeds");
    });
}

/// Wakes a thread that waits for it.
#[derive(Default)]
struct Alarm {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        *self.rung.lock() = true;
        self.changed.notify_all();
    }
}

impl Alarm {
    fn wait(&self) {
        let mut rung = self.rung.lock();
        while !*rung {
            rung = self.changed.wait(rung);
        }
        *rung = false;
    }
}

/// Polls until the completion has a status, and sleeps in between.
fn wait_for(signal: &Completion) -> CUresult {
    let alarm = Arc::new(Alarm::default());
    let waker = Waker::from(alarm.clone());
    loop {
        match signal.poll(&waker) {
            Some(status) => return status,
            None => alarm.wait(),
        }
    }
}

/// The driver's callback comes before, during or after a poll of the future: a waker that was stored is called.
#[test]
fn loom_a_callback_wakes_the_task_that_polled() {
    model(|| {
        let signal = Arc::new(Completion::new());
        let driver = signal.clone();
        let thread = thread::spawn(move || driver.complete(CUresult::CUDA_ERROR_UNKNOWN));
        assert_eq!(wait_for(&signal), CUresult::CUDA_ERROR_UNKNOWN);
        thread.join().unwrap();
        assert_eq!(wait_for(&signal), CUresult::CUDA_ERROR_UNKNOWN);
    });
}

/// A future moves from one task to another before it completes: the task that polled last is woken.
#[test]
fn loom_a_callback_wakes_the_last_task_that_polled() {
    model(|| {
        let signal = Arc::new(Completion::new());
        let driver = signal.clone();
        let thread = thread::spawn(move || driver.complete(CUresult::CUDA_SUCCESS));
        let asleep = Waker::from(Arc::new(Alarm::default()));
        if signal.poll(&asleep).is_none() {
            wait_for(&signal);
        }
        thread.join().unwrap();
    });
}

/// A future is dropped while the driver calls back: no dropped task is woken, and the waker is not leaked.
#[test]
fn loom_a_dropped_future_leaves_no_waker() {
    model(|| {
        let signal = Arc::new(Completion::new());
        let driver = signal.clone();
        let thread = thread::spawn(move || driver.complete(CUresult::CUDA_SUCCESS));
        let alarm = Arc::new(Alarm::default());
        let _ = signal.poll(&Waker::from(alarm.clone()));
        signal.abandon();
        thread.join().unwrap();
        assert_eq!(Arc::strong_count(&alarm), 1);
    });
}

/// Two threads take from a pool and put back: no object has two owners, and none is lost.
#[test]
fn loom_a_pool_hands_each_thing_to_one() {
    model(|| {
        let pool = Arc::new(Pool::default());
        assert!(pool.put(counter()).is_none() && pool.put(counter()).is_none());
        let use_one = |pool: &Pool<Arc<AtomicUsize>>| {
            let spare = pool.take().expect("there are two");
            assert_eq!(spare.fetch_add(1, Ordering::Relaxed), 0, "it is in other hands");
            spare.fetch_sub(1, Ordering::Relaxed);
            assert!(pool.put(spare).is_none());
        };
        let theirs = pool.clone();
        let thread = thread::spawn(move || use_one(&theirs));
        use_one(&pool);
        thread.join().unwrap();
        assert!(pool.take().is_some() && pool.take().is_some() && pool.take().is_none());
    });
}

fn failure(call: &'static str) -> DriverError {
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    DriverError { code, call, name: String::new(), text: String::new() }
}

/// Two sticky errors at once: one becomes the first cause for all threads, and every thread that reported one finds the
/// context lost.
#[test]
fn loom_a_context_is_lost_for_one_cause() {
    model(|| {
        let poison = Arc::new(Poison::default());
        let fail = |poison: &Poison, call| {
            poison.report(&failure(call));
            poison.first().expect("it has failed").call
        };
        let theirs = poison.clone();
        let thread = thread::spawn(move || fail(&theirs, "theirs"));
        let mine = fail(&poison, "mine");
        assert_eq!(mine, thread.join().unwrap());
        assert_eq!(mine, poison.first().unwrap().call);
    });
}

/// A context is synchronised while another thread captures repeatedly: the synchronisation never runs during a capture,
/// and no thread waits for ever.
#[test]
fn loom_a_synchronisation_waits_for_captures() {
    model(|| {
        let (captures, running) = (Arc::new(Captures::default()), counter());
        let (theirs, seen) = (captures.clone(), running.clone());
        let thread = thread::spawn(move || {
            let running = theirs.while_none_active(|| seen.load(Ordering::SeqCst)).unwrap();
            assert_eq!(running, 0, "a capture runs meanwhile");
        });
        for _ in 0..2 {
            captures.begin();
            running.store(1, Ordering::SeqCst);
            assert!(captures.while_none_active(|| ()).is_err(), "it would wait for itself");
            running.store(0, Ordering::SeqCst);
            captures.end_own(|_| ());
        }
        thread.join().unwrap();
        captures.while_none_active(|| ()).unwrap();
    });
}

/// The panic records of a thread's launches, with the device that writes them: a kernel may run while its launch call
/// is being made.
#[derive(Default)]
struct Device {
    kernels: [AtomicUsize; COUNT],
    launches: [AtomicUsize; COUNT],
}

impl Device {
    /// The kernel of a launch panics.
    fn panic(&self, launch: u64) {
        let slot = slot_of(launch);
        assert!(self.is_free(slot), "an earlier panic is there still, or another launch has the record");
        self.launches[slot].store(launch as usize, Ordering::Relaxed);
        self.kernels[slot].store(1, Ordering::Release);
    }
}

impl RecordSlots for Device {
    fn is_free(&self, slot: usize) -> bool {
        self.kernels[slot].load(Ordering::Acquire) == 0
    }

    fn read(&self, slot: usize) -> Option<(RawPanic, u32)> {
        let raw = RawPanic { kernel: 1, site: 0, block: [0; 3], thread: [0; 3], args: [0; 8] };
        (!self.is_free(slot)).then(|| (raw, self.launches[slot].load(Ordering::Relaxed) as u32))
    }

    fn free(&self, slot: usize) {
        self.kernels[slot].store(0, Ordering::Release);
    }
}

/// The launch log of a stream.
type StreamLog = LaunchLog<Device>;

/// Makes a launch that panics or not; its record must stay untouched until its call has returned. Returns the index of
/// the thread's log and the launch's number.
fn launch(line: &StreamLog, thread: u32, panics: bool) -> LaunchId {
    let log = line.of_thread(thread, |_| true);
    let records = log.records(|| Ok::<_, Infallible>(Device::default())).unwrap();
    let number = log.begin(records);
    if panics {
        records.panic(number);
        assert!(!records.is_free(slot_of(number)), "other threads of the kernel may look at it");
    }
    log.end();
    log.id(number)
}

/// Waits for the stream. Returns the launches whose panics the wait reports to the thread.
fn wait(line: &StreamLog, thread: u32) -> Vec<LaunchId> {
    let covered = line.returned();
    let mut reported = Vec::new();
    if line.find(&covered) {
        line.report(&covered, &Waiter::of_thread(thread), |launch, _| reported.push(launch));
    }
    reported
}

/// Two threads launch in one stream and wait for it concurrently: each gets its own panic from its own wait once, and
/// the other's at most once.
#[test]
fn loom_each_thread_gets_its_own_panic() {
    model(|| {
        let line = Arc::new(StreamLog::default());
        let run = |line: &StreamLog, thread: u32| {
            let own = launch(line, thread, true);
            let reported = wait(line, thread);
            assert_eq!(reported.iter().filter(|launch| **launch == own).count(), 1, "{reported:?} with {own:?}");
            assert!(!wait(line, thread).contains(&own));
            (own, reported)
        };
        let theirs = line.clone();
        let other = thread::spawn(move || run(&theirs, 2));
        let (mine, reported) = run(&line, 1);
        let (their_own, their_reports) = other.join().unwrap();
        assert_ne!(mine, their_own);
        assert!(reported.iter().filter(|launch| **launch == their_own).count() <= 1);
        assert!(their_reports.iter().filter(|launch| **launch == mine).count() <= 1);
    });
}

/// A thread without panics waits for the stream while another thread's launches panic: no panic is lost, whichever
/// thread scans the record first, and none is reported twice to either.
#[test]
fn loom_a_concurrent_wait_takes_no_panic_of_another_thread() {
    // With three it takes 36 seconds.
    preempted(2, || {
        let line = Arc::new(StreamLog::default());
        let theirs = line.clone();
        let other = thread::spawn(move || {
            for _ in 0..2 {
                let own = launch(&theirs, 2, true);
                assert_eq!(wait(&theirs, 2), [own]);
            }
        });
        launch(&line, 1, false);
        let reported = [wait(&line, 1), wait(&line, 1)].concat();
        assert!(reported.windows(2).all(|pair| pair[0] != pair[1]), "once to others");
        other.join().unwrap();
        assert_eq!(wait(&line, 1).len(), 0, "its own thread was told, who is the one to be told");
    });
}

/// A thread waits for another one's launch of a graph, which has panicked: until its own thread is told, the launch never counts
/// as reported. Else a stream that is ordered after it meanwhile would not report the panic.
#[test]
fn loom_a_graphs_panic_is_found_before_its_launch_counts_as_reported() {
    model(|| {
        let line = Arc::new(StreamLog::default());
        let device = Device::default();
        device.panic(COUNT as u64);
        let log = line.of_thread(1, |_| true);
        let own = line.begin_graph(log, &[std::sync::Arc::new(GraphRecords::of_kernel(device))], 1);
        log.end();
        // The new thread asks: loom moves its loads before stores that have run, and would not move an earlier load behind them.
        let (launches, theirs) = (line.returned(), line.clone());
        let ordering = thread::spawn(move || assert!(!theirs.is_reported(&launches)));
        assert_eq!(wait(&line, 2), [own]);
        ordering.join().unwrap();
        assert_eq!(wait(&line, 1), [own]);
        assert!(line.is_reported(&line.returned()));
    });
}

fn counter() -> Arc<AtomicUsize> {
    Arc::new(AtomicUsize::new(0))
}
