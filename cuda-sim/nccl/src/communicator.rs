//! Communicators: a rank's part of one, from its initialisation to its end, and the table of those that exist.
//!
//! A handle is a number that is never used twice, so that a stale one is refused. Invariant: whatever was enqueued holds the
//! communicator, so its memory lives until the last operation has run.

use crate::abi::{Code, RawCommunicator, UniqueId, id_bytes};
use crate::driver::Context;
use crate::element::{DataType, Operator};
use crate::enqueue::StreamOrder;
use crate::failure::{Failure, Level, Result, message, record};
use crate::segment::{MOST_RANKS, PATIENCE, Segment, id_of, state};
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// Locks a mutex; what it guards is valid at all times, so a panic of another thread does not matter.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The arguments of an initialisation.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) id: UniqueId,
    pub(crate) ranks: usize,
    pub(crate) rank: usize,
    pub(crate) device: c_int,
    pub(crate) blocking: bool,
}

#[derive(Default)]
struct Progress {
    /// The operations in streams, and initialisations, that have not ended.
    running: usize,
    /// True while an initialisation or a finalisation of a non-blocking communicator goes on.
    busy: bool,
    error: Option<Failure>,
}

/// A rank's communicator.
pub(crate) struct Communicator {
    pub(crate) handle: usize,
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    pub(crate) device: c_int,
    pub(crate) blocking: bool,
    id: UniqueId,
    context: OnceLock<Context>,
    segment: OnceLock<Segment>,
    /// Ends all waits.
    pub(crate) stop: AtomicBool,
    finalized: AtomicBool,
    progress: Mutex<Progress>,
    ended: Condvar,
    /// Held while an operation runs.
    pub(crate) turn: Mutex<()>,
    /// The order of the streams that it was used with.
    pub(crate) order: Mutex<StreamOrder>,
    operators: Mutex<Vec<Option<(DataType, Operator)>>>,
    /// The number of splits, and of shrinks.
    pub(crate) derived: Mutex<[u64; 2]>,
    /// The memory windows and registrations, by their handles.
    pub(crate) registered: Mutex<HashMap<usize, usize>>,
}

static KNOWN: RwLock<Option<HashMap<usize, Arc<Communicator>>>> = RwLock::new(None);
/// The next handle; a multiple of 16 that no memory has.
static NEXT: AtomicUsize = AtomicUsize::new(0x6e63_0000);

/// Returns the communicator of a client's handle.
pub(crate) fn of_handle(raw: RawCommunicator) -> Result<Arc<Communicator>> {
    if raw.is_null() {
        return Err(Failure::argument("the communicator is NULL"));
    }
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let found = known.as_ref().and_then(|known| known.get(&raw.addr())).cloned();
    found.ok_or_else(|| Failure::argument(format!("{raw:p} is no communicator, or one that was destroyed")))
}

impl Communicator {
    /// Creates one that is not initialised yet, and its handle.
    pub(crate) fn announce(setup: &Setup) -> Result<Arc<Communicator>> {
        let Setup { ranks, rank, device, .. } = *setup;
        if ranks == 0 || rank >= ranks {
            return Err(Failure::argument(format!("Invalid rank requested : {rank}/{ranks}")));
        }
        if ranks > MOST_RANKS {
            return Err(Failure::argument(format!(
                "{ranks} ranks are more than {MOST_RANKS}, the most of the software NCCL"
            )));
        }
        let handle = NEXT.fetch_add(16, Ordering::Relaxed);
        let new = Arc::new(Communicator {
            handle,
            rank,
            ranks,
            device,
            blocking: setup.blocking,
            id: setup.id,
            context: OnceLock::new(),
            segment: OnceLock::new(),
            stop: AtomicBool::new(false),
            finalized: AtomicBool::new(false),
            progress: Mutex::new(Progress { busy: true, ..Progress::default() }),
            ended: Condvar::new(),
            turn: Mutex::new(()),
            order: Mutex::default(),
            operators: Mutex::default(),
            derived: Mutex::default(),
            registered: Mutex::default(),
        });
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_default().insert(handle, Arc::clone(&new));
        Ok(new)
    }

    /// Returns the handle in the type of C.
    pub(crate) fn raw(&self) -> RawCommunicator {
        std::ptr::without_provenance_mut(self.handle)
    }

    /// Meets the other ranks. Its result is also the communicator's.
    pub(crate) fn initialise(&self) -> Result<()> {
        let ended = self.connect();
        if let Err(failure) = &ended {
            self.fail(failure);
        }
        locked(&self.progress).busy = false;
        self.ended.notify_all();
        ended
    }

