//! One resident block: which of its threads run next, who waits for whom, and what they get.
//!
//! While all threads that have not finished are in one place, that place is all the state there is (`whole`), and a
//! region runs for all of them in one call. Otherwise every thread's place is in `next`: warps run in turn, lanes of
//! a warp in groups. A thread that polls gets one turn each round, so that those it waits for get theirs. The state
//! is plain data: a block whose threads only poll, or wait for their cluster, is set aside and another one runs.
//!
//! # Safety
//!
//! `unsafe` stands where compiled code is called, with a context and threads of this block, and where arguments and
//! results are viewed in the frame, which belongs to this block alone and is at least [`sync::FRAME_BYTES`] and the
//! fragments of matrices long for each thread; compiled code that writes there does not run at the same time.

use super::deadlock::{self, Wait, What};
use super::launch::{Fault, Place};
use super::warp::{self, Exchange, LANES};
use crate::codegen::abi::{Context, LOOK};
use crate::ir::sync::{self, Arg, BARRIERS, Count, Operation, Plan, Poll, Site, Watched};
use std::ops::Range;

/// What runs a block's threads: compiled regions, or fibers.
pub(crate) trait Engine {
    /// Runs threads from where they are, `state` or [`BEGIN`], and gives where all of them are then, or [`LOOK`].
    fn run(&mut self, context: &mut Context, state: u32, first: usize, count: usize) -> Result<u64, Fault>;

    /// The threads run next are those of the block of that number, before their first instruction.
    fn restart(&mut self, number: u64) {
        let _ = number;
    }

    /// The next warp to run in a round of `warps`; `turn` counts from 0.
    fn order(&mut self, turn: usize, warps: usize) -> usize {
        debug_assert!(turn < warps);
        turn
    }

    /// The number of of `most` neighbouring threads in one place run now.
    fn group(&mut self, most: usize) -> usize {
        most
    }

    /// Returns true if threads that could run do not for this once.
    fn passes(&mut self) -> bool {
        false
    }
}

/// Where a block is when its turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// All threads that could run poll, or wait for such.
    Polling,
    /// No thread can go on before the barrier of the cluster opens.
    AtCluster,
    /// No thread has gone on in this turn, nor can before a thread of another block writes to the workspace of the grid's
    /// barriers.
    AtGrid,
}

/// What a step of a block came to.
enum Step {
    Moved,
    /// Nothing but polling happened.
    Polled,
    /// Nothing happened.
    Stuck,
}

/// Where a thread is with respect to its cluster's barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It has not arrived since it waited last.
    Out,
    Arrived,
    /// It has arrived, as have all others: it need not wait.
    Passed,
}

/// Rounds of nothing but polling after which another block gets a turn. In the last of them no thread is passed over.
const PATIENCE: u32 = 4;

/// A block that runs.
pub(crate) struct Block<'a> {
    plan: &'a Plan,
    /// Words of the frame that fragments of matrices take for each thread.
    matrix_words: usize,
    pub(crate) context: Box<Context>,
    next: Vec<u32>,
    number: u64,
    /// True if threads in one place run together.
    together: bool,
    /// The place of all threads in `low..high`; others have finished.
    whole: Option<u32>,
    low: usize,
    high: usize,
    /// Threads that arrived without waiting, and how many the barrier waits for.
    arrived: [(u32, u32); BARRIERS as usize],
    /// Memory for the lists of those that wait at each barrier.
    waiting: [Vec<usize>; BARRIERS as usize],
    /// One for each thread, where the kernel has a barrier of clusters.
    phases: Vec<Phase>,
    /// Rounds of nothing but polling since a thread went on.
    idle: u32,
}

