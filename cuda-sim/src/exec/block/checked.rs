//! Mistakes in the use of barriers and of warp operations, for `CUDA_SIM_CHECK=sync`.

use super::super::warp::{self, LANES};
use super::ResidentBlock;
use crate::check::sync as check;
use crate::codegen::abi::encode_position;
use crate::ir::sync::{Operation, Site};

impl ResidentBlock<'_> {
    /// Looks for mistakes while all threads that have not finished wait at one site.
    pub(super) fn check_converged(&mut self, site: &Site) {
        if !check::looks() {
            return;
        }
        let (low, high) = (self.low, self.high);
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

    /// Looks for masks that name lanes which take no part, or that lack the lane which passes them.
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
            let threads = self.warp(first).len();
            // A mask of all lanes is usual in the last warp of a block that is not a multiple of 32.
            let named = if mask == u32::MAX { super::bits(0, threads) } else { mask };
            let missing = named & !group;
            if mask & 1 << lane == 0 {
                let note = format!("the mask {mask:#010x} does not name lane {lane}, which passes it");
                check::mistake(&self.context, "mask without the calling lane", &[(at, first + lane)], note);
            } else if missing != 0 {
                let other = missing.trailing_zeros() as usize;
                let why = if other < threads { "has ended" } else { "does not exist" };
                let note = format!("the mask {mask:#010x} names lane {other}, which {why}");
                check::mistake(&self.context, "mask of lanes that are not there", &[(at, first + lane)], note);
            }
        }
    }
}