    /// Ends the initialisation of a group that failed before it began.
    pub(crate) fn cancel(&self) {
        self.fail(&Failure::usage("another call of the group failed, so that the communicator was not initialised"));
        locked(&self.progress).busy = false;
        self.ended.notify_all();
    }

    fn connect(&self) -> Result<()> {
        let (rank, ranks, device) = (self.rank, self.ranks, self.device);
        let context = Context::retain(device)?;
        let segment = Segment::attach(&self.id, ranks, rank)?;
        message(Level::Info, Some(device), || {
            format!("comm {:#x} rank {rank} nranks {ranks} cudaDev {device} - Init START", self.handle)
        });
        let _ = self.context.set(context);
        let segment = self.segment.get_or_init(|| segment);
        while !segment.is_complete() {
            let ticket = segment.own().doorbell.ticket();
            let gone = segment.peers().find_map(|peer| segment.gone(peer));
            let failure = if self.stop.load(Ordering::Acquire) {
                Some(Failure::usage("the initialisation was aborted by its own rank"))
            } else {
                let gone = gone
                    .map(|reason| Failure::new(Code::ncclRemoteError, format!("{reason} before all ranks had come")));
                segment.raised().or(gone)
            };
            if let Some(failure) = failure.filter(|_| !segment.is_complete()) {
                segment.raise(&failure);
                segment.unlink();
                return Err(failure);
            }
            if !segment.is_complete() {
                segment.own().doorbell.wait(ticket, PATIENCE);
            }
        }
        segment.unlink();
        message(Level::Info, Some(device), || {
            format!("comm {:#x} rank {rank} nranks {ranks} cudaDev {device} - Init COMPLETE", self.handle)
        });
        Ok(())
    }

    /// Returns the device's context.
    pub(crate) fn context(&self) -> Result<&Context> {
        self.context.get().ok_or_else(|| Failure::argument("the communicator is not initialised"))
    }

    /// Returns the shared memory.
    pub(crate) fn segment(&self) -> Result<&Segment> {
        self.segment.get().ok_or_else(|| Failure::argument("the communicator is not initialised"))
    }

    /// Stores the first error.
    pub(crate) fn fail(&self, failure: &Failure) {
        locked(&self.progress).error.get_or_insert_with(|| failure.clone());
        record(failure, Some(self.device));
    }

    /// Returns the asynchronous state: an error, or that something goes on.
    pub(crate) fn asynchronous(&self) -> Option<Failure> {
        let progress = locked(&self.progress);
        if let Some(error) = &progress.error {
            return Some(error.clone());
        }
        if progress.busy {
            return Some(Failure::new(Code::ncclInProgress, "the previous operation of the communicator goes on"));
        }
        drop(progress);
        self.segment.get().and_then(Segment::raised)
    }

    /// Fails unless operations can be enqueued.
    pub(crate) fn ready(&self) -> Result<()> {
        match self.asynchronous() {
            Some(failure) if failure.code == Code::ncclInProgress => {
                Err(Failure::argument("Attempt to use communicator before the previous operation returned ncclSuccess"))
            }
            Some(failure) => Err(failure),
            None if self.stop.load(Ordering::Acquire) => Err(Failure::usage("the communicator was revoked or aborted")),
            None if self.finalized.load(Ordering::Acquire) => Err(Failure::usage("the communicator was finalized")),
            None => Ok(()),
        }
    }

    /// Counts an operation that was enqueued.
    pub(crate) fn begin(&self) {
        locked(&self.progress).running += 1;
    }

    /// Counts an operation as ended.
    pub(crate) fn end(&self) {
        locked(&self.progress).running -= 1;
        self.ended.notify_all();
    }