impl<'a> Block<'a> {
    /// A block before its first instruction. `next` has a place for each thread.
    pub(crate) fn new(
        plan: &'a Plan,
        mut context: Box<Context>,
        mut next: Vec<u32>,
        place: Place,
        together: bool,
    ) -> Self {
        let high = context.threads as usize;
        next.clear();
        next.resize(high, ENTRY);
        context.next = next.as_mut_ptr();
        let meets = plan.sites.iter().any(Site::is_of_cluster);
        let mut this = Block {
            plan,
            matrix_words: plan.matrix_words(),
            context,
            next,
            number: 0,
            together,
            whole: None,
            low: 0,
            high,
            arrived: [(0, 0); BARRIERS as usize],
            waiting: Default::default(),
            phases: vec![Phase::Out; if meets { high } else { 0 }],
            idle: 0,
        };
        this.restart(place);
        this
    }

    /// Makes this the block of that place before its first instruction.
    pub(crate) fn restart(&mut self, Place { number, ctaid, cluster }: Place) {
        (self.context.ctaid, self.context.cluster) = (ctaid, cluster);
        self.context.running = number;
        self.context.copies.clear();
        (self.number, self.low, self.high) = (number, 0, self.next.len());
        self.next.fill(ENTRY);
        self.phases.fill(Phase::Out);
        self.arrived = [(0, 0); BARRIERS as usize];
        self.whole = self.together.then_some(ENTRY);
    }

    /// The memory for the next block.
    pub(crate) fn into_next(self) -> Vec<u32> {
        self.next
    }

