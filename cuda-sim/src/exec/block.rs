//! One resident block: schedules its threads, tracks which of them wait for which, and performs their synchronisations.
//!
//! While all live threads have the same state, `converged` holds that state and a region runs for all of them in one
//! call. Otherwise each thread's state is in `next`: warps run in index, lanes of a warp in groups of equal state. A
//! thread that polls runs once per round, so that the threads it waits for make progress. The state is plain data: a
//! block whose threads only poll, or wait for their cluster, is set aside and another one runs.
//!
//! # Safety
//!
//! Compiled code is called with a context and threads of this block. Arguments and results are viewed in the frame,
//! which belongs to this block alone and has at least [`sync::FRAME_BYTES`] plus the fragments of matrices for each
//! thread; compiled code, which also writes there, does not run at the same time.

mod barriers;
mod checked;
mod deadlocked;
mod runs;

use super::launch::{BlockPosition, Fault};
use super::warp::{self, Exchange, LANES};
use crate::check::sync as check;
use crate::codegen::abi::{Context, DIVERGED};
use crate::ir::sync::{self, Arg, BARRIERS, Operation, Plan, Poll, Site, Watched};
use barriers::reduce_barrier;
use runs::Run;
use std::ops::Range;

/// An execution engine for a block's threads: compiled regions, or fibers.
pub(crate) trait Engine {
    /// Runs threads from their common `state`, or [`BEGIN`], and returns their new common state, or [`DIVERGED`].
    fn run(&mut self, context: &mut Context, state: u32, first: usize, count: usize) -> Result<u64, Fault>;

    /// Prepares to run the threads of the block with this number from the start.
    fn restart(&mut self, number: u64) {
        let _ = number;
    }

    /// Returns the warp to run at position `index` of a round of `warps`.
    fn order(&mut self, index: usize, warps: usize) -> usize {
        debug_assert!(index < warps);
        index
    }

    /// Returns how many of `most` neighbouring threads with the same state run may_converge.
    fn group(&mut self, most: usize) -> usize {
        most
    }

    /// Returns true if runnable threads are skipped in this round.
    fn skips(&mut self) -> bool {
        false
    }

    /// Returns true if threads may run in runs of any length, in ascending order.
    fn is_ordered(&self) -> bool {
        false
    }

    /// Returns true if no runnable thread is ever skipped.
    fn runs_all(&self) -> bool {
        true
    }
}

/// The state of a block when it stops running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// All runnable threads poll, or wait for threads that do.
    Polling,
    /// No thread can continue before the cluster's barrier opens.
    AtCluster,
    /// Threads poll shared memory only, or wait for threads that do: none can continue before another block of the
    /// cluster writes to it.
    AtShared,
    /// No thread has made progress, and none can before a thread of another block writes to the workspace of grid-wide
    /// barriers.
    AtGrid,
}

/// The result of one scheduling step.
enum StepResult {
    Progressed,
    /// Threads only polled.
    Polled,
    /// No thread ran.
    Stuck,
}

/// The state of a thread with respect to its cluster's barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClusterPhase {
    /// It has not arrived since its last wait.
    NotArrived,
    Arrived,
    /// It has arrived, and so have all others: it need not wait.
    Passed,
}

/// Rounds of polling only, after which another block runs. In the last of them no thread is skipped.
const POLL_ROUNDS: u32 = 4;

