//! Detection of a forked child.
//!
//! A CUDA driver does not survive `fork`: its threads and its mappings of the device are gone, and calls hang. The first
//! [`Driver`](crate::Driver) of a process installs a handler that marks every child forked from then on; the mark is one
//! relaxed load on the hot path. A child made by a raw `clone` system call runs no handlers and is not seen.
//!
//! # Safety
//!
//! The handler runs in a child in which other threads' locks may be held, so it only stores to an atomic.

#[cfg(unix)]
use crate::sync::statics::OnceLock;
use crate::sync::statics::{AtomicBool, Ordering};

static FORKED: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
extern "C" fn mark_child() {
    FORKED.store(true, Ordering::Relaxed);
}

/// Windows has no `fork`.
#[cfg(not(unix))]
pub(crate) fn watch() {}

/// Marks the children that are forked from now on. Later calls do nothing.
#[cfg(unix)]
pub(crate) fn watch() {
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        // SAFETY: `mark_child` is an `extern "C" fn()` that lives as long as the program and only stores to an atomic,
        // which is allowed between fork and exec.
        let status = unsafe { libc::pthread_atfork(None, None, Some(mark_child)) };
        if status != 0 {
            tracing::warn!(status, "pthread_atfork failed: a forked child will not be recognised");
        }
    });
}

/// Returns true if this process was forked from one that had initialised a driver.
#[inline]
pub(crate) fn is_forked_child() -> bool {
    FORKED.load(Ordering::Relaxed)
}
