//! Waits of a rank for its peers, which end also when a peer is gone, when the communicator was aborted or has an error, and
//! when ranks wait for each other in a circle.
//!
//! A rank that waits is *held up* by another one if that one runs an operation which cannot give it what it waits for: in a
//! collective, by every rank that runs something else and has not joined the collective; in a group of sends and receives, by
//! every peer that runs something without the matching receive or send. Operations of a communicator run one at a time, so
//! ranks that hold each other up in a circle never go on. That is a mismatch, and reported with every rank's call.

use crate::abi::Code;
use crate::call::describe;
use crate::failure::{Failure, Result};
use crate::segment::{PATIENCE, SLOTS, Segment};
use crate::transfer::{DATA, Ranks};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The kinds of activities.
const IDLE: u64 = 0;
const COLLECTIVE: u64 = 1;
const EXCHANGE: u64 = 2;

/// The rounds in which a waiting rank polls before it sleeps.
const SPINS: u32 = 64;
/// The time without progress after which a rank looks for deadlocks, and between two looks.
const SUSPICION: Duration = Duration::from_millis(60);

/// The waits of one rank.
pub(crate) struct Watch<'a> {
    pub(crate) segment: &'a Segment,
    /// Set when the rank's own communicator is aborted.
    pub(crate) stop: &'a AtomicBool,
    /// The name of the function that runs, for texts.
    pub(crate) function: &'static str,
}

/// The activity of a rank, as another one sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    number: u64,
    kind: u64,
    joined: u64,
    sends: Ranks,
    receives: Ranks,
}

fn store(words: &[std::sync::atomic::AtomicU64; 2], ranks: Ranks) {
    words[0].store(ranks.0 as u64, Ordering::Relaxed);
    words[1].store((ranks.0 >> 64) as u64, Ordering::Relaxed);
}

fn load(words: &[std::sync::atomic::AtomicU64; 2]) -> Ranks {
    let [low, high] = [&words[0], &words[1]].map(|word| u128::from(word.load(Ordering::Relaxed)));
    Ranks(low | high << 64)
}

/// Publishes what this rank does.
fn publish(segment: &Segment, kind: u64, sends: Ranks, receives: Ranks) {
    let activity = &segment.own().activity;
    // An odd number says that the words change.
    activity.number.fetch_add(1, Ordering::AcqRel);
    std::sync::atomic::fence(Ordering::Release);
    activity.kind.store(kind, Ordering::Relaxed);
    store(&activity.sends, sends);
    store(&activity.receives, receives);
    activity.number.fetch_add(1, Ordering::Release);
}

/// Says that this rank runs nothing.
pub(crate) fn rests(segment: &Segment) {
    publish(segment, IDLE, Ranks::default(), Ranks::default());
}

/// Says that this rank runs the collective that it has joined last.
pub(crate) fn runs_collective(segment: &Segment) {
    publish(segment, COLLECTIVE, Ranks::default(), Ranks::default());
}

/// Says that this rank has yet to send to and to receive from these ranks.
pub(crate) fn exchanges(segment: &Segment, sends: Ranks, receives: Ranks) {
    publish(segment, EXCHANGE, sends, receives);
}

fn see(segment: &Segment, rank: usize) -> Option<Seen> {
    let block = segment.rank(rank);
    let activity = &block.activity;
    let number = activity.number.load(Ordering::Acquire);
    // What a ring has room for, or holds, goes on as soon as the rank gets a processor.
    let blocked = |ranks: Ranks, moves: &dyn Fn(usize) -> bool| {
        let mut left = Ranks::default();
        ranks.iter().filter(|peer| !moves(*peer)).for_each(|peer| left.insert(peer));
        left
    };
    let has_room = |peer: usize| peer != rank && segment.ring(rank, peer, DATA).writable(SLOTS).is_some();
    let has_data = |peer: usize| peer != rank && segment.ring(peer, rank, DATA).readable(SLOTS).is_some();
    let seen = Seen {
        number,
        kind: activity.kind.load(Ordering::Relaxed),
        joined: block.joined.load(Ordering::Relaxed),
        sends: blocked(load(&activity.sends), &has_room),
        receives: blocked(load(&activity.receives), &has_data),
    };
    std::sync::atomic::fence(Ordering::Acquire);
    let stable = number.is_multiple_of(2) && activity.number.load(Ordering::Relaxed) == number;
    stable.then_some(seen)
}

