//! Barriers of clusters: an arrival releases what its thread has done before, and what it does between its arrival and its
//! wait is not ordered.

use super::Race;
use crate::check::clocks::{self, Key, Known, THREAD_BITS};
use crate::check::pending::Scoped;
use crate::check::sync::ClusterMember;
use crate::codegen::abi::Scope;
use std::ops::Range;

/// The arrivals of a block's threads at the barrier of its cluster.
#[derive(Default)]
pub(super) struct ClusterArrivals {
    /// The clocks that were released for the current phase.
    released: Known,
    /// The clocks that the threads had fenced.
    fenced: Scoped,
    /// The time after all threads have arrived at once, by an arrival that was not relaxed.
    whole: Option<u32>,
    /// The clocks of the phase that has opened last, and what its threads had fenced.
    opened: Known,
    opened_fenced: Scoped,
}

impl Race {
    /// Threads of the running block arrive; with `is_whole` they are all that have not ended.
    pub(in crate::check) fn arrive_in_cluster(&mut self, threads: Range<usize>, is_whole: bool, is_relaxed: bool) {
        let (time, number) = (self.time + 1, self.block.number);
        let (mut released, mut fenced): (Known, Scoped) = Default::default();
        for thread in threads.clone() {
            self.complete_acquires(thread);
            if is_relaxed {
                clocks::join(&mut released, &self.fenced(thread));
            }
            if let Some(own) = self.block.threads.get(thread) {
                clocks::join(&mut released, if is_relaxed { &None } else { &own.known });
                fenced.iter_mut().zip(&own.fenced).for_each(|(fenced, own)| clocks::join(fenced, own));
            }
        }
        if !is_relaxed {
            clocks::join(&mut released, &self.block.known);
            let key = |thread| (Key::thread(number << THREAD_BITS | thread as u64), time);
            let mut entries = vec![(Key::block(number), if is_whole { time } else { self.block.barrier })];
            entries.extend(threads.filter(|_| !is_whole).map(key));
            clocks::add(&mut released, entries);
        }
        let arrivals = &mut self.block.cluster;
        clocks::join(&mut arrivals.released, &released);
        arrivals.fenced.iter_mut().zip(&fenced).for_each(|(all, own)| clocks::join(all, own));
        arrivals.whole = (is_whole && !is_relaxed).then_some(time);
        self.tick();
    }

    /// As a fence, a barrier completes the acquires of a thread that has read a flag before it.
    fn complete_acquires(&mut self, thread: usize) {
        let collected = self.block.threads.get_mut(thread).and_then(|own| own.pending.take(Scope::Device));
        if collected.is_some() {
            self.learn(thread, &collected);
        }
    }

    /// The barrier of a cluster with these blocks opens. What threads and blocks did that have ended counts as released.
    pub(in crate::check) fn open_cluster(&mut self, members: &[ClusterMember], ended: &[u64]) {
        let (running, count, time) = (self.block.number, self.block.count, self.time + 1);
        let mut all: Known = None;
        clocks::add(&mut all, ended.iter().map(|block| (Key::block(*block), time)).collect());
        for member in members {
            self.enter(member.block, count, true);
            if self.block.cluster.whole.is_none() {
                member.ended.iter().for_each(|thread| clocks::join(&mut all, &self.snapshot(*thread)));
            }
            clocks::join(&mut all, &self.block.cluster.released.take());
        }
        for member in members {
            self.enter(member.block, count, true);
            self.open_member(member, &all);
        }
        self.enter(running, count, true);
        self.tick();
    }

    /// Opens the barrier for the running block.
    fn open_member(&mut self, member: &ClusterMember, all: &Known) {
        let arrivals = &mut self.block.cluster;
        arrivals.opened.clone_from(all);
        arrivals.opened_fenced = std::mem::take(&mut arrivals.fenced);
        let whole = arrivals.whole.take();
        if !member.all_wait {
            return member.waiting.iter().for_each(|thread| self.wait_in_cluster(*thread));
        }
        let block = &mut self.block;
        clocks::join(&mut block.known, all);
        block.fenced.iter_mut().zip(&block.cluster.opened_fenced).for_each(|(own, new)| clocks::join(own, new));
        if let Some(time) = whole {
            // What its own threads did until their arrival is ordered, and nothing that they did later.
            block.barrier = time;
        }
    }

    /// A thread of the running block waits at a barrier that has opened.
    pub(in crate::check) fn wait_in_cluster(&mut self, thread: usize) {
        let (opened, fenced) = (self.block.cluster.opened.clone(), self.block.cluster.opened_fenced.clone());
        self.learn(thread, &opened);
        if let Some(own) = self.block.threads.get_mut(thread) {
            own.fenced.iter_mut().zip(&fenced).for_each(|(own, new)| clocks::join(own, new));
        }
    }
}
