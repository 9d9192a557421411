//! [`Worker`]: the thread of a communicator that calls MPI. It calls no function of CUDA, and never blocks in MPI.
//!
//! Before a collective operation the ranks compare what they are about to do, since MPI itself would mix up the data of
//! operations that differ, or wait for ever.
//!
//! # Safety
//!
//! The blocks call MPI with the live communicator and with slots that are MPI's until the request has completed, or with the memory
//! of an operation, whose stream waits that long. The requests and the slots of a communicator that has failed are left to MPI,
//! which may still access them; requests in the program's memory are ended before its streams run on.

use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mpi::ffi;
use parking_lot::{Condvar, Mutex};

use super::comm::{Comm, check, test};
use super::lane::{Slots, Way};
use super::numbers::{datatype, divide, reduction};
use super::pieces::{DEPTH, Pieces};
use crate::call::{Call, Kind};
use crate::error::{Error, Result, Subject, Timeout};
use crate::pause::Pause;

/// An operation for the worker.
pub(super) struct Job {
    pub(super) call: Call,
    pub(super) pieces: Pieces,
    /// The number of its first piece in its lane.
    pub(super) first: u32,
    pub(super) slots: Arc<Slots>,
}

/// The state that a communicator and its worker share.
pub(super) struct Shared {
    inbox: Mutex<Inbox>,
    bell: Condvar,
}

#[derive(Default)]
struct Inbox {
    jobs: Vec<(Way, Job)>,
    lanes: Vec<Arc<Slots>>,
    /// True if the worker shall end.
    end: bool,
    /// The error that ended the communicator.
    failed: Option<Error>,
    /// True if MPI accesses the program's memory, so that only the worker may let the streams run on.
    aware: bool,
}

impl Shared {
    /// The state at the start; `aware` is true if MPI accesses the program's memory.
    pub(super) fn new(aware: bool) -> Shared {
        Shared { inbox: Mutex::new(Inbox { aware, ..Inbox::default() }), bell: Condvar::default() }
    }

    /// Adds the slots of a new lane.
    pub(super) fn add_lane(&self, slots: Arc<Slots>) {
        self.inbox.lock().lanes.push(slots);
    }

    /// Gives an operation to the worker.
    pub(super) fn push(&self, way: Way, job: Job) {
        self.inbox.lock().jobs.push((way, job));
        self.bell.notify_one();
    }

    /// The error that ended the communicator.
    pub(super) fn failed(&self) -> Option<Error> {
        self.inbox.lock().failed.clone()
    }

    /// Ends the operations: the streams run through them, without a result.
    pub(super) fn fail(&self, error: Error) {
        let mut inbox = self.inbox.lock();
        if inbox.failed.is_none() {
            inbox.failed = Some(error);
            if !inbox.aware {
                inbox.lanes.iter().for_each(|slots| slots.release());
            }
        }
        inbox.end = true;
        self.bell.notify_one();
    }

    /// Lets the worker end once it has no operation.
    pub(super) fn end(&self) {
        self.inbox.lock().end = true;
        self.bell.notify_one();
    }
}

/// The worker's view of a lane.
struct Queue {
    way: Way,
    jobs: VecDeque<Active>,
    /// The time of the last progress.
    since: Instant,
}

/// An operation with its pieces under way.
struct Active {
    job: Job,
    agreement: Agreement,
    started: usize,
    ended: usize,
    requests: [ffi::MPI_Request; DEPTH],
}

/// The comparison of an operation with those of the other ranks.
enum Agreement {
    /// It has not begun.
    Open,
    /// The smallest signature and the largest one are asked for.
    Compared { request: ffi::MPI_Request, numbers: Box<[u64; 4]> },
    /// They differ; the descriptions of all ranks are asked for.
    Differs { request: ffi::MPI_Request, numbers: Box<[Vec<u64>; 2]> },
    /// All ranks make the same operation.
    Reached,
}

/// A request that is none.
fn none() -> ffi::MPI_Request {
    // SAFETY: the constant is never written.
    unsafe { ffi::RSMPI_REQUEST_NULL }
}

/// The thread of a communicator that calls MPI.
pub(super) struct Worker {
    pub(super) comm: Arc<Comm>,
    pub(super) shared: Arc<Shared>,
    pub(super) limit: Duration,
    queues: Vec<Queue>,
}

