//! The ways to make communicators: by a unique id, for all devices of a process, by a split, and without some ranks.
//!
//! # Safety
//!
//! Handles are written to the places that clients passed for them, which the header lets them keep until the call, or the
//! group that it is in, has ended.

use crate::abi::{NO_COLOR, SHRINK_ABORT, UniqueId};
use crate::communicator::{Communicator, Setup, locked};
use crate::driver;
use crate::failure::{Failure, Result};
use crate::group::{self, Job};
use crate::segment::{name_of, new_id};
use crate::transfer::Ranks;
use crate::watch::Watch;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The marks in the ids of communicators that were made by a split, and without some ranks.
const BY_SPLIT: u64 = 1;
const BY_SHRINK: u64 = 2;

/// The place that a communicator's handle is written to.
#[derive(Clone, Copy)]
pub(crate) struct Out(pub(crate) *mut crate::abi::RawCommunicator);
// SAFETY: the client keeps the place until the group has ended, and nothing else writes it meanwhile.
unsafe impl Send for Out {}

impl Out {
    pub(crate) fn write(self, communicator: Option<&Communicator>) {
        let raw = communicator.map_or(std::ptr::null_mut(), Communicator::raw);
        // SAFETY: the client passed the place for this, and it was checked not to be null.
        unsafe { self.0.write(raw) };
    }
}

/// Starts the initialisation of a rank on the current device.
pub(crate) fn by_id(out: Out, ranks: c_int, id: UniqueId, rank: c_int, blocking: bool) -> Result<()> {
    let device = driver::current_device()?;
    name_of(&id)?;
    let of = |number: c_int| usize::try_from(number).ok();
    let (Some(ranks), Some(rank)) = (of(ranks), of(rank)) else {
        return Err(Failure::argument(format!("Invalid rank requested : {rank}/{ranks}")));
    };
    begin(out, &Setup { id, ranks, rank, device, blocking })
}

fn begin(out: Out, setup: &Setup) -> Result<()> {
    let new = Communicator::announce(setup)?;
    out.write(Some(&new));
    let own = Arc::clone(&new);
    group::job(Job { communicator: Some(new), blocking: setup.blocking, body: Box::new(move || own.initialise()) })
}

/// Initialises a rank on each of the process's devices.
pub(crate) fn for_devices(outs: &[Out], devices: Option<&[c_int]>) -> Result<()> {
    let count = driver::device_count()?;
    let ranks = outs.len();
    let devices: Vec<c_int> = devices.map_or_else(|| (0..ranks as c_int).collect(), <[c_int]>::to_vec);
    for (at, device) in devices.iter().enumerate() {
        if !(0..count).contains(device) {
            return Err(Failure::usage(format!("Invalid device number {device}: there are {count} devices")));
        }
        if devices[..at].contains(device) {
            return Err(Failure::usage(format!("Duplicate device {device} in the list of ncclCommInitAll")));
        }
    }
    let id = new_id()?;
    group::start();
    let begun =
        outs.iter().zip(&devices).enumerate().try_for_each(|(rank, (out, device))| {
            begin(*out, &Setup { id, ranks, rank, device: *device, blocking: true })
        });
    if let Err(failure) = &begun {
        group::note(failure);
    }
    group::end()
}

/// Makes a communicator of the ranks that pass the same color, in the order of their keys.
pub(crate) fn by_split(parent: Arc<Communicator>, color: c_int, key: c_int, out: Out, blocking: bool) -> Result<()> {
    parent.ready()?;
    if color < 0 && color != NO_COLOR {
        return Err(Failure::argument(format!(
            "ncclCommSplit : color must be 0 or greater, or NCCL_SPLIT_NOCOLOR, not {color}"
        )));
    }
    out.write(None);
    let number = {
        let mut derived = locked(&parent.derived);
        derived[0] += 1;
        derived[0] - 1
    };
    let body = move || {
        let members = meet(&parent, number, color, key)?;
        let Some(rank) = members.iter().position(|rank| *rank == parent.rank) else { return Ok(()) };
        let id = parent.child_id(&[BY_SPLIT, number, color as u64]);
        child(out, &Setup { id, ranks: members.len(), rank, device: parent.device, blocking })
    };
    // A split blocks always: the size of the new communicator is known only once all have come.
    group::job(Job { communicator: None, blocking: true, body: Box::new(body) })
}

