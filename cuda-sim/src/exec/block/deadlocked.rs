//! Reports of a block whose threads wait for each other.

use super::super::deadlock::{self, Wait, WaitEvent};
use super::super::launch::Fault;
use super::ResidentBlock;
use crate::check::sync as check;
use crate::ir::sync::{BARRIERS, Operation, Poll, Watched};

impl ResidentBlock<'_> {
    /// Reports where threads wait. `cluster` has the numbers of threads that have arrived at its barrier, and that have
    /// to.
    pub(in crate::exec) fn deadlock(&mut self, cluster: Option<(u32, u32)>) -> Fault {
        if super::super::search::active() {
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
            let event = if let (Operation::ClusterWait, Some((arrived, needed))) = (site.operation, cluster) {
                WaitEvent::Cluster { needed, arrived }
            } else if site.is_barrier() {
                let id = exchange.arg(site, 0, first) % BARRIERS;
                let expected = exchange.arg(site, 1, first).max(arrived[id as usize].1);
                WaitEvent::Barrier {
                    id,
                    needed: if expected == 0 { alive } else { expected },
                    arrived: arrived[id as usize].0,
                }
            } else {
                WaitEvent::Lanes(exchange.arg(site, 3, first))
            };
            waits.push(Wait { name: site.name.to_string(), line: site.position.line as usize, threads, event });
        }
        count_arrivals(&mut waits);
        let lines = deadlock::lines(self.number, &waits, &finished);
        for line in &lines {
            tracing::error!("{line}");
        }
        if self.context.checked != 0 {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            check::deadlock(&lines);
        }
        Fault::Deadlock { block: self.number }
    }
}

impl Poll {
    /// Returns the report's entry for threads in such a loop.
    fn waits(self, threads: Vec<usize>) -> Option<Wait> {
        let event = match self.watched {
            Watched::Any => return None,
            Watched::Shared => WaitEvent::Shared,
            Watched::Grid => WaitEvent::Grid,
        };
        Some(Wait { name: String::new(), line: self.position.line as usize, threads, event })
    }
}

/// Adds the threads that wait at each barrier, at any instruction, to its number of arrivals.
fn count_arrivals(waits: &mut [Wait]) {
    let mut waiting = [0; BARRIERS as usize];
    for wait in waits.iter() {
        if let WaitEvent::Barrier { id, .. } = wait.event {
            waiting[id as usize] += wait.threads.len() as u32;
        }
    }
    for wait in waits {
        if let WaitEvent::Barrier { id, arrived, .. } = &mut wait.event {
            *arrived += waiting[*id as usize];
        }
    }
}