/// Rounds without progress before the worker sleeps, for longer and longer.
const EAGER: u32 = 200;
/// A yield that takes longer has let another thread compute; then the worker does not yield for a while.
const LONG: Duration = Duration::from_micros(100);
const CROWDED: Duration = Duration::from_millis(100);
const SHORTEST_PAUSE: Duration = Duration::from_micros(5);
const LONGEST_PAUSE: Duration = Duration::from_micros(200);

// SAFETY: requests are names, which any thread may give to MPI; the worker owns them.
unsafe impl Send for Worker {}

impl Worker {
    pub(super) fn new(comm: Arc<Comm>, shared: Arc<Shared>, limit: Duration) -> Worker {
        Worker { comm, shared, limit, queues: Vec::new() }
    }

    /// Runs until the communicator ends or fails.
    pub(super) fn run(mut self) {
        // SAFETY: the call sets the precision of this thread's timers, which are some 50 microseconds late otherwise.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::prctl(libc::PR_SET_TIMERSLACK, 1)
        };
        let (mut idle, mut crowded_until) = (0_u32, Instant::now());
        loop {
            let is_idle = self.queues.iter().all(|queue| queue.jobs.is_empty());
            let mut inbox = self.shared.inbox.lock();
            while is_idle && inbox.jobs.is_empty() && !inbox.end {
                self.shared.bell.wait(&mut inbox);
            }
            if inbox.failed.is_some() || (inbox.end && is_idle && inbox.jobs.is_empty()) {
                break;
            }
            let jobs = std::mem::take(&mut inbox.jobs);
            drop(inbox);
            jobs.into_iter().for_each(|(way, job)| self.accept(way, job));
            match self.round() {
                Ok(true) => idle = 0,
                Ok(false) => {
                    idle += 1;
                    // Where others compute, a thread that yields waits for a whole slice of theirs, and one that slept comes first.
                    let before = Instant::now();
                    if idle < EAGER && before > crowded_until {
                        std::thread::yield_now();
                        if before.elapsed() > LONG {
                            crowded_until = before + CROWDED;
                        }
                    } else {
                        std::thread::sleep(SHORTEST_PAUSE.saturating_mul(1 + idle / 10).min(LONGEST_PAUSE));
                    }
                }
                Err(error) => self.shared.fail(error),
            }
        }
        let inbox = self.shared.inbox.lock();
        if inbox.failed.is_some() && inbox.aware {
            let lanes = inbox.lanes.clone();
            drop(inbox);
            self.take_back();
            lanes.iter().for_each(|slots| slots.release());
        }
        // MPI may still access the slots that its requests were made with.
        self.queues.retain(|queue| !queue.jobs.is_empty());
        std::mem::forget(self.queues);
    }

    /// Ends the messages in the program's memory, which is the program's again when its streams run on. Where MPI keeps one, the
    /// process ends.
    fn take_back(&mut self) {
        let fronts = self.queues.iter_mut().filter_map(|queue| queue.jobs.front_mut());
        let open = fronts.filter(|active| active.job.pieces.is_direct() && active.started > active.ended);
        let mut open: Vec<&mut Active> = open.collect();
        for active in open.iter_mut().filter(|active| active.job.call.kind == Kind::Recv) {
            // SAFETY: the request is live, and one of a receive, which may be cancelled.
            unsafe { ffi::MPI_Cancel(&mut active.requests[0]) };
        }
        let mut pause = Pause::new(Duration::from_secs(1));
        loop {
            open.retain_mut(|active| {
                let subject = subject(&self.comm, &active.job.call);
                !matches!(test(&mut active.requests[0], active.job.call.kind.mpi_name(), subject), Ok(true))
            });
            if open.is_empty() {
                return;
            }
            if !pause.wait() {
                break;
            }
        }
        let subject = subject(&self.comm, &open[0].job.call);
        eprintln!("{subject}: MPI still accesses the device's memory after a failure; the process ends");
        // SAFETY: the communicator is live.
        unsafe { ffi::MPI_Abort(self.comm.raw(), 1) };
    }

    fn accept(&mut self, way: Way, job: Job) {
        let agreement = if way == Way::Collective { Agreement::Open } else { Agreement::Reached };
        let active = Active { job, agreement, started: 0, ended: 0, requests: [none(); DEPTH] };
        match self.queues.iter_mut().find(|queue| queue.way == way) {
            Some(queue) => {
                if queue.jobs.is_empty() {
                    queue.since = Instant::now();
                }
                queue.jobs.push_back(active);
            }
            None => self.queues.push(Queue { way, jobs: VecDeque::from([active]), since: Instant::now() }),
        }
    }

    /// Advances the first operation of each lane; returns true if one has made progress.
    fn round(&mut self) -> Result<bool> {
        let mut progressed = false;
        for queue in &mut self.queues {
            let Some(active) = queue.jobs.front_mut() else { continue };
            if advance(&self.comm, active)? {
                progressed = true;
                queue.since = Instant::now();
                if active.ended == active.job.pieces.len() {
                    queue.jobs.pop_front();
                }
            } else if queue.since.elapsed() > self.limit {
                let subject = subject(&self.comm, &active.job.call);
                return Err(Error::Timeout(Box::new(Timeout { subject, limit: self.limit })));
            }
        }
        Ok(progressed)
    }
}

