//! Vector clocks: the accesses that are known to have finished when another one starts.
//!
//! An actor is a stream, by its raw handle, or the host. The default stream is an actor like the others: its implicit
//! order with some streams is not modelled.

use std::collections::HashMap;
use std::ops::Range;

pub(super) type Actor = usize;

/// The actor of the host.
pub(super) const HOST: Actor = usize::MAX;

/// For each actor, the number of its operations that are known to have finished.
#[derive(Clone, Default, Debug)]
pub(super) struct Clock(HashMap<Actor, u64>);

impl Clock {
    pub(super) fn join(&mut self, other: &Clock) {
        for (actor, time) in &other.0 {
            let known = self.0.entry(*actor).or_default();
            *known = (*known).max(*time);
        }
    }

    fn knows(&self, actor: Actor, time: u64) -> bool {
        self.0.get(&actor).is_some_and(|known| *known >= time)
    }

    fn tick(&mut self, actor: Actor) -> u64 {
        let time = self.0.entry(actor).or_default();
        *time += 1;
        *time
    }
}

/// One access to bytes of an allocation.
#[derive(Clone, Debug)]
pub(super) struct Access {
    bytes: Range<u64>,
    actor: Actor,
    time: u64,
    write: bool,
}

/// The clock of every actor.
#[derive(Default)]
pub(super) struct Clocks(HashMap<Actor, Clock>);

impl Clocks {
    /// The present clock of `actor`.
    pub(super) fn of(&self, actor: Actor) -> Clock {
        self.0.get(&actor).cloned().unwrap_or_default()
    }

    /// Joins `clock` into the clock of `actor`.
    pub(super) fn learn(&mut self, actor: Actor, clock: &Clock) {
        self.0.entry(actor).or_default().join(clock);
    }

    /// Advances the clock of `actor` for an operation that the host enqueues. Returns its time.
    pub(super) fn step(&mut self, actor: Actor) -> u64 {
        let host = self.of(HOST);
        let clock = self.0.entry(actor).or_default();
        clock.join(&host);
        clock.tick(actor)
    }

    /// The host has waited for everything.
    pub(super) fn host_waits_for_all(&mut self) {
        let all: Vec<Clock> = self.0.values().cloned().collect();
        for clock in &all {
            self.learn(HOST, clock);
        }
    }

    /// Adds an access by `actor` to `accesses`; the earlier one that it is not ordered after, if there is one.
    pub(super) fn access(
        &mut self,
        accesses: &mut Vec<Access>,
        bytes: Range<u64>,
        actor: Actor,
        write: bool,
    ) -> Option<Access> {
        let time = self.step(actor);
        let known = self.of(actor);
        let conflict = accesses
            .iter()
            .filter(|earlier| bytes.start < earlier.bytes.end && earlier.bytes.start < bytes.end)
            .find(|earlier| (write || earlier.write) && !known.knows(earlier.actor, earlier.time))
            .cloned();
        accesses.push(Access { bytes, actor, time, write });
        conflict
    }
}
