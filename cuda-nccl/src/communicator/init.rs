//! The creation of communicators: all devices of a process, one rank of several processes, and parts of a communicator.
//!
//! # Safety
//!
//! The blocks call NCCL with pointers to variables that live until the call has ended; where it is given up before its end,
//! the variables are leaked.

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use cuda_driver::Context;
use cuda_sys::nccl::{NCCL_SPLIT_NOCOLOR, ncclComm, ncclComm_t, ncclConfig_t, ncclResult_t};

use super::{Communicator, Core, Owner, State};
use crate::bootstrap::{Bootstrap, Environment};
use crate::call::Place;
use crate::error::{Error, NcclError, Result, Timeout};
use crate::group::lock_all;
use crate::library::{Nccl, UniqueId};
use crate::pause::Pause;
use crate::transport::Link;
use crate::transport::nccl::NcclLink;

/// Options of a communicator.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// let options = cuda_nccl::Options::new().timeout(Duration::from_secs(20));
/// assert_eq!(options.limit(), Duration::from_secs(20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    limit: Duration,
}

impl Options {
    /// The default options: a time limit of five minutes.
    #[must_use]
    pub fn new() -> Options {
        Options { limit: Duration::from_secs(300) }
    }

    /// Sets the time limit: for all ranks to come when the communicator is made, for a call of NCCL that is in progress, and
    /// for operations on the device, with the work before them in their stream. When it passes, the communicator is aborted.
    #[must_use]
    pub fn timeout(self, limit: Duration) -> Options {
        Options { limit }
    }

    /// The time limit.
    #[must_use]
    pub fn limit(&self) -> Duration {
        self.limit
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

/// A communicator that NCCL is making: where it writes the handle, and the rank.
struct Coming {
    handle: ncclComm_t,
    context: Context,
    place: Place,
}

impl Communicator {
    /// A communicator of all these devices, which must differ; the device of the i-th context is rank i.
    ///
    /// The ranks are driven by a thread each, or by one thread that puts their operations into a [`group`](crate::group).
    ///
    /// # Errors
    ///
    /// [`Error::Nccl`] with NCCL's status, such as for a device that comes twice; [`Error::Timeout`].
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Nccl, Options, Result};
    ///
    /// fn two(nccl: &Nccl, driver: &cuda_driver::Driver) -> Result<Vec<Communicator>> {
    ///     let contexts = [driver.device(0)?.primary_context()?, driver.device(1)?.primary_context()?];
    ///     Communicator::all(nccl, &contexts, &Options::new())
    /// }
    /// ```
    pub fn all(nccl: &Nccl, contexts: &[Context], options: &Options) -> Result<Vec<Communicator>> {
        if contexts.is_empty() {
            return Err(Error::invalid("a communicator has at least one rank; no context was given"));
        }
        let place = |rank| Place { rank, size: contexts.len() };
        let ranks = contexts.iter().enumerate().map(|(rank, context)| (context.clone(), place(rank)));
        create(nccl, nccl.unique_id()?, ranks.collect(), options)
    }

    /// Rank `rank` of a communicator of `size` ranks, which all have the same identifier. Returns when all have come.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Nccl, Options, Result, UniqueId};
    ///
    /// /// The identifier is made by rank 0, and sent to the others as the program likes.
    /// fn join(context: &cuda_driver::Context, id: UniqueId, rank: usize) -> Result<Communicator> {
    ///     Communicator::from_id(&Nccl::load()?, context, id, rank, 8, &Options::new())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Nccl`] with NCCL's status; [`Error::Timeout`] if a rank does not come.
    pub fn from_id(
        nccl: &Nccl,
        context: &Context,
        id: UniqueId,
        rank: usize,
        size: usize,
        options: &Options,
    ) -> Result<Communicator> {
        if rank >= size || i32::try_from(size).is_err() {
            return Err(Error::invalid(format!(
                "rank {rank} of {size}: the ranks of a communicator are 0 to its size - 1"
            )));
        }
        let mut made = create(nccl, id, vec![(context.clone(), Place { rank, size })], options)?;
        made.pop().ok_or_else(|| Error::invalid("no communicator was made"))
    }

    /// The communicator of all processes that meet by `bootstrap`, which also tells rank and size.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Bootstrap, Communicator, Nccl, Options, Result};
    ///
    /// fn start(nccl: &Nccl, context: &cuda_driver::Context, others: &mut dyn Bootstrap) -> Result<Communicator> {
    ///     println!("rank {} of {}", others.rank(), others.size());
    ///     Communicator::meet(nccl, context, others, &Options::new())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Bootstrap`], and the errors of [`from_id`](Communicator::from_id).
    pub fn meet(
        nccl: &Nccl,
        context: &Context,
        bootstrap: &mut dyn Bootstrap,
        options: &Options,
    ) -> Result<Communicator> {
        let (rank, size) = (bootstrap.rank(), bootstrap.size());
        let own = (rank == 0).then(|| nccl.unique_id()).transpose()?;
        let id = bootstrap.share(own, options)?;
        Self::from_id(nccl, context, id, rank, size, options)
    }

    /// The communicator of all processes of this start, by the variables that `torchrun`, Slurm's `srun` and Open MPI's
    /// `mpirun` set; see [`Environment`].
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Environment, Nccl, Options};
    ///
    /// /// One process for each device.
    /// fn start(driver: &cuda_driver::Driver) -> cuda_nccl::Result<Communicator> {
    ///     let device = Environment::from_process()?.local_rank();
    ///     let context = driver.device(device)?.primary_context()?;
    ///     Communicator::from_environment(&Nccl::load()?, &context, &Options::new())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Bootstrap`] if variables are missing or ranks do not come; the errors of
    /// [`from_id`](Communicator::from_id).
    pub fn from_environment(nccl: &Nccl, context: &Context, options: &Options) -> Result<Communicator> {
        Self::meet(nccl, context, &mut Environment::from_process()?, options)
    }