fn subject(comm: &Comm, call: &Call) -> Subject {
    comm.place.subject(call.kind.name(), call.peer.map(|peer| peer as usize))
}

/// Starts and completes pieces of an operation as far as they are ready; returns true if there were any.
fn advance(comm: &Comm, active: &mut Active) -> Result<bool> {
    if !matches!(active.agreement, Agreement::Reached) {
        return agree(comm, active);
    }
    let Active { job, started, ended, requests, .. } = active;
    let number = |piece: usize| job.first.wrapping_add(piece as u32);
    let mut progressed = false;
    while *started < job.pieces.len() && *started - *ended < DEPTH && job.slots.is_filled(number(*started)) {
        // SAFETY: the slot is MPI's, since the device has filled it, until its request has completed.
        requests[*started % DEPTH] = unsafe { start(comm, job, *started) }?;
        *started += 1;
        progressed = true;
    }
    while *ended < *started && complete(comm, job, *ended, &mut requests[*ended % DEPTH])? {
        if !job.slots.complete(number(*ended)) {
            return Ok(progressed);
        }
        *ended += 1;
        progressed = true;
    }
    Ok(progressed)
}

/// Asks MPI for a piece.
///
/// # Safety
///
/// The piece's slot is MPI's until the request has completed.
unsafe fn start(comm: &Comm, job: &Job, piece: usize) -> Result<ffi::MPI_Request> {
    let Job { call, pieces, first, slots } = job;
    let number = first.wrapping_add(piece as u32);
    let (source, result) = match pieces.is_direct() {
        true => (call.send as *mut c_void, call.recv as *mut c_void),
        false => (slots.source(number).cast::<c_void>(), slots.result(number).cast::<c_void>()),
    };
    let elements = pieces.elements(piece).len();
    let raw = comm.raw();
    let (count, bytes) = (elements as c_int, (elements * call.elements.bytes) as c_int);
    let peer = call.peer.unwrap_or(0) as c_int;
    let is_root = call.peer.is_some_and(|peer| peer as usize == comm.place.rank);
    let mut request = none();
    // SAFETY: the constant is never written.
    let byte = unsafe { ffi::RSMPI_UINT8_T };
    /// Makes a call of MPI.
    macro_rules! call {
        ($name:ident($($argument:expr),*)) => {{
            // SAFETY: the communicator is live; the slot has room for the piece of each rank, and is MPI's.
            let code = unsafe { ffi::$name($($argument,)* raw, &mut request) };
            check(code, stringify!($name), Some(subject(comm, call)))?;
        }};
    }
    let numbers = || Ok::<_, Error>((datatype(call.elements.data)?, reduction(call.op, call.elements.data)?));
    match call.kind {
        Kind::AllReduce => {
            let (ty, op) = numbers()?;
            call!(MPI_Iallreduce(source, result, count, ty, op));
        }
        Kind::Reduce => {
            let (ty, op) = numbers()?;
            call!(MPI_Ireduce(source, result, count, ty, op, peer));
        }
        Kind::ReduceScatter => {
            let (ty, op) = numbers()?;
            call!(MPI_Ireduce_scatter_block(source, result, count, ty, op));
        }
        Kind::Broadcast => call!(MPI_Ibcast(if is_root { source } else { result }, bytes, byte, peer)),
        Kind::AllGather => call!(MPI_Iallgather(source, bytes, byte, result, bytes, byte)),
        Kind::AllToAll => call!(MPI_Ialltoall(source, bytes, byte, result, bytes, byte)),
        Kind::Gather => call!(MPI_Igather(source, bytes, byte, result, bytes, byte, peer)),
        Kind::Scatter => call!(MPI_Iscatter(source, bytes, byte, result, bytes, byte, peer)),
        Kind::Send => call!(MPI_Isend(source, bytes, byte, peer, 0)),
        Kind::Recv => call!(MPI_Irecv(result, bytes, byte, peer, 0)),
    }
    Ok(request)
}

