//! Failures, the text of the last one, and the messages of `NCCL_DEBUG` on standard error.
//!
//! # Safety
//!
//! The one `unsafe` block asks the system for the number of the thread.

use crate::abi::Code;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU8, Ordering};

/// A code with the text of its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) text: String,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Failure {
        Failure { code, text: text.into() }
    }

    pub(crate) fn argument(text: impl Into<String>) -> Failure {
        Failure::new(Code::ncclInvalidArgument, text)
    }

    pub(crate) fn usage(text: impl Into<String>) -> Failure {
        Failure::new(Code::ncclInvalidUsage, text)
    }
}

/// The amount of messages, as `NCCL_DEBUG` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Level {
    None = 1,
    Version,
    Warn,
    Info,
}

/// The level, or 0 if the environment was not read.
static LEVEL: AtomicU8 = AtomicU8::new(0);

/// The text of the last failure of the process.
static LAST: Mutex<String> = Mutex::new(String::new());

thread_local! {
    /// The text that `ncclGetLastError` returned to this thread last.
    static RETURNED: RefCell<CString> = RefCell::default();
}

/// Reads `NCCL_DEBUG` again at the next message.
pub(crate) fn reset() {
    LEVEL.store(0, Ordering::Relaxed);
}

fn level() -> u8 {
    let known = LEVEL.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let value = std::env::var("NCCL_DEBUG").unwrap_or_default().to_ascii_uppercase();
    let level = match value.as_str() {
        "VERSION" => Level::Version,
        "WARN" => Level::Warn,
        "INFO" | "ABORT" | "TRACE" => Level::Info,
        _ => Level::None,
    };
    LEVEL.store(level as u8, Ordering::Relaxed);
    if level > Level::None {
        let version = crate::abi::VERSION;
        eprintln!("NCCL version {}.{}.{}+sim", version / 10_000, version % 10_000 / 100, version % 100);
    }
    level as u8
}

/// Prints a message if the level asks for it, with the process, the thread and the device in front, as NCCL does.
pub(crate) fn message(least: Level, device: Option<i32>, text: impl FnOnce() -> String) {
    if level() < least as u8 {
        return;
    }
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // SAFETY: the call has no arguments and no preconditions.
    let thread = unsafe { libc::gettid() };
    let device = device.map_or_else(|| "-".to_owned(), |device| device.to_string());
    let kind = if least == Level::Warn { "WARN" } else { "INFO" };
    let host = host.trim_end();
    eprintln!("{host}:{}:{thread} [{device}] NCCL {kind} {}", std::process::id(), text());
}

/// Stores a failure's text and prints it at the level of warnings.
pub(crate) fn record(failure: &Failure, device: Option<i32>) {
    failure.text.clone_into(&mut LAST.lock().unwrap_or_else(PoisonError::into_inner));
    message(Level::Warn, device, || failure.text.clone());
}

/// Returns a text that lives until this thread's next call.
pub(crate) fn returned(text: &str) -> *const c_char {
    RETURNED.with_borrow_mut(|returned| {
        *returned = CString::new(text.replace('\0', " ")).unwrap_or_default();
        returned.as_ptr()
    })
}

/// Returns the text of the process's last failure.
pub(crate) fn last() -> String {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
