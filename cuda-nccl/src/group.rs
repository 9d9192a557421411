//! [`group`]: operations that are enqueued together.
//!
//! The operations are collected first, and the library's group spans only the calls: a closure that fails has enqueued nothing, and no
//! other call of the thread gets into NCCL's group. Their memory is borrowed until the group is enqueued.
//!
//! # Safety
//!
//! Calls are made with live handles under their locks; see [`Link::issue`].

use std::marker::PhantomData;

use cuda_sys::CUstream;
use cuda_sys::nccl::ncclResult_t;
use parking_lot::MutexGuard;
use smallvec::SmallVec;

use crate::call::Call;
use crate::communicator::{Communicator, Core, State};
use crate::error::{Error, Result};
use crate::target::Target;
use crate::transport::Link;
use crate::transport::nccl::Bracket;

/// Operations that are enqueued together, from [`group`].
///
/// Its methods are those of [`Communicator`], which they take first. They borrow the arrays until the end of the group.
///
/// # Examples
///
/// ```
/// use cuda_nccl::{Communicator, Group, Result};
/// use cuda_mem::DeviceArray;
///
/// type Row = DeviceArray<f32, ndarray::Ix1>;
///
/// /// Adds the exchange of a row with the next and the previous rank.
/// fn exchange<'env>(
///     group: &mut Group<'env>, c: &'env Communicator, own: &'env Row, other: &'env mut Row, s: &'env cuda_driver::Stream,
/// ) -> Result<()> {
///     let (next, previous) = ((c.rank() + 1) % c.size(), (c.rank() + c.size() - 1) % c.size());
///     group.send(c, own, next, s)?;
///     group.recv(c, other, previous, s)
/// }
/// ```
pub struct Group<'env> {
    calls: SmallVec<[Queued<'env>; 8]>,
    /// `'env` is invariant: it neither grows nor shrinks, so that it outlives the group's end.
    env: PhantomData<&'env mut &'env ()>,
}

/// An operation of a group.
struct Queued<'env> {
    communicator: &'env Communicator,
    call: Call,
    target: Target<'env>,
}

/// Enqueues the operations of `work` together: they progress at the same time, so that sends and receives in any order, and the
/// operations of several ranks that one thread drives, do not wait for each other.
///
/// The operations are enqueued when `work` has returned; if it returns an error, none is. All of them are of one library, and
/// either in streams or in one branch of one captured graph.
///
/// # Examples
///
/// ```
/// use cuda_nccl::{Communicator, Reduction, Result, group};
/// use cuda_driver::Stream;
/// use cuda_mem::DeviceArray;
///
/// /// One thread drives all devices.
/// fn sum(all: &[Communicator], streams: &[Stream], arrays: &mut [DeviceArray<f32, ndarray::Ix1>]) -> Result<()> {
///     group(|g| {
///         for ((communicator, stream), array) in all.iter().zip(streams).zip(arrays) {
///             g.all_reduce_in_place(communicator, array, Reduction::Sum, stream)?;
///         }
///         Ok(())
///     })?;
///     all.iter().zip(streams).try_for_each(|(communicator, stream)| communicator.wait(stream))
/// }
/// ```
///
/// Arrays of the closure itself do not live long enough:
///
/// ```compile_fail,E0597
/// # use cuda_nccl::{Communicator, Result, group};
/// fn wrong(c: &Communicator, s: &cuda_driver::Stream) -> Result<()> {
///     group(|g| {
///         let x = cuda_mem::from_slice(s, &[1.0_f32])?;
///         g.send(c, &x, 0, s)
///     })
/// }
/// ```
///
/// # Errors
///
/// The error of `work`; the errors of the operations.
pub fn group<'env, R>(work: impl FnOnce(&mut Group<'env>) -> Result<R>) -> Result<R> {
    let mut group = Group { calls: SmallVec::new(), env: PhantomData };
    let result = work(&mut group)?;
    group.enqueue()?;
    Ok(result)
}

impl<'env> Group<'env> {
    /// Adds an operation whose memory is prepared.
    pub(crate) fn push(&mut self, communicator: &'env Communicator, call: Call, target: Target<'env>) -> Result<()> {
        if let Some(first) = self.calls.first() {
            let same_target = match (&first.target, &target) {
                (Target::Stream(_), Target::Stream(_)) => true,
                (Target::Capture(one), Target::Capture(other)) => one == other,
                _ => false,
            };
            let operation = communicator.0.subject(call.kind.name(), call.peer);
            if !same_target {
                return Err(Error::invalid(format!(
                    "{operation}: the operations of a group are either in streams or in one branch of one graph"
                )));
            }
            let same_library = match (&first.communicator.0.nccl, &communicator.0.nccl) {
                (Some(one), Some(other)) => std::sync::Arc::ptr_eq(&one.0, &other.0),
                (None, None) => true,
                _ => false,
            };
            if !same_library {
                return Err(Error::invalid(format!("{operation}: the communicators of a group are of one library")));
            }
        }
        self.calls.push(Queued { communicator, call, target });
        Ok(())
    }

