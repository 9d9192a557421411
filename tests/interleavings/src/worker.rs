//! [`Worker`]: one thread of a program, which runs its operations and checks what each one returns.

use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};

use cuda_driver::{Event, Graph, Stream};
use cuda_mem::{Pinned, PinnedArray, Refused, Transfer};
use cuda_prelude::*;
use ndarray::{Array1, Ix1};

use super::panics::{Allowed, NO_THREAD, Pending};
use super::program::{ARRAYS, Ending, Guard, Kind, Op, SHARED, TransferEnd};
use super::world::{FAULTY, LENGTH, Tracked, World, expect_lost, fault, stepped, tracked};
use super::{fail, step};

/// Memory that reuses borrowed memory, and must not change.
pub(super) struct Canary(Vec<u32>);

const PATTERN: u32 = 0xa5c3_3c5a;

impl Canary {
    /// Frees host memory allowed borrow has ended, and allocates as much.
    fn replacing<T>(borrowed: T) -> Self {
        drop(borrowed);
        Canary(vec![PATTERN; LENGTH])
    }

    pub(super) fn check(&self) {
        assert!(self.0.iter().all(|&x| x == PATTERN), "memory was written after its borrow had ended: {:x?}", self.0);
    }
}

/// The outcome of a call.
enum Outcome<T> {
    Done(T),
    /// The call has done its work and waited, and reports kernels' panics.
    Panicked,
    /// The device is lost.
    Lost,
}

use Outcome::{Done, Lost, Panicked};

impl<T> Outcome<T> {
    fn is_lost(&self) -> bool {
        matches!(self, Lost)
    }
}

/// A page-locked array that an asynchronous copy reads or writes.
type Copied = Transfer<u32, Ix1, Pinned>;

pub(super) struct Worker<'w> {
    world: &'w World,
    thread: usize,
    own: [Mutex<Tracked>; ARRAYS - SHARED],
    pending: RefCell<Vec<Pending>>,
    /// True once a call of this thread has reported that the device is lost.
    is_lost: Cell<bool>,
    canaries: RefCell<Vec<Canary>>,
}

impl<'w> Worker<'w> {
    pub(super) fn new(world: &'w World, thread: usize) -> Self {
        let own = std::array::from_fn(|place| Mutex::new(tracked(&world.contexts, place, 0).unwrap()));
        let (pending, canaries) = (RefCell::default(), RefCell::default());
        Worker { world, thread, own, pending, is_lost: Cell::new(false), canaries }
    }

    pub(super) fn run(self, ops: &[Op], fault_at: Option<usize>) -> Vec<Canary> {
        let fault_at = fault_at.map(|at| at.min(ops.len() - 1));
        for (at, op) in ops.iter().enumerate() {
            if fault_at == Some(at) {
                self.fault(op);
            }
            self.operate(op);
        }
        // Half of the threads drop their arrays while these are in use.
        if self.thread.is_multiple_of(2) {
            (SHARED..ARRAYS).for_each(|place| self.copy_to_host(place));
        }
        self.canaries.into_inner()
    }

    fn fault(&self, op: &Op) {
        self.world.is_faulting.store(true, Ordering::SeqCst);
        let stream = self.stream(FAULTY, op.stream);
        fault(&self.world.contexts[FAULTY], &stream).expect("nothing else has lost the device");
    }

