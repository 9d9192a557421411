//! Numba's deferred frees: the limits at which pending frees are made, and the guard that defers all of them.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use cuda_driver::Context;

use super::memory::{Freed, Memory};
use super::pending::Pending;
use crate::error::Result;
use crate::sync::{AtomicUsize, Ordering};

/// The limits of the frees that may be pending in a context.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// use cuda_mem::{PendingLimits, set_pending_limits};
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// set_pending_limits(&context, PendingLimits { count: 100, bytes: 1 << 20 });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingLimits {
    /// The number of pending frees above which all of them are made. Default: `CUDA_MEM_PENDING_COUNT`, else 10.
    pub count: usize,
    /// The number of pending bytes above which all frees are made. Default: the part `CUDA_MEM_PENDING_RATIO`, else
    /// 0.2, of the device's memory.
    pub bytes: usize,
}

/// Sets the limits of pending frees, from the next free that becomes pending on.
pub fn set_pending_limits(context: &Context, limits: PendingLimits) {
    let current = &Memory::of(context).limits;
    current.count.store(limits.count, Ordering::Relaxed);
    current.bytes.store(limits.bytes.min(UNSET - 1), Ordering::Relaxed);
}

/// Makes the frees that are pending, after all work of the context. Does nothing while they are
/// [deferred](defer_cleanup).
///
/// # Errors
///
/// [`Error::Driver`](crate::Error::Driver) if the wait for the work fails, such as inside a capture; then all frees
/// stay pending.
pub fn free_pending(context: &Context) -> Result<()> {
    Memory::of(context).free_pending(context)
}

/// Keeps every free of the context's buffers pending until the guard is dropped: none reaches the driver.
///
/// For code that a free would disturb, such as a time measurement. Guards nest. The end of the last one makes no free
/// by itself; the next free that exceeds the [limits](PendingLimits) makes all of them, as do [`free_pending`], an
/// allocation that finds no room, and the end of the context.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// use cuda_mem::{defer_cleanup, free_pending, memory_statistics, zeros};
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let guard = defer_cleanup(&context);
/// for _ in 0..100 {
///     zeros::<f32, _>(&context, 10)?;
/// }
/// free_pending(&context)?; // not yet
/// assert_eq!(memory_statistics(&context).pending_frees, 100);
/// drop(guard);
/// free_pending(&context)?;
/// assert_eq!(memory_statistics(&context).pending_frees, 0);
/// # Ok(())
/// # }
/// ```
#[must_use = "frees are deferred until the guard is dropped"]
pub fn defer_cleanup(context: &Context) -> DeferCleanup {
    let pending = Memory::of(context).pending.clone();
    pending.defer();
    DeferCleanup { pending }
}

/// Defers frees while it lives, see [`defer_cleanup`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_mem::{DeferCleanup, defer_cleanup};
///
/// /// A measurement that no free disturbs.
/// struct Measurement {
///     _no_frees: DeferCleanup,
///     start: std::time::Instant,
/// }
///
/// let measurement = Measurement { _no_frees: defer_cleanup(&context), start: std::time::Instant::now() };
/// drop(cuda_mem::zeros::<f32, _>(&context, 10)?);
/// println!("{:?}", measurement.start.elapsed());
/// # Ok(())
/// # }
/// ```
pub struct DeferCleanup {
    pending: Arc<Pending<Freed>>,
}

impl Drop for DeferCleanup {
    fn drop(&mut self) {
        self.pending.resume();
    }
}

impl fmt::Debug for DeferCleanup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferCleanup").field("pending", &self.pending.size().0).finish()
    }
}

/// The present limits of a context.
pub(crate) struct Limits {
    count: AtomicUsize,
    /// [`UNSET`] until the first free that becomes pending queries the device's memory.
    bytes: AtomicUsize,
}

const UNSET: usize = usize::MAX;
const COUNT: &str = "CUDA_MEM_PENDING_COUNT";
const RATIO: &str = "CUDA_MEM_PENDING_RATIO";

static FROM_ENVIRONMENT: LazyLock<(usize, f64)> = LazyLock::new(|| {
    let value = |name| std::env::var(name).ok();
    let ratio = allowed(RATIO, value(RATIO), |ratio: &f64| (0.0..=1.0).contains(ratio));
    (allowed(COUNT, value(COUNT), |_| true).unwrap_or(10), ratio.unwrap_or(0.2))
});

/// The value of an environment variable; an invalid one is logged and ignored.
fn allowed<T: FromStr>(name: &str, value: Option<String>, allowed: impl Fn(&T) -> bool) -> Option<T> {
    let value = value.filter(|value| !value.is_empty())?;
    let parsed = value.trim().parse().ok().filter(allowed);
    if parsed.is_none() {
        tracing::warn!("{name}={value} is not allowed; the default is used");
    }
    parsed
}

impl Default for Limits {
    fn default() -> Self {
        Limits { count: AtomicUsize::new(FROM_ENVIRONMENT.0), bytes: AtomicUsize::new(UNSET) }
    }
}

impl Limits {
    pub(crate) fn get(&self, context: &Context) -> (usize, usize) {
        let count = self.count.load(Ordering::Relaxed);
        match self.bytes.load(Ordering::Relaxed) {
            UNSET => (count, self.query(context)),
            bytes => (count, bytes),
        }
    }

    #[cold]
    #[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an approximate part of the memory")]
    fn query(&self, context: &Context) -> usize {
        // If the device's memory is unknown, only the count limits.
        let part = |total: usize| (total as f64 * FROM_ENVIRONMENT.1) as usize;
        let bytes = context.device().total_memory().map_or(UNSET - 1, part);
        match self.bytes.compare_exchange(UNSET, bytes, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => bytes,
            Err(set) => set,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_not_allowed_is_none() {
        let count = |value: &str| allowed::<usize>(COUNT, Some(value.to_owned()), |_| true);
        assert_eq!(
            [count("0"), count(" 25"), count(""), count("-1"), count("ten")],
            [Some(0), Some(25), None, None, None]
        );
        let ratio = |value: &str| allowed::<f64>(RATIO, Some(value.to_owned()), |ratio| (0.0..=1.0).contains(ratio));
        assert_eq!([ratio("0.5"), ratio("1.5"), ratio("nan")], [Some(0.5), None, None]);
        assert_eq!(allowed::<f64>(RATIO, None, |_| true), None);
    }
}
