//! Statistics of the memory of a context's buffers, counted without a lock.

use cuda_driver::Context;

use super::memory::Memory;
use crate::sync::{AtomicU64, AtomicUsize, Ordering};

/// Memory statistics of a context's buffers. External memory, see [`Buffer::external`](crate::Buffer::external), is not
/// counted.
///
/// Each number is exact; while other threads allocate, the numbers may be of slightly different moments.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// use cuda_mem::{memory_statistics, reset_peak, zeros};
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = zeros::<u8, _>(&context, 1000)?;
/// drop(zeros::<u8, _>(&context, 500)?);
/// let statistics = memory_statistics(&context);
/// assert_eq!((statistics.live_bytes, statistics.peak_bytes), (1000, 1500));
/// assert_eq!((statistics.allocations, statistics.frees), (2, 1));
/// reset_peak(&context);
/// assert_eq!(memory_statistics(&context).peak_bytes, 1000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryStatistics {
    /// Bytes of the live buffers.
    pub live_bytes: usize,
    /// The peak of the live bytes since the start or the last [`reset_peak`].
    pub peak_bytes: usize,
    /// The number of buffers that were allocated.
    pub allocations: u64,
    /// The number of buffers that were dropped.
    pub frees: u64,
    /// The number of frees that are pending.
    pub pending_frees: usize,
    /// The bytes of the pending frees.
    pub pending_bytes: usize,
}

/// The memory statistics of the context's buffers.
#[must_use]
pub fn memory_statistics(context: &Context) -> MemoryStatistics {
    let memory = Memory::of(context);
    let (pending_frees, pending_bytes) = memory.pending.size();
    MemoryStatistics { pending_frees, pending_bytes, ..memory.statistics.read() }
}

/// Resets the peak to the present live bytes.
pub fn reset_peak(context: &Context) {
    Memory::of(context).statistics.reset_peak();
}

#[derive(Default)]
pub(crate) struct Statistics {
    live: AtomicUsize,
    peak: AtomicUsize,
    allocations: AtomicU64,
    frees: AtomicU64,
}

impl Statistics {
    #[inline]
    pub(crate) fn allocated(&self, bytes: usize) {
        self.allocations.fetch_add(1, Ordering::Relaxed);
        // Each addition returns the live bytes of that moment, so the maximum of the sums is the peak.
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if live > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(live, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn freed(&self, bytes: usize) {
        self.frees.fetch_add(1, Ordering::Relaxed);
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Reverts the count of a free that could not be made and will be counted again.
    pub(crate) fn not_freed(&self, bytes: usize) {
        self.live.fetch_add(bytes, Ordering::Relaxed);
        self.frees.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> MemoryStatistics {
        MemoryStatistics {
            live_bytes: self.live.load(Ordering::Relaxed),
            peak_bytes: self.peak.load(Ordering::Relaxed),
            allocations: self.allocations.load(Ordering::Relaxed),
            frees: self.frees.load(Ordering::Relaxed),
            ..MemoryStatistics::default()
        }
    }

    fn reset_peak(&self) {
        self.peak.store(0, Ordering::Relaxed);
        // After the store: an allocation in between is included in the live bytes, or raises the peak itself.
        self.peak.fetch_max(self.live.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
