//! Rounds over runs: neighbouring threads with the same state.
//!
//! In a kernel whose threads wait at barriers only, nothing depends on warps. A thread that does something for its block,
//! while all others wait, then costs a look at the runs instead of one at each thread of each warp.

use super::{Engine, ResidentBlock, StepResult};
use crate::codegen::abi::DIVERGED;
use crate::exec::launch::Fault;
use std::ops::Range;

/// The number of states that are compared at once.
const STEP: usize = 16;

/// Returns the end of the run of equal states that begins at an index.
pub(super) fn end_of_run(states: &[u32], start: usize) -> usize {
    let state = states[start];
    let mut end = start + 1;
    // Mostly the last run, or a single thread before it. Each state equals the next one exactly if all are equal.
    if states.len() - end >= STEP && states[end] == state && states[start..states.len() - 1] == states[end..] {
        return states.len();
    }
    // Without an early exit, so that it is vectorised.
    let equal = |states: &[u32]| states.iter().fold(0, |bits, other| bits | (other ^ state)) == 0;
    while states.get(end..end + STEP).is_some_and(equal) {
        end += STEP;
    }
    while states.get(end) == Some(&state) {
        end += 1;
    }
    end
}

/// Returns the runs of equal states, in order.
pub(super) fn runs(states: &[u32]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        at = if start < states.len() { end_of_run(states, start) } else { return None };
        Some(start..at)
    })
}

impl ResidentBlock<'_> {
    /// One round over the runs, while threads have diverged. Threads that poll run once, the others until they wait.
    pub(super) fn round_over_runs(&mut self, engine: &mut dyn Engine) -> Result<StepResult, Fault> {
        let (mut progressed, mut polled, mut again) = (false, false, false);
        loop {
            let mut at = 0;
            while at < self.next.len() {
                let (state, end) = (self.next[at], end_of_run(&self.next, at));
                let threads = at..end;
                at = end;
                if !self.can_run(state) || again && self.polls(state) {
                    continue;
                }
                let result = self.call(engine, state, threads.start, threads.len())?;
                if result != DIVERGED {
                    self.next[threads.clone()].fill(result as u32);
                }
                let only_polled = self.only_polled(state, self.next[threads].iter().copied());
                progressed |= !only_polled;
                polled |= only_polled;
            }
            again = true;
            if !self.states().any(|state| self.can_run(state) && !self.polls(state)) {
                break;
            }
        }
        progressed |= self.open_barriers();
        Ok(self.end_of_round(progressed, polled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_any_length() {
        for lengths in [vec![1], vec![16, 1], vec![1, 127], vec![17, 40, 15, 1, 2], vec![33; 9]] {
            let states: Vec<u32> =
                lengths.iter().enumerate().flat_map(|(state, n)| vec![state as u32 % 3; *n]).collect();
            assert_eq!(runs(&states).map(|run| run.len()).collect::<Vec<_>>(), lengths);
        }
        assert_eq!(runs(&[]).count(), 0);
    }
}
