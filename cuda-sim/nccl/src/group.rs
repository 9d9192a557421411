//! Groups: what a thread calls between `ncclGroupStart` and `ncclGroupEnd` is put into streams, or started, at the end.

use crate::abi::{Code, RawStream};
use crate::call::{Call, Function};
use crate::communicator::Communicator;
use crate::enqueue::enqueue;
use crate::failure::{Failure, Result};
use std::cell::RefCell;
use std::sync::Arc;

/// Work that waits for other ranks: initialisations and splits.
pub(crate) struct Job {
    /// The communicator that it initialises, if it exists already.
    pub(crate) communicator: Option<Arc<Communicator>>,
    pub(crate) blocking: bool,
    pub(crate) body: Box<dyn FnOnce() -> Result<()> + Send>,
}

/// The calls of a group for one communicator.
type Operation = (Arc<Communicator>, Vec<(RawStream, Call)>);

#[derive(Default)]
struct Group {
    depth: usize,
    /// The first failure of a call, which the end of the group returns.
    failure: Option<Failure>,
    calls: Vec<(Arc<Communicator>, RawStream, Call)>,
    jobs: Vec<Job>,
}

thread_local! {
    static GROUP: RefCell<Group> = RefCell::default();
}

/// Begins a group, or one within it.
pub(crate) fn start() {
    GROUP.with_borrow_mut(|group| group.depth += 1);
}

/// Ends a group. The outermost one does what was called.
pub(crate) fn end() -> Result<()> {
    let finished = GROUP.with_borrow_mut(|group| {
        if group.depth == 0 {
            return Err(Failure::usage("ncclGroupEnd: not in a group call."));
        }
        group.depth -= 1;
        Ok((group.depth == 0).then(|| std::mem::take(group)))
    })?;
    finished.map_or(Ok(()), finish)
}

/// Ends a group without doing what was called.
pub(crate) fn forget() -> Result<()> {
    let finished = GROUP.with_borrow_mut(|group| {
        if group.depth == 0 {
            return Err(Failure::usage("ncclGroupSimulateEnd: not in a group call."));
        }
        group.depth -= 1;
        Ok((group.depth == 0).then(|| std::mem::take(group)))
    })?;
    finished.and_then(|group| group.failure).map_or(Ok(()), Err)
}

/// Notes that a call in a group has failed.
pub(crate) fn note(failure: &Failure) {
    GROUP.with_borrow_mut(|group| {
        if group.depth > 0 && failure.code != Code::ncclInProgress {
            group.failure.get_or_insert_with(|| failure.clone());
        }
    });
}

/// Enqueues a call, at the end of the group if there is one.
pub(crate) fn call(communicator: Arc<Communicator>, stream: RawStream, call: Call) -> Result<()> {
    let now = GROUP.with_borrow_mut(|group| {
        if group.depth == 0 {
            return Some((communicator, call));
        }
        group.calls.push((communicator, stream, call));
        None
    });
    match now {
        Some((communicator, call)) => {
            check_own(&communicator, [&call].into_iter())?;
            enqueue(&communicator, vec![(stream, call)])
        }
        None => Ok(()),
    }
}

/// Starts work that waits for other ranks, at the end of the group if there is one.
pub(crate) fn job(job: Job) -> Result<()> {
    let now = GROUP.with_borrow_mut(|group| {
        if group.depth == 0 {
            return Some(job);
        }
        group.jobs.push(job);
        None
    });
    match now {
        Some(job) if job.blocking => (job.body)(),
        Some(job) => start_jobs(vec![job]),
        None => Ok(()),
    }
}

fn finish(group: Group) -> Result<()> {
    if let Some(failure) = group.failure {
        group.jobs.iter().filter_map(|job| job.communicator.as_ref()).for_each(|communicator| communicator.cancel());
        return Err(failure);
    }
    let started = start_jobs(group.jobs);
    if started.as_ref().is_err_and(|failure| failure.code != Code::ncclInProgress) {
        return started;
    }
    let mut operations: Vec<Operation> = Vec::new();
    for (communicator, stream, call) in group.calls {
        match operations.iter_mut().find(|(known, _)| known.handle == communicator.handle) {
            Some((_, calls)) => calls.push((stream, call)),
            None => operations.push((communicator, vec![(stream, call)])),
        }
    }
    for (communicator, calls) in &operations {
        check_own(communicator, calls.iter().map(|(_, call)| call))?;
    }
    operations.into_iter().try_for_each(|(communicator, calls)| enqueue(&communicator, calls))?;
    started
}

/// Requires that each send of a rank to itself meets a receive in the same group.
fn check_own<'a>(communicator: &Communicator, calls: impl Iterator<Item = &'a Call>) -> Result<()> {
    let (mut sends, mut receives) = (0, 0);
    for call in calls.filter(|call| !call.function.is_collective() && call.root == communicator.rank) {
        if call.function == Function::Send { sends += 1 } else { receives += 1 }
    }
    if sends == receives {
        return Ok(());
    }
    let rank = communicator.rank;
    let text = format!(
        "Trying to send to self without a matching recv: rank {rank} sends {sends} and receives {receives} in a group"
    );
    Err(Failure::usage(text))
}

/// Runs jobs on threads of their own, since each waits for others. Those that block are waited for.
fn start_jobs(jobs: Vec<Job>) -> Result<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let blocking = jobs.iter().all(|job| job.blocking);
    let start = |job: Job| {
        let thread = std::thread::Builder::new().name("nccl-sim initialisation".to_owned());
        thread
            .spawn(job.body)
            .map_err(|error| Failure::new(Code::ncclSystemError, format!("the system gives no thread: {error}")))
    };
    let threads: Vec<_> = jobs.into_iter().map(start).collect::<Result<_>>()?;
    if !blocking {
        return Err(Failure::new(Code::ncclInProgress, "the communicators are initialised in the background"));
    }
    let panicked =
        || Err(Failure::new(Code::ncclInternalError, "an initialisation panicked: a defect of the software NCCL"));
    let ended: Vec<Result<()>> =
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panicked())).collect();
    ended.into_iter().collect()
}
