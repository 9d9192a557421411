//! Warp-level operations: arguments and results of one warp's lanes are exchanged in the frame.
//!
//! The scheduler determines the participants; this computes the result of each lane, which is a word and a predicate.
//! If PTX leaves it undefined (the source lane does not participate), the result is the lane's own value.

use super::matrix;
use crate::ir::sync::{ARGS, Arg, FRAME_BYTES, Operation, Reduce, Shuffle, Site};

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// Words of frame per thread before the fragments of matrices.
const FRAME_WORDS: usize = FRAME_BYTES as usize / 4;

/// The arguments and results of a block's threads: one array of words for each.
pub(crate) struct Exchange<'a> {
    pub(crate) words: &'a mut [u32],
    pub(crate) threads: usize,
}

impl Exchange<'_> {
    /// Returns argument `index` of a thread that waits at `site`.
    pub(crate) fn arg(&self, site: &Site, index: usize, thread: usize) -> u32 {
        match site.args[index] {
            Arg::Known(value) => value,
            Arg::Frame => self.words[index * self.threads + thread],
        }
    }

    /// Returns the argument of several consecutive threads.
    fn args(&self, index: usize, first: usize, count: usize) -> &[u32] {
        let start = index * self.threads + first;
        &self.words[start..start + count]
    }

    /// Returns word `index` of the fragments of all lanes of the warp that begins at thread `first`.
    pub(crate) fn fragment(&mut self, index: usize, first: usize) -> &mut [u32] {
        let start = (FRAME_WORDS + index) * self.threads + first;
        let count = LANES.min(self.threads - first);
        &mut self.words[start..start + count]
    }

    pub(crate) fn give(&mut self, thread: usize, word: u32, truth: bool) {
        self.words[ARGS * self.threads + thread] = word;
        self.words[(ARGS + 1) * self.threads + thread] = u32::from(truth);
    }

    /// Returns true if all these threads passed `value`.
    pub(crate) fn all(&self, site: &Site, index: usize, first: usize, count: usize, value: u32) -> bool {
        match site.args[index] {
            Arg::Known(known) => known == value,
            // Without an early exit, so that it is vectorised.
            Arg::Frame => self.args(index, first, count).iter().fold(0, |bits, v| bits | (v ^ value)) == 0,
        }
    }
}

/// Returns the source lane of a shuffle, and true if it is inside the segment.
pub(super) fn source(mode: Shuffle, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let last = (lane & segment) | (clamp & !segment);
    let first = lane & segment;
    let (from, inside) = match mode {
        Shuffle::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= last as i32),
        Shuffle::Down => (lane + b, lane + b <= last),
        Shuffle::Bfly => (lane ^ b, lane ^ b <= last),
        Shuffle::Idx => {
            let from = first | (b & !segment);
            (from, from <= last)
        }
    };
    if inside { (from & 31, true) } else { (lane, false) }
}

/// Performs a shuffle in which all 32 lanes of these warps have the same second and third operand.
pub(crate) fn shuffle_converged(
    exchange: &mut Exchange<'_>,
    mode: Shuffle,
    b: u32,
    c: u32,
    warps: impl Iterator<Item = usize>,
) {
    let (mut from, mut truth) = ([0usize; LANES], [0u32; LANES]);
    for lane in 0..LANES {
        let (source, inside) = source(mode, lane as u32, b, c);
        (from[lane], truth[lane]) = (source as usize, u32::from(inside));
    }
    let (args, results) = exchange.words.split_at_mut(ARGS * exchange.threads);
    let (words, truths) = results.split_at_mut(exchange.threads);
    let b = b as usize % LANES;
    for first in warps.map(|warp| warp * LANES) {
        let own = &args[first..first + LANES];
        let result = &mut words[first..first + LANES];
        // `up` and `down` shift all lanes by the same distance; a lane whose source is outside the warp keeps its own
        // value.
        let start = match mode {
            Shuffle::Down => Some(first + b),
            Shuffle::Up => first.checked_sub(b),
            Shuffle::Bfly | Shuffle::Idx => None,
        };
        match start {
            Some(start) => {
                let read = &args[start..start + LANES];
                for lane in 0..LANES {
                    let inside = truth[lane].wrapping_neg();
                    result[lane] = read[lane] & inside | own[lane] & !inside;
                }
            }
            None => result.iter_mut().zip(from).for_each(|(result, from)| *result = own[from % LANES]),
        }
        truths[first..first + LANES].copy_from_slice(&truth);
    }
}