    /// A communicator of the ranks that give the same color, ordered by `key` and then by rank. All ranks call it; one without a
    /// color gets none.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    ///
    /// /// The ranks of even and of odd number.
    /// fn halves(communicator: &Communicator) -> Result<Option<Communicator>> {
    ///     communicator.split(Some(communicator.rank() as u32 % 2), 0)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Nccl`] with NCCL's status; [`Error::Timeout`] if a rank does not call it.
    pub fn split(&self, color: Option<u32>, key: i32) -> Result<Option<Communicator>> {
        Ok(Self::split_all(std::slice::from_ref(self), |_| (color, key))?.pop().flatten())
    }

    /// As [`split`](Communicator::split), for several ranks that one thread drives, such as those of
    /// [`all`](Communicator::all). `parts` gives the color and the key of a rank.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_nccl::{Communicator, Result};
    ///
    /// fn without_the_first(all: &[Communicator]) -> Result<Vec<Communicator>> {
    ///     let parts = Communicator::split_all(all, |rank| ((rank > 0).then_some(0), 0))?;
    ///     Ok(parts.into_iter().flatten().collect())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`split`](Communicator::split).
    pub fn split_all(
        communicators: &[Communicator],
        parts: impl Fn(usize) -> (Option<u32>, i32),
    ) -> Result<Vec<Option<Communicator>>> {
        let Some(first) = communicators.first() else { return Ok(Vec::new()) };
        let Some(nccl) = &first.0.nccl else { return split_mpi(communicators, parts) };
        if communicators.iter().any(|each| each.0.nccl.is_none()) {
            return Err(Error::invalid("`split_all`: the communicators are of one library"));
        }
        let api = &nccl.0;
        let split = api.ncclCommSplit()?;
        let mut colors = Vec::new();
        for each in communicators {
            let (color, key) = parts(each.rank());
            let color = color.map_or(Ok(NCCL_SPLIT_NOCOLOR), i32::try_from);
            let Ok(color) = color else {
                return Err(Error::invalid(format!("rank {}: a color is at most {}", each.rank(), i32::MAX)));
            };
            colors.push((color, key));
        }
        // NCCL writes the handles until the calls have ended; where they are given up, the variables stay.
        let new = Box::leak(vec![std::ptr::null_mut::<ncclComm>(); communicators.len()].into_boxed_slice());
        let mut guards = lock_all(communicators.iter().map(|each| &**each.0));
        let (start, end) = (api.ncclGroupStart()?, api.ncclGroupEnd()?);
        let handles = communicators.iter().map(|each| Ok(guards.live(&each.0, "split", None)?.as_raw()));
        let handles = handles.collect::<Result<Vec<_>>>()?;
        // SAFETY: the function takes nothing.
        let mut status = unsafe { start() };
        let mut refused = None;
        for (at, each) in communicators.iter().enumerate() {
            if !is_accepted(status) {
                break;
            }
            match each.0.context.enter("ncclCommSplit") {
                Ok(_entered) => {
                    let (color, key) = colors[at];
                    // SAFETY: the handle is live and used under its lock; the variable is not freed before the call has ended.
                    // No configuration means that of the parent.
                    status = unsafe { split(handles[at], color, key, &mut new[at], std::ptr::null_mut()) };
                }
                Err(error) => {
                    refused = Some(error);
                    break;
                }
            }
        }
        // SAFETY: the function takes nothing, and the group was begun above.
        let ended = unsafe { end() };
        if let Some(error) = refused {
            return Err(error.into());
        }
        let status = if is_accepted(status) { ended } else { status };
        for each in communicators {
            guards.finish(&each.0, ("split", None), status, "ncclCommSplit")?;
        }
        drop(guards);
        // SAFETY: the calls have ended, so that NCCL writes the variables no more; they were leaked above, in one box.
        let new = unsafe { Box::from_raw(new) };
        let finished = communicators.iter().zip(new).map(|(parent, handle)| {
            let Some(handle) = NonNull::new(handle) else { return Ok(None) };
            adopt(nccl, parent, handle).map(Some)
        });
        finished.collect()
    }
}

