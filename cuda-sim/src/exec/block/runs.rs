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

/// Neighbouring threads with the same state, behind those of the run before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) end: usize,
    pub(super) state: u32,
}

/// Returns the range from the first to the last thread that has not finished, and their state if all have the same; `None` if all have
/// finished.
pub(super) fn alive(runs: &[Run]) -> Option<(Range<usize>, Option<u32>)> {
    let first = runs.iter().position(|run| run.state != 0)?;
    let last = runs.iter().rposition(|run| run.state != 0)?;
    let start = first.checked_sub(1).map_or(0, |before| runs[before].end);
    Some((start..runs[last].end, (first == last).then_some(runs[first].state)))
}

/// Puts neighbours with the same state together.
fn merge(runs: &mut Vec<Run>) {
    runs.dedup_by(|later, earlier| {
        let same = later.state == earlier.state;
        if same {
            earlier.end = later.end;
        }
        same
    });
}

impl ResidentBlock<'_> {
    /// Lists the runs of `next`.
    pub(super) fn list(&mut self) {
        let ResidentBlock { runs: listed, next, .. } = self;
        listed.clear();
        listed.extend(runs(next).map(|run| Run { end: run.end, state: next[run.start] }));
        self.listed = true;
    }

    /// Sets the state of a run.
    pub(super) fn set_run(&mut self, index: usize, threads: Range<usize>, state: u32) {
        self.next[threads].fill(state);
        self.runs[index].state = state;
    }

    /// One round over the runs, while threads have diverged. Threads that poll run once, the others until they wait.
    pub(super) fn round_over_runs(&mut self, engine: &mut dyn Engine) -> Result<StepResult, Fault> {
        if !self.listed {
            self.list();
        }
        let (mut progressed, mut polled, mut again) = (false, false, false);
        loop {
            let (mut at, mut index) = (0, 0);
            while let Some(Run { end, state }) = self.runs.get(index).copied() {
                let threads = at..end;
                (at, index) = (end, index + 1);
                if !self.can_run(state) || again && self.polls(state) {
                    continue;
                }
                let result = self.call(engine, state, threads.start, threads.len())?;
                let only_polled = if result == DIVERGED {
                    let parts: Vec<Run> = runs(&self.next[threads.clone()])
                        .map(|part| Run { end: threads.start + part.end, state: self.next[threads.start + part.start] })
                        .collect();
                    let only_polled = self.only_polled(state, parts.iter().map(|part| part.state));
                    let count = parts.len();
                    self.runs.splice(index - 1..index, parts);
                    index += count - 1;
                    only_polled
                } else {
                    self.set_run(index - 1, threads, result as u32);
                    self.only_polled(state, std::iter::once(result as u32))
                };
                progressed |= !only_polled;
                polled |= only_polled;
            }
            merge(&mut self.runs);
            again = true;
            if !self.runs.iter().any(|run| self.can_run(run.state) && !self.polls(run.state)) {
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

    fn listed(states: &[u32]) -> Vec<Run> {
        states.iter().enumerate().map(|(at, state)| Run { end: at + 1, state: *state }).collect()
    }

    #[test]
    fn neighbours_with_the_same_state_are_put_together() {
        let mut runs = listed(&[3, 3, 0, 7, 7, 7, 3]);
        merge(&mut runs);
        let expected = [(2, 3), (3, 0), (6, 7), (7, 3)].map(|(end, state)| Run { end, state });
        assert_eq!(runs, expected);
    }

    #[test]
    fn threads_that_have_finished_are_around_those_that_have_not() {
        for (states, expected) in [
            (&[0, 0, 0][..], None),
            (&[5], Some((0..1, Some(5)))),
            (&[0, 5, 5, 0, 0], Some((1..3, Some(5)))),
            (&[0, 5, 0, 5], Some((1..4, None))),
            (&[4, 5], Some((0..2, None))),
        ] {
            let mut runs = listed(states);
            merge(&mut runs);
            assert_eq!(alive(&runs), expected, "{states:?}");
        }
    }
}
