//! The atomics of the function tables. `--cfg loom` replaces them by loom's, so that the models run the code that ships. There
//! is no logic here.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicPtr, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicPtr, Ordering};
