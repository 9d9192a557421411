//! Mistakes in the use of barriers and of warp operations, for `CUDA_SIM_CHECK=sync`.

use super::super::warp::{self, LANES};
use super::ResidentBlock;
use crate::check::sync as check;
use crate::codegen::abi::encode_position;
use crate::ir::sync::{BARRIERS, Operation, Shuffle, Site};

impl ResidentBlock<'_> {
    /// Looks for mistakes while all threads that have not finished wait at one site.
    pub(super) fn check_converged(&mut self, site: &Site) {
        if !check::looks() {
            return;
        }
        let (low, high) = (self.low, self.high);
        if site.is_barrier() && !site.is_whole() {
            self.check_count(site, low);
        }
        if !site.is_barrier() && !site.is_of_cluster() {
            for first in (low / LANES..high.div_ceil(LANES)).map(|warp| warp * LANES) {
                let group = super::bits(low.saturating_sub(first), (high - first).min(LANES));
                self.check_masks(first, group, &|_| site);
            }
        }
    }

    /// Looks for mistakes at a barrier that opens for the waiting threads for which `is_in` is true.
    ///
    /// Threads that have ended are none: the manual says of `exit` that it releases a barrier of the whole block at which
    /// all others wait.
    pub(super) fn check_barrier(&self, is_in: impl Fn(usize) -> bool) {
        if !check::looks() {
            return;
        }
        let sites: Vec<Option<&Site>> = self.next.iter().map(|state| self.site(*state)).collect();
        let waits = |thread: &usize| is_in(*thread) && sites[*thread].is_some_and(Site::is_barrier);
        for warp in (0..self.next.len()).step_by(LANES) {
            let lanes = || self.warp(warp).filter(waits);
            let Some((first, site)) = lanes().find_map(|thread| Some((thread, sites[thread]?))) else { continue };
            let is_aligned = |site: &Site| site.name.starts_with("bar.") || site.name.ends_with(".aligned");
            let other = lanes().find_map(|thread| {
                let other = sites[thread]?;
                (encode_position(other.position) != encode_position(site.position)
                    && (is_aligned(site) || is_aligned(other)))
                .then_some((thread, other))
            });
            if let Some((thread, other)) = other {
                let note = "threads of one warp meet at two instructions, which are for all of a warp (.aligned)";
                check::mistake(&self.context, "divergent barrier", &[(site, first), (other, thread)], note.to_owned());
            }
        }
    }

    /// Looks for a number of threads that a barrier cannot have.
    fn check_count(&mut self, site: &Site, thread: usize) {
        let count = self.exchange().arg(site, 1, thread);
        if !count.is_multiple_of(LANES as u32) {
            let note = format!("the barrier is for {count} threads, and the manual allows multiples of {LANES} only");
            check::mistake(&self.context, "number of threads that no barrier can have", &[(site, thread)], note);
        }
    }

    /// Looks for threads that wait at one barrier, or have arrived at it, with different numbers of threads.
    pub(super) fn check_counts(&mut self, arriving: Option<(&Site, usize)>) {
        if !check::looks() {
            return;
        }
        let waits = |(thread, state): (usize, &u32)| {
            self.site(*state).filter(|site| site.is_barrier()).map(|site| (site, thread))
        };
        let all: Vec<(&Site, usize)> =
            arriving.into_iter().chain(self.next.iter().enumerate().filter_map(waits)).collect();
        if all.iter().all(|(site, _)| site.is_whole()) {
            return;
        }
        let mut first: [Option<(u32, &Site, usize)>; BARRIERS as usize] = [None; BARRIERS as usize];
        for (site, thread) in all {
            let exchange = self.exchange();
            let (id, count) = ((exchange.arg(site, 0, thread) % BARRIERS) as usize, exchange.arg(site, 1, thread));
            // All threads of the block, by no number or by their number.
            let number_of = |count: u32| if count as usize == self.next.len() { 0 } else { count };
            let count = number_of(count);
            let (before, arrived) = (first[id], self.arrived[id]);
            let (number, at) = match before {
                Some((other, site, thread)) => (other, Some((site, thread))),
                None if arrived.0 > 0 => (number_of(arrived.1), None),
                None => (count, None),
            };
            if number != count {
                let text = |count: u32| if count == 0 { "all".to_owned() } else { count.to_string() };
                let note = format!("barrier {id} is for {} threads, and for {} elsewhere", text(count), text(number));
                let sites: Vec<(&Site, usize)> = std::iter::once((site, thread)).chain(at).collect();
                check::mistake(&self.context, "different numbers of threads at one barrier", &sites, note);
            }
            if before.is_none() {
                first[id] = Some((count, site, thread));
                self.check_count(site, thread);
            }
        }
    }

    /// Looks for masks that name lanes which the warp does not have, or that lack the lane which passes them.
    ///
    /// The other lanes of a mask have arrived or have ended, since the operation waits for those that have not; and the manual
    /// asks for threads that have not exited.
    pub(super) fn check_masks<'s>(&mut self, first: usize, group: u32, site: &dyn Fn(usize) -> &'s Site) {
        if !check::looks() {
            return;
        }
        for lane in warp::lanes(group) {
            let at = site(lane);
            if at.active || matches!(at.operation, Operation::ActiveMask | Operation::Matrix(_)) {
                continue;
            }
            let mask = self.exchange().arg(at, 3, first + lane);
            // A mask of all lanes is usual in the last warp of a block that is not a multiple of 32.
            let named = if mask == u32::MAX { 0 } else { mask };
            let missing = named & !super::bits(0, self.warp(first).len());
            if mask & 1 << lane == 0 {
                let note = format!("the mask {mask:#010x} does not name lane {lane}, which passes it");
                check::mistake(&self.context, "mask without the calling lane", &[(at, first + lane)], note);
            } else if missing != 0 {
                let other = missing.trailing_zeros() as usize;
                let note = format!("the mask {mask:#010x} names lane {other}, which does not exist");
                check::mistake(&self.context, "mask of lanes that are not there", &[(at, first + lane)], note);
            } else if let Operation::Shuffle(mode) = at.operation
                && at.is_used
            {
                self.check_source((at, mode), (first, lane), group, mask);
            }
        }
    }

    /// Looks for a shuffle that uses the value of a lane which is not there.
    fn check_source(&mut self, (site, mode): (&Site, Shuffle), (first, lane): (usize, usize), group: u32, mask: u32) {
        let [b, c] = [1, 2].map(|arg| self.exchange().arg(site, arg, first + lane));
        let (from, _) = warp::source(mode, lane as u32, b, c);
        if group & mask & 1 << from != 0 {
            return;
        }
        let why = if mask & 1 << from == 0 {
            format!("the mask {mask:#010x} does not name")
        } else if self.warp(first).len() <= from as usize {
            "does not exist".to_owned()
        } else {
            "has ended".to_owned()
        };
        let which = if mask & 1 << from == 0 { format!("{why} it") } else { format!("it {why}") };
        let note = format!("lane {lane} uses what it reads from lane {from}, which is undefined: {which}");
        check::mistake(&self.context, "shuffle from a lane that is not there", &[(site, first + lane)], note);
    }
}
