//! [`GraphRecords`]: the panic records of a graph's kernels, one for each kernel and all its launches.
//!
//! Invariant: a claimed record is freed only when no launch that may have claimed it runs, since the other threads of
//! that launch read it. It is not known which of the launches that have not been waited for has panicked, so the panic
//! is reported for each of them.

use std::collections::VecDeque;

use cuda_sys::CUdeviceptr;

use super::RawPanic;
use super::log::RecordSlots;
use super::record::{COUNT, Records};
use crate::context::Context;
use crate::error::Result;
use crate::sync::Mutex;

/// Records that the kernels of a graph write to; they live until the context ends, like all records.
pub(crate) struct GraphRecords<R = Records>(Mutex<State<R>>);

struct State<R> {
    records: Vec<R>,
    /// For each kernel, true if its panic was taken from the record, which is not free yet.
    taken: Vec<bool>,
    /// The launches that were not waited for, those of a thread in a stream counted as one.
    unfinished: usize,
    /// The panics that were taken while there were such launches; the oldest are dropped beyond a limit.
    panics: VecDeque<RawPanic>,
    /// The number of panics taken so far.
    count: u64,
}

impl<R> Default for GraphRecords<R> {
    fn default() -> Self {
        let (records, taken, panics) = (Vec::new(), Vec::new(), VecDeque::new());
        GraphRecords(Mutex::new(State { records, taken, unfinished: 0, panics, count: 0 }))
    }
}

impl<R: RecordSlots> State<R> {
    fn slot(&self, kernel: usize) -> (&R, usize) {
        (&self.records[kernel / COUNT], kernel % COUNT)
    }

    fn take(&mut self) {
        for kernel in 0..self.taken.len() {
            let (records, slot) = self.slot(kernel);
            if self.taken[kernel] {
                continue;
            }
            if let Some((raw, _)) = records.read(slot) {
                self.taken[kernel] = true;
                self.panics.push_back(raw);
                self.count += 1;
            }
        }
        let surplus = self.panics.len().saturating_sub(COUNT.max(self.taken.len()));
        self.panics.drain(..surplus);
    }

    /// Frees the records whose panics were taken.
    fn free(&mut self) {
        for kernel in 0..self.taken.len() {
            if std::mem::take(&mut self.taken[kernel]) {
                let (records, slot) = self.slot(kernel);
                records.free(slot);
            }
        }
    }
}

impl GraphRecords {
    /// Adds a record for one more kernel. Returns its address and number.
    pub(crate) fn add(&self, context: &Context) -> Result<(CUdeviceptr, u32)> {
        let mut state = self.0.lock();
        let kernel = state.taken.len();
        if kernel / COUNT == state.records.len() {
            state.records.push(context.panics().new_records(context)?);
        }
        state.taken.push(false);
        let (records, slot) = state.slot(kernel);
        Ok((records.device_ptr(slot), state.taken.len() as u32))
    }
}

impl<R: RecordSlots> GraphRecords<R> {
    /// The records of a graph of one kernel.
    #[cfg(all(test, loom))]
    pub(crate) fn of_kernel(records: R) -> Self {
        let all = GraphRecords::default();
        all.0.lock().records.push(records);
        all.0.lock().taken.push(false);
        all
    }

    /// Returns true if no record holds a panic.
    pub(crate) fn are_free(&self) -> bool {
        let state = self.0.lock();
        (0..state.taken.len()).map(|kernel| state.slot(kernel)).all(|(records, slot)| records.is_free(slot))
    }

    /// Frees the records for the next launch, while no launch runs. Their panics are kept for the launches that were not
    /// waited for.
    pub(crate) fn free(&self) {
        let mut state = self.0.lock();
        state.take();
        state.free();
    }

    /// Notes a launch. Returns the number of panics before it.
    pub(crate) fn begin(&self) -> u64 {
        let mut state = self.0.lock();
        state.unfinished += 1;
        state.count
    }

    /// Takes the panics that the launches since `before` may have had, and sets `before` to the present count.
    pub(crate) fn take(&self, before: &mut u64, found: impl FnMut(RawPanic)) {
        let mut state = self.0.lock();
        state.take();
        let known = state.count - state.panics.len() as u64;
        let first = before.saturating_sub(known) as usize;
        state.panics.iter().skip(first).copied().for_each(found);
        *before = state.count;
    }

    /// Notes the end of a launch whose panics were taken.
    pub(crate) fn end(&self) {
        let mut state = self.0.lock();
        state.unfinished -= 1;
        if state.unfinished == 0 {
            state.panics.clear();
            state.free();
        }
    }
}
