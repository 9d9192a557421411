//! Synchronisation: fences, strong accesses and barriers, and what a thread learns and publishes by them.

use super::Race;
use crate::check::clocks::{self, Key, Known, THREAD_BITS};
use crate::check::pending::Scoped;
use crate::codegen::abi::Scope;
use std::rc::Rc;

impl Race {
    /// Returns what a thread of the running block knows, and its own accesses so far.
    pub(super) fn snapshot(&self, thread: usize) -> Known {
        let block = &self.block;
        let mut known = block.known.clone();
        if let Some(own) = block.threads.get(thread) {
            clocks::join(&mut known, &own.known);
        }
        let own = Key::thread(block.number << THREAD_BITS | thread as u64);
        clocks::add(&mut known, vec![(own, self.time + 1), (Key::block(block.number), block.barrier)]);
        known
    }

    /// A fence of a thread, which acquires, releases, or does both.
    pub(in crate::check) fn fence(&mut self, thread: usize, scope: Scope, acquires: bool, releases: bool) {
        self.simple = false;
        if thread >= self.block.count {
            return;
        }
        self.block.own();
        if acquires {
            let collected = self.block.own()[thread].pending.take(scope);
            self.learn(thread, &collected);
        }
        if releases {
            let released = self.snapshot(thread);
            for level in 0..=scope as usize {
                self.block.own()[thread].fenced[level] = released.clone();
            }
        }
        self.block.active = true;
        self.tick();
    }

    /// Adds a clock to what a thread knows.
    pub(super) fn learn(&mut self, thread: usize, collected: &Known) {
        if collected.is_some() {
            clocks::join(&mut self.block.own()[thread].known, collected);
            self.block.active = true;
        }
    }

    /// A strong access of a thread to a location: it collects what was released there, and publishes what the thread
    /// has released. `shared` is true for a location in the block's own shared memory.
    pub(in crate::check) fn strong(&mut self, thread: usize, address: u64, shared: bool, access: Strong) {
        if thread >= self.block.count {
            return;
        }
        let (number, scope) = (self.block.number, access.scope);
        let cluster = self.cluster_of(number);
        if access.reads {
            let locations = if shared { &self.block.locations } else { &self.locations };
            if let Some(location) = locations.get(&address) {
                let found = [
                    location.blocks.get(&number).cloned().flatten(),
                    location.clusters.get(&cluster).cloned().flatten(),
                    location.device.clone(),
                ];
                let found = &found[..=scope as usize];
                if access.acquires {
                    found.iter().for_each(|found| self.learn(thread, found));
                } else {
                    self.block.own()[thread].pending.collect(address, found);
                    self.block.active = true;
                }
            }
            // An acquire operation completes earlier reads of its own location only.
            if access.acquires && !self.block.threads.is_empty() {
                let collected = self.block.own()[thread].pending.take_at(address, scope);
                self.learn(thread, &collected);
            }
        }
        if !access.writes {
            return;
        }
        let mut released: Scoped = Default::default();
        for (level, released) in released.iter_mut().enumerate().take(scope as usize + 1) {
            released.clone_from(&self.block.fenced[level]);
            if let Some(own) = self.block.threads.get(thread) {
                clocks::join(released, &own.fenced[level]);
            }
        }
        if access.releases {
            let own = self.snapshot(thread);
            let scoped = &mut released[..=scope as usize];
            scoped.iter_mut().for_each(|known| clocks::join(known, &own));
            self.block.own()[thread].released.insert(address, released.clone());
            self.tick();
        } else if let Some(earlier) = self.block.threads.get(thread).and_then(|own| own.released.get(&address)) {
            for (released, earlier) in released.iter_mut().zip(earlier).take(scope as usize + 1) {
                clocks::join(released, earlier);
            }
        }
        let locations = if shared { &mut self.block.locations } else { &mut self.locations };
        if !access.reads {
            // A new release sequence, which begins with what the thread itself has released here.
            locations.remove(&address);
        }
        if released.iter().all(Option::is_none) {
            return;
        }
        let location = locations.entry(address).or_default();
        clocks::join(location.blocks.entry(number).or_default(), &released[0]);
        clocks::join(location.clusters.entry(cluster).or_default(), &released[1]);
        clocks::join(&mut location.device, &released[2]);
    }