    fn site(&self, state: u32) -> Option<&'a Site> {
        if state >= ENTRY {
            return None;
        }
        (state as usize).checked_sub(self.plan.polls.len()).map(|site| &self.plan.sites[site])
    }

    fn can_run(&self, state: u32) -> bool {
        state != 0 && self.site(state).is_none()
    }

    fn poll(&self, state: u32) -> Option<Poll> {
        self.plan.polls.get(state as usize).copied().flatten()
    }

    fn polls(&self, state: u32) -> bool {
        self.poll(state).is_some()
    }

    /// Returns true if threads that were in `before`, and are in `after` now, may have done nothing but poll.
    fn stays(&self, before: u32, mut after: impl Iterator<Item = u32>) -> bool {
        self.poll(before).is_some_and(|poll| poll.watched == Watched::Any || after.all(|state| state == before))
    }

    /// The memory whose writers are left to let a thread go on where none did: the loosest of what threads poll.
    fn watched(&self) -> Option<Watched> {
        let alone = self.context.cluster.ranks <= 1;
        let of = |poll: Poll| match poll.watched {
            Watched::Shared if !alone => Watched::Any,
            watched => watched,
        };
        let polled = self.alive().filter_map(|thread| self.poll(self.state(thread)).map(of));
        let others = self.alive().any(|thread| self.can_run(self.state(thread)) && !self.polls(self.state(thread)));
        let loosest = polled.reduce(|a, b| match (a, b) {
            (Watched::Any, _) | (_, Watched::Any) => Watched::Any,
            (Watched::Grid, _) | (_, Watched::Grid) => Watched::Grid,
            (Watched::Shared, Watched::Shared) => Watched::Shared,
        });
        loosest.filter(|_| !others)
    }

    fn exchange(&mut self) -> Exchange<'_> {
        let threads = self.context.threads as usize;
        let words = threads * ((sync::FRAME_BYTES / 4) as usize + self.matrix_words);
        // SAFETY: the frame of this block, page-aligned, initialised and at least this long; see the header.
        let words = unsafe { std::slice::from_raw_parts_mut(self.context.frame as *mut u32, words) };
        Exchange { words, threads }
    }

    fn call(&mut self, engine: &mut dyn Engine, state: u32, first: usize, count: usize) -> Result<u64, Fault> {
        let state = if state == ENTRY { BEGIN } else { state };
        let result = engine.run(&mut self.context, state, first, count).map_err(|fault| fault.in_block(self.number))?;
        Fault::stopped(&self.context).map(|()| result)
    }

    /// Runs until the block has finished or only polls.
    pub(crate) fn run(&mut self, engine: &mut dyn Engine) -> Result<Outcome, Fault> {
        self.idle = 0;
        let mut moved = false;
        while self.idle < PATIENCE {
            let step = match self.whole {
                Some(0) => return Ok(Outcome::Done),
                Some(state) => self.step_whole(engine, state)?,
                None => self.round(engine)?,
            };
            match step {
                Step::Moved => (self.idle, moved) = (0, true),
                Step::Polled => self.idle += 1,
                Step::Stuck if self.waits_for_cluster() => return Ok(Outcome::AtCluster),
                Step::Stuck => return Err(self.deadlock(None)),
            }
        }
        match self.watched() {
            Some(Watched::Shared) => Err(self.deadlock(None)),
            Some(Watched::Grid) if !moved => Ok(Outcome::AtGrid),
            _ => Ok(Outcome::Polling),
        }
    }

    /// One step of all threads together.
    fn step_whole(&mut self, engine: &mut dyn Engine, state: u32) -> Result<Step, Fault> {
        if let Some(site) = self.site(state) {
            if self.complete_whole(site) {
                self.whole = Some(site.region as u32);
            } else {
                self.next[self.low..self.high].fill(state);
                self.whole = None;
            }
            return Ok(Step::Moved);
        }
        let result = self.call(engine, state, self.low, self.high - self.low)?;
        if result == LOOK {
            self.gather();
        } else {
            self.whole = Some(result as u32);
        }
        // Threads in several places are not all in the loop any more.
        let after = self.whole.unwrap_or(ENTRY);
        Ok(if self.stays(state, std::iter::once(after)) { Step::Polled } else { Step::Moved })
    }

    /// Finds out whether all threads that have not finished are in one place.
    fn gather(&mut self) {
        while self.low < self.high && self.next[self.low] == 0 {
            self.low += 1;
        }
        while self.low < self.high && self.next[self.high - 1] == 0 {
            self.high -= 1;
        }
        let Some((first, rest)) = self.next[self.low..self.high].split_first() else {
            self.whole = Some(0);
            return;
        };
        // Without a way out in between, so that it is vectorised.
        let differs = rest.iter().fold(0, |bits, state| bits | (state ^ first));
        self.whole = (differs == 0 && self.together).then_some(*first);
    }

    /// Completes a synchronisation at which all threads that have not finished wait, if that is simple.
    fn complete_whole(&mut self, site: &Site) -> bool {
        let (low, high) = (self.low, self.high);
        let count = high - low;
        let arrived = self.arrived;
        if site.is_of_cluster() {
            return self.meet_cluster(site, low..high);
        }
        let exchange = &mut self.exchange();
        match site.operation {
            Operation::Arrive | Operation::ActiveMask => false,
            Operation::Barrier(reduction) => {
                let id = exchange.arg(site, 0, low);
                let expected = exchange.arg(site, 1, low);
                let simple = id < BARRIERS
                    && arrived[id as usize].0 == 0
                    && (expected == 0 || expected as usize == count)
                    && exchange.all(site, 0, low, count, id)
                    && exchange.all(site, 1, low, count, expected);
                if simple && let Some(reduction) = reduction {
                    reduce_barrier(exchange, reduction, |_| site, low..high);
                }
                simple
            }
            operation => {
                if !exchange.all(site, 3, low, count, u32::MAX) {
                    return false;
                }
                let full = low.is_multiple_of(LANES) && high.is_multiple_of(LANES);
                if let (true, Operation::Shuffle(mode), Arg::Frame) = (full, operation, site.args[0]) {
                    // The same distance for all, as is usual, known or not.
                    let (b, c) = (exchange.arg(site, 1, low), exchange.arg(site, 2, low));
                    if exchange.all(site, 1, low, count, b) && exchange.all(site, 2, low, count, c) {
                        warp::shuffle_whole(exchange, mode, b, c, low / LANES..high / LANES);
                        return true;
                    }
                }
                if operation != Operation::WarpSync {
                    for warp in low / LANES..high.div_ceil(LANES) {
                        let first = warp * LANES;
                        let group = bits(low.saturating_sub(first), (high - first).min(LANES));
                        warp::perform(exchange, operation, first, (group, group), &|_| site);
                    }
                }
                true
            }
        }
    }

    /// Lets threads arrive at the barrier of the cluster, or go on that have waited for it; gives whether they can go on.
    fn meet_cluster(&mut self, site: &Site, threads: Range<usize>) -> bool {
        let phases = &mut self.phases[threads];
        let (arrives, passed) =
            (site.operation == Operation::ClusterArrive, phases.iter().all(|phase| *phase == Phase::Passed));
        if arrives || passed {
            phases.fill(if arrives { Phase::Arrived } else { Phase::Out });
        }
        arrives || passed
    }

    fn is_alive(&self, thread: usize) -> bool {
        match self.whole {
            Some(0) => false,
            Some(_) => (self.low..self.high).contains(&thread),
            None => self.next[thread] != 0,
        }
    }

    /// The threads that have not finished.
    fn alive(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.next.len()).filter(|thread| self.is_alive(*thread))
    }

    /// Where a thread is that has not finished.
    fn state(&self, thread: usize) -> u32 {
        self.whole.unwrap_or(self.next[thread])
    }

    fn is_waiting_for_cluster(&self, thread: usize) -> bool {
        self.site(self.state(thread)).is_some_and(|site| site.operation == Operation::ClusterWait)
    }

    fn waits_for_cluster(&self) -> bool {
        self.alive().any(|thread| self.is_waiting_for_cluster(thread))
    }

    /// The number of threads have arrived at the cluster's barrier, and how many have not finished.
    pub(super) fn at_cluster(&self) -> (u32, u32) {
        let arrived = |thread: &usize| self.phases.get(*thread) == Some(&Phase::Arrived);
        (self.alive().filter(arrived).count() as u32, self.alive().count() as u32)
    }

    /// Opens the cluster's barrier, at which all threads have arrived.
    pub(super) fn open_cluster(&mut self) {
        if let Some(state) = self.whole {
            self.next[self.low..self.high].fill(state);
            (self.low, self.high, self.whole) = (0, self.next.len(), None);
        }
        for thread in 0..self.phases.len() {
            self.phases[thread] = Phase::Passed;
            if let Some(site) = self.site(self.next[thread]).filter(|site| site.operation == Operation::ClusterWait) {
                self.phases[thread] = Phase::Out;
                self.next[thread] = site.region as u32;
            }
        }
        self.gather();
    }

    /// One round of the warps, each thread on its own.
    fn round(&mut self, engine: &mut dyn Engine) -> Result<Step, Fault> {
        let (mut moved, mut polled) = (false, false);
        let warps = self.next.len().div_ceil(LANES);
        for turn in 0..warps {
            let first = engine.order(turn, warps) * LANES;
            let mut again = false;
            loop {
                let (ran, waited) = self.run_warp(engine, first, !again)?;
                let met = self.meet(first);
                moved |= ran || met;
                polled |= waited;
                again = true;
                if !met && !self.has_work(first) {
                    break;
                }
            }
        }
        moved |= self.barriers();
        (self.low, self.high) = (0, self.next.len());
        self.gather();
        Ok(match (moved, polled) {
            (true, _) => Step::Moved,
            (_, true) => Step::Polled,
            _ if self.whole == Some(0) => Step::Moved,
            _ => Step::Stuck,
        })
    }

    fn warp(&self, first: usize) -> std::ops::Range<usize> {
        first..(first + LANES).min(self.next.len())
    }

    /// Returns true if a lane can run that does not poll.
    fn has_work(&self, first: usize) -> bool {
        self.next[self.warp(first)].iter().any(|s| self.can_run(*s) && !self.polls(*s))
    }

    /// Runs the lanes of a warp that can, once; gives whether one ran that did not poll, and whether one polled.
    fn run_warp(&mut self, engine: &mut dyn Engine, first: usize, polling: bool) -> Result<(bool, bool), Fault> {
        let range = self.warp(first);
        let mut before = [0; LANES];
        before[..range.len()].copy_from_slice(&self.next[range.clone()]);
        let before = &before[..range.len()];
        let (mut ran, mut polled) = (false, false);
        let mut lane = 0;
        while lane < before.len() {
            let state = before[lane];
            let run = engine.group(before[lane..].iter().take_while(|s| **s == state).count());
            let polls = self.polls(state);
            if self.can_run(state) && (polling || !polls) {
                if self.idle + 1 < PATIENCE && engine.passes() {
                    polled = true;
                    lane += run;
                    continue;
                }
                let result = self.call(engine, state, first + lane, run)?;
                if result != LOOK {
                    self.next[first + lane..first + lane + run].fill(result as u32);
                }
                let stays = self.stays(state, self.next[first + lane..first + lane + run].iter().copied());
                ran |= !stays;
                polled |= stays;
            }
            lane += run;
        }
        Ok((ran, polled))
    }

    /// Lets the lanes of a warp go on whose partners have all arrived; gives whether any did.
    fn meet(&mut self, first: usize) -> bool {
        let range = self.warp(first);
        let alive = range.clone().fold(0u32, |bits, t| bits | u32::from(self.next[t] != 0) << (t - first));
        let settled = range.clone().all(|t| !self.can_run(self.next[t]) || self.polls(self.next[t]));
        let (mut open, mut met) = (alive, false);
        while open != 0 {
            let lane = open.trailing_zeros() as usize;
            open &= !(1 << lane);
            let Some(site) = self.site(self.next[first + lane]) else { continue };
            if site.operation == Operation::Arrive {
                self.arrive(site, first + lane);
                met = true;
            }
            if site.is_of_cluster() && self.meet_cluster(site, first + lane..first + lane + 1) {
                self.next[first + lane] = site.region as u32;
                met = true;
            }
            // Who comes here together shows once no other lane can come.
            if site.is_barrier() || site.is_of_cluster() || (site.active && !settled) {
                continue;
            }
            let mask = self.exchange().arg(site, 3, first + lane);
            // Lanes meet wherever in the text they are, but are active together only in one place.
            let active = site.active || site.operation == Operation::ActiveMask;
            let place = self.next[first + lane];
            let mut group = 1 << lane;
            for other in warp::lanes(open) {
                let state = self.next[first + other];
                let is_same = |s: &Site| s.operation == site.operation && s.active == site.active;
                let alike =
                    self.site(state).is_some_and(|s| is_same(s) && self.exchange().arg(s, 3, first + other) == mask);
                group |= u32::from(alike && (state == place || !active)) << other;
            }
            open &= !group;
            let needed = if active { 0 } else { mask & alive };
            if needed & !group == 0 {
                self.perform(site.operation, first, (group, if needed == 0 { group } else { group & mask }));
                met = true;
            }
        }
        met
    }

    fn perform(&mut self, operation: Operation, first: usize, (group, part): (u32, u32)) {
        let mut states = [0; LANES];
        warp::lanes(group).for_each(|lane| states[lane] = self.next[first + lane]);
        let plan = self.plan;
        let site = |lane: usize| &plan.sites[states[lane] as usize - plan.polls.len()];
        warp::perform(&mut self.exchange(), operation, first, (group, part), &site);
        warp::lanes(group).for_each(|lane| self.next[first + lane] = site(lane).region as u32);
    }

    fn arrive(&mut self, site: &Site, thread: usize) {
        let exchange = self.exchange();
        let (id, expected) = (exchange.arg(site, 0, thread), exchange.arg(site, 1, thread));
        self.next[thread] = site.region as u32;
        let barrier = &mut self.arrived[(id % BARRIERS) as usize];
        *barrier = (barrier.0 + 1, expected);
        if barrier.0 >= expected {
            self.barriers();
        }
    }

    /// Opens the barriers at which enough threads have arrived; gives whether there was one.
    fn barriers(&mut self) -> bool {
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
        let mut opened = false;
        for (id, threads) in waiting.iter().enumerate() {
            let arrived = self.arrived[id].0 + threads.len() as u32;
            let needed = if expected[id] == 0 { alive } else { expected[id] };
            if arrived == 0 || arrived < needed {
                continue;
            }
            opened = true;
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

    /// Reports who waits where; `cluster` is how many threads have arrived at its barrier, and how many have to.
    pub(super) fn deadlock(&mut self, cluster: Option<(u32, u32)>) -> Fault {
        if super::search::active() {
            return Fault::Deadlock { block: self.number };
        }
        let mut at: Vec<(u32, Vec<usize>)> = Vec::new();
        for thread in self.alive() {
            let state = self.state(thread);
            match at.iter_mut().find(|(s, _)| *s == state) {
                Some((_, threads)) => threads.push(thread),
                None => at.push((state, vec![thread])),
            }
        }
        let finished: Vec<usize> = (0..self.next.len()).filter(|thread| !self.is_alive(*thread)).collect();
        let alive = (self.next.len() - finished.len()) as u32;
        let (arrived, mut waits) = (self.arrived, Vec::new());
        for (state, threads) in at {
            let Some(site) = self.site(state) else {
                waits.extend(self.poll(state).and_then(|poll| poll.waits(threads)));
                continue;
            };
            let first = threads[0];
            let exchange = self.exchange();
            let what = if let (Operation::ClusterWait, Some((arrived, needed))) = (site.operation, cluster) {
                What::Cluster { needed, arrived }
            } else if site.is_barrier() {
                let id = exchange.arg(site, 0, first) % BARRIERS;
                let expected = exchange.arg(site, 1, first).max(arrived[id as usize].1);
                What::Barrier {
                    id,
                    needed: if expected == 0 { alive } else { expected },
                    arrived: arrived[id as usize].0,
                }
            } else {
                What::Lanes(exchange.arg(site, 3, first))
            };
            waits.push(Wait { name: site.name.to_string(), line: site.position.line as usize, threads, what });
        }
        count_arrivals(&mut waits);
        for line in deadlock::lines(self.number, &waits, &finished) {
            tracing::error!("{line}");
        }
        Fault::Deadlock { block: self.number }
    }
}

impl Poll {
    /// The line for threads in such a loop.
    fn waits(self, threads: Vec<usize>) -> Option<Wait> {
        let what = match self.watched {
            Watched::Any => return None,
            Watched::Shared => What::Shared,
            Watched::Grid => What::Grid,
        };
        Some(Wait { name: String::new(), line: self.position.line as usize, threads, what })
    }
}

/// Counts at each barrier the threads that wait at it, in whichever place.
fn count_arrivals(waits: &mut [Wait]) {
    let mut waiting = [0; BARRIERS as usize];
    for wait in waits.iter() {
        if let What::Barrier { id, .. } = wait.what {
            waiting[id as usize] += wait.threads.len() as u32;
        }
    }
    for wait in waits {
        if let What::Barrier { id, arrived, .. } = &mut wait.what {
            *arrived += waiting[*id as usize];
        }
    }
}

/// The place of threads that have not begun.
const ENTRY: u32 = u32::MAX - 1;

/// The same for an engine: the first region. In `next` it stands for threads that have finished.
pub(super) const BEGIN: u32 = 0;

/// Bits `from..to`.
fn bits(from: usize, to: usize) -> u32 {
    let below = |n: usize| if n >= LANES { u32::MAX } else { (1 << n) - 1 };
    below(to) & !below(from)
}

fn reduce_barrier<'s>(
    exchange: &mut Exchange<'_>,
    reduction: Count,
    site: impl Fn(usize) -> &'s Site,
    threads: impl Iterator<Item = usize> + Clone,
) {
    let total: u32 = threads.clone().map(|t| u32::from(exchange.arg(site(t), 2, t) != 0)).sum();
    let all = total as usize == threads.clone().count();
    let (word, truth) = match reduction {
        Count::Popc => (total, false),
        Count::And => (0, all),
        Count::Or => (0, total != 0),
    };
    threads.for_each(|t| exchange.give(t, word, truth));
}