/// Splits communicators over MPI, one after the other: each is of processes of its own.
fn split_mpi(
    communicators: &[Communicator],
    parts: impl Fn(usize) -> (Option<u32>, i32),
) -> Result<Vec<Option<Communicator>>> {
    let split = |each: &Communicator| {
        let (color, key) = parts(each.rank());
        let core = &each.0;
        let state = core.state.lock();
        match core.live(&state, "split", None)? {
            #[cfg(feature = "mpi")]
            Link::Mpi(link) => {
                let part = link.split(color, key, core.limit)?;
                Ok(part.map(|(link, place)| {
                    Communicator::of_link(Link::Mpi(link), None, core.context.clone(), place, core.limit)
                }))
            }
            Link::Nccl(_) => Err(Error::invalid(format!(
                "rank {}: color {color:?}, key {key}: the communicators are of one library",
                each.rank()
            ))),
        }
    };
    communicators.iter().map(split).collect()
}

/// Returns true for a status of a call that has begun.
fn is_accepted(status: ncclResult_t) -> bool {
    matches!(status, ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress)
}

/// The communicator of a new handle, with the device and the time limit of its parent.
fn adopt(nccl: &Nccl, parent: &Communicator, handle: NonNull<ncclComm>) -> Result<Communicator> {
    let limit = parent.0.limit;
    let mut coming = [Coming { handle: handle.as_ptr(), context: parent.0.context.clone(), place: parent.0.place }];
    settle(nccl, &mut coming, limit)?;
    let (mut rank, mut size) = (0, 0);
    // SAFETY: the handle is new, and nothing else uses it; the number lives through the call.
    let status = unsafe { (nccl.0.ncclCommUserRank()?)(handle.as_ptr(), &mut rank) };
    NcclError::check_global(&nccl.0, status, "ncclCommUserRank")?;
    // SAFETY: as above.
    let status = unsafe { (nccl.0.ncclCommCount()?)(handle.as_ptr(), &mut size) };
    NcclError::check_global(&nccl.0, status, "ncclCommCount")?;
    let number =
        |value: i32| usize::try_from(value).map_err(|_| Error::invalid(format!("NCCL reports rank {rank} of {size}")));
    let place = Place { rank: number(rank)?, size: number(size)? };
    let [Coming { context, .. }] = coming;
    Ok(communicator(nccl, context, place, handle, limit))
}

fn communicator(nccl: &Nccl, context: Context, place: Place, comm: NonNull<ncclComm>, limit: Duration) -> Communicator {
    let link = Link::Nccl(NcclLink { nccl: nccl.clone(), comm });
    Communicator::of_link(link, Some(nccl.clone()), context, place, limit)
}

impl Communicator {
    /// The communicator of a link to the other ranks.
    pub(crate) fn of_link(
        link: Link,
        nccl: Option<Nccl>,
        context: Context,
        place: Place,
        limit: Duration,
    ) -> Communicator {
        let state = parking_lot::Mutex::new(State::new(link));
        Communicator(Arc::new(Owner::new(Arc::new(Core { nccl, context, place, limit, state }))))
    }
}