/// Returns true if a rank is held up by another one.
fn is_held_up(all: &[Seen], rank: usize, by: usize) -> bool {
    let (own, other) = (&all[rank], &all[by]);
    if rank == by || other.kind == IDLE {
        return false;
    }
    match own.kind {
        COLLECTIVE => other.joined < own.joined,
        EXCHANGE => {
            let meets = other.kind == EXCHANGE;
            (own.sends.contains(by) && !(meets && other.receives.contains(rank)))
                || (own.receives.contains(by) && !(meets && other.sends.contains(rank)))
        }
        _ => false,
    }
}

/// Returns the ranks that hold each other up for ever.
fn deadlocked(all: &[Seen]) -> Ranks {
    let mut stuck = Ranks(0);
    (0..all.len()).for_each(|rank| stuck.insert(rank));
    loop {
        let mut left = Ranks::default();
        stuck
            .iter()
            .filter(|rank| stuck.iter().any(|by| is_held_up(all, *rank, by)))
            .for_each(|rank| left.insert(rank));
        if left == stuck {
            return stuck;
        }
        stuck = left;
    }
}

/// Lists what every rank does, one line each.
fn table(segment: &Segment, all: &[Seen]) -> String {
    let line = |(rank, seen): (usize, &Seen)| match seen.kind {
        COLLECTIVE => {
            let number = seen.joined.saturating_sub(1);
            let words = segment.rank(rank).calls[(number % 2) as usize].read();
            format!("\n  rank {rank}: {} (collective {number} of the communicator)", describe(words))
        }
        EXCHANGE => {
            let list = |what: &str, ranks: Ranks| {
                let ranks: Vec<_> = ranks.iter().map(|rank| rank.to_string()).collect();
                if ranks.is_empty() { String::new() } else { format!(", {what} {}", ranks.join(", ")) }
            };
            let (to, from) = (list("has to send to rank", seen.sends), list("has to receive from rank", seen.receives));
            format!("\n  rank {rank}: a group of ncclSend and ncclRecv{to}{from}")
        }
        _ => format!("\n  rank {rank}: no call yet"),
    };
    all.iter().enumerate().map(line).collect()
}

