//! [`DetachedPanicRecord`]: the panic record of a synchronous launch, such as one with host arrays.

use std::fmt;

use cuda_sys::CUdeviceptr;

use super::log::RecordSlots as _;
use super::record::Records;
use super::{KernelPanic, RawPanic, stream::tag};
use crate::context::Context;
use crate::error::Result;

/// A panic record of one synchronous launch: the code that launches waits for it and reports its panic; no other wait
/// does.
///
/// From [`Context::detached_panic_record`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let record = context.detached_panic_record()?;
/// println!("the kernel is passed {:#x} and {:#x}", record.device_ptr(), record.tag(7));
/// // .. the kernel is launched, and waited for
/// record.finish()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "the launch's panic is reported by `finish`"]
pub struct DetachedPanicRecord {
    context: Context,
    /// Taken out by `finish`.
    record: Option<Spare>,
}

/// A record that no launch uses.
#[derive(Clone, Copy)]
pub(super) struct Spare {
    pub(super) records: Records,
    pub(super) slot: usize,
}

impl Spare {
    /// The panic in the record.
    pub(super) fn read(&self) -> Option<RawPanic> {
        self.records.read(self.slot).map(|(raw, _)| raw)
    }

    /// Takes the panic from the record and frees the record.
    fn take(&self) -> Option<RawPanic> {
        let raw = self.read()?;
        self.records.free(self.slot);
        Some(raw)
    }
}

impl DetachedPanicRecord {
    pub(super) fn new(context: &Context, record: Spare) -> Self {
        DetachedPanicRecord { context: context.clone(), record: Some(record) }
    }

    /// The record's address on the device, aligned to 16 bytes; valid while the context lives.
    #[must_use]
    pub fn device_ptr(&self) -> CUdeviceptr {
        self.record.as_ref().map_or(0, |record| record.records.device_ptr(record.slot))
    }

    /// The tag that the kernel writes: the number from [`Context::register_kernel`].
    #[must_use]
    pub fn tag(&self, kernel: u32) -> u64 {
        tag(kernel, 0)
    }

    /// Reports the launch's panic. The launch has finished, or was never made.
    ///
    /// # Errors
    ///
    /// [`Error::KernelPanic`](crate::Error::KernelPanic).
    pub fn finish(mut self) -> Result<()> {
        let Some(record) = self.record.take() else { return Ok(()) };
        let panics = self.context.panics();
        let panic: Option<KernelPanic> = record.take().map(|raw| panics.decode(&raw));
        panics.put_spare(record);
        panic.map_or(Ok(()), |panic| Err(panic.into()))
    }
}

impl Drop for DetachedPanicRecord {
    /// Without [`finish`](DetachedPanicRecord::finish), the launch may still run: a wait for the context reports its
    /// panic.
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            self.context.panics().abandon(record);
        }
    }
}

impl fmt::Debug for DetachedPanicRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DetachedPanicRecord").field("device", &self.device_ptr()).finish_non_exhaustive()
    }
}