/// Makes the communicators of these ranks of one identifier, and waits until all ranks have come.
fn create(nccl: &Nccl, id: UniqueId, ranks: Vec<(Context, Place)>, options: &Options) -> Result<Vec<Communicator>> {
    if let Some((context, _)) = ranks.first() {
        nccl.use_driver(context.api())?;
    }
    let api = &nccl.0;
    let init = api.ncclCommInitRankConfig()?;
    let (start, end) = (api.ncclGroupStart()?, api.ncclGroupEnd()?);
    let new = |(context, place)| Coming { handle: std::ptr::null_mut(), context, place };
    // NCCL writes the handles and reads the configuration until the calls have ended; if they are given up, these stay.
    let coming = Box::leak(ranks.into_iter().map(new).collect::<Box<[Coming]>>());
    let config = Box::leak(Box::new(ncclConfig_t { blocking: 0, ..ncclConfig_t::INITIALIZER }));
    // SAFETY: the function takes nothing.
    let mut status = unsafe { start() };
    let mut refused = None;
    for each in coming.iter_mut() {
        if !is_accepted(status) {
            break;
        }
        let entered = match each.context.enter("ncclCommInitRankConfig") {
            Ok(entered) => entered,
            Err(error) => {
                refused = Some(error);
                break;
            }
        };
        let (rank, size) = (each.place.rank as i32, each.place.size as i32);
        // SAFETY: the device's context is current; handle and configuration are not freed before the call has ended.
        status = unsafe { init(&mut each.handle, size, id.0, rank, config) };
        drop(entered);
    }
    // SAFETY: the function takes nothing, and the group was begun above.
    let ended = unsafe { end() };
    if let Some(error) = refused {
        return Err(error.into());
    }
    let status = if is_accepted(status) { ended } else { status };
    if !is_accepted(status) {
        let subject = coming.first().map(|each| each.place.subject(CREATION, None));
        return Err(Error::Nccl(Box::new(NcclError::new(api, None, status, "ncclCommInitRankConfig", subject))));
    }
    settle(nccl, coming, options.limit)?;
    // SAFETY: the calls have ended, so that NCCL uses the variables no more; they were leaked above, in one box.
    let coming = unsafe { Box::from_raw(coming) };
    // SAFETY: as above.
    drop(unsafe { Box::from_raw(config) });
    let made = coming.into_iter().map(|each| {
        let handle = NonNull::new(each.handle).ok_or_else(|| Error::invalid("NCCL has returned no communicator"))?;
        Ok(communicator(nccl, each.context, each.place, handle, options.limit))
    });
    made.collect()
}

/// The operation's name in errors.
const CREATION: &str = "the creation of the communicator";

/// Waits until all new communicators are ready; else aborts them all.
fn settle(nccl: &Nccl, coming: &mut [Coming], limit: Duration) -> Result<()> {
    let mut pause = Pause::new(limit);
    let failed = 'waiting: {
        for each in &*coming {
            loop {
                let mut found = ncclResult_t::ncclSuccess;
                if !each.handle.is_null() {
                    // SAFETY: the handle is new, and nothing else uses it; the status lives through the call.
                    let status = unsafe { (nccl.0.ncclCommGetAsyncError()?)(each.handle, &mut found) };
                    found = if is_accepted(status) { found } else { status };
                }
                match found {
                    ncclResult_t::ncclSuccess => break,
                    ncclResult_t::ncclInProgress => {}
                    status => {
                        let subject = Some(each.place.subject(CREATION, None));
                        let error = NcclError::new(
                            &nccl.0,
                            NonNull::new(each.handle),
                            status,
                            "ncclCommInitRankConfig",
                            subject,
                        );
                        break 'waiting Error::Nccl(Box::new(error));
                    }
                }
                if !pause.wait() {
                    let subject = each.place.subject(CREATION, None);
                    break 'waiting Error::Timeout(Box::new(Timeout { subject, limit }));
                }
            }
        }
        return Ok(());
    };
    for each in coming.iter().filter(|each| !each.handle.is_null()) {
        let _entered = each.context.enter("ncclCommAbort")?;
        // SAFETY: the handle is new, nothing else uses it, and it is not used again.
        let status = unsafe { (nccl.0.ncclCommAbort()?)(each.handle) };
        tracing::debug!(?status, "a communicator that was not ready is aborted");
    }
    Err(failed)
}