/// Makes a communicator of all ranks but the excluded ones, which take no part in it.
pub(crate) fn by_shrink(
    parent: Arc<Communicator>,
    excluded: &[c_int],
    out: Out,
    blocking: bool,
    flags: c_int,
) -> Result<()> {
    if flags & !SHRINK_ABORT != 0 {
        return Err(Failure::argument(format!("ncclCommShrink : unknown flags {flags:#x}")));
    }
    let mut without = Ranks::default();
    for rank in excluded {
        without.insert(crate::check::rank(&parent, "ncclCommShrink", "excluded rank", *rank)?);
    }
    if without.contains(parent.rank) {
        return Err(Failure::argument("ncclCommShrink : the calling rank is in the list of excluded ranks"));
    }
    if flags & SHRINK_ABORT != 0 {
        parent.revoke();
    } else {
        parent.ready()?;
    }
    out.write(None);
    let number = {
        let mut derived = locked(&parent.derived);
        derived[1] += 1;
        derived[1] - 1
    };
    let members: Vec<usize> = (0..parent.ranks).filter(|rank| !without.contains(*rank)).collect();
    let rank = members.iter().position(|rank| *rank == parent.rank).expect("it is not excluded");
    let id = parent.child_id(&[BY_SHRINK, number, without.0 as u64, (without.0 >> 64) as u64]);
    let setup = Setup { id, ranks: members.len(), rank, device: parent.device, blocking };
    group::job(Job { communicator: None, blocking: true, body: Box::new(move || child(out, &setup)) })
}

fn child(out: Out, setup: &Setup) -> Result<()> {
    let new = Communicator::announce(setup)?;
    out.write(Some(&new));
    new.initialise()
}

/// Publishes the arguments of a split, waits for those of all ranks, and returns the ranks of this one's color in their new
/// order.
fn meet(parent: &Communicator, number: u64, color: c_int, key: c_int) -> Result<Vec<usize>> {
    let segment = parent.segment()?;
    let watch = Watch { segment, stop: &parent.stop, function: "ncclCommSplit" };
    let own = segment.own();
    // Another split of the group may have to come first.
    let earlier = || Ok((own.split.load(Ordering::Acquire) == number, false));
    watch.until(earlier, Ranks::default)?;
    let slot = (number % 2) as usize;
    own.splits[slot].color.store(u64::from(color.cast_unsigned()), Ordering::Relaxed);
    own.splits[slot].key.store(u64::from(key.cast_unsigned()), Ordering::Relaxed);
    own.split.store(number + 1, Ordering::Release);
    segment.ring_all();
    let missing = || {
        let mut missing = Ranks::default();
        let absent = |rank: &usize| segment.rank(*rank).split.load(Ordering::Acquire) <= number;
        segment.peers().filter(absent).for_each(|rank| missing.insert(rank));
        missing
    };
    watch.until(|| Ok((missing() == Ranks::default(), false)), missing)?;
    if color == NO_COLOR {
        return Ok(Vec::new());
    }
    let of = |rank: usize| {
        let words = &segment.rank(rank).splits[slot];
        let [color, key] = [&words.color, &words.key].map(|word| (word.load(Ordering::Relaxed) as u32).cast_signed());
        (color, key)
    };
    let mut members: Vec<(c_int, usize)> =
        (0..parent.ranks).filter(|rank| of(*rank).0 == color).map(|rank| (of(rank).1, rank)).collect();
    members.sort_unstable();
    Ok(members.into_iter().map(|(_, rank)| rank).collect())
}
