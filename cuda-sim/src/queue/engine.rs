//! The state of the queues, and all operations on it.

use super::{BatchEntry, GroupId, Lane, Order, Point, QueueId, Start, Task};
use crate::sync::{AtomicU64, Condvar, Mutex, MutexGuard, Ordering, spawn, spin};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// The limit on drivers: the number of kernels that NVIDIA's devices run concurrently.
pub(crate) const DRIVERS: usize = 128;
/// The stack size of a driver: calls of device functions run on it.
const STACK: usize = 16 << 20;
/// The time after which an idle driver ends.
const LINGER: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Ready,
    Running,
    Blocked,
}

enum Waiter {
    Queue(QueueId),
    Thread(Arc<Condvar>),
}

struct Entry<T> {
    depends: Vec<Point>,
    task: Option<T>,
}

struct Queue<T> {
    serial: u64,
    group: GroupId,
    order: Order,
    priority: i32,
    entries: VecDeque<Entry<T>>,
    submitted: u64,
    completed: u64,
    phase: Phase,
    listed: bool,
    closed: bool,
    waiters: Vec<(u64, Waiter)>,
}

#[derive(Default)]
struct Group {
    legacy: Option<QueueId>,
    queues: Vec<QueueId>,
    /// The number of queues that are not idle.
    busy: usize,
    /// The last points of closed blocking queues, if the order is recorded, since the last entry of the legacy queue.
    past: Vec<Point>,
}

struct State<T> {
    queues: Vec<Option<Queue<T>>>,
    groups: Vec<Group>,
    serial: u64,
    ready: VecDeque<QueueId>,
    drivers: usize,
    /// The number of sleeping drivers, and of those among them that were woken but do not run yet.
    asleep: usize,
    wakes: usize,
    /// The number of drivers that were woken or started and have not looked at the list yet.
    coming: usize,
    limit: usize,
    closing: bool,
}

/// The action on drivers that remains after the lock is released.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq)]
enum DriverAction {
    Nobody,
    Asleep,
    New,
}

/// All queues of the process.
pub(crate) struct Engine<T> {
    state: Mutex<State<T>>,
    wake: Condvar,
    /// The number of finished entries, for threads that poll.
    finished: AtomicU64,
}

impl<T: Task> State<T> {
    fn queue(&mut self, id: QueueId) -> Option<&mut Queue<T>> {
        self.queues.get_mut(id.index as usize)?.as_mut().filter(|q| q.serial == id.serial)
    }

    fn reached(&self, point: Point) -> bool {
        let queue = self.queues.get(point.queue.index as usize).and_then(Option::as_ref);
        queue.filter(|q| q.serial == point.queue.serial).is_none_or(|q| q.completed >= point.number)
    }

    fn tail(&self, id: QueueId) -> Option<Point> {
        let queue = self.queues.get(id.index as usize)?.as_ref().filter(|q| q.serial == id.serial)?;
        Some(Point { queue: id, number: queue.submitted })
    }

    /// Adds the points of other queues on which an entry of this one implicitly depends.
    fn implied(&self, id: QueueId, group: GroupId, order: Order, depends: &mut Vec<Point>) {
        let (group, all) = (&self.groups[group.0 as usize], T::records_order());
        let others: &[QueueId] = match order {
            Order::NonBlocking => &[],
            Order::Blocking => group.legacy.as_slice(),
            Order::Legacy if group.busy == 0 && !all => &[],
            Order::Legacy => &group.queues,
        };
        if order == Order::Legacy {
            depends.extend(&group.past);
        }
        let blocking = |q: &QueueId| {
            *q != id && self.queues[q.index as usize].as_ref().is_some_and(|q| q.order != Order::NonBlocking)
        };
        let tails = others.iter().filter(|q| blocking(q)).filter_map(|q| self.tail(*q));
        depends.extend(tails.filter(|point| all || !self.reached(*point)));
    }

    /// Determines the phase of a queue that is not running.
    fn update_phase(&mut self, id: QueueId) {
        loop {
            let Some(queue) = self.queue(id) else { return };
            let Some(first) = queue.entries.front_mut() else {
                queue.phase = Phase::Idle;
                let (group, closed) = (queue.group, queue.closed);
                self.groups[group.0 as usize].busy -= 1;
                if closed {
                    self.remove(id);
                }
                return;
            };
            let Some(point) = first.depends.last().copied() else {
                queue.phase = Phase::Ready;
                return;
            };
            if !self.reached(point) {
                if let Some(queue) = self.queue(id) {
                    queue.phase = Phase::Blocked;
                }
                if let Some(other) = self.queue(point.queue) {
                    other.waiters.push((point.number, Waiter::Queue(id)));
                }
                return;
            }
            if let Some(first) = self.queue(id).and_then(|q| q.entries.front_mut()) {
                first.depends.pop();
            }
        }
    }

