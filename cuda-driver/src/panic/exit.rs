//! The exit handler of the process, which reports the panics that no wait has reported.
//!
//! # Safety
//!
//! The handler is a function that lives as long as the program and lets no panic out.

use super::context::at_exit;

extern "C" fn run() {
    let _ = std::panic::catch_unwind(at_exit);
}

/// Registers the handler for the process's exit.
pub(super) fn register() {
    // SAFETY: `run` is an `extern "C" fn()` of this program that does not unwind.
    if unsafe { libc::atexit(run) } != 0 {
        tracing::warn!("atexit failed: panics that no wait reports are not reported at the end of the process");
    }
}
