//! [`StreamId`]: the id of a stream's queue.

use std::num::NonZeroU64;

use crate::sync::Counter;

static SERIALS: Counter = Counter::new();

/// The id of a stream's queue: work of equal ids runs in order. Unlike a raw handle, it is not reused after the stream
/// is destroyed.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Stream};
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let (a, b) = (Stream::new(&context)?, Stream::new(&context)?);
/// assert_eq!(a.id(), a.clone().id());
/// assert_ne!(a.id(), b.id());
/// assert_eq!(context.default_stream().id(), Stream::legacy(&context).id());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamId(NonZeroU64);

impl StreamId {
    /// The legacy default stream, with the driver's own number for it.
    pub(crate) const LEGACY: StreamId = StreamId(NonZeroU64::MIN);
    /// The first number of the driver's own per-thread streams: above all addresses, which are the numbers of external
    /// streams.
    pub(super) const THREADS: u64 = 1 << 62;
    /// The first number of created streams.
    const OWNED: u64 = 1 << 63;

    pub(super) fn new(number: u64) -> Self {
        NonZeroU64::new(number).map_or(Self::LEGACY, StreamId)
    }

    /// The id of a new stream.
    pub(crate) fn unique() -> Self {
        Self::new(Self::OWNED | SERIALS.next())
    }

    /// The id as a number, never 0.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = cuda_driver::Stream::new(&context)?;
    /// let label = format!("stream {:x}", stream.id().number());
    /// assert_eq!(label, format!("stream {:x}", stream.clone().id().number()));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[inline]
    pub fn number(self) -> u64 {
        self.0.get()
    }
}