    /// Waits until everything that was enqueued has run, and the initialisation has ended.
    fn drain(&self) {
        let mut progress = locked(&self.progress);
        while progress.running > 0 {
            progress = self.ended.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until the initialisation has ended.
    fn settle(&self) {
        let mut progress = locked(&self.progress);
        while progress.busy {
            let (guard, _) =
                self.ended.wait_timeout(progress, Duration::from_millis(100)).unwrap_or_else(PoisonError::into_inner);
            progress = guard;
        }
    }

    /// Runs what remains, after which no more is accepted. A non-blocking communicator does so in the background.
    pub(crate) fn finalize(self: &Arc<Self>) -> Result<()> {
        self.ready()?;
        if self.finalized.swap(true, Ordering::AcqRel) {
            return Err(Failure::usage("the communicator was finalized before"));
        }
        if self.blocking {
            self.drain();
            return self.asynchronous().map_or(Ok(()), Err);
        }
        locked(&self.progress).busy = true;
        let own = Arc::clone(self);
        std::thread::spawn(move || {
            own.drain();
            locked(&own.progress).busy = false;
            own.ended.notify_all();
        });
        Err(Failure::new(Code::ncclInProgress, "the communicator is finalized in the background"))
    }

    /// Leaves the communicator and forgets its handle.
    pub(crate) fn destroy(&self) {
        self.settle();
        self.drain();
        // A graph may run an operation.
        drop(locked(&self.turn));
        self.forget();
        if let Some(segment) = self.segment.get() {
            segment.leave(state::DEPARTED);
        }
        message(Level::Info, Some(self.device), || {
            let sent = self.segment.get().map_or(0, |segment| segment.sent.load(Ordering::Relaxed));
            format!("comm {:#x} rank {} - Destroy COMPLETE, {sent} bytes sent to other ranks", self.handle, self.rank)
        });
    }

    /// Ends all operations, here and where other ranks wait for this one.
    pub(crate) fn revoke(&self) {
        self.stop.store(true, Ordering::Release);
        if let Some(segment) = self.segment.get() {
            segment.leave(state::ABORTED);
        }
        self.settle();
        if let Some(segment) = self.segment.get() {
            segment.leave(state::ABORTED);
        }
        // The operation that runs ends at its next look; its buffers are not accessed after that.
        drop(locked(&self.turn));
    }

    /// Ends all operations and forgets the handle.
    pub(crate) fn abort(&self) {
        self.revoke();
        self.forget();
        message(Level::Info, Some(self.device), || {
            format!("comm {:#x} rank {} - Abort COMPLETE", self.handle, self.rank)
        });
    }

    fn forget(&self) {
        // Its events are destroyed here, since the last operation ends where the driver cannot be called.
        drop(std::mem::take(&mut *locked(&self.order)));
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_default().remove(&self.handle);
    }

    /// Adds an operator, and returns its number.
    pub(crate) fn add_operator(&self, kind: DataType, operator: Operator) -> c_int {
        let mut operators = locked(&self.operators);
        let at = operators.iter().position(Option::is_none).unwrap_or(operators.len());
        if at == operators.len() {
            operators.push(None);
        }
        operators[at] = Some((kind, operator));
        FIRST_OPERATOR + at as c_int
    }

    /// Returns the operator of a client's number, for a type.
    pub(crate) fn operator(&self, raw: c_int, kind: DataType) -> Result<Operator> {
        if let Some(operator) = Operator::of(raw) {
            return Ok(operator);
        }
        let at = usize::try_from(raw.wrapping_sub(FIRST_OPERATOR)).ok();
        let found = at.and_then(|at| locked(&self.operators).get(at).copied().flatten());
        match found {
            Some((of, operator)) if of == kind => Ok(operator),
            Some((of, _)) => Err(Failure::argument(format!(
                "reduction operation {raw} is for {}, not for {}",
                of.name(),
                kind.name()
            ))),
            None => Err(Failure::argument(format!("reduction operation {raw} is unknown to this communicator"))),
        }
    }

    /// Removes an operator.
    pub(crate) fn remove_operator(&self, raw: c_int) -> Result<()> {
        if (0..FIRST_OPERATOR).contains(&raw) {
            return Err(Failure::argument(format!("operator {raw} is a NCCL builtin operator")));
        }
        let at = usize::try_from(raw.wrapping_sub(FIRST_OPERATOR)).ok();
        let mut operators = locked(&self.operators);
        let place = at.and_then(|at| operators.get_mut(at)).filter(|operator| operator.is_some());
        let place =
            place.ok_or_else(|| Failure::argument(format!("operator {raw} is unknown to this communicator")))?;
        *place = None;
        Ok(())
    }

    /// Returns the id of a communicator that is made from this one: all ranks that pass the same words get the same.
    pub(crate) fn child_id(&self, words: &[u64]) -> UniqueId {
        // FNV-1a with 128 bits.
        let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
        let bytes = id_bytes(&self.id).into_iter().chain(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.for_each(|byte| hash = (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b));
        id_of(hash)
    }
}

/// The number of the first operator that clients create: `ncclNumOps`.
const FIRST_OPERATOR: c_int = 5;