/// Returns true if a piece's request has completed; then its result is in the slot.
fn complete(comm: &Comm, job: &Job, piece: usize, request: &mut ffi::MPI_Request) -> Result<bool> {
    let Job { call, pieces, first, slots } = job;
    let (elements, subject) = (pieces.elements(piece).len(), subject(comm, call));
    if call.kind == Kind::Recv {
        // SAFETY: a status is a struct of numbers.
        let mut status: ffi::MPI_Status = unsafe { std::mem::zeroed() };
        let mut done = 0;
        // SAFETY: the request is live, and both variables live through the call.
        check(unsafe { ffi::MPI_Test(request, &mut done, &mut status) }, "MPI_Irecv", Some(subject))?;
        if done == 0 {
            return Ok(false);
        }
        let (mut came, expected) = (0, elements * call.elements.bytes);
        // SAFETY: the status is that of a completed request; the number lives through the call.
        let code = unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut came) };
        check(code, "MPI_Get_count", Some(subject))?;
        if usize::try_from(came) != Ok(expected) {
            return Err(Error::invalid(format!(
                "{subject}: {came} bytes came and {expected} were expected; both ends give arrays of the same length and type"
            )));
        }
        return Ok(true);
    }
    if !test(request, call.kind.mpi_name(), subject)? {
        return Ok(false);
    }
    if call.op == cuda_sys::nccl::ncclRedOp_t::ncclAvg && pieces.result(piece).is_some() {
        // SAFETY: the request has completed, and the slot is the device's only once the piece is.
        unsafe {
            divide(call.elements.data, slots.result(first.wrapping_add(piece as u32)), elements, comm.place.size)
        };
    }
    Ok(true)
}

/// The properties that an operation's ranks have to agree on: kind, elements, type and reduction, root.
fn description(call: &Call) -> [u64; 4] {
    let op = u64::from(call.elements.data.0) << 32 | u64::from(call.op.0);
    [call.kind as u64, call.elements.count as u64, op, call.peer.map_or(0, |peer| u64::from(peer) + 1)]
}

