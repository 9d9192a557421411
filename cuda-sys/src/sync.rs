//! The atomics of the function tables, by one name each, so that `--cfg loom` replaces them by loom's and the models run
//! the code that ships. It holds no logic.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicPtr, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicPtr, Ordering};
