//! The wait for a context's work at the end of a borrow of host memory, also in a lost context.
//!
//! Every other call on a lost context is refused before it reaches the driver. But work may still write to host memory
//! that it borrows: a kernel's fault on one stream is reported while a kernel on another stream runs. So the end of a
//! borrow makes the one call that waits for all work, whatever error was reported before.
//!
//! # Safety
//!
//! The block makes a call without arguments, in a context that `self` retains.

use cuda_sys::CUresult;

use crate::context::Context;
use crate::context::current::{Entered, Failure};
use crate::error::{Error, Result};
use crate::{fork, status};

impl Context {
    /// Waits until no work of this context runs, also when the context is lost.
    ///
    /// For code whose memory is borrowed by work of the context. In a lost context the driver stops the work and then
    /// reports the error that lost it; this function returns success then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// context.wait_until_idle()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] inside a [capture](crate::Graph::capture) of the calling thread; [`Error::Driver`] if the
    /// driver refuses to wait, as inside a host function of a stream.
    pub fn wait_until_idle(&self) -> Result<()> {
        // In a forked child the device still works for the parent, on the parent's memory. `is_lost` comes first,
        // because the lock of the captures may have been held by another thread of the parent.
        if self.is_lost() {
            self.synchronize_raw()
        } else {
            self.captures().while_none_active(|| self.synchronize_raw())?
        }
    }

    /// Refuses what ends with a wait for the context's work, inside a [capture](crate::Graph::capture) of the calling thread.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] inside such a capture.
    #[doc(hidden)]
    pub fn expect_no_capture(&self) -> Result<()> {
        self.captures().while_none_active(|| ())
    }

    /// Calls `cuCtxSynchronize` whatever state the context is in. While a stream is captured, the driver refuses the
    /// call and invalidates the capture.
    fn synchronize_raw(&self) -> Result<()> {
        if fork::is_forked_child() {
            return Ok(());
        }
        let call = "cuCtxSynchronize";
        let code = match Entered::new(self.api(), self.as_raw()) {
            Ok(entered) => {
                let synchronize = entered.cuCtxSynchronize()?;
                // SAFETY: the call has no argument; the context is current.
                unsafe { synchronize() }
            }
            Err(Failure::Status(code, _)) => code,
            Err(Failure::Error(error)) => return Err(error),
        };
        match code {
            CUresult::CUDA_SUCCESS => Ok(()),
            code if means_stopped(code) => {
                let _ = self.check(code, call);
                Ok(())
            }
            code => self.check(code, call),
        }
    }

    /// As [`wait_until_idle`](Context::wait_until_idle), but aborts the process if the driver cannot wait: work that
    /// still runs would write to memory whose borrow has ended.
    #[doc(hidden)]
    pub fn wait_until_idle_or_abort(&self) {
        // Inside a capture the driver is called too: the memory's owner cannot wait for the end of the capture.
        let waited = match self.wait_until_idle() {
            Err(Error::Invalid(_)) => self.synchronize_raw(),
            waited => waited,
        };
        if let Err(error) = waited {
            eprintln!(
                "cuda-driver: host memory is borrowed by work of device {}, its borrow ends, and that work cannot be waited for \
                 ({error}); the process aborts, since the work could write to memory that has a new owner",
                self.device().ordinal()
            );
            std::process::abort();
        }
    }
}

/// Returns true for a status that means that the context's work has been stopped, or that the context no longer exists.
fn means_stopped(code: CUresult) -> bool {
    let gone = [
        CUresult::CUDA_ERROR_DEINITIALIZED,
        CUresult::CUDA_ERROR_INVALID_CONTEXT,
        CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    ];
    status::is_sticky(code) || gone.contains(&code)
}

/// Ends a borrow of host memory: waits with `wait` and, if that fails, for all work of the context.
pub(crate) fn end_borrow(context: &Context, wait: impl FnOnce() -> Result<()>) -> Result<()> {
    let waited = wait();
    // A kernel panic is reported by a wait that has succeeded.
    if matches!(&waited, Err(error) if !matches!(error, Error::KernelPanic(_))) {
        context.wait_until_idle_or_abort();
    }
    waited
}