    /// Adds a ready queue to the list for the drivers, ordered by priority: lower numbers come first.
    fn list(&mut self, id: QueueId) {
        let Some(queue) = self.queue(id) else { return };
        if queue.phase != Phase::Ready || queue.listed {
            return;
        }
        queue.listed = true;
        let priority = queue.priority;
        let of = |q: &QueueId| self.queues[q.index as usize].as_ref().map_or(0, |q| q.priority);
        let at = self.ready.iter().position(|q| of(q) > priority).unwrap_or(self.ready.len());
        self.ready.insert(at, id);
    }

    /// Requests a driver if more queues are listed than drivers are on their way.
    fn request_driver(&mut self) -> DriverAction {
        if self.ready.len() <= self.coming {
            return DriverAction::Nobody;
        }
        if self.asleep > self.wakes {
            self.wakes += 1;
            self.coming += 1;
            return DriverAction::Asleep;
        }
        if self.drivers < self.limit {
            self.drivers += 1;
            self.coming += 1;
            return DriverAction::New;
        }
        DriverAction::Nobody
    }

    /// Counts an entry as finished and wakes its waiters; the phases of waiting queues are determined, and ready ones
    /// listed.
    fn finish(&mut self, id: QueueId) {
        let Some(queue) = self.queue(id) else { return };
        queue.completed += 1;
        if queue.waiters.is_empty() {
            return;
        }
        let completed = queue.completed;
        let (woken, waiting) = std::mem::take(&mut queue.waiters).into_iter().partition(|(n, _)| *n <= completed);
        queue.waiters = waiting;
        for (_, waiter) in woken {
            match waiter {
                Waiter::Thread(thread) => thread.notify_one(),
                Waiter::Queue(other) => {
                    self.update_phase(other);
                    self.list(other);
                }
            }
        }
    }

    /// Returns a queue that can be run now and on which `id` depends: itself, or one that its first entry waits for.
    fn stealable(&mut self, mut id: QueueId) -> Option<QueueId> {
        for _ in 0..16 {
            let queue = self.queue(id)?;
            let first = queue.entries.front()?;
            match queue.phase {
                Phase::Ready => return first.task.as_ref().is_none_or(Task::runs_on_any_thread).then_some(id),
                Phase::Blocked => id = first.depends.last()?.queue,
                Phase::Running | Phase::Idle => return None,
            }
        }
        None
    }

    /// Creates a queue of a group.
    fn open(&mut self, group: GroupId, order: Order, priority: i32) -> QueueId {
        self.serial += 1;
        let serial = self.serial;
        let queue = Queue {
            serial,
            group,
            order,
            priority,
            entries: VecDeque::new(),
            submitted: 0,
            completed: 0,
            phase: Phase::Idle,
            listed: false,
            closed: false,
            waiters: Vec::new(),
        };
        let index = self.queues.iter().position(Option::is_none).unwrap_or(self.queues.len());
        if index == self.queues.len() {
            self.queues.push(None);
        }
        self.queues[index] = Some(queue);
        let id = QueueId { index: index as u32, serial };
        let group = &mut self.groups[group.0 as usize];
        group.queues.push(id);
        if order == Order::Legacy {
            group.legacy = Some(id);
        }
        id
    }

    fn close(&mut self, id: QueueId) {
        let Some(queue) = self.queue(id) else { return };
        queue.closed = true;
        if queue.phase == Phase::Idle {
            self.remove(id);
        }
    }

    /// Appends an entry. Returns its point, and true if the queue was idle. An entry of a closed queue is dropped.
    fn push(&mut self, id: QueueId, mut depends: Vec<Point>, mut task: Option<T>) -> (Point, bool) {
        let none = (Point { queue: id, number: 0 }, false);
        let Some((group, order)) = self.queue(id).filter(|q| !q.closed).map(|q| (q.group, q.order)) else {
            return none;
        };
        self.implied(id, group, order, &mut depends);
        if order == Order::Legacy {
            self.groups[group.0 as usize].past.clear();
        }
        let Some(queue) = self.queue(id) else { return none };
        queue.submitted += 1;
        let point = Point { queue: id, number: queue.submitted };
        if T::records_order() {
            T::submitted(task.as_mut(), point, &depends);
        }
        queue.entries.push_back(Entry { depends, task });
        let idle = queue.phase == Phase::Idle;
        if idle {
            self.groups[group.0 as usize].busy += 1;
            self.update_phase(id);
        }
        (point, idle)
    }

