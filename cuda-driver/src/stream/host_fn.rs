//! Host functions in a stream: a closure as the function and data pointer that the driver takes.
//!
//! # Safety
//!
//! The pointer from [`into_raw`] owns the closure. Exactly one of [`run`] (called by the driver) and [`discard`]
//! (called when the driver refused it) takes it back.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::stream::deferred_drop::in_host_fn;

type Work = Box<dyn FnOnce() + Send>;

/// A closure that a graph calls at each launch.
pub(crate) type Repeated = Box<dyn Fn() + Send + Sync>;

/// Converts a closure into an owning data pointer.
pub(crate) fn into_raw(work: impl FnOnce() + Send + 'static) -> *mut c_void {
    let work: Work = Box::new(work);
    Box::into_raw(Box::new(work)).cast()
}

/// Runs the closure; called by the driver.
///
/// # Safety
///
/// `data` came from [`into_raw`] and is used for the first time.
pub(crate) unsafe extern "C" fn run(data: *mut c_void) {
    // SAFETY: by this function's precondition the pointer owns a closure.
    let work = unsafe { Box::from_raw(data.cast::<Work>()) };
    guarded(work);
}

/// Runs a closure without consuming it; called by the driver for graphs.
///
/// # Safety
///
/// `data` points to a [`Repeated`] that lives until this returns.
pub(crate) unsafe extern "C" fn run_repeated(data: *mut c_void) {
    // SAFETY: by this function's precondition the pointer is that of a live closure.
    let work = unsafe { &*data.cast::<Repeated>() };
    guarded(work);
}

/// Runs `work`, and logs its panic.
fn guarded(work: impl FnOnce()) {
    if let Err(panic) = in_host_fn(|| catch_unwind(AssertUnwindSafe(work))) {
        tracing::error!(message = panic_text(&*panic), "a host function in a stream panicked");
        // The payload's own drop may panic, and nothing may unwind into the driver.
        std::mem::forget(panic);
    }
}

/// Drops the closure without running it.
///
/// # Safety
///
/// `data` came from [`into_raw`] and is used for the first time.
pub(crate) unsafe fn discard(data: *mut c_void) {
    // SAFETY: by this function's precondition the pointer owns a closure.
    drop(unsafe { Box::from_raw(data.cast::<Work>()) });
}

/// The message of a panic, where it is text.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(no text)")
}
