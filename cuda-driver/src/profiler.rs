//! Control of profilers: the part of a program that they record.
//!
//! Profilers that were started with collection off (`nsys profile -c cudaProfilerApi`, `ncu --profile-from-start off`)
//! record between start and stop. Without a profiler the calls do nothing.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions without arguments, with the context bound.

use crate::context::Context;
use crate::driver_call;
use crate::error::Result;

impl Context {
    /// Starts the profiler's collection, for the whole process.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// context.profiler_start()?;
    /// // the part that the profiler records
    /// context.profiler_stop()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn profiler_start(&self) -> Result<()> {
        // SAFETY: the call has no argument.
        unsafe { driver_call!(self, cuProfilerStart()) }
    }

    /// Stops the profiler's collection, for the whole process.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn profiler_stop(&self) -> Result<()> {
        // SAFETY: the call has no argument.
        unsafe { driver_call!(self, cuProfilerStop()) }
    }

    /// Starts the profiler's collection until the guard is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// {
    ///     let _profiled = context.profiling()?;
    ///     // the part that the profiler records
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn profiling(&self) -> Result<ProfilerGuard> {
        self.profiler_start()?;
        Ok(ProfilerGuard { context: self.clone() })
    }
}

/// Stops the profiler's collection when dropped; from [`Context::profiling`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let guard = context.profiling()?;
/// // the part that the profiler records
/// drop(guard);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "the profiler stops when the guard is dropped"]
pub struct ProfilerGuard {
    context: Context,
}

impl Drop for ProfilerGuard {
    fn drop(&mut self) {
        if self.context.is_lost() {
            return;
        }
        if let Err(error) = self.context.profiler_stop() {
            tracing::warn!(%error, "the profiler could not be stopped");
        }
    }
}
