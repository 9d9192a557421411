//! The end of the process, at which panics are told that nobody has waited for.
//!
//! # Safety
//!
//! The handler is a function that lives as long as the program and lets no panic out.

use super::context::at_exit;

extern "C" fn run() {
    let _ = std::panic::catch_unwind(at_exit);
}

/// Makes the handler run at the process's exit.
pub(super) fn register() {
    // SAFETY: `run` is an `extern "C" fn()` of this program that does not unwind.
    if unsafe { libc::atexit(run) } != 0 {
        tracing::warn!("atexit failed: panics that nobody waits for are not told at the end of the process");
    }
}
