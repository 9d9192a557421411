//! Barriers of a block: arrivals, and the opening of those at which enough threads are.

use super::super::warp::Exchange;
use super::ResidentBlock;
use super::runs::{self, Run};
use crate::check::sync as check;
use crate::ir::sync::{Arg, BARRIERS, BarrierReduction, Operation, Site};

impl ResidentBlock<'_> {
    /// A thread arrives at a barrier and does not wait.
    pub(super) fn arrive(&mut self, site: &Site, thread: usize) {
        let exchange = self.exchange();
        let (id, expected) = (exchange.arg(site, 0, thread), exchange.arg(site, 1, thread));
        self.next[thread] = site.region as u32;
        if self.context.checked != 0 {
            check::arrives(&self.context, id % BARRIERS, thread);
            self.check_counts(Some((site, thread)));
        }
        let barrier = &mut self.arrived[(id % BARRIERS) as usize];
        *barrier = (barrier.0 + 1, expected);
        if barrier.0 >= expected {
            self.open_barriers();
            // The round over the warps goes on.
            self.listed = false;
        }
    }

    /// As [`ResidentBlock::open_barriers`], if all threads meet at one barrier that reduces nothing, or at one place, or if no barrier
    /// can open since all threads have to meet and some do not wait; `None` in the other cases.
    fn open_whole(&mut self) -> Option<bool> {
        if !self.meets_whole {
            return None;
        }
        let (mut barrier, mut simple) = (None, true);
        for state in self.states() {
            let Some(site) = self.site(state).filter(|site| site.is_barrier()) else { return Some(false) };
            let known = matches!(site.args[0], Arg::Known(_)) && site.operation == Operation::Barrier(None);
            simple &= known && barrier.is_none_or(|other| other == site.args[0]);
            barrier = Some(site.args[0]);
        }
        if !self.listed {
            self.list();
        }
        if !simple {
            // If all threads are at one place, the next step completes it for all together.
            let state = runs::alive(&self.runs).and_then(|(_, common)| common).filter(|_| self.may_converge);
            let site = state.and_then(|state| self.site(state));
            let known = |site: &Site| matches!(site.args[0], Arg::Known(id) if id < BARRIERS && self.arrived[id as usize].0 == 0);
            return site.is_some_and(known).then_some(true);
        }
        let plan = self.plan;
        if barrier.is_some() && self.context.checked != 0 {
            self.check_barrier(|_| true);
            check::meet_whole(&self.context);
        }
        let mut at = 0;
        for index in 0..self.runs.len() {
            let Run { end, state } = self.runs[index];
            if state != 0 {
                self.set_run(index, at..end, plan.sites[state as usize - plan.polls.len()].region as u32);
            }
            at = end;
        }
        Some(barrier.is_some())
    }

    /// Opens the barriers at which enough threads have arrived. Returns true if there was one.
    pub(super) fn open_barriers(&mut self) -> bool {
        if let Some(opened) = self.open_whole() {
            return opened;
        }
        self.listed = false;
        let mut waiting: [Vec<usize>; BARRIERS as usize] = std::mem::take(&mut self.waiting);
        waiting.iter_mut().for_each(Vec::clear);
        let mut expected = self.arrived.map(|a| a.1);
        let mut alive = 0;
        for thread in 0..self.next.len() {
            let state = self.next[thread];
            alive += u32::from(state != 0);
            let Some(site) = self.site(state).filter(|s| s.is_barrier()) else { continue };
            let exchange = self.exchange();
            let id = (exchange.arg(site, 0, thread) % BARRIERS) as usize;
            expected[id] = expected[id].max(exchange.arg(site, 1, thread));
            waiting[id].push(thread);
        }
        if self.context.checked != 0 {
            self.check_counts(None);
        }
        let mut opened = false;
        for (id, threads) in waiting.iter_mut().enumerate() {
            let arrived = self.arrived[id].0 + threads.len() as u32;
            let needed = if expected[id] == 0 { alive } else { expected[id] };
            if arrived == 0 || arrived < needed {
                continue;
            }
            opened = true;
            // More threads than it is for wait until it opens again.
            threads.truncate(needed.saturating_sub(self.arrived[id].0) as usize);
            if self.context.checked != 0 {
                self.check_barrier(|thread| threads.binary_search(&thread).is_ok());
                if threads.len() as u32 == alive && self.arrived[id].0 == 0 {
                    check::meet_whole(&self.context);
                } else {
                    check::meet(&self.context, Some(id as u32), threads);
                }
            }
            self.arrived[id] = (0, 0);
            let plan = self.plan;
            let site = |state: u32| &plan.sites[state as usize - plan.polls.len()];
            let reduction = threads.iter().find_map(|t| match site(self.next[*t]).operation {
                Operation::Barrier(reduction) => reduction,
                _ => None,
            });
            if let Some(reduction) = reduction {
                let states = self.next.clone();
                let of = |t: usize| site(states[t]);
                reduce_barrier(&mut self.exchange(), reduction, of, threads.iter().copied());
            }
            threads.iter().for_each(|t| self.next[*t] = site(self.next[*t]).region as u32);
        }
        self.waiting = waiting;
        opened
    }
}

/// Gives the threads of a barrier the reduction of their predicates.
pub(super) fn reduce_barrier<'s>(
    exchange: &mut Exchange<'_>,
    reduction: BarrierReduction,
    site: impl Fn(usize) -> &'s Site,
    threads: impl Iterator<Item = usize> + Clone,
) {
    let total: u32 = threads.clone().map(|t| u32::from(exchange.arg(site(t), 2, t) != 0)).sum();
    let all = total as usize == threads.clone().count();
    let (word, truth) = match reduction {
        BarrierReduction::Popc => (total, false),
        BarrierReduction::And => (0, all),
        BarrierReduction::Or => (0, total != 0),
    };
    threads.for_each(|t| exchange.give(t, word, truth));
}
