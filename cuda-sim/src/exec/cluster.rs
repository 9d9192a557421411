//! Blocks that run at the same time: those of a cluster, or a single one.
//!
//! The blocks of a cluster are held by one worker, which gives each a turn until it only polls or waits for the
//! cluster's barrier. That barrier opens when every thread of the cluster that has not finished has arrived at it; who
//! has arrived is the business of the blocks. A block that exits before the others takes its shared memory along.

use super::block::{Block, Engine, Outcome};
use super::fiber::Fibers;
use super::launch::{Fault, Launch, Progress, Scratch};
use super::resident::{Regions, SEED};
use super::windows::Windows;
use crate::codegen::jit::Entry;

/// What a cluster gets for itself on a worker.
pub(super) struct Berth<'p> {
    pub(super) worker: usize,
    pub(super) progress: &'p Progress,
}

struct Member<'a> {
    block: Block<'a>,
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
    /// The cluster of that number before its first instruction; `memory` gives each of its blocks what it needs.
    /// Threads in one place run `together` unless that is false.
    pub(super) fn begin<'a>(
        &'a self,
        number: u64,
        berth: &Berth<'_>,
        together: bool,
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
            let context = Box::new(self.context(berth.worker, threads, &mut memory, berth.progress, window)?);
            let next = std::mem::take(&mut memory.next);
            let place = self.place(number, rank);
            let (engine, together): (Box<dyn Engine + 'a>, bool) = match self.code.entry {
                Entry::Fiber { function, seed } => {
                    let seed = seed.or(*SEED).filter(|_| together);
                    let engine =
                        Fibers::new(function, self.code.shape.stack_frames, threads as usize, seed, place.number);
                    // Each fiber runs alone, but in turn they all come to a place before one goes on; not so at random.
                    (Box::new(engine), together && seed.is_none())
                }
                _ => (Box::new(Regions(&self.code)), together),
            };
            let block = Block::new(self.code.plan(), context, next, place, together);
            cluster.members.push(Member { block, engine, memory, done: false });
        }
        cluster.tell_open();
        Ok(cluster)
    }
}

impl Cluster<'_> {
    /// Makes this the cluster of that number of the same launch, before its first instruction.
    pub(super) fn restart(&mut self, launch: &Launch, number: u64) -> Result<(), Fault> {
        for (rank, member) in self.members.iter_mut().enumerate() {
            let place = launch.place(number, rank as u32);
            member.block.restart(place);
            member.engine.restart(place.number);
            member.done = false;
        }
        self.windows.as_mut().map_or(Ok(()), Windows::reopen)?;
        self.tell_open();
        Ok(())
    }

    /// Tells the blocks whose shared memory can be accessed.
    fn tell_open(&mut self) {
        let open = self.windows.as_ref().map_or(0, Windows::open);
        self.members.iter_mut().for_each(|member| member.block.context.cluster.open = open);
    }

    /// Runs until all blocks have finished or those that have not only poll.
    pub(super) fn run(&mut self) -> Result<Outcome, Fault> {
        let mut opened = false;
        loop {
            let (mut polling, mut at_grid) = (false, false);
            for rank in 0..self.members.len() {
                let member = &mut self.members[rank];
                if member.done {
                    continue;
                }
                match member.block.run(&mut *member.engine)? {
                    Outcome::Done => self.exit(rank)?,
                    Outcome::Polling => polling = true,
                    Outcome::AtGrid => at_grid = true,
                    Outcome::AtCluster => {}
                }
            }
            if self.members.iter().all(|member| member.done) {
                return Ok(Outcome::Done);
            }
            if !self.open_barrier() {
                return match (polling || opened && at_grid, at_grid) {
                    (true, _) => Ok(Outcome::Polling),
                    (false, true) => Ok(Outcome::AtGrid),
                    (false, false) => Err(self.deadlock()),
                };
            }
            opened = true;
        }
    }

    /// The number of its blocks that have not finished.
    pub(super) fn unfinished(&self) -> u64 {
        self.members.iter().filter(|member| !member.done).count() as u64
    }

    /// Takes the shared memory of a block that has finished from the others.
    fn exit(&mut self, rank: usize) -> Result<(), Fault> {
        self.members[rank].done = true;
        let last = self.members.iter().all(|member| member.done);
        if let Some(windows) = self.windows.as_mut().filter(|_| !last) {
            windows.close(rank as u32)?;
            self.tell_open();
        }
        Ok(())
    }

    /// The number of threads have arrived at the cluster's barrier, and how many have not finished.
    fn arrived(&self) -> (u32, u32) {
        let each = self.members.iter().filter(|member| !member.done).map(|member| member.block.at_cluster());
        each.fold((0, 0), |(arrived, alive), (a, b)| (arrived + a, alive + b))
    }

    /// Opens the cluster's barrier if all threads have arrived.
    fn open_barrier(&mut self) -> bool {
        let (arrived, alive) = self.arrived();
        let opens = arrived > 0 && arrived == alive;
        if opens {
            self.members.iter_mut().filter(|member| !member.done).for_each(|member| member.block.open_cluster());
        }
        opens
    }

    /// Reports who waits for whom in all blocks that have not finished.
    pub(super) fn deadlock(&mut self) -> Fault {
        let cluster = Some(self.arrived());
        let faults = self.members.iter_mut().filter(|member| !member.done).map(|m| m.block.deadlock(cluster));
        // Of several blocks the first is named.
        faults.collect::<Vec<_>>().swap_remove(0)
    }

    /// The memory of the blocks, for others.
    pub(super) fn into_memory(self) -> impl Iterator<Item = Scratch> {
        self.members.into_iter().map(|Member { block, engine, mut memory, .. }| {
            drop(engine);
            memory.next = block.into_next();
            memory
        })
    }
}