/// A block that is being run.
pub(crate) struct ResidentBlock<'a> {
    plan: &'a Plan,
    /// Words of frame per thread for fragments of matrices.
    matrix_words: usize,
    pub(crate) context: Box<Context>,
    next: Vec<u32>,
    number: u64,
    /// True if threads with the same state may run may_converge.
    may_converge: bool,
    /// True if all threads that have not finished meet at every barrier.
    meets_whole: bool,
    /// True if threads wait at barriers of the block only.
    only_barriers: bool,
    /// The runs of `next`, if `listed`.
    runs: Vec<Run>,
    /// True if threads have diverged and nothing has written to `next` that `runs` does not show.
    listed: bool,
    /// The common state of all threads in `low..high`; the others have finished.
    converged: Option<u32>,
    low: usize,
    high: usize,
    /// The number of threads that arrived without waiting, and the number that the barrier expects.
    arrived: [(u32, u32); BARRIERS as usize],
    /// Reused memory for the lists of threads that wait at each barrier.
    waiting: [Vec<usize>; BARRIERS as usize],
    /// The phase of each thread, if the kernel has cluster barriers.
    phases: Vec<ClusterPhase>,
    /// Rounds of polling only, since a thread made progress.
    idle: u32,
    /// True if a thread made progress in the last [`run`](ResidentBlock::run).
    progressed: bool,
}

impl<'a> ResidentBlock<'a> {
    /// Creates a block at its start. `next` is reused for the threads' states.
    pub(crate) fn new(
        plan: &'a Plan,
        mut context: Box<Context>,
        mut next: Vec<u32>,
        position: BlockPosition,
        may_converge: bool,
    ) -> Self {
        let high = context.threads as usize;
        next.clear();
        next.resize(high, ENTRY);
        context.next = next.as_mut_ptr();
        let meets = plan.sites.iter().any(Site::is_of_cluster);
        let mut this = ResidentBlock {
            plan,
            matrix_words: plan.matrix_words(),
            context,
            next,
            number: u64::MAX,
            may_converge,
            meets_whole: plan.sites.iter().all(|site| site.is_whole() || !site.is_barrier()),
            only_barriers: plan.sites.iter().all(|site| matches!(site.operation, Operation::Barrier(_))),
            runs: Vec::new(),
            listed: false,
            converged: None,
            low: 0,
            high,
            arrived: [(0, 0); BARRIERS as usize],
            waiting: Default::default(),
            phases: vec![ClusterPhase::NotArrived; if meets { high } else { 0 }],
            idle: 0,
            progressed: false,
        };
        this.restart(position);
        this
    }

    /// Resets this to the block at a position, at its start.
    pub(crate) fn restart(&mut self, BlockPosition { number, ctaid, cluster }: BlockPosition) {
        (self.context.ctaid, self.context.cluster) = (ctaid, cluster);
        self.context.running = number;
        self.context.copies.clear(self.context.checked != 0);
        if self.context.checked != 0 {
            check::begins(&self.context, Some(self.number).filter(|before| *before != u64::MAX));
        }
        (self.number, self.low, self.high) = (number, 0, self.next.len());
        self.next.fill(ENTRY);
        self.phases.fill(ClusterPhase::NotArrived);
        self.arrived = [(0, 0); BARRIERS as usize];
        self.listed = false;
        self.converged = self.may_converge.then_some(ENTRY);
    }

    /// Returns the memory of `next`, for another block.
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

    /// Returns true if threads whose state was `before`, and is `after` now, may only have polled.
    fn only_polled(&self, before: u32, mut after: impl Iterator<Item = u32>) -> bool {
        self.poll(before).is_some_and(|poll| poll.watched == Watched::Any || after.all(|state| state == before))
    }

    /// Returns the widest set of writers that polling threads wait for, if all runnable threads poll.
    fn watched(&self) -> Option<Watched> {
        let polled = self.states().filter_map(|state| self.poll(state).map(|poll| poll.watched));
        let others = self.states().any(|state| self.can_run(state) && !self.polls(state));
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
        // SAFETY: the frame is page-aligned, initialised, at least this long and this block's alone, and compiled code
        // does not run while the slice lives.
        let words = unsafe { std::slice::from_raw_parts_mut(self.context.frame as *mut u32, words) };
        Exchange { words, threads }
    }