fn reduce(operation: Reduce, a: u32, b: u32) -> u32 {
    match operation {
        Reduce::Add => a.wrapping_add(b),
        Reduce::MinUnsigned => a.min(b),
        Reduce::MaxUnsigned => a.max(b),
        Reduce::MinSigned => (a as i32).min(b as i32) as u32,
        Reduce::MaxSigned => (a as i32).max(b as i32) as u32,
        Reduce::And => a & b,
        Reduce::Or => a | b,
        Reduce::Xor => a ^ b,
    }
}

/// Returns the set bits of a lane mask, in ascending order.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask & (1 << lane) != 0)
}

/// Performs an operation for the lanes `group` of the warp that begins at thread `first`; `part` of them are in the
/// mask that they passed. `site` returns the site where each of them waits.
pub(crate) fn perform<'s>(
    exchange: &mut Exchange<'_>,
    operation: Operation,
    first: usize,
    (group, part): (u32, u32),
    site: &dyn Fn(usize) -> &'s Site,
) {
    let mut value = [0u64; LANES];
    for lane in lanes(group) {
        let at = site(lane);
        let (low, high) = (exchange.arg(at, 0, first + lane), exchange.arg(at, 1, first + lane));
        value[lane] = u64::from(low) | u64::from(high) << 32;
    }
    let truths = lanes(part).fold(0, |bits, lane| bits | u32::from(value[lane] as u32 != 0) << lane);
    let equal = |lane: usize| lanes(part).fold(0, |bits, other| bits | u32::from(value[other] == value[lane]) << other);
    let common = |word: u32, truth: bool| move |_: usize| (word, truth);
    let mut give = |result: &dyn Fn(usize) -> (u32, bool)| {
        for lane in lanes(group) {
            let (word, truth) = result(lane);
            exchange.give(first + lane, word, truth);
        }
    };
    match operation {
        Operation::Barrier(_)
        | Operation::Arrive
        | Operation::WarpSync
        | Operation::ClusterArrive
        | Operation::ClusterWait => {}
        Operation::Shuffle(mode) => {
            let mut results = [(0, false); LANES];
            for lane in lanes(group) {
                let at = site(lane);
                let (b, c) = ((value[lane] >> 32) as u32, exchange.arg(at, 2, first + lane));
                let (from, inside) = source(mode, lane as u32, b, c);
                let from = if group & (1 << from) != 0 { from as usize } else { lane };
                results[lane] = (value[from] as u32, inside);
            }
            for lane in lanes(group) {
                exchange.give(first + lane, results[lane].0, results[lane].1);
            }
        }
        Operation::All => give(&common(0, truths == part)),
        Operation::Any => give(&common(0, truths != 0)),
        Operation::Uni => give(&common(0, truths == 0 || truths == part)),
        Operation::Ballot => give(&common(truths, false)),
        Operation::MatchAny => give(&|lane| (equal(lane), false)),
        Operation::MatchAll => {
            let same = part == 0 || equal(part.trailing_zeros() as usize) == part;
            give(&common(if same { part } else { 0 }, same));
        }
        Operation::Redux(which) => {
            let all = lanes(part).map(|lane| value[lane] as u32).reduce(|a, b| reduce(which, a, b));
            give(&common(all.unwrap_or(0), false));
        }
        Operation::Elect => {
            let leader = part.trailing_zeros();
            give(&|lane| (leader & 31, lane as u32 == leader));
        }
        Operation::ActiveMask => give(&common(group, false)),
        Operation::Matrix(what) => matrix::perform(exchange, what, first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the PTX manual's pseudocode, written out for a few cases by hand.
    #[test]
    fn shuffles_clamp_and_stay_in_their_segment() {
        // __shfl_down_sync(v, 1, 8): c = 0x181f, the last lane of each eight keeps its value.
        assert_eq!(source(Shuffle::Down, 6, 1, 0x181f), (7, true));
        assert_eq!(source(Shuffle::Down, 7, 1, 0x181f), (7, false));
        assert_eq!(source(Shuffle::Up, 8, 1, 0x1800), (8, false));
        assert_eq!(source(Shuffle::Up, 9, 1, 0x1800), (8, true));
        assert_eq!(source(Shuffle::Up, 0, 1, 0), (0, false));
        assert_eq!(source(Shuffle::Bfly, 5, 16, 0x1f), (21, true));
        assert_eq!(source(Shuffle::Idx, 20, 3, 0x181f), (19, true));
        assert_eq!(source(Shuffle::Idx, 20, 3, 2), (20, false));
    }
}