impl Watch<'_> {
    /// Polls until it returns true, and sleeps where there is no progress. `awaited` names the ranks that are waited for.
    ///
    /// # Errors
    ///
    /// The communicator was aborted or has an error, a rank that is waited for is gone, or ranks wait in a circle.
    pub(crate) fn until(
        &self,
        mut poll: impl FnMut() -> Result<(bool, bool)>,
        awaited: impl Fn() -> Ranks,
    ) -> Result<()> {
        let (mut rounds, mut since, mut looked) = (0u32, Instant::now(), None::<(Instant, Vec<Seen>)>);
        loop {
            let ticket = self.segment.own().doorbell.ticket();
            let (done, moved) = poll()?;
            if done {
                return Ok(());
            }
            if moved {
                (rounds, looked) = (0, None);
                continue;
            }
            if rounds == 0 {
                since = Instant::now();
            }
            rounds += 1;
            self.check_end()?;
            if rounds <= SPINS {
                std::hint::spin_loop();
            } else {
                self.segment.own().doorbell.wait(ticket, PATIENCE);
            }
            if rounds <= SPINS || since.elapsed() < PATIENCE {
                continue;
            }
            self.check_peers(&mut poll, &awaited)?;
            if since.elapsed() >= SUSPICION {
                self.check_circle(&mut looked)?;
            }
        }
    }

    /// Fails if this rank's communicator was aborted or any rank has raised an error.
    pub(crate) fn check_end(&self) -> Result<()> {
        if self.stop.load(Ordering::Acquire) {
            return Err(Failure::usage(format!("{} was aborted by its own rank", self.function)));
        }
        self.segment.raised().map_or(Ok(()), Err)
    }

    /// Fails if a rank that is waited for is gone. What it had left in the rings is taken first.
    fn check_peers(&self, poll: &mut impl FnMut() -> Result<(bool, bool)>, awaited: &impl Fn() -> Ranks) -> Result<()> {
        for rank in awaited().iter() {
            let Some(reason) = self.segment.gone(rank) else { continue };
            // It may have left because of an error, which it has raised before.
            self.check_end()?;
            let (done, moved) = poll()?;
            if done || moved || !awaited().contains(rank) {
                return Ok(());
            }
            let text = format!("{reason} while rank {} waits for it in {}", self.segment.rank, self.function);
            return Err(Failure::new(Code::ncclRemoteError, text));
        }
        Ok(())
    }

    /// Fails if this rank and others hold each other up, and have done nothing since the last look.
    fn check_circle(&self, looked: &mut Option<(Instant, Vec<Seen>)>) -> Result<()> {
        if looked.as_ref().is_some_and(|(at, _)| at.elapsed() < SUSPICION) {
            return Ok(());
        }
        let all: Option<Vec<Seen>> = (0..self.segment.ranks()).map(|rank| see(self.segment, rank)).collect();
        let Some(all) = all else { return Ok(()) };
        let stuck = deadlocked(&all).contains(self.segment.rank);
        if stuck && looked.as_ref().is_some_and(|(_, before)| *before == all) {
            let table = table(self.segment, &all);
            return Err(Failure::usage(format!(
                "the ranks' calls do not match, and wait for each other for ever{table}"
            )));
        }
        *looked = Some((Instant::now(), all));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(of: &[usize]) -> Ranks {
        let mut ranks = Ranks::default();
        of.iter().for_each(|rank| ranks.insert(*rank));
        ranks
    }

    fn seen(kind: u64, joined: u64, sends: &[usize], receives: &[usize]) -> Seen {
        Seen { number: 0, kind, joined, sends: ranks(sends), receives: ranks(receives) }
    }

    #[test]
    fn a_collective_and_a_send_hold_each_other_up() {
        let all = [seen(COLLECTIVE, 1, &[], &[]), seen(EXCHANGE, 0, &[0], &[]), seen(IDLE, 0, &[], &[])];
        assert_eq!(deadlocked(&all), ranks(&[0, 1]));
    }

    #[test]
    fn ranks_that_can_go_on_are_not_stuck() {
        // Rank 0 waits for the collective, which rank 1 joins after its exchange with rank 2.
        let all = [seen(COLLECTIVE, 1, &[], &[]), seen(EXCHANGE, 0, &[2], &[]), seen(EXCHANGE, 0, &[], &[1])];
        assert_eq!(deadlocked(&all), Ranks(0));
        // Everybody waits for a rank that has not come.
        let all = [seen(COLLECTIVE, 1, &[], &[]), seen(COLLECTIVE, 1, &[], &[]), seen(IDLE, 0, &[], &[])];
        assert_eq!(deadlocked(&all), Ranks(0));
    }

    #[test]
    fn sends_in_a_circle_are_stuck_unless_receives_are_in_the_group() {
        let circle =
            |receives: [&[usize]; 3]| [0, 1, 2].map(|rank: usize| seen(EXCHANGE, 0, &[(rank + 1) % 3], receives[rank]));
        assert_eq!(deadlocked(&circle([&[], &[], &[]])), ranks(&[0, 1, 2]));
        assert_eq!(deadlocked(&circle([&[2], &[0], &[1]])), Ranks(0));
        // One receive opens the circle.
        assert_eq!(deadlocked(&circle([&[2], &[], &[]])), Ranks(0));
    }

    #[test]
    fn a_rank_behind_a_circle_is_stuck_too() {
        let all = [
            seen(EXCHANGE, 0, &[1], &[]),
            seen(EXCHANGE, 0, &[0], &[]),
            seen(EXCHANGE, 0, &[0], &[]),
            seen(EXCHANGE, 0, &[], &[0, 1]),
        ];
        assert_eq!(deadlocked(&all), ranks(&[0, 1, 2, 3]));
    }
}