    fn remove(&mut self, id: QueueId) {
        let found = self.queue(id).map(|q| (q.group, q.order, Point { queue: id, number: q.submitted }));
        if let Some((group, order, last)) = found {
            self.queues[id.index as usize] = None;
            let group = &mut self.groups[group.0 as usize];
            if T::records_order() && order != Order::NonBlocking && last.number > 0 {
                group.past.push(last);
            }
            group.queues.retain(|q| *q != id);
            group.legacy = group.legacy.filter(|q| *q != id);
        }
    }
}

impl<T: Task> Engine<T> {
    /// Creates an engine with at most `limit` drivers.
    pub(crate) fn new(limit: usize) -> Arc<Engine<T>> {
        let state = State {
            queues: Vec::new(),
            groups: Vec::new(),
            serial: 0,
            ready: VecDeque::new(),
            drivers: 0,
            asleep: 0,
            wakes: 0,
            coming: 0,
            limit,
            closing: false,
        };
        Arc::new(Engine { state: Mutex::new(state), wake: Condvar::default(), finished: AtomicU64::new(0) })
    }

    /// Creates a group without queues. There are as few groups as contexts, so they are never removed.
    pub(crate) fn group(&self) -> GroupId {
        let mut state = self.state.lock();
        state.groups.push(Group::default());
        GroupId(state.groups.len() as u32 - 1)
    }

    /// Creates a queue of a group.
    pub(crate) fn queue(&self, group: GroupId, order: Order, priority: i32) -> QueueId {
        self.state.lock().open(group, order, priority)
    }

    /// Closes a queue: submitted entries still run, and no more are accepted.
    pub(crate) fn close(&self, id: QueueId) {
        self.state.lock().close(id);
    }

    /// Submits an entry to a queue and returns its point. An entry of a closed queue is dropped.
    pub(crate) fn submit(self: &Arc<Self>, id: QueueId, depends: Vec<Point>, task: Option<T>, start: Start) -> Point {
        let mut state = self.state.lock();
        let (point, idle) = state.push(id, depends, task);
        if !idle {
            return point;
        }
        let ready = state.queue(id).is_some_and(|q| q.phase == Phase::Ready);
        match start {
            Start::Wait => return point,
            Start::Here if ready => state = self.run_first(state, id),
            Start::Here | Start::Driver => {}
        }
        state.list(id);
        self.request_driver(state);
        point
    }

    /// Atomically submits entries to several queues and returns their points.
    ///
    /// An entry may depend on earlier ones of the batch. The queues of new lanes are closed after their last entry.
    pub(crate) fn submit_batch(self: &Arc<Self>, lanes: &[Lane], batch: Vec<BatchEntry<T>>) -> Vec<Point> {
        let mut state = self.state.lock();
        let mut open = |lane: &Lane| match *lane {
            Lane::Queue(id) => id,
            Lane::New(group, priority) => state.open(group, Order::NonBlocking, priority),
        };
        let queues: Vec<QueueId> = lanes.iter().map(&mut open).collect();
        let mut points: Vec<Point> = Vec::with_capacity(batch.len());
        let mut woken = Vec::new();
        for step in batch {
            let mut depends = step.depends;
            depends.extend(step.after.iter().map(|at| points[*at]));
            let id = queues[step.lane];
            let (point, idle) = state.push(id, depends, step.task);
            points.push(point);
            if idle {
                woken.push(id);
            }
        }
        let new = lanes.iter().zip(&queues).filter(|(lane, _)| matches!(lane, Lane::New(..)));
        new.for_each(|(_, id)| state.close(*id));
        woken.into_iter().for_each(|id| state.list(id));
        self.request_driver(state);
        points
    }

    /// Runs the first entry of a ready queue. Other queues that become ready are listed for the drivers; this one is
    /// left to the caller.
    fn run_first<'a>(&'a self, mut state: MutexGuard<'a, State<T>>, id: QueueId) -> MutexGuard<'a, State<T>> {
        let entry = state.queue(id).and_then(|queue| {
            queue.phase = Phase::Running;
            queue.entries.pop_front()
        });
        if let Some(task) = entry.and_then(|entry| entry.task) {
            drop(state);
            task.run();
            state = self.state.lock();
        }
        state.finish(id);
        state.update_phase(id);
        self.finished.fetch_add(1, Ordering::Release);
        state
    }