    /// Locks the array with this index.
    fn array(&self, place: usize) -> MutexGuard<'_, Tracked> {
        match place.checked_sub(SHARED) {
            Some(own) => self.own[own].lock().unwrap(),
            None => self.world.shared(place),
        }
    }

    fn stream(&self, device: usize, choice: usize) -> Stream {
        let context = &self.world.contexts[device];
        match choice {
            0 => context.default_stream(),
            1 => Stream::per_thread(context),
            2 | 3 => self.world.streams[device][choice - 2].clone(),
            // The stream is dropped before its work ends.
            _ => match self.outcome(device, Allowed::None, Stream::new(context)) {
                Done(stream) => stream,
                _ => context.default_stream(),
            },
        }
    }

    /// The panics that a wait for this array's memory may report.
    fn writers(place: usize) -> Allowed {
        if place < SHARED { Allowed::Any } else { Allowed::Own }
    }

    fn outcome<T>(&self, device: usize, allowed: Allowed, result: Result<T, impl Into<Error>>) -> Outcome<T> {
        self.outcome_on(self.thread, device, allowed, result)
    }

    /// The outcome of a call of a thread, which must be one of the expected ones.
    fn outcome_on<T>(
        &self,
        thread: usize,
        device: usize,
        allowed: Allowed,
        result: Result<T, impl Into<Error>>,
    ) -> Outcome<T> {
        let error = match result {
            Ok(value) => {
                assert!(device != FAULTY || !self.is_lost.get(), "the device is lost");
                return Done(value);
            }
            Err(error) => error.into(),
        };
        if let Some(panic) = error.kernel_panic() {
            let reported = self.world.panics.record(thread, panic, allowed);
            if thread == self.thread {
                self.pending.borrow_mut().retain(|pending| !reported.contains(&pending.number));
            }
            return Panicked;
        }
        let may_fail = device == FAULTY && self.world.is_faulting.load(Ordering::SeqCst);
        assert!(may_fail, "{error}");
        expect_lost(&error);
        self.is_lost.set(true);
        Lost
    }

    /// Checks, after a wait, that the panics of all launches that this thread has waited for have been reported to it.
    fn expect_reported<T>(&self, outcome: &Outcome<T>, waited_for: impl Fn(&Pending) -> bool) {
        let pending = self.pending.borrow();
        let left = pending.iter().find(|pending| waited_for(pending));
        assert!(outcome.is_lost() || left.is_none(), "thread {} got no report of {left:?}", self.thread);
    }

    /// Registers a launch that will panic and that this thread will wait for.
    fn will_panic(&self, device: usize, stream: &Stream, array: Option<(usize, u32)>) -> u32 {
        let number = self.world.panics.register(self.thread, false);
        self.pending.borrow_mut().push(Pending { number, device, stream: stream.id(), array });
        number
    }

    fn was_refused(&self, number: u32) {
        self.world.panics.refused(number);
        self.pending.borrow_mut().retain(|pending| pending.number != number);
    }

    /// Replaces host memory allowed borrow has ended.
    fn was_lent<T>(&self, memory: T) {
        self.canaries.borrow_mut().push(Canary::replacing(memory));
    }

    fn rounds(&self, op: &Op) -> u32 {
        match (op.number % 3, self.world.faults) {
            (0, _) => 1,
            (_, false) => 500,
            (_, true) => 20_000,
        }
    }

    fn operate(&self, op: &Op) {
        match op.kind {
            Kind::Step => self.step(op),
            Kind::Panic => self.panic(op),
            Kind::HostStep => self.host_step(op),
            Kind::HostPanic => self.host_panic(op),
            Kind::ToHost => self.copy_to_host(op.array),
            Kind::FromHost => self.copy_from_host(op),
            Kind::Fill => self.fill(op),
            Kind::Assign => self.assign(op),
            Kind::Scope { panics } => self.scope(op, panics),
            Kind::Mapped { panics } => self.mapped(op, panics),
            Kind::Pinned => self.pinned(op),
            Kind::ToPinned(end) => self.copy_to_pinned(op, end),
            Kind::FromPinned(end) => self.copy_from_pinned(op, end),
            Kind::Graph { panics } => self.graph(op, panics),
            Kind::Replace(ending) => self.replace(op, ending),
            Kind::Event(ending) => self.event(op, ending),
            Kind::StreamEnds(ending) => self.stream_ends(op, ending),
            Kind::WaitFor | Kind::EventSync | Kind::SyncStream | Kind::SyncContext => self.wait(op),
            Kind::Forget(guard) => self.forget(op, guard),
        }
    }

    fn step(&self, op: &Op) {
        let mut held = self.array(op.array);
        let stream = self.stream(held.device, op.stream);
        self.step_in(&mut held, &stream, op);
    }

    fn step_in(&self, held: &mut Tracked, stream: &Stream, op: &Op) {
        let (device, rounds) = (held.device, self.rounds(op));
        let Some(array) = &mut held.array else { return };
        let launched = step::launch((1, LENGTH, stream), array, op.number, rounds);
        held.model = match self.outcome(device, Allowed::None, launched) {
            Done(()) => held.model.as_deref().map(|model| stepped(model, op.number, rounds)),
            _ => None,
        };
    }

    fn panic(&self, op: &Op) {
        let held = &mut *self.array(op.array);
        let stream = self.stream(held.device, op.stream);
        let Some(array) = &mut held.array else { return };
        let number = self.will_panic(held.device, &stream, Some((op.array, held.generation)));
        held.model = None;
        let launched = fail::launch((1, LENGTH, &stream), array, number);
        if self.outcome(held.device, Allowed::None, launched).is_lost() {
            self.was_refused(number);
        }
    }

    fn host_step(&self, op: &Op) {
        let (device, rounds) = (op.array % 2, self.rounds(op));
        let stream = self.stream(device, op.stream);
        let model: Vec<u32> = (op.number..).take(LENGTH).collect();
        let mut host = model.clone();
        let launched = step::launch((1, LENGTH, &stream), &mut host, op.other as u32, rounds);
        if let Done(()) = self.outcome(device, Allowed::None, launched) {
            assert_eq!(host, stepped(&model, op.other as u32, rounds));
        }
        self.was_lent(host);
    }

    fn host_panic(&self, op: &Op) {
        let device = op.array % 2;
        let stream = self.stream(device, op.stream);
        let mut host = vec![0; LENGTH];
        let number = self.world.panics.register(self.thread, true);
        match self.outcome(device, Allowed::Only(number), fail::launch((1, LENGTH, &stream), &mut host, number)) {
            Done(()) => panic!("launch {number} has panicked"),
            Panicked => {}
            Lost => self.world.panics.refused(number),
        }
        self.was_lent(host);
    }

    /// Copies until the copy succeeds: each failure must report another panic.
    fn copy_to_host(&self, place: usize) {
        let held = self.array(place);
        let Some(array) = &held.array else { return };
        loop {
            let copied = self.outcome(held.device, Self::writers(place), array.copy_to_host());
            self.expect_reported(&copied, |pending| pending.array == Some((place, held.generation)));
            match (copied, &held.model) {
                (Panicked, _) => {}
                (Done(host), Some(model)) => return assert_eq!(&host.to_vec(), model),
                _ => return,
            }
        }
    }

    fn copy_from_host(&self, op: &Op) {
        let held = &mut *self.array(op.array);
        let Some(array) = &mut held.array else { return };
        let host = Array1::from_iter((op.number..).take(LENGTH));
        let copied = self.outcome(held.device, Self::writers(op.array), array.copy_from_host(&host));
        held.model = if copied.is_lost() { None } else { Some(host.to_vec()) };
        self.was_lent(host);
    }

    fn fill(&self, op: &Op) {
        let held = &mut *self.array(op.array);
        let stream = self.stream(held.device, op.stream);
        let Some(array) = &mut held.array else { return };
        let filled = self.outcome(held.device, Allowed::None, array.fill_on(op.number, &stream));
        held.model = if filled.is_lost() { None } else { Some(vec![op.number; LENGTH]) };
    }

    /// Copies an array to another one, which may be on the other device.
    fn assign(&self, op: &Op) {
        if op.array == op.other {
            return;
        }
        // The locks are taken in a fixed order, so that threads cannot deadlock.
        let (first, second) = (op.array.min(op.other), op.array.max(op.other));
        let (mut first, mut second) = (self.array(first), self.array(second));
        let (to, from) = if op.array < op.other { (&mut *first, &*second) } else { (&mut *second, &*first) };
        let stream = self.stream(to.device, op.stream);
        let (Some(array), Some(source)) = (&mut to.array, &from.array) else { return };
        let faulty = if from.device == FAULTY { FAULTY } else { to.device };
        let assigned = self.outcome(faulty, Allowed::None, array.assign_on(source, &stream));
        // A copy from a device that is lost later may not have happened.
        let is_certain = !(self.world.faults && faulty == FAULTY && to.device != FAULTY);
        to.model = if assigned.is_lost() || !is_certain { None } else { from.model.clone() };
    }

    /// Copies host memory in a scope, with kernels between the copies.
    fn scope(&self, op: &Op, panics: bool) {
        let held = &mut *self.array(op.array);
        let (device, rounds) = (held.device, self.rounds(op));
        let stream = self.stream(device, op.stream);
        let Some(array) = &mut held.array else { return };
        let input = Array1::from_iter((op.number..).take(LENGTH));
        let mut output = Array1::zeros(LENGTH);
        let number = panics.then(|| self.will_panic(device, &stream, Some((op.array, held.generation))));
        let worked = stream.scope(|s| {
            array.copy_from_host_in(&input, s)?;
            step::launch((1, LENGTH, s), &mut *array, op.number, rounds)?;
            array.copy_to_host_in(&mut output, s)?;
            if let Some(number) = number {
                fail::launch((1, LENGTH, s), &mut *array, number)?;
            }
            Ok(())
        });
        let waited = self.outcome(device, Allowed::Any, worked);
        self.expect_reported(&waited, |pending| (pending.device, pending.stream) == (device, stream.id()));
        let model = stepped(&input.to_vec(), op.number, rounds);
        if !waited.is_lost() {
            assert_eq!(output.to_vec(), model);
        }
        held.model = if waited.is_lost() || panics { None } else { Some(model) };
        self.was_lent(input);
        self.was_lent(output);
    }

    /// Maps host memory for kernels.
    fn mapped(&self, op: &Op, panics: bool) {
        let (device, rounds) = (op.array % 2, self.rounds(op));
        let (stream, other) = (self.stream(device, op.stream), self.stream(device, op.other_stream));
        let model: Vec<u32> = (op.number..).take(LENGTH).collect();
        let mut host = Array1::from_vec(model.clone());
        let number = panics.then(|| self.will_panic(device, &other, None));
        let worked = cuda_mem::mapped(&self.world.contexts[device], &mut host, |x| -> Result<()> {
            step::launch((1, LENGTH, &stream), &mut x.device_mut(), op.number, rounds)?;
            match number {
                Some(number) => fail::launch((1, LENGTH, &other), &mut x.device_mut(), number),
                None => step::launch((1, LENGTH, &other), &mut x.device_mut(), 5, 1),
            }
        });
        let waited = self.outcome(device, Allowed::Own, worked.map_err(Error::from).and_then(|worked| worked));
        self.expect_reported(&waited, |pending| Some(pending.number) == number);
        if !waited.is_lost() && !panics {
            assert_eq!(host.to_vec(), stepped(&stepped(&model, op.number, rounds), 5, 1));
        }
        self.was_lent(host);
    }

    /// Page-locks host memory, and copies it to an array and back, after a kernel.
    fn pinned(&self, op: &Op) {
        let held = &mut *self.array(op.array);
        let (device, rounds) = (held.device, self.rounds(op));
        let (stream, other) = (self.stream(device, op.stream), self.stream(device, op.other_stream));
        let Some(array) = &mut held.array else { return };
        let model: Vec<u32> = (op.number..).take(LENGTH).collect();
        let mut host = Array1::from_vec(model.clone());
        let worked = cuda_mem::pinned(&self.world.contexts[device], &mut host, |host| -> Result<()> {
            array.copy_from_pinned_ref(host, &stream)?;
            step::launch((1, LENGTH, &other), &mut *array, op.number, rounds)?;
            Ok(array.copy_to_pinned_mut(host, &stream)?)
        });
        let waited = self.outcome(device, Allowed::Own, worked.map_err(Error::from).and_then(|worked| worked));
        let model = stepped(&model, op.number, rounds);
        if !waited.is_lost() {
            assert_eq!(host.to_vec(), model);
        }
        held.model = if waited.is_lost() { None } else { Some(model) };
        self.was_lent(host);
    }

    fn copy_to_pinned(&self, op: &Op, end: TransferEnd) {
        let held = self.array(op.array);
        let (device, stream) = (held.device, self.stream(held.device, op.stream));
        let (Some(array), Some(pinned)) = (&held.array, self.new_pinned(device, 0)) else { return };
        let Done(transfer) = self.outcome(device, Allowed::None, array.copy_to_pinned(pinned, &stream)) else {
            return;
        };
        let Some(pinned) = self.end_transfer(transfer, end, device) else { return };
        if let (Done(host), Some(model)) = (self.outcome(device, Allowed::Own, pinned.view()), &held.model) {
            assert_eq!(&host.to_vec(), model);
        }
    }

    fn copy_from_pinned(&self, op: &Op, end: TransferEnd) {
        let held = &mut *self.array(op.array);
        let (device, stream) = (held.device, self.stream(held.device, op.stream));
        let Some(pinned) = self.new_pinned(device, op.number) else { return };
        let Some(array) = &mut held.array else { return };
        let begun = self.outcome(device, Allowed::None, array.copy_from_pinned(pinned, &stream));
        held.model = if begun.is_lost() { None } else { Some(vec![op.number; LENGTH]) };
        if let Done(transfer) = begun {
            drop(self.end_transfer(transfer, end, device));
        }
    }

    fn new_pinned(&self, device: usize, value: u32) -> Option<PinnedArray<u32, Ix1>> {
        let pinned = cuda_mem::pinned_array(&self.world.contexts[device], LENGTH);
        let Done(mut pinned) = self.outcome(device, Allowed::None, pinned) else { return None };
        match self.outcome(device, Allowed::None, pinned.view_mut().map(|mut host| host.fill(value))) {
            Done(()) => Some(pinned),
            _ => None,
        }
    }

    /// Ends a transfer; returns the page-locked array if the transfer returns it.
    fn end_transfer(&self, transfer: Copied, end: TransferEnd, device: usize) -> Option<PinnedArray<u32, Ix1>> {
        let (thread, ended) = match end {
            TransferEnd::Wait => (self.thread, transfer.wait()),
            TransferEnd::Await => (self.thread, pollster::block_on(transfer)),
            TransferEnd::WaitElsewhere => {
                (NO_THREAD, std::thread::scope(|scope| scope.spawn(|| transfer.wait()).join().unwrap()))
            }
            TransferEnd::Drop => return None,
            TransferEnd::Forget => {
                std::mem::forget(transfer);
                return None;
            }
        };
        let refused = match ended {
            Ok(array) => return Some(array),
            Err(refused) => refused,
        };
        let Refused { array, error } = *refused;
        let ended: Outcome<()> = self.outcome_on(thread, device, Allowed::Any, Err(error));
        (!ended.is_lost()).then_some(array)
    }

    fn graph(&self, op: &Op, panics: bool) {
        let held = &mut *self.array(op.array);
        let (device, rounds) = (held.device, self.rounds(op));
        let stream = self.stream(device, op.stream);
        let Some(array) = &mut held.array else { return };
        let number = panics.then(|| self.will_panic(device, &stream, Some((op.array, held.generation))));
        let mut launch = || -> cuda_driver::Result<()> {
            let graph = Graph::capture(&self.world.contexts[device], |c| {
                step::launch((1, LENGTH, c), &mut *array, op.number, rounds)?;
                match number {
                    Some(number) => Ok(fail::launch((1, LENGTH, c), &mut *array, number)?),
                    None => Ok(()),
                }
            })?;
            graph.instantiate()?.launch(&stream, &mut *array)
        };
        let launched = self.outcome(device, Allowed::None, launch());
        if let (Some(number), true) = (number, launched.is_lost()) {
            self.was_refused(number);
        }
        let model = held.model.take().filter(|_| !launched.is_lost() && !panics);
        held.model = model.map(|model| stepped(&model, op.number, rounds));
    }

    /// Drops an array with work in flight, and replaces it by another.
    fn replace(&self, op: &Op, ending: Ending) {
        let held = &mut *self.array(op.array);
        let (device, stream) = (held.device, self.stream(held.device, op.stream));
        let Some(array) = held.array.take() else { return };
        if let Ending::Forget = ending {
            self.world.forgotten[device].fetch_add(array.byte_len(), Ordering::Relaxed);
        }
        self.end(array, ending, device, &stream);
        let made = tracked(&self.world.contexts, op.array, held.generation + 1);
        if let Done(made) = self.outcome(device, Allowed::None, made) {
            *held = made;
        }
    }

    fn end<T: Send + 'static>(&self, value: T, ending: Ending, device: usize, stream: &Stream) {
        match ending {
            Ending::Here => drop(value),
            Ending::InHostFn => {
                self.outcome(device, Allowed::None, stream.launch_host_fn(move || drop(value)));
            }
            Ending::OnThread => self.world.helpers.lock().unwrap().push(std::thread::spawn(move || drop(value))),
            Ending::Forget => std::mem::forget(value),
        }
    }

    /// Orders two streams by an event, which is dropped before they reach it.
    fn event(&self, op: &Op, ending: Ending) {
        let device = op.array % 2;
        let (stream, other) = (self.stream(device, op.stream), self.stream(device, op.other_stream));
        let recorded = Event::new(&self.world.contexts[device]).and_then(|event| {
            event.record(&stream)?;
            other.wait_event(&event)?;
            Ok(event)
        });
        if let Done(event) = self.outcome(device, Allowed::None, recorded) {
            self.end(event, ending, device, &other);
        }
    }

    /// Drops a stream with work in flight.
    fn stream_ends(&self, op: &Op, ending: Ending) {
        let mut held = self.array(op.array);
        let device = held.device;
        let Done(stream) = self.outcome(device, Allowed::None, Stream::new(&self.world.contexts[device])) else {
            return;
        };
        self.step_in(&mut held, &stream, op);
        self.end(stream, ending, device, &self.stream(device, op.other_stream));
    }

    fn wait(&self, op: &Op) {
        let device = op.array % 2;
        let (stream, other) = (self.stream(device, op.stream), self.stream(device, op.other_stream));
        let context = &self.world.contexts[device];
        let of_stream = |pending: &Pending| (pending.device, pending.stream) == (device, stream.id());
        match op.kind {
            Kind::WaitFor => {
                self.outcome(device, Allowed::None, stream.wait_for(&other));
            }
            Kind::EventSync => {
                let waited = Event::without_timing(context).and_then(|event| {
                    event.record(&stream)?;
                    event.synchronize()
                });
                self.expect_reported(&self.outcome(device, Allowed::Any, waited), of_stream);
            }
            Kind::SyncStream => {
                self.expect_reported(&self.outcome(device, Allowed::Any, stream.synchronize()), of_stream);
            }
            _ => {
                let waited = self.outcome(device, Allowed::Any, context.synchronize());
                self.expect_reported(&waited, |pending| pending.device == device);
            }
        }
    }

    fn forget(&self, op: &Op, guard: Guard) {
        let device = op.array % 2;
        let (context, stream) = (&self.world.contexts[device], self.stream(device, op.stream));
        match guard {
            Guard::Event => {
                let event = Event::new(context).unwrap();
                event.record(&stream).unwrap();
                std::mem::forget(event);
            }
            Guard::Stream => std::mem::forget(stream),
            Guard::DeferCleanup => std::mem::forget(cuda_mem::defer_cleanup(context)),
            Guard::Selection => std::mem::forget(context.select()),
            Guard::Entered => std::mem::forget(context.enter("a call").unwrap()),
            // It uses a new stream, since each stream has slots for the calls of 16 launches at a time.
            Guard::PanicRecord => std::mem::forget(Stream::new(context).unwrap().panic_record().unwrap()),
            Guard::Done => std::mem::forget(stream.done()),
            Guard::Graph => {
                std::mem::forget(context.default_stream().capture(|_| Ok(())).unwrap().instantiate().unwrap())
            }
            Guard::Mapped => {
                let mut x = cuda_mem::mapped_array::<u32, _>(context, LENGTH).unwrap();
                step::launch((1, LENGTH, &stream), &mut x.device_mut(), 1, self.rounds(op)).unwrap();
                std::mem::forget(x);
            }
            Guard::Profiler => std::mem::forget(context.profiling().unwrap()),
        }
    }
}
