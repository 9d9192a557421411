//! [`StreamOptions`], and the driver call that creates a stream with them.
//!
//! # Safety
//!
//! The block calls a C function that writes a stream to a pointer which lives through the call.

use cuda_sys::{CUstream, CUstream_flags};

use crate::context::Context;
use crate::driver_call;
use crate::error::Result;
#[cfg(doc)]
use crate::stream::Stream;

/// Options of a stream that is created.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Stream, StreamOptions};
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let urgent = Stream::with_options(&context, StreamOptions::new().priority(-1))?;
/// urgent.synchronize()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct StreamOptions {
    pub(super) waits_for_legacy: bool,
    pub(super) priority: i32,
}

impl StreamOptions {
    /// Independent of the legacy default stream, priority 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the stream and the legacy default stream wait for each other, as streams do in CUDA C by default.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Stream, StreamOptions};
    ///
    /// let stream = Stream::with_options(&context, StreamOptions::new().waits_for_legacy(true))?;
    /// Stream::legacy(&context).launch_host_fn(|| println!("first"))?;
    /// stream.launch_host_fn(|| println!("then"))?;
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn waits_for_legacy(mut self, waits: bool) -> Self {
        self.waits_for_legacy = waits;
        self
    }

    /// Sets the priority: lower numbers are higher priorities, and the driver clamps it to the device's range.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}

/// Creates a raw stream with options, outside of the pool.
pub(crate) fn create(context: &Context, options: StreamOptions) -> Result<CUstream> {
    let flags = match options.waits_for_legacy {
        true => CUstream_flags::CU_STREAM_DEFAULT,
        false => CUstream_flags::CU_STREAM_NON_BLOCKING,
    };
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` lives through the call.
    unsafe { driver_call!(context, cuStreamCreateWithPriority(&mut raw, flags.0, options.priority)) }?;
    Ok(raw)
}