    fn call(&mut self, engine: &mut dyn Engine, state: u32, first: usize, count: usize) -> Result<u64, Fault> {
        let state = if state == ENTRY { BEGIN } else { state };
        let result = engine.run(&mut self.context, state, first, count).map_err(|fault| fault.in_block(self.number))?;
        Fault::stopped(&self.context).map(|()| result)
    }

    /// Runs until the block has finished, only polls, or waits for other blocks.
    pub(crate) fn run(&mut self, engine: &mut dyn Engine) -> Result<Outcome, Fault> {
        (self.idle, self.progressed) = (0, false);
        while self.idle < POLL_ROUNDS {
            let step = match self.converged {
                Some(0) => return Ok(Outcome::Done),
                Some(state) => self.step_converged(engine, state)?,
                None => self.round(engine)?,
            };
            match step {
                StepResult::Progressed => (self.idle, self.progressed) = (0, true),
                // Only another block can end the wait.
                StepResult::Polled if engine.runs_all() && self.watched() == Some(Watched::Grid) => break,
                StepResult::Polled => self.idle += 1,
                StepResult::Stuck if self.waits_for_cluster() => return Ok(Outcome::AtCluster),
                StepResult::Stuck => return Err(self.deadlock(None)),
            }
        }
        match self.watched() {
            Some(Watched::Shared) if self.context.cluster.ranks <= 1 => Err(self.deadlock(None)),
            Some(Watched::Shared) => Ok(Outcome::AtShared),
            Some(Watched::Grid) if !self.progressed => Ok(Outcome::AtGrid),
            _ => Ok(Outcome::Polling),
        }
    }

    /// Returns true if a thread may have written to shared memory in the last [`run`](ResidentBlock::run).
    pub(super) fn has_progressed(&self) -> bool {
        self.progressed
    }

    /// One step of all threads together, while they are converged.
    fn step_converged(&mut self, engine: &mut dyn Engine, state: u32) -> Result<StepResult, Fault> {
        if let Some(site) = self.site(state) {
            if self.context.checked != 0 {
                self.check_converged(site);
            }
            if !self.complete_converged(site) {
                self.next[self.low..self.high].fill(state);
                (self.converged, self.listed) = (None, false);
                // Waiting is no progress, so that a block which only waits is seen to.
                return self.round(engine);
            }
            self.converged = Some(site.region as u32);
            return Ok(StepResult::Progressed);
        }
        let result = self.call(engine, state, self.low, self.high - self.low)?;
        if result == DIVERGED {
            if self.only_barriers && engine.is_ordered() {
                self.list();
            }
            self.reconverge();
        } else {
            self.converged = Some(result as u32);
        }
        // Threads with different states are not all in the loop any more.
        let after = self.converged.unwrap_or(ENTRY);
        Ok(if self.only_polled(state, std::iter::once(after)) { StepResult::Polled } else { StepResult::Progressed })
    }

    /// Determines whether all live threads have the same state.
    fn reconverge(&mut self) {
        let found = if self.listed { runs::alive(&self.runs) } else { self.alive_in_next() };
        self.converged = match found {
            Some((threads, common)) => {
                (self.low, self.high) = (threads.start, threads.end);
                common.filter(|_| self.may_converge)
            }
            None => Some(0),
        };
        self.listed &= self.converged.is_none();
    }

    /// Returns the range from the first to the last thread in `low..high` that has not finished, and their state if all have the same;
    /// `None` if all have finished.
    fn alive_in_next(&self) -> Option<(Range<usize>, Option<u32>)> {
        let (mut low, mut high) = (self.low, self.high);
        while low < high && self.next[low] == 0 {
            low += 1;
        }
        while low < high && self.next[high - 1] == 0 {
            high -= 1;
        }
        let (first, rest) = self.next[low..high].split_first()?;
        // Without an early exit, so that it is vectorised.
        let differs = rest.iter().fold(0, |bits, state| bits | (state ^ first));
        Some((low..high, (differs == 0).then_some(*first)))
    }

