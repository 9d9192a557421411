//! Blocks that run concurrently: those of a cluster, or a single one.
//!
//! One worker runs all blocks of a cluster, each until it only polls or waits for the cluster's barrier. That barrier
//! opens when every live thread of the cluster has arrived at it; the blocks track the arrivals. Once all blocks only
//! wait for it or poll shared memory, and none has progressed since, they wait for ever. The shared memory of a block
//! that exits becomes inaccessible.

use super::block::{Engine, Outcome, ResidentBlock};
use super::fiber::Fibers;
use super::launch::{Fault, Launch, Progress, Scratch};
use super::resident::{RegionEngine, SEED};
use super::windows::Windows;
use crate::check::sync as check;
use crate::codegen::jit::EntryPoint;

/// The worker that runs a cluster, and the launch's progress.
pub(super) struct WorkerSlot<'p> {
    pub(super) worker: usize,
    pub(super) progress: &'p Progress,
}

struct Member<'a> {
    block: ResidentBlock<'a>,
    engine: Box<dyn Engine + 'a>,
    memory: Scratch,
    done: bool,
}

/// The blocks of a cluster, or one block of a launch that has no clusters.
pub(super) struct Cluster<'a> {
    members: Vec<Member<'a>>,
    windows: Option<Windows>,
}

impl Launch {
    /// Creates the cluster with this number at its start; `memory` returns scratch memory for each of its blocks.
    /// Threads with the same state may run may_converge if `may_converge`.
    pub(super) fn begin<'a>(
        &'a self,
        number: u64,
        slot: &WorkerSlot<'_>,
        may_converge: bool,
        mut memory: impl FnMut() -> Scratch,
    ) -> Result<Cluster<'a>, Fault> {
        let threads = self.block.iter().map(|n| u64::from(*n)).product::<u64>();
        let ranks = self.cluster.map(|_| self.ranks());
        let mut cluster = Cluster { members: Vec::new(), windows: None };
        for rank in 0..self.ranks() {
            let mut memory = memory();
            if let (0, Some(ranks)) = (rank, ranks) {
                cluster.windows = Some(Windows::new(ranks, self.shared_bytes(), memory.guard)?);
            }
            let window = match &cluster.windows {
                Some(windows) => windows.first(),
                None => memory.window(self.shared_bytes())?,
            };
            let context = Box::new(self.context(slot.worker, threads, &mut memory, slot.progress, window)?);
            let next = std::mem::take(&mut memory.next);
            let position = self.position_of(number, rank);
            let (engine, may_converge): (Box<dyn Engine + 'a>, bool) = match self.code.entry {
                EntryPoint::Fiber { function, seed } => {
                    let seed = seed.or(*SEED).filter(|_| may_converge);
                    let engine =
                        Fibers::new(function, self.code.shape.stack_frames, threads as usize, seed, position.number);
                    // Fibers run one at a time, but in a fixed order all of them reach a point before one goes on; in a
                    // random order they do not.
                    (Box::new(engine), may_converge && seed.is_none())
                }
                _ => (Box::new(RegionEngine(&self.code)), may_converge),
            };
            let block = ResidentBlock::new(self.code.plan(), context, next, position, may_converge);
            cluster.members.push(Member { block, engine, memory, done: false });
        }
        cluster.tell_open();
        Ok(cluster)
    }
}