    /// Wakes or starts a driver if one is needed.
    fn request_driver(self: &Arc<Self>, mut state: MutexGuard<'_, State<T>>) {
        let request_driver = state.request_driver();
        drop(state);
        match request_driver {
            DriverAction::Nobody => {}
            DriverAction::Asleep => self.wake.notify_one(),
            DriverAction::New => {
                let engine = Arc::clone(self);
                if !spawn("cuda-sim stream".to_owned(), STACK, move || engine.drive()) {
                    // The system gives no thread: listed queues wait until a driver is free or a thread waits for them.
                    let mut state = self.state.lock();
                    state.drivers -= 1;
                    state.coming -= 1;
                }
            }
        }
    }

    /// The main loop of a driver.
    fn drive(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.coming -= 1;
        loop {
            if let Some(id) = state.ready.pop_front() {
                let ready = state.queue(id).is_some_and(|queue| {
                    queue.listed = false;
                    queue.phase == Phase::Ready
                });
                if ready {
                    // A driver that finds more than it takes requests another one.
                    if !state.ready.is_empty() {
                        self.request_driver(state);
                        state = self.state.lock();
                        if state.queue(id).is_none_or(|queue| queue.phase != Phase::Ready) {
                            continue;
                        }
                    }
                    state = self.run_first(state, id);
                    state.list(id);
                }
                continue;
            }
            if state.closing {
                break;
            }
            state.asleep += 1;
            loop {
                let (guard, timed_out) = self.wake.wait_for(state, LINGER);
                state = guard;
                if state.wakes > 0 {
                    state.wakes -= 1;
                    state.coming -= 1;
                    break;
                }
                if timed_out || state.closing {
                    state.asleep -= 1;
                    state.drivers -= 1;
                    return;
                }
            }
            state.asleep -= 1;
        }
        state.drivers -= 1;
    }

    /// Waits until a point is reached, and runs the entries that lead to it if nobody else does.
    pub(crate) fn wait(self: &Arc<Self>, point: Point) {
        let mut state = self.state.lock();
        let mut polled = false;
        while !state.reached(point) {
            if let Some(id) = state.stealable(point.queue) {
                state = self.run_first(state, id);
                if state.reached(point) || state.stealable(point.queue) != Some(id) {
                    state.list(id);
                }
                continue;
            }
            // A queue whose first entry only drivers may run may not be listed yet.
            state.list(point.queue);
            self.request_driver(state);
            if !polled {
                polled = true;
                let before = self.finished.load(Ordering::Acquire);
                spin(|| self.finished.load(Ordering::Acquire) != before);
                state = self.state.lock();
                continue;
            }
            state = self.state.lock();
            if state.reached(point) || state.stealable(point.queue).is_some() {
                continue;
            }
            let thread = Arc::new(Condvar::default());
            if let Some(queue) = state.queue(point.queue) {
                queue.waiters.push((point.number, Waiter::Thread(Arc::clone(&thread))));
            }
            while !state.reached(point) {
                state = thread.wait(state);
            }
        }
        self.request_driver(state);
        T::waited(point);
    }

    pub(crate) fn reached(&self, point: Point) -> bool {
        self.state.lock().reached(point)
    }

    /// Returns the points for which a synchronisation with a queue waits: its own tail, and for the legacy one those of
    /// all blocking queues. Those that are reached are among them if the order is recorded.
    pub(crate) fn tails(&self, id: QueueId) -> Vec<Point> {
        let mut state = self.state.lock();
        let Some((group, order)) = state.queue(id).map(|q| (q.group, q.order)) else { return Vec::new() };
        let mut points = Vec::new();
        if order == Order::Legacy {
            state.implied(id, group, order, &mut points);
        }
        points.extend(state.tail(id).filter(|point| T::records_order() || !state.reached(*point)));
        points
    }

    /// Returns the tails of a group's busy queues; of all of them, if the order is recorded.
    pub(crate) fn group_tails(&self, group: GroupId) -> Vec<Point> {
        let state = self.state.lock();
        let (group, all) = (&state.groups[group.0 as usize], T::records_order());
        if group.busy == 0 && !all {
            return Vec::new();
        }
        let tails = group.queues.iter().filter_map(|q| state.tail(*q)).chain(group.past.iter().copied());
        tails.filter(|point| all || !state.reached(*point)).collect()
    }

    /// Returns true if everything that is in a queue now has finished, as a client's query asks.
    pub(crate) fn is_done(&self, id: QueueId) -> bool {
        let all = self.tails(id);
        let done = all.iter().all(|point| self.reached(*point));
        if done {
            all.into_iter().for_each(T::waited);
        }
        done
    }

    /// Ends the drivers once nothing is listed, so that a loom model ends.
    #[cfg(all(test, loom))]
    pub(crate) fn end(&self) {
        self.state.lock().closing = true;
        self.wake.notify_all();
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn drivers(&self) -> usize {
        self.state.lock().drivers
    }
}