    /// Completes a synchronisation at which all live threads wait, in the simple cases. Returns false in the others.
    fn complete_converged(&mut self, site: &Site) -> bool {
        let (low, high) = (self.low, self.high);
        let count = high - low;
        let arrived = self.arrived;
        if site.is_of_cluster() {
            return self.pass_cluster_barrier(site, low..high);
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
                if simple && self.context.checked != 0 {
                    check::meet_whole(&self.context);
                }
                simple
            }
            operation => {
                if !exchange.all(site, 3, low, count, u32::MAX) {
                    return false;
                }
                let full = low.is_multiple_of(LANES) && high.is_multiple_of(LANES);
                if let (true, Operation::Shuffle(mode), Arg::Frame) = (full, operation, site.args[0]) {
                    // Usually all lanes have the same distance, which may be a constant.
                    let (b, c) = (exchange.arg(site, 1, low), exchange.arg(site, 2, low));
                    if exchange.all(site, 1, low, count, b) && exchange.all(site, 2, low, count, c) {
                        warp::shuffle_converged(exchange, mode, b, c, low / LANES..high / LANES);
                        return true;
                    }
                }
                if operation.orders_a_warp() && self.context.checked != 0 {
                    for warp in low / LANES..high.div_ceil(LANES) {
                        let threads: Vec<usize> = (low.max(warp * LANES)..high.min((warp + 1) * LANES)).collect();
                        check::meet(&self.context, None, &threads);
                    }
                }
                let exchange = &mut self.exchange();
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

    /// Arrives at the cluster's barrier, or skips it if it has opened. Returns true if the threads can continue.
    fn pass_cluster_barrier(&mut self, site: &Site, threads: Range<usize>) -> bool {
        let phases = &mut self.phases[threads.clone()];
        let (arrives, passed) =
            (site.operation == Operation::ClusterArrive, phases.iter().all(|phase| *phase == ClusterPhase::Passed));
        if arrives || passed {
            phases.fill(if arrives { ClusterPhase::Arrived } else { ClusterPhase::NotArrived });
        }
        if self.context.checked != 0 && arrives {
            let is_whole = self.converged.is_some() && threads == (self.low..self.high);
            check::arrives_in_cluster(&self.context, threads, is_whole, site.is_relaxed());
        } else if self.context.checked != 0 && passed {
            check::waited_in_cluster(&self.context, threads);
        }
        arrives || passed
    }

    fn is_alive(&self, thread: usize) -> bool {
        match self.converged {
            Some(0) => false,
            Some(_) => (self.low..self.high).contains(&thread),
            None => self.next[thread] != 0,
        }
    }

    /// Returns the threads that have not finished.
    fn alive(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.next.len()).filter(|thread| self.is_alive(*thread))
    }

    /// Returns the states of the threads that have not finished, once for neighbours with the same one.
    fn states(&self) -> impl Iterator<Item = u32> + '_ {
        let (listed, raw): (&[Run], &[u32]) = match self.converged {
            Some(_) => (&[], &[]),
            None if self.listed => (&self.runs, &[]),
            None => (&[], &self.next),
        };
        let each = runs::runs(raw).map(|run| raw[run.start]);
        let listed = listed.iter().map(|run| run.state);
        self.converged.into_iter().chain(listed).chain(each).filter(|state| *state != 0)
    }

    /// Returns the state of a thread that has not finished.
    fn state(&self, thread: usize) -> u32 {
        self.converged.unwrap_or(self.next[thread])
    }

    fn is_waiting_for_cluster(&self, thread: usize) -> bool {
        self.site(self.state(thread)).is_some_and(|site| site.operation == Operation::ClusterWait)
    }

    fn waits_for_cluster(&self) -> bool {
        self.alive().any(|thread| self.is_waiting_for_cluster(thread))
    }