    /// A barrier of all threads of the running block that have not finished.
    pub(in crate::check) fn barrier(&mut self) {
        let time = self.tick();
        let block = &mut self.block;
        block.barrier = time;
        if !block.active {
            return;
        }
        block.active = false;
        for thread in &mut block.threads {
            clocks::join(&mut block.known, &thread.known.take());
            clocks::join(&mut block.known, &thread.pending.take(Scope::Device));
            for level in 0..3 {
                clocks::join(&mut block.fenced[level], &thread.fenced[level].take());
            }
        }
    }

    /// A thread arrives at a barrier without waiting.
    pub(in crate::check) fn arrive(&mut self, barrier: u32, thread: usize) {
        self.simple = false;
        let released = self.snapshot(thread);
        clocks::join(self.block.arrived.entry(barrier).or_default(), &released);
        self.block.active = true;
        self.tick();
    }

    /// A barrier of these threads of the running block opens; threads may also have arrived at it without waiting.
    pub(in crate::check) fn meet(&mut self, barrier: Option<u32>, threads: &[usize]) {
        self.simple = false;
        let (time, number) = (self.time + 1, self.block.number);
        let mut known = barrier.and_then(|id| self.block.arrived.remove(&id)).flatten();
        let mut fenced: Scoped = Default::default();
        self.block.own();
        for thread in threads {
            let own = &mut self.block.own()[*thread];
            clocks::join(&mut known, &own.known);
            clocks::join(&mut known, &own.pending.take(Scope::Device));
            for (level, fenced) in fenced.iter_mut().enumerate() {
                clocks::join(fenced, &own.fenced[level]);
            }
        }
        let key = |thread: &usize| Key::thread(number << THREAD_BITS | *thread as u64);
        clocks::add(&mut known, threads.iter().map(|thread| (key(thread), time)).collect());
        for thread in threads {
            let own = &mut self.block.own()[*thread];
            own.known.clone_from(&known);
            own.fenced.clone_from(&fenced);
        }
        self.block.active = true;
        self.tick();
    }

    /// A thread releases at a barrier object whose phase has this parity.
    pub(in crate::check) fn release_object(&mut self, address: u64, odd: bool, thread: usize, arrival: Arrival) {
        self.simple = false;
        let released = match arrival {
            Arrival::Relaxed => self.fenced(thread),
            _ => self.snapshot(thread),
        };
        self.objects.release(address, odd, arrival == Arrival::Mixed, &released);
        self.tick();
    }

    pub(in crate::check) fn begin_object(&mut self, address: u64) {
        self.objects.forget(address);
    }

    /// A thread has found a phase of a barrier object complete, and the one that has begun since has this parity.
    pub(in crate::check) fn acquire_object(&mut self, address: u64, odd: bool, thread: usize, relaxed: bool) {
        let Some(released) = self.objects.acquire(address, odd) else { return };
        if relaxed {
            let found: Scoped = std::array::from_fn(|_| Some(Rc::clone(&released)));
            self.block.own()[thread].pending.collect(address, &found);
            self.block.active = true;
        } else {
            self.learn(thread, &Some(released));
        }
    }

    /// Returns what the fences of a thread of the running block release, whatever their scopes.
    pub(super) fn fenced(&self, thread: usize) -> Known {
        let mut fenced = self.block.fenced[Scope::Block as usize].clone();
        if let Some(own) = self.block.threads.get(thread) {
            clocks::join(&mut fenced, &own.fenced[Scope::Block as usize]);
        }
        fenced
    }
}

/// An arrival at a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum Arrival {
    /// It releases what its thread has done before.
    Release,
    /// It releases what its thread has fenced.
    Relaxed,
    /// It is made by copies later, or completes bytes.
    Mixed,
}

/// The properties of a strong access.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Strong {
    pub(in crate::check) reads: bool,
    pub(in crate::check) writes: bool,
    pub(in crate::check) acquires: bool,
    pub(in crate::check) releases: bool,
    pub(in crate::check) scope: Scope,
}