impl Cluster<'_> {
    /// Resets this to the cluster with another number of the same launch, at its start.
    pub(super) fn restart(&mut self, launch: &Launch, number: u64) -> Result<(), Fault> {
        for (rank, member) in self.members.iter_mut().enumerate() {
            let position = launch.position_of(number, rank as u32);
            member.block.restart(position);
            member.engine.restart(position.number);
            member.done = false;
        }
        self.windows.as_mut().map_or(Ok(()), Windows::reopen)?;
        self.tell_open();
        Ok(())
    }

    /// Updates the set of blocks whose shared memory can be accessed.
    fn tell_open(&mut self) {
        let open = self.windows.as_ref().map_or(0, Windows::open);
        self.members.iter_mut().for_each(|member| member.block.context.cluster.open = open);
    }

    /// Runs until all blocks have finished, or the others only poll.
    pub(super) fn run(&mut self) -> Result<Outcome, Fault> {
        let mut opened = false;
        loop {
            let (mut polling, mut at_grid, mut at_shared, mut progressed) = (false, false, false, opened);
            for rank in 0..self.members.len() {
                let member = &mut self.members[rank];
                if member.done {
                    continue;
                }
                let outcome = member.block.run(&mut *member.engine)?;
                progressed |= member.block.has_progressed();
                match outcome {
                    Outcome::Done => self.exit(rank)?,
                    Outcome::Polling => polling = true,
                    Outcome::AtGrid => at_grid = true,
                    Outcome::AtShared => at_shared = true,
                    Outcome::AtCluster => {}
                }
            }
            // A write of this round may be what a block polls that ran before it.
            polling |= progressed && (at_grid || at_shared);
            if self.members.iter().all(|member| member.done) {
                return Ok(Outcome::Done);
            }
            if !self.open_barrier() {
                return match (polling, at_grid) {
                    (true, _) => Ok(Outcome::Polling),
                    (false, true) => Ok(Outcome::AtGrid),
                    (false, false) => Err(self.deadlock()),
                };
            }
            opened = true;
        }
    }

    /// Returns true if a thread of its unfinished blocks made progress when they last ran.
    pub(super) fn has_progressed(&self) -> bool {
        self.members.iter().any(|member| !member.done && member.block.has_progressed())
    }

    /// Returns the number of blocks that have not finished.
    pub(super) fn unfinished(&self) -> u64 {
        self.members.iter().filter(|member| !member.done).count() as u64
    }

    /// Makes the shared memory of a block that has finished inaccessible to the others.
    fn exit(&mut self, rank: usize) -> Result<(), Fault> {
        self.members[rank].done = true;
        let last = self.members.iter().all(|member| member.done);
        if let Some(windows) = self.windows.as_mut().filter(|_| !last) {
            windows.close(rank as u32)?;
            self.tell_open();
        }
        Ok(())
    }

    /// Returns the number of threads that have arrived at the cluster's barrier, and the number that have not finished.
    fn arrived(&self) -> (u32, u32) {
        let each = self.members.iter().filter(|member| !member.done).map(|member| member.block.at_cluster());
        each.fold((0, 0), |(arrived, alive), (a, b)| (arrived + a, alive + b))
    }

    /// Opens the cluster's barrier if all threads have arrived.
    fn open_barrier(&mut self) -> bool {
        let (arrived, alive) = self.arrived();
        let opens = arrived > 0 && arrived == alive;
        if opens {
            let open = self.members.iter().filter(|member| !member.done);
            if open.clone().any(|member| member.block.context.checked != 0) {
                let ended = self.members.iter().filter(|member| member.done).map(|member| member.block.context.running);
                let members: Vec<_> = open.map(|member| member.block.cluster_member()).collect();
                check::meet_cluster(&members, &ended.collect::<Vec<_>>());
            }
            self.members.iter_mut().filter(|member| !member.done).for_each(|member| member.block.open_cluster());
        }
        opens
    }

    /// Reports where threads wait in all blocks that have not finished.
    pub(super) fn deadlock(&mut self) -> Fault {
        let cluster = Some(self.arrived());
        let faults = self.members.iter_mut().filter(|member| !member.done).map(|m| m.block.deadlock(cluster));
        // The fault names the first of several blocks.
        faults.collect::<Vec<_>>().swap_remove(0)
    }

    /// Returns the blocks' scratch memory, for reuse.
    pub(super) fn into_memory(self) -> impl Iterator<Item = Scratch> {
        self.members.into_iter().map(|Member { block, engine, mut memory, .. }| {
            drop(engine);
            memory.next = block.into_next();
            memory
        })
    }
}