    /// Returns the number of threads that have arrived at the cluster's barrier, and the number that have not finished,
    /// if the kernel has cluster barriers.
    pub(super) fn at_cluster(&self) -> (u32, u32) {
        if self.phases.is_empty() {
            return (0, 0);
        }
        let arrived = |thread: &usize| self.phases.get(*thread) == Some(&ClusterPhase::Arrived);
        (self.alive().filter(arrived).count() as u32, self.alive().count() as u32)
    }

    /// Returns what the checkers are told when the cluster's barrier opens.
    pub(super) fn cluster_member(&self) -> check::ClusterMember {
        let (mut waiting, mut ended) = (Vec::new(), Vec::new());
        for thread in 0..self.next.len() {
            if !self.is_alive(thread) {
                ended.push(thread);
            } else if self.is_waiting_for_cluster(thread) {
                waiting.push(thread);
            }
        }
        let all_wait = waiting.len() + ended.len() == self.next.len();
        check::ClusterMember { block: self.number, all_wait, waiting, ended }
    }

    /// Opens the cluster's barrier, at which all threads have arrived.
    pub(super) fn open_cluster(&mut self) {
        if let Some(state) = self.converged {
            self.next[self.low..self.high].fill(state);
            (self.low, self.high, self.converged) = (0, self.next.len(), None);
        }
        self.listed = false;
        for thread in 0..self.phases.len() {
            self.phases[thread] = ClusterPhase::Passed;
            if let Some(site) = self.site(self.next[thread]).filter(|site| site.operation == Operation::ClusterWait) {
                self.phases[thread] = ClusterPhase::NotArrived;
                self.next[thread] = site.region as u32;
            }
        }
        self.reconverge();
    }

    /// One round over the warps, while threads have diverged.
    fn round(&mut self, engine: &mut dyn Engine) -> Result<StepResult, Fault> {
        if self.only_barriers && engine.is_ordered() {
            return self.round_over_runs(engine);
        }
        self.listed = false;
        let (mut progressed, mut polled) = (false, false);
        let warps = self.next.len().div_ceil(LANES);
        for index in 0..warps {
            let first = engine.order(index, warps) * LANES;
            if self.waits_at_barrier(first) {
                continue;
            }
            let mut again = false;
            loop {
                let (ran, waited) = self.run_warp(engine, first, !again)?;
                let completed = self.complete_warp(first);
                progressed |= ran || completed;
                polled |= waited;
                again = true;
                if !completed && !self.has_work(first) {
                    break;
                }
            }
        }
        progressed |= self.open_barriers();
        Ok(self.end_of_round(progressed, polled))
    }

    /// Determines whether threads have converged after a round, and returns its result.
    fn end_of_round(&mut self, progressed: bool, polled: bool) -> StepResult {
        (self.low, self.high) = (0, self.next.len());
        self.reconverge();
        match (progressed, polled) {
            (true, _) => StepResult::Progressed,
            (_, true) => StepResult::Polled,
            _ if self.converged == Some(0) => StepResult::Progressed,
            _ => StepResult::Stuck,
        }
    }

    fn warp(&self, first: usize) -> std::ops::Range<usize> {
        first..(first + LANES).min(self.next.len())
    }

    /// Returns true if all lanes of a warp have the same state, in which they wait at a barrier or have finished.
    fn waits_at_barrier(&self, first: usize) -> bool {
        let states = &self.next[self.warp(first)];
        let waits = |site: &Site| matches!(site.operation, Operation::Barrier(_));
        let waits = states[0] == 0 || self.site(states[0]).is_some_and(waits);
        waits && states.iter().fold(0, |bits, state| bits | (state ^ states[0])) == 0
    }

    /// Returns true if a lane can run that does not poll.
    fn has_work(&self, first: usize) -> bool {
        self.next[self.warp(first)].iter().any(|s| self.can_run(*s) && !self.polls(*s))
    }