/// A number that differs for operations that differ, but for chance.
fn signature(call: &Call) -> u64 {
    let mix = |hash: u64, number: &u64| (hash ^ number).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    description(call).iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Compares the operation with those of the other ranks; returns true if that has made progress.
fn agree(comm: &Comm, active: &mut Active) -> Result<bool> {
    let (call, subject) = (&active.job.call, subject(comm, &active.job.call));
    match &mut active.agreement {
        Agreement::Open => {
            let own = signature(call);
            let mut numbers = Box::new([own, !own, 0, 0]);
            let mut request = none();
            let (source, result) = numbers.split_at_mut(2);
            // SAFETY: the communicator is live; the numbers live until the request has completed.
            let code = unsafe {
                ffi::MPI_Iallreduce(
                    source.as_ptr().cast(),
                    result.as_mut_ptr().cast(),
                    2,
                    ffi::RSMPI_UINT64_T,
                    ffi::RSMPI_MIN,
                    comm.raw(),
                    &mut request,
                )
            };
            check(code, "MPI_Iallreduce", Some(subject))?;
            active.agreement = Agreement::Compared { request, numbers };
            Ok(true)
        }
        Agreement::Compared { request, numbers } => {
            if !test(request, "MPI_Iallreduce", subject)? {
                return Ok(false);
            }
            // The second number is the complement of the largest signature.
            if numbers[2] == !numbers[3] {
                active.agreement = Agreement::Reached;
                return Ok(true);
            }
            let mut numbers = Box::new([description(call).to_vec(), vec![0; 4 * comm.place.size]]);
            let mut request = none();
            let [source, result] = &mut *numbers;
            // SAFETY: as above; each rank gives four numbers.
            let code = unsafe {
                ffi::MPI_Iallgather(
                    source.as_ptr().cast(),
                    4,
                    ffi::RSMPI_UINT64_T,
                    result.as_mut_ptr().cast(),
                    4,
                    ffi::RSMPI_UINT64_T,
                    comm.raw(),
                    &mut request,
                )
            };
            check(code, "MPI_Iallgather", Some(subject))?;
            active.agreement = Agreement::Differs { request, numbers };
            Ok(true)
        }
        Agreement::Differs { request, numbers } => {
            if !test(request, "MPI_Iallgather", subject)? {
                return Ok(false);
            }
            Err(difference(subject, &numbers[0], &numbers[1]))
        }
        Agreement::Reached => Ok(true),
    }
}

/// The error of an operation that differs from that of another rank, given the descriptions.
fn difference(subject: Subject, own: &[u64], all: &[u64]) -> Error {
    let other = all.chunks(4).enumerate().find(|(_, theirs)| *theirs != own);
    let Some((rank, theirs)) = other else {
        return Error::invalid(format!("{subject}: the ranks do not make the same operation"));
    };
    let name = Kind::ALL.get(theirs[0] as usize).map_or("another operation", |kind| kind.name());
    let what = match () {
        () if theirs[0] != own[0] => format!("makes `{name}`"),
        () if theirs[1] != own[1] => format!("has {} elements for each part and this rank {}", theirs[1], own[1]),
        () if theirs[3] != own[3] => {
            format!("has root {} and this rank {}", theirs[3].wrapping_sub(1), own[3].wrapping_sub(1))
        }
        () => "has another type of elements, or another reduction".to_owned(),
    };
    Error::invalid(format!(
        "{subject}: rank {rank} {what}; all ranks make the operations of a communicator in the same order, with the same \
         lengths, types and roots"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Elements;
    use cuda_sys::nccl::{ncclDataType_t, ncclRedOp_t};

    fn call(kind: Kind, count: usize, peer: Option<u32>) -> Call {
        let elements = Elements { count, data: ncclDataType_t::ncclFloat32, bytes: 4 };
        Call { kind, send: 0, recv: 0, elements, op: ncclRedOp_t::ncclSum, peer }
    }

    #[test]
    fn the_signature_holds_all_that_ranks_have_to_agree_on() {
        let one = call(Kind::Reduce, 10, Some(1));
        let other_op = Call { op: ncclRedOp_t::ncclMax, ..one };
        let others = [
            call(Kind::Broadcast, 10, Some(1)),
            call(Kind::Reduce, 11, Some(1)),
            call(Kind::Reduce, 10, Some(0)),
            other_op,
        ];
        assert!(others.iter().all(|other| signature(other) != signature(&one)));
        assert_eq!(signature(&Call { send: 8, recv: 16, ..one }), signature(&one), "addresses differ between ranks");
    }

    #[test]
    fn a_difference_names_the_rank_and_what_it_does() {
        let text = |theirs: Call| {
            let (own, theirs) = (description(&call(Kind::Reduce, 10, Some(1))), description(&theirs));
            let subject = Subject { rank: 0, size: 2, operation: "reduce", peer: Some(1) };
            difference(subject, &own, &[own, theirs].concat()).to_string()
        };
        let other = text(call(Kind::Broadcast, 10, Some(1)));
        assert!(other.starts_with("rank 0 of 2: `reduce` with root 1: rank 1 makes `broadcast`; all ranks"), "{other}");
        assert!(text(call(Kind::Reduce, 3, Some(1))).contains("rank 1 has 3 elements for each part and this rank 10;"));
        assert!(text(call(Kind::Reduce, 10, Some(0))).contains("rank 1 has root 0 and this rank 1;"));
    }
}
