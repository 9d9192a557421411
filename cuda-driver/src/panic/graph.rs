//! [`GraphRecords`]: the panic records of a graph's kernels, one each, for all its launches.

use cuda_sys::CUdeviceptr;

use super::RawPanic;
use super::log::Slots as _;
use super::record::{COUNT, Records};
use crate::context::Context;
use crate::error::Result;
use crate::sync::Mutex;

/// Records that the kernels of a graph write to; they live until the context ends, like all records.
#[derive(Default)]
pub(crate) struct GraphRecords(Mutex<State>);

#[derive(Default)]
struct State {
    records: Vec<Records>,
    used: usize,
}

impl GraphRecords {
    /// A record of its own for one more kernel: its address and number.
    pub(crate) fn add(&self, context: &Context) -> Result<(CUdeviceptr, u32)> {
        let mut state = self.0.lock();
        let (piece, slot) = (state.used / COUNT, state.used % COUNT);
        if piece == state.records.len() {
            state.records.push(context.panics().new_records(context)?);
        }
        state.used += 1;
        Ok((state.records[piece].device_ptr(slot), state.used as u32))
    }

    /// Whether a kernel has panicked, and nobody has waited for that.
    pub(crate) fn are_free(&self) -> bool {
        let state = self.0.lock();
        (0..state.used).all(|index| state.records[index / COUNT].is_free(index % COUNT))
    }

    /// Takes the panics of launches that are over.
    pub(crate) fn take(&self, mut found: impl FnMut(RawPanic)) {
        let state = self.0.lock();
        for index in 0..state.used {
            let (records, slot) = (&state.records[index / COUNT], index % COUNT);
            if let Some((raw, _)) = records.read(slot) {
                found(raw);
                records.free(slot);
            }
        }
    }
}