    /// Runs the runnable lanes of a warp once. Returns true if one made progress, and true if one polled.
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
                if self.idle + 1 < POLL_ROUNDS && engine.skips() {
                    polled = true;
                    lane += run;
                    continue;
                }
                let result = self.call(engine, state, first + lane, run)?;
                if result != DIVERGED {
                    self.next[first + lane..first + lane + run].fill(result as u32);
                }
                let only_polled = self.only_polled(state, self.next[first + lane..first + lane + run].iter().copied());
                ran |= !only_polled;
                polled |= only_polled;
            }
            lane += run;
        }
        Ok((ran, polled))
    }

    /// Completes the operations of a warp whose participants have all arrived. Returns true if there was one.
    fn complete_warp(&mut self, first: usize) -> bool {
        let range = self.warp(first);
        let alive = range.clone().fold(0u32, |bits, t| bits | u32::from(self.next[t] != 0) << (t - first));
        let all_waiting = range.clone().all(|t| !self.can_run(self.next[t]) || self.polls(self.next[t]));
        let (mut open, mut completed) = (alive, false);
        while open != 0 {
            let lane = open.trailing_zeros() as usize;
            open &= !(1 << lane);
            let Some(site) = self.site(self.next[first + lane]) else { continue };
            if site.operation == Operation::Arrive {
                self.arrive(site, first + lane);
                completed = true;
            }
            if site.is_of_cluster() && self.pass_cluster_barrier(site, first + lane..first + lane + 1) {
                self.next[first + lane] = site.region as u32;
                completed = true;
            }
            if site.is_barrier() {
                let state = self.next[first + lane];
                while site.operation != Operation::Arrive
                    && open != 0
                    && self.next[first + open.trailing_zeros() as usize] == state
                {
                    open &= open - 1;
                }
                continue;
            }
            // The active lanes are known only when no other lane can arrive.
            if site.is_of_cluster() || (site.active && !all_waiting) {
                continue;
            }
            let mask = self.exchange().arg(site, 3, first + lane);
            // Lanes may execute the same operation at different instructions, but are active together only at the same
            // one.
            let active = site.active || site.operation == Operation::ActiveMask;
            let own = self.next[first + lane];
            let mut group = 1 << lane;
            for other in warp::lanes(open) {
                let state = self.next[first + other];
                let is_same = |s: &Site| s.operation == site.operation && s.active == site.active;
                let matches =
                    self.site(state).is_some_and(|s| is_same(s) && self.exchange().arg(s, 3, first + other) == mask);
                group |= u32::from(matches && (state == own || !active)) << other;
            }
            open &= !group;
            let needed = if active { 0 } else { mask & alive };
            if needed & !group == 0 {
                self.perform(site.operation, first, (group, if needed == 0 { group } else { group & mask }));
                completed = true;
            }
        }
        completed
    }

    fn perform(&mut self, operation: Operation, first: usize, (group, part): (u32, u32)) {
        let mut states = [0; LANES];
        warp::lanes(group).for_each(|lane| states[lane] = self.next[first + lane]);
        let plan = self.plan;
        let site = |lane: usize| &plan.sites[states[lane] as usize - plan.polls.len()];
        warp::perform(&mut self.exchange(), operation, first, (group, part), &site);
        if self.context.checked != 0 {
            self.check_masks(first, group, &site);
        }
        if self.context.checked != 0 && operation.orders_a_warp() {
            let threads: Vec<usize> = warp::lanes(group).map(|lane| first + lane).collect();
            check::meet(&self.context, None, &threads);
        }
        warp::lanes(group).for_each(|lane| self.next[first + lane] = site(lane).region as u32);
    }
}

/// The state of threads at the start of the kernel.
const ENTRY: u32 = u32::MAX - 1;

/// The same state as engines see it: the first region. In `next`, 0 means that a thread has finished.
pub(super) const BEGIN: u32 = 0;

/// Returns a mask of the bits `from..to`.
fn bits(from: usize, to: usize) -> u32 {
    let below = |n: usize| if n >= LANES { u32::MAX } else { (1 << n) - 1 };
    below(to) & !below(from)
}