    /// Enqueues all operations.
    fn enqueue(self) -> Result<()> {
        let Some(first) = self.calls.first() else { return Ok(()) };
        let Target::Capture(capture) = first.target else { return self.issue(None) };
        // The graph owns what it uses of the communicators before it is locked.
        for queued in &self.calls {
            queued.communicator.keep_in(capture, &queued.call)?;
        }
        let mut open = capture.open()?;
        // SAFETY: the operations are only enqueued. Their accesses have been recorded in the capture, so that at each launch the
        // memory is bound and ordered; the graph holds the communicators.
        unsafe { open.enqueue(|stream| self.issue(Some(stream)).map_err(cuda_driver::Error::from)) }?;
        Ok(())
    }

    /// Makes the calls, in the captured stream or each in its own.
    fn issue(&self, captured: Option<CUstream>) -> Result<()> {
        let Some(first) = self.calls.first() else { return Ok(()) };
        let mut guards = lock_all(self.calls.iter().map(|queued| &**queued.communicator.0));
        for Queued { communicator, call, .. } in &self.calls {
            guards.live(&communicator.0, call.kind.name(), call.peer)?;
        }
        for Queued { communicator, call, target } in &self.calls {
            guards.live(&communicator.0, call.kind.name(), call.peer)?.fork(call, target.stream())?;
        }
        let bracket = Bracket::begin(first.communicator.0.nccl.as_ref())?;
        let mut status = ncclResult_t::ncclSuccess;
        let mut failed = None;
        for (at, queued) in self.calls.iter().enumerate() {
            match queued.issue(&mut guards, captured) {
                Ok(ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress) => {}
                Ok(found) => {
                    status = found;
                    failed = Some((at, None));
                    break;
                }
                Err(error) => {
                    failed = Some((at, Some(error)));
                    break;
                }
            }
        }
        let ended = bracket.end();
        if let Some((at, error)) = failed {
            let Queued { communicator, call, .. } = &self.calls[at];
            let failed = guards.finish(&communicator.0, (call.kind.name(), call.peer), status, call.kind.c_name());
            return error.map_or(failed, Err);
        }
        for Queued { communicator, call, target } in &self.calls {
            guards.finish(&communicator.0, (call.kind.name(), call.peer), ended, "ncclGroupEnd")?;
            guards.live(&communicator.0, call.kind.name(), call.peer)?.join(call, target.stream())?;
        }
        Ok(())
    }
}

impl Queued<'_> {
    /// Makes the call within the group.
    fn issue(&self, guards: &mut Guards<'_>, captured: Option<CUstream>) -> Result<ncclResult_t> {
        let Queued { communicator, call, target } = self;
        let core: &Core = &communicator.0;
        let (raw, stream) = match (captured, target) {
            (None, Target::Stream(stream)) => (stream.as_raw(), Some(*stream)),
            (captured, _) => (captured.unwrap_or(std::ptr::null_mut()), None),
        };
        let state = guards.guard(core);
        let link = core.live(state, call.kind.name(), call.peer)?;
        // SAFETY: the link is used under its lock. The stream is of its device, as the callers have checked, or the captured one;
        // the memory is borrowed until the group has ended, and prepared in the stream, or recorded in the graph.
        let status = unsafe { link.issue(call, core.place, &core.context, raw, stream) }?;
        state.note_call(call, stream);
        Ok(status)
    }
}

/// The locked states of several communicators.
pub(crate) struct Guards<'a>(SmallVec<[(&'a Core, MutexGuard<'a, State>); 4]>);

/// Locks the states of communicators, each once, in an order that is the same for all threads.
pub(crate) fn lock_all<'a>(cores: impl Iterator<Item = &'a Core>) -> Guards<'a> {
    let mut cores: SmallVec<[&Core; 4]> = cores.collect();
    let address = |core: &&Core| std::ptr::from_ref::<Core>(core).addr();
    cores.sort_unstable_by_key(address);
    cores.dedup_by_key(|core| address(&&**core));
    Guards(cores.into_iter().map(|core| (core, core.state.lock())).collect())
}

impl<'a> Guards<'a> {
    fn guard(&mut self, core: &Core) -> &mut MutexGuard<'a, State> {
        let found = self.0.iter_mut().find(|(locked, _)| std::ptr::eq(*locked, core));
        &mut found.expect("the states of all communicators are locked").1
    }

    /// The link of a communicator, for an operation; an error if it has failed.
    pub(crate) fn live(&mut self, core: &Core, operation: &'static str, peer: Option<u32>) -> Result<&Link> {
        core.live(self.guard(core), operation, peer)
    }

    /// The result of a call with this status, which is waited for while it is in progress.
    pub(crate) fn finish(
        &mut self,
        core: &Core,
        last: (&'static str, Option<u32>),
        status: ncclResult_t,
        call: &'static str,
    ) -> Result<()> {
        let guard = self.guard(core);
        guard.note_last(last);
        core.finish(guard, status, call)
    }
}
